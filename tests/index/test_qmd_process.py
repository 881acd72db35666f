"""A program that does not answer as it should is an error of ours, and its group never outlives the call."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from memlines.errors import QmdFailed
from memlines.index.qmd import run_program
from memlines.memory.open_index import silent
from tests.qmd import python_program, write_program
from tests.waiting import eventually

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the programs are scripts")


def run(program: Path | str, folder: Path, seconds: float = 20.0) -> str:
    return run_program([str(program), "query"], folder, os.environ, seconds, silent)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("kill -9 $$", "code -9"),
        ("echo no such thing >&2; exit 3", "code 3: no such thing"),
        ("exit 0", "printed nothing"),
        ("echo '  '", "printed nothing"),
        ("yes", "more than 200,000 characters"),
        ("yes >&2", "more than 200,000 characters"),
        ("head -c 200001 /dev/zero | tr '\\0' x", "more than 200,000 characters"),
    ],
)
def test_what_went_wrong_is_said(tmp_path: Path, lines: str, said: str) -> None:
    with pytest.raises(QmdFailed, match=said):
        run(write_program(tmp_path, lines), tmp_path)


def test_a_missing_program_is_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(QmdFailed, match="is not there"):
        run("no-such-qmd", tmp_path)


def test_a_program_in_the_folder_that_we_are_in_is_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_program(tmp_path, "echo run")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f".{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(QmdFailed, match="is not there"):
        run("qmd", tmp_path)


def test_a_slow_program_dies_with_its_group(tmp_path: Path) -> None:
    lines = """
import os, subprocess, time
from pathlib import Path
child = subprocess.Popen(["sleep", "600"])
Path("child").write_text(str(child.pid))
time.sleep(600)
"""
    with pytest.raises(QmdFailed, match="took longer than 2 seconds"):
        run(python_program(tmp_path, lines), tmp_path, 2.0)
    child = int((tmp_path / "child").read_text(encoding="utf-8"))
    eventually(lambda: not is_alive(child))


def test_a_child_does_not_outlive_a_program_that_ended(tmp_path: Path) -> None:
    run(write_program(tmp_path, "sleep 600 >/dev/null 2>&1 &\necho $! >child; echo done"), tmp_path)
    child = int((tmp_path / "child").read_text(encoding="utf-8"))
    eventually(lambda: not is_alive(child))


def test_a_program_is_killed_if_the_work_is_called_off(tmp_path: Path) -> None:
    def stop(completed: int, total: int, label: str) -> None:
        raise KeyboardInterrupt

    program = write_program(tmp_path, "echo $$ >own; exec sleep 600")
    with pytest.raises(KeyboardInterrupt):
        run_program([str(program), "query"], tmp_path, os.environ, 20.0, stop)
    assert not is_running(tmp_path / "own")


def is_running(file: Path) -> bool:
    said = file.read_text(encoding="utf-8").strip() if file.exists() else ""
    return bool(said) and is_alive(int(said))


def is_alive(process: int) -> bool:
    """Return whether a process runs; one that ended and is not yet waited for does not."""
    try:
        state = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"
