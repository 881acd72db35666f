"""What every change of a note shares: a checked place, one writer at a time, and errors in words."""

from __future__ import annotations

import errno
import os
import posixpath
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from memlines.beneath import opened
from memlines.errors import PathError, StoreBusy, StoreReadOnly, WriteError, reason_of
from memlines.files.atomic import Changed, Unconfirmed, sweep, unfinished
from memlines.files.private import ensure_private
from memlines.files.scan import IGNORED_DIRS, NOTES_DIR, SUFFIX, root_files
from memlines.locks import WriterLock
from memlines.paths import Workspace
from memlines.text.neutral import unseen_in

LOCK_NAME = "notes.lock"
WAIT_SECONDS = 10.0
ATTEMPTS = 5
"""How often a change is made again because another program changed the note meanwhile."""

_LONGEST_NAME = 200
_LONGEST_PATH = 800
"""Bytes; what is kept of a note has a longer path than the note, and must fit as well."""

_UNUSABLE = re.compile(r'[\x00-\x1f\x7f<>:"|?*\\]|^ |[ .]$')
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.IGNORECASE)

_FULL = (errno.ENOSPC, errno.EDQUOT)
_DENIED = (errno.EACCES, errno.EPERM, errno.EROFS)

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Place:
    """A note: its path as citations write it, where it is, and the root below which no link is followed."""

    path: str
    real: Path
    root: Path


def place_of(workspace: Workspace, path: str) -> Place:
    """Return the place of a note that may be written, whether it exists or not; refuse any other path."""
    name = path.strip()
    if not name or "\0" in name or not _is_encodable(name):
        raise PathError("no usable path was given", todo="Name a note such as MEMORY.md or memory/topic.md")
    if name.startswith("/") or ".." in name.split("/") or (os.name == "nt" and re.search(r"[\\:]", name)):
        raise _refused(path, "it is not a plain path below the workspace")
    shown = posixpath.normpath(name)
    parts = shown.split("/")
    if not shown.endswith(SUFFIX):
        raise _refused(path, f"only {SUFFIX} files are")
    below_notes = len(parts) > 1 and parts[0] == NOTES_DIR and not IGNORED_DIRS.intersection(parts[1:-1])
    if not below_notes and shown not in root_files(workspace):
        raise _refused(path, "it lies outside MEMORY.md and memory/")
    place = Place(shown, workspace.root / shown, workspace.root)
    if _passes_link(place):
        raise _refused(path, "it is or passes through a symbolic link")
    return place


def is_note(workspace: Workspace, path: str) -> bool:
    """Tell whether a path is that of a note that may be written."""
    try:
        place_of(workspace, path)
    except PathError:
        return False
    return True


def _passes_link(place: Place) -> bool:
    """Tell whether a link is on the way to a note; what is not there, or may not be seen, is none."""
    try:
        with opened(place.real.parent, place.root) as folder:
            return stat.S_ISLNK(folder.look(place.real.name).st_mode)
    except PathError:
        return True
    except OSError:
        return False


def check_new_name(place: Place) -> None:
    """Refuse a name for a new note that not every system could use."""
    parts = place.path.split("/")
    too_long = len(place.path.encode()) > _LONGEST_PATH
    if too_long or any(len(part.encode()) > _LONGEST_NAME for part in parts):
        raise PathError(f"{place.path[:60]!r}... is too long for the name of a note", todo="Shorten it")
    if unseen := unseen_in(place.path):
        raise PathError(
            f"{place.path!r} has {unseen} in its name, which cannot be seen", todo="Leave that character out"
        )
    if parts[-1] == SUFFIX or any(_UNUSABLE.search(part) or _DEVICE.fullmatch(part) for part in parts):
        raise PathError(
            f"{place.path!r} cannot be used as the name of a new note on every system",
            todo="Use letters, digits, '-', '_' and single dots",
        )


@contextmanager
def writing(workspace: Workspace) -> Iterator[None]:
    """Be the only writer of this workspace's notes; hold this only for the short write."""
    with ExitStack() as stack:
        try:
            ensure_private(workspace)
            lock = WriterLock(workspace.private / LOCK_NAME, "a note of this workspace")
            stack.enter_context(lock.held(WAIT_SECONDS))
        except StoreReadOnly as error:
            raise WriteError(error.what, todo=error.todo) from error
        with suppress(OSError):  # the next writer tries again; whoever writes right in there holds this lock
            sweep(workspace.private, root=workspace.root)
        yield


def sweep_private(workspace: Workspace) -> None:
    """Remove what killed writers left in the private folder, unless a writer is at work."""
    lock = WriterLock(workspace.private / LOCK_NAME, "a note of this workspace")
    with suppress(StoreBusy, StoreReadOnly, OSError):  # the next writer does it
        if unfinished(workspace.private, root=workspace.root):
            with lock.held(0):
                sweep(workspace.private, root=workspace.root)


def attempt(place: Place, change: Callable[[], Result]) -> Result:
    """Make a change, again if another program was quicker, and say in words what prevented it."""
    try:
        for _ in range(ATTEMPTS):
            with suppress(Changed):
                return change()
    except OSError as error:
        raise _explained(place, error) from error
    raise WriteError(
        f"{place.path!r} is being changed by another program", todo="Try again when that has finished"
    )


@contextmanager
def reading(what: str) -> Iterator[None]:
    """Say in words what cannot be looked at."""
    try:
        yield
    except OSError as error:
        raise PathError(f"{what} cannot be read: {reason_of(error)}", todo="Check its permissions") from error


def _explained(place: Place, error: OSError) -> WriteError:
    if isinstance(error, Unconfirmed) and error.filename == str(place.real):
        return WriteError(
            f"{place.path!r} was changed, but the disk did not confirm it: {reason_of(error)}",
            todo="Check the disk, and look at the note before you try again",
        )
    if error.errno in _FULL:
        todo = "Free some space on the disk and try again; the note is as it was"
    elif error.errno in _DENIED:
        todo = "Check the permissions of the note and its folder; the note is as it was"
    else:
        todo = "Check the disk and try again; the note is as it was"
    return WriteError(f"{place.path!r} could not be written: {reason_of(error)}", todo=todo)


def _refused(path: str, why: str) -> PathError:
    return PathError(
        f"{path!r} is not a note that may be written: {why}",
        todo="Name MEMORY.md or a file below memory/, relative to the workspace",
    )


def _is_encodable(name: str) -> bool:
    try:
        os.fsencode(name)
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
