"""The real clients are installed once, which the first test of each waits for."""

from __future__ import annotations

from pathlib import Path

import pytest

HERE = Path(__file__).parent
REAL = {HERE / name for name in ("claude_code", "codex", "opencode")}
FIRST_TEST_SECONDS = 1200


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent in REAL and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(FIRST_TEST_SECONDS))
