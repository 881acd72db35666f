"""Claude Code in a home of its own: `claude -p`, one turn at a time."""

from __future__ import annotations

import json
import os
import sys
import uuid
from pathlib import Path
from typing import Any

from tests.clients.claude_code.model import Model, Request
from tests.clients.harness import NOTES, Home, git, write
from tests.serve.hooks import engines_in

SERVERS = '{\n\t"mcpServers": {}\n}\n'
"""A file of the user's, laid out in their own way."""

TOOL = "mcp__memlines__memory_search"


class Machine(Home):
    """A home with projects, where Claude Code asks the scripted model."""

    def __init__(self, folder: Path, program: Path, model: Model, provider: str = "none") -> None:
        super().__init__(folder, program, provider)
        self.model = model

    def project(self, name: str) -> Path:
        """Make a project in git, with notes and a file of Claude Code's."""
        folder = self.home / name
        write(folder, {**NOTES, ".mcp.json": SERVERS})
        git(folder, "init", "-q")
        return folder

    def environment(self, **more: str | None) -> dict[str, str]:
        """Return the variables that a program sees here; the program `memlines` is found."""
        variables = {
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
            "IS_SANDBOX": "1",
            "ANTHROPIC_BASE_URL": self.model.url,
            "ANTHROPIC_API_KEY": "none",
            "ANTHROPIC_MODEL": "claude-sonnet-4-5",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_TELEMETRY": "1",
        }
        return super().environment(**{**variables, **more})

    def claude(self, folder: Path, *arguments: str) -> str:
        """Run Claude Code in a folder and return what it printed."""
        return self.run_program([str(self.program), *arguments], folder)

    def engines(self) -> list[int]:
        """Return the processes of the engines that run."""
        return engines_in(self.home / ".memlines")


class Session:
    """A conversation with Claude Code in a project, which it takes up again for every turn."""

    def __init__(self, machine: Machine, folder: Path, *options: str) -> None:
        self.machine = machine
        self.folder = folder
        self.options = options
        self.id = str(uuid.uuid4())
        self.begun: dict[str, Any] = {}

    def say(self, prompt: str, *options: str) -> list[Request]:
        """Say something, and return what the model was asked because of it."""
        before = len(self.machine.model.requests)
        which = ["--resume", self.id] if self.begun else ["--session-id", self.id]
        stream = ["--output-format", "stream-json", "--verbose"]
        words = ["-p", *which, *stream, *self.options, *options, "--", prompt]
        printed = [json.loads(line) for line in self.machine.claude(self.folder, *words).splitlines()]
        self.begun = next(told for told in printed if told.get("subtype") == "init")
        return self.machine.model.requests[before:]


def heard(requests: list[Request]) -> str:
    """Return all that a model was told; besides the turn itself, the client may ask it for a title."""
    return "\n".join(request.everything for request in requests)
