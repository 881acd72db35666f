"""Put what the rules notice about a sentence into numbers, in the same order for every language."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from memlines.agent.capture.reading import DATES, HOSTS, REASONS, Reading
from memlines.memory.facts.categories import CONTACTS

HELD = (
    *(reason.name for reason in REASONS),
    *("plain", "every", "steady", "relation", "asset", "byway", "doubt", "condition", "moment", "passing"),
    *("thus", "me", "us", "you", "ought", "only", "did"),
)
"""Word classes that count wherever they stand behind the words that introduce a sentence."""
ANYWHERE = ("here", "state", "now", "spot")
"""Word classes that count also in the words that introduce it."""
HEADS = ("definite", "vague", "condition", "every", "ought", "only")
"""Word classes that count at the beginning."""
SHAPES = (
    *("contact", "host", "date", "digit", "name", "long", "short", "small", "called", "colon", "goes on"),
    *("introduced", "cut"),
)
PLACES = ("alone", "message asks", "message wants", "first", "last", "sentences", "wish")

NAMES = (*HELD, *(f"{name}, anywhere" for name in ANYWHERE), *(f"{name}, first" for name in HEADS))
NAMES = (*NAMES, *SHAPES, *PLACES)

_NAME = re.compile(r"(?<=[\w,:;)] )[A-ZÀ-Ž][\w'’-]+")  # noqa: RUF001
_LONG, _SHORT = 25, 6
"""Words of a long sentence and of a short one."""
_MOST = 6
"""Sentences of a message that make a difference."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a sentence stands in its message, and what else the message holds."""

    at: int
    of: int
    asks: bool
    wants: bool
    wish: float = 0.0
    """How surely the message asks to remember something."""
    is_cut: bool = False
    """Whether a question that ended it was cut off."""


def signals(read: Reading, place: Place) -> list[float]:
    """Return the numbers that tell a lasting statement from another, as many as there are `NAMES`."""
    found = [
        *[read.holds(name) for name in HELD],
        *[read.anywhere(name) for name in ANYWHERE],
        *[read.heads(name) for name in HEADS],
    ]
    shape = _shape(read, place)
    where = [place.of == 1, place.asks, place.wants, place.at == 0, place.at == place.of - 1]
    return [*map(float, [*found, *shape, *where]), min(place.of, _MOST) / _MOST, place.wish]


def _shape(read: Reading, place: Place) -> Sequence[bool]:
    low, shown = read.said, read.sentence.shown
    words = len(low.split())
    return (
        CONTACTS.search(low) is not None,
        HOSTS.search(low) is not None,
        DATES.search(low) is not None,
        any(map(str.isdigit, low)),
        _NAME.search(shown) is not None,
        words >= _LONG,
        words <= _SHORT,
        shown[:1].islower(),
        "!" in low,
        ":" in low,
        read.goes_on_with("task"),
        read.begin > 0,
        place.is_cut,
    )
