"""What is read out of the transcripts that real clients wrote."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memlines.transcripts import claude_code, codex, openclaw, opencode
from memlines.transcripts.catalogue import CLIENTS, recognise
from memlines.types import Transcript, Turn
from tests.transcripts.recorded import (
    CLAUDE_CODE,
    CODEX,
    HELPER,
    OPENCLAW,
    OPENCLAW_ROWS,
    OPENCODE_EXPORT,
    OPENCODE_ROWS,
    content,
    database,
    exported,
    query,
    shown,
)

ASKED_AND_TOLD = [
    "user: Which port does the staging database use?",
    "assistant: The staging database listens on port 5433.",
    "user: Show me the settings.",
    "assistant [TOOL]: I look at the file.",
    "assistant: The settings say:\n\n```toml\nport = 5433\n```",
    "user: Two things:\n\n1. keep the port\n2. write it down",
    "assistant: Noted:\n\n- the port stays\n- it is written down",
    "user: Läuft die Prüfung in Zürich? 東京のサーバーも 🚢",
    "assistant: Ja, in Zürich läuft sie; 東京でも動いています ✅",
]
AGREED = ["user: What did we agree on?", "assistant: On port 5433, which is written down in settings.toml."]


def with_tool(name: str) -> list[str]:
    return [turn.replace("TOOL", name) for turn in ASKED_AND_TOLD]


def opencode_rows(tmp_path: Path) -> list[str]:
    file = database(OPENCODE_ROWS, tmp_path / "opencode.db")
    ((session,),) = query(str(file), "SELECT id FROM session WHERE parent_id IS NULL", ())
    return opencode.read_session(query, str(file), session)


def openclaw_rows(tmp_path: Path) -> list[str]:
    file = database(OPENCLAW_ROWS, tmp_path / "openclaw.sqlite")
    ((session,),) = query(str(file), "SELECT session_id FROM session_windows", ())
    return openclaw.read_session(query, str(file), session)


def test_claude_code() -> None:
    assert shown(claude_code.CLIENT.parse(content(CLAUDE_CODE)).turns) == [
        *with_tool("Bash"),
        "user: Let a helper find every port.",
        "assistant [Task]: A helper is looking for ports.",
        "assistant: The helper found one port, 5433.",
        "user: Wait for the server.",
        "user: Also check the backup.",
        "assistant: The server is up, and the backup is from last night.",
        "user: /compact keep the port",
        *AGREED,
    ]


def test_what_a_helper_of_claude_code_said_is_left_out() -> None:
    assert claude_code.CLIENT.parse(content(HELPER)).turns == ()


def test_codex() -> None:
    assert shown(codex.CLIENT.parse(content(CODEX)).turns) == [*with_tool("exec_command"), *AGREED]


def test_openclaw() -> None:
    assert shown(openclaw.CLIENT.parse(content(OPENCLAW)).turns) == with_tool("exec")


def test_the_database_of_openclaw_holds_the_lines_that_deleting_a_session_leaves(tmp_path: Path) -> None:
    rows = openclaw.CLIENT.parse(openclaw_rows(tmp_path))
    assert shown(rows.turns) == shown(openclaw.CLIENT.parse(content(OPENCLAW)).turns)


OPENCODE = [
    *with_tool("bash"),
    "user: Let a helper find every port.",
    "assistant [task]: The helper found one port, 5433.",
    "user: Read on until you forget.",
    "assistant: I have read a lot.",
]


def test_opencode(tmp_path: Path) -> None:
    said = shown(opencode.CLIENT.parse(opencode_rows(tmp_path)).turns)
    assert (said[: len(OPENCODE)], said[-2:]) == (OPENCODE, AGREED)


def test_summaries_and_the_word_to_go_on_after_a_compaction_are_left_out(tmp_path: Path) -> None:
    lines = opencode_rows(tmp_path)
    assert '"summary": true' in "".join(lines)
    assert "Ada wants" not in "".join(shown(opencode.CLIENT.parse(lines).turns)[: len(OPENCODE)])


def test_an_export_of_opencode_says_what_the_database_does(tmp_path: Path) -> None:
    export = exported(content(OPENCODE_EXPORT))
    assert shown(export.turns) == shown(opencode.CLIENT.parse(opencode_rows(tmp_path)).turns)


def transcripts() -> list[tuple[str, Transcript]]:
    return [
        (content(CLAUDE_CODE), claude_code.CLIENT.parse(content(CLAUDE_CODE))),
        (content(CODEX), codex.CLIENT.parse(content(CODEX))),
        (content(OPENCLAW), openclaw.CLIENT.parse(content(OPENCLAW))),
        (content(OPENCODE_EXPORT), exported(content(OPENCODE_EXPORT))),
    ]


HOSTS = ["claude-code", "codex", "openclaw", "opencode export"]
each_host = pytest.mark.parametrize(("text", "transcript"), transcripts(), ids=HOSTS)


@each_host
def test_every_turn_names_the_line_that_holds_its_words(text: str, transcript: Transcript) -> None:
    lines = text.split("\n")
    for turn in transcript.turns:
        said = turn.text.removeprefix("/compact ")
        assert json.dumps(said, ensure_ascii=False)[1:-1] in lines[turn.line - 1]


@each_host
def test_every_turn_has_a_time_after_the_start(text: str, transcript: Transcript) -> None:
    assert transcript.started is not None
    assert transcript.started.date() == datetime.fromtimestamp(transcript.started.timestamp(), UTC).date()
    assert all(turn.time and turn.time >= transcript.started for turn in transcript.turns[1:])


@each_host
def test_no_line_of_a_real_transcript_is_broken(text: str, transcript: Transcript) -> None:
    assert transcript.broken == 0


@pytest.mark.parametrize(
    ("file", "parse"),
    [(CLAUDE_CODE, claude_code.CLIENT.parse), (CODEX, codex.CLIENT.parse), (OPENCLAW, openclaw.CLIENT.parse)],
)
def test_a_transcript_is_read_on_from_any_turn_of_a_user(
    file: Path, parse: Callable[..., Transcript]
) -> None:
    lines = content(file).splitlines()
    whole = parse(lines).turns
    for place, turn in enumerate(whole):
        if turn.role == "user":
            rest = parse(lines[turn.line - 1 :], turn.line)
            assert rest.turns == whole[place:]


@pytest.mark.parametrize(
    ("file", "host"), [(CLAUDE_CODE, "claude-code"), (CODEX, "codex"), (OPENCLAW, "openclaw")]
)
def test_a_format_is_recognised(file: Path, host: str) -> None:
    assert recognise(content(file).splitlines()) is CLIENTS[host]


def test_rows_of_opencode_are_recognised(tmp_path: Path) -> None:
    assert recognise(opencode_rows(tmp_path)) is opencode.CLIENT


@pytest.mark.parametrize("lines", [[], ["x"], ["{}"], ['{"type": "note"}']])
def test_other_lines_are_not_recognised(lines: list[str]) -> None:
    assert recognise(lines) is None


@pytest.mark.parametrize("file", sorted(OPENCODE_EXPORT.parents[1].rglob("*.*")), ids=lambda file: file.name)
def test_the_fixtures_are_small_and_name_no_machine(file: Path) -> None:
    text = content(file)
    assert len(text) < 36_000
    assert not any(place in text for place in ("/root", "/tmp/tmp", "/work"))


def test_turns_without_tools_are_plain() -> None:
    turn = claude_code.CLIENT.parse(content(CLAUDE_CODE)).turns[0]
    assert type(turn) is Turn
