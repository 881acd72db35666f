"""A change of model that is killed at any moment, or meets another one, never mixes two models.

The service runs in this process and takes its time, so that kills come in the middle of the work. Who is
killed has a key of its own, by which the service tells its requests from those of the checks.
"""

from __future__ import annotations

import json
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from memlines import Memory
from memlines.embed.passages import PASSAGES
from memlines.index.store.sqlite import spaces
from tests.embed import fake_service
from tests.embed.fake_service import ProviderServer, provider_server, vector_of
from tests.faults.conftest import Tell
from tests.faults.crowd import Member, crowd
from tests.faults.scale import chance_of, facts_on_failure, scaled
from tests.faults.stored import check_vectors
from tests.indexes import assert_sound, index_file, reading, write

pytestmark = [
    pytest.mark.promise("P4"),
    pytest.mark.timeout(scaled(300, 1200)),
    pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL"),
]

KILLS = scaled(12, 200)
TURNS = scaled(2, 10)
MEETINGS = scaled(1, 20)
GROUP = 2
COUNT = 16
NOTES = {f"memory/n{number}.md": f"the okapi called name{number}x sleeps" for number in range(COUNT)}
SECONDS_A_TEXT = 0.003
LONG = 60.0
SEED = 20_261_116

_BEGIN = f"""
import os
import signal
import httpx2
import numpy
from memlines.embed.remote import deadlines, provider
from memlines.memory.memory import Memory
from memlines.index.sync import pending, vectors
pending._GROUP = {GROUP}
def change(settings):
    with Memory(workspace, settings) as memory:
        report = memory.sync()
    return [report.pending, list(report.warnings)]
"""

CHANGE = f"""{_BEGIN}
settings, turns, vectors._HOLDER_WAIT = arguments[1:]
ready()
answer([change(settings) for _ in range(turns)])
"""

BE_KILLED = f"""{_BEGIN}
ready()
while settings := json.loads(sys.stdin.readline() or "null"):
    child = os.fork()
    if child == 0:
        change(settings)
        os._exit(0)
    sys.stdin.readline()
    os.kill(child, signal.SIGKILL)
    answer(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
"""Makes a child of itself for each order, which begins at once, and kills it at the next."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ProviderServer]:
    def slowly(text: str, dims: int, model: str = "") -> list[float]:
        time.sleep(SECONDS_A_TEXT)
        return vector_of(text, dims, model)

    monkeypatch.setattr(fake_service, "vector_of", slowly)
    with provider_server("openai-compatible") as server:
        server.key = None
        yield server


def settings_of(server: ProviderServer, model: str, key: str = "check") -> dict[str, Any]:
    return {
        "embeddings.provider": "openai-compatible",
        "embeddings.base_url": server.url,
        "embeddings.api_key": key,
        "embeddings.model": model,
        "sync.on_search": False,
    }


def changing(
    workspace: Path, server: ProviderServer, model: str, turns: int = 1, patience: float = LONG
) -> Member:
    return Member(CHANGE, workspace, settings_of(server, model, "worker"), turns, patience)


def filled(workspace: Path, server: ProviderServer, model: str) -> None:
    write(workspace, NOTES)
    with Memory(workspace, settings_of(server, model)) as memory:
        assert memory.sync().pending == 0


def embedded(server: ProviderServer) -> Counter[str]:
    """Return how many texts were embedded by those who may be killed, by model."""
    counts: Counter[str] = Counter()
    for seen in list(server.requests):
        if seen.headers["authorization"] == "Bearer worker":
            counts[seen.body["model"]] += sum(text not in PASSAGES for text in seen.texts)
    return counts


def check_whole(workspace: Path, server: ProviderServer) -> dict[str, tuple[str, int]]:
    """The index is sound and every vector is of its own model; return each space's state and size."""
    assert_sound(index_file(workspace))
    counts = check_vectors(workspace, server.dims)
    with reading(workspace) as index:
        entries = spaces.entries(index.connection)
    found: dict[str, tuple[str, int]] = {
        entry.space.model: (entry.state, counts[entry.space.model]) for entry in entries
    }
    states = Counter(state for state, _ in found.values())
    assert states["serving"] == 1
    assert max(states.values()) == 1
    assert [size for state, size in found.values() if state == "serving"] == [COUNT]
    return found


def check_answers(workspace: Path, server: ProviderServer, model: str, place: int) -> str:
    """A search with the settings of the new model is answered by one model; return which."""
    path, text = list(NOTES.items())[place]
    with Memory(workspace, settings_of(server, model)) as memory:
        result = memory.search(text, mode="vectors", max_results=1)
    (hit,) = result
    assert (hit.path, result.mode, result.pending, result.warnings) == (path, "vectors", 0, ())
    assert hit.why.vector == pytest.approx(1, abs=1e-3)
    return result.model


# Killed


def test_a_killed_change_leaves_one_model_answering_and_is_completed(
    workspace: Path, server: ProviderServer, tell: Tell
) -> None:
    filled(workspace, server, "model0")
    change = Change(workspace, server)
    with crowd([Member(BE_KILLED, workspace)]) as [worker]:
        run = 0
        while change.kills.total() < KILLS:
            with facts_on_failure(seed=SEED, run=run):
                change.go_on(worker, chance_of(SEED, "model change", run))
                change.check(run)
            run += 1
    with Memory(workspace, settings_of(server, change.model, "worker")) as memory:
        assert memory.sync().pending == 0
    assert check_whole(workspace, server)[change.model] == ("serving", COUNT)
    sent = embedded(server)
    assert set(sent) == {f"model{number}" for number in range(1, change.generation + 1)}
    for model, texts in sent.items():
        assert COUNT <= texts <= COUNT + GROUP * change.kills[model]
    tell(
        f"kill -9, changing the model: {KILLS} kills, {change.cut_short} of them with a part of the vectors;"
        f" {len(sent)} changes of {COUNT} texts completed with {sent.total()} embedded"
    )


@dataclass
class Change:
    """Changes of the model, one after the other, of which many are killed."""

    workspace: Path
    server: ProviderServer
    generation: int = 1
    left: int = COUNT
    """How many texts the change lacks."""
    kills: Counter[str] = field(default_factory=Counter)
    cut_short: int = 0

    @property
    def model(self) -> str:
        return f"model{self.generation}"

    def go_on(self, worker: Member, chance: random.Random) -> None:
        """Go on with the change, and kill it somewhere between its start and a little after its end."""
        wanted = len(self.server.requests) + chance.randint(0, -(-self.left // GROUP))
        worker.go(json.dumps(settings_of(self.server, self.model, "worker")))
        give_up = time.monotonic() + 60
        while len(self.server.requests) < wanted and time.monotonic() < give_up:
            time.sleep(0.001)
        time.sleep(chance.uniform(0, chance.choice([0.02, 0.3])))
        worker.go("kill")
        ended = worker.answer()
        assert ended in (0, -signal.SIGKILL)
        self.kills[self.model] += ended != 0
        assert len(self.server.requests) >= wanted

    def check(self, run: int) -> None:
        """Check what the kill left, and begin the next change if this one is complete."""
        found = check_whole(self.workspace, self.server)
        state, size = found.get(self.model, ("", 0))
        self.left = COUNT - size
        self.cut_short += state == "filling"
        before = f"model{self.generation - 1}"
        serving = check_answers(self.workspace, self.server, self.model, run * 7 % COUNT)
        assert serving == (self.model if state == "serving" else before)
        if state == "serving":
            assert found[before] == ("kept", COUNT)
            self.generation, self.left = self.generation + 1, COUNT


# Two at once


@pytest.mark.parametrize("patience", [LONG, 0], ids=["who waits", "who does not wait"])
def test_two_changes_at_once_mix_nothing_and_both_end(
    workspace: Path, server: ProviderServer, tell: Tell, patience: float
) -> None:
    filled(workspace, server, "old")
    answers: Counter[str] = Counter()
    members = [changing(workspace, server, model, TURNS, patience) for model in ("a", "b")]
    with crowd(members), ThreadPoolExecutor() as pool:
        ends = [pool.submit(member.answer) for member in members]
        while not all(end.done() for end in ends):
            answers[check_answers(workspace, server, "ab"[answers.total() % 2], answers.total() % COUNT)] += 1
        reports = [end.result() for end in ends]
        pids = [member.process.pid for member in members]
    found = check_whole(workspace, server)
    assert set(answers) <= {"old", "a", "b"}
    assert any(found.get(model) == ("serving", COUNT) for model in "ab")
    for own, other in zip(reports, reversed(pids), strict=True):
        for waiting, warnings in own:
            assert (waiting, warnings) == (0, []) or (
                waiting > 0
                and "the missing vectors are being made by" in warnings[0]
                # The one that held the lock may be done before it is asked for.
                and (str(other) in warnings[0] or "another process" in warnings[0])
            )
    assert patience == 0 or all(waiting == 0 for own in reports for waiting, _ in own)
    assert all(count <= COUNT for count in embedded(server).values())
    tell(
        f"two changes of the model at once, {TURNS} times each: {answers.total()} answers, of {dict(answers)}"
    )


def test_who_waits_goes_on_when_the_other_change_is_killed(workspace: Path, server: ProviderServer) -> None:
    filled(workspace, server, "old")
    for turn in range(MEETINGS):
        models = (f"a{turn}", f"b{turn}")
        members = {model: changing(workspace, server, model) for model in models}
        begun = len(server.requests)
        with facts_on_failure(turn=turn), crowd(members.values()):
            while len(server.requests) < begun + 3:
                time.sleep(0.001)
            first = server.requests[begun].body["model"]
            members.pop(first).process.kill()
            ((second, member),) = members.items()
            assert member.answer() == [[0, []]]
        assert check_whole(workspace, server)[second] == ("serving", COUNT)
        assert check_answers(workspace, server, first, turn % COUNT) == second
