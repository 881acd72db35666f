"""One home for all tests of a worker; Claude Code starts again for every turn."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.clients.claude_code.machine import Machine
from tests.clients.claude_code.model import Model
from tests.clients.npm import fixtures_of

program, model, machine = fixtures_of("@anthropic-ai/claude-code", "2.1.325", Model, Machine)


@pytest.fixture(scope="module")
def shop(machine: Machine, request: pytest.FixtureRequest) -> Path:
    """A project with Memlines in it, that the tests of a file share."""
    folder = machine.project(f"shop-{request.module.__name__.rpartition('.')[2]}")
    machine.memlines(folder, "install", "claude-code")
    return folder
