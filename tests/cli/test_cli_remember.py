"""`memlines remember` and `memlines recall`, for people and as JSON."""

from __future__ import annotations

import io
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partialmethod
from pathlib import Path

import pytest

from memlines.memory.memory import Memory
from tests.memories import write
from tests.programs import Cli

NOW = datetime(2026, 11, 16, 14, 32, tzinfo=UTC)
DAY = "memory/2026-11-16.md"


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cli:
    """The command line in words only, where it is always the same moment."""
    monkeypatch.setenv("MEMLINES_EMBEDDINGS__PROVIDER", "none")
    monkeypatch.setenv("MEMLINES_TIMEZONE", "UTC")

    for name in ("remember", "recall"):
        monkeypatch.setattr(Memory, name, partialmethod(getattr(Memory, name), now=NOW))
    return Cli(capsys)


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], None]:
    """Give bytes to standard input."""

    def give(content: bytes) -> None:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content), encoding="utf-8"))

    return give


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


# remember


def test_words_are_written_and_cited(cli: Cli, workspace: Path) -> None:
    outcome = cli("remember", "We", "chose", "Postgres", "-w", workspace)
    assert (outcome.code, outcome.out) == (0, f"Remembered in {DAY}#L3\n")
    assert (workspace / DAY).read_text(encoding="utf-8").endswith("- 14:32 We chose Postgres\n")


def test_what_was_remembered_is_found(cli: Cli, workspace: Path) -> None:
    cli("remember", "We chose Postgres", "-w", workspace)
    assert cli("search", "postgres", "-w", workspace, "--json").json["results"][0]["path"] == DAY


def test_what_is_known_is_shown(cli: Cli, workspace: Path) -> None:
    write(workspace, {"x.md": "# X\n\n- We chose\n  Postgres\n"})
    outcome = cli("remember", "we chose postgres", "-w", workspace)
    assert (outcome.code, outcome.out) == (0, "Already known: memory/x.md#L3-L4: We chose Postgres\n")
    assert not (workspace / DAY).exists()


def test_what_is_known_can_be_written_again(cli: Cli, workspace: Path) -> None:
    write(workspace, {"x.md": "- tea\n"})
    assert "Remembered" in cli("remember", "tea", "--force", "-w", workspace).out


def test_options_say_where_to(cli: Cli, workspace: Path) -> None:
    options = ("--topic", "Tea", "--to", "MEMORY.md", "--session", "s1")
    assert cli("remember", "green", *options, "-w", workspace).out == "Remembered in MEMORY.md#L5\n"
    assert "## Tea\n\n- 2026-11-16: green [session s1]\n" in (workspace / "MEMORY.md").read_text("utf-8")


@pytest.mark.parametrize("arguments", [(), ("-",)])
def test_text_comes_from_standard_input(
    cli: Cli, workspace: Path, typed: Callable[[bytes], None], arguments: tuple[str, ...]
) -> None:
    typed("\ufeffthé\r\nvert\n".encode())
    cli("remember", *arguments, "-w", workspace)
    assert (workspace / DAY).read_text(encoding="utf-8").endswith("- 14:32 thé\n  vert\n")


@pytest.mark.parametrize("content", [b"", b" \n", b"\xff", b"a\0b", b"x" * 100_001, b"x" * 1_000_001])
def test_input_that_cannot_be_remembered_is_refused(
    cli: Cli, workspace: Path, typed: Callable[[bytes], None], content: bytes
) -> None:
    typed(content)
    assert cli("remember", "-w", workspace).code == 2
    assert not (workspace / DAY).exists()


@pytest.mark.parametrize("stream", [_Terminal(), None])
def test_a_terminal_is_not_waited_for(
    cli: Cli, workspace: Path, monkeypatch: pytest.MonkeyPatch, stream: io.StringIO | None
) -> None:
    monkeypatch.setattr("sys.stdin", stream)
    outcome = cli("remember", "-w", workspace)
    assert (outcome.code, "no text to remember" in outcome.err) == (2, True)


def test_where_it_stands_as_json(cli: Cli, workspace: Path) -> None:
    assert cli("remember", "tea", "-w", workspace, "--json").json == {
        "path": DAY,
        "start_line": 3,
        "end_line": 3,
        "citation": f"{DAY}#L3",
        "created": True,
        "written": True,
        "duplicate": None,
    }


def test_what_is_known_as_json(cli: Cli, workspace: Path) -> None:
    write(workspace, {"x.md": "- tea\n"})
    place = {"path": "memory/x.md", "start_line": 1, "end_line": 1, "citation": "memory/x.md#L1"}
    assert cli("remember", "tea", "-w", workspace, "--json").json == {
        **place,
        "created": False,
        "written": False,
        "duplicate": {**place, "text": "- tea"},
    }


@pytest.mark.parametrize("option", [("--to", "../x.md"), ("--topic", "!"), ("--session", "a]")])
def test_options_that_cannot_be_meant_are_refused(cli: Cli, workspace: Path, option: tuple[str, str]) -> None:
    outcome = cli("remember", "tea", *option, "-w", workspace, "--json")
    assert (outcome.code, "error" in outcome.json) == (2, True)


def test_a_note_cannot_command_the_terminal(cli: Cli, workspace: Path) -> None:
    write(workspace, {"x.md": "- tea \x1b[31m\n"})
    assert "\x1b" not in cli("remember", "tea \x1b[31m", "-w", workspace).out
    assert "\x1b" not in cli("recall", "tea", "-w", workspace).out


# recall


@pytest.fixture
def notes(workspace: Path) -> Path:
    write(
        workspace,
        {
            "MEMORY.md": "# Memory\n\n## Decisions\n\n- Tea before coffee\n",
            "2026-11-15.md": "# 2026-11-15\n\n- 09:00 Ran\n  the backups\n",
            "2026-11-16.md": "# 2026-11-16\n\n- 08:00 Tea\n- 09:00 We chose Postgres\n",
        },
    )
    return workspace


def test_the_latest_entries_are_shown_by_day(cli: Cli, notes: Path) -> None:
    assert cli("recall", "-w", notes).out == (
        "2026-11-16\n"
        "  memory/2026-11-16.md#L4  09:00 We chose Postgres\n"
        "  memory/2026-11-16.md#L3  08:00 Tea\n"
        "2026-11-15\n"
        "  memory/2026-11-15.md#L3-L4  09:00 Ran the backups\n"
    )


def test_decisions(cli: Cli, notes: Path) -> None:
    assert cli("recall", "--decisions", "-w", notes).out == (
        "2026-11-16\n"
        "  memory/2026-11-16.md#L4  09:00 We chose Postgres\n"
        "without a date\n"
        "  MEMORY.md#L5  Tea before coffee\n"
    )


def test_options_narrow_each_other(cli: Cli, notes: Path) -> None:
    outcome = cli("recall", "tea", "--recent", "--limit", "1", "-w", notes)
    assert outcome.out == "2026-11-16\n  memory/2026-11-16.md#L3  08:00 Tea\n"


def test_a_topic(cli: Cli, notes: Path) -> None:
    assert "Tea before coffee" in cli("recall", "--topic", "decisions", "-w", notes).out


def test_nothing_is_an_answer(cli: Cli, notes: Path) -> None:
    outcome = cli("recall", "--topic", "herons", "-w", notes)
    assert (outcome.code, outcome.out) == (0, "Nothing found.\n")


def test_a_topic_that_is_not_there_is_answered_with_those_that_are(cli: Cli, notes: Path) -> None:
    write(notes, {"billing.md": "- Invoices are sent on Mondays\n"})
    outcome = cli("recall", "--topic", "herons", "-w", notes)
    assert (outcome.out, outcome.err) == ("Nothing found.\n", "There are notes of these topics: billing\n")


def test_entries_as_json(cli: Cli, notes: Path) -> None:
    assert cli("recall", "-n", "1", "-w", notes, "--json").json == {
        "results": [
            {
                "path": DAY,
                "start_line": 4,
                "end_line": 4,
                "citation": f"{DAY}#L4",
                "text": "- 09:00 We chose Postgres",
                "day": "2026-11-16",
                "heading": "2026-11-16",
            }
        ],
        "confident": True,
    }


def test_an_entry_without_a_day_as_json(cli: Cli, notes: Path) -> None:
    assert cli("recall", "--topic", "decisions", "-w", notes, "--json").json["results"][0]["day"] is None


def test_a_limit_that_cannot_be_meant_is_refused(cli: Cli, notes: Path) -> None:
    assert cli("recall", "--limit", "0", "-w", notes).code == 2
