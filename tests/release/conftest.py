"""A machine with the wheel in its registry, and the environment that `pip install memlines` makes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.release.installing import Installation, Machine, machine_in

_FIRST_TEST_SECONDS = 600


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give these tests more time: the first of them builds the wheel and the registry."""
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker(pytest.mark.timeout(_FIRST_TEST_SECONDS))


@pytest.fixture(scope="session")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """A machine without a network, where only the wheel and what it requires can be installed."""
    yield from machine_in(tmp_path_factory.mktemp("release"))


@pytest.fixture(scope="session")
def memlines(machine: Machine) -> Installation:
    """Memlines, installed without extras."""
    return machine.install("plain", "memlines")
