"""A run that was cut short is finished by the next one, and takes nothing else with it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memlines.errors import PathError
from memlines.files import erase
from memlines.files.erase import erase_lines
from memlines.memory.notes import forget as forgetting
from tests.indexes import job, write
from tests.memory.forgetting import AFTER, BEFORE, DAY, NOTES, SECRET, Home, home_in
from tests.note_changes import edit

pytestmark = pytest.mark.promise("P14")

STEPS = ["_from_indexes", "_from_snapshots", "_from_kept", "_from_notes", "find_remaining"]


@pytest.fixture
def home(workspace: Path) -> Home:
    return home_in(workspace)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_run_that_is_cut_short_is_finished_by_the_next(
    home: Home, monkeypatch: pytest.MonkeyPatch, step: str, when: str
) -> None:
    place = job(home.folder).workspace
    edit(place, DAY, 5, 5, "- Sun", AFTER.strip())
    home.sync()
    chosen = list(home.candidates(f"{DAY}#L4"))
    with monkeypatch.context() as patch:
        patch.setattr(forgetting, step, _killing(getattr(forgetting, step), when))
        with pytest.raises(KeyboardInterrupt):
            home.forget_these(chosen)
    assert home.forget_these(chosen).complete
    assert home.text(DAY) == BEFORE + "- Sun\n"
    assert home.traces() == []


def _killing(real: Callable[..., Any], when: str) -> Callable[..., Any]:
    def call(*arguments: Any) -> Any:
        if when == "after":
            list(real(*arguments))
        raise KeyboardInterrupt

    return call


@pytest.mark.parametrize("name", ["replace", "link", "unlink", "fsync"])
def test_the_same_command_finishes_what_any_interruption_left(home: Home, name: str) -> None:
    """Every call in turn is interrupted; the second run names the lines again, as a person would."""
    for number in range(1, 60):
        write(home.folder, NOTES)
        home.sync()
        finished = _interrupted(home, name, number)
        if finished:
            break
        if home.text(DAY) == NOTES[DAY]:
            assert home.forget(f"{DAY}#L4").complete
        assert home.text(DAY) == BEFORE + AFTER
        assert home.traces() == []
    assert finished


def _interrupted(home: Home, name: str, number: int) -> bool:
    """Forget while the n-th call fails; tell whether it was over before that."""
    real: Callable[..., Any] = getattr(os, name)
    seen = 0

    def call(*arguments: Any, **options: Any) -> Any:
        nonlocal seen
        seen += 1
        if seen == number:
            raise KeyboardInterrupt
        return real(*arguments, **options)

    chosen = list(home.candidates(f"{DAY}#L4"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, name, call)
        try:
            home.remove(chosen)
        except KeyboardInterrupt:
            return False
    return True


def test_a_second_run_never_takes_the_neighbour(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    write(home.folder, {"memory/z.md": f"- {SECRET}\n- neighbour in the last note\n"})
    selectors = [f"{DAY}#L4", "memory/z.md#L1"]
    chosen = [found for selector in selectors for found in home.candidates(selector)]
    calls = []

    def only_the_first(*arguments: Any) -> int:
        calls.append(arguments)
        if len(calls) > 1:
            raise KeyboardInterrupt
        return erase_lines(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(erase, "erase_lines", only_the_first)
        with pytest.raises(KeyboardInterrupt):
            home.forget_these(chosen)
    with pytest.raises(PathError, match="cut short"):
        home.forget(*selectors)
    assert home.text(DAY) == BEFORE + AFTER
    assert home.forget("memory/z.md#L1").complete
    assert home.text("memory/z.md") == "- neighbour in the last note\n"
    assert home.traces() == []
