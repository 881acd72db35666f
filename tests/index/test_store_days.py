"""The index keeps the days of entries, unless the place of a note says them, and finds chunks by them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from memlines.index.store.sqlite.days import find_days
from memlines.index.store.sqlite.index import Index
from memlines.text.chunk import chunk_note
from memlines.text.days import date_chunks
from tests.indexes import document, index_file, lengthen_vectors, sync, write
from tests.providers import FakeProvider

TOPIC = "memory/topic.md"
LOG = "memory/2026-11-16.md"


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    with Index.writer(tmp_path / "index.sqlite", {"vector_engine": "matrix"}) as index:
        yield index


def put(index: Index, path: str, text: str, tokens: int = 400) -> None:
    """Index a note with the days of its entries."""
    index.put(document(path, text), date_chunks(chunk_note(text, tokens, 0), text, path))


def rows(index: Index) -> list[tuple[str, int]]:
    """Return the days that are kept."""
    return list(index.connection.execute("SELECT day, chunk FROM chunk_days ORDER BY day, chunk"))


def test_each_day_of_a_chunk_is_kept_once(index: Index) -> None:
    put(index, TOPIC, "- 2026-11-15: one\n- 2026-11-16: two\n- 2026-11-16: three\n- four\n")
    assert rows(index) == [("2026-11-15", 1), ("2026-11-16", 1)]


def test_a_chunk_comes_back_with_the_days_of_its_entries(index: Index) -> None:
    put(index, TOPIC, "- 2026-11-15: one\n- two\n")
    assert index.chunks([1])[1].days == ("2026-11-15", "")


def test_the_days_of_logs_and_of_notes_without_dates_take_no_room(index: Index) -> None:
    put(index, LOG, "# 2026-11-16\n\n- 14:32 one\n- 2026-11-16: two\n")
    put(index, TOPIC, "- one on 2026-11-16\n")
    assert (rows(index), [chunk.days for chunk in index.chunks([1, 2]).values()]) == ([], [(), ()])


def test_a_removed_note_leaves_no_days(index: Index) -> None:
    put(index, TOPIC, "- 2026-11-15: one\n")
    index.remove(TOPIC)
    assert rows(index) == []


def test_a_changed_note_has_its_new_days(index: Index) -> None:
    put(index, TOPIC, "- 2026-11-15: one\n")
    put(index, TOPIC, "- 2026-11-14: one\n")
    assert rows(index) == [("2026-11-14", 2)]


def test_a_chunk_that_only_moved_keeps_its_days(index: Index) -> None:
    put(index, TOPIC, "- 2026-11-15: one two three four five six seven\n", tokens=10)
    put(index, TOPIC, "words first\n- 2026-11-15: one two three four five six seven\n", tokens=10)
    assert {day for day, _ in rows(index)} == {"2026-11-15"}


def test_the_end_of_an_entry_that_stays_gets_the_new_day_of_its_beginning(index: Index) -> None:
    end = "word " * 35
    put(index, TOPIC, f"- 2026-11-15: begin\n  {end}\n", tokens=45)
    before = {number: chunk.days for number, chunk in index.chunks([1, 2]).items()}
    put(index, TOPIC, f"- 2026-11-14: begin\n  {end}\n", tokens=45)
    assert before == {1: ("2026-11-15",), 2: ("2026-11-15",)}
    assert index.chunks([2])[2].days == ("2026-11-14",)
    assert rows(index) == [("2026-11-14", 2), ("2026-11-14", 3)]


def test_chunks_of_some_days_come_newest_first_and_no_more_than_asked_for(index: Index) -> None:
    for day in range(10, 20):
        put(index, f"memory/{day}.md", f"- 2026-11-{day}: one\n")
    put(index, LOG, "- of the log\n")
    found = find_days(index.connection, "2026-11-12", "2026-11-18", [(LOG, "2026-11-16")], 5)
    paths = [index.chunks([number])[number].path for number in found]
    assert paths == [f"memory/{name}.md" for name in ("18", "17", "16", "2026-11-16", "15")]


def test_a_log_whose_entries_are_of_another_day_is_not_found_by_its_own(index: Index) -> None:
    put(index, LOG, "- 2026-11-14: one\n")
    logs = [(LOG, "2026-11-16")]
    assert find_days(index.connection, "2026-11-16", "2026-11-16", logs, 9) == []
    assert find_days(index.connection, "2026-11-14", "2026-11-14", [], 9) == [1]


def test_an_index_of_the_version_before_gets_days_and_keeps_every_vector(workspace: Path) -> None:
    write(workspace, {TOPIC: "- 2026-11-15: one\n", LOG: "- two\n"})
    sync(workspace, FakeProvider())
    lengthen_vectors(index_file(workspace))
    with closing(sqlite3.connect(index_file(workspace))) as old:  # as it was before
        old.executescript(
            "ALTER TABLE chunks DROP COLUMN days; DROP TABLE chunk_days;"
            "UPDATE meta SET value = json_remove(value, '$.days') WHERE key = 'identity';"
            "PRAGMA user_version=5"
        )
    provider = FakeProvider()
    report = sync(workspace, provider)
    index = Index.reader(index_file(workspace))
    assert index is not None
    with index:
        days, vectors = [day for day, _ in rows(index)], index.vectors.count()
    assert (days, vectors, provider.texts, report.pending) == (["2026-11-15"], 2, [], 0)
