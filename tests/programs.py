"""Run the command line, here or as a real program, servers, and Python where permission bits count."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from platformdirs import user_cache_path

from memlines.cli.main import run
from memlines.locks import WriterLock

MAIN = "from memlines.cli.start import main; main()"

_CANNOT_DROP = 77

# The superuser may read and write every file, which hides what a plain user would see. The two
# capabilities behind that are taken out of the bounding set; starting a program then loses them.
_LAUNCHER = f"""\
import ctypes, os, sys
if os.geteuid() == 0:
    prctl = ctypes.CDLL(None).prctl
    drop_from_bounding_set, dac_override, dac_read_search = 24, 1, 2
    for capability in (dac_override, dac_read_search):
        if prctl(drop_from_bounding_set, capability, 0, 0, 0) != 0:
            sys.exit({_CANNOT_DROP})
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""


_SYSTEM_PATH = os.pathsep.join((os.environ.get("PATH", os.defpath), "/usr/sbin", "/usr/local/sbin"))
_INSTALL_SECONDS = 900


def find_or_install(names: Sequence[str], package: str) -> str | None:
    """Return a program; if it is missing, have the system's package manager install it, if allowed."""
    may_install = shutil.which("apt-get") and os.geteuid() == 0
    if (found := _find(names)) is not None or not may_install:
        return found
    lock = user_cache_path("memlines-tests", appauthor=False) / "apt-get.lock"
    lock.parent.mkdir(parents=True, exist_ok=True)
    with WriterLock(lock).held(_INSTALL_SECONDS):
        if _find(names) is None:
            for step in (["update"], ["install", "-y", "--no-install-recommends", package]):
                environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
                command = ["apt-get", "-q", *step]
                subprocess.run(
                    command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, check=False
                )
    return _find(names)


def _find(names: Sequence[str]) -> str | None:
    return next(filter(None, (shutil.which(name, path=_SYSTEM_PATH) for name in names)), None)


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


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Take away the right to write from a folder and everything in it."""
    every = [folder, *folder.rglob("*")]
    modes = {path: path.stat().st_mode for path in every}
    for path in every:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        yield
    finally:
        for path, mode in modes.items():
            if path.exists():
                path.chmod(mode)


def unprivileged_run(
    code: str | Sequence[str],
    *arguments: str | os.PathLike[str],
    env: Mapping[str, str] | None = None,
    timeout: float = 60,
) -> subprocess.CompletedProcess[str]:
    """Run Python where permission bits count, even for the superuser; skip the test if that is impossible.

    `code` is a program text or the interpreter's own arguments, such as `["-m", "memlines.cli.main"]`.
    `env` is added to the environment. The caller looks at `returncode`, `stdout` and `stderr`.
    """
    if os.name == "nt" or (os.geteuid() == 0 and not sys.platform.startswith("linux")):
        pytest.skip("permission bits cannot be made to count here")
    program = ["-c", code] if isinstance(code, str) else list(code)
    done = subprocess.run(
        [sys.executable, "-c", _LAUNCHER, *program, *(os.fspath(argument) for argument in arguments)],
        capture_output=True,
        check=False,
        encoding="utf-8",
        env={**os.environ, **(env or {})},
        timeout=timeout,
    )
    if done.returncode == _CANNOT_DROP:
        pytest.skip("capabilities cannot be dropped here")
    return done


@contextmanager
def listening(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """Answer requests on this machine for as long as the block lasts; yield the address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
