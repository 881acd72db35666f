"""Ways to install it, as the real Claude Code sees them."""

from __future__ import annotations

import json
from pathlib import Path

from memlines.clients.client import integration_folder
from tests.clients.claude_code.machine import Machine, Session, heard
from tests.clients.places import tree

PLUGIN_TOOL = "mcp__plugin_memlines_memlines__memory_search"


def test_after_use_uninstalling_leaves_the_project_as_it_was(machine: Machine) -> None:
    folder = machine.project("round-trip")
    before = {path: held for path, held in tree(folder).items() if not path.startswith(".git/")}
    machine.memlines(folder, "install", "claude-code")
    Session(machine, folder).say("Good morning")
    machine.memlines(folder, "uninstall", "claude-code")
    after = {path: held for path, held in tree(folder).items() if not path.startswith(".git/")}
    assert {path: held for path, held in after.items() if not path.startswith(".memory")} == before


def test_for_all_projects_it_works_in_any_and_leaves_others_alone(machine: Machine) -> None:
    folder, plain = machine.project("everywhere"), machine.home / "plain"
    plain.mkdir()
    machine.memlines(folder, "install", "claude-code", "--global")
    try:
        assert "port 5433" in heard(Session(machine, folder).say("Good morning"))
        Session(machine, plain).say("What did we decide yesterday?")
        assert list(plain.iterdir()) == []
    finally:
        machine.memlines(folder, "uninstall", "claude-code", "--global")
    told = json.loads((machine.home / ".claude.json").read_text(encoding="utf-8"))
    assert "memlines" not in told.get("mcpServers", {})  # the client counts elsewhere what was used


def test_the_plugin_brings_the_server_the_hooks_and_the_commands(machine: Machine) -> None:
    folder = machine.project("plugged")
    plugin = str(integration_folder("claude-code"))
    session = Session(machine, folder, "--plugin-dir", plugin, "--allowedTools", PLUGIN_TOOL)
    asked = session.say(f'CALL {PLUGIN_TOOL} {{"query": "port of the staging database"}}')
    assert "port 5433" in asked[-1].results[0]
    assert "<memlines-context>" in asked[0].everything
    assert "memlines:recall" in session.begun["slash_commands"]


def test_the_client_finds_no_fault_with_the_plugin(machine: Machine, tmp_path: Path) -> None:
    assert "Validation passed" in machine.claude(
        tmp_path, "plugin", "validate", str(integration_folder("claude-code"))
    )
