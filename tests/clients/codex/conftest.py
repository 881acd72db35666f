"""One home for all tests of a worker; Codex starts again for every turn."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.clients.codex.machine import Machine
from tests.clients.codex.model import Model
from tests.clients.npm import fixtures_of

program, model, machine = fixtures_of("@openai/codex", "0.166.0", Model, Machine)


@pytest.fixture(scope="module")
def shop(machine: Machine, request: pytest.FixtureRequest) -> Path:
    """A trusted project with Memlines in it, that the tests of a file share."""
    folder = machine.project(f"shop-{request.module.__name__.rpartition('.')[2]}")
    machine.install(folder, "--project")
    return folder
