"""Find everything that is indexed, and see from fingerprints alone whether the index lags behind it."""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from memlines.errors import PathError, reason_of
from memlines.files.scan import discover, fingerprint_of, limit_for
from memlines.folders import open_file
from memlines.index.store.sqlite.index import Index
from memlines.paths import Workspace
from memlines.settings import Settings
from memlines.settings.tree import SessionSync
from memlines.types import Discovery, FoundFile, IndexedFile, Problem
from memlines.worktrees import has_memory, linked_worktrees

if TYPE_CHECKING:
    from memlines.transcripts.finding import Found, Known

SNAPSHOTS = "snapshots/"
"""What the names of snapshots begin with in the index."""

_SUSPICIOUS_NUMBER = 10
_SUSPICIOUS_PART = 0.5
"""When so many files, and more than this part of all, are gone at once, it is more likely that a disk is
not mounted or a folder was moved away than that a person deleted them all."""


def find_files(
    workspace: Workspace,
    settings: Settings,
    known: Known | None = None,
    environ: Mapping[str, str] = os.environ,
) -> Discovery:
    """List the files of a workspace and its transcripts; `known` remembers which transcripts belong to it."""
    found = discover(workspace, settings.extra_paths, settings.files.max_bytes, settings.sources)
    if "sessions" not in settings.sources:
        return found
    from memlines.index.store.sqlite import foreign
    from memlines.transcripts.catalogue import CLIENTS

    files = [*found.files]
    problems, blind = [*found.problems], [*found.blind]
    folders = [workspace.root]
    if settings.worktrees == "shared":  # sessions in a worktree without a memory are those of the main one
        folders += [Path(one) for one in linked_worktrees(str(workspace.root)) if not has_memory(one)]
    for client, folder in product(settings.sessions.clients, folders):
        seen = CLIENTS[client].find(folder, environ, foreign.rows, known, settings.agent)
        problems += seen.problems
        blind += seen.blind
        for one in map(_file, seen.found):
            files.append(one) if isinstance(one, FoundFile) else problems.append(one)
    files += _snapshots(workspace, {_session_of(file.path) for file in files})
    return replace(found, files=tuple(files), problems=tuple(problems), blind=tuple(blind))


def _file(found: Found) -> FoundFile | Problem:
    """Return a transcript as sync wants it, or why it is left out."""
    if found.fingerprint is not None:
        return FoundFile(found.path, found.real, "sessions", found.fingerprint, found.session)
    try:
        info = os.lstat(found.real)
    except OSError as error:
        return Problem(found.path, f"cannot be looked at: {reason_of(error)}", failed=True)
    limit, in_words = limit_for("sessions", 0)
    if info.st_size > limit:
        return Problem(found.path, f"is above {in_words}")
    return FoundFile(found.path, found.real, "sessions", fingerprint_of(info))


def _snapshots(workspace: Workspace, sessions: set[str]) -> Iterator[FoundFile]:
    """Yield the snapshots of sessions that have no transcript."""
    from memlines.files import snapshots

    for snapshot in snapshots.list_all(workspace).snapshots:
        if snapshot.session not in sessions:
            real = workspace.root / snapshot.path
            try:
                fingerprint = fingerprint_of(os.lstat(real))
            except OSError:
                continue  # replaced by a newer one since it was listed
            name, root = f"{SNAPSHOTS}{snapshot.id}.json", str(workspace.root)
            yield FoundFile(name, str(real), "sessions", fingerprint, root=root)


def _session_of(path: str) -> str:
    """Return the session of a transcript by its name, as clients call it."""
    return path.rpartition("/")[2].partition(".jsonl")[0].rpartition("rollout-")[2][-36:]


def is_unchanged(file: FoundFile, known: Mapping[str, IndexedFile]) -> bool:
    """Return whether a file is surely as the index knows it."""
    entry = known.get(file.path)
    return entry is not None and entry.settled and entry.fingerprint == file.fingerprint


def doubtful_files(discovery: Discovery, index: Index) -> tuple[list[FoundFile], dict[str, IndexedFile]]:
    """Return the files that are not surely as the index knows them, and what it knows of them."""
    sure = index.sure_files()
    doubtful = [file for file in discovery.files if (file.path, *file.fingerprint) not in sure]
    return doubtful, index.files(file.path for file in doubtful)


def missing_paths(discovery: Discovery, known: Iterable[str]) -> list[str]:
    """Return the indexed paths that are gone; in folders that cannot be read, nothing is gone."""
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
    """Return whether any file looks added, changed or removed since it was indexed.

    Unlike `is_dirty`, this trusts the fingerprint of a file that was indexed within a moment of its change.
    """
    settled = {path: entry._replace(settled=True) for path, entry in known.items()}
    return is_dirty(discovery, settled)


def is_dirty(
    discovery: Discovery, known: Mapping[str, IndexedFile], deltas: SessionSync | None = None
) -> bool:
    """Return whether any file was added, changed or removed since it was indexed.

    With `deltas`, a transcript that only grew by less than these need not be read again: agents
    write to it all the time.
    """
    changed = [file for file in discovery.files if not is_unchanged(file, known)]
    if not all(deltas and _grew_little(file, known.get(file.path), deltas) for file in changed):
        return True
    # Every file found is known, so the numbers show whether one that is known was not found.
    return len(known) > len(discovery.files) and bool(missing_paths(discovery, known))


def lags_behind(discovery: Discovery, index: Index, deltas: SessionSync) -> bool:
    """Return whether an index is dirty, reading of it only what is in doubt: for workspaces of many files."""
    doubtful, known = doubtful_files(discovery, index)
    if is_dirty(replace(discovery, files=tuple(doubtful)), known, deltas):
        return True
    return index.count_known() > len(discovery.files) and bool(missing_paths(discovery, index.paths()))


def _grew_little(file: FoundFile, entry: IndexedFile | None, deltas: SessionSync) -> bool:
    if entry is None or entry.source != "sessions" or entry.problem is not None:
        return False
    before, now = entry.fingerprint, file.fingerprint
    grown = now.size - before.size
    if file.session:  # in a database; its size is the number of messages
        return 0 < grown < deltas.delta_messages
    if before.inode != now.inode or not 0 < grown < deltas.delta_bytes:
        return False
    try:
        with os.fdopen(open_file(file.real, file.root), "rb") as stream:
            stream.seek(before.size)
            return stream.read(grown).count(b"\n") < deltas.delta_messages
    except (OSError, PathError):
        return False  # reading it says why
