"""One home for all tests of a worker; Claude Code starts again for every turn."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.claude_code.machine import Machine
from tests.clients.claude_code.model import Model
from tests.clients.npm import client


@pytest.fixture(scope="session")
def program() -> Path:
    """The real Claude Code."""
    return client("@anthropic-ai/claude-code", "2.1.325")


@pytest.fixture(scope="session")
def model() -> Iterator[Model]:
    """A model that does what the prompt says."""
    with Model() as started:
        yield started


@pytest.fixture(scope="session")
def machine(tmp_path_factory: pytest.TempPathFactory, program: Path, model: Model) -> Iterator[Machine]:
    """The home that the tests share."""
    with Machine(tmp_path_factory.mktemp("claude"), program, model) as made:
        yield made


@pytest.fixture(scope="module")
def shop(machine: Machine, request: pytest.FixtureRequest) -> Path:
    """A project with Memlines in it, that the tests of a file share."""
    folder = machine.project(f"shop-{request.module.__name__.rpartition('.')[2]}")
    machine.memlines(folder, "install", "claude-code")
    return folder
