"""What was written last is taken back, brought back, and nothing that another wrote goes with it."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memlines import AsyncMemory, Memory, UsageError, WriteError
from memlines.files import journal, trash
from memlines.files.notes import append
from memlines.files.tombstones import bury
from memlines.memory.notes.undo import undo
from memlines.paths import Workspace
from tests.note_changes import delete, edit, remove_note
from tests.programs import Cli

pytestmark = pytest.mark.promise("P2")

NOTE = "memory/topic.md"
NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)


@pytest.fixture
def memory(workspace: Path) -> Iterator[Memory]:
    with Memory(workspace) as opened:
        yield opened


def text_of(memory: Memory, path: str = NOTE) -> str | None:
    file = memory.workspace.root / path
    return file.read_text(encoding="utf-8") if file.exists() else None


def write(memory: Memory, text: str, path: str = NOTE) -> None:
    (memory.workspace.root / path).write_text(text, encoding="utf-8")


def remember(memory: Memory, text: str, path: str = NOTE) -> None:
    memory.remember(text, to=path, now=NOW)


def test_a_remembered_entry_is_taken_back_to_the_byte(memory: Memory) -> None:
    write(memory, "# T\r\n\r\n- mine")
    remember(memory, "yours")
    undone = memory.undo()
    assert (text_of(memory), undone.command) == ("# T\n\n- mine", "remember")
    assert (memory.workspace.root / NOTE).read_bytes() == b"# T\r\n\r\n- mine"


def test_a_note_that_was_made_goes_to_the_trash(memory: Memory) -> None:
    remember(memory, "yours")
    (change,) = memory.undo().changes
    assert (text_of(memory), change.after) == (None, None)
    assert [item.path for item in trash.items(memory.workspace)] == [NOTE]


def test_undo_goes_back_step_by_step(memory: Memory) -> None:
    write(memory, "- a\n")
    remember(memory, "b")
    remember(memory, "c")
    memory.undo()
    memory.undo()
    assert text_of(memory) == "- a\n"
    with pytest.raises(UsageError, match="there is nothing to undo"):
        memory.undo()


def test_redo_brings_back_step_by_step(memory: Memory) -> None:
    remember(memory, "b")
    remember(memory, "c")
    both = text_of(memory)
    memory.undo()
    memory.undo()
    memory.undo(redo=True)
    assert memory.undo(redo=True).command == "remember"
    assert text_of(memory) == both
    with pytest.raises(UsageError, match="there is nothing to redo"):
        memory.undo(redo=True)


def test_what_was_brought_back_can_be_taken_back_again(memory: Memory) -> None:
    write(memory, "- a\n")
    remember(memory, "b")
    memory.undo()
    memory.undo(redo=True)
    memory.undo()
    assert text_of(memory) == "- a\n"


def test_after_a_new_write_there_is_nothing_to_bring_back(memory: Memory) -> None:
    write(memory, "- a\n")
    remember(memory, "b")
    memory.undo()
    remember(memory, "c")
    with pytest.raises(UsageError, match="there is nothing to redo"):
        memory.undo(redo=True)


def test_what_you_wrote_since_stays(memory: Memory) -> None:
    write(memory, "# T\n\n- a\n")
    remember(memory, "b")
    write(memory, f"# T\n\n- before\n{(text_of(memory) or '').removeprefix('# T')}- mine\n")
    memory.undo()
    assert text_of(memory) == "# T\n\n- before\n\n\n- a\n- mine\n"


def test_the_title_of_a_new_note_stays_for_what_you_added(memory: Memory) -> None:
    remember(memory, "b")
    write(memory, f"{text_of(memory)}- mine\n")
    memory.undo()
    assert text_of(memory) == "# topic\n\n- mine\n"


def test_lines_that_were_replaced_come_back_among_what_you_changed(memory: Memory) -> None:
    write(memory, "- a\n- b\n- c\n")
    edit(memory.workspace, NOTE, 2, 2, "- x", "- b")
    write(memory, "- first\n- a\n- x\n- c\n- last\n")
    memory.undo()
    assert text_of(memory) == "- first\n- a\n- b\n- c\n- last\n"


def test_lines_that_you_changed_are_not_taken_back(memory: Memory) -> None:
    write(memory, "- a\n")
    remember(memory, "b")
    write(memory, (text_of(memory) or "").replace(": b", ": b, as I see it"))
    before = text_of(memory)
    with pytest.raises(WriteError, match="was changed after 'remember' wrote to it") as error:
        memory.undo()
    assert (text_of(memory), error.value.todo.endswith(f"memlines history {NOTE}")) == (before, True)


def test_lines_that_stand_there_twice_by_now_are_not_taken_back(memory: Memory) -> None:
    write(memory, "- a\n")
    append(memory.workspace, NOTE, "- b")
    write(memory, "- b\n- a\n- b\n- a\n- b\n")
    with pytest.raises(WriteError, match="was changed after"):
        memory.undo()


def test_a_deletion_is_taken_back(memory: Memory) -> None:
    write(memory, "- a\n- b\n")
    delete(memory.workspace, NOTE, 1, 1, "- a")
    memory.undo()
    assert text_of(memory) == "- a\n- b\n"


def test_a_removed_note_comes_back_with_its_permissions(memory: Memory) -> None:
    write(memory, "- a\n")
    (memory.workspace.root / NOTE).chmod(0o640)
    remove_note(memory.workspace, NOTE)
    memory.undo()
    assert ((memory.workspace.root / NOTE).stat().st_mode & 0o777, text_of(memory)) == (0o640, "- a\n")


def test_a_removed_note_does_not_overwrite_the_one_in_its_place(memory: Memory) -> None:
    write(memory, "- a\n")
    remove_note(memory.workspace, NOTE)
    write(memory, "- other\n")
    with pytest.raises(WriteError, match="was changed after"):
        memory.undo()
    assert text_of(memory) == "- other\n"


def test_what_one_call_wrote_to_several_notes_goes_as_one(memory: Memory) -> None:
    days = [datetime(2026, 11, day, 12, tzinfo=UTC) for day in (14, 15)]
    memory.remember_all([("the first day", days[0]), ("the second day", days[1])], session="s1")
    undone = memory.undo()
    assert sorted(change.path for change in undone.changes) == [
        "memory/2026-11-14.md",
        "memory/2026-11-15.md",
    ]
    assert list((memory.workspace.root / "memory").glob("*.md")) == []


def test_one_note_of_several_that_cannot_be_taken_back_leaves_all_as_they_are(memory: Memory) -> None:
    days = [datetime(2026, 11, day, 12, tzinfo=UTC) for day in (14, 15)]
    memory.remember_all([("the first day", days[0]), ("the second day", days[1])])
    write(memory, "something else\n", "memory/2026-11-14.md")
    with pytest.raises(WriteError, match=r"'memory/2026-11-14.md' was changed"):
        memory.undo()
    assert "the second day" in (text_of(memory, "memory/2026-11-15.md") or "")


def test_a_move_within_the_notes_is_one_operation(memory: Memory) -> None:
    write(memory, "- a\n- b\n")
    with journal.operation("move"):
        append(memory.workspace, "MEMORY.md", "- a")
        delete(memory.workspace, NOTE, 1, 1, "- a")
    memory.undo()
    assert (text_of(memory), text_of(memory, "MEMORY.md")) == ("- a\n- b\n", None)


def test_a_stored_fact_and_the_one_it_replaced_are_as_before(memory: Memory) -> None:
    memory.facts.store("The user lives in Paris", category="fact")
    before = text_of(memory, "memory/facts.md")
    stored = memory.facts.store("The user lives in Berlin", category="fact")
    assert stored.action == "superseded"
    assert memory.undo().command == "facts store"
    assert text_of(memory, "memory/facts.md") == before
    assert [one.fact.text for one in memory.facts.list()] == ["The user lives in Paris"]


def test_what_was_taken_back_is_not_found(memory: Memory) -> None:
    write(memory, "- a stable of horses\n")
    remember(memory, "the zeppelin hangar is rented out")
    assert memory.search("zeppelin hangar").hits
    memory.undo()
    assert not memory.search("zeppelin hangar", mode="words").hits


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such files")
@pytest.mark.parametrize("dry_run", [True, False])
def test_a_note_that_became_a_pipe_is_refused(memory: Memory, dry_run: bool) -> None:
    remember(memory, "b")
    (memory.workspace.root / NOTE).unlink()
    os.mkfifo(memory.workspace.root / NOTE)
    with pytest.raises((UsageError, WriteError), match="not a regular file"):
        memory.undo(dry_run=dry_run)


def test_a_note_that_is_blank_by_now_is_left_alone(memory: Memory) -> None:
    remember(memory, "b")
    write(memory, "")
    with pytest.raises(WriteError, match="was changed after"):
        memory.undo()


def test_a_dry_run_changes_nothing(memory: Memory) -> None:
    remember(memory, "b")
    before = text_of(memory)
    assert "-- 2026-11-16: b" in memory.undo(dry_run=True).changes[0].diff
    assert text_of(memory) == before


def test_forgetting_cannot_be_taken_back_nor_what_was_done_before(memory: Memory) -> None:
    remember(memory, "the spare key is under the third flower pot")
    remember(memory, "the other thing that stays here")
    memory.forget(memory.forget_candidates(f"{NOTE}#L3"))
    with pytest.raises(UsageError, match="to forget something, and that is for good"):
        memory.undo()
    assert "flower pot" not in "".join(
        path.read_text(encoding="utf-8", errors="replace")
        for path in memory.workspace.root.rglob("*")
        if path.is_file() and path.suffix in (".md", ".jsonl")
    )


def test_after_forgetting_new_writes_are_taken_back_as_ever(memory: Memory) -> None:
    remember(memory, "the spare key is under the third flower pot")
    memory.forget(memory.forget_candidates(f"{NOTE}#L3"))
    before = text_of(memory)
    remember(memory, "something new")
    memory.undo()
    assert text_of(memory) == before


def test_what_was_forgotten_elsewhere_does_not_come_back(memory: Memory) -> None:
    write(memory, "- the safe opens with four turns left\n- b\n")
    delete(memory.workspace, NOTE, 1, 1, "- the safe opens with four turns left")
    edit(memory.workspace, NOTE, 1, 1, "- c", "- b")
    bury(memory.workspace, ["the safe opens with four turns left"])
    memory.undo()
    undone = memory.undo()
    assert (text_of(memory), undone.forgotten) == ("- b\n", (f"{NOTE}#L1",))


def test_a_forgotten_text_that_you_wrote_again_stays_through_an_undo(memory: Memory) -> None:
    write(memory, "- the safe opens with four turns left\n")
    bury(memory.workspace, ["the safe opens with four turns left"])
    remember(memory, "something new")
    memory.undo()
    assert text_of(memory) == "- the safe opens with four turns left\n"


def test_an_imported_archive_is_taken_back_as_one(memory: Memory, cli: Cli, tmp_path: Path) -> None:
    other = tmp_path / "other"
    (other / "memory").mkdir(parents=True)
    for name in ("a", "b"):
        (other / f"memory/{name}.md").write_text(f"- {name}\n", encoding="utf-8")
    archive = tmp_path / "a.zip"
    cli("export", archive, "-w", other)
    cli("import", archive, "-w", memory.workspace.root)
    assert text_of(memory, "memory/b.md") == "- b\n"
    assert memory.undo().command == "import"
    assert list((memory.workspace.root / "memory").glob("*.md")) == []


def test_the_list_of_writes_is_bounded(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "MAX_BYTES", 4_000)
    for number in range(100):
        append(memory.workspace, NOTE, f"- {number}")
    assert (memory.workspace.private / journal.FILE_NAME).stat().st_size <= 4_500
    for _ in range(4):  # its newest half is kept, not only the last line
        memory.undo()
    assert (text_of(memory) or "").endswith("- 95\n")


@pytest.mark.parametrize("line", ["{", "[]", '{"op": 3}', '{"op": "x", "path": 1}', "\0\0", '{"path": "a"}'])
def test_damaged_lines_of_the_list_are_passed_over(memory: Memory, line: str) -> None:
    write(memory, "- a\n")
    append(memory.workspace, NOTE, "- b")
    with (memory.workspace.private / journal.FILE_NAME).open("a", encoding="utf-8") as stream:
        stream.write(f"\n{line}")
    append(memory.workspace, NOTE, "- c")
    memory.undo()
    memory.undo()
    assert text_of(memory) == "- a\n"


@pytest.mark.parametrize("path", ["../outside.md", "/etc/passwd", ".memory/config.yaml", "sessions/a.jsonl"])
def test_a_list_that_somebody_changed_reaches_no_other_file(memory: Memory, path: str) -> None:
    write(memory, "- a\n")
    append(memory.workspace, NOTE, "- b")
    file = memory.workspace.private / journal.FILE_NAME
    file.write_text(file.read_text(encoding="utf-8").replace(NOTE, path), encoding="utf-8")
    with pytest.raises(UsageError, match="is not a note that may be written"):
        memory.undo()


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_a_note_that_became_a_link_is_refused(memory: Memory, tmp_path: Path) -> None:
    append(memory.workspace, NOTE, "- b")
    outside = tmp_path / "outside.md"
    (memory.workspace.root / NOTE).rename(outside)
    (memory.workspace.root / NOTE).symlink_to(outside)
    with pytest.raises(UsageError, match="symbolic link"):
        memory.undo()
    assert outside.exists()


def test_a_write_that_was_killed_before_it_happened_is_passed_over(memory: Memory) -> None:
    write(memory, "- a\n")
    append(memory.workspace, NOTE, "- b")
    with journal.operation("remember"):
        state = journal.FileState.of((text_of(memory) or "").encode())
        journal.record(memory.workspace, NOTE, state, journal.FileState(1, "never"))
    assert memory.undo().changes == ()
    memory.undo()
    assert text_of(memory) == "- a\n"


def test_an_undo_that_was_cut_short_is_finished_by_the_next(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    days = [datetime(2026, 11, day, 12, tzinfo=UTC) for day in (13, 14, 15)]
    memory.remember_all([(f"what happened on day {day.day}", day) for day in days])
    put, calls = trash.put, 0

    def killed_at_the_second(*arguments: object) -> object:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise KeyboardInterrupt
        return put(*arguments)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(trash, "put", killed_at_the_second)
        with pytest.raises(KeyboardInterrupt):
            memory.undo()
    assert len(list((memory.workspace.root / "memory").glob("*.md"))) == 2
    memory.undo()
    assert list((memory.workspace.root / "memory").glob("*.md")) == []
    memory.undo(redo=True)
    assert len(list((memory.workspace.root / "memory").glob("*.md"))) == 3


UNDO_UNTIL_KILLED = """
import sys
from memlines.paths import Workspace
from memlines.memory.notes.undo import undo
home = Workspace.at(sys.argv[1])
while True:
    undo(home)
    print("undone", flush=True)
    undo(home, redo=True)
    print("redone", flush=True)
"""


def test_a_kill_during_an_undo_leaves_the_old_note_or_the_new_one(memory: Memory) -> None:
    write(memory, "- a\n- b\n")
    home = memory.workspace
    edit(home, NOTE, 2, 2, "- x\n- y", "- b")
    for run in range(8):
        with subprocess.Popen(
            [sys.executable, "-c", UNDO_UNTIL_KILLED, str(home.root)],
            stdout=subprocess.PIPE,
            encoding="utf-8",
        ) as process:
            assert process.stdout is not None
            for _ in range(1 + run):
                process.stdout.readline()
            process.kill()
        assert text_of(memory) in ("- a\n- b\n", "- a\n- x\n- y\n")
        finish(home)
        assert text_of(memory) == "- a\n- x\n- y\n"


def finish(home: Workspace) -> None:
    """Bring the edit back, whichever step was killed."""
    for redo in (True, False, True):
        if (home.root / NOTE).read_text(encoding="utf-8") == "- a\n- x\n- y\n":
            return
        try:
            undo(home, redo=redo)
        except UsageError:
            continue


def test_two_programs_that_take_back_at_once_take_back_two_writes(memory: Memory) -> None:
    write(memory, "- a\n")
    for number in range(4):
        append(memory.workspace, NOTE, f"- {number}")
    code = "import sys; from memlines.paths import Workspace; from memlines.memory.notes.undo import undo; "
    code += "undo(Workspace.at(sys.argv[1]))"
    crowd = [subprocess.Popen([sys.executable, "-c", code, str(memory.workspace.root)]) for _ in range(3)]
    assert [process.wait() for process in crowd] == [0, 0, 0]
    assert text_of(memory) == "- a\n- 0\n"


def test_the_async_memory_takes_back_too(workspace: Path) -> None:
    async def go() -> tuple[str, int]:
        async with AsyncMemory(workspace) as memory:
            await memory.remember("b", to=NOTE)
            count = len(await memory.writes())
            return (await memory.undo()).command, count

    assert asyncio.run(go()) == ("remember", 1)


def test_undo_of_the_command_line_shows_what_went(memory: Memory, cli: Cli) -> None:
    write(memory, "- a\n")
    remember(memory, "b")
    told = cli("undo", "-w", memory.workspace.root).out
    assert told.startswith("Took back: remember, 2")
    assert "  -- 2026-11-16: b\n" in told
    assert told.endswith("'memlines undo --redo' brings it back.\n")


def test_undo_as_json(memory: Memory, cli: Cli) -> None:
    write(memory, "- a\n")
    remember(memory, "b")
    told = cli("undo", "--json", "-w", memory.workspace.root).json
    assert (told["command"], told["redo"], told["forgotten"]) == ("remember", False, [])
    assert [(one["path"], one["removed"]) for one in told["changes"]] == [(NOTE, False)]


def test_nothing_to_undo_is_an_error(memory: Memory, cli: Cli) -> None:
    told = cli("undo", "--json", "-w", memory.workspace.root)
    assert (told.code, told.json["code"]) == (2, "usage")
