"""Tell from fingerprints alone whether the index lags behind the files."""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Mapping
from dataclasses import replace

from memlines.errors import PathError
from memlines.folders import open_file
from memlines.index.store.sqlite.index import Index
from memlines.settings import SessionSync
from memlines.types import Discovery, FoundFile, IndexedFile

_SUSPICIOUS_NUMBER = 10
_SUSPICIOUS_PART = 0.5
"""When so many files, and more than this part of all, are gone at once, it is more likely that a disk is
not mounted or a folder was moved away than that somebody deleted them all."""


def is_unchanged(file: FoundFile, known: Mapping[str, IndexedFile]) -> bool:
    """Tell whether a file is surely as the index knows it."""
    entry = known.get(file.path)
    return entry is not None and entry.settled and entry.fingerprint == file.fingerprint


def missing_paths(discovery: Discovery, known: Iterable[str]) -> list[str]:
    """Return the indexed paths that are gone; where nobody could look, nothing is gone."""
    found = {file.path for file in discovery.files}
    # The workspace itself is called "."; its files have no folder in their names.
    below = tuple("" if folder == "." else folder.rstrip("/") + "/" for folder in discovery.blind)
    return [
        path
        for path in known
        if path not in found and not path.startswith(below) and path not in discovery.blind
    ]


def suspiciously_gone(
    missing: list[str], known: Mapping[str, IndexedFile], read: Container[str]
) -> list[str]:
    """Return the missing paths if they are so many that it looks like an accident.

    `read` holds the hashes of what was read just now: a file that only moved is not gone.
    """
    indexed = sum(entry.problem is None for entry in known.values())
    gone = [path for path in missing if known[path].problem is None and known[path].hash not in read]
    suspicious = len(gone) >= _SUSPICIOUS_NUMBER and len(gone) > _SUSPICIOUS_PART * indexed
    return gone if suspicious else []


def is_behind(discovery: Discovery, known: Mapping[str, IndexedFile]) -> bool:
    """Tell whether any file looks added, changed or removed since it was indexed.

    Unlike `is_dirty`, this takes a file at its word that was indexed within a moment of its change.
    """
    settled = {path: entry._replace(settled=True) for path, entry in known.items()}
    return is_dirty(discovery, settled)


def is_dirty(
    discovery: Discovery, known: Mapping[str, IndexedFile], deltas: SessionSync | None = None
) -> bool:
    """Tell whether any file was added, changed or removed since it was indexed.

    With `deltas`, a transcript that only grew by less than these is no reason to read it again: agents
    write to it all the time.
    """
    changed = [file for file in discovery.files if not is_unchanged(file, known)]
    if not all(deltas and _grew_little(file, known.get(file.path), deltas) for file in changed):
        return True
    # Every file found is known, so the numbers tell whether one that is known was not found.
    return len(known) > len(discovery.files) and bool(missing_paths(discovery, known))


def lags_behind(discovery: Discovery, index: Index, deltas: SessionSync) -> bool:
    """Tell whether an index is dirty, reading of it only what is in doubt: for workspaces of many files."""
    sure = index.sure_files()
    doubtful = [file for file in discovery.files if (file.path, *file.fingerprint) not in sure]
    known = index.files_at(file.path for file in doubtful)
    if is_dirty(replace(discovery, files=tuple(doubtful)), known, deltas):
        return True
    return index.count_known() > len(discovery.files) and bool(missing_paths(discovery, index.paths()))


def _grew_little(file: FoundFile, entry: IndexedFile | None, deltas: SessionSync) -> bool:
    if entry is None or entry.source != "sessions" or entry.problem is not None:
        return False
    before, now = entry.fingerprint, file.fingerprint
    grown = now.size - before.size
    if file.session:  # of a database, of which the size is the number of messages
        return 0 < grown < deltas.delta_messages
    if before.inode != now.inode or not 0 < grown < deltas.delta_bytes:
        return False
    try:
        with os.fdopen(open_file(file.real, file.root), "rb") as stream:
            stream.seek(before.size)
            return stream.read(grown).count(b"\n") < deltas.delta_messages
    except (OSError, PathError):
        return False  # reading it says why
