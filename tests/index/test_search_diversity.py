"""Maximal marginal relevance: as relevant as possible, as little alike as asked for."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlines.index.search.reorder import diversify, jaccard, tokens_of
from tests.memories import words_memory, write

TEXTS = {
    1: "alpha beta gamma delta",
    2: "alpha beta gamma delta",
    3: "completely different words here",
}
RANKING = [(1, 0.9), (2, 0.85), (3, 0.5)]
token_sets = st.frozensets(st.sampled_from("abcdefgh"))
rankings = st.dictionaries(st.integers(0, 30), st.floats(-1, 1), max_size=12).map(lambda d: list(d.items()))


def test_weight_1_is_the_order_of_the_scores() -> None:
    assert diversify([(3, 0.5), (1, 0.9), (2, 0.85)], TEXTS, 1.0) == [1, 2, 3]


def test_weight_0_takes_the_most_different_second() -> None:
    assert diversify(RANKING, TEXTS, 0.0) == [1, 3, 2]


def test_a_middle_weight_puts_a_copy_after_something_new() -> None:
    assert diversify(RANKING, TEXTS, 0.5) == [1, 3, 2]


def test_the_first_is_the_one_with_the_highest_score() -> None:
    assert diversify([(3, 0.5), (2, 0.85), (1, 0.9)], TEXTS, 0.3)[0] == 1


@pytest.mark.parametrize(("outside", "clamped"), [(-3.0, 0.0), (7.0, 1.0)])
def test_the_weight_is_clamped(outside: float, clamped: float) -> None:
    assert diversify(RANKING, TEXTS, outside) == diversify(RANKING, TEXTS, clamped)


def test_equal_values_fall_to_the_higher_score() -> None:
    texts = {1: "one", 2: "two", 3: "three"}
    assert diversify([(1, 0.2), (2, 0.9), (3, 0.5)], texts, 0.0) == [2, 3, 1]


def test_equal_scores_keep_the_order_they_come_in() -> None:
    texts = {9: "one", 4: "two", 7: "three"}
    assert diversify([(9, 0.5), (4, 0.5), (7, 0.5)], texts, 0.7) == [9, 4, 7]


def test_equal_scores_are_still_spread_by_their_texts() -> None:
    assert diversify([(1, 0.5), (2, 0.5), (3, 0.5)], TEXTS, 0.7) == [1, 3, 2]


def test_texts_without_a_token_count_as_the_same() -> None:
    texts = {1: "!!!", 2: "???", 3: "word"}
    assert diversify([(1, 0.9), (2, 0.89), (3, 0.88)], texts, 0.3) == [1, 3, 2]


def test_negative_scores_are_ranked_too() -> None:
    assert diversify([(1, -0.9), (2, -0.1)], TEXTS, 0.7) == [2, 1]


def test_nothing_and_one_are_left_alone() -> None:
    assert diversify([], {}, 0.5) == []
    assert diversify([(5, 0.1)], {5: "x"}, 0.5) == [5]


@given(rankings, st.floats(-1, 2))
def test_every_candidate_comes_out_once(ranking: list[tuple[int, float]], weight: float) -> None:
    order = diversify(ranking, dict.fromkeys(range(31), "same text"), weight)
    assert sorted(order) == sorted(number for number, _ in ranking)


@given(token_sets, token_sets)
def test_jaccard_is_symmetric(one: frozenset[str], other: frozenset[str]) -> None:
    assert jaccard(one, other) == jaccard(other, one)


@given(token_sets, token_sets)
def test_jaccard_is_between_0_and_1(one: frozenset[str], other: frozenset[str]) -> None:
    assert 0 <= jaccard(one, other) <= 1


@given(token_sets)
def test_jaccard_of_a_set_with_itself_is_1(tokens: frozenset[str]) -> None:
    assert jaccard(tokens, tokens) == 1


def test_jaccard_of_an_empty_set_with_another_is_0() -> None:
    assert jaccard(frozenset(), frozenset("a")) == 0


def test_jaccard_of_a_half_overlap() -> None:
    assert jaccard(frozenset("ab"), frozenset("bc")) == pytest.approx(1 / 3)


def test_tokens_are_lower_case_latin_words() -> None:
    assert tokens_of("Foo_Bar baz-1!") == {"foo_bar", "baz", "1"}


def test_wide_characters_count_alone_and_in_pairs() -> None:
    assert tokens_of("数据库") == {"数", "据", "库", "数据", "据库"}


def test_pairs_do_not_reach_across_a_gap() -> None:
    assert tokens_of("数 据") == {"数", "据"}


def test_kana_and_hangul_are_wide() -> None:
    assert tokens_of("カナ 한글") == {"カ", "ナ", "カナ", "한", "글", "한글"}


NOTES = {
    "a.md": "The heron nests by the river mill; heron counts are done in spring.\n",
    "b.md": "The heron nests by the river mill; heron counts are done in spring!\n",
    "c.md": "A heron was seen in the harbour.\n",
    **{f"other{number}.md": f"Unrelated note number {number}.\n" for number in range(6)},
}


def test_a_search_with_mmr_puts_the_copy_last(workspace: Path) -> None:
    settings = {"query__mmr__enabled": True, "query__mmr__lambda": 0.1}
    with words_memory(workspace, NOTES, **settings) as memory:
        paths = [hit.path for hit in memory.search("heron", min_score=0)]
    assert paths == ["memory/a.md", "memory/c.md", "memory/b.md"]


def test_mmr_leaves_the_scores_as_they_are(workspace: Path) -> None:
    with words_memory(workspace, NOTES) as plain:
        before = {hit.path: hit.score for hit in plain.search("heron", min_score=0)}
    with words_memory(workspace, NOTES, query__mmr__enabled=True) as memory:
        hits = memory.search("heron", min_score=0)
    assert {hit.path: hit.score for hit in hits} == before
    assert all(hit.why.fusion.endswith("spread over different texts") for hit in hits)


# Neighbours that repeat each other


def test_a_neighbour_that_holds_the_words_only_in_shared_lines_is_left_out(workspace: Path) -> None:
    lines = [f"Line {number} of a long list of perfectly ordinary things." for number in range(60)]
    with words_memory(workspace, {"a.md": "\n".join(lines)}, chunking__tokens=100) as memory:
        chunks = memory.search("ordinary", max_results=50, min_score=0)
        shared = next(
            line
            for line in range(1, 61)
            if sum(hit.start_line <= line <= hit.end_line for hit in chunks) == 2
        )
        lines[shared - 1] = "Here comes the kestrel."
        write(workspace, {"a.md": "\n".join(lines)})
        hits = memory.search("kestrel", min_score=0)
    assert len(hits) == 1
    assert hits[0].start_line <= shared <= hits[0].end_line


def test_a_neighbour_that_has_the_words_in_its_own_lines_stays(workspace: Path) -> None:
    lines = [f"Line {number} about the kestrel and other birds." for number in range(60)]
    with words_memory(workspace, {"a.md": "\n".join(lines)}, chunking__tokens=100) as memory:
        assert len(memory.search("kestrel", max_results=50, min_score=0)) > 5


def test_leaving_out_repeats_makes_room_for_others(workspace: Path) -> None:
    notes = {f"{number:02d}.md": f"The kestrel of day {number}.\n" for number in range(20)}
    with words_memory(workspace, notes) as memory:
        assert len(memory.search("kestrel", max_results=20, min_score=0)) == 20
