"""OpenCode in two worktrees of one repository, which share a memory."""

from __future__ import annotations

import pytest

from tests.clients.harness import git
from tests.clients.opencode.conftest import Open
from tests.clients.opencode.window import Window


@pytest.fixture(scope="module")
def main(open_project: Open) -> Window:
    return open_project(name="worktrees")


@pytest.fixture(scope="module")
def linked(main: Window) -> Window:
    """A worktree of the project's repository, with the plugin and without notes."""
    folder = main.folder.with_name(f"{main.folder.name}-feature")
    git(main.folder, "worktree", "add", "-q", str(folder))
    main.server.machine.memlines(folder, "install", "opencode", "--project")
    return Window(main.server, folder)


def test_a_worktree_answers_from_the_notes_of_the_main_one(linked: Window) -> None:
    assert "5433" in linked.call("memory_search", query="port of the staging database").output


def test_what_a_model_remembers_in_a_worktree_is_found_in_the_main_one(main: Window, linked: Window) -> None:
    linked.call("memory_remember", text="The tea in the kitchen is oolong.", topic="kitchen")
    assert "oolong" in main.call("memory_search", query="which tea is in the kitchen").output


def test_a_worktree_gets_no_memory_of_its_own(linked: Window) -> None:
    linked.say("Good evening.")
    assert [name for name in ("MEMORY.md", "memory", ".memory") if (linked.folder / name).exists()] == []
