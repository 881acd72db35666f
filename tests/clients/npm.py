"""Real clients for the tests, from the npm registry: installed once, in a cache folder for all runs.

Each has a home of its own for all tests of a worker, and a scripted model that it asks.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from platformdirs import user_cache_path

from memlines.locks import WriterLock
from tests.clients.harness import Home, M

CHOSEN = os.environ.get("MEMLINES_TEST_CLIENTS", "")
"""Another folder for the clients. Read here, because tests see no variables with this prefix."""

_INSTALL_SECONDS = 900


def client(package: str, version: str) -> Path:
    """Return the program of a package; skip the test where there is no npm to install it with."""
    return _program(install(package, version), package)


def install(package: str, version: str) -> Path:
    """Return the folder that a package is installed in; skip the test where there is no npm for that."""
    shared = Path(CHOSEN) if CHOSEN else user_cache_path("memlines-tests", appauthor=False)
    folder = shared / f"{package}-{version}"
    if folder.exists():
        return folder
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip(f"npm is not there, so {package} cannot be installed")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with WriterLock(folder.with_name(f"{folder.name}.lock")).held(_INSTALL_SECONDS):
        if not folder.exists():
            _install(npm, f"{package}@{version}", folder)
    return folder


def fixtures_of(
    package: str, version: str, models: Callable[[], M], machines: Callable[[Path, Path, M], Home]
) -> Any:
    """Return the fixtures `program`, `model` and `machine` of a client: it, its model, and their home."""

    @pytest.fixture(scope="session")
    def program() -> Path:
        return client(package, version)

    @pytest.fixture(scope="session")
    def model() -> Iterator[M]:
        with models() as started:
            yield started

    @pytest.fixture(scope="session")
    def machine(tmp_path_factory: pytest.TempPathFactory, program: Path, model: M) -> Iterator[Home]:
        with machines(tmp_path_factory.mktemp("machine"), program, model) as made:
            yield made

    return program, model, machine


def _program(folder: Path, package: str) -> Path:
    described = json.loads((folder / "node_modules" / package / "package.json").read_text(encoding="utf-8"))
    programs = described["bin"]  # a name for each program, or the file of the only one
    name = package.rpartition("/")[2] if isinstance(programs, str) else next(iter(programs))
    return folder / "node_modules/.bin" / str(name)


def _install(npm: str, package: str, folder: Path) -> None:
    """Install beside the folder and rename: what is interrupted leaves no half of it."""
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f"{folder.name}-") as beside:
        made = Path(beside) / "made"
        made.mkdir()
        done = subprocess.run(
            [npm, "install", "--no-audit", "--no-fund", "--prefix", str(made), package],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            timeout=_INSTALL_SECONDS,
            check=False,
        )
        if done.returncode:
            pytest.fail(f"npm could not install {package}:\n{done.stdout}", pytrace=False)
        made.rename(folder)
