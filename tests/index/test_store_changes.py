"""A file that is put again keeps the chunks that are the same, and comes out as if it were new."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlines.index.store.sqlite import spaces
from memlines.index.store.sqlite.db import transaction
from memlines.index.store.sqlite.index import Index, Staying
from memlines.text.chunk import chunk_text, text_hash
from memlines.types import Chunk, Space
from tests.indexes import IDENTITY, assert_sound, document, encoded, found_by, numbers_of
from tests.providers import FakeProvider

FAKE = FakeProvider()
SPACE = Space("fake", "model", "")
NOTE = "memory/a.md"
GIRAFFE = Chunk(1, 1, "giraffe", text_hash("giraffe"))

NOTES = st.lists(st.sampled_from(["zebra", "zebra crosses", "giraffe", "okapi sleeps", ""]), max_size=12)
HEADINGS = st.sampled_from(["", "Animals"])


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    made = new_index(tmp_path)
    yield made
    made.close()
    assert_sound(made.path)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    """An index for many examples, each of which leaves what it put."""
    made = new_index(tmp_path_factory.mktemp("shared"))
    yield made
    made.close()
    assert_sound(made.path)


def new_index(folder: Path) -> Index:
    made = Index.writer(folder / "index.sqlite", IDENTITY)
    spaces.begin(made.connection, SPACE)
    return made


def put(index: Index, lines: Sequence[str], heading: str = "") -> None:
    chunks = [
        Chunk(at, at, line, text_hash(line), heading) for at, line in enumerate(lines, 1) if line.strip()
    ]
    index.put(document(NOTE, "\n".join(lines)), chunks)


def embed(index: Index) -> None:
    vectors = index.vectors_in(SPACE)
    with transaction(index.connection):
        for number, chunk in index.pending(vectors, 0, 1000):
            vectors.put(number, encoded(FAKE, chunk.text))


def rows_of(index: Index) -> list[object]:
    return sorted(
        index.connection.execute(
            "SELECT path, start_line, end_line, text, hash, heading, language FROM chunks"
        )
    )


def places_by_word(index: Index) -> dict[str, list[object]]:
    """Return the places of the chunks that hold each word."""
    sql = (
        "SELECT path, start_line, end_line, hash FROM chunks"
        " WHERE number IN (SELECT rowid FROM chunks_fts WHERE chunks_fts MATCH ?)"
    )
    terms = [term for (term,) in index.connection.execute("SELECT term FROM chunks_terms")]
    return {term: sorted(index.connection.execute(sql, (f'"{term}"',))) for term in terms}


@given(NOTES, HEADINGS, NOTES, HEADINGS)
def test_an_index_that_changed_equals_a_new_one(
    shared: Index, before: list[str], heading: str, after: list[str], new_heading: str
) -> None:
    put(shared, before, heading)
    put(shared, after, new_heading)
    changed = rows_of(shared), places_by_word(shared)
    shared.remove(NOTE)
    put(shared, after, new_heading)
    assert changed == (rows_of(shared), places_by_word(shared))


@given(NOTES, NOTES)
def test_every_vector_is_that_of_its_chunk(shared: Index, before: list[str], after: list[str]) -> None:
    put(shared, before)
    embed(shared)
    put(shared, after)
    held = dict(shared.vectors_in(SPACE).by_chunk())
    chunks = shared.chunks(held)
    assert held == {number: encoded(FAKE, chunk.text) for number, chunk in chunks.items()}


def test_chunks_that_stay_keep_their_vectors(index: Index) -> None:
    put(index, ["zebra", "giraffe", "okapi"])
    embed(index)
    put(index, ["new", "zebra", "lion", "okapi"])
    assert index.count_pending(SPACE) == 2


def test_a_chunk_that_moved_keeps_its_number(index: Index) -> None:
    put(index, ["zebra", "giraffe"])
    (_, before) = numbers_of(index, NOTE)
    put(index, ["", "", "giraffe"])
    assert (numbers_of(index, NOTE), index.chunks([before])[before].start_line) == ([before], 3)


def test_lines_that_are_all_the_same_may_move_by_one(index: Index) -> None:
    put(index, ["zebra"] * 5)
    embed(index)
    put(index, ["", *["zebra"] * 5])
    assert [chunk.start_line for chunk in index.chunks_of(NOTE)] == [2, 3, 4, 5, 6]


def test_a_chunk_under_another_heading_is_another(index: Index) -> None:
    put(index, ["zebra"], "Stripes")
    embed(index)
    put(index, ["zebra"], "Animals")
    assert index.count_pending(SPACE) == 1


def test_a_chunk_of_a_note_in_another_language_is_another(index: Index) -> None:
    german = "Die Häuser stehen an der Straße und warten auf die Bewohner"
    english = "The houses are standing on the street and waiting for the people who are there"
    index.put(document(NOTE, german), chunk_text("Häuser", 400, 80))
    index.put(document(NOTE, english), chunk_text("Häuser", 400, 80))
    assert [chunk.language for chunk in index.chunks(numbers_of(index, NOTE)).values()] == ["en"]


def test_chunks_have_the_language_of_their_note(index: Index) -> None:
    german = "Die Häuser stehen an der Straße und warten auf die Bewohner"
    index.put(document(NOTE, german), chunk_text("Hotel", 400, 80))
    assert [chunk.language for chunk in index.chunks(numbers_of(index, NOTE)).values()] == ["de"]


def test_of_a_removed_file_chunks_can_stay(index: Index) -> None:
    put(index, ["zebra", "giraffe"])
    embed(index)
    index.remove(NOTE, Staying("changed since", [(2, 2)], lambda: [GIRAFFE]))
    assert (found_by(index, "zebra"), found_by(index, "giraffe")) == ([], [NOTE])


def test_of_a_file_as_it_is_indexed_only_the_chunks_on_the_lines_go(index: Index) -> None:
    put(index, ["zebra", "giraffe", "okapi"])
    embed(index)
    index.remove(NOTE, Staying(index.files()[NOTE].hash, [(1, 1), (3, 3)], lambda: pytest.fail("cut again")))
    found = [found_by(index, word) for word in ("zebra", "giraffe", "okapi")]
    assert (found, index.vectors.count()) == ([[], [NOTE], []], 1)


def test_a_file_of_which_chunks_stay_is_read_again(index: Index) -> None:
    put(index, ["zebra", "giraffe"])
    index.remove(NOTE, Staying("", [], lambda: [GIRAFFE]))
    assert (index.files()[NOTE].hash, index.sure_files()) == ("", set())
