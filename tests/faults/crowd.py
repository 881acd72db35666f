"""Many processes that begin at the same moment."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from tests.indexes import program

_BEGIN = """
import json
from pathlib import Path
arguments = json.loads(sys.argv[1])
workspace = Path(arguments[0])
def ready():
    print("ready", flush=True)
    sys.stdin.readline()
def answer(value):
    print(json.dumps(value), flush=True)
"""


class Member:
    """One process of a crowd; its program calls `ready()`, does its work, and calls `answer(value)`."""

    def __init__(self, body: str, *arguments: Any) -> None:
        self.process = subprocess.Popen(
            [*program(_BEGIN + body), json.dumps(arguments, default=str)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )

    def wait_until_ready(self) -> None:
        """Return when everything is imported."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line == "ready\n", line + self.errors()

    def go(self, order: str = "go") -> None:
        """Let it begin, or go on."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{order}\n")
        self.process.stdin.flush()

    def answer(self) -> Any:
        """Return what the program answers."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, self.errors()
        return json.loads(line)

    def errors(self) -> str:
        """Return what a program said on its way out."""
        assert self.process.stderr is not None
        return self.process.stderr.read()


@contextmanager
def crowd(members: Iterable[Member]) -> Iterator[list[Member]]:
    """Start processes, wait until each is ready, let all begin at once; none outlives the block."""
    every = list(members)
    try:
        for member in every:
            member.wait_until_ready()
        for member in every:
            member.go()
        yield every
    finally:
        for member in every:
            member.process.kill()
            member.process.communicate()
