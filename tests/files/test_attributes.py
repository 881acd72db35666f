"""`memlines init --team` and doctor have git keep both sides of logs and facts, and nothing else changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from memlines.errors import WriteError
from memlines.files.attributes import ensure_union, lacks_union
from memlines.paths import Workspace
from tests.programs import Cli
from tests.repositories import git, make_repository

FACTS = "memory/facts.md"
LOGS = "memory/[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9].md merge=union\n"


def merged_by(folder: Path, path: str) -> str:
    """Return how git says that it merges a file."""
    return git(folder, "check-attr", "-z", "merge", "--", path).stdout.split("\0")[2]


def content(folder: Path) -> bytes:
    return (folder / ".gitattributes").read_bytes()


@pytest.mark.parametrize("path", ["memory/2026-11-16.md", FACTS])
def test_logs_and_facts_are_merged_by_union(workspace: Path, path: str) -> None:
    ensure_union(Workspace.at(workspace), FACTS)
    assert merged_by(make_repository(workspace), path) == "union"


@pytest.mark.parametrize(
    "path", ["MEMORY.md", "memory/tea.md", "memory/abcd-ef-gh.md", "memory/a/2026-11-16.md", "2026-11-16.md"]
)
def test_other_notes_are_merged_as_usual(workspace: Path, path: str) -> None:
    ensure_union(Workspace.at(workspace), FACTS)
    assert merged_by(make_repository(workspace), path) == "unspecified"


@pytest.mark.parametrize("name", ["my facts.md", "a[b]*.md", 'a"b.md', "a\\b.md", "Fakten-ä.md"])
def test_a_note_of_facts_with_an_odd_name_is_meant_exactly(workspace: Path, name: str) -> None:
    ensure_union(Workspace.at(workspace), f"memory/{name}")
    make_repository(workspace)
    assert merged_by(workspace, f"memory/{name}") == "union"
    assert merged_by(workspace, "memory/ab.md") == "unspecified"


def test_a_workspace_below_the_root_of_a_repository_has_its_own(tmp_path: Path) -> None:
    make_repository(tmp_path)
    notes = tmp_path / "docs" / "notes"
    (notes / "memory").mkdir(parents=True)
    ensure_union(Workspace.at(notes), FACTS)
    assert merged_by(tmp_path, "docs/notes/memory/2026-11-16.md") == "union"


@pytest.mark.parametrize(
    ("before", "end"),
    [
        (b"*.png binary\n", b"\n"),
        (b"*.png binary", b"\n"),
        (b"*.png binary\r\n# x\r\n", b"\r\n"),
        (b"", b"\n"),
    ],
)
def test_what_is_there_stays_byte_for_byte(workspace: Path, before: bytes, end: bytes) -> None:
    (workspace / ".gitattributes").write_bytes(before)
    ensure_union(Workspace.at(workspace), FACTS)
    added = content(workspace).removeprefix(before)
    assert content(workspace).startswith(before)
    assert added.endswith(LOGS.encode().replace(b"\n", end) + b"memory/facts.md merge=union" + end)
    assert merged_by(make_repository(workspace), FACTS) == "union"


def test_a_second_time_changes_nothing(workspace: Path) -> None:
    ensure_union(Workspace.at(workspace), FACTS)
    before = content(workspace)
    assert (ensure_union(Workspace.at(workspace), FACTS), content(workspace)) == (False, before)


def test_lines_that_a_person_wrote_are_enough(workspace: Path) -> None:
    text = f"{LOGS}memory/facts.md merge=union\n".encode()
    (workspace / ".gitattributes").write_bytes(text)
    assert (ensure_union(Workspace.at(workspace), FACTS), content(workspace)) == (False, text)


def test_only_what_is_missing_is_added(workspace: Path) -> None:
    ensure_union(Workspace.at(workspace), FACTS)
    before = content(workspace)
    ensure_union(Workspace.at(workspace), "memory/known.md")
    assert content(workspace) == before + b"memory/known.md merge=union\n"


def test_a_link_is_not_followed(workspace: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("", encoding="utf-8")
    (workspace / ".gitattributes").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(WriteError, match="symbolic link"):
        ensure_union(Workspace.at(workspace), FACTS)
    assert (tmp_path / "elsewhere").read_bytes() == b""


def test_a_folder_in_its_place_is_refused(workspace: Path) -> None:
    (workspace / ".gitattributes").mkdir()
    with pytest.raises(WriteError, match=r"\.gitattributes"):
        ensure_union(Workspace.at(workspace), FACTS)


@pytest.mark.parametrize("before", [b"# caf\xe9\n", "*.png binary\n".encode("utf-16")])
def test_a_file_that_is_not_utf_8_is_refused_and_stays(workspace: Path, before: bytes) -> None:
    (workspace / ".gitattributes").write_bytes(before)
    with pytest.raises(WriteError, match="not UTF-8"):
        ensure_union(Workspace.at(workspace), FACTS)
    assert content(workspace) == before


def test_a_choice_of_the_user_is_not_called_missing(workspace: Path) -> None:
    make_repository(workspace)
    (workspace / ".gitattributes").write_text("memory/*.md merge=binary\n", encoding="utf-8")
    assert lacks_union(Workspace.at(workspace), FACTS) == []


# The command


def test_init_writes_it_only_for_a_team(workspace: Path, cli: Cli) -> None:
    cli("init", workspace)
    assert not (workspace / ".gitattributes").exists()
    assert cli("init", workspace, "--team", "--json").json["made"] == [".gitattributes"]
    assert cli("init", workspace, "--team", "--json").json["made"] == []


def test_init_says_for_a_team_that_there_is_no_repository_yet(workspace: Path, cli: Cli) -> None:
    assert "no git repository" not in cli("init", workspace).out
    assert "There is no git repository here yet" in cli("init", workspace, "--team").out
    make_repository(workspace)
    assert "no git repository" not in cli("init", workspace, "--team").out


def test_init_takes_the_note_that_the_settings_name(
    workspace: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMLINES_FACTS__FILE", "memory/known.md")
    cli("init", workspace, "--team")
    assert b"\nmemory/known.md merge=union\n" in content(workspace)


def test_a_link_is_an_error_of_the_command(workspace: Path, cli: Cli) -> None:
    (workspace / ".gitattributes").symlink_to("nowhere")
    done = cli("init", workspace, "--team")
    assert (done.code, "symbolic link" in done.err) == (7, True)
