"""Whichever call into the system fails, and wherever an installer is killed, everything can be taken out."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from memlines.clients.apply import install, uninstall
from memlines.errors import MemlinesError
from tests.clients.places import MADE, Place, names, tree, write

CALLS = ("open", "read", "write", "fsync", "mkdir", "link", "rename", "replace", "unlink", "rmdir", "listdir")
FAULTS: dict[str, BaseException] = {
    "full": OSError(errno.ENOSPC, "No space left on device"),
    "denied": PermissionError(errno.EACCES, "Permission denied"),
    "killed": KeyboardInterrupt(),
}
"""Killed, nothing that comes afterwards gets through either, such as clearing up."""

CASES = [("killed", True)] + [
    pytest.param(*case, marks=pytest.mark.slow)
    for case in [("killed", False), ("full", False), ("full", True), ("denied", False), ("denied", True)]
]


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home" / "config"))
    monkeypatch.setattr(os, "fsync", lambda _: None)  # no disk is waited for


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


def every_fault(tmp_path: Path, fault: str, sticky: bool, prepared: Place) -> Iterator[tuple[Place, Faults]]:
    """Yield a copy of what was prepared for each call that may fail, until none is left to fail."""
    for number in range(1, 1000):
        copy = Place(tmp_path / f"case-{number}")
        shutil.copytree(prepared.project, copy.project, symlinks=True, dirs_exist_ok=True)
        faults = Faults(number, FAULTS[fault], sticky)
        yield copy, faults
        shutil.rmtree(copy.project)
        if not faults.failed:
            return
    pytest.fail("it never got through")


@pytest.mark.parametrize(("fault", "sticky"), CASES)
def test_an_installation_that_failed_can_be_taken_out(tmp_path: Path, fault: str, sticky: bool) -> None:
    prepared = Place(tmp_path / "prepared")
    write(prepared.folder, {"commands/own.md": "mine\n"})
    before = tree(prepared.project)
    for place, faults in every_fault(tmp_path, fault, sticky, prepared):
        with faults.at_work():
            install(place.targets)
        uninstall(place.targets)
        assert tree(place.project) == before, faults
        assert tree(tmp_path / "home") == {}, faults


@pytest.mark.parametrize(("fault", "sticky"), CASES)
def test_an_installation_that_failed_can_be_finished(tmp_path: Path, fault: str, sticky: bool) -> None:
    for place, faults in every_fault(tmp_path, fault, sticky, Place(tmp_path / "prepared")):
        with faults.at_work():
            install(place.targets)
        install(place.targets)
        assert names(place.project) == {f".opencode/{name}" for name in MADE}, faults


@pytest.mark.parametrize(("fault", "sticky"), CASES)
def test_an_upgrade_that_failed_can_be_taken_out(tmp_path: Path, fault: str, sticky: bool) -> None:
    prepared = Place(tmp_path / "prepared")
    before = tree(prepared.project)
    install(prepared.targets)
    for place, faults in every_fault(tmp_path, fault, sticky, prepared):
        write(place.source, {"commands/memory.md": "newer\n", "memlines/deep/new.js": "new\n"})
        (place.source / "skills/memory/SKILL.md").unlink()
        with faults.at_work():
            install(place.targets)
        uninstall(place.targets)
        assert tree(place.project) == before, faults


@pytest.mark.parametrize(("fault", "sticky"), CASES)
def test_an_installation_over_that_of_a_colleague_can_be_finished(
    tmp_path: Path, fault: str, sticky: bool
) -> None:
    prepared = Place(tmp_path / "prepared")
    write(prepared.source, {"commands/memory.md": "newer\n", "memlines/deep/new.js": "new\n"})
    install(prepared.targets)
    (prepared.folder / "memlines/receipt.json").unlink()
    for place, faults in every_fault(tmp_path, fault, sticky, prepared):
        with faults.at_work():
            install(place.targets)
        install(place.targets)
        assert names(place.folder) == MADE, faults
        assert (place.folder / "commands/memory.md").read_bytes() == b"the command\n", faults


@pytest.mark.parametrize(("fault", "sticky"), CASES)
def test_an_uninstallation_that_failed_can_be_finished(tmp_path: Path, fault: str, sticky: bool) -> None:
    prepared = Place(tmp_path / "prepared")
    before = tree(prepared.project)
    install(prepared.targets)
    for place, faults in every_fault(tmp_path, fault, sticky, prepared):
        with faults.at_work():
            uninstall(place.targets)
        uninstall(place.targets)
        assert tree(place.project) == before, faults
