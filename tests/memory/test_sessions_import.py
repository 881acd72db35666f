"""Transcripts of any client, brought into the workspace's own folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlines import Memory
from memlines.files import imported
from memlines.files.tombstones import bury
from memlines.memory.conversations import conversation as converting
from memlines.memory.conversations.conversation import Imported, import_transcripts
from memlines.memory.conversations.listing import list_sessions
from memlines.paths import Workspace
from memlines.settings import load
from memlines.transcripts import claude_code, codex, lines, openclaw
from memlines.types import Transcript, Turn
from tests.indexes import write
from tests.memory.session_homes import SESSION, TOKEN
from tests.programs import unprivileged_run
from tests.transcripts.recorded import CLAUDE_CODE, CODEX, OPENCLAW, OPENCODE_EXPORT, content, exported, shown
from tests.transcripts.records import assistant, jsonl, message, user

FIXTURES = {
    "claude-code": (CLAUDE_CODE, claude_code.CLIENT.parse(content(CLAUDE_CODE)), SESSION),
    "codex": (CODEX, codex.CLIENT.parse(content(CODEX)), "01a1e2bc-f7c0-7551-ae7d-cf6d81622378"),
    "openclaw": (OPENCLAW, openclaw.CLIENT.parse(content(OPENCLAW)), SESSION),
    "opencode": (
        OPENCODE_EXPORT,
        exported(content(OPENCODE_EXPORT)),
        "ses_e1d428195ffeJ1CURLcgjASt7b",
    ),
}
START = {"type": "session", "id": "s1", "timestamp": "2026-03-01T09:30:00Z"}


def bring(workspace: Path, *files: Path | str, **settings: Any) -> tuple[Imported, ...]:
    opened = Workspace.at(workspace)
    return import_transcripts(opened, load(opened, settings).settings, files)


def put(tmp_path: Path, *records: Any, name: str = "talk.jsonl") -> Path:
    file = tmp_path / name
    file.write_text(jsonl(*records), encoding="utf-8")
    return file


def brought(workspace: Path, name: str = "openclaw-s1") -> Transcript:
    return openclaw.CLIENT.parse((workspace / f"sessions/{name}.jsonl").read_text(encoding="utf-8"))


def names(workspace: Path) -> list[str]:
    return sorted(file.name for file in (workspace / "sessions").iterdir())


# What is brought in.


@pytest.mark.parametrize("client", FIXTURES)
def test_a_transcript_of_every_client_is_brought_in(workspace: Path, client: str) -> None:
    file, transcript, session = FIXTURES[client]
    (one,) = bring(workspace, file)
    path = f"sessions/{client}-{session}.jsonl"
    assert (one.outcome, one.path, one.client, one.messages) == (
        "imported",
        path,
        client,
        len(transcript.turns),
    )


@pytest.mark.parametrize("client", FIXTURES)
def test_everything_that_was_said_is_brought_in(workspace: Path, client: str) -> None:
    file, transcript, session = FIXTURES[client]
    bring(workspace, file)
    assert shown(brought(workspace, f"{client}-{session}").turns) == shown(transcript.turns)


@pytest.mark.parametrize("client", FIXTURES)
def test_times_are_brought_in(workspace: Path, client: str) -> None:
    file, transcript, session = FIXTURES[client]
    bring(workspace, file)
    copy = brought(workspace, f"{client}-{session}")
    times = [transcript.started, *(turn.time for turn in transcript.turns)]
    assert [copy.started, *(turn.time for turn in copy.turns)] == times


def test_the_first_line_tells_the_session(workspace: Path) -> None:
    bring(workspace, CODEX)
    (file,) = (workspace / "sessions").iterdir()
    with file.open(encoding="utf-8") as stream:
        assert json.loads(stream.readline()) == {
            "type": "session",
            "id": "01a1e2bc-f7c0-7551-ae7d-cf6d81622378",
            "timestamp": "2026-11-16T05:03:17.455Z",
            "client": "codex",
        }


def test_what_was_brought_in_can_be_brought_into_another_workspace(workspace: Path, tmp_path: Path) -> None:
    (one,) = bring(workspace, CODEX)
    other = tmp_path / "other"
    other.mkdir()
    assert [again.path for again in bring(other, workspace / one.path)] == [one.path]


def test_an_export_that_is_written_on_one_line(workspace: Path, tmp_path: Path) -> None:
    file = tmp_path / "export.json"
    file.write_text(json.dumps(json.loads(content(OPENCODE_EXPORT))), encoding="utf-8")
    (one,) = bring(workspace, file)
    assert (one.client, one.messages) == ("opencode", len(FIXTURES["opencode"][1].turns))


def test_an_export_that_was_cut_off(workspace: Path, tmp_path: Path) -> None:
    file = tmp_path / "export.json"
    text = content(OPENCODE_EXPORT)
    file.write_text(text[: len(text) // 2], encoding="utf-8")
    (one,) = bring(workspace, file)
    assert (one.outcome, 0 < one.messages < len(FIXTURES["opencode"][1].turns)) == ("imported", True)


def test_what_was_brought_in_is_searched_and_tells_its_client(workspace: Path) -> None:
    bring(workspace, CODEX)
    with Memory(workspace, {"embeddings.provider": "none", "sources": ["sessions"]}) as memory:
        hit = memory.search("staging database port")[0]
        (info,) = list_sessions(memory.workspace, memory.settings)
    assert (hit.path, info.client) == (info.path, "codex")


def test_damaged_lines_are_counted(workspace: Path, tmp_path: Path) -> None:
    (one,) = bring(workspace, put(tmp_path, START, user("Hi"), "{", "damaged"))
    assert (one.messages, one.damaged) == (1, 2)


def test_bytes_that_are_no_text_damage_only_their_line(workspace: Path, tmp_path: Path) -> None:
    file = put(tmp_path, START, user("Hi"))
    file.write_bytes(file.read_bytes() + b'{"type": "message", "x": "\xff"}\n')
    (one,) = bring(workspace, file)
    assert (one.messages, one.damaged) == (1, 1)


# Its name.


def test_a_session_without_a_name_is_known_by_its_beginning(workspace: Path, tmp_path: Path) -> None:
    short = put(tmp_path, user("Hi"), name="a.jsonl")
    long = put(tmp_path, user("Hi"), assistant("Hello"), name="b.jsonl")
    first, second = bring(workspace, short, long)
    assert (first.path == second.path, second.outcome) == (True, "replaced")


@pytest.mark.parametrize("session", ["../../etc/x", "a/b", "a b", "é", "x" * 101, "\ud800", "a\0b"])
def test_an_odd_session_id_makes_no_odd_name(workspace: Path, tmp_path: Path, session: str) -> None:
    bring(workspace, put(tmp_path, {**START, "id": session}, user("Hi")))
    (name,) = names(workspace)
    assert name.removeprefix("openclaw-").removesuffix(".jsonl").isalnum()


def test_a_secret_that_is_a_session_id_is_written_nowhere(workspace: Path, tmp_path: Path) -> None:
    bring(workspace, put(tmp_path, {**START, "id": TOKEN}, user("Hi")))
    (file,) = (workspace / "sessions").iterdir()
    assert TOKEN not in file.name + file.read_text(encoding="utf-8")


# What is there already.


def test_the_same_transcript_is_there_once(workspace: Path) -> None:
    bring(workspace, CODEX)
    before = {file: file.stat().st_mtime_ns for file in (workspace / "sessions").iterdir()}
    assert [one.outcome for one in bring(workspace, CODEX)] == ["already there"]
    assert {file: file.stat().st_mtime_ns for file in (workspace / "sessions").iterdir()} == before


def test_a_conversation_that_grew_is_replaced(workspace: Path, tmp_path: Path) -> None:
    bring(workspace, put(tmp_path, START, user("Hi")))
    (one,) = bring(workspace, put(tmp_path, START, user("Hi"), assistant("Hello")))
    assert (one.outcome, shown(brought(workspace).turns)) == ("replaced", ["user: Hi", "assistant: Hello"])


def test_a_tool_that_was_called_since_is_growth(workspace: Path, tmp_path: Path) -> None:
    call = {"type": "toolCall", "name": "exec"}
    bring(workspace, put(tmp_path, START, assistant("I look")))
    (one,) = bring(workspace, put(tmp_path, START, assistant("I look"), assistant([call])))
    assert (one.outcome, shown(brought(workspace).turns)) == ("replaced", ["assistant [exec]: I look"])


def test_an_older_copy_does_not_take_the_place_of_a_newer_one(workspace: Path, tmp_path: Path) -> None:
    bring(workspace, put(tmp_path, START, user("Hi"), assistant("Hello")))
    (one,) = bring(workspace, put(tmp_path, START, user("Hi")))
    assert (one.outcome, len(brought(workspace).turns)) == ("already there", 2)


def test_a_conversation_that_went_another_way_is_kept_beside(workspace: Path, tmp_path: Path) -> None:
    bring(workspace, put(tmp_path, START, user("Hi"), assistant("Hello")))
    (one,) = bring(workspace, put(tmp_path, START, user("Hi"), assistant("Good day")))
    assert (one.path, names(workspace)) == (
        "sessions/openclaw-s1-2.jsonl",
        ["openclaw-s1-2.jsonl", "openclaw-s1.jsonl"],
    )


def test_a_conversation_that_is_kept_beside_is_known_again(workspace: Path, tmp_path: Path) -> None:
    bring(workspace, put(tmp_path, START, user("Hi"), assistant("Hello")))
    other = put(tmp_path, START, user("Hi"), assistant("Good day"))
    bring(workspace, other)
    (one,) = bring(workspace, other)
    assert (one.outcome, one.path) == ("already there", "sessions/openclaw-s1-2.jsonl")


def test_there_is_an_end_to_other_names(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imported, "_MOST_NAMES", 2)
    ones = [bring(workspace, put(tmp_path, START, user(text)))[0] for text in ("One", "Two", "Three")]
    assert [one.outcome for one in ones] == ["imported", "imported", "failed"]


def test_a_file_of_somebody_else_is_not_touched(workspace: Path, tmp_path: Path) -> None:
    write(workspace, {"sessions/openclaw-s1.jsonl": "mine\n"})
    bring(workspace, put(tmp_path, START, user("Hi")))
    assert (workspace / "sessions/openclaw-s1.jsonl").read_text(encoding="utf-8") == "mine\n"


def test_what_clients_wrote_is_not_changed(workspace: Path) -> None:
    before = {file: file.read_bytes() for file, _, _ in FIXTURES.values()}
    bring(workspace, *before)
    assert {file: file.read_bytes() for file in before} == before


def test_nothing_unfinished_is_left(workspace: Path) -> None:
    bring(workspace, CODEX, CODEX)
    assert len(names(workspace)) == 1


# Secrets, and what was forgotten.


def test_secrets_are_taken_out_and_counted(workspace: Path, tmp_path: Path) -> None:
    (one,) = bring(workspace, put(tmp_path, START, user(f"Use {TOKEN} for it.")))
    assert (one.redacted, shown(brought(workspace).turns)) == (
        {"github-token": 1},
        ["user: Use [redacted:github-token] for it."],
    )


def test_a_rule_of_the_settings_counts(workspace: Path, tmp_path: Path) -> None:
    file = put(tmp_path, START, user("My badge is B-12345678."))
    (one,) = bring(workspace, file, **{"redaction.rules": {"badge": "B-[0-9]{8}"}})
    assert one.redacted == {"badge": 1}


def test_a_secret_that_an_earlier_copy_holds_goes_with_the_next(workspace: Path, tmp_path: Path) -> None:
    secret = jsonl({**START, "client": "openclaw"}, user(f"Use {TOKEN} for it."))
    write(workspace, {"sessions/openclaw-s1.jsonl": secret})
    bring(workspace, put(tmp_path, START, user(f"Use {TOKEN} for it.")))
    below = [file for file in workspace.rglob("*") if file.is_file()]
    assert not any(TOKEN.encode() in file.read_bytes() for file in below)


def test_what_was_forgotten_is_not_brought_in(workspace: Path, tmp_path: Path) -> None:
    bury(Workspace.at(workspace), ["The safe is behind the painting."])
    bring(workspace, put(tmp_path, START, user("The safe is behind the painting."), user("Hi")))
    assert shown(brought(workspace).turns) == ["user: Hi"]


@pytest.mark.parametrize("session", ["s1", "openclaw-s1", "talk"])
def test_a_session_that_was_forgotten_is_not_brought_in(
    workspace: Path, tmp_path: Path, session: str
) -> None:
    bury(Workspace.at(workspace), [], [session])
    (one,) = bring(workspace, put(tmp_path, START, user("Hi")))
    assert (one.outcome, "was forgotten" in one.problem) == ("failed", True)


# What cannot be brought in.


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "is not a transcript"),
        ("hello\n", "is not a transcript"),
        ("\0\1\2", "is not a transcript"),
        ("[" * 100_000, "is not a transcript"),
        ('{"info": {' * 10_000, "is not a transcript"),
        ('{"name": "package", "version": "1"}', "is not a transcript"),
        (jsonl(START), "nothing is said"),
        (jsonl(START, message("toolResult", "x")), "nothing is said"),
        (jsonl(START, user("<private>Mine.</private>")), "nothing is said"),
    ],
)
def test_a_file_that_holds_no_conversation_is_told(
    workspace: Path, tmp_path: Path, text: str, problem: str
) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text(text, encoding="utf-8")
    (one,) = bring(workspace, file)
    assert (one.outcome, problem in one.problem) == ("failed", True)


def test_a_file_that_is_not_there_is_told(workspace: Path, tmp_path: Path) -> None:
    (one,) = bring(workspace, tmp_path / "a.jsonl")
    assert one.problem == f"there is no file '{tmp_path / 'a.jsonl'}'. Check its name"


@pytest.mark.parametrize("name", [".", "a\0b"])
def test_what_is_no_file_is_told(workspace: Path, name: str) -> None:
    (one,) = bring(workspace, name)
    assert "cannot be read" in one.problem


def test_a_link_is_not_followed(workspace: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.jsonl"
    link.symlink_to(CODEX)
    (one,) = bring(workspace, link)
    assert "is a symbolic link" in one.problem


def test_a_file_that_cannot_be_brought_in_takes_no_other_with_it(workspace: Path, tmp_path: Path) -> None:
    outcomes = [one.outcome for one in bring(workspace, CODEX, tmp_path / "missing.jsonl", CLAUDE_CODE)]
    assert outcomes == ["imported", "failed", "imported"]


def test_a_linked_folder_of_transcripts_is_not_written_to(workspace: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (workspace / "sessions").symlink_to(elsewhere)
    (one,) = bring(workspace, CODEX)
    assert (one.outcome, list(elsewhere.iterdir())) == ("failed", [])


READ_ONLY = """
import sys
from memlines.paths import Workspace
from memlines.memory.conversations.conversation import import_transcripts
from memlines.settings import load
workspace = Workspace.at(sys.argv[1])
(one,) = import_transcripts(workspace, load(workspace).settings, [sys.argv[2]])
print(one.outcome, one.problem)
"""


def test_a_folder_that_may_not_be_written_is_told(workspace: Path) -> None:
    bring(workspace, CLAUDE_CODE)
    (workspace / "sessions").chmod(0o555)
    done = unprivileged_run(READ_ONLY, workspace, CODEX)
    (workspace / "sessions").chmod(0o755)
    assert done.stdout.startswith("failed ")
    assert "permission denied" in done.stdout


# The format.

texts = st.text(min_size=1).map(lambda text: lines.words([{"type": "text", "text": text}], "text"))
turns = st.builds(
    Turn,
    role=st.sampled_from(["user", "assistant"]),
    text=texts.filter(bool),
    line=st.just(0),
    tools=st.just(()),
)


@given(st.lists(turns, min_size=1))
def test_what_is_written_says_the_same(said: list[Turn]) -> None:
    text = converting.format_transcript("s1", "codex", None, said).decode()
    conversation = converting.parse_conversation(text)
    assert conversation is not None
    assert (conversation.client, conversation.session) == ("codex", "s1")
    assert shown(conversation.transcript.turns) == shown(said)


@given(st.text())
def test_no_text_is_an_error(text: str) -> None:
    converting.parse_conversation(text)


@given(st.data())
@pytest.mark.parametrize("client", FIXTURES)
def test_no_damage_of_a_transcript_is_an_error(client: str, data: st.DataObject) -> None:
    text = content(FIXTURES[client][0])[:20_000]
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    converting.parse_conversation(text[:start] + data.draw(st.text(max_size=5)) + text[end:])
