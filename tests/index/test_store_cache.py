from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memlines.errors import StoreError
from memlines.index.store.sqlite import cache
from memlines.index.store.sqlite.db import transaction
from memlines.index.store.sqlite.index import Index
from memlines.types import Space
from tests.indexes import IDENTITY

SPACE = Space("fake", "model", "endpoint")


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    index = Index.writer(tmp_path / "index.sqlite", IDENTITY)
    yield index
    index.close()


def remember(index: Index, names: list[str], space: Space = SPACE) -> None:
    with transaction(index.connection):
        cache.remember(index.connection, space, {name: name.encode().ljust(8, b"\0") for name in names}, 2)


def test_a_vector_comes_back_by_the_hash_of_its_text(index: Index) -> None:
    remember(index, ["a", "b"])
    assert cache.cached(index.connection, SPACE, ["b", "c"], 2) == {"b": b"b".ljust(8, b"\0")}


def test_many_vectors_come_back_at_once(index: Index) -> None:
    names = [f"h{number}" for number in range(1201)]
    remember(index, names)
    assert set(cache.cached(index.connection, SPACE, [*names, "unknown"], 2)) == set(names)


@pytest.mark.parametrize(
    "other",
    [
        Space("other", "model", "endpoint"),
        Space("fake", "other", "endpoint"),
        Space("fake", "model", "other"),
    ],
)
def test_another_space_has_other_vectors(index: Index, other: Space) -> None:
    remember(index, ["a"])
    assert cache.cached(index.connection, other, ["a"], 2) == {}


def test_the_oldest_vectors_go_first(index: Index) -> None:
    for name in ("a", "b", "c"):
        remember(index, [name])
    cache.prune(index.connection, 2)
    assert set(cache.cached(index.connection, SPACE, ["a", "b", "c"], 2)) == {"b", "c"}


def test_a_vector_that_a_chunk_got_is_forgotten(index: Index) -> None:
    remember(index, ["a", "b"])
    with transaction(index.connection):
        cache.drop(index.connection, SPACE, ["a", "unknown"])
    assert set(cache.cached(index.connection, SPACE, ["a", "b"], 2)) == {"b"}


def test_nothing_is_forgotten_below_the_limit(index: Index) -> None:
    remember(index, ["a", "b"])
    cache.prune(index.connection, 2)
    assert cache.count(index.connection) == 2


def test_remembering_again_replaces(index: Index) -> None:
    remember(index, ["a"])
    with transaction(index.connection):
        cache.remember(index.connection, SPACE, {"a": b"12345678"}, 2)
    assert cache.cached(index.connection, SPACE, ["a"], 2) == {"a": b"12345678"}


def test_the_cache_of_another_index_is_taken_over(index: Index, tmp_path: Path) -> None:
    other = Index.writer(tmp_path / "other.sqlite", IDENTITY)
    remember(other, ["b", "c"])
    other.close()
    remember(index, ["a", "b"])
    cache.copy_from(index.connection, tmp_path / "other.sqlite")
    assert set(cache.cached(index.connection, SPACE, ["a", "b", "c"], 2)) == {"a", "b", "c"}


def test_the_other_index_is_let_go_of_after_copying(index: Index, tmp_path: Path) -> None:
    Index.writer(tmp_path / "other.sqlite", IDENTITY).close()
    cache.copy_from(index.connection, tmp_path / "other.sqlite")
    assert "other" not in {row[1] for row in index.connection.execute("PRAGMA database_list")}


def test_copying_from_something_else_is_an_error_of_ours(index: Index, tmp_path: Path) -> None:
    (tmp_path / "other.sqlite").write_text("not a database at all, but long enough", encoding="utf-8")
    with pytest.raises(StoreError):
        cache.copy_from(index.connection, tmp_path / "other.sqlite")
