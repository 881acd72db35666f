"""Order hits by age and by difference, if the settings ask for it, and drop those that repeat others."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime

from memlines.types import IndexedChunk

_DATED = re.compile(r"^memory/(?:.*/)?(\d{4}-\d{2}-\d{2})(?:[-_][^/]*)?\.md$")
_EVERGREEN = re.compile(r"^(?:MEMORY\.md|memory\.md|memory/.*)$")
_SECONDS_PER_DAY = 86_400


def decayed(score: float, chunk: IndexedChunk, half_life_days: float, now: datetime) -> float:
    """Return a score after the time that passed since its note was written."""
    return score * decay_factor(age_in_days(chunk, now), half_life_days)


def decay_factor(age_days: float, half_life_days: float) -> float:
    """Return what is left of a score after so many days: a half after each half-life."""
    return math.exp(-math.log(2) / half_life_days * max(0.0, age_days))


def age_in_days(chunk: IndexedChunk, now: datetime) -> float:
    """Return the age of a chunk: by the date in its name; evergreen notes have none."""
    written = dated(chunk.path)
    if written is not None:
        midnight = datetime(written.year, written.month, written.day, tzinfo=UTC)
        return (now - midnight).total_seconds() / _SECONDS_PER_DAY
    if _EVERGREEN.match(chunk.path) or chunk.mtime_ns <= 0:
        return 0.0
    return now.timestamp() / _SECONDS_PER_DAY - chunk.mtime_ns / 1e9 / _SECONDS_PER_DAY


def dated(path: str) -> date | None:
    """Return the date of a daily log, if the path is one's."""
    match = _DATED.match(path)
    if match is None:
        return None
    try:
        return date.fromisoformat(match[1])
    except ValueError:
        return None


Matched = Callable[[str, str], tuple[str, ...]]
"""Tells which words of the query a text in a language holds."""

_LATIN = re.compile(r"[a-z0-9_]+")
_WIDE = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]+")


def diversified(ranking: Sequence[tuple[int, float]], texts: Mapping[int, str], weight: float) -> list[int]:
    """Return the numbers of a ranking in an order that weighs relevance against repetition.

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
    order: list[int] = []
    left = [number for number, _ in by_score]
    while left:

        def value(number: int) -> tuple[float, float]:
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


def without_repeats(ranking: Sequence[IndexedChunk], matched: Matched) -> list[int]:
    """Return the numbers of a ranking without chunks that only say again what a better one says.

    That is a neighbour that holds the query's words nowhere but in the lines both share.
    """
    kept: list[IndexedChunk] = []
    for chunk in ranking:
        beside = [other for other in kept if _overlap(chunk, other)]
        if not (beside and _is_said(chunk, beside, matched)):
            kept.append(chunk)
    return [chunk.number for chunk in kept]


def _overlap(one: IndexedChunk, other: IndexedChunk) -> bool:
    return one.path == other.path and one.start_line <= other.end_line and other.start_line <= one.end_line


def _is_said(chunk: IndexedChunk, beside: Sequence[IndexedChunk], matched: Matched) -> bool:
    """Tell whether the lines that a chunk has for itself hold none of the words it holds."""
    said = {line for other in beside for line in other.text.split("\n")}
    lines = chunk.text.split("\n")
    own = [line for line in lines if line not in said]
    if len(own) == len(lines) or matched("\n".join(own), chunk.language):
        return False
    return bool(matched(chunk.text, chunk.language))
