"""Two rankings become one whose scores stay between 0 and 1."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlines.index.search.rank import fuse_evidence, fuse_ranks, fuse_weighted
from memlines.index.search.retrievers import scale_of

scores = st.dictionaries(st.integers(0, 20), st.floats(0, 1), max_size=10)
part = st.floats(0, 1)


def test_evidence_of_both_legs_counts_more_than_either() -> None:
    assert fuse_evidence({1: 0.5}, {1: 0.5}) == {1: 0.75}


def test_evidence_takes_a_leg_that_stands_alone_as_it_is() -> None:
    assert fuse_evidence({1: 0.4}, {2: 0.4}) == pytest.approx({1: 0.4, 2: 0.4})


@given(scores, scores)
def test_evidence_stays_between_0_and_1(lexical: dict[int, float], vector: dict[int, float]) -> None:
    assert all(0 <= score <= 1 for score in fuse_evidence(lexical, vector).values())


@given(scores, scores)
def test_evidence_does_not_care_which_leg_is_which(
    lexical: dict[int, float], vector: dict[int, float]
) -> None:
    assert fuse_evidence(lexical, vector) == pytest.approx(fuse_evidence(vector, lexical))


@given(scores, scores)
def test_evidence_is_never_below_the_better_leg(lexical: dict[int, float], vector: dict[int, float]) -> None:
    fused = fuse_evidence(lexical, vector)
    for number, score in fused.items():
        assert score >= max(lexical.get(number, 0), vector.get(number, 0)) - 1e-12


@given(part, part, part)
def test_evidence_grows_with_each_leg(low: float, high: float, other: float) -> None:
    low, high = sorted((low, high))
    assert fuse_evidence({1: low}, {1: other})[1] <= fuse_evidence({1: high}, {1: other})[1]


def test_weighted_vector_alone() -> None:
    assert fuse_weighted({}, {1: 0.9}, 0.3, 0.7) == pytest.approx({1: 0.63})


def test_weighted_keyword_alone() -> None:
    assert fuse_weighted({1: 1.0}, {}, 0.3, 0.7) == pytest.approx({1: 0.30})


def test_weighted_both() -> None:
    assert fuse_weighted({1: 1.0}, {1: 0.9}, 0.3, 0.7) == pytest.approx({1: 0.93})


@given(scores, scores, part)
def test_weighted_stays_between_0_and_1(
    lexical: dict[int, float], vector: dict[int, float], weight: float
) -> None:
    assert all(
        0 <= score <= 1 + 1e-12 for score in fuse_weighted(lexical, vector, weight, 1 - weight).values()
    )


@given(scores, scores, part)
def test_weighted_is_symmetric_with_its_weights(
    lexical: dict[int, float], vector: dict[int, float], weight: float
) -> None:
    one = fuse_weighted(lexical, vector, weight, 1 - weight)
    assert one == pytest.approx(fuse_weighted(vector, lexical, 1 - weight, weight))


@given(part, part, part, part)
def test_weighted_grows_with_each_leg(low: float, high: float, other: float, weight: float) -> None:
    low, high = sorted((low, high))
    smaller = fuse_weighted({1: other}, {1: low}, weight, 1 - weight)[1]
    assert smaller <= fuse_weighted({1: other}, {1: high}, weight, 1 - weight)[1]


def test_rrf_gives_the_first_of_both_rankings_1() -> None:
    assert fuse_ranks({1: 0.8, 2: 0.1}, {1: 0.9, 3: 0.2}, 0.3, 0.7)[1] == pytest.approx(1.0)


def test_rrf_looks_at_ranks_and_not_at_scores() -> None:
    close = fuse_ranks({1: 0.81, 2: 0.80}, {}, 0.3, 0.7)
    assert close == fuse_ranks({1: 0.99, 2: 0.01}, {}, 0.3, 0.7)


def test_rrf_uses_the_constant_60() -> None:
    fused = fuse_ranks({1: 0.9, 2: 0.8}, {}, 1.0, 0.0)
    assert fused[2] / fused[1] == pytest.approx(61 / 62)


@given(scores, scores, part)
def test_rrf_stays_between_0_and_1(
    lexical: dict[int, float], vector: dict[int, float], weight: float
) -> None:
    assert all(0 <= score <= 1 + 1e-12 for score in fuse_ranks(lexical, vector, weight, 1 - weight).values())


@given(scores, scores, part)
def test_rrf_is_symmetric_with_its_weights(
    lexical: dict[int, float], vector: dict[int, float], weight: float
) -> None:
    one = fuse_ranks(lexical, vector, weight, 1 - weight)
    assert one == pytest.approx(fuse_ranks(vector, lexical, 1 - weight, weight))


@given(scores, scores)
def test_rrf_keeps_the_order_of_a_single_leg(lexical: dict[int, float], vector: dict[int, float]) -> None:
    fused = fuse_ranks(lexical, {}, 0.3, 0.7)
    ranking = sorted(lexical, key=lambda number: (-lexical[number], number))
    assert sorted(fused, key=lambda number: -fused[number]) == ranking


@given(scores, scores)
def test_every_fusion_keeps_every_candidate(lexical: dict[int, float], vector: dict[int, float]) -> None:
    every = lexical.keys() | vector.keys()
    assert fuse_evidence(lexical, vector).keys() == every
    assert fuse_weighted(lexical, vector, 0.3, 0.7).keys() == every
    assert fuse_ranks(lexical, vector, 0.3, 0.7).keys() == every


def scale(
    cosines: dict[int, float], sentences: dict[int, float], model: str, common: float | None = None
) -> dict[int, float]:
    """Return the vector scores of chunks by their cosines and those of their best sentences."""
    of_model = scale_of(model, common)
    return {one: of_model.score(cosine, sentences.get(one, cosine)) for one, cosine in cosines.items()}


@given(st.dictionaries(st.integers(), st.floats(-1, 1)))
def test_cosines_become_scores_between_0_and_1(cosines: dict[int, float]) -> None:
    for model in ("use-multilingual-v3", "another"):
        assert all(0 <= score <= 1 for score in scale(cosines, {}, model).values())


def test_the_builtin_models_certain_cosine_scores_1() -> None:
    found = scale({1: 0.8, 2: 0.4, 3: 0.9}, {}, "use-multilingual-v3")
    assert found == pytest.approx({1: 1.0, 2: 0.5, 3: 1.0})


def test_the_best_sentence_counts_as_much_as_the_chunk() -> None:
    assert scale({1: 0.2, 2: 0.4}, {1: 0.6}, "another") == pytest.approx({1: 0.4, 2: 0.4})


def test_an_unknown_models_cosines_are_taken_as_they_are() -> None:
    assert scale({1: 0.6, 2: -0.2}, {}, "another") == {1: 0.6, 2: 0.0}
