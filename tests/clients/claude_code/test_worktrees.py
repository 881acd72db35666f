"""Claude Code in two worktrees of one repository, which share a memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.clients.claude_code.machine import TOOL, Machine, Session, heard
from tests.clients.harness import git

PORT = f'CALL {TOOL} {{"query": "port of the staging database"}}'
TEA = f'CALL {TOOL} {{"query": "which tea is in the kitchen"}}'


@pytest.fixture(scope="module")
def linked(machine: Machine, shop: Path) -> Path:
    """A worktree of the project's repository, with the client set up and without notes."""
    folder = shop.with_name(f"{shop.name}-feature")
    who = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    git(shop, *who, "commit", "-q", "--allow-empty", "-m", "first")
    git(shop, "worktree", "add", "-q", str(folder))
    machine.memlines(folder, "install", "claude-code")
    return folder


def test_a_worktree_answers_from_the_notes_of_the_main_one(machine: Machine, linked: Path) -> None:
    asked = Session(machine, linked, "--allowedTools", TOOL).say(PORT)
    assert "port 5433" in asked[-1].results[0]


def test_a_session_in_a_worktree_starts_with_these_notes(machine: Machine, linked: Path) -> None:
    assert "> - The staging database listens on port 5433." in heard(Session(machine, linked).say("Hello."))


def test_what_is_remembered_in_a_worktree_is_found_in_the_main_one(
    machine: Machine, shop: Path, linked: Path
) -> None:
    machine.memlines(linked, "remember", "The tea in the kitchen is oolong.", "--topic", "kitchen")
    asked = Session(machine, shop, "--allowedTools", TOOL).say(TEA)
    assert "oolong" in asked[-1].results[0]


def test_a_worktree_gets_no_memory_of_its_own(machine: Machine, linked: Path) -> None:
    Session(machine, linked).say("Good evening.")
    assert [name for name in ("MEMORY.md", "memory", ".memory") if (linked / name).exists()] == []
