"""Start processes in a moment and kill them at any.

One process imports everything and waits. For each run it makes a child of itself, which begins its work at
once, kills it after a while, and tells how it ended. What the child acknowledged is in a file: what a
process wrote to a file outlives it, and no pipe can hold it back.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.indexes import one_origin, program

_NURSERY = """
from tests.faults import nursery
nursery.serve(sys.stdin, print)
"""


class Nursery:
    """A process that makes children and kills them."""

    def __init__(self, process: subprocess.Popen[str], folder: Path) -> None:
        self._process = process
        self._folder = folder
        self._runs = 0

    def killed(self, workload: str, workspace: Path, name: str, seconds: float) -> list[str]:
        """Let a workload run for so long, kill it, and return what it acknowledged."""
        self._runs += 1
        acknowledged = self._folder / f"{self._runs}.acknowledged"
        acknowledged.touch()
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        order = [workload, str(workspace), name, str(acknowledged), seconds]
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        ended = self._process.stdout.readline().strip()
        errors = (self._folder / "errors").read_text(encoding="utf-8")
        assert (ended, errors) == (str(-signal.SIGKILL), "")
        lines = acknowledged.read_text(encoding="utf-8").split()
        acknowledged.unlink()
        return lines


@contextmanager
def nursery(folder: Path) -> Iterator[Nursery]:
    """Have a nursery for a while; the folder is for its own files."""
    with (
        (folder / "errors").open("w", encoding="utf-8") as errors,
        subprocess.Popen(
            program(_NURSERY),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            encoding="utf-8",
        ) as process,
    ):
        yield Nursery(process, folder)
        assert process.stdin is not None
        process.stdin.close()


def serve(orders: Iterator[str], answer: Callable[..., None]) -> None:
    """Carry out orders, one a line: make a child, kill it after some time, tell how it ended."""
    from tests.faults import workloads

    workloads.warm_up()
    with one_origin():  # indexes of theirs are copied about
        for line in orders:
            workload, workspace, name, acknowledged, seconds = json.loads(line)
            child = os.fork()
            if child == 0:
                handle = os.open(acknowledged, os.O_WRONLY | os.O_APPEND)

                def acknowledge(word: str, handle: int = handle) -> None:
                    os.write(handle, f"{word}\n".encode())

                getattr(workloads, workload)(Path(workspace), name, acknowledge)
                os._exit(0)
            time.sleep(seconds)
            os.kill(child, signal.SIGKILL)
            answer(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
