"""Take a turn of `opencode run`: without a network if `run_offline` starts this."""

from __future__ import annotations

import json
from pathlib import Path

from tests.clients.harness import NOTES, take_turn, write
from tests.clients.opencode.engine import EngineOf
from tests.clients.opencode.machine import Machine
from tests.clients.opencode.model import Model


def project_in(folder: Path) -> Path:
    """Return where the turn was taken."""
    return folder / "home" / "shop"


def turn(program: Path, folder: Path, model: Model, npm_offline: str | None = "true") -> str:
    """Install the plugin and say one thing; return the tools that were called, and the engines that ran."""
    machine = Machine(folder, program, model)
    project = machine.project(project_in(folder).name)
    write(project, NOTES)
    machine.memlines(project, "install", "opencode", "--project")
    engine = EngineOf(project)
    prompt = 'CALL memory_search {"query": "port of the staging database"}'
    events = machine.run(project, prompt, npm_config_offline=npm_offline)
    calls = [event["part"] for event in events if event["type"] == "tool_use"]
    return json.dumps({"calls": calls, "engines": engine.pids()})


def turn_alone(program: Path, folder: Path, model: Model) -> str:
    """Take the turn with nothing that keeps npm from trying."""
    return turn(program, folder, model, npm_offline=None)


if __name__ == "__main__":
    take_turn(Model, turn_alone)
