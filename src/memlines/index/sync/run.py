"""One sync: from what is on disk to an index that equals it.

The words come first, under the writer lock. The vectors follow when that is free again.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from memlines.errors import StoreBusy, StoreDamaged, StoreForeign
from memlines.files.place import ensure_index_folder, sweep_private
from memlines.files.tombstones import Forgotten
from memlines.index.store.sqlite import cache, origin, spaces
from memlines.index.store.sqlite.cache import copy_batches
from memlines.index.store.sqlite.db import system_errors
from memlines.index.store.sqlite.files import set_aside, swap_in, sweep, temporary_index
from memlines.index.store.sqlite.index import Index
from memlines.index.sync.discovery import find_files
from memlines.index.sync.identity import identity_of, reason_to_rebuild, space_of
from memlines.index.sync.job import Job, reader_of, writer_of
from memlines.index.sync.pending import put_known
from memlines.index.sync.vectors import add_vectors, drop_unwanted_spaces
from memlines.index.sync.words import Changes, carry_vectors, keep_unseen, update_words
from memlines.types import Report

_LEAST_READING = 0.5
"""Seconds for which files are read at least, so that every search gets on, whatever its time went into."""


def run(job: Job) -> Report:
    """Bring the index up to date; what cannot be indexed is in the report."""
    with system_errors(job.index_file):
        return _run(job)


def take_out(job: Job, paths: Iterable[str]) -> None:
    """Take files out of the index, for the next sync to read them as if they were new."""
    with (
        system_errors(job.index_file),
        job.lock().held(job.wait_seconds),
        writer_of(job.index_file, {}) as index,
    ):
        for path in paths:
            index.remove(path)


def _run(job: Job) -> Report:
    ensure_index_folder(job.workspace, job.index_file)

    def waiting(holder: str) -> None:
        job.progress(0, 1, f"waiting for {holder}")

    with job.lock().held(job.wait_seconds, waiting):
        report = _words(job)
        inode = _inode_of(job.index_file)
    try:
        drop_unwanted_spaces(job)
        return add_vectors(job, report)
    except StoreBusy as busy:
        # The words are in. A search tells how many vectors are missing anyway, so it need not warn.
        warnings = () if job.is_limited else (str(busy),)
        return replace(report, warnings=(*report.warnings, *warnings))
    except StoreDamaged:
        if job.damaged_inode is not None:
            raise
        return run(replace(job, damaged_inode=inode))


def _words(job: Job) -> Report:
    """Make the words of the index equal the files; an index that cannot be used is set aside."""
    sweep(job.index_file)
    sweep_private(job.workspace)
    try:
        _refuse_damaged(job)
        return _sync(job)
    except StoreDamaged as damage:
        aside = set_aside(job.index_file)
        report = _sync(job)
        note = f"{damage.what}; it was set aside as {aside.name} and built anew"
        reason = "foreign" if isinstance(damage, StoreForeign) else "damaged"
        return replace(report, rebuilt=report.rebuilt or reason, warnings=(note, *report.warnings))


def _refuse_damaged(job: Job) -> None:
    """Raise if the index is still the one that a reader found damaged where nobody else looks."""
    if job.damaged_inode and job.damaged_inode == _inode_of(job.index_file):
        raise StoreDamaged(f"the index {str(job.index_file)!r} is damaged")


def _inode_of(path: Path) -> int:
    try:
        return path.stat().st_ino
    except OSError:
        return 0


def _sync(job: Job) -> Report:
    wanted = identity_of(job.settings)
    with writer_of(job.index_file, wanted) as index:
        reason = reason_to_rebuild(index, job.settings)
        if job.force and not reason and index.synced_at:
            reason = "forced"
        if not reason:
            report = _update(job, index)
            if report.changed and not report.pending:
                cache.prune(index.connection, job.settings.cache.max_entries)
                _save_matrix(job, index)
            return report
    return _rebuild(job, reason)


def _rebuild(job: Job, reason: str) -> Report:
    """Build a new index beside the old one, which serves until the new one has all words.

    It takes over the vectors of the old one. What lacks one is embedded once the new index serves.
    """
    wanted = identity_of(job.settings)
    with temporary_index(job.index_file) as temporary:
        with writer_of(temporary, wanted) as fresh, reader_of(job.index_file) as old:
            if job.settings.cache.enabled:
                cache.copy_from(fresh.connection, job.index_file)
            carry_vectors(old, fresh)
            report = _update(job, fresh, replacing=old)
            if report.unindexed:  # the old index serves on
                hint = f"settings changed, 'memlines sync' builds the index anew: {reason}"
                return Report(unindexed=report.unindexed, warnings=(hint,))
            known = 0
            for entry in spaces.entries(old.connection):
                like = entry.answers_as, entry.dims
                spaces.add(fresh.connection, entry.space, entry.state, entry.note, *like)
                known += put_known(fresh, entry.space)
                background = old.vectors_in(entry.space).background()
                if background is not None:
                    fresh.vectors_in(entry.space).set_background(background)
            spaces.decline(fresh.connection, spaces.declined(old.connection))
            copy_batches(old.connection, fresh.connection)
            cache.prune(fresh.connection, job.settings.cache.max_entries if job.settings.cache.enabled else 0)
            report = replace(report, pending=_pending(job, fresh), vectors_cached=known)
            if old.origin == "shared":  # its maker can still tell that it was made there
                origin.take_over(old.connection, fresh.connection)
            else:
                origin.mark(fresh.connection, job.index_file)
        swap_in(temporary, job.index_file)
    with writer_of(job.index_file, wanted) as index:
        _save_matrix(job, index)
    return replace(report, rebuilt=reason)


def _save_matrix(job: Job, index: Index) -> None:
    """Bring the mapped copy of the vectors up to date, unless the job is about words: it takes numpy."""
    if job.provider is not None:
        index.vectors.save_matrix()


def _update(job: Job, index: Index, *, replacing: Index | None = None) -> Report:
    settings = job.settings
    discovery = find_files(job.workspace, settings, job.heads)
    until = None if job.deadline is None else max(job.deadline, time.monotonic() + _LEAST_READING)
    changes = update_words(
        index,
        discovery,
        settings,
        job.progress,
        forgotten=Forgotten.load(job.workspace),
        force=job.force,
        until=until,
    )
    if changes.left:
        return Report(tuple(changes.indexed), changes.unchanged, unindexed=changes.left)
    if replacing is not None:
        brake = not job.force and _covers_the_same(replacing, index)
        keep_unseen(replacing, index, discovery, changes, brake=brake)
    if not changes.held_back:
        index.mark_synced(datetime.now(UTC).isoformat(timespec="seconds"))
    elif replacing is not None and replacing.synced_at:
        index.mark_synced(replacing.synced_at)
    problems = [*discovery.problems, *changes.problems]
    return Report(
        indexed=tuple(changes.indexed),
        unchanged=changes.unchanged,
        removed=tuple(changes.removed),
        pending=_pending(job, index),
        skipped=tuple(problem for problem in problems if not problem.failed),
        failed=tuple(problem for problem in problems if problem.failed),
        warnings=(*_held_back(changes, index), *changes.warnings),
        held_back=len(changes.held_back),
    )


def _pending(job: Job, index: Index) -> int:
    return index.count_pending(space_of(job.provider)) if job.provider else 0


def _covers_the_same(old: Index, new: Index) -> bool:
    """Tell whether both indexes are of the same folders; otherwise files may well be in one only."""
    before, now = old.identity(), new.identity()
    return all(before.get(key) == now[key] for key in ("sources", "extra_paths"))


def _held_back(changes: Changes, index: Index) -> tuple[str, ...]:
    gone = len(changes.held_back)
    if not gone:
        return ()
    return (
        f"{gone} of {index.count_files()} indexed files are gone at once; in case a disk is not mounted or a"
        " folder was moved, they stay in the index until 'memlines sync --force' removes them",
    )
