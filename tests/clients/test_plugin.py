"""The plugin for OpenCode, by its own tests under node."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

TESTS = sorted((Path(__file__).parent / "plugin").glob("*.test.mjs"))


@pytest.fixture(scope="module")
def runs() -> Iterator[Mapping[Path, subprocess.Popen[str]]]:
    """Every file of tests under way at once: most of their time is waiting."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    pipe = subprocess.PIPE
    started = {
        file: subprocess.Popen([node, "--test", str(file)], stdout=pipe, stderr=pipe, encoding="utf-8")
        for file in TESTS
    }
    yield started
    for run in started.values():
        run.kill()
        run.communicate()


@pytest.mark.parametrize("file", TESTS, ids=lambda file: file.name)
def test_plugin_under_node(file: Path, runs: Mapping[Path, subprocess.Popen[str]]) -> None:
    said, errors = runs[file].communicate(timeout=110)
    assert runs[file].returncode == 0, said[-6000:] + errors[-2000:]


def test_plugin_has_tests() -> None:
    assert len(TESTS) >= 5
