"""What runs in a process that is going to be killed. Each goes on for ever."""

from __future__ import annotations

import itertools
import shutil
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

from memlines.memory.memory import Memory
from memlines.paths import Workspace
from tests.faults.support import entry, remember
from tests.indexes import notes, sync, write
from tests.note_changes import edit
from tests.providers import FakeProvider

Acknowledge = Callable[[str], None]

KEPT_NOTE = "memory/kept.md"
EDITED_NOTE = "memory/edited.md"
CHANGING_NOTES = 40
PATTERN = "pattern"
OLD_INDEXES = "old"


def warm_up() -> None:
    """Load the model before there are children."""
    with tempfile.TemporaryDirectory() as folder, Memory(folder) as memory:
        memory.warm_up()


def remembering(workspace: Path, name: str, acknowledge: Acknowledge) -> None:
    """Write entries, one after the other."""
    for number in itertools.count():
        word = f"{name}-{number}"
        remember(workspace, KEPT_NOTE, entry(word))
        acknowledge(word)


def editing(workspace: Path, name: str, acknowledge: Acknowledge) -> None:
    """Write each entry over the one before; what it held is kept."""
    before = entry(f"{name}-0")
    remember(workspace, EDITED_NOTE, before)
    for number in itertools.count(1):
        after = entry(f"{name}-{number}")
        edit(Workspace.at(workspace), EDITED_NOTE, 3, 3, after, before)
        acknowledge(f"{name}-{number}")
        before = after


def remembering_and_syncing(workspace: Path, name: str, acknowledge: Acknowledge) -> None:
    """Write entries and bring the index up to date after each."""
    with Memory(workspace) as memory:
        for number in itertools.count():
            word = f"{name}-{number}"
            remember(workspace, KEPT_NOTE, entry(word))
            acknowledge(word)
            memory.sync()


def syncing(workspace: Path, name: str, acknowledge: Acknowledge) -> None:
    """Change, remove and add many files by hand, and sync."""
    provider = FakeProvider() if name.endswith("v") else None
    every = notes(CHANGING_NOTES)
    for turn in itertools.count():
        changing = [f"memory/n{(turn * 7 + step) % CHANGING_NOTES}.md" for step in range(10)]
        write(
            workspace, {path: f"shared {name} turn {turn} of {path}\n" * (turn % 7 + 1) for path in changing}
        )
        for path in changing[:3]:
            (workspace / path).unlink()
        sync(workspace, provider)
        acknowledge(f"{name}-{turn}")
        write(workspace, {path: every[path] for path in changing})


def rebuilding(workspace: Path, name: str, acknowledge: Acknowledge) -> None:
    """Build the index anew again and again, for the asking or because the model is another."""
    for turn in itertools.count():
        if turn % 2:
            sync(workspace, FakeProvider(model=f"model{name}{turn}"))
        else:
            with Memory(workspace) as memory:
                memory.sync(force=True)
        acknowledge(f"{name}-{turn}")


def migrating(workspace: Path, name: str, acknowledge: Acknowledge) -> None:
    """Bring one index of the first version after the other forward."""
    for turn in itertools.count():
        place = workspace / OLD_INDEXES / f"{name}-{turn}"
        shutil.copytree(workspace / PATTERN, place.with_suffix(".copying"))
        place.with_suffix(".copying").rename(place)
        acknowledge(f"{place.name}")
        with Memory(place) as memory:
            memory.sync()


def watching(workspace: Path, name: str, acknowledge: Acknowledge) -> None:
    """Write entries while a watch brings the index up to date."""
    memory = Memory(workspace, {"sync.watch_debounce_ms": 10})
    threading.Thread(target=memory.watch, args=[threading.Event()], daemon=True).start()
    for number in itertools.count():
        word = f"{name}-{number}"
        remember(workspace, KEPT_NOTE, entry(word))
        acknowledge(word)
        write(workspace, {f"memory/new{number % 5}/n{number}.md": f"shared own{number}\n"})
        time.sleep(0.02)


def forgetting(workspace: Path, name: str, acknowledge: Acknowledge) -> None:
    """Write something, change it, index it, and forget it."""
    for number in itertools.count():
        word = f"{name}-{number}"
        remember(workspace, KEPT_NOTE, entry(f"kept-{word}"))
        remember(workspace, EDITED_NOTE, entry(word))
        sync(workspace, FakeProvider())
        acknowledge(f"written:{word}")
        forget_entry(workspace, word)
        acknowledge(f"forgotten:{word}")


def forget_entry(workspace: Path, name: str) -> None:
    """Take the entry of this name out of the memory for good."""
    with Memory(workspace) as memory:
        every = memory.forget_candidates(f"{EDITED_NOTE}#L1-L999")
        receipt = memory.forget([found for found in every if f" {name}w0 " in found.text])
    assert receipt.left == ()
