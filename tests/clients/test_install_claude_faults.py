"""Whichever call into the system fails while files of the user's are edited, they can be got back."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from memlines.clients import claude_code
from memlines.clients.apply import install, uninstall
from memlines.clients.client import Target
from tests.clients.places import tree, write
from tests.clients.test_install_faults import CASES, FAULTS, Faults

FILES = {
    ".mcp.json": '{"mcpServers": { }}\n',
    ".claude/settings.local.json": '{"hooks": {"Stop": [ ], "Stop2": []},\n\n"enabledMcpjsonServers": []}',
}
"""Only who knows what was inserted can take it out of these without a trace."""


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr(os, "fsync", lambda _: None)  # no disk is waited for


def targets(project: Path, python: str = "") -> tuple[Target, ...]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "executable", python or sys.executable)
        return claude_code.targets(project)


def every_fault(tmp_path: Path, fault: str, sticky: bool, prepared: Path) -> Iterator[tuple[Path, Faults]]:
    """Yield a copy of what was prepared for each call that may fail, until none is left to fail."""
    for number in range(1, 1000):
        copy = tmp_path / f"case-{number}"
        shutil.copytree(prepared, copy, symlinks=True)
        faults = Faults(number, FAULTS[fault], sticky)
        yield copy, faults
        shutil.rmtree(copy)
        if not faults.failed:
            return
    pytest.fail("it never got through")


@pytest.fixture(params=[{}, FILES], ids=["nothing", "files"])
def prepared(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    folder = tmp_path / "prepared"
    folder.mkdir()
    return write(folder, request.param)


@pytest.mark.parametrize(("fault", "sticky"), CASES)
def test_an_installation_that_failed_can_be_taken_out(
    tmp_path: Path, prepared: Path, fault: str, sticky: bool
) -> None:
    before = tree(prepared)
    for project, faults in every_fault(tmp_path, fault, sticky, prepared):
        with faults.at_work():
            install(targets(project))
        uninstall(targets(project))
        assert tree(project) == before, faults


@pytest.mark.parametrize(("fault", "sticky"), CASES)
def test_an_upgrade_that_failed_can_be_taken_out(
    tmp_path: Path, prepared: Path, fault: str, sticky: bool
) -> None:
    before = tree(prepared)
    install(targets(prepared, "/old/python"))
    for project, faults in every_fault(tmp_path, fault, sticky, prepared):
        with faults.at_work():
            install(targets(project))
        uninstall(targets(project))
        assert tree(project) == before, faults


@pytest.mark.parametrize(("fault", "sticky"), CASES)
def test_an_upgrade_that_failed_can_be_finished_and_taken_out(
    tmp_path: Path, prepared: Path, fault: str, sticky: bool
) -> None:
    before = tree(prepared)
    install(targets(prepared, "/old/python"))
    for project, faults in every_fault(tmp_path, fault, sticky, prepared):
        with faults.at_work():
            install(targets(project))
        install(targets(project, "/newest/python"))
        assert str(claude_code.python_of(project)) == "/newest/python", faults
        uninstall(targets(project))
        assert tree(project) == before, faults


@pytest.mark.parametrize(("fault", "sticky"), CASES)
def test_an_uninstallation_that_failed_can_be_finished(
    tmp_path: Path, prepared: Path, fault: str, sticky: bool
) -> None:
    before = tree(prepared)
    install(targets(prepared))
    for project, faults in every_fault(tmp_path, fault, sticky, prepared):
        with faults.at_work():
            uninstall(targets(project))
        uninstall(targets(project))
        assert tree(project) == before, faults
