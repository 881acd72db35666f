"""OpenCode as other people run it: once from a script, twice on one project, for all projects, offline."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.clients.harness import NOTES, run_offline
from tests.clients.opencode.conftest import Open
from tests.clients.opencode.machine import Machine, Server
from tests.clients.opencode.model import Model
from tests.clients.opencode.offline import project_in, turn
from tests.clients.opencode.window import ToolCall, Window
from tests.waiting import eventually

EACH = 8


class Once:
    """What came of one call of `opencode run`."""

    def __init__(self, project: Path, told: str, *, is_offline: bool) -> None:
        self.snapshots = list((project / ".memory/snapshots").glob("*.json"))
        self.is_offline = is_offline
        found = json.loads(told)
        self.calls = [ToolCall.of(part) for part in found["calls"]]
        self.engines: list[int] = found["engines"]


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory, program: Path, model: Model) -> Once:
    """A call of `opencode run`: without a network, if the system gives it one of its own."""
    folder = tmp_path_factory.mktemp("once")
    try:
        told, is_offline = run_offline("tests.clients.opencode.offline", program, folder), True
    except pytest.skip.Exception:
        told, is_offline = turn(program, folder, model), False
    return Once(project_in(folder), told, is_offline=is_offline)


class TestRun:
    def test_the_tool_answers(self, once: Once) -> None:
        (call,) = once.calls
        assert "MEMORY.md#L" in call.output

    def test_the_turn_is_kept(self, once: Once) -> None:
        assert len(once.snapshots) == 1

    def test_the_engine_ends_with_it(self, once: Once) -> None:
        (pid,) = once.engines
        eventually(lambda: not _is_alive(pid))

    def test_it_does_not_wait_for_npm_without_a_network(self, once: Once) -> None:
        """OpenCode asks npm at every start, and waits longer than the limit if nobody answers."""
        if not once.is_offline:
            pytest.skip("the system gives no network of its own")
        assert "MEMORY.md#L" in once.calls[0].output


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_two_programs_on_one_project_lose_nothing(open_project: Open, machine: Machine) -> None:
    first = open_project(name="shared")
    with machine.serve() as another:
        windows = {"left": first, "right": Window(another, first.folder)}

        def remember(side: str) -> list[str]:
            texts = [f"The {side} hand counts to {number}." for number in range(EACH)]
            said = windows[side].say(
                " ;; ".join(f"CALL memory_remember {json.dumps({'text': text})}" for text in texts)
            )
            assert ["Remembered" in call.output for call in said.calls] == [True] * EACH
            return texts

        with ThreadPoolExecutor(2) as threads:
            said = [text for texts in threads.map(remember, windows) for text in texts]
    assert [text for text in said if first.notes().count(text) != 1] == []


@pytest.fixture(scope="module")
def everywhere(tmp_path_factory: pytest.TempPathFactory, program: Path, model: Model) -> Iterator[Server]:
    """An OpenCode with the plugin for all projects, whose conversations are searched as well."""
    machine = Machine(tmp_path_factory.mktemp("everywhere"), program, model)
    machine.memlines(machine.home, "install", "opencode", "--global")
    with machine.serve(MEMLINES_SOURCES="memory,sessions", MEMLINES_SESSIONS__CLIENTS="opencode") as server:
        yield server


@pytest.fixture(scope="module")
def noted(everywhere: Server) -> Window:
    """A project with notes."""
    window = Window(everywhere, everywhere.machine.project("noted"))
    for name, text in NOTES.items():
        window.write(name, text)
    return window


@pytest.fixture(scope="module")
def plain(everywhere: Server) -> Window:
    """A project that nobody wants a memory in, after a turn."""
    window = Window(everywhere, everywhere.machine.project("plain"))
    window.say("What did we decide last week about the harbour?")
    return window


class TestForAllProjects:
    def test_a_project_with_notes_has_its_memory(self, noted: Window) -> None:
        assert "MEMORY.md#L" in noted.call("memory_search", query="port of the staging database").output

    def test_a_project_without_notes_stays_untouched(self, plain: Window) -> None:
        left = subprocess.run(
            ["git", "status", "--porcelain", "--ignored"],
            cwd=plain.folder,
            stdout=subprocess.PIPE,
            check=True,
            encoding="utf-8",
        )
        assert left.stdout == ""

    def test_a_project_without_notes_sees_none_of_another(self, noted: Window, plain: Window) -> None:
        noted.call("memory_recall")
        plain.say("Good morning, plain project")
        (asked,) = plain.model.about("Good morning, plain project")
        assert "5433" not in asked.everything

    def test_the_first_thing_to_remember_begins_a_memory(self, plain: Window) -> None:
        """The last test with this project: from now on it has a memory."""
        assert "Remembered" in plain.call("memory_remember", text="The harbour opens at nine.").output
        assert "The harbour opens at nine." in plain.notes()

    def test_a_project_that_has_the_plugin_too_is_told_its_notes_once(self, everywhere: Server) -> None:
        window = Window(everywhere, everywhere.machine.project("both"))
        window.write("MEMORY.md", NOTES["MEMORY.md"])
        everywhere.machine.memlines(window.folder, "install", "opencode", "--project")
        asked = window.say_at_start("Good morning, both places")
        assert asked.system.count("The staging database listens on port 5433.") == 1


def test_what_was_said_is_found_in_another_session(noted: Window) -> None:
    noted.say("The lighthouse keeper is called Hendrik.")

    def is_found() -> bool:
        """Look among many results: every try is a session that fits as well."""
        query = "name of the lighthouse keeper"
        return "Hendrik" in noted.call("memory_search", query=query, max_results=50).output

    eventually(is_found)
