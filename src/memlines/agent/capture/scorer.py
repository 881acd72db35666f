"""Score how surely a sentence is a lasting statement, by weights that were fitted to labelled messages.

There are two sets of weights: for the signals of the rules alone, and for the signals together with the
vector that the builtin model gives a sentence. `bench/fit_capture.py` makes them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from memlines.agent.capture.signals import NAMES

if TYPE_CHECKING:
    from memlines.embed.base import Vectors

Embed: TypeAlias = "Callable[[Sequence[str]], Vectors]"
"""How sentences become vectors."""

WEIGHTS = Path(__file__).with_name("weights.json")
NOT_EMBEDDED = "cs"
"""The language that the builtin model does not know."""


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
    told = json.loads(WEIGHTS.read_text(encoding="utf-8"))
    return _weights(told["alone"]), _weights(told["together"])


def _weights(told: dict[str, Any]) -> Weights:
    signals = [told["signals"][name] for name in NAMES]
    return Weights(signals, told.get("vector", ()), told["bias"], told["threshold"])
