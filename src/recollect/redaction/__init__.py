"""Take secrets out of text before it is stored, embedded, logged, sent or shown.

    redact(text) → Redacted(text, counts)

Pure functions on text. `rules.py` is the table of what is recognised, `assignments.py` knows names such as
`API_KEY` and what may stand behind them, `values.py` tells random characters from words, `private.py` drops
what stands between private tags, `own.py` checks the rules a user adds.
"""

from recollect.redaction.apply import Redacted, Rules, merged, redact, rules_of

__all__ = ["Redacted", "Rules", "merged", "redact", "rules_of"]
