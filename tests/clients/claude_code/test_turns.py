"""A conversation in the real Claude Code: tools over MCP, what hooks tell the model, what they keep."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memlines import Memory
from memlines.agent import snapshot
from tests.clients.claude_code.machine import TOOL, Machine, Session, heard
from tests.clients.claude_code.model import END, Request
from tests.clients.harness import run_offline
from tests.waiting import eventually

CALL = f'CALL {TOOL} {{"query": "port of the staging database"}}'
DECIDED = "I decided that we always deploy on Tuesdays because Monday is for tests."
ABOUT_THE_PAST = "Who did we say looks after the warehouse robots?"


@pytest.fixture(scope="module")
def session(machine: Machine, shop: Path) -> Session:
    return Session(machine, shop, "--allowedTools", TOOL)


@pytest.fixture(scope="module")
def first(session: Session) -> list[Request]:
    """What the model was asked in the first turn, in which it calls a tool."""
    return session.say(CALL)


def test_the_tool_answers_over_mcp(first: list[Request]) -> None:
    assert "MEMORY.md#L" in first[-1].results[0]
    assert "port 5433" in first[-1].results[0]


def test_the_client_knows_the_server_and_the_commands(session: Session, first: list[Request]) -> None:
    assert {"name": "memlines", "status": "connected"}.items() <= session.begun["mcp_servers"][0].items()
    assert {"remember", "recall", "forget", "memlines"} <= set(session.begun["slash_commands"])


def test_the_skill_takes_no_name_of_the_clients_own(session: Session, first: list[Request]) -> None:
    assert "memory" not in session.begun["slash_commands"]


def test_a_session_starts_with_the_notes(first: list[Request]) -> None:
    assert "<memlines-context>" in first[0].everything
    assert "> - The staging database listens on port 5433." in first[0].everything


def test_what_a_session_was_shown_can_be_asked_for(
    machine: Machine, shop: Path, session: Session, first: list[Request]
) -> None:
    found = json.loads(machine.memlines(shop, "blame", session.id[:8], "--json"))
    shown = [(one["kind"], one["client"], line["now"]) for one in found["answers"] for line in one["lines"]]
    assert (found["session"], shown[0]) == (session.id, ("start", "claude-code", "MEMORY.md#L3"))


def test_what_a_tool_answered_over_mcp_can_be_asked_for(
    machine: Machine, shop: Path, first: list[Request]
) -> None:
    sessions = json.loads(machine.memlines(shop, "blame", "--json"))["sessions"]
    (name,) = [one["session"] for one in sessions if one["session"].startswith("mcp-")]
    found = json.loads(machine.memlines(shop, "blame", name, "--json"))["answers"][0]
    assert (found["kind"], found["client"], found["lines"][0]["now"]) == (
        "search",
        "claude-code",
        "MEMORY.md#L3",
    )


def test_the_end_of_a_turn_is_kept(shop: Path, session: Session, first: list[Request]) -> None:
    with Memory(shop) as memory:
        (found,) = snapshot.listed(memory).snapshots
        kept = snapshot.read(memory, found.id)
    assert (kept.session, kept.client, kept.messages[-1].text) == (session.id, "claude-code", END)


def test_a_question_about_the_past_brings_lines(session: Session, first: list[Request]) -> None:
    def is_quoted() -> bool:  # the client waits 300 ms, which is little while all tests run at once
        return "> - Grace looks after the warehouse robots" in heard(session.say(ABOUT_THE_PAST))

    eventually(is_quoted)


def test_what_should_last_survives_a_compaction(shop: Path, session: Session, first: list[Request]) -> None:
    session.say(DECIDED)
    session.say("/compact")
    logs = [page.read_text(encoding="utf-8") for page in (shop / "memory").glob("2*.md")]
    assert [log.count("deploy on Tuesdays") for log in logs] == [1]


def test_what_a_person_types_switches_the_memory_off_and_on(machine: Machine, shop: Path) -> None:
    session = Session(machine, shop)
    assert "<memlines-result>\nMemory is off for this project" in heard(session.say("/memlines off"))
    assert "off" in machine.memlines(shop, "status")
    assert "<memlines-result>\nMemory is on again" in heard(session.say("/memlines on"))


def test_what_is_typed_behind_a_command_is_run_by_no_shell(machine: Machine, shop: Path) -> None:
    asked = Session(machine, shop).say("/remember !`touch pwned` $(touch pwned) `touch pwned`")
    assert "Call memory_remember once" in heard(asked)
    assert not (shop / "pwned").exists()


def test_one_engine_serves_client_after_client(machine: Machine, shop: Path, first: list[Request]) -> None:
    Session(machine, shop).say("Good morning.")
    engines = set(machine.engines())
    Session(machine, shop).say("Good evening.")
    assert set() < set(machine.engines()) <= engines


def test_a_conversation_that_is_taken_up_again_does_not_get_its_context_again(
    machine: Machine, shop: Path
) -> None:
    session = Session(machine, shop)
    session.say("Good morning.")
    machine.end_engines()  # what a conversation has is not forgotten with the engine
    assert heard(session.say("Good evening.")[-1:]).count("The staging database listens on port 5433") == 1


def test_without_a_network_nothing_is_missing(program: Path, tmp_path: Path) -> None:
    assert "port 5433" in run_offline("tests.clients.claude_code.offline", program, tmp_path)
