"""The figures of a run, shown at its end."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.faults.support import PROVIDER_VARIABLE, PROVIDERS
from tests.indexes import one_origin

Tell = Callable[[str], None]


@pytest.fixture(scope="module", params=PROVIDERS)
def provider(request: pytest.FixtureRequest) -> str:
    """Name the provider that makes vectors; the tests of a module run with each."""
    return str(request.param)


@pytest.fixture
def each_provider(_own_home: None, provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have vectors made by the provider, here and in the programs that are started."""
    monkeypatch.setenv(PROVIDER_VARIABLE, provider)


@pytest.fixture(scope="module")
def copied_indexes() -> Iterator[None]:
    """Let indexes be copied about, which would otherwise be built anew instead of looked at."""
    with one_origin():
        yield


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
