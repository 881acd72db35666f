"""What is no longer true answers no question, whichever way it is asked."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memlines import AsyncMemory, Memory
from memlines.agent.auto_recall import fitting_facts
from memlines.serve.tools import call_tool
from tests.memories import WORDS_ONLY, words_memory
from tests.memory.facts.memories import note_of
from tests.programs import Cli

OLD, NEW = "The staging server runs on port 8080", "The staging server runs on port 9090"
QUERY = "On which port does our staging server run?"


def by_python(memory: Memory) -> Any:
    return [found.to_json() for found in memory.facts.recall(QUERY, min_score=0).found]


def by_asyncio(memory: Memory) -> Any:
    async def ask() -> Any:
        async with AsyncMemory(memory.workspace.root, WORDS_ONLY) as other:
            return [found.to_json() for found in (await other.facts.recall(QUERY, min_score=0)).found]

    return asyncio.run(ask())


def by_tool(memory: Memory) -> Any:
    answer = call_tool(memory, "memory_recall", {"query": QUERY})
    return [answer.data, answer.text]


def by_entries(memory: Memory) -> Any:
    return [entry.text for entry in memory.recall(QUERY)]


def unasked(memory: Memory) -> Any:
    return fitting_facts(memory, QUERY).text


def by_a_list(memory: Memory) -> Any:
    return [line.fact.text for line in memory.facts.list()]


@pytest.fixture
def memory(workspace: Path) -> Memory:
    memory = words_memory(workspace, {"facts.md": "# Facts\n\n- Likes tea\n- Mia is allergic to nuts\n"})
    with memory:
        memory.facts.store(OLD)
        assert memory.facts.store(NEW).action == "superseded"
    assert f"~~{OLD}~~" in note_of(workspace).read_text(encoding="utf-8")
    return memory


@pytest.mark.parametrize("way", [by_python, by_asyncio, by_tool, by_entries, unasked, by_a_list])
def test_what_is_no_longer_true_never_answers(memory: Memory, way: Callable[[Memory], Any]) -> None:
    with memory:
        said = json.dumps(way(memory))
    assert "9090" in said
    assert "8080" not in said


def test_the_command_answers_with_what_is_true(cli: Cli, memory: Memory) -> None:
    answer = cli("facts", "search", "-w", memory.workspace.root, QUERY)
    assert "9090" in answer.out
    assert "8080" not in answer.out


def test_a_fact_that_is_no_longer_true_names_no_one(workspace: Path) -> None:
    text = (
        "- ~~Henk is my stepfather.~~\n- Henk lives in Groningen.\n- Karl is my stepfather.\n- Karl cooks.\n"
    )
    with words_memory(workspace, {"facts.md": text}) as memory:
        recalled = memory.facts.recall("what does my stepfather do?")
    assert recalled.aliases == {"stepfather": "Karl"}
    assert not any("Henk" in found.fact.text for found in recalled.found)
