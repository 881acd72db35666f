"""Codex and Memlines write into the same settings, and neither loses what is the other's or the user's."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from tests.clients.codex.machine import Machine
from tests.clients.codex.model import Model


@pytest.fixture
def own(tmp_path: Path, program: Path, model: Model) -> Machine:
    """A home for one test, because its settings are changed."""
    return Machine(tmp_path, program, model)


def test_codex_lists_our_server_beside_those_of_the_user(own: Machine) -> None:
    own.memlines(own.home, "install", "codex", "--global")

    listed = own.codex(own.home, "mcp", "list")

    assert {line.split()[0] for line in listed.splitlines()[1:]} == {"mine", "memlines"}


def test_everywhere_means_every_folder(own: Machine) -> None:
    own.install(own.home, "--global")
    folder = own.project("anywhere", trusted=False)
    own.say(folder, 'CALL memory_search {"query": "who looks after the robots?"}')

    assert "Grace" in own.model.requests[-1].results[0]


def test_the_settings_are_taken_out_byte_for_byte(own: Machine) -> None:
    before = own.config.read_bytes()
    own.memlines(own.home, "install", "codex", "--global")
    own.codex(own.home, "mcp", "list")
    own.memlines(own.home, "uninstall", "codex", "--global")

    assert own.config.read_bytes() == before
    assert not (own.home / ".codex/AGENTS.md").exists()


def test_a_server_that_codex_added_since_stays(own: Machine) -> None:
    """Codex writes the tables of all servers anew then, without our comment."""
    own.memlines(own.home, "install", "codex", "--global")
    own.codex(own.home, "mcp", "add", "other", "--", "echo", "hello")
    own.memlines(own.home, "uninstall", "codex", "--global")

    values = tomllib.loads(own.config.read_text(encoding="utf-8"))
    assert set(values["mcp_servers"]) == {"mine", "other"}
    assert values["model_providers"]["scripted"]["name"] == "Scripted"


def test_what_was_set_for_our_server_survives_another_installation(own: Machine) -> None:
    own.memlines(own.home, "install", "codex", "--global")
    text = own.config.read_text(encoding="utf-8")
    own.config.write_text(text.replace('"prompt"', '"approve"'), encoding="utf-8")
    own.memlines(own.home, "install", "codex", "--global")

    server = tomllib.loads(own.config.read_text(encoding="utf-8"))["mcp_servers"]["memlines"]
    assert server["tools"] == {"memory_forget": {"approval_mode": "approve"}}
