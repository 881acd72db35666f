"""The plugin, from the marketplace of this repository, in the real Codex."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from memlines import __version__
from tests.channels.programs import ROOT
from tests.clients.codex.machine import ALL_HOOKS, Machine
from tests.clients.codex.model import Model
from tests.clients.codex.test_hooks import TRIES

QUESTION = 'CALL memory_search {"query": "who looks after the robots?"}'


@pytest.fixture(scope="module")
def plugged(tmp_path_factory: pytest.TempPathFactory, program: Path, model: Model) -> Iterator[Machine]:
    """A home with the plugin, installed as a user does it."""
    with Machine(tmp_path_factory.mktemp("plugged"), program, model) as machine:
        machine.codex(machine.home, "plugin", "marketplace", "add", str(ROOT))
        machine.codex(machine.home, "plugin", "add", "memlines@memlines")
        yield machine


@pytest.fixture(autouse=True)
def _on_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))


def test_codex_lists_the_plugin_with_its_version(plugged: Machine) -> None:
    listed = json.loads(plugged.codex(plugged.home, "plugin", "list", "--json"))
    (plugin,) = listed["installed"]
    assert (plugin["pluginId"], plugin["version"], plugin["enabled"]) == (
        "memlines@memlines",
        __version__,
        True,
    )


def test_the_doctor_sees_the_plugin(plugged: Machine) -> None:
    assert "memlines runs as a plugin of Codex" in plugged.memlines(plugged.project("seen"), "doctor")


def test_the_plugin_brings_the_hooks_and_the_skills(plugged: Machine) -> None:
    folder = plugged.project("morning")
    for _ in range(TRIES):
        plugged.say(folder, "Good morning.", ALL_HOOKS)
        told = plugged.model.about("Good morning.")[-1].said("developer")
        if "port 5433" in told:
            break

    assert "The staging database listens on port 5433." in told
    assert "memlines:memory" in told


def test_the_plugin_brings_the_server(plugged: Machine) -> None:
    folder = plugged.project("shop")
    for _ in range(TRIES):
        plugged.say(folder, QUESTION)
        (result,) = plugged.model.requests[-1].results
        if "unsupported call" not in result:
            break

    assert "Grace" in result


def test_hooks_wait_for_the_trust_of_the_user(plugged: Machine) -> None:
    folder = plugged.project("untrusted")
    assert plugged.trust_hooks(folder) == {"untrusted"}
