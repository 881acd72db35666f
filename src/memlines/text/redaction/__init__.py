"""Take secrets out of text before it is stored, embedded, logged, sent or shown.

    redact(text) → Redacted(text, counts)
    redact_together(texts) → [Redacted, …], where what is found in one text is hidden in all
    refuse_secrets(text), which raises SecretRefused if there is one

Pure functions on text, and no settings. `patterns.py` is the table of what is recognised and checks the rules
a user adds, `tokens.py` finds tokens by how they begin and distinguishes random characters from words,
`assignments.py` knows names such as `API_KEY` and what may follow them, `copies.py` hides what was found
wherever it is repeated, and `apply.py` puts it all together. To recognise another kind of token, add a line
to `tokens.tsv`.
"""

from memlines.text.redaction.apply import (
    Redacted,
    Rules,
    add_counts,
    redact,
    redact_together,
    refuse_secrets,
    rules_of,
)
from memlines.text.redaction.copies import without_copies

__all__ = [
    "Redacted",
    "Rules",
    "add_counts",
    "redact",
    "redact_together",
    "refuse_secrets",
    "rules_of",
    "without_copies",
]
