"""Whatever becomes of the engine, a turn ends, and the next one works."""

from __future__ import annotations

import json
import os
import signal

import pytest

from tests.clients.opencode.conftest import Open
from tests.clients.opencode.engine import EngineOf, command_file
from tests.clients.opencode.faulty_engine import WITHOUT
from tests.clients.opencode.model import END
from tests.clients.opencode.window import Answer, Window
from tests.waiting import eventually

SEARCH = 'CALL memory_search {"query": "port of the staging database"}'
REMEMBER = 'CALL memory_remember {"text": "The harbour has a fault."}'


class Killed:
    """A project whose engine gets killed in the middle of calls."""

    def __init__(self, window: Window) -> None:
        self.window = window
        self.engine = EngineOf(window.folder)
        window.call("memory_recall")
        self.forgot = self.during('CALL memory_forget {"query": "staging"}')
        self.searched = self.during(SEARCH)
        self.after = window.say(SEARCH)
        self.starts = len(self.engine.pids())

    def during(self, prompt: str) -> Answer:
        """Let the model call a tool, and kill the engine while it has the call."""
        pid = self.engine.pids()[-1]
        os.kill(pid, signal.SIGSTOP)
        session = self.window.session()
        with self.window.saying(prompt, session) as turn:
            eventually(lambda: "running" in {call.status for call in self.window.answer(session).calls})
            os.kill(pid, signal.SIGKILL)
        return turn.result()


@pytest.fixture(scope="module")
def killed(open_project: Open) -> Killed:
    """An engine that was killed twice, and called again."""
    return Killed(open_project(name="killed"))


class TestKilled:
    def test_the_turn_ends(self, killed: Killed) -> None:
        assert killed.forgot.text == END

    def test_the_model_reads_what_happened(self, killed: Killed) -> None:
        assert killed.forgot.output.startswith("memory unavailable: ")

    def test_a_call_that_does_no_harm_is_done_again(self, killed: Killed) -> None:
        assert "MEMORY.md#L" in killed.searched.output

    def test_the_next_call_works(self, killed: Killed) -> None:
        assert "MEMORY.md#L" in killed.after.output

    def test_it_is_started_once_for_each_time(self, killed: Killed) -> None:
        assert killed.starts == 3


@pytest.fixture(scope="module")
def nowhere(open_project: Open) -> Window:
    """A project whose engine cannot be started."""
    window = open_project(name="nowhere")
    told = {"command": ["/nowhere/python", "-m", "memlines", "serve", "--stdio"]}
    command_file(window.folder).write_text(json.dumps(told), encoding="utf-8")
    return window


class TestWithoutInterpreter:
    @pytest.fixture
    def window(self, nowhere: Window) -> Window:
        return nowhere

    def test_a_turn_ends(self, window: Window) -> None:
        assert window.say("Good morning without an interpreter").text == END

    def test_every_call_of_a_tool_says_the_same(self, window: Window) -> None:
        told = {window.call("memory_search", query="x").output for _ in range(3)}
        told |= {window.call("memory_remember", text="x").output, window.call("memory_recall").output}
        (sentence,) = told
        assert sentence.startswith("memory unavailable: Memlines is not installed on this machine: ")

    def test_a_compaction_ends(self, window: Window) -> None:
        session = window.session()
        window.say("We decided to leave the harbour at noon.", session)
        window.compact(session)
        assert window.say("And on we go", session).text == END


@pytest.fixture(scope="module")
def odd(open_project: Open) -> tuple[Window, EngineOf]:
    """A project whose engine can be made to answer oddly."""
    window = open_project(name="odd")
    return window, EngineOf(window.folder, WITHOUT)


class TestOddAnswers:
    @pytest.mark.parametrize(
        "fault", ["garbage", "endless line", "answers twice", "slow", "in pieces", "shouts"]
    )
    def test_the_right_one_is_found_among(self, odd: tuple[Window, EngineOf], fault: str) -> None:
        window, engine = odd
        engine.fault(fault)
        assert "MEMORY.md#L" in window.say(SEARCH).output

    def test_an_answer_of_another_shape_ends_the_turn(self, odd: tuple[Window, EngineOf]) -> None:
        window, engine = odd
        engine.fault("other shapes")
        assert window.say(SEARCH).text == END


def test_a_disk_that_is_full_is_told_to_the_model(odd: tuple[Window, EngineOf]) -> None:
    """The last test with this engine: for it, the disk stays full."""
    window, engine = odd
    window.write("memory/2026-01-01.md", "- An old line.\n" * 100)
    engine.fault("disk full")
    (call,) = window.call("memory_remember", text="There is no room for this. " * 40).calls
    assert call.output.startswith("memory unavailable: ")


@pytest.mark.slow  # the fault turns try these too, many times over
@pytest.mark.parametrize(
    "fault",
    ["killed", "killed at any moment", "half an answer", "disk full", "does not start", "starts late"],
)
def test_a_turn_ends_with_an_engine_that(open_project: Open, fault: str) -> None:
    window = open_project(name="faulty")
    EngineOf(window.folder, fault)
    answer = window.say(f"{SEARCH} ;; {REMEMBER}")
    assert answer.text == END
    assert [call.status for call in answer.calls] == ["completed", "completed"]
