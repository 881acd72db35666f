"""The figures of a run, shown at its end."""

from __future__ import annotations

from collections.abc import Callable

import pytest

Tell = Callable[[str], None]

_FIGURES = pytest.StashKey[list[str]]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash.setdefault(_FIGURES, [])


@pytest.fixture
def tell(request: pytest.FixtureRequest) -> Tell:
    """Give a sentence with figures to the end of the run."""
    return request.config.stash[_FIGURES].append


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    figures = config.stash.get(_FIGURES, [])
    if figures:
        terminalreporter.section("figures of the fault tests")
    for figure in figures:
        terminalreporter.write_line(figure)
