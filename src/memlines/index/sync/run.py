"""One sync: from what is on disk to an index that equals it.

The words come first, under the writer lock. The vectors follow when that is free again.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from memlines.errors import StoreBusy, StoreDamaged, StoreForeign
from memlines.files.place import ensure_index_folder, sweep_private
from memlines.index.store.sqlite import cache, files, spaces
from memlines.index.store.sqlite.db import system_errors, transaction
from memlines.index.store.sqlite.index import Index
from memlines.index.store.sqlite.reader import SYNCED
from memlines.index.sync.discovery import doubtful_files, find_files
from memlines.index.sync.job import Job, covers_same_files, identity_of, reason_to_rebuild, space_of
from memlines.index.sync.pending import put_known
from memlines.index.sync.vectors import add_vectors, drop_unwanted_spaces
from memlines.types import Report


def run(job: Job) -> Report:
    """Bring the index up to date; what cannot be indexed is in the report."""
    with system_errors(job.index_file):
        ensure_index_folder(job.workspace, job.index_file)
        with job.lock().held(job.wait_seconds, lambda holder: job.progress(0, 1, f"waiting for {holder}")):
            report = _sync_words(job)
            inode = _inode_of(job.index_file)
        try:
            drop_unwanted_spaces(job)
            return add_vectors(job, report)
        except StoreBusy as busy:
            # The words are in. A search says how many vectors are missing anyway, so it need not warn.
            warnings = () if job.is_limited else (str(busy),)
            return replace(report, warnings=(*report.warnings, *warnings))
        except StoreDamaged:
            if job.damaged_inode is not None:
                raise
    return run(replace(job, damaged_inode=inode))


def remove_files(job: Job, paths: Iterable[str]) -> None:
    """Remove files from the index, for the next sync to read them as if they were new."""
    lock, file = job.lock(), job.index_file
    with system_errors(file), lock.held(job.wait_seconds), Index.writer(file, {}) as index:
        for path in paths:
            index.remove(path)


def _sync_words(job: Job) -> Report:
    """Make the words of the index equal the files; an index that cannot be used is set aside."""
    files.sweep(job.index_file)
    sweep_private(job.workspace)
    try:
        # A reader may have found damage in places that a sync does not look at.
        if job.damaged_inode and job.damaged_inode == _inode_of(job.index_file):
            raise StoreDamaged(f"the index {str(job.index_file)!r} is damaged")
        return _update_or_rebuild(job)
    except StoreDamaged as damage:
        aside = files.set_aside(job.index_file)
        report = _update_or_rebuild(job)
        note = f"{damage.what}; it was set aside as {aside.name} and rebuilt"
        reason = "foreign" if isinstance(damage, StoreForeign) else "damaged"
        return replace(report, rebuilt=report.rebuilt or reason, warnings=(note, *report.warnings))


def _inode_of(path: Path) -> int:
    try:
        return path.stat().st_ino
    except OSError:
        return 0


def _update_or_rebuild(job: Job) -> Report:
    with Index.writer(job.index_file, identity_of(job.settings)) as index:
        reason = reason_to_rebuild(index, job.settings, force=job.force)
        if not reason:
            report = _update(job, index)
            if report.changed and not report.pending:
                cache.prune(index.connection, job.settings.cache.max_entries)
            return report
    return _rebuild(job, reason)


def _rebuild(job: Job, reason: str) -> Report:
    """Build a new index beside the old one, which serves until the new one has all words.

    It takes over the vectors of the old one. What lacks one is embedded once the new index serves.
    """
    wanted, limits = identity_of(job.settings), job.settings.cache
    with files.temporary_index(job.index_file) as temporary:
        with Index.writer(temporary, wanted) as fresh, job.reader() as old:
            if limits.enabled:
                cache.copy_from(fresh.connection, job.index_file)
            with transaction(fresh.connection):
                fresh.cache_vectors(old)
            report = _update(job, fresh, replacing=old)
            if report.unindexed:  # the old index serves on
                hint = f"settings changed, 'memlines sync' rebuilds the index: {reason}"
                return Report(unindexed=report.unindexed, warnings=(hint,))
            known = _take_over_spaces(old, fresh)
            cache.prune(fresh.connection, limits.max_entries if limits.enabled else 0)
            report = replace(report, pending=_count_pending(job, fresh), vectors_cached=known)
            if old.origin == "shared":  # its maker still recognises it
                files.take_over_marks(old.connection, fresh.connection)
            else:
                files.mark_origin(fresh.connection, job.index_file)
            fresh.connection.execute("VACUUM")  # the cache is empty where the vectors were on their way
        files.swap_in(temporary, job.index_file)
    return replace(report, rebuilt=reason)


def _take_over_spaces(old: Index, fresh: Index) -> int:
    """Give a new index the spaces of the old one, and return how many vectors its chunks got."""
    known = 0
    for entry in old.state.spaces:
        spaces.add(fresh.connection, entry.space, entry.state, entry.note, entry.answers_as, entry.dims)
        known += put_known(fresh, entry.space)
        background = old.vectors_in(entry.space).background()
        if background is not None:
            fresh.vectors_in(entry.space).set_background(background)
    spaces.decline(fresh.connection, old.state.declined)
    cache.copy_batches(old.connection, fresh.connection)
    return known


def _count_pending(job: Job, index: Index) -> int:
    return index.count_pending(space_of(job.provider)) if job.provider else 0


def _update(job: Job, index: Index, *, replacing: Index | None = None) -> Report:
    discovery = find_files(job.workspace, job.settings, job.heads)
    doubtful, known = doubtful_files(discovery, index)
    if not doubtful and replacing is None and index.count_known() == len(discovery.files):
        index.note(SYNCED, datetime.now(UTC).isoformat(timespec="seconds"))
        return Report(
            unchanged=len(discovery.files),
            pending=_count_pending(job, index),
            skipped=tuple(problem for problem in discovery.problems if not problem.failed),
            failed=tuple(problem for problem in discovery.problems if problem.failed),
        )
    # What cuts texts and takes them apart takes time to import, and mostly nothing changed.
    from memlines.index.sync.words import keep_unseen, update_words

    changes = update_words(job, index, discovery, doubtful, known)
    if changes.left:
        return Report(tuple(changes.indexed), changes.unchanged, unindexed=changes.left)
    if replacing is not None:
        brake = not job.force and covers_same_files(replacing.identity(), index.identity())
        keep_unseen(replacing, index, discovery, changes, brake=brake)
    warnings = changes.warnings
    if not changes.held_back:
        index.note(SYNCED, datetime.now(UTC).isoformat(timespec="seconds"))
    else:
        if replacing is not None and replacing.state.synced_at:
            index.note(SYNCED, replacing.state.synced_at)
        gone = (
            f"{len(changes.held_back)} of {index.count_files()} indexed files are gone at once; in case a"
            " disk is not mounted or a folder was moved, they stay in the index until 'memlines sync --force'"
            " removes them"
        )
        warnings = [gone, *warnings]
    problems = [*discovery.problems, *changes.problems]
    return Report(
        indexed=tuple(changes.indexed),
        unchanged=changes.unchanged,
        removed=tuple(changes.removed),
        pending=_count_pending(job, index),
        skipped=tuple(problem for problem in problems if not problem.failed),
        failed=tuple(problem for problem in problems if problem.failed),
        warnings=tuple(warnings),
        held_back=len(changes.held_back),
    )
