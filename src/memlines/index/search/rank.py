"""Turn the evidence for a chunk into the probability that it answers the query.

The numbers were fitted on questions whose answers are known, and on questions of other people that have none:
docs/ranking.md says how, and how well they hold.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from heapq import nlargest
from typing import Literal

from memlines.index.search.query import When, evidence_of_date
from memlines.index.search.retrievers import Legs, Request
from memlines.index.search.words import COVERED, Candidates
from memlines.text.language import is_foreign, is_unlearned
from memlines.types import Band, IndexedChunk

Scores = Mapping[int, float]
"""Scores between 0 and 1 by chunk number."""

_RRF_K = 60
"""The usual constant of reciprocal rank fusion: how flat the top of a ranking is."""


def evidence(lexical: Scores, vector: Scores) -> dict[int, float]:
    """Take both scores as independent evidence: either can vouch for a chunk, both together more.

    A chunk that one leg alone found is judged on the same scale as one that both did. That is
    what keeps a question in one language and its answer in another together: the few words they
    happen to share do not drown what the vectors know.
    """
    return {
        number: either(lexical.get(number, 0.0), vector.get(number, 0.0))
        for number in lexical.keys() | vector.keys()
    }


def either(one: float, other: float) -> float:
    """Return how much two independent pieces of evidence say together."""
    return 1.0 - (1.0 - one) * (1.0 - other)


def weighted(lexical: Scores, vector: Scores, text_weight: float, vector_weight: float) -> dict[int, float]:
    """Add both scores with their weights; what a leg did not find counts as 0 there."""
    return {
        number: text_weight * lexical.get(number, 0.0) + vector_weight * vector.get(number, 0.0)
        for number in lexical.keys() | vector.keys()
    }


def rrf(lexical: Scores, vector: Scores, text_weight: float, vector_weight: float) -> dict[int, float]:
    """Add the reciprocal ranks, scaled so that the first of both rankings scores 1."""
    fused: dict[int, float] = {}
    for scores, weight in ((lexical, text_weight), (vector, vector_weight)):
        ranking = sorted(scores, key=lambda number: (-scores[number], number))
        for place, number in enumerate(ranking, 1):
            share = weight * (_RRF_K + 1) / (_RRF_K + place)
            fused[number] = fused.get(number, 0.0) + share
    return fused


Ranking = list[tuple[int, float]]

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

_BRIEF = (-2.1, 4.5, 2.8)
"""For texts of a sentence or two: the shift, and the slopes of what vectors and words say. Such a text shares
a word or a topic with many queries, so neither may vouch for it alone as it may for a passage."""

_MEASURED = 1.25
"""How much more the vectors of a model say that was measured and not fitted: they are scaled lower."""

_UNLEARNED = 0.6
"""What is left of what the builtin model says in a language that it did not learn, if no word is shared."""

_READ = 30
"""Candidates whose text is read before they are ranked. Not depending on how many results are
asked for, it leaves the order of the first ones alone."""

_STRONG = 0.7
"""The score that the best hit needs to be strong. docs/ranking.md says how often such a hit is right."""

_NEAR_BY_WORDS = 0.1
_NEAR_BY_MEANING, _NEAR_AMONG_MORE = 0.15, 0.03
"""What makes a candidate near though it is no likely answer: the share of the query that its words are, rare
ones counting more; or its vector score, which is higher by chance the more chunks there are, by so much for
the logarithm of their number. docs/ranking.md says how these were chosen."""

_BESIDE_THE_NEAREST = 0.5
"""The part of the best score that another weak hit needs: far below it, a line only distracts."""


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
    chunks = candidates.read(_first(scores))
    for number, chunk in chunks.items():
        told = either(_words(chunk, found, candidates), found.vector.get(number, 0.0))
        evidence[number] = either(told, timely.get(number) or evidence_of_date(when, chunk))
    compared = _compared(evidence, found, chunks, request)
    return {number: probability(amount, compared) for number, amount in evidence.items()}


def judged_brief(
    scores: Mapping[int, float],
    found: Legs,
    timely: Mapping[int, float],
    candidates: Candidates,
    request: Request,
    when: When,
) -> dict[int, float]:
    """Return the same for candidates of a sentence or two, whose evidence weighs otherwise."""
    if not found.vector:
        return judged(scores, found, timely, candidates, request, when)
    words = {number: found.lexical.get(number, 0.0) for number in scores}
    beside = {number: timely.get(number, 0.0) for number in scores}
    for number, chunk in candidates.read(_first(scores)).items():
        words[number] = _words(chunk, found, candidates)
        beside[number] = beside[number] or evidence_of_date(when, chunk)
    shift, by_vectors, by_words = _BRIEF
    by_vectors *= _MEASURED if found.measured else 1.0
    by_vectors_alone = by_vectors
    if not found.measured and is_unlearned(request.text):
        by_vectors_alone *= _UNLEARNED
    return {
        number: _logistic(
            shift
            + by_words * words[number]
            + (by_vectors if words[number] else by_vectors_alone)
            * either(found.vector.get(number, 0.0), beside[number])
        )
        # What was stored a moment ago may have no vector yet, which says nothing against it.
        if number in found.vector or not words[number]
        else probability(either(words[number], beside[number]), "words")
        for number in scores
    }


def _first(scores: Mapping[int, float]) -> list[int]:
    return nlargest(_READ, scores, key=lambda number: (scores[number], -number))


def _words(chunk: IndexedChunk, found: Legs, candidates: Candidates) -> float:
    """Return what words say for a chunk that was read."""
    ranked = found.lexical.get(chunk.number, 0.0)
    return (ranked + COVERED * candidates.coverage(chunk)) / 2 if ranked else 0.0


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


def by_words(chunk: IndexedChunk, found: Legs, candidates: Candidates) -> float:
    """Return how likely a chunk that was read answers the query, by its words alone."""
    return probability(_words(chunk, found, candidates), "words")


def band_of(score: float, best: float, request: Request) -> Band:
    """Return how sure it is that a hit answers; only probabilities can be strong.

    Of hits that score as high, the best is right far more often than those below it.
    """
    if score < request.query.min_score:
        return "weak"
    return "strong" if is_judged(request) and _STRONG <= score >= best else "likely"


def nearest_of(ranking: Ranking, found: Legs, candidates: Candidates) -> Ranking:
    """Return those of a ranking that share something with the query, where none is a likely answer.

    A candidate that holds no telling word of the query and is not nearer to it in meaning than one of so many
    is by chance is noise.
    """
    chunks = candidates.read(_first(dict(ranking)))
    least = _NEAR_BY_MEANING + _NEAR_AMONG_MORE * math.log(max(1, candidates.total))
    least /= _MEASURED if found.measured else 1.0

    def is_near(chunk: IndexedChunk) -> bool:
        if chunk.number in found.lexical and candidates.coverage(chunk) >= _NEAR_BY_WORDS:
            return True
        return found.vector.get(chunk.number, 0.0) >= least

    near = [item for item in ranking if item[0] in chunks and is_near(chunks[item[0]])]
    best = max((score for _, score in near), default=0.0)
    return [item for item in near if item[1] >= _BESIDE_THE_NEAREST * best]


def is_judged(request: Request) -> bool:
    """Tell whether scores are probabilities; the classics keep the scores they are known for."""
    return request.profile != "openclaw" and request.query.fusion == "evidence"


def probability(evidence: float, compared: Compared) -> float:
    """Return how likely a chunk answers a query, from the evidence for it and what that stands on."""
    shift, slope = _CURVES[compared]
    return _logistic(shift + slope * evidence)


def _logistic(log_odds: float) -> float:
    return 1.0 / (1.0 + math.exp(-log_odds))
