"""Several processes at once, processes that die, disks that are full, folders that cannot be written."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.indexes import (
    REPOSITORY,
    assert_sound,
    expected,
    hashes,
    index_file,
    indexed,
    left_over,
    notes,
    program,
    reading,
    sync,
    write,
)
from tests.programs import read_only, unprivileged_run
from tests.providers import FakeProvider

# Two at once

SYNC = """
from pathlib import Path
from tests.providers import FakeProvider
from tests.indexes import sync
print("ready", flush=True)
sys.stdin.readline()
for force in (False, True, False):
    sync(Path(sys.argv[1]), FakeProvider(), force=force)
print("done", flush=True)
"""


def start(body: str, *arguments: str | Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*program(body), *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )


def wait_for(process: subprocess.Popen[str], line: str) -> None:
    assert process.stdout is not None
    if process.stdout.readline() != line + "\n":
        process.kill()
        pytest.fail(process.communicate()[1])


@pytest.mark.promise("P5")
def test_two_processes_that_sync_at_once_both_succeed(workspace: Path) -> None:
    write(workspace, notes(40))
    running = [start(SYNC, workspace) for _ in range(2)]
    for process in running:
        wait_for(process, "ready")
    for process in running:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    ended = [process.communicate(timeout=60) for process in running]
    assert ended == [("done\n", ""), ("done\n", "")]
    assert_sound(index_file(workspace))
    assert indexed(workspace) == expected(workspace)
    with reading(workspace) as index:
        assert index.vectors.count() == index.count_chunks()


# kill -9

SYNC_ON = """
import itertools
from pathlib import Path
from tests.providers import FakeProvider
from tests.indexes import notes, sync, write
workspace = Path(sys.argv[1])
provider = FakeProvider() if sys.argv[2] == "vectors" else None
sync(workspace, provider)
print("ready", flush=True)
for turn in itertools.count():
    write(workspace, {f"memory/changing{turn % 5}.md": f"shared turn {turn}\\n" * (turn % 7 + 1)})
    (workspace / f"memory/n{turn % 30}.md").unlink(missing_ok=True)
    sync(workspace, provider, force=turn % 3 == 2)
    write(workspace, {f"memory/n{turn % 30}.md": notes(30)[f"memory/n{turn % 30}.md"]})
"""


def kill_in_mid_sync(workspace: Path, mode: str, delay: float) -> None:
    process = start(SYNC_ON, workspace, mode)
    wait_for(process, "ready")
    time.sleep(delay)
    process.send_signal(signal.SIGKILL)
    errors = process.communicate()[1]
    assert (process.returncode, errors) == (-signal.SIGKILL, "")


def killed_again_and_again(workspace: Path, runs: int, seed: int) -> None:
    chance = random.Random(seed)
    write(workspace, notes(30))
    for turn in range(runs):
        mode = "vectors" if turn % 2 else "words"
        kill_in_mid_sync(workspace, mode, chance.uniform(0.0, 0.12))
        assert_sound(index_file(workspace))
        before = hashes(workspace)
        report = sync(workspace, FakeProvider() if mode == "vectors" else None)
        assert not any("set aside" in warning for warning in report.warnings)
        assert indexed(workspace) == expected(workspace)
        assert hashes(workspace) == before
        assert left_over(workspace) == []
        assert_sound(index_file(workspace))


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL")
@pytest.mark.promise("P3")
def test_a_killed_sync_leaves_a_sound_index_that_the_next_one_completes(workspace: Path) -> None:
    killed_again_and_again(workspace, runs=10, seed=1)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL")
def test_five_hundred_killed_syncs(workspace: Path) -> None:
    killed_again_and_again(workspace, runs=500, seed=2)


# A full disk

FULL = """
import json, resource
from pathlib import Path
from memlines.errors import MemlinesError
from tests.providers import FakeProvider
from tests.indexes import sync
sys.dont_write_bytecode = True
workspace = Path(sys.argv[1])
outcomes = []
hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
for limit in map(int, sys.argv[2:]):
    for force in (False, True):
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
        try:
            sync(workspace, FakeProvider(), force=force)
            outcome = ""
        except MemlinesError as error:
            outcome = type(error).__name__
            assert error.todo, error
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
        outcomes.append(outcome)
print(json.dumps(outcomes))
"""

LIMITS = [0, 1, 100, 4_000, 8_000, 20_000, 33_000, 50_000, 70_000, 100_000, 150_000, 300_000, 10**9]


@pytest.mark.skipif(os.name == "nt", reason="there are no resource limits")
@pytest.mark.promise("P6")
def test_a_full_disk_is_a_clear_error_and_freeing_space_is_enough(workspace: Path) -> None:
    write(workspace, notes(60, lines=20))
    before = hashes(workspace)
    process = start(FULL, workspace, *map(str, LIMITS))
    printed, errors = process.communicate(timeout=60)
    assert errors == ""
    outcomes = json.loads(printed)
    assert set(outcomes) <= {"", "StoreError", "StoreFull", "StoreReadOnly"}
    assert "" not in outcomes[:2]
    assert outcomes[-2:] == ["", ""]
    assert "StoreError" in outcomes
    assert hashes(workspace) == before
    assert left_over(workspace) == []
    sync(workspace, FakeProvider())
    assert_sound(index_file(workspace))
    assert indexed(workspace) == expected(workspace)


@pytest.mark.skipif(os.name == "nt", reason="there are no resource limits")
@pytest.mark.promise("P6")
def test_a_disk_that_fills_up_leaves_the_old_index_serving(workspace: Path) -> None:
    write(workspace, notes(5))
    sync(workspace, FakeProvider())
    write(workspace, {f"memory/more{number}.md": "shared text\n" * 2000 for number in range(20)})
    size = index_file(workspace).stat().st_size
    process = start(FULL, workspace, str(size))
    printed, errors = process.communicate(timeout=60)
    assert (errors, printed) == ("", '["StoreError", "StoreError"]\n')
    with reading(workspace) as index:
        assert index.count_files() >= 5


# Folders that cannot be written

READ_ONLY = """
from pathlib import Path
from memlines.errors import MemlinesError
from memlines.memory.memory import Memory
with Memory(sys.argv[1], {"embeddings.provider": "none"}) as memory:
    try:
        if sys.argv[2] == "search":
            answer = memory.search("own3")
            print([hit.path for hit in answer], len(answer.warnings))
        elif sys.argv[2] == "status":
            status = memory.status()
            print(status.files, status.dirty)
        else:
            print(memory.sync())
    except MemlinesError as error:
        print(type(error).__name__)
"""


def as_plain_user(workspace: Path, what: str) -> str:
    done = unprivileged_run(
        f"import sys; sys.path.insert(0, {str(REPOSITORY)!r})\n" + READ_ONLY, workspace, what
    )
    assert done.stderr == ""
    return done.stdout.strip()


@pytest.fixture
def locked(workspace: Path) -> Iterator[Path]:
    write(workspace, notes(5))
    sync(workspace)
    with read_only(workspace):
        yield workspace


@pytest.mark.promise("P6")
def test_a_read_only_workspace_can_be_searched(locked: Path) -> None:
    assert as_plain_user(locked, "search") == "['memory/n3.md'] 0"


def test_the_status_of_a_read_only_workspace_can_be_asked(locked: Path) -> None:
    assert as_plain_user(locked, "status") == "5 False"


def test_a_read_only_workspace_cannot_be_synced(locked: Path) -> None:
    assert as_plain_user(locked, "sync") == "StoreReadOnly"


def test_a_read_only_workspace_with_an_empty_log_can_be_searched(workspace: Path) -> None:
    write(workspace, notes(5))
    sync(workspace)
    index_file(workspace).with_name("index.sqlite-wal").touch()
    with read_only(workspace):
        assert as_plain_user(workspace, "search") == "['memory/n3.md'] 0"


def test_a_read_only_workspace_whose_index_lags_answers_with_a_warning(workspace: Path) -> None:
    write(workspace, notes(5))
    sync(workspace)
    write(workspace, {"memory/n4.md": "changed since"})
    with read_only(workspace):
        assert as_plain_user(workspace, "search") == "['memory/n3.md'] 1"


def test_a_read_only_workspace_without_an_index_can_be_searched(workspace: Path) -> None:
    write(workspace, notes(5))
    with read_only(workspace):
        assert as_plain_user(workspace, "search") == "['memory/n3.md'] 0"


def test_a_damaged_index_in_a_read_only_workspace_is_a_clear_error(workspace: Path) -> None:
    write(workspace, notes(5))
    sync(workspace)
    index_file(workspace).write_text("not an index", encoding="utf-8")
    with read_only(workspace):
        assert as_plain_user(workspace, "search") == "StoreReadOnly"


def test_an_index_that_cannot_be_read_is_a_clear_error(workspace: Path) -> None:
    write(workspace, notes(5))
    sync(workspace)
    index_file(workspace).chmod(0)
    assert as_plain_user(workspace, "search") == "StoreReadOnly"
