"""What a caller hands over is checked before anything is done, and refused in words that help."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from memlines import Memory, SettingsError, UsageError, WorkspaceError
from memlines.memory.arguments import SEARCH
from memlines.settings.keys import known_keys
from tests.memories import words_memory

NOTES = {"a.md": "The kestrel lives here.\n"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"query": None}, "query is None. It takes text"),
        ({"query": b"kestrel"}, "query is b'kestrel'"),
        ({"query": "x", "mode": "magic"}, "mode is 'magic'. It takes one of: hybrid, words, vectors"),
        ({"query": "x", "mode": ["words"]}, r"mode is \['words'\]"),
        (
            {"query": "x", "sources": ["notes"]},
            r"sources is \['notes'\]. It takes a list of: memory, sessions",
        ),
        ({"query": "x", "sources": "memory"}, "sources is 'memory'. It takes a list of: memory, sessions"),
        ({"query": "x", "max_results": 0}, "max_results is 0. It takes a whole number from 1 to 1000"),
        ({"query": "x", "max_results": 1001}, "max_results is 1001"),
        ({"query": "x", "max_results": "3"}, "max_results is '3'"),
        ({"query": "x", "max_results": True}, "max_results is True"),
        ({"query": "x", "min_score": -0.1}, "min_score is -0.1. It takes a number from 0 to 1"),
        ({"query": "x", "min_score": 1.1}, "min_score is 1.1"),
        ({"query": "x", "min_score": float("nan")}, "min_score is nan"),
        ({"query": "x", "min_score": "high"}, "min_score is 'high'"),
    ],
)
def test_a_search_that_cannot_be_meant(workspace: Path, arguments: dict[str, Any], words: str) -> None:
    with words_memory(workspace, NOTES) as memory, pytest.raises(UsageError, match=words):
        memory.search(**arguments)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"path": None}, "path is None. It takes text"),
        ({"path": 3}, "path is 3"),
        ({"path": "memory/a.md", "start": "3"}, "start is '3'. It takes a whole number"),
        ({"path": "memory/a.md", "lines": 1.5}, "lines is 1.5"),
        ({"path": "memory/a.md", "column": True}, "column is True"),
        ({"path": "memory/a.md", "start": 0}, "start is 0. It takes a whole number of at least 1"),
    ],
)
def test_a_read_that_cannot_be_meant(workspace: Path, arguments: dict[str, Any], words: str) -> None:
    with words_memory(workspace, NOTES) as memory, pytest.raises(UsageError, match=words):
        memory.read(**arguments)


@pytest.mark.parametrize("name", ["max_results", "min_score"])
def test_an_argument_takes_what_the_setting_takes(name: str) -> None:
    setting = known_keys()[f"query.{name}"].rule
    assert (SEARCH[name].low, SEARCH[name].high) == (setting.low, setting.high)


@pytest.mark.parametrize(("name", "value"), [("max_results", 1), ("max_results", 1000), ("min_score", 0)])
def test_the_ends_of_a_range_belong_to_it(workspace: Path, name: str, value: int) -> None:
    with words_memory(workspace, NOTES) as memory:
        assert len(memory.search("kestrel", **{name: value})) == 1  # type: ignore[arg-type]  # by name


def test_a_blank_query_is_an_empty_result(workspace: Path) -> None:
    with words_memory(workspace, NOTES) as memory:
        assert len(memory.search(" \t")) == 0


def test_a_setting_out_of_range_is_still_clamped(workspace: Path) -> None:
    with words_memory(workspace, NOTES, query__max_results=0, query__min_score=-3) as memory:
        assert (memory.settings.query.max_results, memory.settings.query.min_score) == (1, 0)


def test_a_workspace_without_a_name_is_refused() -> None:
    with pytest.raises(WorkspaceError, match="the name of the workspace is empty"):
        Memory("")


# A memory that is switched off


@pytest.mark.parametrize("call", ["search", "sync", "read"])
def test_a_memory_that_is_switched_off_says_who_did_it(workspace: Path, call: str) -> None:
    calls = {
        "search": lambda memory: memory.search("kestrel"),
        "sync": lambda memory: memory.sync(),
        "read": lambda memory: memory.read("memory/a.md"),
    }
    with (
        words_memory(workspace, NOTES, enabled=False) as memory,
        pytest.raises(SettingsError, match=r"memory is switched off: enabled is false \(argument\)"),
    ):
        calls[call](memory)


def test_the_status_of_a_memory_that_is_switched_off(workspace: Path) -> None:
    with words_memory(workspace, NOTES, enabled=False) as memory:
        status = memory.status()
    assert not status.enabled
    assert status.warnings == ("memory is switched off: enabled is false (argument)",)
