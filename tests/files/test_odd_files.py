"""Whatever is in the place of a private file is set aside or refused by name, and never waited for."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from memlines.cli.main import run
from tests.faults.scale import scaled
from tests.indexes import hashes, notes, program, write

pytestmark = [
    pytest.mark.promise("P7"),
    pytest.mark.skipif(os.name == "nt", reason="Windows has no such files"),
]

FILES = (
    *("index.sqlite", "index.sqlite-wal", "index.sqlite-shm", "index.sqlite-journal"),
    *("index.sqlite.lock", "index.sqlite.embedding.lock", "notes.lock"),
    *("facts.lock", "captured.json", "captured.lock", "config.yaml", ".gitignore"),
    *(
        "forgotten.jsonl",
        "forgotten.salt",
        "forgetting.json",
        "writes.jsonl",
        "history",
        "trash",
        "snapshots",
        "facts",
    ),
    f".memlines-{'a' * 32}.tmp",
)
COMMANDS: tuple[tuple[str, ...], ...] = (
    ("search", "own1"),
    ("sync",),
    ("remember", "the okapi is shy", "--json"),
    ("forget", "memory/n2.md#L1-L1", "--yes"),
    ("doctor",),
)
SECONDS = 20
"""Far more than any of the commands takes."""
KEPT = "not yours\n"


def fifo(path: Path, outside: Path) -> None:
    os.mkfifo(path)


def folder(path: Path, outside: Path) -> None:
    path.mkdir()
    (path / "somebody's.txt").write_text(KEPT, encoding="utf-8")


def dangling_link(path: Path, outside: Path) -> None:
    path.symlink_to(path.parent / "nowhere")


def link_to_outside(path: Path, outside: Path) -> None:
    path.symlink_to(outside / "file.txt")


def socket_file(path: Path, outside: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listening:
        here = Path.cwd()
        os.chdir(path.parent)  # the name of a socket is at most about 100 characters
        listening.bind(path.name)
        os.chdir(here)


KINDS: dict[str, Callable[[Path, Path], None]] = {
    made.__name__: made for made in (fifo, folder, dangling_link, link_to_outside, socket_file)
}


def try_everything(top: Path, kind: str) -> Iterator[str]:
    """Yield what went wrong with any command while something of a kind stood in the place of a file."""
    for command in COMMANDS:  # imports what they need before there are children
        run([*command, "-w", str(shutil.copytree(top / "pattern", top / "first", dirs_exist_ok=True))])
    for at, file in enumerate(FILES):
        for number, command in enumerate(COMMANDS):
            if (at + number) % scaled(small=2, full=1):
                continue  # with all other tests every second command, behind `make faults` each
            workspace, outside = top / f"{at}-{number}", top / "outside"
            shutil.rmtree(outside, ignore_errors=True)
            outside.mkdir()
            (outside / "file.txt").write_text(KEPT, encoding="utf-8")
            shutil.copytree(top / "pattern", workspace)
            place = workspace / ".memory" / file
            if place.is_dir():
                shutil.rmtree(place)
            place.unlink(missing_ok=True)
            KINDS[kind](place, outside)
            before = hashes(workspace)
            problem = outcome(workspace, command, file)
            if problem:
                yield f"{file}, {' '.join(command)}: {problem}"
            if [path.read_text(encoding="utf-8") for path in outside.iterdir()] != [KEPT]:
                yield f"{file}, {' '.join(command)}: changed what lies outside"
            if command[0] not in ("remember", "forget") and hashes(workspace) != before:
                yield f"{file}, {' '.join(command)}: changed the notes"
            shutil.rmtree(workspace)


def outcome(workspace: Path, command: tuple[str, ...], name: str) -> str:
    """Run a command in a child, which is killed if it waits; say what is wrong with how it ended."""
    told = workspace.with_name("told")
    child = os.fork()
    if child == 0:
        code = 99
        try:
            with told.open("w", encoding="utf-8") as stream, redirect_stdout(stream), redirect_stderr(stream):
                code = run([*command, "-w", str(workspace)])
        except BaseException:  # noqa: BLE001 (whatever it is, it is what the test is about)
            told.write_text(traceback.format_exc(), encoding="utf-8")
        os._exit(code)
    until = time.monotonic() + SECONDS
    while not (ended := os.waitpid(child, os.WNOHANG))[0]:
        if time.monotonic() > until:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return "waits"
        time.sleep(0.005)
    code = os.waitstatus_to_exitcode(ended[1])
    text = told.read_text(encoding="utf-8")
    if code == 99 or "Traceback" in text:
        return text[-300:]
    return "" if code in (0, 1) or name in text else f"exit {code}: {text[-200:]}"


ALL_OF_A_KIND = """
import json
from pathlib import Path
from tests.files.test_odd_files import try_everything
problems = list(try_everything(Path(sys.argv[1]), sys.argv[2]))
Path(sys.argv[1], "problems.json").write_text(json.dumps(problems), encoding="utf-8")
"""


@pytest.mark.parametrize("kind", KINDS)
def test_no_private_file_is_waited_for_or_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setenv("MEMLINES_EMBEDDINGS__PROVIDER", "none")
    pattern = tmp_path / "pattern"
    write(pattern, notes(4))
    assert run(["sync", "-w", str(pattern)]) == 0
    subprocess.run(
        [*program(ALL_OF_A_KIND), str(tmp_path), kind], check=True, capture_output=True, timeout=600
    )
    assert json.loads((tmp_path / "problems.json").read_text(encoding="utf-8")) == []
