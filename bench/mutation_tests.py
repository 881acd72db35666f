"""Runs tests on a copy of the project, in a child of a process that has read the libraries already.

A first run notes which test executes which line of the modules that get mutated, and how long it takes. A
mutant is then given to the tests that execute its line, the quickest first, until one fails. Each run is a
process of its own with a time limit. A mutant may delete what it should not: run it where nothing else is at
stake.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import pytest

_PRELOADED = (
    "_pytest.assertion.rewrite", "apsw", "click", "hypothesis.stateful", "hypothesis.strategies", "numpy",
    "platformdirs", "pytest_timeout", "watchfiles", "yaml",
)  # fmt: skip
_QUIET = ("-q", "-x", "-p", "no:xdist", "-p", "no:cacheprovider", "--no-header", "-W", "ignore")
_NOTHING_RAN = 5


class Outcome(NamedTuple):
    """What the tests said of one mutant."""

    verdict: str
    by: str
    seconds: float


class Copy:
    """A copy of the project's files in which a module is changed and its tests are run."""

    def __init__(self, folder: Path, root: Path) -> None:
        """Copy what git knows of the project, and what is new in it."""
        self.folder = folder
        self.project = folder / "project"
        listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
        names = subprocess.run(listed, cwd=root, capture_output=True, check=True, encoding="utf-8").stdout
        for name in filter(None, names.split("\0")):
            if (root / name).is_file():
                target = self.project / name
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(root / name, target)
        subprocess.run([sys.executable, "-m", "compileall", "-q", self.project / "src"], check=True)
        (folder / "tmp").mkdir()
        for module in _PRELOADED:
            importlib.import_module(module)

    @contextlib.contextmanager
    def changed(self, file: str, source: str) -> Iterator[None]:
        """Put other source into a module for a while, and the time back that its compiled form knows."""
        path = self.project / file
        before, times = path.read_bytes(), path.stat()
        path.write_text(source, encoding="utf-8", newline="\n")
        try:
            yield
        finally:
            path.write_bytes(before)
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))

    def run(self, files: Iterable[str], plugin: object, timeout: float, *, keep: bool = False) -> int | None:
        """Run tests in a child; return pytest's exit code, a negative signal, or None after the timeout."""
        child = os.fork()
        if not child:
            self._be_child([*files], plugin, keep=keep)
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                self._clean(child)
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.02)
        self._clean(child)
        os.waitpid(child, 0)
        return None

    def _clean(self, child: int) -> None:
        """End what a run left behind, and remove its files."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
        shutil.rmtree(self.folder / "tmp" / str(child), ignore_errors=True)

    def _be_child(self, files: list[str], plugin: object, *, keep: bool) -> None:
        """Run the tests with nothing of this process's surroundings, and never return."""
        code = 70
        try:
            os.setsid()
            os.chdir(self.project)
            temporary = self.folder / "tmp" / str(os.getpid())
            temporary.mkdir()
            output = os.open(self.folder / "tmp" / "output", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
            for descriptor in (1, 2):
                os.dup2(output, descriptor)
            os.environ.update(
                HOME=str(temporary),
                TMPDIR=str(temporary),
                PYTHONPATH=str(self.project / "src"),
                PYTHONDONTWRITEBYTECODE="" if keep else "1",
            )
            sys.dont_write_bytecode = not keep
            for module in [name for name in sys.modules if name.partition(".")[0] in {"memlines", "tests"}]:
                del sys.modules[module]  # what this process has of them is not the copy
            sys.path[:0] = [str(self.project), str(self.project / "src")]
            code = pytest.main([*_QUIET[: 1 if keep else 2], *_QUIET[2:], *files], plugins=[plugin])
        finally:
            os._exit(int(code))


class Recorder:
    """A plugin that notes which lines of some files a test executes, how long it takes and if it passes."""

    def __init__(self, watched: dict[str, str], target: Path) -> None:
        """Watch files, given as their absolute paths and the names to note them by."""
        self._watched = watched
        self._target = target
        self._lines: set[tuple[str, int]] = set()
        self._tests: dict[str, dict[str, Any]] = {}

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Trace one test, its fixtures included."""
        self._lines = set()
        begin = time.monotonic()
        self._tests[item.nodeid] = {"passed": True}
        threading.settrace(self._enter)
        sys.settrace(self._enter)
        yield
        sys.settrace(None)
        threading.settrace(None)
        lines: dict[str, list[int]] = defaultdict(list)
        for path, line in sorted(self._lines):
            lines[self._watched[path]].append(line)
        self._tests[item.nodeid] |= {"seconds": round(time.monotonic() - begin, 3), "lines": lines}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a test that does not pass."""
        if not report.passed:
            self._tests[report.nodeid]["passed"] = False

    def pytest_sessionfinish(self) -> None:
        """Write what was seen."""
        self._target.write_text(json.dumps(self._tests), encoding="utf-8")

    def _enter(self, frame: FrameType, event: str, argument: Any) -> Callable[..., Any] | None:
        if frame.f_code.co_filename not in self._watched:
            return None
        self._lines.add((frame.f_code.co_filename, frame.f_lineno))
        return self._line

    def _line(self, frame: FrameType, event: str, argument: Any) -> Callable[..., Any]:
        self._lines.add((frame.f_code.co_filename, frame.f_lineno))
        return self._line


class Chosen:
    """A plugin that runs some tests only, in their order, and notes the first that fails."""

    def __init__(self, tests: list[str], target: Path) -> None:
        """Take the tests' names."""
        self._order = {name: at for at, name in enumerate(tests)}
        self._target = target

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave the chosen ones."""
        items[:] = sorted(
            (item for item in items if item.nodeid in self._order), key=lambda item: self._order[item.nodeid]
        )

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a failure."""
        if report.failed:
            self._target.write_text(f"{report.nodeid} ({report.when})", encoding="utf-8")


def lines_by_test(copied: Copy, file: str, watched: list[str], timeout: float) -> dict[str, dict[str, Any]]:
    """Run a file of tests on the modules as they are; return what each test executes."""
    target = copied.folder / "tmp" / "lines.json"
    target.unlink(missing_ok=True)
    names = {str(copied.project / name): name for name in watched}
    copied.run([file], Recorder(names, target), timeout, keep=True)
    return json.loads(target.read_text(encoding="utf-8")) if target.is_file() else {}


def try_tests(copied: Copy, tests: list[str], timeout: float) -> Outcome:
    """Run tests on the copy as it is now, until one fails."""
    target = copied.folder / "tmp" / "failed"
    target.unlink(missing_ok=True)
    begin = time.monotonic()
    files = sorted({name.partition("::")[0] for name in tests})
    code = copied.run(files, Chosen(tests, target), timeout)
    seconds = round(time.monotonic() - begin, 1)
    by = target.read_text(encoding="utf-8") if target.is_file() else ""
    if code is None:
        return Outcome("timeout", by, seconds)
    if code == 0:
        return Outcome("survived", "", seconds)
    if code == _NOTHING_RAN:
        return Outcome("error", "no test was collected", seconds)
    return Outcome("killed", by or f"the tests cannot be read or end early ({code})", seconds)
