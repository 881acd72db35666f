"""Places in a workspace: notes that may be written, the private folder, and how a workspace begins.

Every change of a note has a checked place, one writer at a time, and errors in words. The private folder
keeps itself out of version control.
"""

from __future__ import annotations

import errno
import os
import posixpath
import re
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from memlines.errors import PathError, StoreBusy, StoreReadOnly, WorkspaceError, WriteError, reason_of
from memlines.files.atomic import Changed, Unconfirmed, create, exists, make_folders, sweep, unfinished
from memlines.files.read import is_encodable
from memlines.files.scan import IGNORED_DIRS, NOTES_DIR, ROOT_FILES, SUFFIX, root_files, scan_below
from memlines.folders import (
    CREATE_FLAGS,
    PRIVATE_FILE,
    Tree,
    make_own_folder,
    make_private_folders,
    open_folder,
)
from memlines.locks import WriterLock
from memlines.paths import PRIVATE_DIR, Workspace
from memlines.records import dataclass

_IGNORE = ".gitignore"
_OF_WORKSPACE = "workspace.txt"
_KEPT_SECONDS = 30 * 86_400.0
"""How long the cache keeps the indexes of a workspace that is gone: its disk may only not be mounted."""


def ensure_private(workspace: Workspace) -> None:
    """Make the folder for derived and private files, with a `.gitignore` that hides all of it."""
    try:
        with open_folder(workspace.root) as root:
            if not root.has(PRIVATE_DIR):
                with suppress(FileExistsError):  # another process was quicker
                    root.mkdir(PRIVATE_DIR, private=True)
            is_shared = root.is_shared
        with open_folder(workspace.private, workspace.root) as folder:
            was_open = folder.tighten(shared=is_shared)
            if not folder.has(_IGNORE):
                with (
                    suppress(FileExistsError),
                    os.fdopen(folder.open_private(_IGNORE, CREATE_FLAGS), "wb") as stream,
                ):
                    stream.write(b"*\n")
        if was_open:
            tighten(workspace)
    except PathError:
        # A cloned workspace could make us write wherever its link points.
        raise WorkspaceError(
            f"{str(workspace.private)!r} is a symbolic link",
            todo="Replace it by a folder; store.path can keep the index elsewhere",
        ) from None
    except OSError as error:
        raise _unwritable(workspace.private, error) from error


def tighten(workspace: Workspace, *, dry_run: bool = False) -> list[Path]:
    """Close the private folder and all in it to others, and to its group unless that shares the workspace.

    Return what was open, or is with `dry_run`. What belongs to another user stays as it is, and so do links,
    pipes and the settings, which people write themselves.
    """
    changed: list[Path] = []
    every = [
        (place, [entry.name for entry in files])
        for place, files in scan_below(workspace.private, workspace.root)
    ]
    with Tree(workspace.root) as tree:
        is_shared = tree.enter("").is_shared
        for place, names in reversed(every):
            # Not `Path.relative_to`: for a folder a thousand folders down, Python 3.13 needs 40 ms for that.
            folder = tree.enter(Path(os.path.relpath(place, workspace.root)).as_posix())
            if folder.tighten(shared=is_shared, dry_run=dry_run):
                changed.append(place)
            for name in names:
                if place / name == workspace.config_file:
                    continue
                with suppress(FileNotFoundError, PermissionError):  # gone by now, or closed even to us
                    if folder.tighten_file(name, shared=is_shared, dry_run=dry_run):
                        changed.append(place / name)
    return changed


def ensure_folder(folder: Path) -> None:
    """Make a folder for derived files, closed to others; one that is there stays as it is."""
    try:
        make_private_folders(folder)
    except OSError as error:
        raise _unwritable(folder, error) from error


def ensure_index_folder(workspace: Workspace, index_file: Path) -> None:
    """Make the folder of an index, and the private folder of its workspace where that can be written."""
    if index_file.parent == workspace.cached_indexes:
        _ensure_cached(workspace, index_file.parent)
        return
    try:
        ensure_private(workspace)
    except StoreReadOnly:
        if index_file.is_relative_to(workspace.private):
            raise
    ensure_folder(index_file.parent)


def _ensure_cached(workspace: Workspace, folder: Path) -> None:
    """Make a folder for indexes in the user's cache, with a file that says of which workspace they are."""
    try:
        if not folder.is_dir():
            _remove_unused(folder.parent)
        make_own_folder(folder)
        create(folder / _OF_WORKSPACE, str(workspace.root), PRIVATE_FILE)
    except OSError as error:
        raise _unwritable(folder, error) from error


def _remove_unused(top: Path) -> None:
    """Remove indexes of workspaces that are gone and were not written for a month."""
    for folder in top.iterdir() if top.is_dir() else ():
        with suppress(OSError, UnicodeDecodeError):  # not ours; or another program removes it just now
            root = Path((folder / _OF_WORKSPACE).read_text(encoding="utf-8"))
            files = list(folder.iterdir())
            newest = max(file.lstat().st_mtime for file in files)
            if root.is_dir() or time.time() - newest < _KEPT_SECONDS:
                continue
            for file in sorted(files, key=lambda file: file.name == _OF_WORKSPACE):  # which goes last
                file.unlink()
            folder.rmdir()


def _unwritable(folder: Path, error: OSError) -> StoreReadOnly:
    return StoreReadOnly(
        f"the folder {str(folder)!r} cannot be written: {reason_of(error)}",
        todo="Check its permissions and the space on the disk",
    )


LOCK_NAME = "notes.lock"
WAIT_SECONDS = 10.0
ATTEMPTS = 5
"""How often a change is tried because another program changed the note meanwhile."""

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
    if not name or "\0" in name or not is_encodable(name):
        raise PathError("no usable path was given", todo="Name a note such as MEMORY.md or memory/topic.md")
    if name.startswith("/") or ".." in name.split("/") or (os.name == "nt" and re.search(r"[\\:]", name)):
        raise _refusal(path, "it is not a plain path below the workspace")
    shown = posixpath.normpath(name)
    parts = shown.split("/")
    if not shown.endswith(SUFFIX):
        raise _refusal(path, f"only {SUFFIX} files are")
    below_notes = len(parts) > 1 and parts[0] == NOTES_DIR and not IGNORED_DIRS.intersection(parts[1:-1])
    if not below_notes and shown not in root_files(workspace):
        raise _refusal(path, "it lies outside MEMORY.md and memory/")
    place = Place(shown, workspace.root / shown, workspace.root)
    is_link = False
    try:
        with open_folder(place.real.parent, place.root) as folder:
            is_link = stat.S_ISLNK(folder.look(place.real.name).st_mode)
    except PathError:
        is_link = True
    except OSError:  # what is not there, or may not be seen, is not a link
        pass
    if is_link:
        raise _refusal(path, "it is or passes through a symbolic link")
    return place


def is_note(workspace: Workspace, path: str) -> bool:
    """Return whether a path is that of a note that may be written."""
    try:
        place_of(workspace, path)
    except PathError:
        return False
    return True


def check_new_name(place: Place) -> None:
    """Refuse a name for a new note that not every system could use."""
    from memlines.text.neutral import unseen_in  # which takes time to import

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
    """Be the only writer of this workspace's notes; hold the lock only for the short write."""
    with ExitStack() as stack:
        try:
            ensure_private(workspace)
            lock = WriterLock(workspace.private / LOCK_NAME, "a note of this workspace")
            stack.enter_context(lock.held(WAIT_SECONDS))
        except StoreReadOnly as error:
            raise WriteError(error.what, todo=error.todo) from error
        with suppress(OSError):  # the next writer tries again; every writer in there holds this lock
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
    """Make a change, again if another program was faster, and say in words what prevented it."""
    try:
        for _ in range(ATTEMPTS):
            with suppress(Changed):
                return change()
    except OSError as error:
        raise _explain(place, error) from error
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


def _explain(place: Place, error: OSError) -> WriteError:
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


def _refusal(path: str, why: str) -> PathError:
    return PathError(
        f"{path!r} is not a note that may be written: {why}",
        todo="Name MEMORY.md or a file below memory/, relative to the workspace",
    )


_FIRST_NOTE = "# Memory\n"
"""No word more: a search would find an explanation in it, and every session would quote that."""


def holds_memory(workspace: Workspace) -> bool:
    """Return whether a folder holds a memory: a note, or the folder that is made for one."""
    if workspace.private.is_dir() or any((workspace.root / name).is_file() for name in ROOT_FILES):
        return True
    try:
        with os.scandir(workspace.root / NOTES_DIR) as notes:
            return any(entry.name.endswith(SUFFIX) for entry in notes)
    except OSError:
        return False


def begin_workspace(folder: Path, *, personal: bool = False) -> tuple[Workspace, list[str]]:
    """Make what a workspace needs and does not have yet; nothing that exists is changed.

    The personal memory is closed to other users, and gets no first note: every session would quote it.
    """
    made: list[str] = []
    try:
        if not folder.exists():
            folder.mkdir(0o700 if personal else 0o777, parents=True)
            made.append(f"{folder}/")
        workspace = Workspace.at(folder)
        if not exists(workspace.root / NOTES_DIR, root=workspace.root):
            make_folders(workspace.root / NOTES_DIR, workspace.root)
            made.append(f"{NOTES_DIR}/")
    except OSError as error:
        raise WorkspaceError(
            f"workspace {str(folder)!r} cannot be made: {reason_of(error)}",
            todo="Check the path, its permissions and the space on the disk",
        ) from error
    try:
        ensure_private(workspace)
        if not personal and not any((workspace.root / name).exists() for name in ROOT_FILES):
            place = place_of(workspace, ROOT_FILES[0])
            with writing(workspace):  # because writers sweep unfinished files
                if attempt(place, lambda: create(place.real, _FIRST_NOTE, root=place.root)):
                    made.append(ROOT_FILES[0])
    except (StoreReadOnly, WriteError) as error:
        raise WorkspaceError(error.what, todo=error.todo) from error
    return workspace, made
