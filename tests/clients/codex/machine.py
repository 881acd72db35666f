"""Codex in a home of its own: `codex exec`, and what it says about itself."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.clients.codex.model import Model
from tests.programs import MAIN
from tests.serve.hooks import end_engines

TURN_SECONDS = 60
END_SECONDS = 10

NOTES = {
    "MEMORY.md": "# Shop\n\n- The staging database listens on port 5433.\n- Ada decides about releases.\n",
    "memory/people.md": "# People\n\n- Grace looks after the warehouse robots in Rotterdam.\n",
}

ALL_HOOKS = "--dangerously-bypass-hook-trust"
"""Lets hooks run that nobody looked at; a person trusts them in Codex instead."""


class Machine:
    """A home folder with projects. Nothing of the real home is seen, and no settings of this run."""

    def __init__(self, folder: Path, program: Path, model: Model, provider: str = "none") -> None:
        self.program = program
        self.model = model
        self.home = folder / "home"
        self.config = self.home / ".codex/config.toml"
        self.config.parent.mkdir(parents=True)
        self.config.write_text(_settings(model.url), encoding="utf-8")
        settings = self.home / ".memlines/config.yaml"
        settings.parent.mkdir()
        settings.write_text(f"embeddings:\n  provider: {provider}\n", encoding="utf-8")

    def project(self, name: str, *, trusted: bool = True) -> Path:
        """Make a project in git, with notes; Codex asks people whether they trust it."""
        folder = self.home / name
        for path, text in NOTES.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, encoding="utf-8")
        subprocess.run(["git", "init", "-q"], cwd=folder, check=True, timeout=END_SECONDS)
        if trusted:
            with self.config.open("a", encoding="utf-8") as stream:
                stream.write(f'\n[projects."{folder}"]\ntrust_level = "trusted"\n')
        return folder

    def environment(self) -> dict[str, str]:
        """Return the variables that a program sees here."""
        kept = {name: os.environ[name] for name in ("PATH", "TMPDIR") if name in os.environ}
        return {
            **kept,
            "HOME": str(self.home),
            "USER": "ada",
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "MEMLINES_HOME": str(self.home / ".memlines"),
            "SCRIPTED_KEY": "none",
        }

    def memlines(self, folder: Path, *arguments: str) -> str:
        """Run our own command line in a folder and return what it printed."""
        return self._run([sys.executable, "-c", MAIN, *arguments], folder)

    def install(self, folder: Path, *options: str) -> None:
        """Install Memlines, and let Codex wait for its server, however busy the machine is."""
        self.memlines(folder, "install", "codex", *options)
        config = self.config if "--global" in options else folder / ".codex/config.toml"
        header = "[mcp_servers.memlines]\n"
        text = config.read_text(encoding="utf-8")
        config.write_text(text.replace(header, f"{header}required = true\n"), encoding="utf-8")

    def end_engines(self) -> None:
        """End the engines of the hooks: they outlive their clients for a while."""
        end_engines(self.home / ".memlines")

    def codex(self, folder: Path, *arguments: str) -> str:
        """Run Codex in a folder and return what it printed."""
        return self._run([str(self.program), *arguments], folder)

    def say(self, folder: Path, prompt: str, *options: str) -> list[dict[str, Any]]:
        """Give a prompt to `codex exec` and return what it did."""
        lines = self.codex(folder, "exec", "--json", *options, prompt).splitlines()
        return [event["item"] for event in map(json.loads, lines) if event["type"] == "item.completed"]

    def trust_hooks(self, folder: Path) -> set[str]:
        """Trust the hooks that Codex finds for a folder, as its window does; return how they were trusted."""
        asked = [
            {"id": 1, "method": "initialize", "params": {"clientInfo": {"name": "tests", "version": "1"}}},
            {"id": 2, "method": "hooks/list", "params": {"cwds": [str(folder)]}},
        ]
        found = self._serve(folder, asked)[2]["data"][0]["hooks"]
        trusted = {hook["key"]: {"trusted_hash": hook["currentHash"]} for hook in found}
        edit = {"keyPath": "hooks.state", "value": trusted, "mergeStrategy": "upsert"}
        self._serve(folder, [asked[0], {"id": 2, "method": "config/batchWrite", "params": {"edits": [edit]}}])
        return {hook["trustStatus"] for hook in found}

    def _serve(self, folder: Path, requests: list[dict[str, Any]]) -> dict[int, Any]:
        """Ask `codex app-server` one thing after the other, and return its answers by their numbers."""
        answers: dict[int, Any] = {}
        with subprocess.Popen(
            [str(self.program), "app-server"],
            cwd=folder,
            env=self.environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
            start_new_session=True,
        ) as process:
            assert process.stdin
            assert process.stdout
            for request in requests:
                process.stdin.write(json.dumps(request) + "\n")
                process.stdin.flush()
                for line in process.stdout:
                    told = json.loads(line)
                    if told.get("id") == request["id"]:
                        answers[told["id"]] = told["result"]
                        break
            process.stdin.close()
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        return answers

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
        assert process.returncode == 0, f"{out}\n{err}"
        return out


def _settings(url: str) -> str:
    return f"""\
model = "scripted"
model_provider = "scripted"
approval_policy = "never"

[model_providers.scripted]
name = "Scripted"
base_url = "{url}"
wire_api = "responses"
env_key = "SCRIPTED_KEY"

[mcp_servers.mine]  # the user's own
command = "true"
enabled = false
"""
