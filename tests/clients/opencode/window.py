"""OpenCode open on one project: what a person does there, and what came of it."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.clients.harness import TURN_SECONDS
from tests.clients.opencode.machine import Server
from tests.clients.opencode.model import Model, Request

TRIES = 5
"""The model does not wait for the memory: a machine that is busy may bring its notes a call later."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool that was called in a turn: `output` is what the model read, `metadata` what programs get."""

    name: str
    status: str
    output: str
    milliseconds: int
    metadata: dict[str, Any]

    @classmethod
    def of(cls, part: dict[str, Any]) -> ToolCall:
        """Read it from a part of a message."""
        state = part["state"]
        times = state.get("time", {})
        output = state.get("output", state.get("error", ""))
        took = times.get("end", 0) - times.get("start", 0)
        return cls(part["tool"], state["status"], output, took, state.get("metadata", {}))


@dataclass(frozen=True, slots=True)
class Answer:
    """What the model said in a turn, and the tools it called."""

    text: str
    calls: tuple[ToolCall, ...]

    @property
    def output(self) -> str:
        """What the only tool of the turn answered."""
        (call,) = self.calls
        assert call.status == "completed", call
        return call.output


class Window:
    """A project in a running OpenCode."""

    def __init__(self, server: Server, folder: Path) -> None:
        self.server = server
        self.folder = folder

    @property
    def model(self) -> Model:
        """The model that answers here."""
        return self.server.machine.model

    @property
    def memory(self) -> Path:
        """The folder with the notes."""
        return self.folder / "memory"

    def write(self, name: str, text: str) -> Path:
        """Write a file of the project, as another program would."""
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def notes(self) -> str:
        """Return everything that stands in the notes."""
        files = [self.folder / "MEMORY.md", *sorted(self.memory.rglob("*.md"))]
        return "\n".join(file.read_text(encoding="utf-8") for file in files if file.exists())

    def snapshots(self) -> list[Path]:
        """Return the files of the snapshots."""
        return sorted((self.folder / ".memory/snapshots").glob("*.json"))

    def request(self, method: str, path: str, body: Any = None, limit: float = TURN_SECONDS) -> Any:
        """Ask OpenCode for something about this project."""
        return self.server.request(self.folder, method, path, body, limit)

    def session(self) -> str:
        """Begin a session."""
        return str(self.request("POST", "/session", {})["id"])

    def say(self, text: str, session: str = "", limit: float = TURN_SECONDS) -> Answer:
        """Say something, in a new session unless one is named, and wait for the end of the turn."""
        session = session or self.session()
        message = {"parts": [{"type": "text", "text": text}]}
        self.request("POST", f"/session/{session}/message", message, limit)
        return self.answer(session)

    def say_at_start(self, text: str) -> Request:
        """Say something and return what the model was sent first; begin again until the memory was ready."""
        for _ in range(TRIES):
            before = len(self.model.about(text))
            self.say(text)
            asked = self.model.about(text)[before]
            if "memlines-context" in asked.system:
                break
        return asked

    @contextmanager
    def saying(self, text: str, session: str) -> Iterator[Future[Answer]]:
        """Say something, and do something else before the turn ends."""
        with ThreadPoolExecutor(1) as thread:
            yield thread.submit(self.say, text, session)

    def search(self, query: str) -> str:
        """Search as a model does that is told to try again: while the index is written, it may be old."""
        end = time.monotonic() + TURN_SECONDS
        while "may be out of date" in (found := self.call("memory_search", query=query).output):
            assert time.monotonic() < end, found
            time.sleep(0.1)
        return found

    def call(self, tool: str, session: str = "", **arguments: Any) -> Answer:
        """Let the model call one tool."""
        return self.say(f"CALL {tool} {json.dumps(arguments)}", session)

    def command(self, name: str, arguments: str = "", session: str = "") -> Answer:
        """Type a slash command and wait for the end of the turn."""
        session = session or self.session()
        self.request("POST", f"/session/{session}/command", {"command": name, "arguments": arguments})
        return self.answer(session)

    def compact(self, session: str) -> None:
        """Sum a session up."""
        self.request("POST", f"/session/{session}/summarize", {"providerID": "scripted", "modelID": "one"})

    def answer(self, session: str) -> Answer:
        """Return what the model and its tools did since the user last spoke."""
        parts: list[dict[str, Any]] = []
        for message in self.request("GET", f"/session/{session}/message"):
            parts = [] if message["info"]["role"] == "user" else parts + message["parts"]
        text = "".join(part["text"] for part in parts if part["type"] == "text")
        return Answer(text, tuple(ToolCall.of(part) for part in parts if part["type"] == "tool"))
