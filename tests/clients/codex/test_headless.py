"""`codex exec`, asked once, with the builtin model: what is known reaches the model that answers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.codex.machine import ALL_HOOKS, Machine
from tests.clients.codex.model import Model

QUESTION = "Who did we say looks after the warehouse robots?"
TRIES = 3
"""A hook waits 0.3 seconds, which a very busy machine may need for itself; each try begins from nothing."""


@pytest.fixture
def machine(tmp_path: Path, program: Path, model: Model) -> Iterator[Machine]:
    with Machine(tmp_path, program, model, provider="builtin") as made:
        yield made


def test_the_first_prompt_of_all_brings_lines(machine: Machine) -> None:
    for number in range(TRIES):
        folder = machine.project(f"shop-{number}")
        machine.install(folder, "--project")
        machine.say(folder, QUESTION, ALL_HOOKS)
        told = machine.model.about(QUESTION)[-1].said("developer")
        assert "The staging database listens on port 5433" in told
        if "Grace looks after the warehouse robots" in told:
            return
    pytest.fail(f"it was not quoted:\n{told}")
