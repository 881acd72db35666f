"""Notes that were removed whole, until they are wanted back or there is no more room.

Each lies under `<private>/trash/<time>-<permissions>/<its path>`, closed to others. Age alone is no reason to
lose one: the oldest go when there are too many or they are too large together, and the newest never goes.
"""

from __future__ import annotations

import re
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import MAXYEAR, UTC, datetime, timedelta
from pathlib import Path

from memlines.errors import PathError
from memlines.files import atomic, journal
from memlines.files.place import Place, reading
from memlines.files.scan import SUFFIX, files_below, folders_below
from memlines.folders import PRIVATE_FILE, open_folder
from memlines.paths import Workspace
from memlines.records import dataclass

MAX_ITEMS = 1000
MAX_BYTES = 64_000_000

_FOLDER = "trash"
STAMP = r"\d{8}T\d{6}\.\d{6}Z"
_STAMP_FORMAT = "%Y%m%dT%H%M%S.%fZ"
_NAME = re.compile(rf"(?P<stamp>{STAMP})(?:-(?P<mode>[0-7]{{3}}))?")


@dataclass(frozen=True, slots=True)
class Item:
    """A removed note: its name in the trash, where it was, when it was removed, its size in bytes."""

    name: str
    path: str
    time: datetime
    size: int


def items(workspace: Workspace) -> tuple[Item, ...]:
    """List the removed notes, the newest first."""
    with reading("the trash"):
        return tuple(_listing(workspace))


def put(workspace: Workspace, place: Place, content: bytes) -> None:
    """Move a note that holds this content into the trash; the caller holds the notes' lock."""
    with open_folder(place.real.parent, place.root) as folder:
        mode = stat.S_IMODE(folder.look(place.real.name).st_mode) & 0o777
    name = f"{next_stamp(max(_names(workspace), default=''))}-{mode:03o}"
    target = _folder(workspace) / name / place.path
    root = workspace.root
    atomic.sweep(place.real.parent, root=root)
    try:
        atomic.make_folders(target.parent, root)
        if not atomic.create(target, content, PRIVATE_FILE, root=root):
            raise atomic.Changed
        with journal.operation("remove"):
            before = journal.FileState.of(content)
            journal.record(workspace, place.path, before, None, f"{_FOLDER}/{name}")
            try:
                atomic.remove(place.real, content, root=root)
            except atomic.Changed:
                journal.withdraw(workspace, place.path)
                raise
    except BaseException:
        with suppress(OSError, PathError):  # it is there twice then, until the trash is full
            if atomic.exists(place.real, root=root):  # else the trash has the only copy, whatever went wrong
                _discard(workspace, name)
        raise
    with suppress(OSError):  # the note is moved; there is a next time for making room
        _prune(workspace)


def put_back(workspace: Workspace, name: str, place: Place) -> None:
    """Move a removed note back to where it was; the caller holds the notes' lock."""
    root = workspace.root
    match = _NAME.fullmatch(name)
    content = atomic.read(_folder(workspace) / name / place.path, root=root) if match else None
    if match is None or content is None:
        raise PathError(f"there is no {name!r} in the trash", todo="List what is there")
    atomic.make_folders(place.real.parent, root)
    atomic.sweep(place.real.parent, root=root)
    with journal.operation("restore"):
        after = journal.FileState.of(content)
        journal.record(workspace, place.path, None, after, "", journal.block_of(None, content))
        mode = int(match["mode"], 8) if match["mode"] else PRIVATE_FILE
        if not atomic.create(place.real, content, mode, root=root):
            journal.withdraw(workspace, place.path)
            raise PathError(
                f"{place.path!r} cannot be restored: there is another note in its place",
                todo="Remove or rename that one first",
            )
    with suppress(OSError):  # it is there twice then, until the trash is full
        _discard(workspace, name)


def scrub(workspace: Workspace, without: Callable[[bytes], bytes]) -> list[str]:
    """Rewrite what is in the trash without something; return the names of what changed.

    The caller holds the notes' lock.
    """
    changed: list[str] = []
    for item in list(_listing(workspace)):
        file = _folder(workspace) / item.name / item.path
        atomic.sweep(file.parent, root=workspace.root)
        content = atomic.read(file, root=workspace.root) or b""
        rest = without(content)
        if rest == content:
            continue
        if rest.strip():
            atomic.replace(file, rest, expected=content, root=workspace.root)
        else:
            _discard(workspace, item.name)
        changed.append(f"{_folder(workspace).name}/{item.name}/{item.path}")
    return changed


def next_stamp(previous: str, now: datetime | None = None) -> str:
    """Return the time of now as a name that sorts after the previous one, whatever the clock did."""
    time = (now or datetime.now(UTC)).astimezone(UTC)
    if previous:
        time = max(time, time_of(previous) + timedelta(microseconds=1))
    return time.strftime(_STAMP_FORMAT)


def time_of(stamp: str) -> datetime:
    """Return the time of a stamp."""
    return datetime.fromisoformat(stamp.partition("-")[0])


def is_stamp(name: str) -> bool:
    """Return whether a name is a stamp after which there can be another."""
    try:
        return bool(_NAME.fullmatch(name)) and time_of(name).year < MAXYEAR
    except ValueError:  # digits that are not a date
        return False


def _listing(workspace: Workspace) -> Iterator[Item]:
    for name in sorted(_names(workspace), reverse=True):
        top = _folder(workspace) / name
        for path, info in files_below(top, workspace.root):
            if path.name.endswith(SUFFIX) and stat.S_ISREG(info.st_mode):
                yield Item(name, path.relative_to(top).as_posix(), time_of(name), info.st_size)


def _folder(workspace: Workspace) -> Path:
    return workspace.private / _FOLDER


def _names(workspace: Workspace) -> list[str]:
    entries = atomic.listing(_folder(workspace), root=workspace.root).items()
    return [name for name, info in entries if is_stamp(name) and stat.S_ISDIR(info.st_mode)]


def _prune(workspace: Workspace) -> None:
    """Let the oldest go that there is no room for, and what killed writers left."""
    kept = list(_listing(workspace))
    for name in set(_names(workspace)) - {item.name for item in kept}:
        _discard(workspace, name)
    total = 0
    for number, item in enumerate(kept):
        total += item.size
        if number and (number >= MAX_ITEMS or total > MAX_BYTES):
            _discard(workspace, item.name)


def _discard(workspace: Workspace, name: str) -> None:
    for below in folders_below(_folder(workspace) / name, workspace.root):
        for file in atomic.listing(below, root=workspace.root):
            atomic.unlink(below / file, root=workspace.root, durable=False)
        with open_folder(below.parent, workspace.root) as folder:
            folder.rmdir(below.name)
    atomic.sync_folder(_folder(workspace), root=workspace.root)
