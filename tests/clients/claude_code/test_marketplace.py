"""The plugin, from the marketplace of this repository, in the real Claude Code."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.channels.programs import ROOT
from tests.clients.claude_code.machine import Machine, Session
from tests.clients.claude_code.model import Model

TOOL = "mcp__plugin_memlines_memlines__memory_search"


@pytest.fixture(scope="module")
def plugged(tmp_path_factory: pytest.TempPathFactory, program: Path, model: Model) -> Iterator[Machine]:
    """A home with the plugin, installed as a user does it."""
    with Machine(tmp_path_factory.mktemp("plugged"), program, model) as machine:
        machine.claude(machine.home, "plugin", "marketplace", "add", str(ROOT))
        machine.claude(machine.home, "plugin", "install", "memlines@memlines")
        yield machine


@pytest.mark.parametrize("folder", [".", "integrations/claude-code"])
def test_the_client_finds_no_fault(machine: Machine, folder: str) -> None:
    said = machine.claude(machine.home, "plugin", "validate", "--strict", str(ROOT / folder))
    assert "Validation passed" in said


def test_the_plugin_brings_the_server_the_hooks_and_the_commands(plugged: Machine) -> None:
    session = Session(plugged, plugged.project("shop"), "--allowedTools", TOOL)
    asked = session.say(f'CALL {TOOL} {{"query": "port of the staging database"}}')
    assert "port 5433" in asked[-1].results[0]
    assert "<memlines-context>" in asked[0].everything
    assert "memlines:recall" in session.begun["slash_commands"]


def test_the_doctor_sees_the_plugin(plugged: Machine) -> None:
    printed = plugged.memlines(plugged.project("seen"), "doctor")
    assert "memlines runs as a plugin of Claude Code" in printed


def test_without_memlines_a_session_says_so_once_and_goes_on(plugged: Machine, tmp_path: Path) -> None:
    for name in ("sh", "node"):  # what the client itself needs
        found = next(Path(folder) / name for folder in os.get_exec_path() if (Path(folder) / name).exists())
        (tmp_path / name).symlink_to(found)
    options = ["--output-format", "stream-json", "--verbose", "--include-hook-events"]
    command = [str(plugged.program), "-p", *options, "Good morning"]
    printed = plugged.run_program(command, plugged.project("bare"), PATH=str(tmp_path))
    hooks = [told for told in map(json.loads, printed.splitlines()) if told.get("subtype") == "hook_response"]
    said = {hook["hook_event"]: (hook["outcome"], hook["output"]) for hook in hooks}
    assert "Memlines is not installed" in said.pop("SessionStart")[1]
    assert said == {"UserPromptSubmit": ("success", ""), "Stop": ("success", "")}
