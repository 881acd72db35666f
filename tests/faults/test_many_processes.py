"""Any number of processes at once: nothing is lost, no one sees a lock, one that hangs stops no reader."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memlines.errors import StoreBusy
from memlines.files import place
from memlines.index.sync import run
from memlines.memory.memory import Memory
from tests.faults.conftest import Tell
from tests.faults.crowd import Member, crowd
from tests.faults.scale import FULL, scaled
from tests.faults.support import check_healed, check_index, remember, whole_entries
from tests.indexes import job, notes, sync, write

pytestmark = [
    pytest.mark.promise("P1", "P5"),
    pytest.mark.usefixtures("each_provider"),
]

STARTS = 16
ROUNDS = scaled(1, 12)
WRITERS = 8
ENTRIES = scaled(15, 500)
READERS = 4

COLD = """
from memlines.memory.memory import Memory
import memlines.index.search.run, memlines.index.sync.run
ready()
for line in sys.stdin:
    with Memory(line.strip()) as memory:
        if arguments[1]:
            found = memory.search("own7")
            answer([[hit.path for hit in found], found.warnings])
        else:
            answer(len(memory.sync().failed))
"""


def test_many_processes_may_meet_a_workspace_for_the_first_time(tmp_path: Path, tell: Tell) -> None:
    early = 0
    with crowd(Member(COLD, tmp_path, number % 2) for number in range(STARTS)) as members:
        for turn in range(ROUNDS):
            workspace = tmp_path / str(turn)
            write(workspace, notes(30))
            for member in members:
                member.go(str(workspace))
            answers = [member.answer() for member in members]
            assert answers[::2] == [0] * (STARTS // 2)
            for found, warnings in answers[1::2]:
                # Who comes while another makes the index gets what is there by then, and is told so.
                assert found == ["memory/n7.md"] or (found == [] and "may be out of date" in warnings[0])
                early += found == []
            check_index(workspace)
    tell(f"cold starts: {ROUNDS} times {STARTS} processes, none failed, {early} told that it was early")


WRITE = """
from memlines.errors import StoreBusy
from tests.faults.support import entry, remember
_, name, count, path = arguments
refused = 0
ready()
for number in range(count):
    while True:
        try:
            remember(workspace, path, entry(f"{name}-{number}"))
            break
        except StoreBusy:
            refused += 1
answer(refused)
"""

READ = """
import select
from memlines.memory.memory import Memory
ready()
answers, warnings, wrong = 0, set(), []
with Memory(workspace) as memory:
    while not select.select([sys.stdin], [], [], 0.03)[0]:
        found = memory.search("okapi")
        wrong += [[hit.path for hit in found]] if [hit.path for hit in found] != ["memory/okapi.md"] else []
        warnings.update(found.warnings)
        answers += 1
answer({"answers": answers, "warnings": sorted(warnings), "wrong": wrong})
"""

SYNC_ON = """
import select
from memlines.memory.memory import Memory
ready()
rounds = 0
with Memory(workspace) as memory:
    while not select.select([sys.stdin], [], [], 0.03)[0]:
        assert memory.sync().failed == ()
        rounds += 1
answer(rounds)
"""


@pytest.mark.parametrize("own_notes", [True, False], ids=["notes of their own", "one note"])
def test_many_writers_lose_nothing_while_others_search(workspace: Path, tell: Tell, own_notes: bool) -> None:
    paths = [f"memory/w{number if own_notes else ''}.md" for number in range(WRITERS)]
    write(workspace, {"memory/okapi.md": "The okapi is shy.\n"})
    sync(workspace)
    started = time.monotonic()
    writers = [Member(WRITE, workspace, f"w{number}", ENTRIES, path) for number, path in enumerate(paths)]
    others = [*(Member(READ, workspace) for _ in range(READERS)), Member(SYNC_ON, workspace)]
    with crowd([*writers, *others]) as members:
        refused = sum(member.answer() for member in members[:WRITERS])
        took = time.monotonic() - started
        for member in members[WRITERS:]:
            member.go()
        *readers, rounds = [member.answer() for member in members[WRITERS:]]
    check_entries(workspace, paths)
    check_readers(readers)
    check_healed(workspace)
    answered = sum(reader["answers"] for reader in readers)
    tell(
        f"writers: {WRITERS} processes wrote {ENTRIES} entries each into {len(set(paths))} note(s) in"
        f" {took:.0f} s, while {READERS} readers got {answered} answers and another synced {rounds} times;"
        f" {refused} were told after {place.WAIT_SECONDS:.0f} s that another writes, and tried again"
    )


def check_entries(workspace: Path, paths: list[str]) -> None:
    found = [
        name
        for path in sorted(set(paths))
        for name in whole_entries((workspace / path).read_text(encoding="utf-8"))
    ]
    assert sorted(found) == sorted(
        f"w{place}-{number}" for place in range(WRITERS) for number in range(ENTRIES)
    )
    for number in range(WRITERS):
        own = [int(name.partition("-")[2]) for name in found if name.startswith(f"w{number}-")]
        assert own == list(range(ENTRIES))


def check_readers(readers: list[dict[str, Any]]) -> None:
    for reader in readers:
        assert reader["answers"]
        assert reader["wrong"] == []
        assert [warning for warning in reader["warnings"] if "locked" in warning] == []


HOLD_INDEX = """
from tests.indexes import sync
ready()
def progress(completed, total, label):
    if completed == 3:
        answer("in the middle")
        sys.stdin.readline()
sync(workspace, progress=progress)
answer("done")
"""

HOLD_NOTES = """
from memlines.files.place import writing
from memlines.paths import Workspace
ready()
with writing(Workspace.at(workspace)):
    answer("in the middle")
    sys.stdin.readline()
answer("done")
"""


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGSTOP")
def test_a_stopped_writer_of_the_index_is_named_and_stops_no_reader(workspace: Path) -> None:
    write(workspace, notes(20))
    sync(workspace)
    write(workspace, {path: text + "changed\n" for path, text in notes(10).items()})
    with crowd([Member(HOLD_INDEX, workspace)]) as [holder]:
        assert holder.answer() == "in the middle"
        os.kill(holder.process.pid, signal.SIGSTOP)
        asked = time.monotonic()
        with pytest.raises(StoreBusy, match=f"is being written by process {holder.process.pid} since"):
            run.run(replace(job(workspace), wait_seconds=1.5))
        assert 1.4 < time.monotonic() - asked < 60
        with Memory(workspace) as memory:
            found = memory.search("own15")
        assert [hit.path for hit in found] == ["memory/n15.md"]
        assert f"process {holder.process.pid}" in found.warnings[0]
        os.kill(holder.process.pid, signal.SIGCONT)
        holder.go()
        assert holder.answer() == "done"
    check_healed(workspace)


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGSTOP")
def test_a_stopped_writer_of_the_notes_is_named_and_stops_no_reader(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not FULL:
        monkeypatch.setattr(place, "WAIT_SECONDS", 1.5)
    write(workspace, notes(20))
    with crowd([Member(HOLD_NOTES, workspace)]) as [holder]:
        assert holder.answer() == "in the middle"
        os.kill(holder.process.pid, signal.SIGSTOP)
        asked = time.monotonic()
        with pytest.raises(StoreBusy, match=f"is being written by process {holder.process.pid} since"):
            remember(workspace, "memory/n1.md", "too late")
        assert place.WAIT_SECONDS - 0.1 < time.monotonic() - asked < 60
        with Memory(workspace) as memory:
            assert [hit.path for hit in memory.search("own15")] == ["memory/n15.md"]
        os.kill(holder.process.pid, signal.SIGCONT)
        holder.go()
        assert holder.answer() == "done"
    remember(workspace, "memory/n1.md", "in time")
    check_healed(workspace)
