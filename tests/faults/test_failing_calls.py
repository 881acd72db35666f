"""When any call into the system fails: an error in our words, notes old or new, and the next sync heals."""

from __future__ import annotations

import shutil
import traceback
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from memlines.errors import MemlinesError
from memlines.memory.memory import Memory
from memlines.paths import Workspace
from tests.faults.conftest import Tell
from tests.faults.failing import SQLITE_FAULTS, SYSTEM_FAULTS, Failing, Fault
from tests.faults.scale import FULL, chance_of, facts_on_failure, scaled
from tests.faults.support import PROVIDER_VARIABLE, entry, remember, unfinished
from tests.indexes import assert_sound, expected, hashes, index_file, indexed, notes, write
from tests.note_changes import edit

pytestmark = [
    pytest.mark.promise("P1", "P3", "P6"),
    pytest.mark.usefixtures("each_provider", "copied_indexes"),
]

SEED = 7
AT_MOST = scaled(7, 10_000)
"""How many of the calls of an operation are made to fail, one after the other."""

DAY = "memory/day.md"
OLD_ENTRY = entry("old")


Step = Callable[[Path], object]


def synced(workspace: Path, *, force: bool = False) -> None:
    with Memory(workspace) as memory:
        memory.sync(force=force)


def search(workspace: Path) -> None:
    with Memory(workspace) as memory:
        found = memory.search("own3")
    # Without that note, which may be what could not be read, others are only shown as the nearest.
    assert [hit.path for hit in found if found.confident][:1] in ([], ["memory/n3.md"])


def lose_index(workspace: Path) -> None:
    shutil.rmtree(workspace / ".memory")


def damage_index(workspace: Path) -> None:
    index_file(workspace).write_bytes(b"these are not the pages you are looking for" * 200)


OPERATIONS: dict[str, Step] = {
    "remember": lambda workspace: remember(workspace, DAY, entry("new")),
    "remember in a new note": lambda workspace: remember(workspace, "memory/new/er.md", entry("new")),
    "edit": lambda workspace: edit(Workspace.at(workspace), DAY, 3, 3, entry("new"), OLD_ENTRY),
    "sync": synced,
    "rebuild": lambda workspace: synced(workspace, force=True),
    "search": search,
    "first sync": synced,
    "sync a damaged index": synced,
}
BEFORE: dict[str, Step] = {"first sync": lose_index, "sync a damaged index": damage_index}
"""What is done to the workspace first."""


@pytest.fixture(scope="module")
def pattern(tmp_path_factory: pytest.TempPathFactory, provider: str, copied_indexes: None) -> Path:
    """A workspace whose index lags behind: a note is new, one has changed, one is gone."""
    workspace = tmp_path_factory.mktemp("pattern") / "workspace"
    write(workspace, notes(6))
    remember(workspace, DAY, OLD_ENTRY)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MEMLINES_HOME", str(tmp_path_factory.mktemp("home")))
        patch.setenv(PROVIDER_VARIABLE, provider)
        synced(workspace)
    write(workspace, {"memory/late.md": "came late\n", "memory/n3.md": "shared own3 changed\n"})
    (workspace / "memory/n5.md").unlink()
    return workspace


def faults_for(number: int, faults: dict[str, Fault]) -> list[tuple[str, bool]]:
    """Return how a call is made to fail: in every way, or in one that its number decides."""
    ways = [(fault, sticky) for fault in faults for sticky in (False, True)]
    return ways if FULL else [chance_of(SEED, number).choice(ways)]


def numbers(total: int) -> Iterator[int]:
    step = max(1, total // AT_MOST)
    yield from range(1 + SEED % step, total + 1, step)


Watch = Callable[[Failing], AbstractContextManager[None]]
SIDES: dict[str, tuple[Watch, dict[str, Fault]]] = {
    "python": (Failing.in_python, SYSTEM_FAULTS),
    "sqlite": (Failing.in_sqlite, SQLITE_FAULTS),
}


CASES = [
    (side, operation)
    for side in SIDES
    for operation in OPERATIONS
    if side == "python" or operation not in ("remember", "remember in a new note", "edit")
]


@pytest.mark.parametrize(("side", "operation"), CASES)
def test_any_call_may_fail(pattern: Path, tmp_path: Path, tell: Tell, side: str, operation: str) -> None:
    watch, faults = SIDES[side]
    change = OPERATIONS[operation]
    after, counted = tmp_path / "after", Failing(0, KeyboardInterrupt)
    begin(pattern, after, operation)
    with watch(counted):
        change(after)
    old, new = hashes(pattern), hashes(after)
    runs = 0
    foreign: set[str] = set()
    for number in numbers(counted.seen):
        for fault, sticky in faults_for(number, faults):
            begin(pattern, tmp_path / "workspace", operation)
            failing = Failing(number, faults[fault], sticky)
            with facts_on_failure(number=number, fault=fault, sticky=sticky, at=failing.failed):
                error = outcome(failing, watch, change, tmp_path / "workspace")
                check(tmp_path / "workspace", old, new, error)
            if isinstance(error, OSError):
                foreign.add(place_of(error))
            shutil.rmtree(tmp_path / "workspace")
            runs += 1
    tell(f"failing calls, {operation}, {side}: {runs} failures, at any of {counted.seen} calls")
    if foreign:
        pytest.xfail(f"errors that are not in our words, from {', '.join(sorted(foreign))}")


def begin(pattern: Path, workspace: Path, operation: str) -> None:
    shutil.copytree(pattern, workspace)
    if operation in BEFORE:
        BEFORE[operation](workspace)


def place_of(error: Exception) -> str:
    """Return where in our own code an error was raised."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "memlines" in frame.filename]
    return f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "here"


def outcome(failing: Failing, watch: Watch, change: Step, workspace: Path) -> BaseException | None:
    with watch(failing):
        try:
            change(workspace)
        except (MemlinesError, KeyboardInterrupt, OSError) as error:
            return error
    return None


def check(workspace: Path, old: dict[str, str], new: dict[str, str], error: BaseException | None) -> None:
    """Every note is as it was or as it was to be; what is unfinished goes with the next write and sync."""
    if isinstance(error, MemlinesError):
        assert error.todo
    held = hashes(workspace)
    held = {path: digest for path, digest in held.items() if not path.endswith(".tmp")}
    if error is None:
        assert held == new
    for path in {*held, *old, *new}:
        assert held.get(path) in (old.get(path), new.get(path))
    for path in {*held, *new}:
        remember(workspace, path, entry("next"))
    with Memory(workspace) as memory:
        memory.sync()
    assert_sound(index_file(workspace))
    assert indexed(workspace) == expected(workspace)
    day = (workspace / DAY).read_text(encoding="utf-8").split("\n")
    edit(Workspace.at(workspace), DAY, 3, 3, entry("last"), day[2])  # clears away what an edit left
    assert unfinished(workspace) == []
