"""One sync: under the writer lock, from what is on disk to an index that equals it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from recollect.embed.base import Provider
from recollect.errors import StoreDamaged
from recollect.files.lock import WriterLock
from recollect.files.private import ensure_folder, ensure_private
from recollect.files.scan import discover
from recollect.paths import Workspace
from recollect.settings import Settings
from recollect.store.sqlite import cache
from recollect.store.sqlite.health import set_aside
from recollect.store.sqlite.index import Index
from recollect.store.sqlite.rebuild import swap_in, sweep, temporary_index
from recollect.sync.identity import WORDS_ONLY, difference, identity_of, same_space
from recollect.sync.pending import carry_vectors, embed_pending
from recollect.sync.update import keep_unreadable, update_words
from recollect.types import Progress, Report


@dataclass(frozen=True, slots=True)
class Job:
    """What to bring up to date, and how."""

    workspace: Workspace
    settings: Settings
    provider: Provider | None
    index_file: Path
    progress: Progress
    force: bool = False
    embed_limit: int | None = None
    damaged_inode: int | None = None
    """The index file that a reader found damaged; another process may have replaced it since."""

    @property
    def model(self) -> str:
        """The model's name as chunks carry it."""
        return self.provider.model if self.provider else WORDS_ONLY


def run(job: Job, wait_seconds: float) -> Report:
    """Bring the index up to date; what cannot be indexed is in the report."""
    ensure_private(job.workspace)
    ensure_folder(job.index_file.parent)
    lock = WriterLock(job.index_file.with_name(job.index_file.name + ".lock"))

    def waiting(holder: str) -> None:
        job.progress(0, 1, f"waiting for {holder}")

    with lock.held(wait_seconds, waiting):
        sweep(job.index_file)
        try:
            _refuse_damaged(job)
            return _sync(job)
        except StoreDamaged as damage:
            aside = set_aside(job.index_file)
            report = _sync(job)
            note = f"{damage.what}; it was set aside as {aside.name} and built anew"
            return replace(report, rebuilt=report.rebuilt or "damaged", warnings=(note, *report.warnings))


def _refuse_damaged(job: Job) -> None:
    """Raise if the index is still the one that a reader found damaged where nobody else looks."""
    if job.damaged_inode is None or not job.index_file.exists():
        return
    if job.index_file.stat().st_ino == job.damaged_inode:
        raise StoreDamaged(f"the index {str(job.index_file)!r} is damaged")


def _sync(job: Job) -> Report:
    wanted = identity_of(job.settings, job.provider)
    with _writer(job.index_file, wanted) as index, index.errors():
        reason = difference(index.identity(), wanted)
        if job.force and not reason and index.synced_at:
            reason = "forced"
        if not reason:
            report = _update(job, index)
            index.vectors.save_matrix()
            return report
    return _rebuild(job, reason)


def _rebuild(job: Job, reason: str) -> Report:
    """Build a new index beside the old one, which serves until the new one is whole."""
    wanted = identity_of(job.settings, job.provider)
    with temporary_index(job.index_file) as temporary:
        with _writer(temporary, wanted) as fresh, fresh.errors(), _reader(job.index_file) as old:
            _carry_over(job, old, fresh)
            try:
                report = _update(job, fresh, replacing=old)
            except BaseException:
                _keep_vectors(job, temporary, wanted_by=fresh)
                raise
        swap_in(temporary, job.index_file)
    with _writer(job.index_file, wanted) as index, index.errors():
        index.vectors.save_matrix()
    return replace(report, rebuilt=reason)


def _carry_over(job: Job, old: Index, fresh: Index) -> None:
    """Take over what the old index has embedded."""
    if not job.settings.cache.enabled:
        return
    cache.copy_from(fresh.connection, job.index_file)
    if job.provider is not None and same_space(old.identity(), fresh.identity()):
        carry_vectors(old, fresh)


def _keep_vectors(job: Job, temporary: Path, *, wanted_by: Index) -> None:
    """Save what was embedded before a rebuild failed, so that the next one does not pay for it again."""
    if wanted_by.connection.in_transaction:
        return
    with _writer(job.index_file, {}) as index:
        cache.copy_from(index.connection, temporary)


def _update(job: Job, index: Index, *, replacing: Index | None = None) -> Report:
    settings = job.settings
    discovery = discover(job.workspace, settings.extra_paths, settings.files.max_bytes, settings.sources)
    changes = update_words(index, discovery, settings, job.model, job.progress)
    if replacing is not None:
        keep_unreadable(replacing, index, discovery, changes, job.model)
    warnings: tuple[str, ...] = ()
    if job.provider is not None:
        failure = embed_pending(
            index,
            job.provider,
            use_cache=settings.cache.enabled,
            limit=job.embed_limit,
            progress=job.progress,
        )
        if failure is not None and replacing is not None:
            raise failure
        warnings = (str(failure),) if failure else ()
        cache.prune(index.connection, settings.cache.max_entries)
    index.mark_synced(datetime.now(UTC).isoformat(timespec="seconds"))
    problems = [*discovery.problems, *changes.problems]
    return Report(
        indexed=tuple(changes.indexed),
        unchanged=changes.unchanged,
        removed=tuple(changes.removed),
        pending=index.count_pending() if job.provider else 0,
        skipped=tuple(problem for problem in problems if not problem.failed),
        failed=tuple(problem for problem in problems if problem.failed),
        warnings=warnings,
    )


@contextmanager
def _reader(path: Path) -> Iterator[Index]:
    index = Index.reader(path)
    if index is None:
        raise StoreDamaged(f"the index {str(path)!r} has gone")
    try:
        yield index
    finally:
        index.close()


@contextmanager
def _writer(path: Path, identity: dict[str, object]) -> Iterator[Index]:
    index = Index.writer(path, identity)
    try:
        yield index
    finally:
        index.close()
