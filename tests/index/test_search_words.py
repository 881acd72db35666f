"""The word leg finds any word, prefers rare ones and whole coverage, and compares words folded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from memlines.index.search import words
from memlines.index.search.words import find, look_up
from memlines.index.store.sqlite import words as store_words
from memlines.index.store.sqlite.chunks import document_counts
from memlines.index.store.sqlite.db import Connection
from memlines.index.store.sqlite.index import Index
from tests.memories import words_memory

FILLER = {f"filler{number}.md": f"Ordinary note {number} about nothing much.\n" for number in range(20)}


def found(folder: Path, notes: Mapping[str, str], query: str) -> dict[str, float]:
    """Return what the word leg finds, by path."""
    with words_memory(folder, notes) as memory:
        memory.sync()
    index = Index.reader(folder / ".memory/index.sqlite")
    assert index is not None
    try:
        scores = find(index, look_up(index, query), 200, ())
        chunks = index.chunks(scores)
        return {chunks[number].path.removeprefix("memory/"): score for number, score in scores.items()}
    finally:
        index.close()


def test_any_word_of_the_query_is_enough(workspace: Path) -> None:
    notes = FILLER | {"a.md": "The kestrel is here.\n"}
    assert list(found(workspace, notes, "kestrel submarine origami")) == ["a.md"]


def test_a_rare_word_beats_a_common_one(workspace: Path) -> None:
    notes = FILLER | {"a.md": "A kestrel.\n"}
    assert next(iter(found(workspace, notes, "ordinary kestrel"))) == "a.md"


def test_who_holds_more_of_the_words_scores_more(workspace: Path) -> None:
    notes = FILLER | {"one.md": "The kestrel flew.\n", "both.md": "The kestrel hovered.\n"}
    scores = found(workspace, notes, "kestrel hovered")
    assert scores["both.md"] > scores["one.md"]


def test_covering_the_whole_query_once_scores_about_seven_tenths(workspace: Path) -> None:
    notes = FILLER | {"a.md": "Somewhere a kestrel hovered above us.\n"}
    assert found(workspace, notes, "kestrel hovered")["a.md"] == pytest.approx(0.7, abs=0.05)


def test_covering_one_word_of_five_scores_low(workspace: Path) -> None:
    notes = FILLER | {"a.md": "Somewhere a kestrel hovered above us.\n"}
    assert found(workspace, notes, "kestrel submarine origami tractor violin")["a.md"] < 0.3


def test_repeating_the_word_brings_the_score_nearer_to_1(workspace: Path) -> None:
    notes = FILLER | {"once.md": "kestrel and more\n", "often.md": "kestrel kestrel kestrel\n"}
    scores = found(workspace, notes, "kestrel")
    assert scores["once.md"] < scores["often.md"] < 1


def test_every_score_is_between_0_and_1(workspace: Path) -> None:
    notes = FILLER | {"a.md": "kestrel " * 300}
    assert all(0 < score <= 1 for score in found(workspace, notes, "kestrel ordinary note").values())


def test_stop_words_alone_are_found_where_they_stand_together(workspace: Path) -> None:
    notes = FILLER | {"a.md": "To be or not to be, that is the question.\n", "b.md": "Not to be: or to.\n"}
    assert list(found(workspace, notes, "to be or not to be")) == ["a.md"]


def test_stop_words_of_a_script_without_blanks_are_found_together_too(workspace: Path) -> None:
    notes = FILLER | {"a.md": "你知道这个是什么吗\n", "b.md": "什么事情\n"}
    assert "a.md" in found(workspace, notes, "什么")


def test_stop_words_beside_a_telling_word_are_left_out(workspace: Path) -> None:
    notes = FILLER | {"a.md": "what is the of in\n", "b.md": "A kestrel.\n"}
    assert list(found(workspace, notes, "what is the kestrel")) == ["b.md"]


def test_words_nobody_wrote_down_find_nothing(workspace: Path) -> None:
    assert found(workspace, FILLER, "kestrel submarine") == {}


def test_a_query_without_a_word_finds_nothing(workspace: Path) -> None:
    assert found(workspace, FILLER, '?!… ___ ( ) "') == {}


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_tiny_workspace_finds_its_only_match(workspace: Path, count: int) -> None:
    notes = {"a.md": "The kestrel is here.\n"} | dict(list(FILLER.items())[: count - 1])
    assert found(workspace, notes, "kestrel")["a.md"] > 0.5


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_tiny_workspace_finds_what_every_note_holds(workspace: Path, count: int) -> None:
    notes = {f"{number}.md": f"kestrel number {number}\n" for number in range(count)}
    assert all(score > 0.5 for score in found(workspace, notes, "kestrel").values())


def test_a_word_in_a_heading_above_counts(workspace: Path) -> None:
    body = "\n".join(f"Line {number} of a long list of plain things." for number in range(80))
    notes = FILLER | {"a.md": f"# Kestrel\n\n{body}\n"}
    with words_memory(workspace, notes) as memory:
        paths = [(hit.path, hit.heading) for hit in memory.search("kestrel", min_score=0)]
    assert ("memory/a.md", "Kestrel") in paths


@pytest.mark.parametrize(
    ("written", "asked"),
    [
        ("café", "cafe"),
        ("cafe", "café"),
        ("CAFÉ", "café"),
        ("café", "CAFÉ"),
        ("café", "cafe\u0301"),
        ("cafe\u0301", "café"),
        ("résumés", "RE\u0301SUME\u0301S"),
        ("Ångström", "angstrom"),
        ("Größe", "GRÖßE"),
        ("ПРИВЕТ", "привет"),
    ],
)
def test_case_and_diacritics_fold(workspace: Path, written: str, asked: str) -> None:
    with words_memory(workspace, FILLER | {"a.md": f"One {written} here.\n"}) as memory:
        assert [hit.path for hit in memory.search(asked)] == ["memory/a.md"]


@pytest.mark.parametrize(
    ("written", "asked"),
    [("databases", "database"), ("decided", "deciding"), ("connection", "connections")],
)
def test_english_endings_are_stemmed(workspace: Path, written: str, asked: str) -> None:
    assert "a.md" in found(workspace, FILLER | {"a.md": f"One {written} here.\n"}, asked)


def test_an_identifier_is_found_whole(workspace: Path) -> None:
    notes = FILLER | {"a.md": "Call retry_with_backoff(3).\n", "b.md": "backoff with retry\n"}
    assert list(found(workspace, notes, "retry_with_backoff")) == ["a.md"]


def test_a_word_with_nothing_but_underscores_does_not_count(workspace: Path) -> None:
    notes = FILLER | {"a.md": "A kestrel.\n"}
    assert found(workspace, notes, "kestrel")["a.md"] == found(workspace, notes, "__ kestrel")["a.md"]


def test_a_pasted_page_is_searched_by_its_rarest_words(workspace: Path) -> None:
    notes = FILLER | {"a.md": "A kestrel.\n"}
    page = " ".join(f"invented{number}" for number in range(1_000)) + " ordinary kestrel"
    assert next(iter(found(workspace, notes, page))) == "a.md"


def test_matched_words_are_compared_as_the_index_does(workspace: Path) -> None:
    notes = FILLER | {"a.md": "Two databases in the café.\n"}
    with words_memory(workspace, notes) as memory:
        hit = memory.search("Which database has the CAFE, and why not submarines?")[0]
    assert hit.why.words == ("database", "cafe")


def test_in_a_large_index_a_common_word_is_left_out_for_a_rarer_one(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(words, "_COMMON_FROM", 10)
    notes = FILLER | {"a.md": "A kestrel.\n"}
    assert list(found(workspace, notes, "ordinary kestrel")) == ["a.md"]


def test_in_a_large_index_a_common_word_alone_still_answers(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(words, "_COMMON_FROM", 10)
    assert len(found(workspace, FILLER, "ordinary")) == len(FILLER)


def test_words_that_bring_too_many_chunks_are_left_out_and_count_in_what_is_found(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(words, "_MOST_RANKED", 3)
    notes = FILLER | {f"b{number}.md": "A heron, and a bittern.\n" for number in range(3)}
    notes |= {"a.md": "A kestrel and a heron.\n", "c.md": "A kestrel.\n"}

    assert list(found(workspace, notes, "heron kestrel")) == ["c.md", "a.md"]
    with words_memory(workspace, {}) as memory:
        assert memory.search("heron kestrel")[0].path == "memory/a.md"


def test_terms_are_counted_once_until_the_index_changes(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted: list[str] = []

    def counting(connection: Connection, terms: Iterable[str]) -> dict[str, int]:
        counted.extend(asked := [*terms])
        return document_counts(connection, asked)

    monkeypatch.setattr(store_words, "document_counts", counting)
    with words_memory(workspace, FILLER) as memory:
        memory.sync()
        index = Index.reader(workspace / ".memory/index.sqlite")
        assert index is not None
        with index:
            assert look_up(index, "ordinary kestrel").terms[1].chunks == 0
            counted.clear()
            look_up(index, "ordinary kestrel")
            assert counted == []
            (workspace / "memory" / "a.md").write_text("A kestrel.\n", encoding="utf-8")
            memory.sync()
            assert look_up(index, "ordinary kestrel").terms[1].chunks == 1
