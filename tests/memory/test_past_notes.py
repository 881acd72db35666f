"""What notes held on an earlier day: by kept versions, the journal, the trash, git, dates and their files."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

from memlines import Memory
from memlines.files import journal
from memlines.files.notes import append
from memlines.memory.past.notes import PastNote, known_since, notes_at
from memlines.memory.past.timeline import PastNotes
from tests.memories import words_memory
from tests.note_changes import edit, remove_note, restore_note
from tests.repositories import commit_notes, git, needs_git, set_clock, set_time

NOTE = "memory/topic.md"


@pytest.fixture
def memory(workspace: Path) -> Iterator[Memory]:
    with words_memory(workspace, {}) as opened:
        yield opened


class Writer:
    """Writes a note on chosen days, as Memlines does or by hand."""

    def __init__(self, memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
        self.home = memory.workspace
        self.file = memory.workspace.root / NOTE
        self._monkeypatch = monkeypatch

    def add(self, day: str, text: str) -> None:
        set_clock(self._monkeypatch, day)
        append(self.home, NOTE, text)
        set_time(self.file, day)

    def change(self, day: str, line: int, old: str, new: str) -> None:
        set_clock(self._monkeypatch, day)
        edit(self.home, NOTE, line, line, new, old)
        set_time(self.file, day)

    def by_hand(self, day: str, text: str) -> None:
        self.file.write_text(text, encoding="utf-8")
        set_time(self.file, day)


@pytest.fixture
def writer(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> Writer:
    return Writer(memory, monkeypatch)


def on(memory: Memory, day: str) -> PastNote | None:
    past = PastNotes(memory.workspace, memory.settings)
    return next(iter(notes_at(past, date.fromisoformat(day), NOTE)), None)


def text_on(memory: Memory, day: str) -> tuple[str, str] | None:
    """Return how sure the note of a day is, and what it said without blanks at its ends."""
    note = on(memory, day)
    past = PastNotes(memory.workspace, memory.settings)
    return (note.certainty, note.text(past, date.fromisoformat(day)).strip()) if note else None


def test_a_note_that_only_grew_is_what_it_was_after_each_change(memory: Memory, writer: Writer) -> None:
    for month, word in enumerate(("one", "two", "three"), 1):
        writer.add(f"2026-0{month}-10", f"- {word}")
    assert [text_on(memory, f"2026-0{month}-09") for month in (1, 2, 3, 4)] == [
        None,
        ("exact", "- one"),
        ("exact", "- one\n- two"),
        ("exact", "- one\n- two\n- three"),
    ]


def test_a_note_that_was_changed_is_what_its_versions_say(memory: Memory, writer: Writer) -> None:
    writer.add("2026-01-10", "- tea")
    writer.change("2026-02-10", 1, "- tea", "- coffee")
    writer.change("2026-03-10", 1, "- coffee", "- water")
    assert [text_on(memory, f"2026-0{month}-15") for month in (1, 2, 3)] == [
        ("exact", "- tea"),
        ("exact", "- coffee"),
        ("exact", "- water"),
    ]


def test_a_change_of_a_day_counts_at_its_end(memory: Memory, writer: Writer) -> None:
    writer.add("2026-01-10", "- tea")
    writer.change("2026-02-10", 1, "- tea", "- coffee")
    assert [text_on(memory, day) for day in ("2026-02-09", "2026-02-10")] == [
        ("exact", "- tea"),
        ("exact", "- coffee"),
    ]


def test_a_removed_note_was_there_until_it_was_removed(
    memory: Memory, writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer.add("2026-01-10", "- tea")
    set_clock(monkeypatch, "2026-02-10")
    item = remove_note(memory.workspace, NOTE)
    set_clock(monkeypatch, "2026-03-10")
    restore_note(memory.workspace, item)
    assert [text_on(memory, f"2026-0{month}-15") for month in (1, 2, 3)] == [
        ("exact", "- tea"),
        None,
        ("exact", "- tea"),
    ]


def test_without_a_journal_the_kept_versions_say_it(memory: Memory, writer: Writer) -> None:
    writer.add("2026-01-10", "- tea")
    writer.change("2026-02-10", 1, "- tea", "- coffee")
    writer.change("2026-03-10", 1, "- coffee", "- water")
    (memory.workspace.private / journal.FILE_NAME).unlink()
    assert [text_on(memory, f"2026-0{month}-15") for month in (2, 3)] == [
        ("near", "- coffee"),
        ("exact", "- water"),
    ]


def test_a_file_that_was_not_changed_since_is_taken_as_it_is(memory: Memory, writer: Writer) -> None:
    writer.by_hand("2026-01-10", "by hand\n")
    assert [text_on(memory, day) for day in ("2026-01-09", "2026-01-10")] == [
        ("dated", ""),
        ("exact", "by hand"),
    ]


def test_of_a_file_that_was_changed_since_dated_entries_are_known(memory: Memory, writer: Writer) -> None:
    text = "# Topic\n\n## Old\n- 2026-01-05: tea\n- undated\n## New\n- 2026-06-05: water\n"
    writer.by_hand("2026-07-01", text)
    note = on(memory, "2026-02-01")
    assert note
    past = PastNotes(memory.workspace, memory.settings)
    assert note.text(past, date(2026, 2, 1)).split("\n") == [
        "# Topic",
        "",
        "## Old",
        "- 2026-01-05: tea",
        "",
        "",
        "",
        "",
    ]


def test_a_daily_log_is_known_by_its_day(memory: Memory) -> None:
    log = memory.workspace.root / "memory/2026-01-05.md"
    log.write_text("- 09:00 tea\n", encoding="utf-8")
    past = PastNotes(memory.workspace, memory.settings)
    days = [date(2026, 1, day) for day in (4, 5)]
    assert [[note.text(past, day).strip() for note in notes_at(past, day)] for day in days] == [
        [],
        ["- 09:00 tea"],
    ]


def test_what_was_added_by_hand_later_counts_by_its_dates(memory: Memory, writer: Writer) -> None:
    writer.add("2026-01-10", "- tea")
    writer.by_hand("2026-05-01", "- tea\n- 2026-01-20: coffee\n- 2026-04-20: water\n- undated\n")
    assert text_on(memory, "2026-02-01") == ("near", "- tea\n- 2026-01-20: coffee")


def test_a_clock_that_was_wrong_is_no_trouble(memory: Memory, writer: Writer) -> None:
    writer.add("2026-03-10", "- tea")
    writer.add("2026-01-10", "- coffee")
    writer.change("2026-02-10", 1, "- tea", "- water")
    days = ("2026-01-01", "2026-01-15", "2026-02-15", "2026-03-15")
    assert [text_on(memory, day) for day in days][-1] == ("exact", "- water\n- coffee")


def test_it_is_known_since_the_first_trace(memory: Memory, writer: Writer) -> None:
    writer.add("2026-03-10", "- tea")
    writer.by_hand("2026-04-10", "- 2025-12-24: tea\n")
    assert known_since(PastNotes(memory.workspace, memory.settings)) == date(2025, 12, 24)


# Beside git


@needs_git
def test_a_commit_says_what_a_note_was(memory: Memory, writer: Writer) -> None:
    commit_notes(memory.workspace.root, "2026-01-10", {NOTE: "- tea\n"})
    commit_notes(memory.workspace.root, "2026-03-10", {NOTE: "- water\n"})
    assert [text_on(memory, f"2026-0{month}-15") for month in (1, 2, 3)] == [
        ("exact", "- tea"),
        ("exact", "- tea"),
        ("exact", "- water"),
    ]


@needs_git
def test_a_change_after_the_last_commit_of_a_note_wins(memory: Memory, writer: Writer) -> None:
    writer.add("2026-01-10", "- tea")
    commit_notes(memory.workspace.root, "2026-01-11", {})
    writer.add("2026-02-10", "- coffee")
    git(memory.workspace.root, "commit", "-q", "--allow-empty", "-m", "others", day="2026-02-11")
    writer.change("2026-06-01", 1, "- tea", "- water")
    assert text_on(memory, "2026-03-01") == ("exact", "- tea\n- coffee")


@needs_git
def test_a_later_commit_of_a_note_wins(memory: Memory, writer: Writer) -> None:
    writer.add("2026-01-10", "- tea")
    commit_notes(memory.workspace.root, "2026-02-10", {NOTE: "- tea by hand\n"})
    writer.by_hand("2026-06-01", "- another\n")
    assert text_on(memory, "2026-03-01") == ("exact", "- tea by hand")


@needs_git
def test_a_note_that_is_gone_is_known_from_git(memory: Memory, writer: Writer) -> None:
    commit_notes(memory.workspace.root, "2026-01-10", {NOTE: "- tea\n"})
    (memory.workspace.root / NOTE).unlink()
    commit_notes(memory.workspace.root, "2026-03-10", {})
    assert [text_on(memory, f"2026-0{month}-15") for month in (2, 3)] == [("exact", "- tea"), None]
