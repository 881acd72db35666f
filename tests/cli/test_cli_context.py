"""`memlines context`, for a pipe and as JSON."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from tests.memories import write
from tests.programs import Cli

NOTES = {
    "birds.md": "The kestrel nests in the old church tower.\n",
    "more.md": "Another kestrel nests at the mill.\n",
}


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, workspace: Path) -> Cli:
    """The command line in words only, with notes about birds."""
    monkeypatch.setenv("MEMLINES_EMBEDDINGS__PROVIDER", "none")
    write(workspace, NOTES)
    return Cli(capsys)


def test_the_block_is_printed(cli: Cli, workspace: Path) -> None:
    outcome = cli("context", "where", "does the kestrel nest?", "-w", workspace)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.startswith("<memlines-context>\n")
    assert outcome.out.endswith("</memlines-context>\n")
    assert "memory/birds.md#L1:\n> The kestrel nests in the old church tower.\n" in outcome.out


def test_nothing_is_printed_when_nothing_fits(cli: Cli, workspace: Path) -> None:
    outcome = cli("context", "quarterly revenue", "-w", workspace)
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "")


def test_what_is_not_sure_is_not_printed_but_how_to_see_it(cli: Cli, workspace: Path) -> None:
    message = "does the choir of our church sing on quarterly meetings about revenue?"
    assert "memory/birds.md" in cli("search", message, "-w", workspace).out
    outcome = cli("context", message, "-w", workspace)
    assert (outcome.code, outcome.out) == (0, "")
    assert "'memlines search' with these words shows the nearest lines" in outcome.err


@pytest.mark.parametrize("arguments", [(), ("-",)])
def test_the_message_comes_from_standard_input(
    cli: Cli, workspace: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    typed = io.TextIOWrapper(io.BytesIO("Où niche le kestrel?\n".encode()), encoding="utf-8")
    monkeypatch.setattr("sys.stdin", typed)
    assert "old church tower" in cli("context", *arguments, "-w", workspace).out


def test_without_a_message_it_says_how_to_give_one(
    cli: Cli, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", None)
    outcome = cli("context", "-w", workspace)
    assert outcome.code == 2
    assert "there is no text to look for. Give it as words, memlines context" in outcome.err


def test_json_says_which_lines_are_quoted(cli: Cli, workspace: Path) -> None:
    told = cli("context", "church tower", "-w", workspace, "--json").json
    assert told["results"] == [
        {"path": "memory/birds.md", "start_line": 1, "end_line": 1, "citation": "memory/birds.md#L1"}
    ]
    assert "> The kestrel nests in the old church tower." in told["context"]
    assert (told["tokens"], told["warnings"]) == (-(-len(told["context"]) // 4), [])


def test_json_of_nothing_has_the_same_fields(cli: Cli, workspace: Path) -> None:
    told = cli("context", "quarterly revenue", "-w", workspace, "--json").json
    assert told == {"context": "", "tokens": 0, "results": [], "warnings": []}


def test_the_block_keeps_to_its_tokens(cli: Cli, workspace: Path) -> None:
    assert len(cli("context", "kestrel", "--max-tokens", "90", "-w", workspace).out) <= 4 * 90 + 1


def test_no_tokens_are_refused(cli: Cli, workspace: Path) -> None:
    assert cli("context", "kestrel", "--max-tokens", "0", "-w", workspace).code == 2


def test_a_secret_is_printed_neither_way(cli: Cli, workspace: Path) -> None:
    token = "ghp_" + "aB3dE5gH7jK9" * 3
    write(workspace, {"camera.md": f"The kestrel camera uses {token}\n"})
    printed = cli("context", "kestrel camera", "-w", workspace).out
    told = cli("context", "kestrel camera", "-w", workspace, "--json").out
    assert "The kestrel camera uses" in printed
    assert token not in printed + told


def test_a_memory_that_is_switched_off_says_nothing(
    cli: Cli, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMLINES_ENABLED", "false")
    outcome = cli("context", "kestrel", "-w", workspace)
    assert (outcome.code, outcome.out) == (0, "")
