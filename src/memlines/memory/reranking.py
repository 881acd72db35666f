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

    Those of search are taken as a share of the best, so that hits which are nearly equal stay so. Those of a
    reranker, whose scale is its own, are stretched from 0 to 1. Equal sums keep the order of search.
    """
    # Where search spreads hits over different texts, its order is not that of the scores; it counts.
    falling = list(accumulate(found, min))
    best, low, spread = falling[0] or 1.0, min(given), (max(given) - min(given)) or 1.0
    sums = [
        (1 - weight) * one / best + weight * (other - low) / spread
        for one, other in zip(falling, given, strict=True)
    ]
    return sorted(range(len(sums)), key=lambda place: -sums[place])
