"""`memlines blame` and `memlines search --without` on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from memlines import Memory
from memlines.serve.tools import call_tool
from tests.memories import write
from tests.programs import Cli

BIRDS = "memory/birds.md"
NOTES = {BIRDS: "# Birds\n\n- The kestrel nests in the old church tower\n- The heron waits at the weir\n"}


@pytest.fixture
def shown(cli: Cli, workspace: Path) -> Path:
    """A workspace whose agents searched in two sessions."""
    write(workspace, NOTES)
    with Memory(workspace) as memory:
        for session, query in (("ses_one", "where does the kestrel nest?"), ("ses_two", "heron")):
            call_tool(memory, "memory_search", {"query": query}, session, "opencode")
        call_tool(memory, "memory_get", {"path": f"{BIRDS}#L4"}, "ses_two", "opencode")
    return workspace


def test_without_a_session_all_are_listed_the_newest_first(cli: Cli, shown: Path) -> None:
    lines = cli("blame", "-w", shown).out.splitlines()
    assert [line.split("  ", 1)[1] for line in lines] == [
        "opencode     ses_two  1 line in 2 answers, 1 opened",
        "opencode     ses_one  2 lines in 1 answer, 0 opened",
    ]


def test_a_session_shows_its_answers_and_the_lines_in_them(cli: Cli, shown: Path) -> None:
    head, *lines = cli("blame", "ses_one", "-w", shown).out.splitlines()
    assert head.endswith("  opencode  search: where does the kestrel nest?")
    assert [line.split(None, 1)[1] for line in lines] == [
        f"{BIRDS}#L3  The kestrel nests in the old church tower",
        f"{BIRDS}#L4  The heron waits at the weir",
    ]


def test_a_line_that_moved_or_is_gone_is_marked(cli: Cli, shown: Path) -> None:
    write(shown, {BIRDS: "# Birds\n\nNew.\n\n- The kestrel nests in the old church tower\n"})
    _, *lines = cli("blame", "ses_one", "-w", shown).out.splitlines()
    assert [line.split(None, 1)[1] for line in lines] == [
        f"{BIRDS}#L5 (was {BIRDS}#L3)  The kestrel nests in the old church tower",
        f"{BIRDS}#L4 (gone)",
    ]


def test_the_last_session_is_the_newest(cli: Cli, shown: Path) -> None:
    assert cli("blame", "--last", "-w", shown).out == cli("blame", "ses_two", "-w", shown).out


def test_a_line_shows_where_it_was_used(cli: Cli, shown: Path) -> None:
    lines = cli("blame", "--line", f"{BIRDS}#L4", "-w", shown).out.splitlines()
    assert [line.split("  ", 1)[1] for line in lines] == [
        "opencode  ses_one  search: where does the kestrel nest?",
        "opencode  ses_two  search: heron",
        "opencode  ses_two  get",
    ]


def test_a_line_that_was_never_shown_is_said_to_be(cli: Cli, shown: Path) -> None:
    write(shown, {"new.md": "- The owl sleeps by day\n"})
    done = cli("blame", "--line", "memory/new.md#L1", "-w", shown)
    assert (done.code, done.out) == (0, "No agent was shown memory/new.md#L1.\n")


def test_programs_get_the_sessions(cli: Cli, shown: Path) -> None:
    found = cli("blame", "--json", "-w", shown).json
    assert found["enabled"] is True
    assert found["sessions"][0].keys() == {
        "session",
        "client",
        "first",
        "last",
        "answers",
        "lines",
        "opened",
    }


def test_programs_get_the_answers_of_a_session(cli: Cli, shown: Path) -> None:
    (answer,) = cli("blame", "ses_o", "--json", "-w", shown).json["answers"]
    assert answer.keys() == {"time", "kind", "client", "query", "lines"}
    first = answer["lines"][0]
    score = first.pop("score")
    text = "- The kestrel nests in the old church tower"
    assert first == {"citation": f"{BIRDS}#L3", "now": f"{BIRDS}#L3", "text": text}
    assert 0 < score <= 1


def test_programs_get_the_uses_of_a_line(cli: Cli, shown: Path) -> None:
    found = cli("blame", "--line", f"{BIRDS}#L3", "--json", "-w", shown).json
    assert (found["line"], [one["session"] for one in found["uses"]]) == (
        f"{BIRDS}#L3",
        ["ses_one"],
    )
    assert found["uses"][0]["lines"][0]["citation"] == f"{BIRDS}#L3"


def test_nothing_recorded_is_no_error(cli: Cli, workspace: Path) -> None:
    write(workspace, NOTES)
    done = cli("blame", "--last", "-w", workspace)
    assert (done.code, done.out.startswith("Nothing is recorded yet")) == (0, True)


def test_a_record_that_is_switched_off_is_said_to_be(
    cli: Cli, shown: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMLINES_BLAME__ENABLED", "false")
    assert "switched off (blame.enabled)" in cli("blame", "-w", shown).err


def test_an_unknown_session_is_an_error_with_the_nearest(cli: Cli, shown: Path) -> None:
    done = cli("blame", "ses_onne", "-w", shown)
    assert (done.code, "Did you mean ses_one?" in done.err) == (2, True)


@pytest.mark.parametrize("words", [["ses_one", "--last"], ["--last", "--line", "x.md#L1"]])
def test_two_questions_at_once_are_refused(cli: Cli, shown: Path, words: list[str]) -> None:
    assert cli("blame", *words, "-w", shown).code == 2


def test_what_a_client_said_cannot_command_the_terminal(cli: Cli, shown: Path) -> None:
    with Memory(shown) as memory:
        call_tool(memory, "memory_search", {"query": "kestrel \x1b[31m"}, "ses_\x1b[2J", "\x1b]0;x")
    assert "\x1b" not in cli("blame", "-w", shown).out + cli("blame", "--last", "-w", shown).out


def test_a_record_that_cannot_be_read_is_an_error(cli: Cli, shown: Path) -> None:
    (shown / ".memory/shown.jsonl").unlink()
    (shown / ".memory/shown.jsonl").mkdir()
    done = cli("blame", "-w", shown)
    assert (done.code != 0, "what agents were shown" in done.err) == (True, True)


def test_a_session_is_forgotten_with_what_it_was_shown(cli: Cli, shown: Path) -> None:
    done = cli("forget", "--session", "ses_one", "--yes", "-w", shown)
    assert "(what an agent was shown in a session)\n   ses_one" in done.out
    assert "Forgotten: 1 answer that an agent got." in done.out


def test_a_search_without_a_line_shows_what_else_there_is(cli: Cli, shown: Path) -> None:
    words = ["search", "kestrel tower", "-w", str(shown), "--min-score", "0"]
    without = cli(*words, "--without", f"{BIRDS}#L3")
    assert ("kestrel" in cli(*words).out, "kestrel" in without.out) == (True, False)
