"""The labelled sentences, and how well something tells their intents."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from memlines.agent.intent.detect import KINDS, Kind

FOLDER = Path(__file__).parent / "intent"


@dataclass(frozen=True)
class Labelled:
    """A sentence, what its writer wants, in which language, and whether it looks like something else."""

    text: str
    intent: Kind
    language: str
    trap: bool = False
    entities: tuple[str, ...] = ()
    """What it is about, in any of some wordings."""

    def names(self, told: Sequence[str]) -> bool:
        """Tell whether what was told first is one of the right wordings, but for signs and capitals."""
        return bool(told) and _plain(told[0]) in map(_plain, self.entities)


def labelled(name: str) -> list[Labelled]:
    """Return the sentences of a file, such as `develop`; ordinary prompts want nothing."""
    lines = (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [Labelled(**{"intent": "none", **json.loads(line)}) for line in lines if line]


def _plain(words: str) -> str:
    return " ".join(words.casefold().split()).strip(" .,!?;:¿¡")


Pair = tuple[Kind, Kind]
"""What is right, and what was told."""


def macro_f1(pairs: Sequence[Pair]) -> float:
    """Return the mean over the intents of how well each is told."""
    return sum(_f1(pairs, kind) for kind in KINDS) / len(KINDS)


def confusion(pairs: Iterable[Pair]) -> Counter[Pair]:
    """Return how often what was told as what."""
    return Counter(pairs)


def _f1(pairs: Sequence[Pair], kind: Kind) -> float:
    hits = sum(right == told == kind for right, told in pairs)
    named = sum((right == kind) + (told == kind) for right, told in pairs)
    return 2 * hits / named if named else 1.0
