"""How a note, or lines of it, changed: from what is kept, from git, and from the note as it is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlines import Memory, PathError, UsageError
from memlines.files.notes import append
from memlines.memory.past.log import _place_before
from tests.memories import words_memory
from tests.note_changes import edit
from tests.programs import Cli
from tests.repositories import commit_notes, needs_git, noon, set_clock, set_time

NOTE = "memory/topic.md"
LINES = st.lists(st.sampled_from("abc"), max_size=8)


@pytest.fixture
def memory(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    """A note that Memlines wrote in January, added to in February and changed in March."""
    with words_memory(workspace, {}) as opened:
        home = opened.workspace
        set_clock(monkeypatch, "2026-01-10")
        append(home, NOTE, "- tea")
        set_clock(monkeypatch, "2026-02-10")
        append(home, NOTE, "- milk")
        set_clock(monkeypatch, "2026-03-10")
        edit(home, NOTE, 1, 1, "- sugar\n- coffee", "- tea")
        set_time(workspace / NOTE, "2026-03-10")
        yield opened


def listed(memory: Memory, path: str = NOTE, most: int = 10) -> list[tuple[str, str, str]]:
    changes = memory.log(path, most=most)
    return [(one.time.date().isoformat(), one.origin, one.diff.partition("\n")[2]) for one in changes]


def test_every_change_is_shown_with_what_differs(memory: Memory) -> None:
    assert listed(memory) == [
        ("2026-03-10", "history", "-- tea\n+- sugar\n+- coffee\n - milk"),
        ("2026-02-10", "history", " - tea\n+- milk"),
        ("2026-01-10", "history", "+- tea"),
    ]


def test_only_changes_of_the_lines_are_shown(memory: Memory) -> None:
    assert listed(memory, f"{NOTE}#L3") == [("2026-02-10", "history", "+- milk")]


def test_lines_are_followed_to_where_they_were(memory: Memory) -> None:
    found = memory.log(f"{NOTE}#L1-L2")
    assert [one.citation for one in found] == [f"{NOTE}#L1-L2", f"{NOTE}#L1"]


def test_an_edit_by_hand_is_known_by_the_note(memory: Memory) -> None:
    (memory.workspace.root / NOTE).write_text("- sugar\n- coffee\n- milk\n- cream\n", encoding="utf-8")
    set_time(memory.workspace.root / NOTE, "2026-04-10")
    assert listed(memory, most=1) == [("2026-04-10", "now", " - coffee\n - milk\n+- cream")]


@needs_git
def test_commits_are_among_the_changes(workspace: Path) -> None:
    first = commit_notes(workspace, "2026-01-10", {NOTE: "- tea\n"})
    second = commit_notes(workspace, "2026-02-10", {NOTE: "- coffee\n"})
    with words_memory(workspace, {}) as memory:
        found = [(one.time, one.origin, one.by) for one in memory.log(NOTE)]
    assert found == [(noon("2026-02-10"), "git", second), (noon("2026-01-10"), "git", first)]


@needs_git
def test_a_commit_of_what_was_written_before_is_no_change(memory: Memory) -> None:
    before = listed(memory)
    commit_notes(memory.workspace.root, "2026-05-10", {})
    assert listed(memory) == before


def test_a_note_without_any_trace_is_refused(memory: Memory) -> None:
    with pytest.raises(PathError, match=r"nothing is known of 'memory/none\.md'"):
        memory.log("memory/none.md")


@pytest.mark.parametrize("path", [f"{NOTE}#L9", f"{NOTE}@2026-03-01", f"{NOTE}#L3-L1"])
def test_lines_that_are_not_there_are_refused(memory: Memory, path: str) -> None:
    with pytest.raises(UsageError):
        memory.log(path)


@given(LINES, LINES, st.data())
def test_lines_were_inside_the_older_text(older: list[str], newer: list[str], data: st.DataObject) -> None:
    begin = data.draw(st.integers(0, len(newer)))
    end = data.draw(st.integers(begin, len(newer)))
    first, last = _place_before(older, newer, begin, end)
    assert 0 <= first <= last <= len(older)


@given(st.lists(st.text("abc", min_size=1), unique=True, max_size=8), st.data())
def test_lines_of_a_text_that_is_the_same_are_where_they_are(lines: list[str], data: st.DataObject) -> None:
    begin = data.draw(st.integers(0, len(lines)))
    end = data.draw(st.integers(min(begin + 1, len(lines)), len(lines)))
    if begin < end:
        assert _place_before(lines, lines, begin, end) == (begin, end)


# Command


def test_the_command_shows_changes_and_where(memory: Memory, cli: Cli) -> None:
    shown = cli("log", f"{NOTE}#L3", "-w", memory.workspace.root)
    assert shown.out.split("\n")[1:] == [f"  {NOTE}#L2", "  @@ -0,0 +1 @@", "  +- milk", ""]


def test_json_has_the_changes(memory: Memory, cli: Cli) -> None:
    (change,) = cli("log", NOTE, "-n", "1", "--json", "-w", memory.workspace.root).json["changes"]
    assert (change["source"], change["by"], change["start_line"], change["end_line"]) == (
        "history",
        "change",
        1,
        3,
    )
