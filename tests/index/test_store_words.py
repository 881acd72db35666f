from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memlines.index.store.sqlite.chunks import LANGUAGE_MARK, document_counts, match_words
from memlines.index.store.sqlite.index import Index
from memlines.text.chunk import text_hash
from memlines.text.terms import terms_of
from memlines.types import Chunk, Document, Fingerprint
from tests.indexes import IDENTITY, document, found_by, put


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    index = Index.writer(tmp_path / "index.sqlite", IDENTITY)
    yield index
    index.close()


def test_a_match_names_the_chunk(index: Index) -> None:
    numbers = put(index, "memory/a.md", "the zebra crosses\nthe giraffe waits")
    assert [number for number, _ in match_words(index.connection, "giraff", 10)] == [numbers[1]]


def test_the_best_match_comes_first(index: Index) -> None:
    put(index, "memory/a.md", "zebra and a lot of other words that make the line long")
    put(index, "memory/b.md", "zebra zebra")
    put(index, "memory/c.md", "nothing of the kind\nand nothing again")
    assert found_by(index, "zebra") == ["memory/b.md", "memory/a.md"]


def test_ranks_are_negative_and_lower_is_better(index: Index) -> None:
    put(index, "memory/a.md", "zebra zebra\nzebra and other words\nelse\nother\nmore")
    ranks = [rank for _, rank in match_words(index.connection, "zebra", 10)]
    assert ranks == sorted(ranks)
    assert ranks[0] < 0


def test_no_more_matches_than_asked_for(index: Index) -> None:
    put(index, "memory/a.md", "zebra one\nzebra two\nzebra three")
    assert len(match_words(index.connection, "zebra", 2)) == 2


def test_other_sources_can_be_left_out(index: Index) -> None:
    put(index, "memory/a.md", "zebra")
    chunk = Chunk(1, 1, "zebra", text_hash("zebra"))
    index.put(Document("log.jsonl", "sessions", "zebra", "hash", Fingerprint(1, 1, 1)), [chunk])
    numbers = [number for number, _ in match_words(index.connection, "zebra", 10, ("sessions",))]
    assert [found.path for found in index.chunks(numbers).values()] == ["log.jsonl"]


def test_a_word_in_the_heading_finds_the_chunk(index: Index) -> None:
    index.put(document("memory/a.md", "x"), [Chunk(3, 3, "waits", text_hash("waits"), "Giraffes")])
    assert found_by(index, "giraffe") == ["memory/a.md"]


def test_a_word_in_the_text_counts_more_than_one_in_the_heading(index: Index) -> None:
    index.put(document("memory/a.md", "x"), [Chunk(1, 1, "filler", text_hash("filler"), "giraffe")])
    index.put(document("memory/b.md", "x"), [Chunk(1, 1, "giraffe", text_hash("giraffe"), "filler")])
    index.put(document("memory/c.md", "x"), [Chunk(1, 1, "none", text_hash("none"))])
    assert found_by(index, "giraffe") == ["memory/b.md", "memory/a.md"]


def test_words_match_in_any_form_case_and_accent(index: Index) -> None:
    put(index, "memory/a.md", "Crème brûlées, RUNNING")
    assert found_by(index, "creme", "brulee", "runs") == ["memory/a.md"]


def test_the_index_keeps_the_terms_of_text_and_title(index: Index) -> None:
    put(index, "memory/plan.md", "Running Déjà-vu 2026")
    kept = {row[0] for row in index.connection.execute("SELECT term FROM chunks_terms")}
    assert kept == {*terms_of("Running Déjà-vu 2026", "en"), "plan", f"{LANGUAGE_MARK}en"}


def test_document_counts_say_in_how_many_chunks_a_term_is(index: Index) -> None:
    put(index, "memory/a.md", "zebra zebra\nzebra\ngiraffe")
    counts = document_counts(index.connection, ["zebra", "giraff", "okapi"])
    assert counts == {"zebra": 2, "giraff": 1}


def test_document_counts_take_any_number_of_terms(index: Index) -> None:
    put(index, "memory/a.md", " ".join(f"w{n}" for n in range(900)))
    terms = [f"w{n}" for n in range(1000)]
    assert document_counts(index.connection, terms) == {f"w{n}": 1 for n in range(900)}


def test_document_counts_fall_when_a_file_goes(index: Index) -> None:
    put(index, "memory/a.md", "zebra")
    put(index, "memory/b.md", "zebra")
    index.remove("memory/a.md")
    assert document_counts(index.connection, ["zebra"]) == {"zebra": 1}
