"""Searching some chunks of an index alone: the others take no place from them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from memlines.index.store.sqlite.chunks import match_words
from tests.index.test_store_vectors import ENGINES, add, one, opened, random_rows, reader
from tests.indexes import put


def by_hand(rows: np.ndarray, numbers: list[int], query: bytes) -> dict[int, float]:
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    cosines = unit @ np.frombuffer(query, "<f4").astype(np.float64)
    return dict(zip(numbers, cosines.tolist(), strict=True))


def best(cosines: dict[int, float], limit: int) -> dict[int, float]:
    return {number: cosines[number] for number in sorted(cosines, key=lambda one: -cosines[one])[:limit]}


def test_words_are_found_in_some_chunks_alone(tmp_path: Path) -> None:
    with opened(tmp_path) as index:
        put(index, "memory/a.md", "\n".join(["zebra zebra"] * 50))
        numbers = put(index, "memory/b.md", "zebra and a lot of other words that make the line long")
        found = match_words(index.connection, "zebra", 1, (), frozenset(numbers))
    assert [number for number, _ in found] == numbers


def test_no_words_are_found_in_no_chunks(tmp_path: Path) -> None:
    with opened(tmp_path) as index:
        put(index, "memory/a.md", "zebra")
        assert match_words(index.connection, "zebra", 1, (), frozenset()) == []


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("part", [10, 290], ids=["a few", "most"])
def test_the_nearest_of_some_chunks_are_found(tmp_path: Path, engine: str, part: int) -> None:
    rows, query = random_rows(300, 1), one(2)
    with opened(tmp_path, engine) as index:
        numbers = add(index, "memory/a.md", rows)
        expected = best(by_hand(rows[:part], numbers[:part], query), 5)
        found = index.vectors.nearest(query, 5, (), frozenset(numbers[:part]))
    assert found == pytest.approx(expected, abs=5e-3)


@pytest.mark.parametrize("part", [10, 290], ids=["a few", "most"])
def test_a_part_follows_what_changes(tmp_path: Path, part: int) -> None:
    rows, query = random_rows(300, 1), one(2)
    with opened(tmp_path) as index:
        numbers = add(index, "memory/a.md", rows)
        only = frozenset(numbers[:part])
        with reader(tmp_path) as open_reader:
            first = next(iter(best(open_reader.vectors.nearest(query, 1, (), only), 1)))
            index.vectors.delete([first])
            assert first not in open_reader.vectors.nearest(query, part, (), only)


def test_nothing_is_near_where_there_is_no_vector(tmp_path: Path) -> None:
    with opened(tmp_path) as index:
        numbers = put(index, "memory/a.md", "zebra")
        assert index.vectors.nearest(one(1), 5, (), frozenset(numbers)) == {}
        assert index.vectors.cosines(one(1), numbers) == {}


def test_a_table_without_rows_has_no_part(tmp_path: Path) -> None:
    with opened(tmp_path) as index:
        numbers = add(index, "memory/a.md", random_rows(2, 1))
        index.vectors.delete(numbers)
        assert index.vectors.nearest(one(1), 5, (), frozenset(numbers)) == {}


@pytest.mark.parametrize("engine", ENGINES)
def test_the_cosines_of_some_chunks_can_be_asked_for(tmp_path: Path, engine: str) -> None:
    rows, query = random_rows(20, 1), one(2)
    with opened(tmp_path, engine) as index:
        numbers = add(index, "memory/a.md", rows)
        cosines = index.vectors.cosines(query, numbers[3:6])
    assert cosines == pytest.approx(by_hand(rows[3:6], numbers[3:6], query), abs=5e-3)


def test_vectors_of_another_length_are_not_compared(tmp_path: Path) -> None:
    with opened(tmp_path) as index:
        numbers = add(index, "memory/a.md", random_rows(2, 1))
        assert index.vectors.cosines(one(1)[:8], numbers) == {}
        assert index.vectors.nearest(one(1)[:8], 5, (), frozenset(numbers[:1])) == {}


def test_two_parts_are_kept_apart(tmp_path: Path) -> None:
    with opened(tmp_path) as index:
        numbers = add(index, "memory/a.md", random_rows(9, 1))
    parts = [frozenset(numbers[:2]), frozenset(numbers[2:4]), frozenset(numbers[4:])]
    with reader(tmp_path) as open_reader:
        found = [set(open_reader.vectors.nearest(one(2), 9, (), part)) for part in (*parts, *parts)]
    assert found == [*parts, *parts]
