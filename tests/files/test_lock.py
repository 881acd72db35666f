"""One writer at a time, whatever happens to it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from memlines import locks as lock_module
from memlines.errors import StoreBusy, StoreReadOnly
from memlines.folders import open_private
from memlines.locks import WriterLock
from tests.programs import unprivileged_run

pytestmark = pytest.mark.promise("P5")

HOLD = """\
import sys
from pathlib import Path
from memlines.locks import WriterLock
with WriterLock(Path(sys.argv[1])).held(0):
    print("held", flush=True)
    sys.stdin.readline()
print("released", flush=True)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the lock of an index is."""
    return tmp_path / "index.sqlite.lock"


@contextmanager
def other_process(path: Path) -> Iterator[subprocess.Popen[str]]:
    """Run a process that holds the lock until it is told to go on."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "held\n"
            yield process
        finally:
            process.kill()


def test_a_free_lock_is_taken_at_once(path: Path) -> None:
    with WriterLock(path).held(0):
        assert path.exists()


def test_a_second_process_is_told_who_holds_it_and_since_when(path: Path) -> None:
    with (
        other_process(path) as process,
        pytest.raises(StoreBusy, match=rf"index\.sqlite is being written by process {process.pid} since 20"),
        WriterLock(path).held(0),
    ):
        pass


def test_since_is_a_time_with_its_zone(path: Path) -> None:
    with WriterLock(path).held(0):
        assert re.search(r"since \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$", WriterLock(path).holder())


def test_busy_says_what_to_do(path: Path) -> None:
    with WriterLock(path).held(0), pytest.raises(StoreBusy) as error, WriterLock(path).held(0):
        pass
    assert error.value.todo == "Wait for it to finish and try again"


def test_waiting_ends_when_the_holder_lets_go(path: Path) -> None:
    with other_process(path) as process:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
        with WriterLock(path).held(60):
            assert WriterLock(path).holder().startswith(f"process {os.getpid()} ")


def test_a_killed_holder_leaves_it_free(path: Path) -> None:
    with other_process(path) as process:
        process.kill()
        process.wait()
        assert str(process.pid) in path.read_text(encoding="utf-8")
        with WriterLock(path).held(0):
            assert WriterLock(path).holder().startswith(f"process {os.getpid()} ")


def test_a_wait_takes_no_longer_than_it_may(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr(lock_module, "acquire", lambda _, seconds: waits.append(seconds))
    with pytest.raises(StoreBusy), WriterLock(path).held(5.0):
        pass
    assert sum(waits) == 5.0


def test_a_wait_that_is_interrupted_leaves_nothing_open(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[int] = []

    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    def open_and_note(path: Path) -> int:
        opened.append(open_private(path))
        return opened[-1]

    with WriterLock(path).held(0):
        monkeypatch.setattr(lock_module, "open_private", open_and_note)
        monkeypatch.setattr(time, "sleep", interrupt)
        with pytest.raises(KeyboardInterrupt):
            lock_module.acquire(path, 60)
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(opened[0])


def test_two_locks_in_one_process_exclude_each_other(path: Path) -> None:
    with WriterLock(path).held(0), pytest.raises(StoreBusy), WriterLock(path).held(0.05):
        pass


def test_one_lock_cannot_be_taken_twice(path: Path) -> None:
    lock = WriterLock(path)
    with lock.held(0), pytest.raises(StoreBusy), lock.held(0):
        pass


def test_threads_take_turns(path: Path) -> None:
    inside: list[int] = []
    together: list[int] = []

    def work() -> None:
        for _ in range(5):
            with WriterLock(path).held(60):
                inside.append(1)
                together.append(len(inside))
                inside.pop()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert together == [1] * 20


def test_it_can_be_taken_again_and_again(path: Path) -> None:
    lock = WriterLock(path)
    for _ in range(3):
        with lock.held(0):
            pass


def test_an_error_inside_frees_it(path: Path) -> None:
    with pytest.raises(KeyError), WriterLock(path).held(0):
        raise KeyError
    with WriterLock(path).held(0):
        pass


def test_after_release_nobody_is_named(path: Path) -> None:
    with WriterLock(path).held(0):
        pass
    assert path.read_bytes() == b""
    assert [left.name for left in path.parent.iterdir()] == [path.name]


def test_a_failed_attempt_leaves_the_holders_name(path: Path) -> None:
    with WriterLock(path).held(0):
        with pytest.raises(StoreBusy), WriterLock(path).held(0):
            pass
        assert WriterLock(path).holder().startswith(f"process {os.getpid()} ")


@pytest.mark.parametrize(
    "told",
    [
        "",
        "{",
        "[]",
        "null",
        '{"pid": 1}',
        '{"pid": "x", "since": ""}',
        '{"pid": 1e400, "since": ""}',
        "\ud7ff",
    ],
)
def test_a_spoilt_note_about_the_holder_is_no_error(path: Path, told: str) -> None:
    path.write_text(f" {told}", encoding="utf-8", errors="surrogatepass")
    assert WriterLock(path).holder() == "another process"


@pytest.mark.promise("P2")
def test_a_lock_of_another_program_keeps_its_text(tmp_path: Path) -> None:
    path = tmp_path / "uv.lock"
    path.write_text('version = 1\n\n[[package]]\nname = "memlines"\n', encoding="utf-8")
    before = path.read_bytes()
    with WriterLock(path).held(0):
        assert path.read_bytes() == before
        assert WriterLock(path).holder() == "another process"
    assert path.read_bytes() == before


def test_a_lock_that_is_a_link_is_refused_and_not_written_through(path: Path, tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("keep", encoding="utf-8")
    path.symlink_to(precious)
    with pytest.raises(StoreReadOnly), WriterLock(path).held(0):
        pass
    assert precious.read_text(encoding="utf-8") == "keep"


def test_a_folder_in_the_place_of_the_lock(path: Path) -> None:
    path.mkdir()
    with pytest.raises(StoreReadOnly, match=r"lock. is not a regular file"), WriterLock(path).held(0):
        pass


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    tmp_path.chmod(0o555)
    done = unprivileged_run(
        "import sys\n"
        "from pathlib import Path\n"
        "from memlines.errors import StoreReadOnly\n"
        "from memlines.locks import WriterLock\n"
        "try:\n"
        "    with WriterLock(Path(sys.argv[1])).held(5): pass\n"
        "except StoreReadOnly as error: print(error.what.rsplit(': ', 1)[1])\n",
        tmp_path / "x.lock",
    )
    tmp_path.chmod(0o755)
    assert done.stdout == "permission denied\n"


def test_a_place_where_no_lock_can_be_made_is_told_at_once() -> None:
    if not Path("/proc/self").is_dir():
        pytest.skip("needs a folder that nobody can write to")
    with pytest.raises(StoreReadOnly, match="cannot be written"), WriterLock(Path("/proc/x.lock")).held(600):
        pytest.fail("there is no lock to hold")


def test_who_is_waited_for_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lock_module, "_A_MOMENT", 0.01)
    told: list[str] = []
    with (
        WriterLock(tmp_path / "x.lock").held(0),
        pytest.raises(StoreBusy),
        WriterLock(tmp_path / "x.lock").held(0.1, told.append),
    ):
        pytest.fail("the lock is held twice")
    assert told == [f"process {os.getpid()} since {told[0].rpartition(' ')[2]}"]


def test_work_that_may_hang_has_a_thread_of_its_own_name() -> None:
    found = lock_module.start_daemon(threading.current_thread, "a name").result(60)
    assert (found.name, found.daemon) == ("a name", True)


def test_the_error_of_such_work_comes_with_its_result() -> None:
    def fail() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        lock_module.start_daemon(fail, "a name").result(60)
