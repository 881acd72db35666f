"""Checks of the files against the index, of the facts in their note and table, and of leftovers.

Leftovers are what killed programs left behind: unfinished files, indexes that were set aside.
"""

from __future__ import annotations

import glob
import os
import random
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from memlines.admin.doctor.findings import (
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
from memlines.errors import StoreError
from memlines.files.atomic import unfinished, unlink
from memlines.files.place import LOCK_NAME
from memlines.files.scan import NOTES_DIR, folders_below
from memlines.index.store.sqlite.files import is_ours, remove_database, sweep
from memlines.index.sync.discovery import missing_paths
from memlines.index.sync.words import read_file
from memlines.locks import WriterLock, acquire, release
from memlines.memory.aliases import AliasNote
from memlines.memory.facts.lance import is_installed, load, not_installed
from memlines.memory.facts.note import FactNote, state_of
from memlines.memory.facts.places import stamp_of, uri_of
from memlines.memory.facts.rebuild import state_in
from memlines.memory.facts.table import LANCEDB, uses_table
from memlines.paths import Workspace
from memlines.text.aliases import PATH as ALIASES
from memlines.types import Document, FoundFile, Problem

_READ_BYTES = 100_000_000
"""How much is read and compared with the index without `deep`; most memories are smaller."""


def check_files(checkup: Checkup) -> Iterator[Finding]:
    """Compare what is on disk with what the index knows, by fingerprints."""
    if checkup.index is None or checkup.loaded is None:
        return
    files, known = checkup.discovery.files, checkup.known
    new = [file.path for file in files if file.path not in known]
    changed = [
        file.path for file in files if file.path in known and known[file.path].fingerprint != file.fingerprint
    ]
    gone = missing_paths(checkup.discovery, known)
    if new:
        yield checkup.behind(f"not in the index yet: {list_names(new)}")
    if changed:
        yield checkup.behind(f"changed since they were indexed: {list_names(changed)}")
    if gone:
        yield checkup.behind(f"in the index, but gone from the disk: {list_names(gone)}")
    if not (new or changed or gone):
        yield ok(f"{len(files)} on disk, all of them as the index knows them")


def check_contents(checkup: Checkup) -> Iterator[Finding]:
    """Read files that look unchanged, and compare what they hold with what was indexed."""
    if checkup.index is None or checkup.loaded is None:
        return
    same = [
        file
        for file in checkup.discovery.files
        if (entry := checkup.known.get(file.path)) is not None
        and entry.problem is None
        and entry.settled
        and entry.fingerprint == file.fingerprint
    ]
    chosen = same if checkup.deep else within_budget(same)
    differing = [file.path for file in chosen if _differs(checkup, file)]
    if differing:
        yield problem(
            f"content differs from what was indexed, though size and time are the same:"
            f" {list_names(differing)}",
            "Run 'memlines sync --force'",
            "rebuild",
        )
    else:
        rest = "" if len(chosen) == len(same) else f" of {len(same)} (--deep reads all)"
        yield ok(f"{len(chosen)}{rest} read, unchanged since they were indexed")


def within_budget(files: list[FoundFile]) -> list[FoundFile]:
    """Return the files that are read without `deep`: all of them, or a new sample each time."""
    if sum(file.fingerprint.size for file in files) <= _READ_BYTES:
        return files
    chosen, left = [], _READ_BYTES
    for file in random.sample(files, len(files)):
        left -= file.fingerprint.size
        if left < 0:
            break
        chosen.append(file)
    return chosen


def _differs(checkup: Checkup, file: FoundFile) -> bool:
    if file.source == "sessions" and "-" in checkup.known[file.path].hash:
        return False  # it grew and was read from where it ended before, so no hash of the whole is known
    content = read_file(file, checkup.settings.files.max_bytes)
    if isinstance(content, Document):  # one that changed since it was listed says nothing
        return content.fingerprint == file.fingerprint and content.hash != checkup.known[file.path].hash
    # It was text when it was indexed; the check of skipped files reports what cannot be read now.
    return isinstance(content, Problem) and not content.failed


def check_skipped(checkup: Checkup) -> Iterator[Finding]:
    """List the files that are not in the index, and why."""
    found = {file.path for file in checkup.discovery.files}
    indexed = {path: file.problem for path, file in checkup.known.items() if file.problem and path in found}
    problems = [*checkup.discovery.problems, *(item for item in indexed.values() if item)]
    for item in problems:
        message = f"{item.path} {item.reason}"
        if item.failed:
            yield problem(
                message, "Check its permissions, then sync", "sync" if item.path in indexed else None
            )
        else:
            yield warning(message, "Leave it, or make it plain UTF-8 text if it should be found")
    if not problems:
        yield ok("no file was left out")


def check_aliases(checkup: Checkup) -> Iterator[Finding]:
    """Read the note of aliases, and report lines of it that are ignored."""
    aliases = AliasNote(checkup.workspace).read()
    if aliases.problems:
        yield warning(
            f"ignored in {ALIASES}: {list_names(aliases.problems)}",
            "Write each line as '- k8s = Kubernetes', or delete it",
        )
    elif aliases.groups:
        yield ok(f"{len(aliases.groups)} in {ALIASES}")
    else:
        yield ok("none")


def check_facts(checkup: Checkup) -> Iterator[Finding]:
    """Read the facts, and compare how many their table holds."""
    settings = checkup.settings.facts
    note = FactNote(checkup.workspace, checkup.settings)
    facts = [line.fact for line in note.lines()]
    if settings.store == LANCEDB and not is_installed():
        error = not_installed()
        yield problem(f"the main index finds the facts: {error.what}", error.todo)
    current = sum(fact.is_current for fact in facts)
    unseen = sum(fact.is_captured and fact.is_current and not fact.reviewed for fact in facts)
    if unseen:
        yield warning(
            f"captured facts that are not reviewed yet: {unseen} of {current}", "Run 'memlines facts review'"
        )
    elif facts:
        yield ok(f"{current} current, {len(facts) - current} no longer true")
    else:
        yield ok("none yet")
    if facts and uses_table(checkup.settings, len(facts)):
        yield from _check_table(checkup, note)


def _check_table(checkup: Checkup, note: FactNote) -> Iterator[Finding]:
    """Compare the table with the note and the index; if LanceDB cannot be loaded, no sync helps."""
    index = checkup.index
    if index is None or not index.vectors.count():
        return
    stamp = stamp_of(uri_of(checkup.workspace, checkup.settings))
    is_ahead = note.lines_of(state_of(index, note.path)[1]) is None
    if stamp and stamp.state == state_in(index, note.path) and not is_ahead:
        return
    behind = "the table of the facts is behind their note"
    try:
        load()
    except StoreError as error:
        yield warning(f"{behind}, because {error.what}", error.todo)
    else:
        yield warning(behind, "Run 'memlines sync'", "sync")


_COMPANIONS = ("-wal", "-shm")
_STILL_AT_WORK = 60.0
"""Seconds: a younger file may be about to be finished."""


def check_locks(checkup: Checkup) -> Iterator[Finding]:
    """Look for locks that are held."""
    findings = []
    for lock in (checkup.workspace.private / LOCK_NAME, *index_locks(checkup.index_file)):
        if lock.is_symlink():
            findings.append(problem(f"{lock} is a symbolic link, which is not followed", "Delete it"))
        elif _is_held(lock):
            what = f"{lock.name} is held by {WriterLock(lock).holder()}, so what doctor says may be changing"
            findings.append(warning(what, "Wait for it to finish, and run doctor again"))
    yield from findings or [ok("no program is writing")]


def index_locks(index_file: Path) -> list[Path]:
    """Return the locks of an index: that of its writers, and those of other work on it."""
    name = glob.escape(index_file.name)
    return [lock for kind in ("", ".*") for lock in sorted(index_file.parent.glob(f"{name}{kind}.lock"))]


def _is_held(lock: Path) -> bool:
    """Return whether some program holds a lock; one that cannot be opened for writing is not held."""
    if not lock.is_file() or not os.access(lock, os.W_OK):
        return False
    handle = acquire(lock)
    if handle is not None:
        release(handle)
    return handle is None


def check_unfinished(checkup: Checkup) -> Iterator[Finding]:
    """Look for unfinished files that no program is working on any more."""
    left = [*_note_leftovers(checkup.workspace), *_index_leftovers(checkup.index_file)]
    if left:
        size = sum(path.lstat().st_size for path in left if os.path.lexists(path))
        names = list_names(path.name for path in left)
        yield warning(
            f"left unfinished by killed programs, {megabytes(size)}: {names}", "Delete them", "sweep"
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
    busy = any(_is_held(lock) for lock in workspace.private.glob("*.lock") if lock != own_lock)
    root = workspace.root
    tops = [top for top in (root / NOTES_DIR, workspace.private) if not top.is_symlink()]
    folders = [root, *(folder for top in tops for folder in folders_below(top, root))]
    left = [path for folder in folders for path in unfinished(folder, root=root)]
    return [path for path in left if _is_old(path)] if busy else left


def _index_leftovers(index_file: Path) -> list[Path]:
    """Return the unfinished files of writers of the index, unless one is at work."""
    if _is_held(index_file.with_name(index_file.name + ".lock")):
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
            yield warning(f"{message}; it is not a plain file", "Look at it and delete it yourself")
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
