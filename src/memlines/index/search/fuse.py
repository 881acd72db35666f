"""Make one ranking of two."""

from __future__ import annotations

from collections.abc import Mapping

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
