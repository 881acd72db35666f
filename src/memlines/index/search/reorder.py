"""Change the order of candidates if the settings ask for it: old daily logs fade, and texts differ.

Age takes away from the evidence for a candidate. Diversity weighs the score of each against how much it
repeats of those before it (maximal marginal relevance).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TypeVar

from memlines.index.search.matches import MatchedChunks
from memlines.index.search.query import Query
from memlines.index.search.rank import Candidate, Estimates
from memlines.text.days import log_day
from memlines.types import IndexedChunk

Key = TypeVar("Key")

_SECONDS_PER_DAY = 86_400
_EVERGREEN = re.compile(r"^(?:MEMORY\.md|memory\.md|memory/.*)$")
_LATIN = re.compile(r"[a-z0-9_]+")
_WIDE = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]+")


def fade(query: Query, evidence: Estimates, chunks: MatchedChunks) -> dict[Candidate, float]:
    """Return what age leaves of the evidence for candidates."""
    half_life = query.settings.temporal_decay.half_life_days
    read = chunks.read({one.number for one in evidence})
    return {
        one: decay(amount, age_in_days(read[one.number], query.now), half_life)
        for one, amount in evidence.items()
        if one.number in read
    }


def decay(score: float, age_days: float, half_life_days: float) -> float:
    """Return what is left of a score after so many days: a half after each half-life."""
    return score * math.exp(-math.log(2) / half_life_days * max(0.0, age_days))


def age_in_days(chunk: IndexedChunk, now: datetime) -> float:
    """Return the age of a chunk: by the date in its name; evergreen notes have none."""
    day = log_day(chunk.path)
    if day is not None:
        midnight = datetime(day.year, day.month, day.day, tzinfo=UTC)
        return (now - midnight).total_seconds() / _SECONDS_PER_DAY
    if _EVERGREEN.match(chunk.path) or chunk.mtime_ns <= 0:
        return 0.0
    return now.timestamp() / _SECONDS_PER_DAY - chunk.mtime_ns / 1e9 / _SECONDS_PER_DAY


def diversify(ranking: Sequence[tuple[Key, float]], texts: Mapping[Key, str], weight: float) -> list[Key]:
    """Return the keys of a ranking in an order that weighs relevance against repetition.

    `weight` 1 is the order of the scores, 0 looks at difference alone. Scores stay as they are.
    """
    weight = min(1.0, max(0.0, weight))
    by_score = sorted(ranking, key=lambda item: -item[1])  # equal scores keep the order they come in
    if weight == 1.0 or len(by_score) < 2:
        return [number for number, _ in by_score]
    scores = dict(by_score)
    low, high = min(scores.values()), max(scores.values())
    spread = high - low
    tokens = {number: tokens_of(texts.get(number, "")) for number in scores}
    closest = dict.fromkeys(scores, 0.0)
    order: list[Key] = []
    left = [number for number, _ in by_score]
    while left:

        def value(number: Key) -> tuple[float, float]:
            relevance = (scores[number] - low) / spread if spread else 1.0
            return weight * relevance - (1 - weight) * closest[number], scores[number]

        chosen = max(left, key=value)
        left.remove(chosen)
        order.append(chosen)
        for number in left:
            closest[number] = max(closest[number], jaccard(tokens[number], tokens[chosen]))
    return order


def tokens_of(text: str) -> frozenset[str]:
    """Return what two texts are compared by: Latin words, and single and paired wide characters."""
    lowered = text.lower()
    tokens = set(_LATIN.findall(lowered))
    for run in _WIDE.findall(lowered):
        tokens.update(run)
        tokens.update(run[at : at + 2] for at in range(len(run) - 1))
    return frozenset(tokens)


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    """Return how much two sets overlap, from 0 to 1; two empty ones are the same."""
    if not one and not other:
        return 1.0
    if not one or not other:
        return 0.0
    common = len(one & other)
    return common / (len(one) + len(other) - common)
