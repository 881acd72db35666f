"""A turn of the real Codex calls the memory over MCP, and knows from AGENTS.md and a skill how to."""

from __future__ import annotations

from pathlib import Path

from memlines.serve.tools import shown_tools
from tests.clients.codex.machine import Machine
from tests.clients.harness import run_offline

SEARCH = 'CALL memory_search {"query": "port of the staging database"}'


def test_a_turn_finds_what_the_memory_holds(machine: Machine, shop: Path) -> None:
    done = machine.say(shop, SEARCH)

    (call,) = [item for item in done if item["type"] == "mcp_tool_call"]
    assert (call["server"], call["tool"], call["status"]) == ("memlines", "memory_search", "completed")
    assert "port 5433" in machine.model.about(SEARCH)[-1].results[0]
    assert "MEMORY.md#L3-L4" in machine.model.about(SEARCH)[-1].results[0]


def test_a_turn_writes_a_note(machine: Machine, shop: Path) -> None:
    machine.say(shop, 'CALL memory_remember {"text": "The lamp is blue.", "topic": "lamps"}')

    assert "The lamp is blue." in (shop / "memory/lamps.md").read_text(encoding="utf-8")


def test_nothing_is_forgotten_without_the_user(machine: Machine, shop: Path) -> None:
    done = machine.say(shop, 'CALL memory_forget {"query": "releases"}')

    (call,) = [item for item in done if item["type"] == "mcp_tool_call"]
    assert "requires approval" in call["error"]["message"]


def test_the_model_is_told_what_it_can_use(machine: Machine, shop: Path) -> None:
    machine.say(shop, "What is there?")

    (asked,) = machine.model.about("What is there?")
    assert asked.tools == {tool.name for tool in shown_tools()}
    assert "call `memory_search`" in asked.said("user")
    assert "- memory: How to use long-term memory well." in asked.said("developer")
    assert "- remember:" not in asked.said("developer")


def test_a_skill_stands_for_what_the_user_can_ask(machine: Machine, shop: Path) -> None:
    machine.say(shop, "$remember the gate is green")

    (asked,) = machine.model.about("the gate is green")
    assert "Call memory_remember once" in asked.said("user")


def test_a_project_that_is_not_trusted_brings_no_server(machine: Machine) -> None:
    folder = machine.project("untrusted", trusted=False)
    machine.install(folder, "--project")
    machine.say(folder, "Is anybody there?")

    (asked,) = machine.model.about("Is anybody there?")
    assert asked.tools == set()


def test_a_turn_needs_no_network(program: Path, tmp_path: Path) -> None:
    assert "MEMORY.md#L" in run_offline("tests.clients.codex.offline", program, tmp_path)
