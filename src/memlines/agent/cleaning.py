"""What every text loses before it is written or leaves this machine: secrets, and what was forgotten."""

from __future__ import annotations

from collections.abc import Callable

from memlines.files.tombstones import Forgotten
from memlines.memory.memory import Memory
from memlines.text.redaction import redact, rules_of

Cleaning = Callable[[str], str]


def secrets_out(memory: Memory) -> Cleaning:
    """Return what takes the secrets out of a text."""
    rules = rules_of(memory.settings.redaction.rules)
    return lambda text: redact(text, rules).text


def for_writing(memory: Memory) -> Cleaning:
    """Return what makes a text fit to be kept: without secrets, and without what was forgotten.

    What somebody had forgotten must not come back because it was said in a conversation before.
    """
    forgotten = Forgotten.load(memory.workspace)
    clean = secrets_out(memory)
    return lambda text: forgotten.redact(clean(text))
