"""Put the hits of a search into the order that a reranker and search find together.

The reranker decides about the order alone: scores, bands and what is shown at all stay as search decided
them, because adding its score to that decision made it worse.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate
from typing import TYPE_CHECKING

from memlines.errors import EmbeddingError
from memlines.types import Hit, SearchResult

if TYPE_CHECKING:
    from memlines.memory.manager import Manager

_QUERY_CHARACTERS = 1_000
_TEXT_CHARACTERS = 2_000
"""How much is sent of a query and of a hit; a passage is shorter, and a chunk hardly longer."""


def rerank(manager: Manager, query: str, result: SearchResult) -> SearchResult:
    """Return an answer with its best hits in a better order, or as it is, with a warning that says why."""
    wanted = manager.settings.rerank
    best = result.hits[: wanted.candidates]
    if len(best) < 2 or not query.strip():
        return result
    try:
        given = manager.reranker.score(query[:_QUERY_CHARACTERS], [text_of(hit) for hit in best])
    except EmbeddingError as error:
        return replace(result, warnings=(*result.warnings, f"the hits are not reranked: {error}"))
    if given is None:
        return result
    marked = [
        replace(hit, why=replace(hit.why, reranked=score)) for hit, score in zip(best, given, strict=True)
    ]
    order = mix([hit.score for hit in best], given, wanted.weight)
    return replace(result, hits=(*(marked[place] for place in order), *result.hits[len(best) :]))


def text_of(hit: Hit) -> str:
    """Return what a reranker reads of a hit: its heading and the lines that are shown."""
    return f"{hit.heading}\n{hit.snippet}".strip()[:_TEXT_CHARACTERS]


def mix(found: Sequence[float], given: Sequence[float], weight: float) -> list[int]:
    """Return the places of hits, best first, by the scores of search and those of a reranker.

    Both are stretched to the range from 0 to 1, because the scale of a reranker is its own. Equal sums keep
    the order of search.
    """
    # Where search spreads hits over different texts, its order is not that of the scores; it counts.
    falling = _stretch(list(accumulate(found, min)))
    sums = [(1 - weight) * one + weight * other for one, other in zip(falling, _stretch(given), strict=True)]
    return sorted(range(len(sums)), key=lambda place: -sums[place])


def _stretch(scores: Sequence[float]) -> list[float]:
    low, high = min(scores), max(scores)
    return [(score - low) / (high - low) if high > low else 0.0 for score in scores]
