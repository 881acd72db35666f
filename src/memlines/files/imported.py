"""Put transcripts that were brought in from elsewhere below `sessions/`, without overwriting any other.

What is replaced is only what its successor holds as well, so nothing has to be kept of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

from memlines.errors import WriteError
from memlines.files import atomic
from memlines.files.place import Place, attempt, writing
from memlines.files.scan import MAX_SESSION_BYTES, SESSIONS_DIR
from memlines.folders import PRIVATE_FILE
from memlines.paths import Workspace
from memlines.records import dataclass

Relation = Literal["other", "part", "whole"]
"""What a file that is there is to the new one: another conversation, a part of the new one, or all of it."""

Outcome = Literal["created", "replaced", "same"]

_ENDING = ".jsonl"
_MOST_NAMES = 100


@dataclass(frozen=True, slots=True)
class Saved:
    """Where a transcript is now, and what was done for it."""

    path: str
    outcome: Outcome


def save(
    workspace: Workspace,
    name: str,
    content: bytes,
    relate: Callable[[bytes], Relation],
    *,
    dry_run: bool = False,
) -> Saved:
    """Write a transcript under a name, or another one like it if a different conversation has that.

    `relate` says what a file that is there is to the new one. This is durable when it returns; with
    `dry_run` nothing is written, and the result says what would be.
    """
    folder = workspace.root / SESSIONS_DIR
    place = Place(f"{SESSIONS_DIR}/{name}{_ENDING}", folder / f"{name}{_ENDING}", workspace.root)

    def place_it() -> Saved:
        for file in _names(name):
            outcome = _write(workspace.root, folder / file, content, relate, dry_run=dry_run)
            if outcome is not None:
                return Saved(f"{SESSIONS_DIR}/{file}", outcome)
        raise WriteError(
            f"there are {_MOST_NAMES} other transcripts called {name!r} already",
            todo=f"Remove those in {SESSIONS_DIR}/ that are not needed",
        )

    def write() -> Saved:
        atomic.make_folders(folder, workspace.root)
        atomic.sweep(folder, root=workspace.root)
        return place_it()

    if dry_run:
        return attempt(place, place_it)
    with writing(workspace):
        return attempt(place, write)


def _names(name: str) -> Iterator[str]:
    yield f"{name}{_ENDING}"
    for number in range(2, _MOST_NAMES + 1):
        yield f"{name}-{number}{_ENDING}"


def _write(
    root: Path, path: Path, content: bytes, relate: Callable[[bytes], Relation], *, dry_run: bool
) -> Outcome | None:
    """Write a file unless another conversation is there."""
    old = atomic.read(path, MAX_SESSION_BYTES, root=root)
    if old is None:
        if not dry_run and not atomic.create(path, content, PRIVATE_FILE, root=root):
            raise atomic.Changed
        return "created"
    if old == content:
        return "same"
    relation = "other" if len(old) > MAX_SESSION_BYTES else relate(old)
    if relation == "part":
        if not dry_run:
            atomic.replace(path, content, expected=old, root=root)
        return "replaced"
    return "same" if relation == "whole" else None
