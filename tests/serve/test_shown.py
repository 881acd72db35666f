"""What leaves for a client is recorded; nothing else is, and no answer fails because of it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memlines.files.shown import Answer, read_answers
from memlines.paths import Workspace
from memlines.serve import shown
from memlines.serve.hooks.events import Events
from memlines.serve.mcp.server import Server
from memlines.serve.rpc.engine import Engine
from memlines.serve.rpc.workplace import Workplace
from memlines.serve.shown import lines_cited
from memlines.serve.tools import call_tool
from tests.memories import words_memory, write
from tests.programs import Cli, read_only, unprivileged_run
from tests.serve.hooks import CLIENT

PORT = "The staging database listens on port 5433."
NOTES = {"MEMORY.md": f"# Shop\n\n- {PORT}\n", "birds.md": "- The kestrel nests in the old church tower\n"}
QUESTION = "Which port did we choose for the staging database?"


@pytest.fixture(autouse=True)
def _words_only(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMLINES_EMBEDDINGS__PROVIDER", "none")
    monkeypatch.setattr(shown, "_noticed", set())
    write(workspace, NOTES)


@pytest.fixture
def engine(workspace: Path) -> Iterator[Engine]:
    made = Engine(workspace)
    call(made, "initialize", protocol=1, client={"name": "opencode"})
    yield made
    made.close()


@pytest.fixture
def events(workspace: Path) -> Iterator[Events]:
    made = Events(workspace)
    yield made
    made.close()


def call(engine: Engine, method: str, **params: Any) -> Any:
    return engine.methods()[method].call(params)


def recorded(workspace: Path) -> list[Answer]:
    return read_answers(Workspace.at(workspace))


def brief(workspace: Path) -> list[tuple[str, str, str, str, list[str]]]:
    return [
        (one.kind, one.session, one.client, one.query, [line.citation for line in one.lines])
        for one in recorded(workspace)
    ]


# What is recorded


def test_the_start_of_a_session(engine: Engine, workspace: Path) -> None:
    call(engine, "session/start", session="one")
    assert brief(workspace) == [("start", "one", "opencode", "", ["MEMORY.md#L3"])]


def test_what_a_message_brings(engine: Engine, workspace: Path) -> None:
    write(workspace, {"facts.md": "- We keep the church tower key at the vicar's house\n"})
    asked = "Where did we say is the key of our church tower?"
    call(engine, "session/message", session="one", text=asked)
    ((kind, session, client, query, lines),) = brief(workspace)
    assert (kind, session, client, query) == ("context", "one", "opencode", asked)
    assert lines[0] == "memory/facts.md#L1"


def test_a_message_that_brings_nothing_leaves_nothing(engine: Engine, workspace: Path) -> None:
    call(engine, "session/message", session="one", text="Write a haiku about quicksort.")
    assert recorded(workspace) == []


@pytest.mark.parametrize(
    ("tool", "arguments", "query"),
    [
        ("search", {"query": "kestrel"}, "kestrel"),
        ("recall", {"query": "kestrel"}, "kestrel"),
        ("get", {"path": "memory/birds.md#L1"}, ""),
        ("forget", {"query": "kestrel"}, "kestrel"),
    ],
)
def test_what_a_tool_answers(
    engine: Engine, workspace: Path, tool: str, arguments: dict[str, str], query: str
) -> None:
    call(engine, "tools/call", name=f"memory_{tool}", arguments=arguments, session="one")
    assert brief(workspace) == [(tool, "one", "opencode", query, ["memory/birds.md#L1"])]


def test_what_a_tool_forgets_is_not_recorded(engine: Engine, workspace: Path) -> None:
    found = call(engine, "tools/call", name="memory_forget", arguments={"query": "kestrel"})
    chosen = found["data"]["candidates"][0]["id"]
    call(engine, "tools/call", name="memory_forget", arguments={"id": chosen})
    assert recorded(workspace) == []


def test_facts_have_their_score(engine: Engine, workspace: Path) -> None:
    write(workspace, {"facts.md": "- Ada prefers tea over coffee\n"})
    call(engine, "tools/call", name="memory_recall", arguments={"query": "what does Ada prefer?"})
    (line,) = recorded(workspace)[0].lines
    assert (line.citation, line.score is not None) == ("memory/facts.md#L1", True)


def test_hits_are_recorded_where_citations_are_switched_off(workspace: Path) -> None:
    with words_memory(workspace, {}, citations="off") as memory:
        call_tool(memory, "memory_search", {"query": "kestrel"})
    assert brief(workspace)[0][-1] == ["memory/birds.md#L1"]


def test_only_what_fitted_into_an_answer_is_recorded(workspace: Path) -> None:
    many = {f"heron{at}.md": f"The heron of pond {at} {'waits and waits ' * 30}\n" for at in range(20)}
    with words_memory(workspace, many, tools__max_chars=3_000) as memory:
        given = call_tool(memory, "memory_search", {"query": "heron", "max_results": 20, "min_score": 0})
    assert len(recorded(workspace)[0].lines) == len(given.data["results"]) < 20


def test_what_a_tool_writes_was_not_shown(engine: Engine, workspace: Path) -> None:
    call(engine, "tools/call", name="memory_remember", arguments={"text": "The owl sleeps by day"})
    call(engine, "tools/call", name="memory_store", arguments={"text": "The owl hunts by night"})
    call(engine, "tools/call", name="memory_status", arguments={})
    assert recorded(workspace) == []


def test_a_note_that_a_client_of_mcp_reads(workspace: Path) -> None:
    server = Server(Workplace(workspace))
    methods = server.methods()
    about = {"name": "claude-code", "version": "1"}
    methods["initialize"].call({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": about})
    methods["resources/read"].call({"uri": "memory://memory/birds.md"})
    methods["tools/call"].call({"name": "memory_search", "arguments": {"query": "kestrel"}})
    server.close()
    assert [one[:3] for one in brief(workspace)] == [
        ("note", "", "claude-code"),
        ("search", "", "claude-code"),
    ]


def test_the_client_of_mcp_is_not_guessed_among_several(workspace: Path) -> None:
    server = Server(Workplace(workspace))
    for name in ("claude-code", "codex"):
        about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": name}}
        server.methods()["initialize"].call(about)
    server.methods()["resources/read"].call({"uri": "memory://memory/birds.md"})
    server.close()
    assert brief(workspace)[0][2] == ""


# Hooks


def test_hooks_record_their_client(events: Events, workspace: Path) -> None:
    given = {"session_id": "one", "cwd": str(workspace)}
    events.run(CLIENT, "SessionStart", {**given, "source": "startup"})
    write(workspace, {"ports.md": "- The production database listens on port 9999\n"})
    events.run(CLIENT, "UserPromptSubmit", {**given, "prompt": "Which port did we say production uses?"})
    assert [(one[0], one[1], one[2]) for one in brief(workspace)] == [
        ("start", "one", CLIENT),
        ("context", "one", CLIENT),
    ]


def test_a_conversation_that_is_resumed_is_not_shown_its_start_again(events: Events, workspace: Path) -> None:
    given = {"session_id": "one", "cwd": str(workspace)}
    events.run(CLIENT, "SessionStart", {**given, "source": "startup"})
    assert events.run(CLIENT, "SessionStart", {**given, "source": "resume"}) == {}
    assert [one[0] for one in brief(workspace)] == ["start"]


def test_the_end_of_a_turn_records_what_the_agent_cites(engine: Engine, workspace: Path) -> None:
    call(engine, "session/start", session="one")
    said = [
        {"role": "assistant", "content": "An earlier turn: memory/birds.md#L1"},
        {"role": "user", "content": "Is MEMORY.md#L1 right?"},
        {"role": "assistant", "content": "It is **5433** (`MEMORY.md#L3`), see src/app.py#L9."},
    ]
    call(engine, "session/idle", session="one", messages=said)
    assert brief(workspace)[-1] == ("cited", "one", "opencode", "", ["MEMORY.md#L3"])


@pytest.mark.parametrize(
    "text",
    [
        "memory/a.md#L3",
        "see (memory/a.md#L3).",
        "**memory/a.md#L3**, done",
        "[memory/a.md#L3](x)",
        "`memory/a.md#L3`",
        "x|memory/a.md#L3|y",
    ],
)
def test_a_citation_is_found_in_what_an_agent_says(text: str) -> None:
    assert [line.citation for line in lines_cited([{"role": "assistant", "content": text}])] == [
        "memory/a.md#L3"
    ]


# What is not recorded


def test_a_search_of_a_person_is_not_recorded(cli: Cli, workspace: Path) -> None:
    cli("search", "kestrel", "-w", workspace)
    cli("recall", "kestrel", "-w", workspace)
    cli("get", "memory/birds.md", "-w", workspace)
    cli("context", "kestrel", "-w", workspace)
    assert recorded(workspace) == []


def test_a_search_of_a_program_is_not_recorded(workspace: Path) -> None:
    with words_memory(workspace, {}) as memory:
        memory.search("kestrel")
        memory.context("where does the kestrel nest?")
    assert recorded(workspace) == []


def test_nothing_is_recorded_where_it_is_switched_off(workspace: Path) -> None:
    with words_memory(workspace, {}, blame__enabled=False) as memory:
        call_tool(memory, "memory_search", {"query": "kestrel"})
    assert not (workspace / ".memory/shown.jsonl").exists()


def test_a_project_may_switch_it_off(engine: Engine, workspace: Path) -> None:
    (workspace / ".memory").mkdir(exist_ok=True)
    (workspace / ".memory/config.yaml").write_text("blame:\n  enabled: false\n", encoding="utf-8")
    call(engine, "session/start", session="one")
    assert recorded(workspace) == []


# Faults


READ_ONLY = """
import json, sys
from pathlib import Path
from memlines.serve.rpc.engine import Engine
methods = Engine(Path(sys.argv[1])).methods()
methods["initialize"].call({"protocol": 1})
for query in ("kestrel", "church tower"):
    done = methods["tools/call"].call({"name": "memory_search", "arguments": {"query": query}})
    print(json.dumps(done["text"]))
"""


def test_a_read_only_workspace_answers_and_says_once_that_nothing_is_recorded(
    engine: Engine, workspace: Path
) -> None:
    call(engine, "tools/call", name="memory_search", arguments={"query": "kestrel"})  # makes the index
    engine.close()
    with read_only(workspace):
        done = unprivileged_run(READ_ONLY, workspace)
    assert [("kestrel nests" in json.loads(line)) for line in done.stdout.splitlines()] == [True, True]
    assert done.stderr.count("what agents are shown is not recorded") == 1


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), RuntimeError("a mistake of ours")])
def test_an_answer_is_given_whatever_prevents_its_record(
    engine: Engine,
    workspace: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    error: Exception,
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr("memlines.memory.recording.append", fail)
    contexts = [call(engine, "session/start", session=name)["context"] for name in ("one", "two")]
    assert [PORT in context for context in contexts] == [True, True]
    assert capsys.readouterr().err.count("what agents are shown is not recorded") == 1


def test_a_pipe_in_the_place_of_the_record_holds_no_answer_up(engine: Engine, workspace: Path) -> None:
    call(engine, "session/start", session="one")
    (workspace / ".memory/shown.jsonl").unlink()
    os.mkfifo(workspace / ".memory/shown.jsonl")
    assert PORT in call(engine, "session/start", session="two")["context"]
