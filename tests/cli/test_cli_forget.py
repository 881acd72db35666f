"""`memlines forget` shows, asks, removes, and says what is left."""

from __future__ import annotations

import io
import shlex
import sys
from pathlib import Path

import pytest

from tests.indexes import write
from tests.programs import Answer, Cli, keyboard
from tests.repositories import commit, make_repository, needs_git

SECRET = "The vaultkeeper Quintessa hides xylophones in Lyon"
DAY = "memory/2026-11-16.md"
TEXT = f"# Day\n\n- 09:00 Bread is baked on Monday\n- 14:32 {SECRET}\n- 17:30 Xylophones are loud\n"
WITHOUT = TEXT.replace(f"- 14:32 {SECRET}\n", "")


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cli:
    monkeypatch.setenv("MEMLINES_EMBEDDINGS__PROVIDER", "none")
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    return Cli(capsys)


@pytest.fixture
def home(workspace: Path) -> Path:
    write(workspace, {DAY: TEXT})
    return workspace


@pytest.fixture
def answer(monkeypatch: pytest.MonkeyPatch) -> Answer:
    """Sits at the terminal and answers."""
    return keyboard(monkeypatch)


def text(home: Path) -> str:
    return (home / DAY).read_text(encoding="utf-8")


# Without asking


def test_a_cited_entry_is_forgotten(cli: Cli, home: Path) -> None:
    outcome = cli("forget", "-w", home, "--yes", f"{DAY}#L4")
    assert outcome.code == 0
    assert text(home) == WITHOUT


def test_what_goes_is_shown_with_its_citation_and_first_line(cli: Cli, home: Path) -> None:
    outcome = cli("forget", "-w", home, "--yes", f"{DAY}#L4")
    assert outcome.out.startswith(f"1  {DAY}#L4\n   - 14:32 {SECRET}\n")


def test_the_receipt_says_what_went_and_that_nothing_is_left(cli: Cli, home: Path) -> None:
    cli("search", "-w", home, "bread")
    outcome = cli("forget", "-w", home, "--yes", f"{DAY}#L4")
    assert "Forgotten: 1 entry of a note, 1 chunk of the index.\n" in outcome.out
    assert outcome.out.endswith("Nothing of it is left in this memory.\n")


@needs_git
def test_a_receipt_says_that_git_may_still_hold_it(cli: Cli, home: Path) -> None:
    make_repository(home)
    assert "git's history" not in cli("forget", "-w", home, "--yes", f"{DAY}#L3").err
    commit(home)
    assert "git's history of this repository may" in cli("forget", "-w", home, "--yes", f"{DAY}#L3").err


def test_several_selectors_are_taken_together(cli: Cli, home: Path) -> None:
    assert cli("forget", "-w", home, "--yes", f"{DAY}#L3", f"{DAY}#L4").code == 0
    assert text(home) == "# Day\n\n- 17:30 Xylophones are loud\n"


def test_a_session_is_forgotten(cli: Cli, home: Path) -> None:
    write(home, {DAY: f"{TEXT}- 18:00 A train [session abc]\n"})
    assert cli("forget", "-w", home, "--yes", "--session", "abc").code == 0
    assert text(home) == TEXT


@pytest.mark.parametrize("words", [["vaultkeeper", "quintessa"], ["xylophones"], [f"{DAY}#L3", "quintessa"]])
def test_words_never_delete_and_yes_does_not_change_that(cli: Cli, home: Path, words: list[str]) -> None:
    outcome = cli("forget", "-w", home, "--yes", *words)
    assert outcome.code == 2
    assert f"{DAY}#L4" in outcome.out
    assert f"memlines forget '{DAY}#L" in outcome.err
    assert text(home) == TEXT


def test_words_list_entries_where_nobody_can_choose(cli: Cli, home: Path) -> None:
    outcome = cli("forget", "-w", home, "vaultkeeper", "quintessa")
    assert (outcome.code, outcome.out) == (0, f"1  {DAY}#L4\n   - 14:32 {SECRET}\n")
    assert f"To forget one of them: memlines forget '{DAY}#L4' --yes" in outcome.err
    assert text(home) == TEXT


def test_the_command_that_is_named_forgets_it(cli: Cli, home: Path) -> None:
    named = shlex.split(cli("forget", "-w", home, "vaultkeeper").err.partition("memlines ")[2])
    assert cli(*named, "-w", home).code == 0
    assert text(home) == WITHOUT


def test_without_a_terminal_and_without_yes_nothing_is_changed(cli: Cli, home: Path) -> None:
    outcome = cli("forget", "-w", home, f"{DAY}#L4")
    assert outcome.code == 2
    assert "--yes" in outcome.err
    assert text(home) == TEXT
    assert not (home / ".memory/forgotten.jsonl").exists()


def test_a_dry_run_shows_and_changes_nothing(cli: Cli, home: Path) -> None:
    outcome = cli("forget", "-w", home, "--dry-run", f"{DAY}#L4")
    assert (outcome.code, outcome.out) == (0, f"1  {DAY}#L4\n   - 14:32 {SECRET}\n")
    assert text(home) == TEXT


def test_nothing_found_is_said_and_exits_with_1(cli: Cli, home: Path) -> None:
    outcome = cli("forget", "-w", home, "--yes", "zeppelin timetable")
    assert (outcome.code, outcome.out) == (1, "Nothing was found to forget.\n")
    assert "'memlines search' with these words shows the nearest lines" in outcome.err


def test_nothing_named_is_refused(cli: Cli, home: Path) -> None:
    assert cli("forget", "-w", home).code == 2


def test_what_is_left_is_listed_and_exits_with_1(cli: Cli, home: Path) -> None:
    write(home, {"memory/copy.md": f"- {SECRET}\n"})
    outcome = cli("forget", "-w", home, "--yes", f"{DAY}#L4")
    assert outcome.code == 1
    assert "It is still here:\n  memory/copy.md#L1\n" in outcome.out


# Asking


def test_yes_on_the_terminal_forgets(cli: Cli, home: Path, answer: Answer) -> None:
    answer("y")
    outcome = cli("forget", "-w", home, f"{DAY}#L4")
    assert outcome.code == 0
    assert "Forget this entry for good? [y/N]" in outcome.err
    assert text(home) == WITHOUT


@pytest.mark.parametrize("reply", ["n", ""])
def test_anything_else_does_not(cli: Cli, home: Path, answer: Answer, reply: str) -> None:
    answer(reply)
    outcome = cli("forget", "-w", home, f"{DAY}#L3-L4")
    assert outcome.out.endswith("Nothing was forgotten.\n")
    assert "Forget these 2 entries for good? [y/N]" in outcome.err
    assert text(home) == TEXT


def test_of_what_words_find_some_can_be_picked(cli: Cli, home: Path, answer: Answer) -> None:
    shown = cli("forget", "-w", home, "--dry-run", "xylophones").out.splitlines()
    number = next(line.split()[0] for line in shown if line.endswith(f"{DAY}#L4"))
    answer(number, "y")
    assert cli("forget", "-w", home, "xylophones").code == 0
    assert text(home) == WITHOUT


def test_all_of_what_words_find_can_be_picked(cli: Cli, home: Path, answer: Answer) -> None:
    answer("all", "y")
    cli("forget", "-w", home, "xylophones")
    assert text(home) == "# Day\n\n- 09:00 Bread is baked on Monday\n"


@pytest.mark.parametrize("reply", ["", "none"])
def test_picking_none_changes_nothing(cli: Cli, home: Path, answer: Answer, reply: str) -> None:
    answer(reply)
    assert cli("forget", "-w", home, "xylophones").out.endswith("Nothing was forgotten.\n")
    assert text(home) == TEXT


@pytest.mark.parametrize("reply", ["3", "0", "1;2", "both"])
def test_picking_what_is_not_there_is_refused(cli: Cli, home: Path, answer: Answer, reply: str) -> None:
    answer(reply, "y")
    assert cli("forget", "-w", home, "xylophones").code == 2
    assert text(home) == TEXT


def test_an_end_of_input_changes_nothing(cli: Cli, home: Path, answer: Answer) -> None:
    answer()
    assert cli("forget", "-w", home, f"{DAY}#L4").code == 130
    assert text(home) == TEXT


# JSON


def test_json_holds_what_went_and_the_receipt(cli: Cli, home: Path) -> None:
    told = cli("forget", "-w", home, "--yes", "--json", f"{DAY}#L4").json
    assert told["candidates"] == [
        {
            "path": DAY,
            "start_line": 4,
            "end_line": 4,
            "text": f"- 14:32 {SECRET}",
            "kind": "item",
            "citation": f"{DAY}#L4",
        }
    ]
    assert told["receipt"] == {"removed": {"entries": 1}, "left": [], "transcripts": [], "complete": True}


def test_json_of_a_dry_run_has_no_receipt(cli: Cli, home: Path) -> None:
    told = cli("forget", "-w", home, "--dry-run", "--json", f"{DAY}#L4").json
    assert [candidate["citation"] for candidate in told["candidates"]] == [f"{DAY}#L4"]
    assert told["receipt"] is None


def test_json_of_words_lists_what_they_find(cli: Cli, home: Path) -> None:
    told = cli("forget", "-w", home, "--json", "vaultkeeper").json
    assert [candidate["citation"] for candidate in told["candidates"]] == [f"{DAY}#L4"]
    assert told["receipt"] is None


def test_json_of_a_refusal_is_an_error(cli: Cli, home: Path) -> None:
    outcome = cli("forget", "-w", home, "--json", f"{DAY}#L4")
    assert (outcome.code, outcome.json["code"]) == (2, "usage")


def test_a_note_cannot_command_the_terminal(cli: Cli, home: Path) -> None:
    write(home, {"memory/x.md": "- \x1b[2J red \u202e text\n"})
    assert "\x1b" not in cli("forget", "-w", home, "--dry-run", "memory/x.md#L1").out
