"""The plugin for OpenCode, by its own tests under node."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

TESTS = sorted((Path(__file__).parent / "plugin").glob("*.test.mjs"))


@pytest.mark.parametrize("file", TESTS, ids=lambda file: file.name)
def test_plugin_under_node(file: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    done = subprocess.run(
        [node, "--test", str(file)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]


def test_plugin_has_tests() -> None:
    assert len(TESTS) >= 5
