"""One OpenCode for all tests of a worker; each project in it has a plugin and an engine of its own."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from itertools import count
from pathlib import Path

import pytest

from tests.clients.npm import client
from tests.clients.opencode.machine import Machine, Server, running
from tests.clients.opencode.model import Model
from tests.clients.opencode.window import Window

HERE = Path(__file__).parent
FIRST_TEST_SECONDS = 1200
"""The first test of all waits for the client to be installed."""

NOTES = {
    "MEMORY.md": "# Shop\n\n- The staging database listens on port 5433.\n- Ada decides about releases.\n",
    "memory/people.md": "# People\n\n- Grace looks after the warehouse robots in Rotterdam.\n",
}

Open = Callable[..., Window]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(FIRST_TEST_SECONDS))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.failed and HERE in item.path.parents:
        for server in list(running):
            report.sections.append(("what opencode printed", server.printed()[-4000:]))
            report.sections.append(("what opencode logged", server.machine.log()))
    return report


@pytest.fixture(scope="session")
def program() -> Path:
    """The real OpenCode."""
    return client("opencode-ai", "1.18.33")


@pytest.fixture(scope="session")
def model() -> Iterator[Model]:
    """A model that does what the prompt says."""
    made = Model()
    yield made
    made.close()


@pytest.fixture(scope="session")
def machine(tmp_path_factory: pytest.TempPathFactory, program: Path, model: Model) -> Machine:
    """The home that the shared OpenCode runs in."""
    return Machine(tmp_path_factory.mktemp("machine"), program, model)


@pytest.fixture(scope="session")
def server(machine: Machine) -> Iterator[Server]:
    """The OpenCode that the tests share."""
    with machine.serve() as started:
        yield started


@pytest.fixture(scope="session")
def open_project(server: Server) -> Open:
    """Make a project with notes and the plugin, and open it."""
    numbers = count(1)

    def made(notes: Mapping[str, str] = NOTES, *, name: str = "shop") -> Window:
        folder = server.machine.project(f"{name}-{next(numbers)}")
        window = Window(server, folder)
        for path, text in notes.items():
            window.write(path, text)
        server.machine.memlines(folder, "install", "opencode", "--project")
        return window

    return made


@pytest.fixture(scope="module")
def shop(open_project: Open) -> Window:
    """A project that the tests of a file share."""
    return open_project()
