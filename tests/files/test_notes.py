"""Changing notes: what is written, where, and what is refused."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlines.errors import PathError, StoreBusy, UsageError, WriteError
from memlines.files import atomic, history, place
from memlines.files.notes import Written, append
from memlines.locks import WriterLock
from memlines.paths import Workspace
from tests.note_changes import delete, edit

DAY = "memory/2026-11-16.md"


@pytest.fixture
def home(workspace: Path) -> Workspace:
    return Workspace.at(workspace)


def text_of(home: Workspace, path: str = DAY) -> str:
    return (home.root / path).read_bytes().decode()


def write(home: Workspace, text: str | bytes, path: str = DAY) -> None:
    content = text if isinstance(text, bytes) else text.encode()
    (home.root / path).write_bytes(content)


# append


def test_a_note_is_made_with_its_title(home: Workspace) -> None:
    written = append(home, DAY, "- first", title="2026-11-16")
    assert (written, text_of(home)) == (Written(DAY, 3, 3, created=True), "# 2026-11-16\n\n- first\n")


def test_a_title_is_for_a_new_note_only(home: Workspace) -> None:
    append(home, DAY, "- first", title="Day")
    assert append(home, DAY, "- second\n  and more", title="Day") == Written(DAY, 4, 5)
    assert text_of(home) == "# Day\n\n- first\n- second\n  and more\n"


def test_an_empty_note_gets_its_title_too(home: Workspace) -> None:
    write(home, "")
    assert append(home, DAY, "- first", title="Day") == Written(DAY, 3, 3)


def test_missing_folders_are_made(home: Workspace) -> None:
    append(home, "memory/people/close/anna.md", "likes tea")
    assert text_of(home, "memory/people/close/anna.md") == "likes tea\n"


def test_the_folder_of_notes_is_made(tmp_path: Path) -> None:
    append(Workspace.at(tmp_path), DAY, "- first")
    assert (tmp_path / DAY).exists()


def test_a_block_goes_under_its_heading(home: Workspace) -> None:
    write(home, "# A\n- a\n\n# B\n- b\n", "MEMORY.md")
    assert append(home, "MEMORY.md", "- x", under="a") == Written("MEMORY.md", 3, 3)
    assert text_of(home, "MEMORY.md") == "# A\n- a\n- x\n\n# B\n- b\n"


def test_windows_line_ends_and_the_mark_at_the_start_stay(home: Workspace) -> None:
    write(home, b"\xef\xbb\xbf# A\r\n- a\r\n")
    append(home, DAY, "- b\nmore")
    assert (home.root / DAY).read_bytes() == b"\xef\xbb\xbf# A\r\n- a\r\n- b\r\nmore\r\n"


@pytest.mark.parametrize("block", ["", " \n\t\n", "a\0b", "half a pair: \ud800"])
def test_a_text_that_cannot_be_written_is_refused(home: Workspace, block: str) -> None:
    with pytest.raises(UsageError):
        append(home, DAY, block)
    assert not (home.root / DAY).exists()


@pytest.mark.parametrize("under", ["", "#", " \n", "\0"])
def test_a_heading_needs_words(home: Workspace, under: str) -> None:
    with pytest.raises(UsageError, match="cannot be a heading"):
        append(home, DAY, "- a", under=under)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"a\0b", "is binary"),
        (b"caf\xe9", r"is not valid UTF-8 \(line 1\)"),
        (b"x" * 101, "is above the limit"),
    ],
)
def test_a_note_that_is_no_text_stays(home: Workspace, content: bytes, reason: str) -> None:
    write(home, content)
    with pytest.raises(WriteError, match=reason):
        append(home, DAY, "- a", max_bytes=100)
    assert (home.root / DAY).read_bytes() == content


def test_a_note_does_not_grow_above_the_limit(home: Workspace) -> None:
    write(home, "x" * 95)
    with pytest.raises(WriteError, match="would grow above the limit"):
        append(home, DAY, "- much more", max_bytes=100)


# rewrite


def test_lines_are_edited(home: Workspace) -> None:
    write(home, "a\nb\nc\n")
    assert edit(home, DAY, 2, 2, "x\ny", "b") == (2, 3)
    assert text_of(home) == "a\nx\ny\nc\n"


def test_lines_that_moved_are_found(home: Workspace) -> None:
    write(home, "new\na\nb\n")
    assert edit(home, DAY, 2, 2, "x", "b") == (3, 3)
    assert text_of(home) == "new\na\nx\n"


@pytest.mark.parametrize("text", ["a\nB\n", "b\nx\nb\n", ""])
def test_lines_that_changed_stay(home: Workspace, text: str) -> None:
    write(home, text)
    with pytest.raises(WriteError, match="has changed since it was read"):
        edit(home, DAY, 2, 2, "x", "b")
    assert text_of(home) == text


def test_an_edit_to_the_same_writes_nothing(home: Workspace) -> None:
    write(home, "a\nb\n")
    before = (home.root / DAY).stat().st_ino
    edit(home, DAY, 2, 2, "b", "b")
    assert (home.root / DAY).stat().st_ino == before


def test_an_edit_keeps_windows_line_ends(home: Workspace) -> None:
    write(home, b"a\r\nb\r\n")
    edit(home, DAY, 1, 1, "x\ny", "a")
    assert (home.root / DAY).read_bytes() == b"x\r\ny\r\nb\r\n"


def test_an_edit_of_the_first_line_keeps_the_mark_before_it(home: Workspace) -> None:
    write(home, b"\xef\xbb\xbfa\nb\n")
    edit(home, DAY, 1, 1, "x", "a")
    assert (home.root / DAY).read_bytes() == b"\xef\xbb\xbfx\nb\n"


def test_a_note_that_does_not_exist_is_not_made(home: Workspace) -> None:
    with pytest.raises(PathError, match="there is no note"):
        edit(home, DAY, 1, 1, "x", "a")
    assert not (home.root / DAY).exists()


def test_lines_are_deleted_where_they_are_now(home: Workspace) -> None:
    write(home, "- new\n\n- a\n\n- b\n")
    delete(home, DAY, 1, 1, "- a")
    assert text_of(home) == "- new\n\n- b\n"


# many writers


def test_a_writer_that_is_in_the_way_is_named(home: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(place, "WAIT_SECONDS", 0)
    append(home, DAY, "- a")
    busy = pytest.raises(
        StoreBusy, match=rf"a note of this workspace is being written by process {os.getpid()} "
    )
    with WriterLock(home.private / place.LOCK_NAME).held(0), busy:
        append(home, DAY, "- b")


def test_what_another_program_saved_meanwhile_stays(home: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    write(home, "- a\n")
    saved: list[int] = []

    def save_first(path: Path, content: bytes, expected: bytes | None, *, root: Path) -> None:
        if not saved:
            saved.append(path.write_bytes(b"- a\n- theirs\n"))
        atomic.replace(path, content, expected, root=root)

    monkeypatch.setattr(history, "replace", save_first)
    assert append(home, DAY, "- ours") == Written(DAY, 3, 3)
    assert text_of(home) == "- a\n- theirs\n- ours\n"


def test_a_note_that_never_rests_is_an_error(home: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    def always(path: Path, content: bytes, expected: bytes | None, *, root: Path) -> None:
        raise atomic.Changed

    monkeypatch.setattr(history, "replace", always)
    with pytest.raises(WriteError, match="is being changed by another program"):
        append(home, DAY, "- a")


APPEND = """\
import sys
from memlines.files.notes import append
from memlines.paths import Workspace
home = Workspace.at(sys.argv[1])
sys.stdin.readline()
for number in range(25):
    append(home, "memory/2026-11-16.md", f"- {sys.argv[2]}.{number}", title="Day")
"""


def test_many_processes_lose_nothing(home: Workspace) -> None:
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", APPEND, str(home.root), str(number)],
            stdin=subprocess.PIPE,
            encoding="utf-8",
        )
        for number in range(4)
    ]
    for writer in writers:
        writer.communicate("go\n")
    lines = text_of(home).splitlines()
    assert lines[:2] == ["# Day", ""]
    assert sorted(lines[2:]) == sorted(f"- {writer}.{number}" for writer in range(4) for number in range(25))
    assert [writer.returncode for writer in writers] == [0] * 4


# whatever happens to a note, nothing is lost

STEPS = st.lists(
    st.tuples(st.sampled_from(["append", "edit", "delete"]), st.sampled_from(["- x", "y\nz", "# A"])),
    max_size=8,
)


@given(st.sampled_from(["", "- a\n- b\n", "# A\r\n\r\ntext\r\n", "no end"]), STEPS)
def test_every_text_a_note_ever_held_is_kept(
    tmp_path_factory: pytest.TempPathFactory, start: str, steps: list[tuple[str, str]]
) -> None:
    home = Workspace.at(tmp_path_factory.mktemp("workspace"))
    (home.root / "memory").mkdir()
    write(home, start)
    held = [start]
    for operation, block in steps:
        first = text_of(home).split("\n")[0].removesuffix("\r")
        if operation == "append":
            append(home, DAY, block, under="A" if block == "y\nz" else None)
        elif text_of(home):
            if operation == "edit":
                edit(home, DAY, 1, 1, block, first)
            else:
                delete(home, DAY, 1, 1, first)
        held.append(text_of(home))
    folder = home.private / "history" / DAY
    kept = [text_of(home)] + [file.read_bytes().decode() for file in folder.glob("*.md")]
    assert all(any(now.startswith(then) for now in kept) for then in held)
