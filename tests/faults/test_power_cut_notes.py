"""After a power cut at any moment every acknowledged change is there, whole, and no old text is lost."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from memlines.files import history, trash
from memlines.files.atomic import TEMPORARY_PREFIX
from memlines.memory.notes import versions
from memlines.memory.notes.undo import undo
from memlines.paths import Workspace
from tests.faults.conftest import Tell
from tests.faults.power_notes import Recording, states
from tests.faults.scale import chance_of, facts_on_failure, scaled
from tests.faults.support import check_index, entry, remember, synced
from tests.note_changes import delete, edit, remove_note, restore_note

pytestmark = pytest.mark.promise("P1", "P2")

DAY, OTHER, NEW = "memory/day.md", "memory/other.md", "memory/people/anna.md"
SEEDS = scaled(2, 150)

EVERY_HEALED = scaled(60, 100)
"""Of how many states one is put on a disk, to see that the next write and the next sync heal it."""

Change = Callable[[Workspace], object]


def line(number: int) -> str:
    return entry(f"line{number}", words=4)


def restore(home: Workspace) -> None:
    versions.restore_version(home, DAY, history.versions(home, DAY)[-1].name)


OPERATIONS: dict[str, list[Change]] = {
    "remember": [
        lambda home: remember(home.root, DAY, line(8)),
        lambda home: remember(home.root, DAY, line(9)),
    ],
    "remember in a new note": [lambda home: remember(home.root, NEW, line(8))],
    "edit": [
        lambda home: edit(home, DAY, 3, 3, line(8), line(0)),
        lambda home: edit(home, DAY, 4, 4, line(9), line(1)),
    ],
    "delete": [lambda home: delete(home, DAY, 4, 4, line(1))],
    "remove": [lambda home: remove_note(home, DAY)],
    "restore from the trash": [
        lambda home: remove_note(home, DAY),
        lambda home: restore_note(home, trash.items(home)[0]),
    ],
    "restore a version": [lambda home: delete(home, DAY, 4, 4, line(1)), restore],
    "undo": [undo, lambda home: undo(home, redo=True)],
    "undo in a new note": [
        lambda home: remember(home.root, NEW, line(8)),
        undo,
        lambda home: undo(home, redo=True),
    ],
}


def made(workspace: Path) -> Workspace:
    (workspace / "memory").mkdir(parents=True, exist_ok=True)
    for path in (DAY, OTHER):
        for number in range(3):
            remember(workspace, path, line(number))
    return Workspace.at(workspace)


@pytest.fixture
def home(workspace: Path) -> Workspace:
    return made(workspace)


def notes_in(state: dict[str, bytes]) -> dict[str, bytes]:
    return {path: content for path, content in state.items() if path.endswith(".md") and path[0] != "."}


def notes_of(home: Workspace) -> dict[str, bytes]:
    found = [path for path in (home.root / "memory").rglob("*.md") if path.is_file()]
    return {path.relative_to(home.root).as_posix(): path.read_bytes() for path in found}


@pytest.mark.parametrize("operation", OPERATIONS)
def test_an_acknowledged_change_survives_a_power_cut(home: Workspace, tell: Tell, operation: str) -> None:
    with facts_on_failure(operation=operation):
        count = check_changes(home, OPERATIONS[operation])
    tell(f"power cuts, {operation}: all {count} states, nothing lost")


def test_many_changes_survive_a_power_cut(tmp_path: Path, tell: Tell) -> None:
    count = 0
    for seed in range(SEEDS):
        chance = chance_of(seed)
        home = made(tmp_path / str(seed))
        changes: list[Change] = []
        for number in range(10, 16):
            some = chance.choice([append_some, edit_some, edit_some, remove_some, restore_some])
            changes.append(partial(some, number=number))
        with facts_on_failure(seed=seed):
            count += check_changes(home, changes)
        shutil.rmtree(tmp_path / str(seed))
    tell(f"power cuts, {SEEDS} runs of 6 changes: {count} states, nothing lost")


def append_some(home: Workspace, number: int) -> None:
    remember(home.root, [DAY, OTHER, NEW][number % 3], line(number))


def edit_some(home: Workspace, number: int) -> None:
    for path in notes_of(home):
        lines = (home.root / path).read_text(encoding="utf-8").split("\n")
        edit(home, path, 3, 3, line(number), lines[2])
        return


def remove_some(home: Workspace, number: int) -> None:
    paths = sorted(notes_of(home))
    if paths:
        remove_note(home, paths[number % len(paths)])


def restore_some(home: Workspace, number: int) -> None:
    for item in trash.items(home):
        if not (home.root / item.path).exists():
            restore_note(home, item)
            return


def check_changes(home: Workspace, changes: list[Change]) -> int:
    """Make changes one after the other, cut the power after every call, and count what may be left."""
    recording = Recording(home.root)
    moments = [len(recording.events)]
    versions = [notes_of(home)]
    with recording.running():
        for change in changes:
            change(home)
            moments.append(len(recording.events))
            versions.append(notes_of(home))
    number = 0
    for number, (moment, state) in enumerate(every_state(recording, moments[0]), 1):
        done = max(place for place, end in enumerate(moments) if end <= moment)
        with facts_on_failure(moment=moment, number=number):
            check_state(state, versions[done : done + 2])
            if number % EVERY_HEALED == 0:
                check_healing(home, state, versions[done : done + 2])
    return number


def every_state(recording: Recording, first: int) -> Iterator[tuple[int, dict[str, bytes]]]:
    """Yield the states that a cut after each call may leave."""
    for moment in range(first, len(recording.events) + 1):
        for state in states(recording.events[:moment], recording.root):
            yield moment, state


def check_state(state: dict[str, bytes], allowed: list[dict[str, bytes]]) -> None:
    """Each note is as it was acknowledged, or as the change under way makes it; old text is kept."""
    held = notes_in(state)
    for path in {*held, *(path for version in allowed for path in version)}:
        assert held.get(path) in [version.get(path) for version in allowed], path
    everything = b"".join(content for path, content in state.items() if path.endswith(".md"))
    for content in allowed[0].values():
        for old in content.splitlines():
            assert old in everything, "an old line is nowhere any more"
    for path, content in state.items():
        if path.startswith(".memory/history/") and TEMPORARY_PREFIX not in path:
            assert hashlib.sha256(content).hexdigest()[:12] in path, "a kept version is torn"


def check_healing(home: Workspace, state: dict[str, bytes], allowed: list[dict[str, bytes]]) -> None:
    """Put a state on a disk: the next write into a folder clears it up, the next sync indexes it."""
    shutil.rmtree(home.root)
    (home.root / "memory").mkdir(parents=True)
    for path, content in state.items():
        (home.root / path).parent.mkdir(parents=True, exist_ok=True)
        (home.root / path).write_bytes(content)
    for path in {*notes_in(state), *(path for version in allowed for path in version)}:
        remember(home.root, path, entry("next"))
    synced(home.root)
    check_index(home.root)
    assert list((home.root / "memory").rglob(f"{TEMPORARY_PREFIX}*")) == []


def test_a_write_that_is_not_synced_would_be_noticed(home: Workspace) -> None:
    """The states are of use only if they show what a careless write loses."""
    recording = Recording(home.root)
    before = notes_of(home)
    with recording.running():
        remember(home.root, DAY, line(8))
    careless = [event for event in recording.events if event.kind != "sync" or event.file < len(before)]
    torn = 0
    for state in states(careless, home.root):
        try:
            check_state(state, [notes_of(home)])
        except AssertionError:
            torn += 1
    assert torn
