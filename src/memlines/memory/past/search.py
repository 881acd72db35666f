"""Answer a query from the notes as they were at the end of a day.

An index of these notes is built when it is first asked for, and kept in `<private>/past`, a few of them. Its
name has a hash of what it is made of: days on which the notes were the same share one, and if something else
becomes known of a day, another one is built. Forgetting removes all of them.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from datetime import date
from pathlib import Path

from memlines.embed.base import Provider
from memlines.errors import StoreError, StoreReadOnly, UsageError, reason_of
from memlines.files.place import ensure_index_folder
from memlines.files.read import DEFAULT_LINES, excerpt_of, resolve_note, without_private_blocks
from memlines.index.search.query import Query
from memlines.index.store.sqlite.index import Index
from memlines.index.sync.documents import build_index, is_complete
from memlines.index.sync.job import Job, identity_of, space_of
from memlines.locks import past_lock
from memlines.memory.answering import search_as_indexed, search_fresh
from memlines.memory.manager import Manager
from memlines.memory.open_index import silent
from memlines.memory.past.days import is_past, parse_day
from memlines.memory.past.notes import PastNote, doubts_about, known_since, notes_at
from memlines.memory.past.timeline import PastNotes, read_tombstones
from memlines.paths import PAST_DIR, Workspace
from memlines.types import Document, Excerpt, Fingerprint, Progress, SearchResult

_PREFIX = "past-"
_SUFFIX = ".sqlite"
_MOST_KEPT = 4
_MOST_BYTES = 200_000_000
"""How many indexes of earlier days are kept, and how large they may be together; the newest always stays."""

_WAIT_SECONDS = 600.0


def search_past(manager: Manager, query: Query, progress: Progress = silent) -> SearchResult:
    """Answer a query as of the day that it names; before that is over, the notes answer as they are."""
    day, settings = query.as_of, manager.settings
    if day is None or not is_past(day, settings):
        return search_fresh(manager, query, progress)
    if query.sources == ("sessions",):
        raise UsageError("sessions are not searched as of a day", todo="Search the notes: --source memory")
    past = PastNotes(manager.workspace, settings)
    notes = notes_at(past, day)
    asked = replace(query, sources=("memory",))
    file, warnings = _find_index(manager, past, notes, day, asked, progress)
    opened = _open_index(manager, file)
    try:
        if opened.read_state() is None:  # something was forgotten meanwhile
            return search_past(manager, query, progress)
        result = search_as_indexed(opened, asked)
    finally:
        opened.close()
    doubts = [past.git.trouble] if past.git.trouble else []
    if not result.chunks:
        since = known_since(past)
        known = f"the notes are known since {since.isoformat()}" if since else "there are no notes"
        doubts.append(f"nothing is known of {day.isoformat()}: {known}")
    else:
        doubts += doubts_about(notes)
    if result.pending:
        lacking = f"{result.pending:,} of {result.chunks:,} passages of that day have no vector"
        doubts.append(f"{lacking} and are found by words: nothing is sent to make one")
    hits = tuple([replace(hit, path=f"{hit.path}@{day.isoformat()}") for hit in result.hits])
    return replace(result, hits=hits, warnings=(*doubts, *warnings, *result.warnings), as_of=day, pending=0)


def read_past(
    manager: Manager,
    path: str,
    day: str,
    start: int | None,
    lines: int | None,
    column: int | None,
    *,
    private: bool,
) -> Excerpt:
    """Return lines of a note as it was at the end of a day, as `Memory.read` does."""
    workspace, settings = manager.workspace, manager.settings
    real, _ = resolve_note(workspace, settings.extra_paths, path)  # refuses what is no note
    name = Path(os.path.relpath(real, workspace.root)).as_posix()
    past, last = PastNotes(workspace, settings), parse_day(day, settings)
    found = notes_at(past, last, only=name)
    shown, first = f"{name}@{day}", max(1, start or 1)
    if not found:
        return Excerpt(shown, "", first, 0, found=False)
    text = found[0].text(past, last)
    text = text if private else without_private_blocks(text)
    return excerpt_of(shown, text, first, DEFAULT_LINES if lines is None else lines, column or 1)


def remove_past(workspace: Workspace) -> int:
    """Remove every index of an earlier day; return how many. The caller holds their lock."""
    count = 0
    for folder in (workspace.private / PAST_DIR, workspace.cached_indexes):
        for file in _files_of(folder):
            with suppress(OSError):  # forgetting looks for what is left, and names it
                file.unlink(missing_ok=True)
                count += file.name.endswith(_SUFFIX)
    return count


def _find_index(
    manager: Manager,
    past: PastNotes,
    notes: Sequence[PastNote],
    day: date,
    query: Query,
    progress: Progress,
) -> tuple[Path, tuple[str, ...]]:
    """Return the index of the notes of a day, built first if it is not there, and what went wrong.

    If something was forgotten since the notes were looked at, none is built.
    """
    workspace = manager.workspace
    provider = None if query.mode == "words" else manager.provider_at_work()
    folder = workspace.past_folder
    settings = replace(manager.settings, sources=("memory",))
    file = folder / f"{_PREFIX}{_fingerprint(manager, past, notes, provider)}{_SUFFIX}"
    job = Job(workspace, settings, provider, file, progress)
    warnings: tuple[str, ...] = ()
    if not is_complete(job):
        _make_folder(workspace, folder)
        lock = past_lock(folder if folder == workspace.cached_indexes else workspace.private)
        with lock.held(_WAIT_SECONDS, lambda holder: progress(0, 1, f"waiting for {holder}")):
            is_current = past.tombstones == read_tombstones(workspace)
            if is_current and not is_complete(job):  # another process may have built it meanwhile
                _remove(file)
                warnings = _build(manager, past, notes, day, job)
                _make_room(folder, file)
    return file, warnings


def _open_index(manager: Manager, file: Path) -> Manager:
    """Open an index of earlier notes as that of a memory with the same settings and providers."""
    settings = replace(manager.settings, sources=("memory",))
    settings = replace(settings, store=replace(settings.store, path=str(file), driver="sqlite"))
    opened = Manager(manager.workspace, replace(manager.loaded, settings=settings))
    opened.choice = manager.choice
    return opened


def _fingerprint(
    manager: Manager, past: PastNotes, notes: Sequence[PastNote], provider: Provider | None
) -> str:
    """Return a hash of everything that an index of earlier notes depends on."""
    made_with = json.dumps(identity_of(manager.settings), sort_keys=True)
    space = str(space_of(provider)) + space_of(provider).key if provider else ""
    digest = hashlib.sha256(repr((made_with, space, past.tombstones)).encode())
    for note in notes:
        digest.update(repr((note.path, note.identity)).encode())
    return digest.hexdigest()[:16]


def _build(
    manager: Manager, past: PastNotes, notes: Sequence[PastNote], day: date, job: Job
) -> tuple[str, ...]:
    known = None
    with suppress(StoreError):  # then no vector is known
        known = Index.reader(manager.index_file)
    with known or nullcontext():
        return build_index(job, _documents(past, notes, day), known)


def _documents(past: PastNotes, notes: Sequence[PastNote], day: date) -> Iterator[Document]:
    for note in notes:
        text = note.text(past, day)
        if text.strip():
            mark = Fingerprint(len(text), int(note.time.timestamp() * 1e9), 0)
            yield Document(note.path, "memory", text, hashlib.sha256(text.encode()).hexdigest(), mark)


def _make_folder(workspace: Workspace, folder: Path) -> None:
    """Make the folder for these indexes; a link in its place, from a cloned workspace, is refused."""
    ensure_index_folder(workspace, folder / _PREFIX)
    if folder.is_symlink():
        raise StoreReadOnly(f"{str(folder)!r} is a symbolic link", todo="Remove it")


def _files_of(folder: Path) -> list[Path]:
    """Return the indexes in a folder with the files beside them; a link to another folder has none."""
    try:
        names = [] if folder.is_symlink() else sorted(folder.glob(f"{_PREFIX}*"))
    except OSError as error:
        raise StoreReadOnly(f"{str(folder)!r} cannot be read: {reason_of(error)}") from error
    return [name for name in names if name.is_symlink() or name.is_file()]


def _remove(file: Path) -> None:
    for beside in _files_of(file.parent):
        if beside.name.startswith(file.name):
            with suppress(OSError):  # another program reads it; the next one removes it
                beside.unlink(missing_ok=True)


def _make_room(folder: Path, newest: Path) -> None:
    """Remove the oldest indexes that there is no room for, and the locks that only their building needs."""
    for lock in folder.glob(f"{_PREFIX}*.lock"):
        lock.unlink(missing_ok=True)
    files = [file for file in _files_of(folder) if file.name.endswith(_SUFFIX) and file != newest]
    room = _MOST_BYTES - newest.stat().st_size
    for count, file in enumerate(sorted(files, key=lambda one: -one.stat().st_mtime_ns), 1):
        room -= file.stat().st_size
        if room < 0 or count >= _MOST_KEPT:
            _remove(file)
