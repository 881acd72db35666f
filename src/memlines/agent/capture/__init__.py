"""Capture long-term facts from what a user writes.

    find_facts(text)        → what of a message is worth keeping, by rules and fitted weights
    is_injection(text)      for a fact that a client sends
    capture(memory, messages, session=…) at the end of a turn: read once, stored as facts

`filters.py` refuses what no one says, `reading.py` looks for word classes in a sentence,
`find.py` refuses and keeps what is plain and weighs the sentences that are left open, and `turn.py` stores
what is left, or asks a model instead. The word classes of each language are in `text/languages/`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memlines.agent.capture.filters import is_injection
    from memlines.agent.capture.find import Capture, find_facts
    from memlines.agent.capture.turn import Captured, Skipped, capture

__all__ = ["Capture", "Captured", "Skipped", "capture", "find_facts", "is_injection"]

_PLACES = {"is_injection": "filters", "Capture": "find", "find_facts": "find"}


def __getattr__(name: str) -> Any:
    """Import a name when it is first used: who stores a fact needs the filters alone."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_PLACES.get(name, 'turn')}"), name)
