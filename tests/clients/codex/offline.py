"""Take a turn without a network, as `run_offline` starts it."""

from __future__ import annotations

from pathlib import Path

from tests.clients.codex.machine import Machine
from tests.clients.codex.model import Model
from tests.clients.harness import take_turn


def turn(program: Path, folder: Path, model: Model) -> str:
    """Install Memlines and say one thing; return what the tool said."""
    machine = Machine(folder, program, model)
    project = machine.project("shop")
    machine.install(project, "--project")
    machine.say(project, 'CALL memory_search {"query": "port of the staging database"}')
    return model.requests[-1].results[0]


if __name__ == "__main__":
    take_turn(Model, turn)
