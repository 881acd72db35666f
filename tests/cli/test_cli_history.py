"""Earlier versions of a note: listed, compared, brought back without what was forgotten."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memlines import Memory, PathError, WriteError
from memlines.files.notes import append
from memlines.files.tombstones import bury
from tests.note_changes import edit, remove_note
from tests.programs import Cli, Outcome

NOTE = "memory/topic.md"
SECRET = "the safe opens with four turns left"


@pytest.fixture
def memory(workspace: Path) -> Iterator[Memory]:
    (workspace / NOTE).write_text("- one\n", encoding="utf-8")
    with Memory(workspace) as opened:
        yield opened


def text_of(memory: Memory) -> str:
    return (memory.workspace.root / NOTE).read_text(encoding="utf-8")


def history(cli: Cli, memory: Memory, *arguments: str) -> Outcome:
    return cli("history", *arguments, "-w", memory.workspace.root)


def test_every_write_leaves_a_version(memory: Memory) -> None:
    append(memory.workspace, NOTE, "- two")
    edit(memory.workspace, NOTE, 1, 1, "- first", "- one")
    memory.remember("three", to=NOTE)
    assert [version.command for version in memory.history(NOTE)] == ["remember", "change", "change"]
    texts = [memory.read_version(NOTE, str(number)) for number in (1, 2, 3)]
    assert texts == ["- first\n- two\n", "- one\n- two\n", "- one\n"]


def test_an_end_that_you_changed_hides_no_kept_version(memory: Memory) -> None:
    edit(memory.workspace, NOTE, 1, 1, "- first", "- one")
    append(memory.workspace, NOTE, "- two")
    (memory.workspace.root / NOTE).write_text("- mine\n", encoding="utf-8")
    assert [memory.read_version(NOTE, version.name) for version in memory.history(NOTE)] == ["- one\n"]


def test_a_version_is_brought_back_and_the_present_text_is_one(memory: Memory) -> None:
    edit(memory.workspace, NOTE, 1, 1, "- first", "- one")
    restored = memory.restore_version(NOTE, "1")
    assert (text_of(memory), restored.change.before) == ("- one\n", "- first\n")
    assert memory.read_version(NOTE, "1") == "- first\n"
    assert memory.undo().command == "history --restore"
    assert text_of(memory) == "- first\n"


def test_a_note_in_the_trash_is_a_version(memory: Memory) -> None:
    remove_note(memory.workspace, NOTE)
    memory.restore_version(NOTE, "1")
    assert text_of(memory) == "- one\n"


def test_what_was_forgotten_stays_out_of_a_version(memory: Memory) -> None:
    (memory.workspace.root / NOTE).write_text(f"- one\n- {SECRET}\n", encoding="utf-8")
    edit(memory.workspace, NOTE, 1, 2, "- first", f"- one\n- {SECRET}")
    bury(memory.workspace, [SECRET])
    restored = memory.restore_version(NOTE, "1")
    assert (text_of(memory), restored.forgotten) == ("- one\n", (f"{NOTE}#L2",))


def test_what_was_forgotten_comes_back_if_you_say_so(memory: Memory) -> None:
    (memory.workspace.root / NOTE).write_text(f"- {SECRET}\n", encoding="utf-8")
    edit(memory.workspace, NOTE, 1, 1, "- first", f"- {SECRET}")
    bury(memory.workspace, [SECRET])
    with pytest.raises(WriteError, match=r"all of that version .* was forgotten"):
        memory.restore_version(NOTE, "1")
    memory.restore_version(NOTE, "1", with_forgotten=True)
    assert text_of(memory) == f"- {SECRET}\n"


def test_versions_of_a_forgotten_entry_do_not_hold_it(memory: Memory) -> None:
    (memory.workspace.root / NOTE).write_text(f"- one\n- {SECRET}\n", encoding="utf-8")
    edit(memory.workspace, NOTE, 1, 1, "- first", "- one")
    memory.forget(memory.forget_candidates(f"{NOTE}#L2"))
    assert [SECRET in memory.read_version(NOTE, one.name) for one in memory.history(NOTE)] == [False]


@pytest.mark.parametrize("version", ["0", "2", "-1", "none", "", "../../../MEMORY.md", "\uff11"])
def test_a_version_that_is_not_there(memory: Memory, version: str) -> None:
    append(memory.workspace, NOTE, "- two")
    with pytest.raises(PathError, match="has no version"):
        memory.restore_version(NOTE, version)
    assert text_of(memory) == "- one\n- two\n"


@pytest.mark.parametrize(
    "path", ["../x.md", "/etc/passwd", "notes.txt", ".memory/history/memory/topic.md", "sessions/a.jsonl"]
)
@pytest.mark.parametrize("options", [(), ("--diff",), ("--restore", "1")])
def test_only_notes_have_a_history(memory: Memory, cli: Cli, path: str, options: tuple[str, ...]) -> None:
    told = history(cli, memory, path, *options, "--json")
    assert (told.code, told.json["code"]) == (2, "path")


def test_a_note_that_is_not_there_is_an_error(memory: Memory, cli: Cli) -> None:
    outcome = history(cli, memory, "memory/other.md")
    assert (outcome.code, "there is no note 'memory/other.md'" in outcome.err) == (2, True)


def test_a_note_that_was_written_once_has_no_versions(memory: Memory, cli: Cli) -> None:
    memory.remember("Tea is in the blue tin", topic="other")
    assert history(cli, memory, "memory/other.md").out.startswith(
        "There is no earlier version of memory/other.md"
    )
    assert history(cli, memory, "memory/other.md", "--restore", "1").code == 2


def test_why_there_is_no_version_is_said(memory: Memory, cli: Cli) -> None:
    written = memory.remember("one", to="memory/other.md").path
    assert history(cli, memory, written).out.endswith(
        ": a first write has none before it, and your own edits keep none\n"
    )


def test_an_undo_names_a_newer_write_in_the_personal_memory(memory: Memory, cli: Cli) -> None:
    hint = "A newer write is in your personal memory: memlines undo --personal"
    for text in ("We chose Postgres", "Staging is on port 9090"):
        memory.remember(text)
    assert hint not in cli("undo", "-w", memory.workspace.root).err
    memory.remember("I drink tea", personal=True)
    assert hint in cli("undo", "-w", memory.workspace.root).err
    assert cli("undo", "--personal").code == 0


def test_the_list_of_versions(memory: Memory, cli: Cli) -> None:
    append(memory.workspace, NOTE, "- two")
    out = history(cli, memory, NOTE).out
    assert out.startswith("  1  2")
    assert out.endswith("6 bytes  before change\n")


def test_the_list_of_versions_as_json(memory: Memory, cli: Cli) -> None:
    append(memory.workspace, NOTE, "- two")
    (version,) = history(cli, memory, NOTE, "--json").json["versions"]
    assert memory.read_version(NOTE, version["name"]) == "- one\n"
    assert (version["size"], version["command"]) == (6, "change")


def test_the_difference_to_a_version(memory: Memory, cli: Cli) -> None:
    append(memory.workspace, NOTE, "- two")
    assert history(cli, memory, NOTE, "--diff").out == "  @@ -1 +1,2 @@\n   - one\n  +- two\n"
    assert "+- two" in history(cli, memory, NOTE, "--diff", "1", "--json").json["diff"]


def test_the_note_may_stand_behind_the_option(memory: Memory, cli: Cli) -> None:
    append(memory.workspace, NOTE, "- two")
    assert history(cli, memory, "--diff", NOTE).out == history(cli, memory, NOTE, "--diff").out


def test_restoring_shows_what_changed(memory: Memory, cli: Cli) -> None:
    append(memory.workspace, NOTE, "- two")
    told = history(cli, memory, NOTE, "--restore", "1", "--dry-run").out
    assert (told.startswith("Would be restored: 2"), text_of(memory)) == (True, "- one\n- two\n")
    assert "  -- two\n" in history(cli, memory, NOTE, "--restore", "1").out
    assert text_of(memory) == "- one\n"


def test_without_a_note_it_lists_what_was_written(memory: Memory, cli: Cli) -> None:
    memory.remember("two", to=NOTE)
    assert history(cli, memory).out.endswith(f"remember       {NOTE}\n")
    assert [one["paths"] for one in history(cli, memory, "--json").json["writes"]] == [[NOTE]]


@pytest.mark.parametrize(
    "options",
    [(NOTE, "--diff", "1", "--restore", "1"), ("--restore", "1"), ("--diff",), (NOTE, "--with-forgotten")],
)
def test_options_that_do_not_fit_together(memory: Memory, cli: Cli, options: tuple[str, ...]) -> None:
    assert history(cli, memory, *options).code == 2


def test_control_characters_do_not_reach_the_terminal(memory: Memory, cli: Cli) -> None:
    append(memory.workspace, NOTE, "- two \x1b[2J")
    assert "\x1b" not in history(cli, memory, NOTE, "--diff").out
