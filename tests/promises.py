"""Keeps what the tests of each promise said, where `--promises FILE` asks for it.

A test names the promises that it proves: `@pytest.mark.promise("P3")`. `docs/write_promises.py` makes a page
of the results.
"""

from __future__ import annotations

import json
import platform
from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

_PROPERTY = "promises"
_STAGES_WITHOUT_NEWS = {("setup", "passed"), ("teardown", "passed"), ("teardown", "skipped")}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    parser.addoption(
        "--promises", type=Path, metavar="FILE", help="write the results of each promise to a file"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Collect results if they are asked for."""
    if target := config.getoption("--promises"):
        config.pluginmanager.register(Results(target, is_worker=hasattr(config, "workerinput")))


class Results:
    """What the tests of each promise said, file by file."""

    def __init__(self, target: Path, *, is_worker: bool) -> None:
        """Keep the results for a file; in a parallel run only the process that started it all writes it."""
        self._target = target
        self._is_worker = is_worker
        self._outcomes: dict[str, tuple[list[str], str]] = {}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Send a test's promises along with its result, which may come from another process."""
        for item in items:
            promises = sorted({name for mark in item.iter_markers("promise") for name in mark.args})
            if promises:
                item.user_properties.append((_PROPERTY, promises))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note how a test ended: the worst of its stages counts."""
        promises: Any = dict(report.user_properties).get(_PROPERTY)
        if promises is None or (report.when, report.outcome) in _STAGES_WITHOUT_NEWS:
            return
        before = self._outcomes.get(report.nodeid)
        if before is None or before[1] != "failed":
            self._outcomes[report.nodeid] = (promises, _outcome(report))

    def pytest_sessionfinish(self) -> None:
        """Write the results."""
        if self._is_worker:
            return
        found: dict[str, dict[str, dict[str, Any]]] = defaultdict(
            lambda: defaultdict(lambda: defaultdict(int))
        )
        functions = defaultdict(set)
        for name, (promises, outcome) in self._outcomes.items():
            file = name.partition("::")[0]
            for promise in promises:
                functions[promise, file].add(name.partition("[")[0])
                found[promise][file][outcome] += 1
        for (promise, file), names in functions.items():
            found[promise][file]["tests"] = len(names)
        result = {
            "date": datetime.now(UTC).date().isoformat(),
            "python": platform.python_version(),
            "system": platform.system(),
            "promises": found,
        }
        text = json.dumps(result, indent=2, sort_keys=True) + "\n"
        self._target.write_text(text, encoding="utf-8", newline="\n")


def _outcome(report: pytest.TestReport) -> str:
    if hasattr(report, "wasxfail") and report.outcome == "skipped":
        return "known"  # a known limit: a test that is expected to fail
    return str(report.outcome)
