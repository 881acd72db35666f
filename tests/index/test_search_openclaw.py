"""`profile: openclaw` scores as OpenClaw's memory does."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlines.index.search import retrievers, words
from memlines.index.search.words import openclaw_score
from memlines.index.store.sqlite import words as store_words
from tests.memories import fake_memory, words_memory
from tests.providers import MeaningsProvider

NINE_TENTHS = (0.9, math.sqrt(1 - 0.81), 0.0, 0.0)
QUERY = (1.0, 0.0, 0.0, 0.0)
FILLER = {f"filler{number}.md": f"Ordinary note {number} about nothing much.\n" for number in range(12)}


def test_a_rank_below_0_becomes_r_over_1_plus_r() -> None:
    assert openclaw_score(-4.2) == pytest.approx(4.2 / 5.2)


@pytest.mark.parametrize("rank", [math.nan, math.inf, -math.inf])
def test_a_rank_that_is_not_finite_becomes_a_thousandth(rank: float) -> None:
    assert openclaw_score(rank) == 0.001


@pytest.mark.parametrize(("rank", "score"), [(0.0, 1.0), (1.0, 0.5), (3.0, 0.25)])
def test_a_rank_of_0_or_more_becomes_1_over_1_plus_rank(rank: float, score: float) -> None:
    assert openclaw_score(rank) == score


@given(st.floats(-1e6, -1e-9), st.floats(-1e6, -1e-9))
def test_a_better_rank_never_scores_less(one: float, other: float) -> None:
    better, worse = sorted((one, other))
    assert openclaw_score(better) >= openclaw_score(worse)


@given(st.floats())
def test_a_score_is_between_0_and_1(rank: float) -> None:
    assert 0 <= openclaw_score(rank) <= 1


def test_every_token_of_the_query_must_occur(workspace: Path) -> None:
    notes = FILLER | {
        "all.md": "FOO_bar and baz, 1 of them.\n",
        "two.md": "FOO_bar and baz.\n",
        "one.md": "FOO_bar.\n",
    }
    with words_memory(workspace, notes, profile="openclaw") as memory:
        paths = [hit.path for hit in memory.search("FOO_bar baz-1", min_score=0)]
    assert paths == ["memory/all.md"]


def test_stop_words_must_occur_too(workspace: Path) -> None:
    notes = FILLER | {"with.md": "which kestrel\n", "without.md": "kestrel\n"}
    with words_memory(workspace, notes, profile="openclaw") as memory:
        assert [hit.path for hit in memory.search("which kestrel", min_score=0)] == ["memory/with.md"]


def test_when_all_together_find_nothing_each_keyword_is_searched(workspace: Path) -> None:
    notes = FILLER | {"a.md": "A kestrel.\n", "b.md": "A submarine.\n"}
    with words_memory(workspace, notes, profile="openclaw") as memory:
        paths = {hit.path for hit in memory.search("which kestrel submarine", min_score=0)}
    assert paths == {"memory/a.md", "memory/b.md"}


def test_a_chunk_found_by_several_keywords_keeps_its_best_score(workspace: Path) -> None:
    notes = FILLER | {"a.md": "A kestrel among ordinary things.\n"}
    with words_memory(workspace, notes, profile="openclaw") as memory:
        alone = memory.search("kestrel", min_score=0)[0].score
        assert memory.search("absent ordinary kestrel", min_score=0)[0].score == pytest.approx(alone)


def test_with_vectors_keywords_are_not_searched_one_by_one(workspace: Path) -> None:
    provider = MeaningsProvider({"zebra": QUERY, "kestrel": (0.0, 1.0, 0.0, 0.0)})
    notes = {"a.md": "A kestrel.\n"}
    with fake_memory(workspace, notes, provider, profile="openclaw") as memory:
        hits = memory.search("zebra submarine", min_score=0)
    assert all(hit.why.lexical is None for hit in hits)


def test_a_hit_by_vectors_alone_scores_seven_tenths_of_its_cosine(workspace: Path) -> None:
    provider = MeaningsProvider({"asked": QUERY, "answer": NINE_TENTHS})
    with fake_memory(workspace, {"a.md": "The answer.\n"}, provider, profile="openclaw") as memory:
        hit = memory.search("asked")[0]
    assert hit.score == pytest.approx(0.63, abs=2e-3)
    assert hit.why.vector == pytest.approx(0.9, abs=2e-3)


def test_a_hit_by_words_alone_scores_three_tenths_of_its_word_score(workspace: Path) -> None:
    provider = MeaningsProvider({"kestrel": QUERY})
    notes = FILLER | {"a.md": "A kestrel.\n"}
    with fake_memory(workspace, notes, provider, profile="openclaw") as memory:
        memory.sync()
        provider.meanings = {"kestrel": (0.0, 0.0, 1.0, 0.0)}
        hit = next(hit for hit in memory.search("kestrel", min_score=0) if hit.path == "memory/a.md")
    assert hit.why.lexical is not None
    assert hit.score == pytest.approx(0.3 * hit.why.lexical, abs=2e-3)


def test_a_keyword_hit_below_min_score_is_kept_when_nothing_else_is(workspace: Path) -> None:
    provider = MeaningsProvider({"kestrel": QUERY})
    notes = FILLER | {"a.md": "A kestrel.\n"}
    with fake_memory(workspace, notes, provider, profile="openclaw") as memory:
        memory.sync()
        provider.meanings = {"kestrel": (0.0, 0.0, 1.0, 0.0)}
        hits = memory.search("kestrel")
    assert [hit.path for hit in hits] == ["memory/a.md"]
    assert hits[0].why.fusion == "0.3 words + 0.7 vectors, shown below 0.35 because nothing reaches it"


def test_a_vector_hit_below_min_score_is_not_kept(workspace: Path) -> None:
    provider = MeaningsProvider({"asked": QUERY, "answer": (0.4, math.sqrt(1 - 0.16), 0.0, 0.0)})
    with fake_memory(workspace, {"a.md": "The answer.\n"}, provider, profile="openclaw") as memory:
        assert len(memory.search("asked")) == 0


@pytest.mark.parametrize(
    ("max_results", "multiplier", "candidates"), [(6, 4, 24), (1, 1, 1), (100, 4, 200), (3, 2, 6)]
)
def test_how_many_candidates_each_leg_looks_at(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, max_results: int, multiplier: int, candidates: int
) -> None:
    limits = []

    def find_all(index: object, query: str, limit: int, sources: object, only: object) -> dict[int, float]:
        limits.append(limit)
        return {1: 0.5}

    monkeypatch.setattr(words, "find_all", find_all)
    settings = {"profile": "openclaw", "query__hybrid__candidate_multiplier": multiplier}
    with words_memory(workspace, {"a.md": "text\n"}, **settings) as memory:
        memory.search("text", max_results=max_results)
    assert limits == [candidates]
    assert retrievers._DEPTH == 200


def test_the_word_score_is_the_rank_of_fts5(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_words, "match_words", lambda *_: [(1, -4.2)])
    with words_memory(workspace, {"a.md": "text\n"}, profile="openclaw") as memory:
        hit = memory.search("text")[0]
    assert hit.why.lexical == hit.score == pytest.approx(4.2 / 5.2)


def test_the_weights_can_be_set_beside_the_profile(workspace: Path) -> None:
    provider = MeaningsProvider({"asked": QUERY, "answer": NINE_TENTHS})
    settings = {
        "profile": "openclaw",
        "query__hybrid__vector_weight": 0.5,
        "query__hybrid__text_weight": 0.5,
    }
    with fake_memory(workspace, {"a.md": "The answer.\n"}, provider, **settings) as memory:
        assert memory.search("asked")[0].score == pytest.approx(0.45, abs=2e-3)
