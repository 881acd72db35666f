"""Score how surely a sentence is a lasting statement, by weights that were fitted to labelled messages.

What the rules notice about a sentence becomes numbers, in the same order for every language. There are two
sets of weights: for these signals alone, and for the signals together with the vector that the builtin model
gives a sentence. `bench/fit_capture.py` makes them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from memlines.agent.capture.reading import DATES, HOSTS, REASONS, Reading
from memlines.memory.facts.categories import CONTACTS

if TYPE_CHECKING:
    from memlines.embed.base import Vectors

Embed: TypeAlias = "Callable[[Sequence[str]], Vectors]"
"""How sentences become vectors."""

WEIGHTS = Path(__file__).with_name("weights.json")
NOT_EMBEDDED = "cs"
"""The language that the builtin model does not know."""

HELD = (
    *(reason.name for reason in REASONS),
    *("plain", "every", "steady", "relation", "asset", "byway", "doubt", "condition", "moment", "passing"),
    *("thus", "me", "us", "you", "ought", "only", "did"),
)
"""Word classes that count anywhere behind the words that introduce a sentence."""
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
    """Where a sentence is in its message, and what else the message holds."""

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


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence that may be kept: its words, their language, and what the rules notice about them."""

    text: str
    language: str
    signals: Sequence[float]


@dataclass(frozen=True, slots=True)
class Weights:
    """What each signal and each number of a vector counts, and from where on a sentence is kept."""

    signals: Sequence[float]
    vector: Sequence[float]
    bias: float
    threshold: float

    def by_signals(self, one: Statement) -> float:
        """Return how far the signals of a sentence put it above the threshold."""
        weighed = zip(self.signals, one.signals, strict=True)
        return self.bias - self.threshold + sum([weight * signal for weight, signal in weighed])


def margins(statements: Sequence[Statement], embed: Embed | None = None) -> list[float]:
    """Return for each sentence how far it is above the threshold; below it the number is negative."""
    alone, together = fitted()
    found = [alone.by_signals(one) for one in statements]
    known = [place for place, one in enumerate(statements) if one.language != NOT_EMBEDDED]
    if embed is None or not known:
        return found
    import numpy as np

    vectors = np.asarray(embed([statements[place].text for place in known]), dtype=np.float64)
    lengths = np.linalg.norm(vectors, axis=1)
    for place, extra in zip(known, vectors @ np.asarray(together.vector) / lengths, strict=True):
        found[place] = together.by_signals(statements[place]) + float(extra)
    return found


@lru_cache(maxsize=1)
def fitted() -> tuple[Weights, Weights]:
    """Return the weights without vectors and those with them."""
    found = json.loads(WEIGHTS.read_text(encoding="utf-8"))
    return _weights(found["alone"]), _weights(found["together"])


def _weights(found: dict[str, Any]) -> Weights:
    signals = [found["signals"][name] for name in NAMES]
    return Weights(signals, found.get("vector", ()), found["bias"], found["threshold"])
