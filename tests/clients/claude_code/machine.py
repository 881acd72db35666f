"""Claude Code in a home of its own: `claude -p`, one turn at a time."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import uuid
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.clients.claude_code.model import Model, Request
from tests.programs import MAIN
from tests.serve.hooks import end_engines, engines_in

TURN_SECONDS = 60
END_SECONDS = 10

NOTES = {
    "MEMORY.md": "# Shop\n\n- The staging database listens on port 5433.\n- Ada decides about releases.\n",
    "memory/people.md": "# People\n\n- Grace looks after the warehouse robots in Rotterdam.\n",
}
SERVERS = '{\n\t"mcpServers": {}\n}\n'
"""A file of the user's, laid out in their own way."""

TOOL = "mcp__memlines__memory_search"


class Machine:
    """A home folder with projects. Nothing of the real home is seen, and no settings of this run."""

    def __init__(self, folder: Path, program: Path, model: Model, provider: str = "none") -> None:
        self.program = program
        self.model = model
        self.home = folder / "home"
        settings = self.home / ".memlines/config.yaml"
        settings.parent.mkdir(parents=True)
        settings.write_text(f"embeddings:\n  provider: {provider}\n", encoding="utf-8")

    def project(self, name: str) -> Path:
        """Make a project in git, with notes and a file of Claude Code's."""
        folder = self.home / name
        for path, text in {**NOTES, ".mcp.json": SERVERS}.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, encoding="utf-8")
        subprocess.run(["git", "init", "-q"], cwd=folder, check=True, timeout=END_SECONDS)
        return folder

    def environment(self) -> dict[str, str]:
        """Return the variables that a program sees here; the program `memlines` is found."""
        kept = {name: os.environ[name] for name in ("TMPDIR",) if name in os.environ}
        return {
            **kept,
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
            "HOME": str(self.home),
            "USER": "ada",
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "MEMLINES_HOME": str(self.home / ".memlines"),
            "IS_SANDBOX": "1",
            "ANTHROPIC_BASE_URL": self.model.url,
            "ANTHROPIC_API_KEY": "none",
            "ANTHROPIC_MODEL": "claude-sonnet-4-5",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_TELEMETRY": "1",
        }

    def memlines(self, folder: Path, *arguments: str) -> str:
        """Run our own command line in a folder and return what it printed."""
        return self._run([sys.executable, "-c", MAIN, *arguments], folder)

    def claude(self, folder: Path, *arguments: str) -> str:
        """Run Claude Code in a folder and return what it printed."""
        return self._run([str(self.program), *arguments], folder)

    def log(self) -> str:
        """Return what the hooks had to note."""
        file = self.home / ".memlines/state/hooks.log"
        return file.read_text(encoding="utf-8") if file.exists() else ""

    def engines(self) -> list[int]:
        """Return the processes of the engines that run."""
        return engines_in(self.home / ".memlines")

    def end_engines(self) -> None:
        """End them: they outlive their clients for a while."""
        end_engines(self.home / ".memlines")

    def _run(self, command: list[str], folder: Path) -> str:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            start_new_session=True,
        )
        try:
            out, err = process.communicate(timeout=TURN_SECONDS)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(END_SECONDS)
        assert process.returncode == 0, f"{out}\n{err}\n{self.log()}"
        return out


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
