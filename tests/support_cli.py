"""Run the command line: in this process where that is enough, else as a real program."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from memlines.cli.main import run

MAIN = "from memlines.cli.start import main; main()"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The output read as JSON."""
        return json.loads(self.out)


class Cli:
    """Calls commands in this process, words only."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *arguments: str | Path) -> Outcome:
        self._capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        captured = self._capsys.readouterr()
        return Outcome(code, captured.out, captured.err)


def program(
    *arguments: str | Path,
    cwd: Path | None = None,
    env: Mapping[str, str | None] | None = None,
    **options: Any,
) -> subprocess.CompletedProcess[bytes]:
    """Run the command line as a program of its own; a variable set to None is taken away."""
    return subprocess.run(
        [sys.executable, "-c", MAIN, *map(str, arguments)],
        cwd=cwd,
        env=environment(env or {}),
        stdin=subprocess.DEVNULL,
        timeout=60,
        check=False,
        **({"capture_output": True} | options if "stdout" not in options else options),
    )


def environment(changes: Mapping[str, str | None]) -> dict[str, str]:
    """Return the environment of a program that searches by words, with some changes."""
    variables: dict[str, str | None] = {**os.environ, "MEMLINES_EMBEDDINGS__PROVIDER": "none", **changes}
    return {name: value for name, value in variables.items() if value is not None}


Answer = Callable[..., None]


def keyboard(monkeypatch: pytest.MonkeyPatch) -> Answer:
    """Return what sits down at the terminal and answers with some lines."""

    class Keyboard(io.StringIO):
        def isatty(self) -> bool:
            return True

    def say(*lines: str) -> None:
        monkeypatch.setattr(sys, "stdin", Keyboard("".join(f"{line}\n" for line in lines)))

    return say
