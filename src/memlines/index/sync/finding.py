"""Find everything that is indexed: notes, transcripts here and in the folders of clients, snapshots."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from memlines.errors import reason_of
from memlines.files.scan import discover, fingerprint_of, limit_for
from memlines.paths import Workspace
from memlines.settings import Settings
from memlines.types import Discovery, FoundFile, Problem

if TYPE_CHECKING:
    from memlines.transcripts.hosts import Found, Known

SNAPSHOTS = "snapshots/"
"""What the names of snapshots begin with in the index."""


def find_files(
    workspace: Workspace,
    settings: Settings,
    known: Known | None = None,
    environ: Mapping[str, str] = os.environ,
) -> Discovery:
    """List the files of a workspace, and the transcripts of it that the settings ask for.

    `known` remembers between two calls which transcripts of clients belong to the workspace.
    """
    found = discover(workspace, settings.extra_paths, settings.files.max_bytes, settings.sources)
    if "sessions" not in settings.sources:
        return found
    from memlines.index.store.sqlite import foreign
    from memlines.transcripts.hosts import HOSTS

    files = [*found.files]
    problems, blind = [*found.problems], [*found.blind]
    for client in settings.sessions.clients:
        seen = HOSTS[client].find(workspace.root, environ, foreign.rows, known, settings.agent)
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
    """Yield the snapshots of sessions of which there is no transcript."""
    from memlines.files import snapshots

    for snapshot in snapshots.listed(workspace).snapshots:
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
