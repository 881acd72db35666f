"""One OpenCode for all tests of a worker; each project in it has a plugin and an engine of its own."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from itertools import count
from pathlib import Path

import pytest

from tests.clients.harness import NOTES
from tests.clients.npm import fixtures_of
from tests.clients.opencode.machine import Machine, Server, running
from tests.clients.opencode.model import Model
from tests.clients.opencode.window import Window

HERE = Path(__file__).parent

Open = Callable[..., Window]


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


program, model, machine = fixtures_of("opencode-ai", "1.18.33", Model, Machine)


@pytest.fixture(scope="package")  # its programs use a core's tenth each, also when nothing is asked
def server(machine: Machine) -> Iterator[Server]:
    """The OpenCode that the tests share."""
    with machine.serve() as started:
        yield started


@pytest.fixture(scope="package")
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
