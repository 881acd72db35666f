from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from memlines.embed.base import embed_documents
from memlines.embed.codec import encode
from memlines.errors import StoreDamaged, StoreError
from memlines.index.store.sqlite import matrix, spaces, vectors
from memlines.index.store.sqlite.db import transaction
from memlines.index.store.sqlite.index import Index
from memlines.index.sync.job import space_of
from memlines.memory.memory import Memory
from tests.indexes import document, lines_of, near, numbers_of, program, put
from tests.providers import FakeProvider

ENGINES = ["matrix", "sqlite-vec"]
FAKE = FakeProvider()
DIMS = 24

Rows = NDArray[np.float64]


def add(index: Index, path: str, rows: Rows) -> list[int]:
    """Index a file with one chunk for each vector."""
    text = "\n".join(f"{path} line {number}" for number in range(len(rows)))
    index.put(document(path, text), lines_of(text))
    numbers = numbers_of(index, path)
    with transaction(index.connection):
        for number, encoded in zip(numbers, encode(rows.astype(np.float32)), strict=True):
            index.vectors.put(number, encoded)
    return numbers


def random_rows(count: int, seed: int) -> Rows:
    return np.random.default_rng(seed).normal(size=(count, DIMS))


def one(seed: int) -> bytes:
    row = random_rows(1, seed)[0]
    return bytes((row / np.linalg.norm(row)).astype("<f4").data)


@contextmanager
def opened(folder: Path, engine: str = "matrix") -> Iterator[Index]:
    index = Index.writer(folder / "index.sqlite", {"vector_engine": engine})
    spaces.begin(index.connection, space_of(FAKE))
    try:
        yield index
    finally:
        index.close()


@contextmanager
def reader(folder: Path) -> Iterator[Index]:
    index = Index.reader(folder / "index.sqlite")
    assert index is not None
    try:
        yield index
    finally:
        index.close()


def cosines_by_hand(index: Index, query: bytes) -> dict[int, float]:
    vector = np.frombuffer(query, "<f4").astype(np.float64)
    rows = {
        number: np.frombuffer(blob, np.int8).astype(np.float64) for number, blob in index.vectors.by_chunk()
    }
    return {number: float(row @ vector / np.linalg.norm(row)) for number, row in rows.items()}


def best_by_hand(index: Index, query: bytes, limit: int) -> dict[int, float]:
    every = cosines_by_hand(index, query)
    return {number: every[number] for number in sorted(every, key=lambda n: -every[n])[:limit]}


# Both engines


@pytest.mark.parametrize("engine", ENGINES)
def test_the_nearest_are_those_with_the_highest_cosine(tmp_path: Path, engine: str) -> None:
    with opened(tmp_path, engine) as index:
        add(index, "memory/a.md", random_rows(300, 1))
        assert index.vectors.nearest(one(2), 10) == pytest.approx(best_by_hand(index, one(2), 10), abs=1e-5)


def test_both_engines_find_the_same(tmp_path: Path) -> None:
    found = []
    for engine in ENGINES:
        (tmp_path / engine).mkdir()
        with opened(tmp_path / engine, engine) as index:
            add(index, "memory/a.md", random_rows(300, 1))
            add(index, "memory/b.md", random_rows(50, 3))
            index.remove("memory/a.md")
            add(index, "memory/c.md", random_rows(70, 4))
            found.append(index.vectors.nearest(one(2), 20, also=[351, 360, 420, 5, 9999]))
    assert found[0] == pytest.approx(found[1], abs=1e-5)


@pytest.mark.parametrize("engine", ENGINES)
def test_chunks_named_beside_get_their_true_cosine(tmp_path: Path, engine: str) -> None:
    with opened(tmp_path, engine) as index:
        numbers = add(index, "memory/a.md", random_rows(900, 1))
        every = cosines_by_hand(index, one(2))
        found = index.vectors.nearest(one(2), 3, also=numbers)
    assert found == pytest.approx(every, abs=1e-5)


@pytest.mark.parametrize("engine", ENGINES)
def test_chunks_without_a_vector_are_not_invented(tmp_path: Path, engine: str) -> None:
    with opened(tmp_path, engine) as index:
        add(index, "memory/a.md", random_rows(3, 1))
        pending = put(index, "memory/b.md", "no vector yet")
        found = index.vectors.nearest(one(2), 10, also=[*pending, 12345])
    assert len(found) == 3


@pytest.mark.parametrize("engine", ENGINES)
def test_deleted_chunks_are_not_found(tmp_path: Path, engine: str) -> None:
    with opened(tmp_path, engine) as index:
        gone = add(index, "memory/a.md", random_rows(5, 1))
        kept = add(index, "memory/b.md", random_rows(5, 2))
        index.remove("memory/a.md")
        assert set(index.vectors.nearest(one(3), 10, also=gone)) == set(kept)


@pytest.mark.parametrize("engine", ENGINES)
def test_chunks_that_came_later_are_found(tmp_path: Path, engine: str) -> None:
    with opened(tmp_path, engine) as index:
        add(index, "memory/a.md", random_rows(5, 1))
        index.vectors.nearest(one(3), 1)
        later = add(index, "memory/b.md", random_rows(5, 2))
        assert set(later) <= set(index.vectors.nearest(one(3), 10))


@pytest.mark.parametrize("engine", ENGINES)
def test_without_vectors_nothing_is_near(tmp_path: Path, engine: str) -> None:
    with opened(tmp_path, engine) as index:
        put(index, "memory/a.md", "words only")
        found = index.vectors.nearest(one(1), 5), index.vectors.count(), index.vectors.dims()
    assert found == ({}, 0, None)


@pytest.mark.parametrize("engine", ENGINES)
def test_the_length_of_the_vectors_is_known(tmp_path: Path, engine: str) -> None:
    with opened(tmp_path, engine) as index:
        add(index, "memory/a.md", random_rows(2, 1))
        assert index.vectors.dims() == DIMS


def test_a_query_of_another_length_finds_nothing(tmp_path: Path) -> None:
    with opened(tmp_path) as index:
        add(index, "memory/a.md", random_rows(2, 1))
        assert index.vectors.nearest(b"\0" * 4 * (DIMS + 1), 5) == {}


def test_texts_are_near_by_their_words(tmp_path: Path) -> None:
    with opened(tmp_path) as index:
        numbers = put(index, "memory/a.md", "the zebra crosses\nthe giraffe waits")
        with transaction(index.connection):
            chunks = index.chunks(numbers)
            for number in numbers:
                index.vectors.put(number, *encode(embed_documents(FAKE, [chunks[number].text])))
        assert near(index, FAKE, "zebra crosses the") == pytest.approx({"the zebra crosses": 1.0}, abs=1e-4)


def test_vectors_of_several_lengths_are_damage(tmp_path: Path) -> None:
    with opened(tmp_path) as index:
        numbers = add(index, "memory/a.md", random_rows(3, 1))
        index.connection.execute(
            "UPDATE chunks_vec SET embedding = zeroblob(8) WHERE chunk = ?", numbers[1:2]
        )
        with pytest.raises(StoreDamaged, match="not of one length"):
            index.vectors.nearest(one(1), 5)


def test_a_missing_extension_is_said_when_it_is_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sqlite_vec", None)
    with opened(tmp_path, "sqlite-vec") as index, pytest.raises(StoreError, match="not installed"):
        add(index, "memory/a.md", random_rows(3, 1))


def test_an_index_of_a_missing_extension_can_still_be_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(tmp_path, "sqlite-vec") as index:
        add(index, "memory/a.md", random_rows(3, 1))
    monkeypatch.setattr(vectors, "load_extension", lambda *given: pytest.fail("loaded"))
    with opened(tmp_path, "sqlite-vec") as index:
        assert index.identity() == {"vector_engine": "sqlite-vec"}


@pytest.fixture
def extension(tmp_path: Path) -> Path:
    """A copy of the extension, under another name and in another place."""
    source = pytest.importorskip("sqlite_vec").loadable_path()
    (found,) = Path(source).parent.glob(f"{Path(source).name}.*")
    return Path(shutil.copy(found, tmp_path / f"elsewhere{found.suffix}"))


def test_the_extension_is_loaded_from_the_file_of_the_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, extension: Path
) -> None:
    monkeypatch.setitem(sys.modules, "sqlite_vec", None)
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "a.md").write_text("Tea is in the blue tin.\n", encoding="utf-8")
    settings = {"store.vector.engine": "sqlite-vec", "store.vector.extension_path": str(extension)}
    with Memory(tmp_path, settings) as memory:
        memory.sync()
        assert memory.status().vector["engine"] == "sqlite-vec"
        assert memory.search("Where is the tea?", mode="vectors").hits[0].path == "memory/a.md"


# The vectors in memory


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """A folder with an index of 20 vectors."""
    with opened(tmp_path) as index:
        add(index, "memory/a.md", random_rows(20, 1))
    return tmp_path


def test_the_nearest_by_their_signs_are_compared_exactly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matrix, "_COMPARED", 150)
    with opened(tmp_path) as index:
        add(index, "memory/a.md", random_rows(1000, 1))
        assert index.vectors.nearest(one(2), 3) == pytest.approx(best_by_hand(index, one(2), 3), abs=1e-5)


@pytest.mark.parametrize("dims", [1, 7, 8, 63, 64, 65, 130])
def test_vectors_may_have_any_length(tmp_path: Path, dims: int) -> None:
    rows = np.random.default_rng(1).normal(size=(30, dims))
    query = (rows[3] / np.linalg.norm(rows[3])).astype("<f4").tobytes()
    with opened(tmp_path) as index:
        numbers = add(index, "memory/a.md", rows)
        assert index.vectors.nearest(query, 30)[numbers[3]] == pytest.approx(1.0, abs=1e-3)


def test_what_a_reader_sees_does_not_change_in_its_snapshot(saved: Path) -> None:
    with reader(saved) as old, opened(saved) as index, old.snapshot():
        every = cosines_by_hand(old, one(2))
        add(index, "memory/b.md", random_rows(30, 2))
        index.remove("memory/a.md")
        seen = old.vectors.nearest(one(2), 50)
    assert seen == pytest.approx(every, abs=1e-5)


def test_a_reader_that_holds_vectors_notices_a_write(saved: Path) -> None:
    with reader(saved) as old, opened(saved) as index:
        old.vectors.nearest(one(2), 50)
        later = add(index, "memory/b.md", random_rows(3, 2))
        assert set(later) <= set(old.vectors.nearest(one(2), 50))


def test_a_reader_that_holds_vectors_notices_a_delete(saved: Path) -> None:
    with reader(saved) as old, opened(saved) as index:
        old.vectors.nearest(one(2), 50)
        index.remove("memory/a.md")
        assert old.vectors.nearest(one(2), 50) == {}


def test_a_reader_keeps_its_vectors_while_nothing_is_written(saved: Path) -> None:
    with reader(saved) as index:
        kept = []
        for seed in (2, 3):
            index.vectors.nearest(one(seed), 5)
            kept.append(index.vectors._matrix)
    assert kept[0] is kept[1]


def test_a_reader_reads_only_the_vectors_that_came_since(saved: Path) -> None:
    with reader(saved) as old, opened(saved) as index:
        old.vectors.nearest(one(2), 50)
        index.connection.execute("UPDATE chunks_vec SET embedding = zeroblob(?)", (DIMS,))
        later = add(index, "memory/b.md", random_rows(3, 2))
        first, second = old.vectors._matrix, (old.vectors.nearest(one(2), 50), old.vectors._matrix)[1]
    assert first is not None
    assert second is not None
    assert np.array_equal(second.rows[: len(first.chunks)], first.rows)
    assert second.chunks[len(first.chunks) :].tolist() == later


def test_a_copy_that_an_earlier_version_left_is_removed(saved: Path) -> None:
    (saved / "index.sqlite.vectors").write_bytes(b"RCLVEC01")
    with opened(saved):
        assert not (saved / "index.sqlite.vectors").exists()


REMOVE = """
from pathlib import Path
from memlines.index.store.sqlite.index import Index
index = Index.writer(Path(sys.argv[1]), {})
index.remove("memory/a.md")
index.close()
"""


def test_a_reader_that_holds_vectors_notices_another_process(saved: Path) -> None:
    with reader(saved) as index:
        before = len(index.vectors.nearest(one(2), 50))
        subprocess.run([*program(REMOVE), str(saved / "index.sqlite")], check=True, timeout=60)
        after = len(index.vectors.nearest(one(2), 50))
    assert (before, after) == (20, 0)
