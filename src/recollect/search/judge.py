"""Turn what speaks for a chunk into the probability that it answers the query.

The numbers were fitted on questions whose answers are known, and on questions of other people
that have none: docs/search.md says how, and how well they hold.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from heapq import nlargest
from typing import Literal

from recollect.search import fuse
from recollect.search.candidates import Candidates
from recollect.search.legs import Legs, Request
from recollect.search.lexical import COVERED
from recollect.search.when import When, evidence_of_date
from recollect.text.language import is_foreign
from recollect.types import IndexedChunk

Compared = Literal["words", "vectors", "both", "meaning", "measured meaning"]
"""What evidence stands on: one leg alone; both; or both where words can hardly speak, because the
best candidate holds none of the query's or is in another language. What vectors say alone depends the
most on their model, so a model that was measured and not fitted has a curve of its own there."""

_CURVES: dict[Compared, tuple[float, float]] = {
    "words": (-1.79, 4.83),
    "vectors": (-1.41, 3.12),
    "both": (-3.95, 6.36),
    "meaning": (-3.98, 10.72),
    "measured meaning": (-3.98, 13.4),
}

_READ = 30
"""Candidates whose text is read before they are ranked. Not depending on how many results are
asked for, it leaves the order of the first ones alone."""


def judged(
    scores: Mapping[int, float],
    found: Legs,
    timely: Mapping[int, float],
    candidates: Candidates,
    request: Request,
    when: When,
) -> dict[int, float]:
    """Return for each candidate how likely it answers the query, given the evidence for it.

    The best ones are looked at again, by what they hold: a rank also counts how often a word comes
    and how short the chunk is, while a question is answered where its words come together.
    """
    evidence = dict(scores)
    first = nlargest(_READ, scores, key=lambda number: (scores[number], -number))
    chunks = candidates.read(first)
    for number, chunk in chunks.items():
        words = found.lexical.get(number, 0.0)
        if words:
            words = (words + COVERED * candidates.coverage(chunk)) / 2
        told = fuse.either(words, found.vector.get(number, 0.0))
        evidence[number] = fuse.either(told, timely.get(number) or evidence_of_date(when, chunk))
    compared = _compared(evidence, found, chunks, request)
    return {number: probability(amount, compared) for number, amount in evidence.items()}


def _compared(
    evidence: Mapping[int, float], found: Legs, chunks: Mapping[int, IndexedChunk], request: Request
) -> Compared:
    if request.mode == "vectors":
        return "vectors"
    if not found.vector:
        return "words"
    best = max(chunks.values(), key=lambda chunk: evidence[chunk.number], default=None)
    if best is not None and best.number in found.lexical and not is_foreign(request.text, best.text):
        return "both"
    return "measured meaning" if found.measured else "meaning"


def probability(evidence: float, compared: Compared) -> float:
    """Return how likely a chunk answers a query, from the evidence for it and what that stands on."""
    shift, slope = _CURVES[compared]
    return 1.0 / (1.0 + math.exp(-(shift + slope * evidence)))
