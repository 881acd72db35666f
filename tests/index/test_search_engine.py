"""The answer to a query: which hits, in which order, with which reasons."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path

import pytest

from memlines import UsageError
from memlines.index.search.rank import combine, probability
from memlines.index.store.sqlite import words as store_words
from memlines.index.store.sqlite.chunks import match_words
from tests.memories import fake_memory, words_memory, write
from tests.providers import MeaningsProvider

ASKED = (1.0, 0.0, 0.0, 0.0)


def near(cosine: float) -> tuple[float, float, float, float]:
    """Return a unit vector with this cosine to what is asked."""
    return (cosine, math.sqrt(1 - cosine**2), 0.0, 0.0)


MANY = {
    f"{number:02d}.md": f"Note {number} about the kestrel{' and the heron' * (number % 4)}.\n"
    for number in range(30)
}
MEANINGS = {"question": ASKED, "closest": near(0.9), "closer": near(0.6), "close": near(0.3)}
MEANT = {
    "a.md": "The gist.\n",
    "b.md": "Some kestrel.\n",
    "c.md": "Nothing of interest.\n",
    **{f"filler{number}.md": f"Filler number {number}.\n" for number in range(8)},
}
GIST = {"question": ASKED, "gist": near(0.9)}


@pytest.mark.parametrize("fusion", ["evidence", "weighted", "rrf"])
@pytest.mark.parametrize("mmr", [False, True])
def test_the_first_results_do_not_depend_on_how_many_are_asked_for(
    workspace: Path, fusion: str, mmr: bool
) -> None:
    provider = MeaningsProvider({"heron": near(0.8), "kestrel": near(0.5), "note 7": near(0.95)})
    settings = {"query__fusion": fusion, "query__mmr__enabled": mmr}
    with fake_memory(workspace, MANY, provider, **settings) as memory:
        every = [hit.citation for hit in memory.search("kestrel and heron", max_results=100, min_score=0)]
        assert len(every) == len(MANY)
        for count in (1, 2, 5, 10, 29):
            some = memory.search("kestrel and heron", max_results=count, min_score=0)
            assert [hit.citation for hit in some] == every[:count]


def test_a_weight_changes_the_scores(workspace: Path) -> None:
    scores = set()
    for weight in (0.05, 0.95):
        settings = {"query__hybrid__vector_weight": weight, "query__hybrid__text_weight": 1 - weight}
        with fake_memory(workspace, MEANT, MeaningsProvider(GIST), **settings) as memory:
            scores.add(memory.search("question", min_score=0)[0].score)
    assert len(scores) == 2


@pytest.mark.parametrize(
    ("fusion", "max_results", "multiplier", "candidates"),
    [
        ("weighted", 6, 4, 24),
        ("weighted", 1, 1, 1),
        ("weighted", 100, 4, 200),
        ("rrf", 3, 2, 6),
        ("evidence", 3, 2, 200),
    ],
)
def test_how_many_candidates_each_leg_gives(
    workspace: Path,
    monkeypatch: pytest.MonkeyPatch,
    fusion: str,
    max_results: int,
    multiplier: int,
    candidates: int,
) -> None:
    limits = []

    def counted(connection: object, expression: str, limit: int, *rest: object) -> object:
        limits.append(limit)
        return match_words(connection, expression, limit, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(store_words, "match_words", counted)
    settings = {"query__fusion": fusion, "query__hybrid__candidate_multiplier": multiplier}
    with words_memory(workspace, MANY, **settings) as memory:
        memory.search("kestrel", max_results=max_results, min_score=0)
    assert limits == [candidates]


def test_the_same_question_gets_the_same_answer(workspace: Path) -> None:
    with words_memory(workspace, MANY) as memory:
        first = memory.search("kestrel heron")
        assert memory.search("kestrel heron") == first


def test_equal_scores_fall_in_the_order_of_the_files(workspace: Path) -> None:
    notes = dict.fromkeys(("b.md", "a.md", "d/a.md", "c.md"), "The kestrel.\n")
    with words_memory(workspace, notes) as memory:
        memory.sync()
        write(workspace, {"a.md": "The kestrel!\n"})  # indexed again, so it is the newest in the index
        paths = [hit.path for hit in memory.search("kestrel")]
    assert paths == ["memory/a.md", "memory/b.md", "memory/c.md", "memory/d/a.md"]


def test_equal_scores_fall_in_the_order_of_the_files_with_mmr_too(workspace: Path) -> None:
    notes = {name: f"The kestrel {name[0]}{name[0]}.\n" for name in ("b.md", "a.md", "c.md")}
    with words_memory(workspace, notes, query__mmr__enabled=True) as memory:
        memory.sync()
        write(workspace, {"a.md": "The kestrel ax.\n"})
        paths = [hit.path for hit in memory.search("kestrel")]
    assert paths == ["memory/a.md", "memory/b.md", "memory/c.md"]


def test_a_hit_below_min_score_is_left_out(workspace: Path) -> None:
    provider = MeaningsProvider({"question": ASKED, "near": near(0.9), "far": near(0.3)})
    with fake_memory(workspace, {"a.md": "near\n", "b.md": "far\n"}, provider) as memory:
        assert [hit.path for hit in memory.search("question", min_score=0.5)] == ["memory/a.md"]


def test_min_score_0_keeps_what_barely_matches(workspace: Path) -> None:
    provider = MeaningsProvider({"question": ASKED, "near": near(0.9), "far": near(0.3)})
    with fake_memory(workspace, {"a.md": "near\n", "b.md": "far\n"}, provider) as memory:
        assert len(memory.search("question", min_score=0)) == 2


def test_a_classic_shows_what_holds_the_words_when_nothing_reaches_min_score(workspace: Path) -> None:
    settings = {"query__min_score": 0.9, "query__fusion": "weighted"}
    with words_memory(workspace, MEANT, **settings) as memory:
        hits = memory.search("kestrel submarine violin tractor origami")
    assert [hit.path for hit in hits] == ["memory/b.md"]
    assert hits[0].score < 0.9
    assert hits[0].why.fusion == "words only, shown below 0.9 because nothing reaches it"


def test_one_word_of_many_is_no_answer(workspace: Path) -> None:
    with words_memory(workspace, MEANT) as memory:
        assert not memory.search("kestrel submarine violin tractor origami").confident


def test_where_nothing_is_shown_the_nearest_score_is_told(workspace: Path) -> None:
    with words_memory(workspace, MEANT) as memory:
        result = memory.search("kestrel submarine violin tractor origami", strict=True)
        found = memory.search("kestrel submarine violin tractor origami", min_score=0)
    assert result.nearest == found[0].score
    assert found.nearest is None


def test_a_min_score_that_the_caller_gave_is_never_lowered(workspace: Path) -> None:
    with words_memory(workspace, MEANT, query__fusion="weighted") as memory:
        assert len(memory.search("kestrel submarine violin tractor origami", min_score=0.9)) == 0


def test_nothing_is_an_honest_answer(workspace: Path) -> None:
    with words_memory(workspace, MEANT) as memory:
        result = memory.search("submarine")
    assert len(result) == 0
    assert result.warnings == ()


def test_what_is_merely_near_in_meaning_is_no_answer_below_min_score(workspace: Path) -> None:
    provider = MeaningsProvider({"question": ASKED, "gist": near(0.2)})
    with fake_memory(workspace, {"a.md": "The gist.\n"}, provider) as memory:
        result = memory.search("question")
    assert [(hit.path, hit.band) for hit in result] == [("memory/a.md", "weak")]


def test_a_blank_query_finds_nothing_and_asks_no_provider(workspace: Path) -> None:
    provider = MeaningsProvider(GIST)
    with fake_memory(workspace, MEANT, provider) as memory:
        assert len(memory.search(" \n\t")) == 0
    assert provider.queries == []


def test_why_names_the_words_and_both_scores(workspace: Path) -> None:
    provider = MeaningsProvider({"question": ASKED, "kestrel": near(0.8)})
    with fake_memory(workspace, MEANT, provider) as memory:
        memory.sync()
        provider.meanings = {"question": ASKED}
        result = memory.search("Question: where is the kestrel?")
    hit = result[0]
    assert hit.path == "memory/b.md"
    assert hit.why.words == ("kestrel",)
    assert hit.why.vector == pytest.approx(0.8, abs=2e-3)
    assert hit.why.lexical is not None
    assert result.likelihood == pytest.approx(probability(combine(hit.why.lexical, 0.8), "both"), abs=0.02)
    assert hit.why.fusion == "words and vectors as independent evidence"


def test_a_hit_by_vectors_alone_has_no_words_and_no_word_score(workspace: Path) -> None:
    with fake_memory(workspace, MEANT, MeaningsProvider(GIST)) as memory:
        result = memory.search("question")
    hit = result[0]
    assert (hit.path, hit.why.words, hit.why.lexical) == ("memory/a.md", (), None)
    assert result.likelihood == pytest.approx(probability(0.9, "meaning"), abs=5e-3)


def test_a_hit_by_words_has_its_true_cosine_too(workspace: Path) -> None:
    provider = MeaningsProvider({"question": ASKED, "kestrel": near(-0.5)})
    with fake_memory(workspace, MEANT, provider) as memory:
        memory.sync()
        provider.meanings = {"question": ASKED}
        hit = memory.search("question kestrel", min_score=0)[0]
    assert hit.why.vector == pytest.approx(-0.5, abs=2e-3)


@pytest.mark.parametrize(
    ("fusion", "words"),
    [
        ("evidence", "words and vectors as independent evidence"),
        ("weighted", "0.3 words + 0.7 vectors"),
        ("rrf", "reciprocal ranks of 0.3 words and 0.7 vectors"),
    ],
)
def test_why_says_how_the_score_came_about(workspace: Path, fusion: str, words: str) -> None:
    with fake_memory(workspace, MEANT, MeaningsProvider(GIST), query__fusion=fusion) as memory:
        assert memory.search("question")[0].why.fusion == words


def test_mode_hybrid_finds_by_words_and_by_meaning(workspace: Path) -> None:
    with fake_memory(workspace, MEANT, MeaningsProvider(GIST)) as memory:
        result = memory.search("question kestrel", min_score=0)
    assert {hit.path for hit in result} == {"memory/a.md", "memory/b.md"}
    assert (result.mode, result.provider, result.model) == ("hybrid", "fake", "fake-1")


def test_mode_words_finds_by_words_only(workspace: Path) -> None:
    provider = MeaningsProvider(GIST)
    with fake_memory(workspace, MEANT, provider) as memory:
        result = memory.search("question kestrel", mode="words", min_score=0)
    assert [hit.path for hit in result] == ["memory/b.md"]
    assert (result.mode, provider.queries) == ("words", [])


def test_mode_vectors_finds_by_meaning_only(workspace: Path) -> None:
    with fake_memory(workspace, MEANT, MeaningsProvider(GIST)) as memory:
        result = memory.search("question kestrel", mode="vectors")
    assert [hit.path for hit in result] == ["memory/a.md"]
    assert (result.mode, result[0].why.fusion) == ("vectors", "vectors only")


def test_mode_vectors_without_a_provider_is_an_error(workspace: Path) -> None:
    with words_memory(workspace, MEANT) as memory, pytest.raises(UsageError, match="no vectors"):
        memory.search("question", mode="vectors")


def test_with_hybrid_switched_off_vectors_alone_answer(workspace: Path) -> None:
    provider = MeaningsProvider(GIST)
    with fake_memory(workspace, MEANT, provider, query__hybrid__enabled=False) as memory:
        result = memory.search("question kestrel")
    assert [hit.path for hit in result] == ["memory/a.md"]
    assert result.mode == "vectors"


def test_with_hybrid_switched_off_and_no_provider_words_answer(workspace: Path) -> None:
    with words_memory(workspace, MEANT, query__hybrid__enabled=False) as memory:
        assert [hit.path for hit in memory.search("kestrel")] == ["memory/b.md"]


@pytest.mark.promise("P6")
def test_a_provider_that_fails_at_the_query_leaves_words_and_a_warning(workspace: Path) -> None:
    provider = MeaningsProvider(GIST)
    with fake_memory(workspace, MEANT, provider) as memory:
        memory.sync()
        provider.failing_queries = True
        result = memory.search("kestrel")
    assert [hit.path for hit in result] == ["memory/b.md"]
    assert result.mode == "words"
    assert result.warnings == ("answered by words only: the fake provider is out of order",)


@pytest.mark.promise("P6")
def test_a_provider_that_fails_at_the_documents_leaves_words_and_a_warning(workspace: Path) -> None:
    provider = MeaningsProvider(GIST)
    provider.failing_documents = True
    with fake_memory(workspace, MEANT, provider) as memory:
        result = memory.search("kestrel")
    assert [hit.path for hit in result] == ["memory/b.md"]
    assert result.pending == len(MEANT)
    assert "out of order" in result.warnings[0]


def test_another_models_vectors_are_not_compared(workspace: Path) -> None:
    with fake_memory(workspace, MEANT, MeaningsProvider(GIST)) as memory:
        memory.sync()
    newer = MeaningsProvider(GIST, model="fake-2")
    newer.failing_documents = True
    with fake_memory(workspace, {}, newer) as memory:
        result = memory.search("question kestrel", min_score=0)
    assert [hit.path for hit in result] == ["memory/b.md"]
    assert any("the vectors are of fake (fake-1)" in warning for warning in result.warnings)


def test_the_source_that_is_asked_for_is_the_only_one(workspace: Path) -> None:
    with words_memory(workspace, MEANT) as memory:
        assert len(memory.search("kestrel", sources=["memory"])) == 1
        assert len(memory.search("kestrel", sources=["sessions"])) == 0


def test_vectors_keep_to_the_source_that_is_asked_for(workspace: Path) -> None:
    with fake_memory(workspace, MEANT, MeaningsProvider(GIST)) as memory:
        assert len(memory.search("question", sources=["sessions"])) == 0


def test_every_hit_names_its_source(workspace: Path) -> None:
    with words_memory(workspace, MEANT) as memory:
        assert memory.search("kestrel")[0].source == "memory"


@pytest.mark.parametrize(("asked", "given"), [(-5, 1), (0, 1), (3, 3), (10**9, 30)])
def test_max_results_is_clamped(workspace: Path, asked: int, given: int) -> None:
    with words_memory(workspace, MANY, query__max_results=asked) as memory:
        assert len(memory.search("kestrel", min_score=0)) == given


def test_six_results_unless_said_otherwise(workspace: Path) -> None:
    with words_memory(workspace, MANY) as memory:
        assert len(memory.search("kestrel")) == 6


def test_both_vector_engines_answer_alike(workspace: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    answers = []
    for folder, engine in ((workspace, "matrix"), (other, "sqlite-vec")):
        provider = MeaningsProvider(MEANINGS)
        notes = {"a.md": "the closest\n", "b.md": "the closer\n", "c.md": "kestrel\n"}
        with fake_memory(folder, notes, provider, store__vector__engine=engine) as memory:
            hits = memory.search("question kestrel", min_score=0)
            answers.append([(hit.path, round(hit.score, 4)) for hit in hits])
    assert answers[0] == answers[1]


class Pieces(MeaningsProvider):
    """A model that knows one word only in pieces."""

    def words_in_pieces(self, words: Iterable[str]) -> frozenset[str]:
        return frozenset(words) & {"rapamycin"}


@pytest.mark.parametrize(("name", "first"), [("aspirin", "memory/near.md"), ("rapamycin", "memory/word.md")])
def test_vectors_say_less_about_words_that_the_model_does_not_know(
    workspace: Path, name: str, first: str
) -> None:
    provider = Pieces({"where": ASKED, "close": near(0.8)})
    notes = {"near.md": "It is close by.\n", "word.md": f"Some {name} is in the cupboard.\n"}
    filler = {f"filler{number}.md": f"Ordinary note {number}.\n" for number in range(5)}
    with fake_memory(workspace, filler | notes, provider) as memory:
        hits = memory.search(f"where is {name}?", min_score=0)
    assert hits[0].path == first
