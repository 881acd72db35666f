"""One home for all tests of a worker; Codex starts anew for every turn."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.codex.machine import Machine
from tests.clients.codex.model import Model
from tests.clients.npm import client

HERE = Path(__file__).parent
FIRST_TEST_SECONDS = 1200
"""The first test of all waits for the client to be installed."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(FIRST_TEST_SECONDS))


@pytest.fixture(scope="session")
def program() -> Path:
    """The real Codex."""
    return client("@openai/codex", "0.166.0")


@pytest.fixture(scope="session")
def model() -> Iterator[Model]:
    """A model that does what the prompt says."""
    made = Model()
    yield made
    made.close()


@pytest.fixture(scope="session")
def machine(tmp_path_factory: pytest.TempPathFactory, program: Path, model: Model) -> Iterator[Machine]:
    """The home that the tests share."""
    made = Machine(tmp_path_factory.mktemp("codex"), program, model)
    yield made
    made.end_engines()


@pytest.fixture(scope="module")
def shop(machine: Machine, request: pytest.FixtureRequest) -> Path:
    """A trusted project with Memlines in it, that the tests of a file share."""
    folder = machine.project(f"shop-{request.module.__name__.rpartition('.')[2]}")
    machine.install(folder, "--project")
    return folder
