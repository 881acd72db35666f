"""An engine with faults: `python faulty_engine.py FOLDER COMMAND…` stands between a client and the engine.

`FOLDER/fault` names what goes wrong from the next request on; without that file nothing does.
`FOLDER/pids` has a line for every start. Until a fault is named, the engine takes this program's place.
"""

from __future__ import annotations

import os
import random
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO

SLOW_SECONDS = 0.8
FLOOD = 3_000_000
TINY_FILES = 512
"""Bytes that a file may have on a disk that is full."""


class Faulty:
    """The engine behind, and what is done to what it says."""

    def __init__(self, folder: Path, command: list[str]) -> None:
        self.folder = folder
        self.engine = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.out = sys.stdout.buffer
        self._lock = threading.Lock()

    def fault(self) -> str:
        """Return what goes wrong now."""
        return fault_in(self.folder)

    def forward(self) -> None:
        """Give every request to the engine, unless the fault forbids it."""
        assert self.engine.stdin
        for line in sys.stdin.buffer:
            before = BEFORE.get(self.fault())
            if before is None or before(self):
                self.engine.stdin.write(line)
                self.engine.stdin.flush()
        self.engine.stdin.close()

    def answer(self) -> None:
        """Give every answer to the client, with the fault."""
        assert self.engine.stdout
        for line in self.engine.stdout:
            AFTER.get(self.fault(), Faulty.tell)(self, line)

    def tell(self, content: bytes) -> None:
        """Write to the client."""
        with self._lock:
            self.out.write(content)
            self.out.flush()

    def die(self) -> bool:
        """End at once, and the engine with it."""
        self.engine.kill()
        os._exit(9)

    def die_soon(self) -> bool:
        """End at any moment of the next half second."""
        threading.Timer(random.uniform(0, 0.5), self.die).start()
        return True

    def hang(self) -> bool:
        """Take the request and never answer it."""
        return False

    def fill_the_disk(self) -> bool:
        """Let every write of the engine fail from now on."""
        resource.prlimit(self.engine.pid, resource.RLIMIT_FSIZE, (TINY_FILES, TINY_FILES))
        return True

    def stop_reading(self) -> bool:
        """Read no more, so that the client's pipe fills."""
        time.sleep(3600)
        return False

    def shout(self) -> bool:
        """Write a lot to the standard error."""
        sys.stderr.write("x" * FLOOD)
        return True

    def tell_garbage(self, line: bytes) -> None:
        """Write what is no answer around an answer."""
        for junk in (b"a line that is no JSON\n", b"\xff\xfe\x00\n", b"[]\n", b"null\n", b"{}\n", b"\n"):
            self.tell(junk)
        self.tell(
            b'{"jsonrpc":"2.0","id":987654,"result":null}\n{"jsonrpc":"2.0","id":{},"error":7}\n' + line
        )

    def tell_only_garbage(self, line: bytes) -> None:
        """Write something else in the place of an answer."""
        self.tell(b"Traceback (most recent call last):\n")

    def tell_endlessly(self, line: bytes) -> None:
        """Write a line that is far too long before the answer."""
        self.tell(b"x" * FLOOD + b"\n" + line)

    def tell_half(self, line: bytes) -> None:
        """End in the middle of an answer."""
        self.tell(line[: len(line) // 2])
        self.die()

    def tell_twice(self, line: bytes) -> None:
        """Answer twice."""
        self.tell(line + line)

    def tell_late(self, line: bytes) -> None:
        """Answer later."""
        time.sleep(SLOW_SECONDS)
        self.tell(line)

    def tell_another_shape(self, line: bytes) -> None:
        """Answer with results that are not what they should be."""
        self.tell(line.replace(b'"result":', b'"result":[17],"was":'))

    def tell_in_pieces(self, line: bytes) -> None:
        """Answer a few bytes at a time."""
        for start in range(0, len(line), 97):
            self.tell(line[start : start + 97])
            time.sleep(0.001)


BEFORE: dict[str, Callable[[Faulty], bool]] = {
    "killed": Faulty.die,
    "killed at any moment": Faulty.die_soon,
    "hangs": Faulty.hang,
    "disk full": Faulty.fill_the_disk,
    "does not read": Faulty.stop_reading,
    "shouts": Faulty.shout,
}
AFTER: dict[str, Callable[[Faulty, bytes], None]] = {
    "garbage": Faulty.tell_garbage,
    "only garbage": Faulty.tell_only_garbage,
    "endless line": Faulty.tell_endlessly,
    "half an answer": Faulty.tell_half,
    "answers twice": Faulty.tell_twice,
    "slow": Faulty.tell_late,
    "other shapes": Faulty.tell_another_shape,
    "in pieces": Faulty.tell_in_pieces,
}
AT_START = ("does not start", "starts late")
FAULTS = (*BEFORE, *AFTER, *AT_START)
WITHOUT = "without faults"


def fault_in(folder: Path) -> str:
    """Return what goes wrong now."""
    file = folder / "fault"
    return file.read_text(encoding="utf-8") if file.exists() else ""


def main(folder: Path, command: list[str]) -> None:
    """Begin as the fault says, and run until the client goes."""
    stream: IO[str]
    with (folder / "pids").open("a", encoding="utf-8") as stream:
        stream.write(f"{os.getpid()}\n")
    fault = fault_in(folder)
    if not fault:
        os.execv(command[0], command)
    if fault == "does not start":
        sys.exit(3)
    if fault == "starts late":
        time.sleep(2 * SLOW_SECONDS)
    between = Faulty(folder, command)
    threading.Thread(target=between.forward, daemon=True).start()
    between.answer()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
