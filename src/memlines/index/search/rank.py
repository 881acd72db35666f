"""Make one score of what both retrievers found: the probability that a chunk answers the query.

The numbers were fitted on questions whose answers are known, and on questions of other people that have none:
docs/ranking.md says how, and how well they hold.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from heapq import nlargest
from typing import Literal

from memlines.index.search.query import Query, date_evidence
from memlines.index.search.retrievers import RetrieverResults
from memlines.index.search.words import COVERED, MatchedChunks
from memlines.text.language import is_foreign, is_unlearned
from memlines.types import Band, IndexedChunk

Scores = Mapping[int, float]
"""Scores between 0 and 1 by chunk number."""

Ranking = list[tuple[int, float]]

Curve = Literal["words", "vectors", "both", "meaning", "measured meaning"]
"""What evidence is based on: one retriever alone; both; or both if words can hardly count, because the
best candidate holds none of the query's or is in another language. What vectors say alone depends the
most on their model, so a model that was measured and not fitted has a curve of its own there."""

_CURVES: dict[Curve, tuple[float, float]] = {
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
"""What makes a candidate near although it is not a likely answer: the share of the query that its words are,
rare ones counting more; or its vector score, which is higher by chance the more chunks there are, by so much
for the logarithm of their number. docs/ranking.md says how these were chosen."""

_BESIDE_THE_NEAREST = 0.5
"""The part of the best score that another weak hit needs: far below it, a line only distracts."""

_RRF_K = 60
"""The usual constant of reciprocal rank fusion: how flat the top of a ranking is."""


def fuse(query: Query, found: RetrieverResults) -> dict[int, float]:
    """Return one score for each candidate; the scores of a retriever that answers alone stay as they are."""
    if not found.vectors:
        return found.words
    if query.mode == "vectors":
        return found.vectors
    settings = query.settings
    if settings.fusion == "evidence":
        return fuse_evidence(found.words, found.vectors)
    fusion = fuse_ranks if settings.fusion == "rrf" else fuse_weighted
    return fusion(found.words, found.vectors, settings.hybrid.text_weight, settings.hybrid.vector_weight)


def fuse_evidence(words: Scores, vectors: Scores) -> dict[int, float]:
    """Take both scores as independent evidence: either can vouch for a chunk, both together more.

    A chunk that one retriever alone found is judged on the same scale as one that both did. That is
    what keeps a question in one language and its answer in another together: the few words they
    happen to share do not drown what the vectors know.
    """
    return {
        number: combine(words.get(number, 0.0), vectors.get(number, 0.0))
        for number in words.keys() | vectors.keys()
    }


def combine(one: float, other: float) -> float:
    """Return how much two independent pieces of evidence say together."""
    return 1.0 - (1.0 - one) * (1.0 - other)


def fuse_weighted(
    words: Scores, vectors: Scores, text_weight: float, vector_weight: float
) -> dict[int, float]:
    """Add both scores with their weights; what a retriever did not find counts as 0 there."""
    return {
        number: text_weight * words.get(number, 0.0) + vector_weight * vectors.get(number, 0.0)
        for number in words.keys() | vectors.keys()
    }


def fuse_ranks(words: Scores, vectors: Scores, text_weight: float, vector_weight: float) -> dict[int, float]:
    """Add the reciprocal ranks, scaled so that the first of both rankings scores 1."""
    fused: dict[int, float] = {}
    for scores, weight in ((words, text_weight), (vectors, vector_weight)):
        ranking = sorted(scores, key=lambda number: (-scores[number], number))
        for place, number in enumerate(ranking, 1):
            share = weight * (_RRF_K + 1) / (_RRF_K + place)
            fused[number] = fused.get(number, 0.0) + share
    return fused


def estimate(
    query: Query, scores: Scores, found: RetrieverResults, timely: Scores, chunks: MatchedChunks
) -> dict[int, float]:
    """Return for each candidate how likely it answers the query, given the evidence for it.

    The best ones are looked at again, by what they hold: a rank also counts how often a word comes
    and how short the chunk is, while a question is answered where its words come together.
    """
    evidence = dict(scores)
    best = chunks.read(_first(scores))
    for number, chunk in best.items():
        both = combine(word_evidence(chunk, found, chunks), found.vectors.get(number, 0.0))
        evidence[number] = combine(
            both, timely.get(number) or (date_evidence(chunk) if query.asks_when else 0.0)
        )
    curve: Curve = "measured meaning" if found.is_measured else "meaning"
    if query.mode == "vectors":
        curve = "vectors"
    elif not found.vectors:
        curve = "words"
    else:
        first = max(best, key=evidence.__getitem__, default=None)
        if first is not None and first in found.words and not is_foreign(query.text, best[first].text):
            curve = "both"
    return {number: probability(amount, curve) for number, amount in evidence.items()}


def estimate_brief(
    query: Query, scores: Scores, found: RetrieverResults, timely: Scores, chunks: MatchedChunks
) -> dict[int, float]:
    """Return the same for candidates of a sentence or two, whose evidence weighs otherwise."""
    if not found.vectors:
        return estimate(query, scores, found, timely, chunks)
    words = {number: found.words.get(number, 0.0) for number in scores}
    beside = {number: timely.get(number, 0.0) for number in scores}
    for number, chunk in chunks.read(_first(scores)).items():
        words[number] = word_evidence(chunk, found, chunks)
        if query.asks_when and not beside[number]:
            beside[number] = date_evidence(chunk)
    shift, by_vectors, by_words = _BRIEF
    by_vectors *= _MEASURED if found.is_measured else 1.0
    by_vectors_alone = by_vectors
    if not found.is_measured and is_unlearned(query.text):
        by_vectors_alone *= _UNLEARNED
    return {
        number: _logistic(
            shift
            + by_words * words[number]
            + (by_vectors if words[number] else by_vectors_alone)
            * combine(found.vectors.get(number, 0.0), beside[number])
        )
        # What was stored a moment ago may have no vector yet, which says nothing against it.
        if number in found.vectors or not words[number]
        else probability(combine(words[number], beside[number]), "words")
        for number in scores
    }


def word_evidence(chunk: IndexedChunk, found: RetrieverResults, chunks: MatchedChunks) -> float:
    """Return what words say for a chunk that was read."""
    ranked = found.words.get(chunk.number, 0.0)
    return (ranked + COVERED * chunks.share(chunks.words_of(chunk))) / 2 if ranked else 0.0


def probability(evidence: float, curve: Curve) -> float:
    """Return how likely a chunk answers a query, from the evidence for it and what that is based on."""
    shift, slope = _CURVES[curve]
    return _logistic(shift + slope * evidence)


def band_of(query: Query, score: float, best: float) -> Band:
    """Return how sure it is that a hit answers; only probabilities can be strong.

    Of hits that score as high, the best is right far more often than those below it.
    """
    if score < query.settings.min_score:
        return "weak"
    return "strong" if query.is_calibrated and _STRONG <= score >= best else "likely"


def nearest_of(ranking: Ranking, found: RetrieverResults, chunks: MatchedChunks) -> Ranking:
    """Return those of a ranking that share something with the query, if none is a likely answer.

    A candidate that holds no telling word of the query and is not nearer to it in meaning than one of so many
    is by chance is noise.
    """
    best = chunks.read(_first(dict(ranking)))
    least = _NEAR_BY_MEANING + _NEAR_AMONG_MORE * math.log(max(1, chunks.total))
    least /= _MEASURED if found.is_measured else 1.0
    near = [
        (number, score)
        for number, score in ranking
        if number in best
        and (
            (number in found.words and chunks.share(chunks.words_of(best[number])) >= _NEAR_BY_WORDS)
            or found.vectors.get(number, 0.0) >= least
        )
    ]
    highest = max((score for _, score in near), default=0.0)
    return [item for item in near if item[1] >= _BESIDE_THE_NEAREST * highest]


def _first(scores: Scores) -> list[int]:
    return nlargest(_READ, scores, key=lambda number: (scores[number], -number))


def _logistic(log_odds: float) -> float:
    return 1.0 / (1.0 + math.exp(-log_odds))
