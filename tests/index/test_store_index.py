from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memlines.index.store.sqlite import cache, spaces
from memlines.index.store.sqlite.db import transaction
from memlines.index.store.sqlite.index import Index
from memlines.text.chunk import chunk_text, text_hash
from memlines.types import Chunk, Fingerprint, IndexedFile, Problem, Space
from tests.indexes import (
    IDENTITY,
    assert_sound,
    blob,
    chunks_in,
    document,
    encoded,
    found_by,
    lines_of,
    near,
    numbers_of,
    put,
)
from tests.providers import FakeProvider

FAKE = FakeProvider()
SPACE = Space("fake", "model", "")


@pytest.fixture(params=["matrix", "sqlite-vec"])
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def index(tmp_path: Path, engine: str) -> Iterator[Index]:
    path = tmp_path / "index.sqlite"
    index = Index.writer(path, {"vector_engine": engine})
    spaces.begin(index.connection, SPACE)
    yield index
    index.close()
    if engine == "matrix":
        assert_sound(path)


def embed(index: Index, numbers: list[int]) -> None:
    with transaction(index.connection):
        chunks = index.chunks(numbers)
        for number in numbers:
            index.vectors.put(number, encoded(FAKE, chunks[number].text))


def test_a_file_comes_back_as_it_was_put(index: Index) -> None:
    put(index, "memory/a.md", "first line\nsecond line")
    assert chunks_in(index) == {"memory/a.md": [(1, 1, "first line"), (2, 2, "second line")]}


def test_a_file_is_found_by_its_words_before_it_has_vectors(index: Index) -> None:
    put(index, "memory/a.md", "the zebra crosses")
    assert found_by(index, "zebra") == ["memory/a.md"]


def test_putting_a_file_again_replaces_it(index: Index) -> None:
    put(index, "memory/a.md", "the zebra crosses")
    put(index, "memory/a.md", "the giraffe waits")
    assert (found_by(index, "zebra"), found_by(index, "giraffe")) == ([], ["memory/a.md"])


def test_putting_a_file_again_drops_its_old_vectors(index: Index) -> None:
    embed(index, put(index, "memory/a.md", "the zebra crosses"))
    put(index, "memory/a.md", "the giraffe waits")
    assert index.vectors.count() == 0


def test_a_file_without_chunks_is_remembered(index: Index) -> None:
    index.put(document("memory/empty.md", ""), [])
    assert list(index.files()) == ["memory/empty.md"]


class Treacherous:
    """A chunk that fails when its text is asked for."""

    start_line = end_line = 1
    hash = heading = ""

    @property
    def text(self) -> str:
        raise RuntimeError("no text")


def test_a_put_that_fails_halfway_leaves_the_old_chunks(index: Index) -> None:
    put(index, "memory/a.md", "the zebra crosses")
    broken: list[Chunk] = [*lines_of("new one\nnew two"), Treacherous()]  # type: ignore[list-item]
    with pytest.raises(RuntimeError):
        index.put(document("memory/a.md", "anything"), broken)
    assert chunks_in(index) == {"memory/a.md": [(1, 1, "the zebra crosses")]}


def test_a_put_that_fails_halfway_leaves_the_old_words(index: Index) -> None:
    put(index, "memory/a.md", "the zebra crosses")
    broken: list[Chunk] = [*lines_of("new one\nnew two"), Treacherous()]  # type: ignore[list-item]
    with pytest.raises(RuntimeError):
        index.put(document("memory/a.md", "anything"), broken)
    assert (found_by(index, "zebra"), found_by(index, "new")) == (["memory/a.md"], [])


def test_a_put_that_fails_halfway_leaves_the_old_hash(index: Index) -> None:
    put(index, "memory/a.md", "the zebra crosses")
    with pytest.raises(RuntimeError):
        index.put(document("memory/a.md", "anything"), [Treacherous()])  # type: ignore[list-item]
    assert index.files()["memory/a.md"].hash == text_hash("the zebra crosses")


def test_removing_a_file_removes_every_trace(index: Index) -> None:
    embed(index, put(index, "memory/a.md", "the zebra crosses"))
    embed(index, put(index, "memory/b.md", "the giraffe waits"))
    index.remove("memory/a.md")
    left = (
        list(index.files()),
        list(chunks_in(index)),
        found_by(index, "zebra"),
        list(near(index, FAKE, "the zebra crosses", limit=10)),
        index.vectors.count(),
    )
    assert left == (["memory/b.md"], ["memory/b.md"], [], ["the giraffe waits"], 1)


def test_a_removed_file_leaves_no_word_in_the_vocabulary(tmp_path: Path) -> None:
    path = tmp_path / "index.sqlite"
    index = Index.writer(path, IDENTITY)
    put(index, "memory/a.md", "the okapisecret crosses")
    index.remove("memory/a.md")
    rows = index.connection.execute("SELECT count(*) FROM chunks_terms WHERE term LIKE 'okapi%'").get
    index.close()
    assert rows == 0


def test_removing_an_unknown_file_does_nothing(index: Index) -> None:
    put(index, "memory/a.md", "stays")
    index.remove("memory/other.md")
    assert index.count_chunks() == 1


def test_equal_pieces_of_one_long_line_are_stored_once(index: Index) -> None:
    chunks = chunk_text("abcd " * 2000, tokens=25, overlap=0)
    index.put(document("memory/a.md", "abcd " * 2000), chunks)
    assert (len(chunks) > 50, index.count_chunks()) == (True, 1)


def test_equal_lines_at_different_places_are_both_stored(index: Index) -> None:
    put(index, "memory/a.md", "same\nsame")
    assert index.count_chunks() == 2


def test_a_chunk_number_is_never_used_twice(index: Index) -> None:
    first = put(index, "memory/a.md", "one\ntwo\nthree")
    index.remove("memory/a.md")
    assert min(put(index, "memory/b.md", "four")) > max(first)


def test_a_chunk_number_is_never_used_twice_after_opening_again(tmp_path: Path) -> None:
    path = tmp_path / "index.sqlite"
    index = Index.writer(path, IDENTITY)
    first = put(index, "memory/a.md", "one\ntwo\nthree")
    index.remove("memory/a.md")
    index.close()
    index = Index.writer(path, IDENTITY)
    second = put(index, "memory/b.md", "four")
    index.close()
    assert min(second) > max(first)


def test_touching_a_file_changes_its_fingerprint_only(index: Index) -> None:
    numbers = put(index, "memory/a.md", "one\ntwo")
    index.put_file(index.files()["memory/a.md"]._replace(fingerprint=Fingerprint(7, 8, 9)))
    entry = index.files()["memory/a.md"]
    assert (entry.fingerprint, entry.hash, numbers_of(index, "memory/a.md")) == (
        Fingerprint(7, 8, 9),
        text_hash("one\ntwo"),
        numbers,
    )


def left_out(problem: Problem) -> IndexedFile:
    return IndexedFile(problem.path, "memory", "", Fingerprint(1, 2, 3), problem=problem)


def test_a_file_left_out_on_purpose_loses_its_chunks(index: Index) -> None:
    put(index, "memory/a.md", "the zebra crosses")
    index.put_problem(left_out(Problem("memory/a.md", "is binary")))
    assert (index.count_chunks(), index.files()["memory/a.md"].problem) == (
        0,
        Problem("memory/a.md", "is binary"),
    )


def test_a_file_that_could_not_be_read_keeps_its_chunks(index: Index) -> None:
    put(index, "memory/a.md", "the zebra crosses")
    problem = Problem("memory/a.md", "cannot be read", failed=True)
    index.put_problem(left_out(problem))
    assert (found_by(index, "zebra"), index.files()["memory/a.md"].problem) == (["memory/a.md"], problem)


def test_files_with_a_problem_do_not_count(index: Index) -> None:
    put(index, "memory/a.md", "one")
    index.put_problem(left_out(Problem("memory/b.md", "is binary")))
    assert index.count_files() == 1


def test_chunks_are_read_in_any_number(index: Index) -> None:
    numbers = put(index, "memory/a.md", "\n".join(f"line {n}" for n in range(1000)))
    assert list(index.chunks([*numbers, 10**9])) == numbers


def test_pending_chunks_are_those_without_a_vector(index: Index) -> None:
    numbers = put(index, "memory/a.md", "one\ntwo\nthree")
    embed(index, numbers[:1])
    waiting = [number for number, _ in index.pending(index.vectors, 0, 10)]
    assert (waiting, index.count_pending(SPACE)) == (numbers[1:], 2)


def test_pending_chunks_come_in_portions(index: Index) -> None:
    numbers = put(index, "memory/a.md", "one\ntwo\nthree")
    assert [number for number, _ in index.pending(index.vectors, numbers[0], 1)] == numbers[1:2]


def test_every_index_has_a_birth_of_its_own(tmp_path: Path) -> None:
    births = set()
    for name in ("a", "b"):
        index = Index.writer(tmp_path / name, IDENTITY)
        births.add(index.state.birth)
        index.close()
    assert len(births) == 2


def test_an_index_keeps_the_identity_it_was_made_with(tmp_path: Path) -> None:
    Index.writer(tmp_path / "index.sqlite", {"model": "first"}).close()
    index = Index.writer(tmp_path / "index.sqlite", {"model": "second"})
    identity = index.identity()
    index.close()
    assert identity == {"model": "first"}


def test_a_reader_in_a_snapshot_does_not_see_what_is_written_meanwhile(tmp_path: Path) -> None:
    writer = Index.writer(tmp_path / "index.sqlite", IDENTITY)
    put(writer, "memory/a.md", "one")
    reader = Index.reader(tmp_path / "index.sqlite")
    assert reader is not None
    with reader.snapshot():
        before = chunks_in(reader)
        put(writer, "memory/a.md", "two")
        inside = chunks_in(reader)
    after = chunks_in(reader)
    reader.close()
    writer.close()
    assert (inside == before, after) == (True, {"memory/a.md": [(1, 1, "two")]})


def test_the_embedding_cache_outlives_a_removed_file(index: Index) -> None:
    put(index, "memory/a.md", "one")
    with transaction(index.connection):
        cache.remember(index.connection, SPACE, {text_hash("one"): blob(FAKE, "one")}, 64)
    index.remove("memory/a.md")
    assert cache.count(index.connection) == 1


def test_an_index_in_memory_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    index = Index.in_memory(IDENTITY)
    put(index, "a.md", "tea is served at four")
    index.close()
    assert list(tmp_path.iterdir()) == []
