"""What every test may rely on: a home of its own and no settings from outside."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from secrets import token_hex

import pytest
from hypothesis import HealthCheck, settings

from tests.cluster import Nodes, run_cluster
from tests.programs import Cli
from tests.promises import pytest_addoption, pytest_configure  # noqa: F401 (pytest finds them here)

# A shell starts what runs in the background with Ctrl-C ignored, which the programs that tests start inherit.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Looking for garbage among a million objects of pytest takes a tenth of the time of all tests.
gc.set_threshold(50_000, 20, 50)

# Speed is for the benchmarks: a busy machine is no failure. `make test-slow` tries many more examples.
settings.register_profile(
    "quick", max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("thorough", settings.get_profile("quick"), max_examples=400)
settings.load_profile("quick")


_LONGEST = ("tests/clients/", "tests/faults/", "tests/serve/test_web_")
"""Where the files are that take a minute, so that none of them is left to one process at the end."""

_INSTALLING = {"qdrant", "store", "chrome", "ssh"}
"""Fixtures of which the first that is used installs a program."""

_FIRST_TEST_SECONDS = 600


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the longest files first, and give more time to tests of which the first installs a program."""
    items.sort(key=lambda item: not item.nodeid.startswith(_LONGEST))
    for item in items:
        if _INSTALLING.intersection(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.timeout(_FIRST_TEST_SECONDS))


def pytest_collection_finish() -> None:
    """Leave the tests themselves out of what is looked through for garbage."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Empty homes, one after the other; `mktemp` would list those of all tests before to number the next."""
    # A name of its own: what a killed run left for a home, such as a socket's folder, is not met again.
    folder = tmp_path_factory.mktemp(f"homes-{token_hex(4)}-")
    return (folder / str(number) for number in count(1))


@pytest.fixture(autouse=True)
def _own_home(homes: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith(("MEMLINES_", "RECOLLECT_")) or name.endswith("_API_KEY") or name == "OLLAMA_HOST":
            monkeypatch.delenv(name)
    home = next(homes)
    for name, folder in (("MEMLINES_HOME", home / "home"), ("XDG_CONFIG_HOME", home / "config")):
        folder.mkdir(parents=True)
        monkeypatch.setenv(name, str(folder))


@pytest.fixture(autouse=True)
def _no_disk_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `os.fsync` return at once: no test can see what a disk holds, and waiting for it takes minutes.

    Tests of durability put their own function in its place, which records or fails.
    """
    monkeypatch.setattr(os, "fsync", lambda _: None)


@pytest.fixture(autouse=True)
def _always_look(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look for changed files every time, also where the machine is so busy that the next look would rest."""
    monkeypatch.setattr("memlines.memory.open_index._QUICK_SWEEP", 3600.0)


@pytest.fixture(autouse=True)
def _servers_end_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let an idle server notice at once that it is to end: hundreds of tests have one of their own."""
    if listener := sys.modules.get("memlines.serve.http.listener"):
        monkeypatch.setattr(listener, "_POLL_SECONDS", 0.01)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """An empty workspace folder."""
    folder = tmp_path / "workspace"
    (folder / "memory").mkdir(parents=True)
    return folder


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cli:
    """The command line in this process, by words only."""
    monkeypatch.setenv("MEMLINES_EMBEDDINGS__PROVIDER", "none")
    return Cli(capsys)


@pytest.fixture(scope="session")
def qdrant(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nodes]:
    """One Qdrant server for all tests of a worker, each with collections of its own."""
    with run_cluster(tmp_path_factory.mktemp("qdrant")) as nodes:
        yield nodes
