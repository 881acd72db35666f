"""Take a turn without a network, as `run_offline` starts it."""

from __future__ import annotations

from pathlib import Path

from tests.clients.harness import NOTES, take_turn, write
from tests.clients.opencode.machine import Machine
from tests.clients.opencode.model import Model


def turn(program: Path, folder: Path, model: Model) -> str:
    """Install the plugin and say one thing, with nothing that keeps npm from trying."""
    machine = Machine(folder, program, model)
    project = machine.project("shop")
    write(project, NOTES)
    machine.memlines(project, "install", "opencode", "--project")
    prompt = 'CALL memory_search {"query": "port of the staging database"}'
    events = machine.run(project, prompt, npm_config_offline=None)
    (call,) = [event["part"] for event in events if event["type"] == "tool_use"]
    return str(call["state"]["output"])


if __name__ == "__main__":
    take_turn(Model, turn)
