"""Facts inside the real Claude Code: stored over MCP, told unasked, taken from what the user says."""

from __future__ import annotations

from pathlib import Path

import pytest

from memlines.text.fact_note import facts_in
from tests.clients.claude_code.machine import Machine, Session, heard
from tests.waiting import eventually

STORE = "mcp__memlines__memory_store"
RECALL = "mcp__memlines__memory_recall"
FORGET = "mcp__memlines__memory_forget"
FACT = "The warehouse in Delft has four robots."
SAID = "By the way, our release manager is called Boleslava Krejci. Good morning."


@pytest.fixture(scope="module")
def session(machine: Machine, shop: Path) -> Session:
    return Session(machine, shop, "--allowedTools", STORE, RECALL)


@pytest.fixture(scope="module")
def stored(session: Session) -> None:
    session.say(f'CALL {STORE} {{"text": "{FACT}", "category": "fact"}}')


def facts(shop: Path) -> list[str]:
    return [line.fact.text for line in facts_in((shop / "memory/facts.md").read_text(encoding="utf-8"))]


def test_a_fact_is_stored_as_a_line_of_its_note(shop: Path, stored: None) -> None:
    assert facts(shop) == [FACT]


def test_a_stored_fact_is_recalled(session: Session, stored: None) -> None:
    asked = session.say(f'CALL {RECALL} {{"query": "how many robots has the warehouse in Delft?"}}')
    assert FACT in asked[-1].results[-1]


def test_a_query_forgets_nothing(machine: Machine, shop: Path, stored: None) -> None:
    asked = Session(machine, shop, "--allowedTools", FORGET).say(f'CALL {FORGET} {{"query": "{FACT}"}}')
    assert "Nothing is forgotten yet." in asked[-1].results[-1]
    assert FACT in facts(shop)


def test_a_fact_that_fits_is_told_unasked(machine: Machine, shop: Path, stored: None) -> None:
    def is_told() -> bool:  # the client waits 300 ms, which is little while all tests run at once
        asked = Session(machine, shop).say("How many robots does our warehouse in Delft have?")
        return f"> {FACT}" in heard(asked)

    eventually(is_told)


def test_what_the_user_says_is_captured(machine: Machine, shop: Path, stored: None) -> None:
    (shop / ".memory/config.yaml").write_text("facts:\n  auto_capture: true\n", encoding="utf-8")
    machine.memlines(shop, "config", "trust")
    Session(machine, shop).say(SAID)
    eventually(lambda: any("Boleslava Krejci" in fact for fact in facts(shop)))
