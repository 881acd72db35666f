"""Claude Code in two projects: what is stored as personal in one is given to the other."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.clients.claude_code.machine import Machine, Session, heard
from tests.waiting import eventually

STORE = "mcp__memlines__memory_store"
FACT = "My aunt Philippa lives in Ghent."


@pytest.fixture(scope="module")
def stored(machine: Machine, shop: Path) -> None:
    session = Session(machine, shop, "--allowedTools", STORE)
    session.say(f'CALL {STORE} {{"text": "{FACT}", "personal": true}}')


def test_a_personal_fact_is_given_unasked_in_another_project(machine: Machine, stored: None) -> None:
    other = machine.project("bakery")
    machine.memlines(other, "install", "claude-code")

    def is_given() -> bool:  # the client waits 300 ms, which is little while all tests run at once
        return f"> {FACT}" in heard(Session(machine, other).say("Where does my aunt Philippa live?"))

    eventually(is_given)


def test_nothing_of_it_is_in_the_notes_of_the_project(shop: Path, stored: None) -> None:
    assert [str(note) for note in shop.rglob("*.md") if b"Philippa" in note.read_bytes()] == []
