"""OpenCode in a home of its own: `opencode serve`, and `opencode run`."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPConnection
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import quote
from weakref import WeakSet

from tests.clients.harness import TURN_SECONDS, Home, end, git, write
from tests.clients.opencode.model import Model

START_SECONDS = 90

_LISTENING = re.compile(r"opencode server listening on http://127\.0\.0\.1:(\d+)")
_MODELS = "models.json"
"""Where OpenCode finds a list of the world's models; reading its own takes most of opening a project."""

_QUIET = ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS")

running: WeakSet[Server] = WeakSet()
"""The servers of this process, for the report on a test that failed."""


class Machine(Home):
    """A home with projects, where OpenCode asks the scripted model."""

    def __init__(self, folder: Path, program: Path, model: Model) -> None:
        super().__init__(folder, program, provider="auto")  # unless the variable says otherwise
        self.model = model
        write(self.home, {".config/opencode/opencode.json": json.dumps(_settings(model.url)), _MODELS: "{}"})

    def project(self, name: str) -> Path:
        """Make a project in git, with a commit."""
        folder = self.home / name
        write(folder, {"main.py": "print(1)\n"})
        author = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgsign=false"]
        for words in (["init", "-q"], ["add", "."], [*author, "commit", "-q", "-m", "First"]):
            git(folder, *words)
        return folder

    def environment(self, **more: str | None) -> dict[str, str]:
        """Return the variables that a program sees here; one that is None is taken away."""
        variables: dict[str, str | None] = {
            "XDG_CONFIG_HOME": str(self.home / ".config"),
            "XDG_DATA_HOME": str(self.home / ".local/share"),
            "XDG_STATE_HOME": str(self.home / ".local/state"),
            "XDG_CACHE_HOME": str(self.home / ".cache"),
            "MEMLINES_EMBEDDINGS__PROVIDER": "none",
            "npm_config_offline": "true",
            "OPENCODE_MODELS_PATH": str(self.home / _MODELS),
            **{f"OPENCODE_DISABLE_{what}": "1" for what in _QUIET},
        }
        return super().environment(**{**variables, **more})

    def serve(self, **variables: str | None) -> Server:
        """Start `opencode serve`."""
        return Server(self, self.environment(**variables))

    def run(
        self, folder: Path, prompt: str, *options: str, before: tuple[str, ...] = (), **variables: str | None
    ) -> list[dict[str, Any]]:
        """Give a prompt to `opencode run` and return its events; `before` are words before its own."""
        command = [*before, str(self.program), "run", "--format", "json", *options]
        out = self.run_program(command, folder, prompt, **variables)
        return [json.loads(line) for line in out.splitlines()]

    def log(self) -> str:
        """Return the end of what OpenCode logged."""
        file = self.home / ".local/share/opencode/log/opencode.log"
        return file.read_text(encoding="utf-8", errors="replace")[-8000:] if file.exists() else "(no log)"


class Server:
    """A running `opencode serve`. Every request has a time limit."""

    def __init__(self, machine: Machine, variables: dict[str, str]) -> None:
        self.machine = machine
        self._printed = machine.home / f"serve-{time.time_ns()}.txt"
        with self._printed.open("wb") as stream:
            self._process = subprocess.Popen(
                [str(machine.program), "serve", "--hostname", "127.0.0.1", "--port", "0"],
                cwd=machine.home,
                env=variables,
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        running.add(self)
        try:
            self._port = self._port_when_ready()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Server:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End it and everything that it started."""
        end(self._process)
        running.discard(self)

    def request(
        self, folder: Path, method: str, path: str, body: Any = None, limit: float = TURN_SECONDS
    ) -> Any:
        """Ask for something about a project, and return the JSON that is answered."""
        connection = HTTPConnection("127.0.0.1", self._port, timeout=limit)
        try:
            content = None if body is None else json.dumps(body)
            headers = {"content-type": "application/json"}
            connection.request(method, f"{path}?directory={quote(str(folder))}", content, headers)
            response = connection.getresponse()
            received = response.read().decode()
        finally:
            connection.close()
        assert response.status < 300, f"{method} {path}: {response.status} {received[:1000]}"
        return json.loads(received) if received else None

    @contextmanager
    def events(self, folder: Path) -> Iterator[list[dict[str, Any]]]:
        """Collect what OpenCode tells its windows about a project."""
        heard: list[dict[str, Any]] = []
        connection = HTTPConnection("127.0.0.1", self._port, timeout=TURN_SECONDS)
        connection.request("GET", f"/event?directory={quote(str(folder))}")
        response = connection.getresponse()
        stream = connection.sock

        def listen() -> None:
            told = (line.removeprefix(b"data: ") for line in response if line.startswith(b"data: "))
            with suppress(ConnectionResetError):  # the end of the block may meet a server that writes
                heard.extend(map(json.loads, told))

        listener = threading.Thread(target=listen)
        listener.start()
        try:
            yield heard
        finally:
            stream.shutdown(socket.SHUT_RDWR)
            listener.join()
            connection.close()

    def is_alive(self) -> bool:
        """Tell whether the program still runs."""
        return self._process.poll() is None

    def printed(self) -> str:
        """Return what it printed."""
        return self._printed.read_text(encoding="utf-8", errors="replace")

    def _port_when_ready(self) -> int:
        """Wait until it says that it listens: what is asked before is never answered."""
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end and self.is_alive():
            if found := _LISTENING.search(self.printed()):
                return int(found[1])
            time.sleep(0.02)
        raise AssertionError(f"opencode did not start: {self.printed()}")


def _settings(url: str) -> dict[str, Any]:
    model = {"name": "Scripted", "tool_call": True, "limit": {"context": 32000, "output": 4096}}
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "Scripted",
        "options": {"baseURL": url, "apiKey": "none"},
        "models": {"one": model},
    }
    return {
        "$schema": "https://opencode.ai/config.json",
        "model": "scripted/one",
        "small_model": "scripted/one",
        "autoupdate": False,
        "share": "disabled",
        "snapshot": False,  # of the project's files, by git: they take half of the time of a turn
        "enabled_providers": ["scripted"],
        "provider": {"scripted": provider},
    }
