"""Take long-term facts from what a user writes.

    captured(text, now=…) → what of a message is worth keeping, by rules and fitted weights
    is_injection(text) for a fact that somebody hands over
    capture(memory, messages, session=…) at the end of a turn: judged once, stored as facts

`speech.py` cuts a message into sentences, `words/` holds the word classes of each language, `reading.py`
looks for them in a sentence, and `injection.py` and `shape.py` refuse what nobody says. `rules.py` refuses
and keeps what is plain; the sentences that it leaves open `signals.py` puts into numbers and `scorer.py`
weighs. `turn.py` stores what is left, `seen.py` knows which messages were judged, and `extract.py` asks a
model instead.
"""

from memlines.agent.capture.injection import is_injection
from memlines.agent.capture.rules import captured
from memlines.agent.capture.turn import Captured, Skipped, capture
from memlines.agent.capture.values import Capture

__all__ = ["Capture", "Captured", "Skipped", "capture", "captured", "is_injection"]
