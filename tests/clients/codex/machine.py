"""Codex in a home of its own: `codex exec`, and what it says about itself."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from tests.clients.codex.model import Model
from tests.clients.harness import NOTES, Home, end, git, write

ALL_HOOKS = "--dangerously-bypass-hook-trust"
"""Lets hooks run that nobody looked at; a person trusts them in Codex instead."""


class Machine(Home):
    """A home with projects, where Codex asks the scripted model."""

    def __init__(self, folder: Path, program: Path, model: Model, provider: str = "none") -> None:
        super().__init__(folder, program, provider)
        self.model = model
        self.config = self.home / ".codex/config.toml"
        write(self.home, {".codex/config.toml": _settings(model.url)})

    def project(self, name: str, *, trusted: bool = True) -> Path:
        """Make a project in git, with notes; Codex asks people whether they trust it."""
        folder = self.home / name
        write(folder, NOTES)
        git(folder, "init", "-q")
        if trusted:
            with self.config.open("a", encoding="utf-8") as stream:
                stream.write(f'\n[projects."{folder}"]\ntrust_level = "trusted"\n')
        return folder

    def environment(self, **more: str | None) -> dict[str, str]:
        """Return the variables that a program sees here."""
        return super().environment(SCRIPTED_KEY="none", **more)

    def install(self, folder: Path, *options: str) -> None:
        """Install Memlines, and let Codex wait for its server, however busy the machine is."""
        self.memlines(folder, "install", "codex", *options)
        config = self.config if "--global" in options else folder / ".codex/config.toml"
        header = "[mcp_servers.memlines]\n"
        text = config.read_text(encoding="utf-8")
        config.write_text(text.replace(header, f"{header}required = true\n"), encoding="utf-8")

    def codex(self, folder: Path, *arguments: str) -> str:
        """Run Codex in a folder and return what it printed."""
        return self.run_program([str(self.program), *arguments], folder)

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
            end(process)
        return answers


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
