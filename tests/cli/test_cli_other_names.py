"""The names that OpenClaw has for commands and options: they work, and no help shows them."""

from __future__ import annotations

from pathlib import Path

import pytest

from memlines.cli.main import COMMANDS, OTHER_NAMES
from tests.indexes import write
from tests.programs import Cli

NOTES = {"memory/a.md": "# Birds\n\n- The kestrel nests in the tower\n", "memory/b.md": "- The heron waits\n"}


@pytest.fixture
def notes(workspace: Path) -> Path:
    write(workspace, NOTES)
    return workspace


@pytest.mark.parametrize("words", [("memory", "index"), ("index",), ("memory", "sync")])
def test_index_is_sync(cli: Cli, notes: Path, words: tuple[str, ...]) -> None:
    assert cli(*words, "-w", notes, "--json").json["indexed"] == ["memory/a.md", "memory/b.md"]


def test_index_can_be_forced(cli: Cli, notes: Path) -> None:
    cli("sync", "-w", notes)
    assert "2 indexed, 0 unchanged" in cli("memory", "index", "--force", "-w", notes).out


def test_a_verbose_index_names_every_file(cli: Cli, notes: Path) -> None:
    cli("sync", "-w", notes)
    (notes / "memory/a.md").unlink()
    write(notes, {"memory/b.md": "- The heron left\n"})
    assert cli("memory", "index", "--verbose", "-w", notes).out.splitlines() == [
        "1 indexed, 0 unchanged, 1 removed",
        "  indexed memory/b.md",
        "  removed memory/a.md",
    ]


@pytest.mark.parametrize("words", [("--query", "kestrel"), ("heron", "--query", "kestrel"), ("kestrel",)])
def test_a_query_may_be_an_option_and_then_counts_alone(
    cli: Cli, notes: Path, words: tuple[str, ...]
) -> None:
    limits = ("--max-results", "3", "--min-score", "0.2")
    found = cli("memory", "search", *words, *limits, "-w", notes, "--json").json
    assert [hit["path"] for hit in found["results"]] == ["memory/a.md"]


@pytest.mark.parametrize("words", [(), ("--query", "")])
def test_a_search_without_a_query_is_refused(cli: Cli, notes: Path, words: tuple[str, ...]) -> None:
    outcome = cli("memory", "search", *words, "-w", notes)
    assert (outcome.code, "the query is empty" in outcome.err) == (2, True)


def test_status_can_index_first_and_tries_the_provider(cli: Cli, notes: Path) -> None:
    assert cli("status", "-w", notes, "--json").json["files"] == 0
    told = cli("memory", "status", "--index", "--verbose", "-w", notes, "--json").json
    assert (told["files"], told["dirty"], told["probe"] is not None) == (2, False, True)


@pytest.mark.parametrize("words", [(), ("search",), ("sync",), ("status",)])
def test_no_help_shows_other_names(cli: Cli, words: tuple[str, ...]) -> None:
    told = cli(*words, "--help").out
    assert not [name for name in ("--query", "--verbose", "--index", "  index", "  memory ") if name in told]


@pytest.mark.parametrize("name", OTHER_NAMES)
def test_another_name_hides_no_command(name: str) -> None:
    assert (name in COMMANDS, OTHER_NAMES[name] in COMMANDS) == (False, True)


def test_an_unknown_command_below_memory_is_refused(cli: Cli) -> None:
    assert cli("memory", "promote").code == 2
