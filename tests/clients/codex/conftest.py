"""One home for all tests of a worker; Codex starts again for every turn."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.codex.machine import Machine
from tests.clients.codex.model import Model
from tests.clients.npm import client


@pytest.fixture(scope="session")
def program() -> Path:
    """The real Codex."""
    return client("@openai/codex", "0.166.0")


@pytest.fixture(scope="session")
def model() -> Iterator[Model]:
    """A model that does what the prompt says."""
    with Model() as started:
        yield started


@pytest.fixture(scope="session")
def machine(tmp_path_factory: pytest.TempPathFactory, program: Path, model: Model) -> Iterator[Machine]:
    """The home that the tests share."""
    with Machine(tmp_path_factory.mktemp("codex"), program, model) as made:
        yield made


@pytest.fixture(scope="module")
def shop(machine: Machine, request: pytest.FixtureRequest) -> Path:
    """A trusted project with Memlines in it, that the tests of a file share."""
    folder = machine.project(f"shop-{request.module.__name__.rpartition('.')[2]}")
    machine.install(folder, "--project")
    return folder
