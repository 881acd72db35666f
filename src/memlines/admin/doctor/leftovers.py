"""Checks of what killed programs left behind: locks, unfinished files, indexes that were set aside."""

from __future__ import annotations

import glob
import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from filelock import FileLock, Timeout

from memlines.admin.doctor.checkup import (
    WAIT_SECONDS,
    Checkup,
    Finding,
    RepairJob,
    list_names,
    megabytes,
    ok,
    problem,
    warning,
)
from memlines.files.atomic import unfinished, unlink
from memlines.files.place import LOCK_NAME
from memlines.files.scan import NOTES_DIR
from memlines.folders import folders_below
from memlines.index.store.sqlite.files import is_ours, remove_database, sweep
from memlines.locks import WriterLock
from memlines.paths import Workspace

_HOLDER = ".holder"
_COMPANIONS = ("-wal", "-shm")
_STILL_AT_WORK = 60.0
"""Seconds: what is younger may be about to be finished."""


def check_locks(checkup: Checkup) -> Iterator[Finding]:
    """Look for locks that are held, and for what a killed holder left."""
    found = False
    for lock in locks(checkup.workspace, checkup.index_file):
        if lock.is_symlink():
            found = True
            yield problem(f"{lock} is a symbolic link, which is not followed", "Delete it")
        elif is_held(lock):
            found = True
            yield warning(
                f"{lock.name} is held by {WriterLock(lock).holder()}, so what is said here may be changing",
                "Wait for it to finish and ask again",
            )
        elif _holder_of(lock).exists():
            found = True
            yield warning(
                f"{_holder_of(lock).name} was left by a program that was killed; it is harmless",
                "Delete it, or let the next sync do it",
                "locks",
            )
    if not found:
        yield ok("no program is writing")


def repair_locks(job: RepairJob) -> str:
    """Take each free lock for a moment: releasing it removes the note of its holder."""
    left = [lock for lock in locks(job.workspace, job.index_file) if _holder_of(lock).exists()]
    free = [lock for lock in left if not is_held(lock)]
    for lock in free:
        with WriterLock(lock).held(WAIT_SECONDS):
            pass
    return f"removed what killed programs left of {list_names(lock.name for lock in free)}"


def locks(workspace: Workspace, index_file: Path) -> list[Path]:
    """Return the locks of a memory that are there, or that a program once held."""
    return [*_locks_like(workspace.private, LOCK_NAME), *index_locks(index_file)]


def index_locks(index_file: Path) -> list[Path]:
    """Return the locks of an index: that of its writers, and those of other work on it."""
    name = glob.escape(index_file.name)
    return [lock for kind in ("", ".*") for lock in _locks_like(index_file.parent, f"{name}{kind}.lock")]


def _locks_like(folder: Path, pattern: str) -> list[Path]:
    """Return locks by their own files, or by the files that say who holds them."""
    found = [path for ending in ("", _HOLDER) for path in folder.glob(pattern + ending)]
    return sorted({path.with_name(path.name.removesuffix(_HOLDER)) for path in found})


def _holder_of(lock: Path) -> Path:
    """Return the file that says who holds a lock."""
    return lock.with_name(lock.name + _HOLDER)


def is_held(lock: Path) -> bool:
    """Tell whether some program holds a lock; one that cannot be opened for writing is not held."""
    if not lock.is_file() or not os.access(lock, os.W_OK):
        return False
    probe = FileLock(lock)
    try:
        probe.acquire(blocking=False)
    except Timeout:
        return True
    probe.release()
    return False


def check_unfinished(checkup: Checkup) -> Iterator[Finding]:
    """Look for unfinished files that no program is working on any more."""
    left = [*_note_leftovers(checkup.workspace), *_index_leftovers(checkup.index_file)]
    if left:
        size = sum(path.lstat().st_size for path in left if os.path.lexists(path))
        names = list_names(path.name for path in left)
        yield warning(
            f"left unfinished by killed programs, {megabytes(size)}: {names}",
            "Delete them",
            "sweep",
        )
    else:
        yield ok("nothing is left behind")


def repair_unfinished(job: RepairJob) -> str:
    """Remove unfinished files."""
    lock = job.workspace.private / LOCK_NAME
    with WriterLock(lock, "a note of this workspace").held(WAIT_SECONDS):
        for path in _note_leftovers(job.workspace, lock):
            with suppress(FileNotFoundError):
                unlink(path, root=job.workspace.root, durable=False)
    with job.writing():
        sweep(job.index_file)
    return "removed unfinished files"


def _note_leftovers(workspace: Workspace, own_lock: Path | None = None) -> list[Path]:
    """Return the unfinished files of writers of notes, beside the notes and in the private folder.

    While another program writes, only the old ones: the others may be about to be finished.
    """
    busy = any(is_held(lock) for lock in workspace.private.glob("*.lock") if lock != own_lock)
    root = workspace.root
    tops = [top for top in (root / NOTES_DIR, workspace.private) if not top.is_symlink()]
    folders = [root, *(folder for top in tops for folder in folders_below(top, root))]
    left = [path for folder in folders for path in unfinished(folder, root=root)]
    return [path for path in left if _is_old(path)] if busy else left


def _index_leftovers(index_file: Path) -> list[Path]:
    """Return the unfinished files of writers of the index, unless one is at work."""
    if is_held(index_file.with_name(index_file.name + ".lock")):
        return []
    name = glob.escape(index_file.name)
    patterns = (f"{name}.rebuild-*", f"{name}.vectors.tmp-*")
    return [path for pattern in patterns for path in index_file.parent.glob(pattern)]


def _is_old(path: Path) -> bool:
    try:
        return abs(time.time() - path.lstat().st_mtime) > _STILL_AT_WORK
    except FileNotFoundError:  # finished since it was listed
        return False


def check_set_aside(checkup: Checkup) -> Iterator[Finding]:
    """List the damaged indexes that were set aside."""
    mains = _set_aside(checkup.index_file)
    for main in mains:
        days = int((time.time() - main.lstat().st_mtime) / 86_400)
        parts = [main.with_name(main.name + ending) for ending in ("", *_COMPANIONS)]
        size = sum(path.lstat().st_size for path in parts if os.path.lexists(path))
        message = f"{main.name}, {megabytes(size)}, {days} days old, was a damaged index"
        if main.is_file():
            yield warning(message, "Delete it unless you want to look at it", "clean")
        else:
            yield warning(f"{message}; it is no plain file", "Look at it and delete it yourself")
    if not mains:
        yield ok("no damaged index was set aside")


def repair_set_aside(job: RepairJob) -> str:
    """Delete the damaged indexes that were set aside."""
    removed = []
    with job.writing():
        for main in _set_aside(job.index_file):
            if main.is_file() and not main.is_symlink() and is_ours(main):
                remove_database(main)
                removed.append(main.name)
    return f"deleted {list_names(removed)}" if removed else "deleted nothing"


def _set_aside(index_file: Path) -> list[Path]:
    """Return the indexes that were set aside, without the files that belong to each."""
    found = index_file.parent.glob(f"{glob.escape(index_file.name)}.damaged-*")
    return sorted(path for path in found if not path.name.endswith(_COMPANIONS))
