"""A person edits a whole note: what was not touched stays to the byte, and nobody is overwritten."""

from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlines import AsyncMemory, EditConflict, Memory, PathError, UsageError, WriteError
from memlines.files import atomic
from memlines.files.tombstones import Forgotten, bury
from memlines.memory.notes.edit import _keep_lines, _plain_ends
from memlines.paths import personal_folder
from tests.memories import WORDS_ONLY, write
from tests.programs import read_only, unprivileged_run

NOTE = "memory/topic.md"
BOM = b"\xef\xbb\xbf"

LINE = st.text(st.characters(exclude_characters="\r\n\0", exclude_categories=["Cs"]), max_size=4)
TEXT = st.lists(st.tuples(LINE, st.sampled_from(["\n", "\r\n", "\r"])), max_size=12).flatmap(
    lambda lines: LINE.map(lambda last: "".join(line + end for line, end in lines) + last)
)
PLAIN = st.lists(LINE, max_size=12).map("\n".join)


@pytest.fixture
def memory(workspace: Path) -> Iterator[Memory]:
    with Memory(workspace, WORDS_ONLY) as opened:
        yield opened


def put(memory: Memory, content: bytes, path: str = NOTE) -> None:
    (memory.workspace.root / path).write_bytes(content)


def held(memory: Memory, path: str = NOTE) -> bytes | None:
    file = memory.workspace.root / path
    return file.read_bytes() if file.exists() else None


def save(memory: Memory, text: str, path: str = NOTE) -> None:
    """Save a text as a browser sends it, over the note as it is now."""
    memory.edit_note(path, text.replace("\n", "\r\n"), memory.open_note(path).version)


# Opening


def test_a_note_opens_with_plain_line_ends_and_without_its_mark(memory: Memory) -> None:
    put(memory, BOM + b"one\r\ntwo\rthree\n")
    note = memory.open_note(NOTE)
    assert (note.path, note.text, note.editable, note.reason) == (NOTE, "one\ntwo\nthree\n", True, "")


def test_a_note_that_does_not_exist_opens_empty(memory: Memory) -> None:
    note = memory.open_note(NOTE)
    assert (note.text, note.version, note.editable) == ("", "", True)


def test_an_empty_note_has_a_version(memory: Memory) -> None:
    put(memory, b"")
    assert memory.open_note(NOTE).version


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"caf\xe9\n", "not valid UTF-8"),
        (b"a\0b\n", "binary"),
        (b"x" * 1_000_001, "Open it in an editor"),
        (b"0123456789abcde\n" * 1_250_000, "Open it in an editor"),
    ],
    ids=["latin-1", "binary", "one byte too many", "20 MB"],
)
def test_what_cannot_be_edited_says_why(memory: Memory, content: bytes, reason: str) -> None:
    put(memory, content)
    note = memory.open_note(NOTE)
    assert (note.editable, note.text, reason in note.reason) == (False, "", True)


def test_the_largest_note_that_can_be_edited(memory: Memory) -> None:
    put(memory, b"x" * 1_000_000)
    assert memory.open_note(NOTE).editable


def test_a_note_that_cannot_be_edited_is_not_written(memory: Memory) -> None:
    put(memory, b"caf\xe9\n")
    with pytest.raises(WriteError, match="not valid UTF-8"):
        memory.edit_note(NOTE, "tea", memory.open_note(NOTE).version)
    assert held(memory) == b"caf\xe9\n"


@pytest.mark.parametrize(
    "path", ["../x.md", "notes.txt", "other/x.md", "memory/.git/x.md", "", "memory/a:b.md", "memory/con.md"]
)
def test_a_path_that_may_not_be_written_is_not_editable(memory: Memory, path: str) -> None:
    note = memory.open_note(path)
    assert (note.editable, bool(note.reason)) == (False, True)


def test_an_extra_path_is_only_read(workspace: Path, tmp_path: Path) -> None:
    write(tmp_path / "docs", {"memory/x.md": "text\n"})
    file = str(tmp_path / "docs/memory/x.md")
    with Memory(workspace, {**WORDS_ONLY, "extra_paths": [str(tmp_path / "docs")]}) as memory:
        assert not memory.open_note(file).editable
        with pytest.raises(PathError):
            memory.edit_note(file, "mine", "")


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_a_link_is_not_editable(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "outside.md").write_text("text", encoding="utf-8")
    (memory.workspace.root / NOTE).symlink_to(tmp_path / "outside.md")
    assert "symbolic link" in memory.open_note(NOTE).reason


def test_a_folder_with_the_name_of_a_note_is_not_editable(memory: Memory) -> None:
    (memory.workspace.root / NOTE).mkdir()
    assert "cannot be read" in memory.open_note(NOTE).reason


# What is kept


@given(old=TEXT, new=PLAIN)
def test_the_result_reads_as_what_was_submitted(old: str, new: str) -> None:
    assert _plain_ends(_keep_lines(old, new)[0]) == new


@given(old=TEXT)
def test_a_text_that_is_submitted_as_it_was_opened_is_the_old_one(old: str) -> None:
    assert _keep_lines(old, _plain_ends(old)) == (old, "")


@given(
    ends=st.lists(st.sampled_from(["\n", "\r\n"]), min_size=1, max_size=30),
    data=st.data(),
)
def test_lines_that_were_not_changed_keep_their_bytes(ends: list[str], data: st.DataObject) -> None:
    old = [f"line {number} {end}" for number, end in enumerate(ends)]
    changed = data.draw(st.sets(st.integers(0, len(old) - 1)))
    new = ["changed\n" if at in changed else _plain_ends(line) for at, line in enumerate(old)]
    result = _keep_lines("".join(old), "".join(new))[0].splitlines(keepends=True)
    assert [line for at, line in enumerate(result) if at not in changed] == [
        line for at, line in enumerate(old) if at not in changed
    ]


@given(
    ends=st.lists(st.sampled_from(["\n", "\r\n"]), min_size=1, max_size=30),
    data=st.data(),
)
def test_lines_around_removed_and_added_ones_keep_their_bytes(ends: list[str], data: st.DataObject) -> None:
    old = [f"line {number} {end}" for number, end in enumerate(ends)]
    gone = data.draw(st.sets(st.integers(0, len(old) - 1)))
    kept = [line for at, line in enumerate(old) if at not in gone]
    added = data.draw(st.integers(0, len(kept)))
    new = [_plain_ends(line) for line in kept]
    new.insert(added, "added\n")
    result = _keep_lines("".join(old), "".join(new))[0].splitlines(keepends=True)
    assert [line for line in result if line.strip() != "added"] == kept


def test_a_large_note_changed_at_both_ends_keeps_its_mixed_line_ends() -> None:
    old = [f"line {at}\r\n" if at % 2 else "\n" for at in range(6_000)]
    new = ["first\n", *map(_plain_ends, old[1:-1]), "last\n"]
    result = _keep_lines("".join(old), "".join(new))[0]
    assert result == "".join(["first\n", *old[1:-1], "last\n"])


def test_mark_line_ends_and_trailing_blanks_stay(memory: Memory) -> None:
    put(memory, BOM + b"one  \r\ntwo\nthree\t\r\nfour\r\n")
    save(memory, "one  \nTWO\nthree\t\nfour\n")
    assert held(memory) == BOM + b"one  \r\nTWO\r\nthree\t\r\nfour\r\n"


def test_a_new_line_ends_as_most_lines_do(memory: Memory) -> None:
    put(memory, b"one\r\ntwo\r\nthree\n")
    save(memory, "one\nnew\ntwo\nthree\n")
    assert held(memory) == b"one\r\nnew\r\ntwo\r\nthree\n"


def test_a_note_from_a_browser_gets_plain_line_ends(memory: Memory) -> None:
    save(memory, "one\ntwo\n")
    assert held(memory) == b"one\ntwo\n"


def test_a_note_without_a_final_line_end_stays_without(memory: Memory) -> None:
    put(memory, b"one\r\ntwo")
    save(memory, "ONE\ntwo")
    assert held(memory) == b"ONE\r\ntwo"


def test_lines_that_form_feeds_or_separators_are_in_are_not_cut(memory: Memory) -> None:
    put(memory, "one\x0cstill one\u2028and\x85on\r\ntwo\r\n".encode())
    save(memory, "one\x0cstill one\u2028and\x85on\nTWO\n")
    assert held(memory) == "one\x0cstill one\u2028and\x85on\r\nTWO\r\n".encode()


def test_an_empty_line_behind_a_carriage_return_stays_a_line(memory: Memory) -> None:
    put(memory, b"one\rtwo\n")
    save(memory, "one\n\ntwo\n")
    assert memory.open_note(NOTE).text == "one\n\ntwo\n"


def test_a_mark_that_was_pasted_does_not_become_that_of_the_note(memory: Memory) -> None:
    save(memory, "\ufeffone\n")
    assert held(memory) == b"one\n"


# Saving


def test_an_edit_says_what_changed(memory: Memory) -> None:
    put(memory, b"one\n")
    change = memory.edit_note(NOTE, "two\r\n", memory.open_note(NOTE).version)
    assert (change.path, change.before, change.after) == (NOTE, "one\n", "two\n")


def test_an_edit_that_changes_nothing_writes_nothing(memory: Memory) -> None:
    put(memory, BOM + b"one\r\ntwo\n")
    file = memory.workspace.root / NOTE
    before = file.stat()
    save(memory, "one\ntwo\n")
    after = file.stat()
    assert (after.st_ino, after.st_mtime_ns, memory.writes()) == (before.st_ino, before.st_mtime_ns, ())


def test_an_empty_text_for_a_note_that_does_not_exist_makes_none(memory: Memory) -> None:
    change = memory.edit_note(NOTE, "", "")
    assert (held(memory), change.before, change.after) == (None, None, None)


def test_a_note_can_be_emptied_and_its_text_is_kept(memory: Memory) -> None:
    put(memory, b"one\n")
    save(memory, "")
    assert (held(memory), memory.read_version(NOTE, "1")) == (b"", "one\n")


def test_the_history_has_the_old_text_and_names_the_edit(memory: Memory) -> None:
    put(memory, b"one\n")
    save(memory, "two\n")
    (version,) = memory.history(NOTE)
    assert (version.command, memory.read_version(NOTE, version.name)) == ("edit", "one\n")


def test_an_edit_is_undone_to_the_byte_and_redone(memory: Memory) -> None:
    put(memory, BOM + b"one\r\ntwo")
    save(memory, "two\nthree\n")
    assert memory.undo().command == "edit"
    undone = held(memory)
    memory.undo(redo=True)
    assert (undone, memory.open_note(NOTE).text) == (BOM + b"one\r\ntwo", "two\nthree\n")


def test_undoing_the_edit_that_made_a_note_removes_it(memory: Memory) -> None:
    save(memory, "one\n")
    memory.undo()
    assert held(memory) is None


def test_what_was_saved_is_found(memory: Memory) -> None:
    put(memory, b"The okapi sleeps.\n")
    memory.search("okapi")
    save(memory, "The kestrel nests in the tower.\n")
    assert [hit.path for hit in memory.search("kestrel")] == [NOTE]


def test_a_personal_note_is_opened_and_edited(memory: Memory) -> None:
    write(personal_folder(), {"memory/x.md": "mine\n"})
    note = memory.open_note("personal:memory/x.md")
    change = memory.edit_note(note.path, "still mine\n", note.version)
    assert (note.path, note.text, change.path) == ("personal:memory/x.md", "mine\n", note.path)
    assert (personal_folder() / "memory/x.md").read_bytes() == b"still mine\n"


def test_notes_are_edited_without_blocking(workspace: Path) -> None:
    async def use() -> str:
        async with AsyncMemory(workspace, WORDS_ONLY) as memory:
            await memory.edit_note(NOTE, "one\n", "")
            return (await memory.open_note(NOTE)).text

    assert asyncio.run(use()) == "one\n"


# Others


def test_of_two_editors_the_second_is_refused_and_nothing_is_lost(memory: Memory) -> None:
    put(memory, b"one\n")
    first, second = memory.open_note(NOTE), memory.open_note(NOTE)
    memory.edit_note(NOTE, "first\n", first.version)
    with pytest.raises(EditConflict, match="someone else saved"):
        memory.edit_note(NOTE, "second\n", second.version)
    assert (held(memory), len(memory.writes())) == (b"first\n", 1)


def test_two_editors_one_after_the_other_both_save(memory: Memory) -> None:
    put(memory, b"one\n")
    save(memory, "one\ntwo\n")
    save(memory, "one\ntwo\nthree\n")
    assert held(memory) == b"one\ntwo\nthree\n"


def test_a_note_that_appeared_meanwhile_is_a_conflict(memory: Memory) -> None:
    note = memory.open_note(NOTE)
    put(memory, b"theirs\n")
    with pytest.raises(EditConflict):
        memory.edit_note(NOTE, "mine\n", note.version)
    assert held(memory) == b"theirs\n"


def test_a_note_that_vanished_meanwhile_is_a_conflict(memory: Memory) -> None:
    put(memory, b"one\n")
    note = memory.open_note(NOTE)
    (memory.workspace.root / NOTE).unlink()
    with pytest.raises(EditConflict, match="removed"):
        memory.edit_note(NOTE, "mine\n", note.version)
    assert held(memory) is None


def test_a_program_that_saves_in_the_instant_of_the_write_wins(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(memory, b"one\n")
    note = memory.open_note(NOTE)
    really = atomic._write_temporary

    def write_late(*args: object, **kwargs: object) -> str:
        name = really(*args, **kwargs)  # type: ignore[arg-type]
        put(memory, b"theirs\n")
        return name

    monkeypatch.setattr(atomic, "_write_temporary", write_late)
    with pytest.raises(EditConflict):
        memory.edit_note(NOTE, "mine\n", note.version)
    assert held(memory) == b"theirs\n"


# Refused


@pytest.mark.parametrize("text", ["a\0b", "a\ud800b"])
def test_a_text_that_no_note_can_hold_is_refused(memory: Memory, text: str) -> None:
    put(memory, b"one\n")
    with pytest.raises(UsageError, match="no note can hold"):
        memory.edit_note(NOTE, text, memory.open_note(NOTE).version)
    assert held(memory) == b"one\n"


def test_a_text_above_the_limit_of_notes_is_refused(workspace: Path) -> None:
    with Memory(workspace, {**WORDS_ONLY, "files.max_bytes": 1000}) as memory:
        put(memory, b"one\n")
        with pytest.raises(WriteError, match="limit"):
            save(memory, "x" * 1001)
        assert held(memory) == b"one\n"


def test_a_name_that_not_every_system_can_use_is_refused(memory: Memory) -> None:
    with pytest.raises(PathError):
        memory.edit_note("memory/a:b.md", "text", "")


def test_a_full_disk_leaves_the_note_as_it_is(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    put(memory, b"one\n")
    note = memory.open_note(NOTE)

    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "no space left on device")

    monkeypatch.setattr(atomic, "_write_temporary", fail)
    with pytest.raises(WriteError, match="no space"):
        memory.edit_note(NOTE, "two\n", note.version)
    assert held(memory) == b"one\n"


def test_a_read_only_workspace_is_refused_in_words(memory: Memory) -> None:
    put(memory, b"one\n")
    code = f"""
import sys
from memlines import Memory, WriteError
with Memory(sys.argv[1], {WORDS_ONLY!r}) as memory:
    note = memory.open_note({NOTE!r})
    try:
        memory.edit_note({NOTE!r}, "two", note.version)
    except WriteError as error:
        print(note.text.strip(), error.code)
"""
    with read_only(memory.workspace.root):
        done = unprivileged_run(code, memory.workspace.root)
    assert (done.stdout.strip(), held(memory)) == ("one write", b"one\n"), done.stderr


# Forgotten


def test_what_was_forgotten_and_is_typed_again_is_wanted_again(memory: Memory) -> None:
    bury(memory.workspace, ["The kestrel nests in the old tower"])
    save(memory, "The kestrel nests in the old tower\n")
    assert not Forgotten.load(memory.workspace).drops("The kestrel nests in the old tower")


def test_what_was_forgotten_and_is_not_typed_stays_forgotten(memory: Memory) -> None:
    bury(memory.workspace, ["The kestrel nests in the old tower"])
    put(memory, b"The kestrel nests in the old tower\n\nother\n")
    save(memory, "The kestrel nests in the old tower\n\nanother\n")
    assert Forgotten.load(memory.workspace).drops("The kestrel nests in the old tower")
