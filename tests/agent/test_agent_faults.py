"""When the system fails in the middle of a snapshot or a flush, nothing that was there is lost."""

from __future__ import annotations

import errno
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import pytest

from memlines.agent import snapshot
from memlines.agent.flush import flush
from memlines.errors import MemlinesError, WriteError
from memlines.files import snapshots
from memlines.files.atomic import TEMPORARY_PREFIX
from memlines.paths import Workspace
from tests.agent.messages import NOW, TODAY, YESTERDAY, assistant, opened, put, text_of, user
from tests.files.test_notes_faults import CASES, FAULTS, Faults
from tests.programs import unprivileged_run

OLD = [user("one"), assistant("two")]
NEW = [*OLD, user("three")]
OTHER = [user("four")]
LOG = "# 2026-11-16\n\n- 08:00 tea\n"
DECIDED = [user(f"We decided on plan number {n}.") for n in range(3)]
ENTRIES = "".join(f"- 12:00 We decided on plan number {n}.\n" for n in range(3))
BLOCK = f"<!-- session s1 -->\n{ENTRIES}<!-- /session s1 -->\n"


def prepared(folder: Path) -> Path:
    (folder / "memory").mkdir(parents=True)
    put(folder, TODAY, LOG)
    snapshot.take(opened(folder), "s1", OLD, now=NOW)
    return folder


def said_in(folder: Path) -> list[list[str]]:
    listing = snapshots.list_all(Workspace.at(folder))
    assert listing.problems == ()
    return [[said.text for said in one.messages] for one in listing.snapshots]


def leftovers(folder: Path) -> list[Path]:
    return list(folder.rglob(f"{TEMPORARY_PREFIX}*"))


Operation = Callable[[Path], object]
OPERATIONS: dict[str, tuple[Operation, list[list[list[str]]]]] = {
    "goes on": (
        lambda folder: snapshot.take(opened(folder), "s1", NEW, now=NOW),
        [[["one", "two"]], [["one", "two", "three"], ["one", "two"]], [["one", "two", "three"]]],
    ),
    "another": (
        lambda folder: snapshot.take(opened(folder), "s1", OTHER, now=NOW),
        [[["one", "two"]], [["four"], ["one", "two"]]],
    ),
}


@pytest.mark.parametrize(("fault", "sticky"), CASES)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_snapshot_is_whole_or_not_there(tmp_path: Path, operation: str, fault: str, sticky: bool) -> None:
    take, allowed = OPERATIONS[operation]
    before = prepared(tmp_path / "before")
    for number in range(1, 300):
        folder = Path(shutil.copytree(before, tmp_path / str(number)))
        faults = Faults(number, FAULTS[fault], sticky)
        with suppress(MemlinesError, KeyboardInterrupt), faults.at_work():
            take(folder)
        assert said_in(folder) in allowed, (number, faults.failed)
        take(folder)
        assert said_in(folder)[0] == allowed[-1][0]
        assert leftovers(folder) == []
        if not faults.failed:
            return
    pytest.fail("the operation never ended")


@pytest.mark.parametrize("fault", ["full", "broken", "interrupted"])
def test_a_flush_that_fails_loses_nothing_and_can_be_repeated(tmp_path: Path, fault: str) -> None:
    before = prepared(tmp_path / "before")
    for number in range(1, 400, 7):
        folder = Path(shutil.copytree(before, tmp_path / str(number)))
        memory = opened(folder)
        faults = Faults(number, FAULTS[fault], sticky=False)
        with suppress(MemlinesError, KeyboardInterrupt), faults.at_work():
            flush(memory, DECIDED, session="s1", now=NOW)
        memory.close()
        assert text_of(folder, TODAY) in (LOG, LOG + BLOCK), (number, faults.failed)
        flush(opened(folder), DECIDED, session="s1", now=NOW)
        assert text_of(folder, TODAY) == LOG + BLOCK, (number, faults.failed)
        if not faults.failed:
            return


def test_a_full_disk_is_told_with_what_was_written(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = opened(workspace)
    flush(memory, DECIDED[:1], now=NOW)
    real = os.write
    seen = []

    def fail(handle: int, data: bytes) -> int:
        if b"plan number 2" in bytes(data):
            seen.append(handle)
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(handle, data)

    monkeypatch.setattr(os, "write", fail)
    yesterday = [{**user("We decided on plan number 9."), "timestamp": NOW - timedelta(days=1)}]
    with pytest.raises(WriteError, match=r"1 of 4 entries were written, then .* no space left on device"):
        flush(memory, [*yesterday, *DECIDED], now=NOW)
    assert [text_of(workspace, day).count("plan number") for day in (YESTERDAY, TODAY)] == [1, 1]


def test_a_log_that_is_no_text_is_left_alone_and_told(workspace: Path) -> None:
    (workspace / TODAY).write_bytes(b"\xff\xfe\x00")
    with pytest.raises(WriteError, match="0 of 3 entries were written"):
        flush(opened(workspace), DECIDED, now=NOW)
    assert (workspace / TODAY).read_bytes() == b"\xff\xfe\x00"


READ_ONLY = """\
import sys
from pathlib import Path
from memlines.agent import snapshot
from memlines.agent.flush import flush
from memlines.errors import MemlinesError
from tests.agent.messages import NOW, opened, user
memory = opened(Path(sys.argv[1]))
said = [user("We decided on tea.")]
for act in (lambda: snapshot.take(memory, "s1", said, now=NOW), lambda: flush(memory, said, now=NOW)):
    try:
        act()
    except MemlinesError as error:
        print(error.code)
"""


def test_a_workspace_that_may_not_be_written_is_told(workspace: Path) -> None:
    workspace.chmod(0o555)
    done = unprivileged_run(READ_ONLY, workspace, env={"PYTHONPATH": str(Path(__file__).parents[2])})
    workspace.chmod(0o755)
    assert done.stdout.split() == ["write", "store-read-only"], done.stderr


TAKE_UNTIL_KILLED = """\
import itertools, sys
from pathlib import Path
from memlines.agent import snapshot
from tests.agent.messages import opened, user
memory = opened(Path(sys.argv[1]))
for number in itertools.count():
    snapshot.take(memory, "s1", [user(f"message {n}") for n in range(number, number + 5)])
    print(number, flush=True)
"""


def test_a_kill_at_any_moment_leaves_a_whole_snapshot(tmp_path: Path) -> None:
    for run in range(4):
        folder = tmp_path / str(run)
        (folder / "memory").mkdir(parents=True)
        with subprocess.Popen(
            [sys.executable, "-c", TAKE_UNTIL_KILLED, str(folder)],
            stdout=subprocess.PIPE,
            encoding="utf-8",
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        ) as process:
            assert process.stdout is not None
            acknowledged = [int(process.stdout.readline()) for _ in range(3 + run)]
            process.kill()
            acknowledged += [int(line) for line in process.stdout.read().split()]
        newest = said_in(folder)[0]
        assert int(newest[0].split()[1]) >= acknowledged[-1]


FLUSH_UNTIL_KILLED = """\
import itertools, sys
from pathlib import Path
from memlines.agent.flush import flush
from tests.agent.messages import NOW, opened, user
memory = opened(Path(sys.argv[1]))
for number in itertools.count():
    said = [user(f"We decided on plan number {number} for part {part}.") for part in range(3)]
    flush(memory, said, session="s1", now=NOW)
    print(number, flush=True)
"""
WHOLE_BLOCK = re.compile(
    r"<!-- session s1 -->\n"
    + "".join(rf"- 12:00 We decided on plan number (?P<n{n}>\d+) for part {n}\.\n" for n in range(3))
    + r"<!-- /session s1 -->\n"
)


def test_a_kill_at_any_moment_leaves_whole_blocks(tmp_path: Path) -> None:
    for run in range(3):
        folder = tmp_path / str(run)
        (folder / "memory").mkdir(parents=True)
        with subprocess.Popen(
            [sys.executable, "-c", FLUSH_UNTIL_KILLED, str(folder)],
            stdout=subprocess.PIPE,
            encoding="utf-8",
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        ) as process:
            assert process.stdout is not None
            acknowledged = [int(process.stdout.readline()) for _ in range(2 + run)]
            process.kill()
            acknowledged += [int(line) for line in process.stdout.read().split()]
        text = text_of(folder, TODAY)
        assert WHOLE_BLOCK.sub("", text) == "# 2026-11-16\n\n"
        assert len(WHOLE_BLOCK.findall(text)) >= len(acknowledged)


TAKE_MANY = """\
import sys
from pathlib import Path
from memlines.agent import snapshot
from tests.agent.messages import opened, user
memory = opened(Path(sys.argv[1]))
for number in range(15):
    snapshot.take(memory, sys.argv[2], [user(f"{sys.argv[2]} {number}")])
"""


def test_two_processes_lose_none_of_each_others_snapshots(workspace: Path) -> None:
    started = [
        subprocess.Popen(
            [sys.executable, "-c", TAKE_MANY, str(workspace), session],
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        )
        for session in ("s1", "s2")
    ]
    assert [process.wait() for process in started] == [0, 0]
    kept = said_in(workspace)
    assert sorted(kept) == sorted([[f"{session} {n}"] for session in ("s1", "s2") for n in range(10, 15)])
