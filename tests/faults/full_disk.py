"""What runs on a disk that fills up, or where files may not grow; the tests look at what it returns."""

from __future__ import annotations

import itertools
import resource
import signal
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from memlines.errors import MemlinesError
from memlines.memory.memory import Memory
from tests.faults.support import check_index, entry, remember, synced, whole_entries
from tests.indexes import hashes

NOTE = "memory/kept.md"
_ENTRIES = 10
"""How many entries a note gets on a small disk: to change a note there must be room for another like it."""


def fill(disk: Path, free_space: Callable[[], object]) -> dict[str, Any]:
    """Write entries and sync until nothing goes any more; free some space; see that all is well."""
    (disk / "memory").mkdir()
    outcome = _Outcome(disk)
    for number in itertools.count():
        path = f"memory/kept{number // _ENTRIES:04d}.md"
        if outcome.attempt(partial(remember, disk, path, entry(f"e-{number}", words=150))):
            break
        outcome.acknowledged.append(f"e-{number}")
        if number % 20 == 0:
            outcome.attempt(partial(synced, disk))
    before = hashes(disk)
    with Memory(disk) as memory:
        for force in (False, True):
            outcome.attempt(partial(memory.sync, force=force))
        outcome.attempt(partial(memory.search, "e-0w1"))
    outcome.expect("the notes are as they were", hashes(disk) == before)
    outcome.check_entries()
    free_space()
    remember(disk, "memory/next.md", entry("next"))
    outcome.acknowledged.append("next")
    synced(disk)
    check_index(disk)
    outcome.check_entries()
    return outcome.told()


def limit_files(workspace: Path, limits: list[int]) -> list[dict[str, Any]]:
    """Write entries while no file may become larger than each limit."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    sys.dont_write_bytecode = True  # of the modules that are imported late it would keep the beginning only
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    told = []
    for number, limit in enumerate(limits):
        (workspace / NOTE).unlink(missing_ok=True)
        remember(workspace, NOTE, entry("first"))
        outcome = _Outcome(workspace)
        outcome.acknowledged.append("first")
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
        for turn in range(30):
            word = f"l{number}-{turn}"
            if outcome.attempt(partial(remember, workspace, NOTE, entry(word))):
                break
            outcome.acknowledged.append(word)
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
        outcome.check_entries()
        remember(workspace, NOTE, entry("next"))
        outcome.acknowledged.append("next")
        outcome.check_entries()
        synced(workspace)
        check_index(workspace)
        told.append(outcome.told())
    return told


class _Outcome:
    """What was acknowledged, what was refused, and what should not have been."""

    def __init__(self, workspace: Path) -> None:
        self.workspace = workspace
        self.acknowledged: list[str] = []
        self.errors: list[str] = []
        self.problems: list[str] = []

    def attempt(self, change: Callable[[], object]) -> bool:
        """Tell whether something was refused; it must be in our words and say what to do."""
        try:
            change()
        except MemlinesError as error:
            self.errors.append(type(error).__name__)
            self.expect(f"{error} says what to do", bool(error.todo))
            return True
        return False

    def expect(self, what: str, holds: bool) -> None:
        if not holds:
            self.problems.append(what)

    def check_entries(self) -> None:
        notes = sorted((self.workspace / "memory").glob("*.md"))
        found = [name for note in notes for name in whole_entries(note.read_text(encoding="utf-8"))]
        self.expect(f"{found} is what was acknowledged", found == self.acknowledged)

    def told(self) -> dict[str, Any]:
        return {
            "acknowledged": len(self.acknowledged),
            "errors": sorted(set(self.errors)),
            "problems": self.problems,
        }
