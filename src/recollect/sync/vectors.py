"""Embed what waits in an index that is in use, without keeping anybody from it.

The writer lock is held only while a group is written, so another process gets its words in between
two groups. Another lock is held all the while by the one process that embeds, so that two do not
embed the same chunks; who does not get it leaves the vectors to the holder.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace

from recollect.embed.base import Provider
from recollect.errors import StoreBusy
from recollect.store.sqlite import cache
from recollect.store.sqlite.index import Index
from recollect.sync.job import Job, reader_of, writer_of
from recollect.sync.pending import Outcome, Place, embed_pending
from recollect.types import Report

_HOLDER_WAIT = 5.0
"""Seconds for which a whole sync waits for another process that embeds: long enough for one that only
gives vectors to a few chunks before a search."""

_WRITE_WAIT = 5.0
_WRITE_TRY = 1.0
"""Seconds for which a group waits to be written at least, and after which `progress` is asked to go on."""


def add_vectors(job: Job, report: Report, wait_seconds: float) -> Report:
    """Give vectors to what a sync left pending, as far as its limit goes; return the report with that.

    `wait_seconds` is how long to wait for others; `StoreBusy` is raised if another process embeds.
    """
    provider = job.provider
    while provider is not None and report.pending and job.embed_limit != 0:
        outcome = _embed(job, provider, wait_seconds)
        with reader_of(job.index_file) as index:
            report = replace(report, pending=index.count_pending())
        done = not outcome.written or report.pending <= outcome.refused or job.embed_limit is not None
        if done or outcome.stopped:
            return replace(report, warnings=(*report.warnings, *_warnings(outcome)))
        # Another process added chunks and left them to us before we let go of the lock: once more.
    _forget_dead_holder(job)
    return report


def _embed(job: Job, provider: Provider, wait_seconds: float) -> Outcome:
    wait = min(wait_seconds, _HOLDER_WAIT) if job.embed_limit is None else 0.0
    lock = job.lock(".embedding")
    with ExitStack() as held:
        try:
            held.enter_context(lock.held(wait))
        except StoreBusy:
            raise StoreBusy(f"the missing vectors are being made by {lock.holder()}") from None
        place = Place(lambda: reader_of(job.index_file), lambda: _writing(job, wait_seconds))
        outcome = embed_pending(
            place,
            provider,
            use_cache=job.settings.cache.enabled,
            limit=job.embed_limit,
            progress=job.progress,
            group=job.group,
        )
        if outcome.written:
            with _writing(job, wait_seconds) as index:
                cache.prune(index.connection, job.settings.cache.max_entries)
                index.vectors.save_matrix()
    return outcome


def _forget_dead_holder(job: Job) -> None:
    """Remove what a process that was killed while it embedded left behind."""
    lock = job.lock(".embedding")
    if lock.path.with_name(lock.path.name + ".holder").exists():
        with suppress(StoreBusy), lock.held(0):
            return


def _warnings(outcome: Outcome) -> tuple[str, ...]:
    if outcome.reason is None:
        return ()
    if outcome.stopped:
        return (str(outcome.reason),)
    chunks = "1 chunk was" if outcome.refused == 1 else f"{outcome.refused} chunks were"
    return (f"{chunks} not embedded and can be found by words only: {outcome.reason}",)


@contextmanager
def _writing(job: Job, wait_seconds: float) -> Iterator[Index]:
    """Hold the writer lock for a moment."""
    lock = job.lock()
    give_up = time.monotonic() + max(wait_seconds, _WRITE_WAIT)
    with ExitStack() as held:
        while True:
            try:
                held.enter_context(lock.held(_WRITE_TRY))
                break
            except StoreBusy:
                if time.monotonic() > give_up:
                    raise
                job.progress(0, 1, f"waiting for {lock.holder()}")
        yield held.enter_context(writer_of(job.index_file, {}))
