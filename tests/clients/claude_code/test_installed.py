"""Ways to install it, as the real Claude Code sees them."""

from __future__ import annotations

import json

from memlines.clients.client import SCRIPT
from tests.clients.claude_code.machine import Machine, Session, heard
from tests.clients.places import tree


def test_after_use_uninstalling_leaves_the_project_as_it_was(machine: Machine) -> None:
    folder = machine.project("round-trip")
    before = {path: held for path, held in tree(folder).items() if not path.startswith(".git/")}
    machine.memlines(folder, "install", "claude-code")
    Session(machine, folder).say("Good morning")
    machine.memlines(folder, "uninstall", "claude-code")
    after = {path: held for path, held in tree(folder).items() if not path.startswith(".git/")}
    assert {path: held for path, held in after.items() if not path.startswith(".memory")} == before


def test_a_prompt_is_answered_when_the_package_is_gone(machine: Machine) -> None:
    folder = machine.project("left-behind")
    machine.memlines(folder, "install", "claude-code")
    settings = folder / ".claude/settings.local.json"
    text = settings.read_text(encoding="utf-8")
    settings.write_text(text.replace(SCRIPT.name, "gone.py"), encoding="utf-8")
    assert "Good morning" in heard(Session(machine, folder).say("Good morning"))
    settings.write_text(text, encoding="utf-8")
    machine.memlines(folder, "uninstall", "claude-code")


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
