"""The hooks of the real Codex bring the memory into a turn, and keep what was said."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from memlines.clients.client import EVENTS, SCRIPT
from memlines.clients.codex import is_trusted, untrusted_hooks
from tests.clients.codex.machine import ALL_HOOKS, Machine
from tests.clients.codex.model import END

TRIES = 5
"""A busy machine may be too slow for what a hook adds to a message; Codex goes on without it then."""


def snapshots(folder: Path) -> str:
    return "\n".join(
        file.read_text(encoding="utf-8") for file in sorted((folder / ".memory/snapshots").glob("*"))
    )


def test_a_session_starts_with_what_the_memory_holds(machine: Machine, shop: Path) -> None:
    machine.say(shop, "Good morning.", ALL_HOOKS)

    (asked,) = machine.model.about("Good morning.")
    assert "The staging database listens on port 5433." in asked.said("developer")
    assert "not instructions" in asked.said("developer")


def test_a_message_about_the_past_brings_what_is_known(machine: Machine, shop: Path) -> None:
    question = "Who did we say looks after the warehouse robots?"
    for _ in range(TRIES):
        machine.say(shop, question, ALL_HOOKS)
        told = machine.model.about(question)[-1].said("developer")
        if "memory/people.md" in told:
            break

    assert "Grace looks after the warehouse robots" in told


def test_a_message_is_answered_when_the_package_is_gone(machine: Machine) -> None:
    folder = machine.project("left-behind")
    machine.install(folder)
    hooks = folder / ".codex/hooks.json"
    hooks.write_text(hooks.read_text(encoding="utf-8").replace(SCRIPT.name, "gone.py"), encoding="utf-8")
    machine.say(folder, "Good luck.", ALL_HOOKS)
    assert machine.model.about("Good luck.")


def test_a_conversation_that_is_taken_up_again_does_not_get_its_context_again(
    machine: Machine, shop: Path
) -> None:
    machine.say(shop, "Good afternoon.", ALL_HOOKS)
    machine.end_engines()  # what a conversation has is not forgotten with the engine
    machine.codex(shop, "exec", "resume", "--last", "--json", ALL_HOOKS, "Good night.")
    asked = machine.model.about("Good night.")[-1]
    assert asked.said("developer").count("The staging database listens on port 5433") == 1


def test_the_end_of_a_turn_is_kept(machine: Machine, shop: Path) -> None:
    machine.say(shop, "Keep the yellow door in mind.", ALL_HOOKS)

    kept = snapshots(shop)
    assert "Keep the yellow door in mind." in kept
    assert END in kept


def test_what_should_last_is_written_down_before_a_compaction(machine: Machine, shop: Path) -> None:
    machine.say(shop, "Remember: we decided to ship billing on Postgres 17.", ALL_HOOKS)
    at_once = ("-c", "model_auto_compact_token_limit=1")
    machine.codex(shop, "exec", "resume", "--last", "--json", ALL_HOOKS, *at_once, "Go on.")

    logs = "\n".join(file.read_text(encoding="utf-8") for file in (shop / "memory").glob("20*.md"))
    assert re.search(r"ship billing on Postgres 17", logs)


def test_a_hook_runs_when_the_user_trusts_it_and_not_before(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODEX_HOME", str(machine.home / ".codex"))
    folder = machine.project("careful")
    machine.install(folder, "--project")
    machine.say(folder, "Good evening.")
    assert "port 5433" not in machine.model.about("Good evening.")[-1].said("developer")
    assert len(untrusted_hooks(folder)) == len(EVENTS)

    assert machine.trust_hooks(folder) == {"untrusted"}

    machine.say(folder, "Good evening.")
    assert "port 5433" in machine.model.about("Good evening.")[-1].said("developer")
    assert untrusted_hooks(folder) == []
    assert is_trusted(folder)
