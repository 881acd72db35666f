"""Whichever call into the system fails, and wherever an installer is killed, everything can be taken out."""

from __future__ import annotations

import errno
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from memlines.clients import claude_code
from memlines.clients.apply import install, uninstall
from memlines.clients.client import Target
from memlines.errors import MemlinesError
from tests.clients.places import MADE, OURS, Place, names, tree, write
from tests.faults.scale import scaled

CALLS = ("open", "read", "write", "fsync", "mkdir", "link", "rename", "replace", "unlink", "rmdir", "listdir")
FAULTS: dict[str, BaseException] = {
    "full": OSError(errno.ENOSPC, "No space left on device"),
    "denied": PermissionError(errno.EACCES, "Permission denied"),
    "killed": KeyboardInterrupt(),
}
"""Killed, nothing that comes afterwards gets through either, such as clearing up."""

EDITED = {
    ".mcp.json": '{"mcpServers": { }}\n',
    ".claude/settings.local.json": '{"hooks": {"Stop": [ ], "Stop2": []},\n\n"enabledMcpjsonServers": []}',
}
"""Only who knows what was inserted can take it out of these without a trace."""

every_case = pytest.mark.parametrize(
    ("fault", "sticky"),
    [("killed", True)]
    + [
        pytest.param(*case, marks=pytest.mark.slow)
        for case in [("killed", False), ("full", False), ("full", True), ("denied", False), ("denied", True)]
    ],
)


class OpenCode(Place):
    """OpenCode, into whose folder files are copied."""

    def newer(self) -> None:
        """Let the next installation bring other files."""
        write(self.source, {"commands/memory.md": "newer\n", "memlines/deep/new.js": "new\n"})
        (self.source / "skills/memory/SKILL.md").unlink()

    def check_complete(self, faults: Faults) -> None:
        """Check that what the last installation was to bring is there."""
        assert names(self.folder) - {"commands/own.md"} == names(self.source) | OURS | {".npmrc"}, faults


class ClaudeCode:
    """Claude Code, for which files of the user's are edited."""

    def __init__(self, top: Path) -> None:
        self.project = top / "project"
        self.project.mkdir(parents=True)
        self.python = "/old/python"

    @property
    def targets(self) -> tuple[Target, ...]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "executable", self.python)
            return claude_code.targets(self.project)

    def newer(self) -> None:
        """Let the next installation name another Python."""
        self.python = "/newest/python"

    def check_complete(self, faults: Faults) -> None:
        """Check that the last installation is the one in use."""
        assert str(claude_code.python_of(self.project)) == self.python, faults


Installer = OpenCode | ClaudeCode


@dataclass
class Faults:
    """Lets the n-th call fail, or all from the n-th on."""

    number: int
    error: BaseException
    sticky: bool
    seen: int = 0
    failed: list[str] = field(default_factory=list)

    @contextmanager
    def at_work(self) -> Iterator[None]:
        with pytest.MonkeyPatch.context() as patch:
            for name in CALLS:
                patch.setattr(os, name, self._watched(name, getattr(os, name)))
            with suppress(MemlinesError, KeyboardInterrupt):
                yield

    def _watched(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            self.seen += 1
            if self.seen == self.number or (self.sticky and self.seen > self.number):
                self.failed.append(name)
                raise self.error
            return real(*arguments, **options)

        return call


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / "config"))
    monkeypatch.setattr(os, "fsync", lambda _: None)  # no disk is waited for
    return folder


@pytest.fixture(
    params=[
        pytest.param((OpenCode, {}), id="opencode"),
        pytest.param(
            (OpenCode, {".opencode/commands/own.md": "mine\n"}), id="opencode-own", marks=pytest.mark.slow
        ),
        pytest.param((ClaudeCode, {}), id="claude"),
        pytest.param((ClaudeCode, EDITED), id="claude-own"),
    ]
)
def prepared(request: pytest.FixtureRequest, tmp_path: Path) -> Installer:
    kind, files = request.param
    made: Installer = kind(tmp_path / "prepared")
    write(made.project, files)
    return made


def every_fault(prepared: Installer, fault: str, sticky: bool) -> Iterator[tuple[Installer, Faults]]:
    """Yield a copy of what was prepared for each call that may fail, until none is left to fail.

    With all other tests every third call is tried, behind `make faults` each.
    """
    top = prepared.project.parents[1]
    for number in range(1, 1000, scaled(small=3, full=1)):
        copy = type(prepared)(top / f"case-{number}")
        shutil.copytree(prepared.project, copy.project, symlinks=True, dirs_exist_ok=True)
        faults = Faults(number, FAULTS[fault], sticky)
        yield copy, faults
        shutil.rmtree(copy.project)
        if not faults.failed:
            return
    pytest.fail("it never got through")


@every_case
def test_an_installation_that_failed_can_be_taken_out(
    prepared: Installer, home: Path, fault: str, sticky: bool
) -> None:
    before = tree(prepared.project)
    for place, faults in every_fault(prepared, fault, sticky):
        with faults.at_work():
            install(place.targets)
        uninstall(place.targets)
        assert tree(place.project) == before, faults
        assert tree(home) == {}, faults


@every_case
def test_an_installation_that_failed_can_be_finished(prepared: Installer, fault: str, sticky: bool) -> None:
    for place, faults in every_fault(prepared, fault, sticky):
        with faults.at_work():
            install(place.targets)
        install(place.targets)
        place.check_complete(faults)


@every_case
def test_an_upgrade_that_failed_can_be_taken_out(prepared: Installer, fault: str, sticky: bool) -> None:
    before = tree(prepared.project)
    install(prepared.targets)
    for place, faults in every_fault(prepared, fault, sticky):
        place.newer()
        with faults.at_work():
            install(place.targets)
        uninstall(place.targets)
        assert tree(place.project) == before, faults


@every_case
def test_an_upgrade_that_failed_can_be_finished_and_taken_out(
    prepared: Installer, fault: str, sticky: bool
) -> None:
    before = tree(prepared.project)
    install(prepared.targets)
    for place, faults in every_fault(prepared, fault, sticky):
        place.newer()
        with faults.at_work():
            install(place.targets)
        install(place.targets)
        place.check_complete(faults)
        uninstall(place.targets)
        assert tree(place.project) == before, faults


@every_case
def test_an_uninstallation_that_failed_can_be_finished(prepared: Installer, fault: str, sticky: bool) -> None:
    before = tree(prepared.project)
    install(prepared.targets)
    for place, faults in every_fault(prepared, fault, sticky):
        with faults.at_work():
            uninstall(place.targets)
        uninstall(place.targets)
        assert tree(place.project) == before, faults


@every_case
def test_an_installation_over_that_of_a_colleague_can_be_finished(
    tmp_path: Path, fault: str, sticky: bool
) -> None:
    prepared = OpenCode(tmp_path / "prepared")
    write(prepared.source, {"commands/memory.md": "newer\n", "memlines/deep/new.js": "new\n"})
    install(prepared.targets)
    (prepared.folder / "memlines/receipt.json").unlink()
    for place, faults in every_fault(prepared, fault, sticky):
        with faults.at_work():
            install(place.targets)
        install(place.targets)
        assert names(place.project) == {f".opencode/{name}" for name in MADE}, faults
        assert (place.project / ".opencode/commands/memory.md").read_bytes() == b"the command\n", faults
