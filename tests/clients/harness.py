"""What the real clients share in tests: a home of their own, programs in it, and the model that answers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self, TypeVar

import pytest

from tests.fixtures.make_sessions import raise_loopback
from tests.fixtures.model_server import Handler
from tests.programs import MAIN
from tests.serve.hooks import end_engines

TURN_SECONDS = 60
END_SECONDS = 10
ROOT = Path(__file__).parents[2]

NOTES = {
    "MEMORY.md": "# Shop\n\n- The staging database listens on port 5433.\n- Ada decides about releases.\n",
    "memory/people.md": "# People\n\n- Grace looks after the warehouse robots in Rotterdam.\n",
}


class ModelServer:
    """Serves a scripted model until it is closed; the handler answers what clients ask at `url`."""

    def __init__(self, handler: type[Handler]) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self._server.block_on_close = False
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop answering."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class Home:
    """A home folder with projects. Nothing of the real home is seen, and no settings of this run."""

    def __init__(self, folder: Path, program: Path, provider: str = "none") -> None:
        self.program = program
        self.home = folder / "home"
        write(self.home, {".memlines/config.yaml": f"embeddings:\n  provider: {provider}\n"})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end_engines()

    def environment(self, **more: str | None) -> dict[str, str]:
        """Return the variables that a program sees here; one that is None is taken away."""
        variables = {name: os.environ[name] for name in ("PATH", "TMPDIR") if name in os.environ} | {
            "HOME": str(self.home),
            "USER": "ada",
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "MEMLINES_HOME": str(self.home / ".memlines"),
        }
        return {name: value for name, value in {**variables, **more}.items() if value is not None}

    def log(self) -> str:
        """Return what the hooks had to note."""
        file = self.home / ".memlines/state/hooks.log"
        return file.read_text(encoding="utf-8") if file.exists() else ""

    def memlines(self, folder: Path, *arguments: str) -> str:
        """Run our own command line in a folder and return what it printed."""
        return self.run_program([sys.executable, "-c", MAIN, *arguments], folder)

    def end_engines(self) -> None:
        """End the engines of the hooks: they outlive their clients for a while."""
        end_engines(self.home / ".memlines")

    def run_program(self, command: list[str], folder: Path, said: str = "", **variables: str | None) -> str:
        """Run a program in a folder, which must end well, and return what it printed."""
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=self.environment(**variables),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            start_new_session=True,
        )
        try:
            out, err = process.communicate(said, timeout=TURN_SECONDS)
        finally:
            end(process)
        assert process.returncode == 0, f"{out}\n{err}\n{self.log()}"
        return out


def write(folder: Path, files: Mapping[str, str]) -> None:
    """Write files below a folder."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def git(folder: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=folder, check=True, timeout=END_SECONDS)


def end(process: subprocess.Popen[Any]) -> None:
    """End a program and its children, which are one group; a program that does not listen is killed."""
    with suppress(ProcessLookupError, subprocess.TimeoutExpired):
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(END_SECONDS)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(END_SECONDS)


def run_offline(module: str, program: Path, folder: Path) -> str:
    """Run the `main` of a module, a call of `take_turn`, without a network; return what it printed."""
    alone = ["unshare", "--map-root-user", "--net"]
    try:
        subprocess.run([*alone, "true"], check=True, capture_output=True, timeout=TURN_SECONDS)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"the system gives no network of its own: {error}")
    done = subprocess.run(
        [*alone, sys.executable, "-m", module, str(program), str(folder)],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        timeout=3 * TURN_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


M = TypeVar("M", bound=ModelServer)


def take_turn(model: Callable[[], M], turn: Callable[[Path, Path, M], str]) -> None:
    """Print what a turn without a network gives: `turn` gets the program, an empty folder and a model.

    The model has to be inside as well: a network of its own has a loopback of its own.
    """
    raise_loopback()
    program, folder = map(Path, sys.argv[1:])
    with model() as started:
        sys.stdout.write(turn(program, folder, started))
