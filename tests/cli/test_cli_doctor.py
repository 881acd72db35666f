"""`memlines doctor` in words and in JSON, with exit codes to rely on."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.indexes import hashes, index_file, notes, sync, write
from tests.programs import Cli, program

FINDING = {"check", "level", "message", "todo", "repair"}


@pytest.fixture
def synced(workspace: Path) -> Path:
    """A workspace whose index equals its notes."""
    write(workspace, notes(3))
    sync(workspace)
    return workspace


def damage(workspace: Path) -> None:
    os.truncate(index_file(workspace), 5000)


def test_a_healthy_memory_exits_with_0(cli: Cli, synced: Path) -> None:
    done = cli("doctor", "-w", synced)
    assert (done.code, done.err) == (0, "")
    assert done.out.endswith("Nothing is wrong.\n")


def test_every_line_begins_with_its_level_and_its_check(cli: Cli, synced: Path) -> None:
    first, *_ = cli("doctor", "-w", synced).out.splitlines()
    assert first.split()[:2] == ["ok", "workspace"]


def test_a_warning_alone_exits_with_0(cli: Cli, synced: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMLINES_SYNC__ON_SEARCH", "false")
    write(synced, {"memory/new.md": "just came\n"})
    done = cli("doctor", "-w", synced)
    assert done.code == 0
    assert "warning  files      not in the index yet: memory/new.md. Run 'memlines sync'" in done.out
    assert done.out.endswith("0 problems, 1 warning\n")


def test_a_problem_exits_with_1_and_says_that_it_can_be_repaired(cli: Cli, synced: Path) -> None:
    damage(synced)
    done = cli("doctor", "-w", synced)
    assert done.code == 1
    (line,) = [line for line in done.out.splitlines() if line.startswith("problem")]
    assert line.endswith("(--repair does)")


@pytest.mark.promise("P4")
def test_a_repaired_memory_exits_with_0_and_says_what_was_done(cli: Cli, synced: Path) -> None:
    damage(synced)
    done = cli("doctor", "--repair", "-w", synced)
    assert done.code == 0
    assert done.out.startswith("repaired rebuild    rebuilt the index: 3 indexed, 0 removed, 0 failed")


@pytest.mark.promise("P4")
def test_repair_touches_no_note(cli: Cli, synced: Path) -> None:
    before = hashes(synced)
    damage(synced)
    cli("doctor", "--repair", "--clean", "--deep", "-w", synced)
    assert hashes(synced) == before


def test_a_problem_that_is_left_exits_with_1(cli: Cli, synced: Path) -> None:
    (synced / ".memory" / "config.yaml").write_text("a: [", encoding="utf-8")
    damage(synced)
    done = cli("doctor", "--repair", "-w", synced)
    assert done.code == 1
    assert done.out.startswith("failed   rebuild")


def test_what_was_set_aside_is_deleted_on_request(cli: Cli, synced: Path) -> None:
    damage(synced)
    assert "(--repair --clean does)" in cli("doctor", "--repair", "-w", synced).out
    assert cli("doctor", "--repair", "--clean", "-w", synced).out.endswith("Nothing is wrong.\n")


def test_cleaning_without_repair_is_refused(cli: Cli, synced: Path) -> None:
    assert cli("doctor", "--clean", "-w", synced).code == 2


def test_json_has_stable_fields(cli: Cli, synced: Path) -> None:
    shown = cli("doctor", "--json", "-w", synced).json
    assert set(shown) == {
        "healthy", "problems", "warnings", "workspace", "index_path", "findings", "repairs",
    }  # fmt: skip
    assert (shown["healthy"], shown["problems"], shown["warnings"]) == (True, 0, 0)
    assert all(set(finding) == FINDING for finding in shown["findings"])


def test_json_says_what_was_repaired(cli: Cli, synced: Path) -> None:
    damage(synced)
    shown = cli("doctor", "--json", "--repair", "-w", synced).json
    (done,) = shown["repairs"]
    assert (done["repair"], done["done"], set(done)) == ("rebuild", True, {"repair", "done", "message"})


def test_a_workspace_that_is_not_there_exits_with_its_error(cli: Cli, tmp_path: Path) -> None:
    assert cli("doctor", "-w", tmp_path / "nowhere").code == 4


def test_many_findings_alike_are_cut_in_words_and_all_in_json(cli: Cli, synced: Path) -> None:
    for number in range(25):
        (synced / "memory" / f"link{number}.md").symlink_to("n1.md")
    assert "warning  skipped    and 5 more (--json lists all)" in cli("doctor", "-w", synced).out
    shown = cli("doctor", "--json", "-w", synced).json
    assert sum(finding["check"] == "skipped" for finding in shown["findings"]) == 25


def test_a_name_cannot_command_the_terminal(cli: Cli, synced: Path) -> None:
    (synced / "memory" / "a\x1b[31mb.md").symlink_to("n1.md")
    assert "\x1b" not in cli("doctor", "-w", synced).out


def test_a_pipe_gets_no_colours(synced: Path) -> None:
    done = program("doctor", "-w", synced)
    assert done.returncode == 0
    assert b"\x1b" not in done.stdout


@pytest.mark.parametrize("command", ["search own1", "sync", "sync --force", "doctor --repair"])
@pytest.mark.promise("P4")
def test_each_command_heals_a_damaged_index_with_the_default_provider(
    cli: Cli, synced: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.delenv("MEMLINES_EMBEDDINGS__PROVIDER")
    damage(synced)
    healing = cli(*command.split(), "-w", synced)
    assert (healing.code, cli("doctor", "-w", synced).code) == (0, 0)
