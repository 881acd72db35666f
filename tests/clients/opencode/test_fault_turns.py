"""Two hundred turns with an engine that fails in every way: no client ends, and no turn hangs.

Every turn begins with an engine that works: the plugin lets one that keeps ending rest for a while, and a
fault that nobody meets proves nothing.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.clients.harness import NOTES
from tests.clients.opencode.engine import EngineOf
from tests.clients.opencode.faulty_engine import AT_START, FAULTS, WITHOUT
from tests.clients.opencode.machine import Machine, Server
from tests.clients.opencode.model import END, Model
from tests.clients.opencode.window import Answer, Window

TURNS = 200
WINDOWS = 4
SEED = 20_261_116
LIMIT = 150.0
"""Seconds that a turn may take: two calls that wait for an engine that hangs, and as long again."""

RECOVERY_SECONDS = 240.0
"""An engine that does not begin is given up after 20 seconds, and then rests for 30; several times."""

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3 * 3600)]


@dataclass
class Counted:
    """What became of the turns; the lists name those that went wrong."""

    turns: Counter[str] = field(default_factory=Counter)
    answered: int = 0
    unavailable: int = 0
    hung: list[str] = field(default_factory=list)
    not_ended: list[str] = field(default_factory=list)
    broken_calls: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    not_recovered: list[str] = field(default_factory=list)


class Project:
    """A project whose engine fails in another way every turn."""

    def __init__(self, server: Server, number: int, counted: Counted) -> None:
        self.window = Window(server, server.machine.project(f"shop-{number}"))
        for name, text in NOTES.items():
            self.window.write(name, text)
        server.machine.memlines(self.window.folder, "install", "opencode", "--project")
        self.engine = EngineOf(self.window.folder, WITHOUT)
        self.chance = random.Random(f"{SEED}:{number}")
        self.counted = counted
        self.acknowledged: list[str] = []
        self.session = self.window.session()

    def take_turns(self) -> None:
        """Take this project's share of the turns, with a compaction and a new session now and then."""
        for turn in range(TURNS // WINDOWS):
            fault = self.chance.choice(FAULTS)
            self.recover(f"{self.window.folder.name}, before turn {turn}: {fault}")
            self.take(turn, fault)
            if turn % 10 == 9:
                self.window.compact(self.session)
            if turn % 5 == 4:
                self.session = self.window.session()
        notes = self.window.notes()
        self.counted.lost += [text for text in self.acknowledged if text not in notes]

    def recover(self, what: str) -> None:
        """Take the fault away and wait until the memory answers again."""
        self.engine.fault(WITHOUT)
        end = time.monotonic() + RECOVERY_SECONDS
        while "memory unavailable" in (told := self.window.call("memory_search", query="port").output):
            if time.monotonic() > end:
                self.counted.not_recovered.append(f"{what}: {told}")
                return
            time.sleep(1)

    def take(self, turn: int, fault: str) -> None:
        """Take one turn with a fault."""
        self.engine.fault(fault)
        if fault in AT_START:
            self.end_engine()
        self.counted.turns[fault] += 1
        text = f"Sentence {turn} was said while the engine was {fault}."
        search = 'CALL memory_search {"query": "port of the staging database"}'
        prompt = f"{search} ;; CALL memory_remember {json.dumps({'text': text})}"
        what = f"{self.window.folder.name}, turn {turn}: {fault}"
        try:
            self.look_at(self.window.say(prompt, self.session, LIMIT), text, what)
        except TimeoutError:
            self.counted.hung.append(what)
            self.session = self.window.session()
        if fault == "disk full":
            self.end_engine()  # for that one the disk stays full

    def end_engine(self) -> None:
        """Have the next call start the engine."""
        with suppress(ProcessLookupError):
            os.kill(self.engine.pids()[-1], signal.SIGKILL)

    def look_at(self, answer: Answer, text: str, what: str) -> None:
        """Count how a turn ended."""
        if answer.text != END:
            self.counted.not_ended.append(what)
        broken = [call for call in answer.calls if call.status != "completed"]
        self.counted.broken_calls += [f"{what}: {call}" for call in broken]
        self.counted.unavailable += sum("memory unavailable" in call.output for call in answer.calls)
        if answer.calls and answer.calls[-1].output.startswith("Remembered"):
            self.acknowledged.append(text)
            self.counted.answered += 1


@pytest.fixture
def own_server(tmp_path: Path, program: Path, model: Model) -> Iterator[Server]:
    """An OpenCode of its own."""
    with Machine(tmp_path, program, model).serve() as started:
        yield started


def test_no_client_ends_and_no_turn_hangs(own_server: Server) -> None:
    counted = Counted()
    projects = [Project(own_server, number, counted) for number in range(WINDOWS)]
    with ThreadPoolExecutor(WINDOWS) as threads:
        for done in [threads.submit(project.take_turns) for project in projects]:
            done.result()
    sys.stdout.write(f"{counted}\n")
    assert own_server.is_alive()
    assert sum(counted.turns.values()) == TURNS
    assert set(counted.turns) == set(FAULTS)
    wrong = (counted.hung, counted.not_ended, counted.broken_calls, counted.lost, counted.not_recovered)
    assert wrong == ([], [], [], [], [])
