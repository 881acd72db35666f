"""`memlines import SOURCE` on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.admin.backups import export as export_archive
from tests.admin.backups import fill, tree
from tests.programs import Cli

SOURCES = ("archive", "basic-memory", "chatgpt", "markdown", "mem0", "obsidian", "openclaw")


@pytest.fixture
def mem0(tmp_path: Path) -> Path:
    file = tmp_path / "mem0.json"
    file.write_text(json.dumps([{"id": "a", "memory": "Prefers tea"}]), encoding="utf-8")
    return file


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    return fill(tmp_path / "vault", {"a.md": b"Note", "b.png": b"x"})


def test_the_help_names_every_source(cli: Cli) -> None:
    out = cli("import", "--help").out
    assert all(f"\n  {source} " in out for source in SOURCES)


def test_a_file_is_an_archive(cli: Cli, workspace: Path, tmp_path: Path) -> None:
    export_archive(fill(tmp_path / "notes", {"MEMORY.md": b"x"}), tmp_path / "notes.zip")
    assert cli("import", tmp_path / "notes.zip", "-w", workspace).code == 0
    assert tree(workspace) == {"MEMORY.md": b"x"}


def test_options_may_come_before_an_archive(cli: Cli, workspace: Path, tmp_path: Path) -> None:
    export_archive(fill(tmp_path / "notes", {"MEMORY.md": b"x"}), tmp_path / "notes.zip")
    assert cli("import", "--dry-run", "-w", workspace, tmp_path / "notes.zip").out.startswith(
        "Would be: 1 created"
    )


def test_a_file_with_the_name_of_a_source_is_told_apart(
    cli: Cli, workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    export_archive(fill(tmp_path / "notes", {"MEMORY.md": b"x"}), tmp_path / "mem0")
    outcome = cli("import", "mem0")
    assert (outcome.code, "write ./mem0" in outcome.err) == (2, True)
    assert cli("import", "./mem0", "-w", workspace).code == 0


@pytest.mark.parametrize("name", ["mem0.json", "vault"])
def test_without_the_name_of_its_program_an_export_is_no_archive(
    cli: Cli, workspace: Path, tmp_path: Path, name: str
) -> None:
    exported = fill(tmp_path / "exported", {"mem0.json": b"[]", "vault/note.md": b"x"})
    outcome = cli("import", exported / name, "-w", workspace)
    assert outcome.code == 8
    assert f"{name}' is not an archive of 'memlines export'; nothing was changed" in outcome.err
    assert "memlines import mem0 mem0.json" in outcome.err
    assert tree(workspace) == {}


def test_memories_are_counted(cli: Cli, workspace: Path, mem0: Path) -> None:
    assert cli("import", "mem0", mem0, "-w", workspace).out.startswith("Memories: 1 added\n")
    assert cli("import", "mem0", mem0, "-w", workspace).out == "Memories: 0 added, 1 already there\n"


def test_the_json_of_memories_is_stable(cli: Cli, workspace: Path, mem0: Path) -> None:
    assert cli("import", "mem0", mem0, "-w", workspace, "--json").json == {
        "file": str(mem0),
        "added": 1,
        "known": 0,
        "forgotten": 0,
        "unusable": 0,
        "redacted": {},
        "paths": ["memory/imported/mem0.md"],
        "skipped": 0,
        "dry_run": False,
    }


def test_the_json_of_conversations_is_stable(cli: Cli, workspace: Path, tmp_path: Path) -> None:
    file = tmp_path / "conversations.json"
    said = {"author": {"role": "user"}, "content": {"content_type": "text", "parts": ["Hello"]}}
    file.write_text(json.dumps([{"id": "x", "mapping": {"a": {"message": said}}}]), encoding="utf-8")
    told = cli("import", "chatgpt", file, "-w", workspace, "--json").json
    assert list(told) == [
        *("file", "imported", "replaced", "same", "left_out", "skipped", "redacted", "memories", "dry_run"),
    ]
    assert told["imported"] == 1


def test_conversations_that_are_not_searched_are_told(cli: Cli, workspace: Path, tmp_path: Path) -> None:
    file = tmp_path / "conversations.json"
    file.write_text("[]", encoding="utf-8")
    assert "not searched yet" in cli("import", "chatgpt", file, "-w", workspace).err


@pytest.mark.parametrize("source", ["obsidian", "basic-memory", "markdown"])
def test_a_folder_is_copied(cli: Cli, workspace: Path, vault: Path, source: str) -> None:
    outcome = cli("import", source, vault, "-w", workspace)
    assert (outcome.code, tree(workspace)) == (0, {"memory/vault/a.md": b"Note"})
    assert "Not copied: 1 attachment" in outcome.out


def test_the_json_of_a_folder_is_stable(cli: Cli, workspace: Path, vault: Path) -> None:
    assert cli("import", "obsidian", vault, "--name", "notes", "-w", workspace, "--json").json == {
        "folder": str(vault),
        "below": "memory/notes",
        "created": ["memory/notes/a.md"],
        "kept_both": [],
        "same": 0,
        "attachments": 1,
        "left_out": [],
        "failed": [],
        "forgotten": [],
        "unchecked": [],
        "dry_run": False,
    }


def test_a_folder_can_be_linked_instead(cli: Cli, workspace: Path, vault: Path) -> None:
    told = cli("import", "obsidian", vault, "--link", "-w", workspace)
    assert f'extra_paths:\n  - "{vault}"\n' in told.out
    assert tree(workspace) == {}


def test_a_linked_folder_is_added_to_those_that_are_set(
    cli: Cli, workspace: Path, vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMLINES_EXTRA_PATHS", "/elsewhere")
    told = cli("import", "obsidian", vault, "--link", "--json", "-w", workspace).json
    assert told == {"setting": "extra_paths", "value": ["/elsewhere", str(vault)]}


def test_a_memory_that_is_switched_off_takes_nothing(
    cli: Cli, workspace: Path, mem0: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMLINES_ENABLED", "false")
    assert cli("import", "mem0", mem0, "-w", workspace).code == 10


def test_an_agent_of_openclaw_that_is_not_there_is_told(cli: Cli, workspace: Path, tmp_path: Path) -> None:
    outcome = cli("import", "openclaw", "--state-dir", tmp_path, "-w", workspace)
    assert (outcome.code, "no memory of the agent" in outcome.err) == (2, True)
