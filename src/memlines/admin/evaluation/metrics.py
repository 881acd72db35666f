"""What is measured, as pure functions over the gold lines of a query and the hits it got.

any@k    1 if a gold file is among the first k distinct files, else 0
all@k    1 if every gold file is
rec@k    the share of the gold files that are
mrr      1 / the place of the first gold file among the distinct files, 0 without one
ndcg@10  discounted gain of the first 10 distinct files over the best that is possible
line@k   the share of the gold passages that one of the first k hits overlaps, by the lines of its chunk
passage@5  the same, by the lines that the hit shows
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from memlines.types import Hit

_FILE_CUTS = (1, 5, 10)
_LINE_CUTS = (5, 10)
_GAIN_CUT = 10
_PASSAGE_CUT = 5

METRICS = (
    *(f"{name}@{cut}" for cut in _FILE_CUTS for name in ("any", "all", "rec")),
    "mrr",
    f"ndcg@{_GAIN_CUT}",
    *(f"line@{cut}" for cut in _LINE_CUTS),
    f"passage@{_PASSAGE_CUT}",
)
"""The names of the metrics, in the order they are shown in."""


class Gold(NamedTuple):
    """Lines that answer a query; both ends belong to them."""

    path: str
    start: int
    end: int
    relevance: float = 1.0


class HitLines(NamedTuple):
    """The lines of a hit's chunk, and those of it that are shown; both ends belong to them."""

    path: str
    start: int
    end: int
    score: float
    shown_start: int
    shown_end: int

    @classmethod
    def of(cls, hit: Hit) -> HitLines:
        """Return the lines of a hit."""
        chunk = hit.chunk_start_line, hit.chunk_end_line
        return cls(hit.path, *chunk, hit.score, hit.start_line, hit.end_line)


def scores(gold: Collection[Gold], found: Sequence[HitLines]) -> dict[str, float]:
    """Return every metric of one query; there has to be gold, and the best hit comes first."""
    files = list(dict.fromkeys(hit.path for hit in found))
    relevance: dict[str, float] = {}
    for lines in gold:
        relevance[lines.path] = max(lines.relevance, relevance.get(lines.path, 0.0))
    values: dict[str, float] = {}
    for cut in _FILE_CUTS:
        hit = len(relevance.keys() & set(files[:cut]))
        values[f"any@{cut}"] = 1.0 if hit else 0.0
        values[f"all@{cut}"] = 1.0 if hit == len(relevance) else 0.0
        values[f"rec@{cut}"] = hit / len(relevance)
    places = [place for place, file in enumerate(files, start=1) if file in relevance]
    values["mrr"] = 1 / places[0] if places else 0.0
    best = _discount(sorted(relevance.values(), reverse=True))
    values[f"ndcg@{_GAIN_CUT}"] = _discount(relevance.get(file, 0.0) for file in files) / best
    for cut in _LINE_CUTS:
        values[f"line@{cut}"] = _share_reached(gold, [(hit.path, hit.start, hit.end) for hit in found[:cut]])
    shown = [(hit.path, hit.shown_start, hit.shown_end) for hit in found[:_PASSAGE_CUT]]
    values[f"passage@{_PASSAGE_CUT}"] = _share_reached(gold, shown)
    return values


def means(rows: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the mean of every metric over the queries."""
    return {name: sum(row[name] for row in rows) / len(rows) for name in METRICS}


def percentile(values: Iterable[float], part: float) -> float:
    """Return the smallest value that a part (0 to 1) of all values does not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(part * len(ordered)) - 1)]


def _discount(gains: Iterable[float]) -> float:
    """Add up gains, each worth less the later it comes."""
    first = zip(range(2, _GAIN_CUT + 2), gains, strict=False)
    return sum(gain / math.log2(divisor) for divisor, gain in first)


def _share_reached(gold: Collection[Gold], found: Sequence[tuple[str, int, int]]) -> float:
    """Return the share of the gold passages that overlap some lines."""
    reached = [
        lines
        for lines in gold
        if any(lines.path == path and lines.start <= end and start <= lines.end for path, start, end in found)
    ]
    return len(reached) / len(gold)
