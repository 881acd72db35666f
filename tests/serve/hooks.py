"""What the tests of the hooks share: a workspace, its hooks as real processes, and its engine."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from shutil import rmtree
from typing import Any

from memlines.clients.client import SCRIPT
from memlines.serve.hooks import thin
from tests.waiting import eventually

NOTES = "# Shop\n\n- The staging database listens on port 5433.\n- Ada decides about releases.\n"
CLIENT = "claude-code"


class Hooks:
    """The hooks of one workspace; this very process is the client."""

    def __init__(self, folder: Path, home: Path, notes: str = NOTES) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.home = home
        if notes:
            (folder / "MEMORY.md").write_text(notes, encoding="utf-8")

    @property
    def state(self) -> Path:
        return self.home / "state"

    @property
    def log(self) -> str:
        file = self.state / "hooks.log"
        return file.read_text(encoding="utf-8") if file.exists() else ""

    def variables(self, **more: str) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "TMPDIR", "LANG") if name in os.environ}
        return {
            **kept,
            "HOME": str(self.home),
            "MEMLINES_HOME": str(self.home),
            "MEMLINES_EMBEDDINGS__PROVIDER": "none",
            **more,
        }

    def words(self, event: str) -> list[str]:
        return [sys.executable, "-I", "-S", str(SCRIPT), CLIENT, event]

    def run_raw(self, event: str, said: bytes, **more: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            self.words(event),
            cwd=self.folder,
            env=self.variables(**more),
            input=said,
            capture_output=True,
            timeout=60,
            check=False,
        )

    def run(self, event: str, **given: Any) -> str:
        """Run a hook, and return the context that it gives; it must end well and write no errors."""
        said = {"session_id": "one", "cwd": str(self.folder), "hook_event_name": event, **given}
        done = self.run_raw(event, json.dumps(said).encode())
        assert (done.returncode, done.stderr) == (0, b"")
        if not done.stdout:
            return ""
        answer = json.loads(done.stdout)["hookSpecificOutput"]
        assert answer["hookEventName"] == event
        return str(answer["additionalContext"])

    @property
    def lock(self) -> Path:
        return self.state / "engines" / f"{thin.key_of(str(self.folder.resolve()))}.lock"

    @property
    def socket(self) -> Path:
        return Path(socket_of(self))

    def engine(self) -> int | None:
        """Return the process of the engine that runs, if one does."""
        return holder(self.lock)

    def end_engine(self, number: int = signal.SIGTERM) -> None:
        process = self.engine()
        if process is not None:
            with suppress(ProcessLookupError):
                os.kill(process, number)
            eventually(lambda: self.engine() is None)

    def close(self) -> None:
        """End the engine, and remove the folder outside of a long home that its socket is in."""
        self.end_engine()
        if self.home not in self.socket.parents:
            rmtree(self.socket.parent, ignore_errors=True)


def engines_in(home: Path) -> list[int]:
    """Return the processes of all engines that run with a home of Memlines's."""
    return [
        process for process in map(holder, (home / "state/engines").glob("*.lock")) if process is not None
    ]


def end_engines(home: Path) -> None:
    """Have all engines of a home end, and wait until they are gone."""
    for process in engines_in(home):
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGTERM)
    eventually(lambda: not engines_in(home))


def holder(lock: Path) -> int | None:
    """Return which process holds a lock, if one does."""
    try:
        handle = os.open(lock, os.O_RDWR)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return int(os.pread(handle, 20, 0) or b"0") or None
    else:
        return None
    finally:
        os.close(handle)


def socket_of(hooks: Hooks) -> str:
    """Return where the engine listens, as its own variables say."""
    former = os.environ.get("MEMLINES_HOME")
    os.environ["MEMLINES_HOME"] = str(hooks.home)
    try:
        return thin.socket_file(str(hooks.folder.resolve()))
    finally:
        if former is None:
            del os.environ["MEMLINES_HOME"]
        else:
            os.environ["MEMLINES_HOME"] = former
