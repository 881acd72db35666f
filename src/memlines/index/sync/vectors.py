"""Embed what waits in an index that is in use, without keeping anybody from it.

The writer lock is held only while a group is written, so another process gets its words in between
two groups. Another lock is held all the while by the one process that embeds, so that two do not
embed the same chunks; who does not get it leaves the vectors to the holder.

Vectors of another model than the one that answers go into a space of their own. When it is filled, both
change places; until then every search is answered by the old one.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace

from memlines.embed.base import Provider
from memlines.errors import EmbeddingError, SpendLimit, StoreBusy
from memlines.index.store.sqlite import cache, spaces
from memlines.index.store.sqlite.index import Index
from memlines.index.sync.identity import space_of
from memlines.index.sync.job import Job, reader_of, writer_of
from memlines.index.sync.pending import Batched, Outcome, Place, embed_pending
from memlines.index.sync.waiting import count_to_do
from memlines.types import Report

_HOLDER_WAIT = 5.0
"""Seconds for which a whole sync waits for another process that embeds: long enough for one that only
gives vectors to a few chunks before a search."""

_WRITE_WAIT = 5.0
_WRITE_TRY = 1.0
"""Seconds for which a group waits to be written at least, and after which `progress` is asked to go on."""


def add_vectors(job: Job, report: Report, wait_seconds: float, note: str = "") -> Report:
    """Give vectors to what a sync left pending, as far as its limit goes; return the report with that.

    `wait_seconds` is how long to wait for others; `StoreBusy` is raised if another process embeds. If the
    provider cannot embed anything and there is a fallback, that does it; `note` then says why.
    """
    provider, is_first = job.provider, True
    while provider is not None and _may_embed(job) and _is_to_do(job, provider, report):
        outcome, switched = _embed(job, provider, wait_seconds, note, is_first=is_first)
        is_first = False
        with reader_of(job.index_file) as index:
            if spaces.declined(index.connection) == space_of(provider):
                stopped = f"the change to {space_of(provider)} was stopped"
                return replace(report, pending=0, warnings=(*report.warnings, stopped))
            pending = index.count_pending(space_of(provider))
            report = replace(
                report,
                pending=pending,
                switched=switched or report.switched,
                vectors_made=report.vectors_made + outcome.written - outcome.cached,
                vectors_cached=report.vectors_cached + outcome.cached,
            )
        unmade = outcome.refused + outcome.left
        done = not outcome.written or pending <= unmade or job.is_hurried
        if done or outcome.stopped:
            report = replace(report, warnings=(*report.warnings, *_warnings(outcome)))
            return _by_fallback(job, report, outcome, wait_seconds)
        # Another process added chunks and left them to us before we let go of the lock: once more.
    _forget_dead_holder(job)
    return report


def give_up_unwanted(job: Job, wait_seconds: float) -> None:
    """Give up spaces that were to be filled and are not wanted any more, unless another process fills one."""
    if job.provider is None:
        return
    wanted = space_of(job.provider)
    with reader_of(job.index_file) as index:
        if not spaces.has_unfinished(index.connection, wanted):
            return
    with suppress(StoreBusy), job.lock(".embedding").held(0), _writing(job, wait_seconds) as index:
        spaces.drop_unfinished(index.connection, wanted)


def _may_embed(job: Job) -> bool:
    return job.embed_limit != 0 and not job.is_late()


def _is_to_do(job: Job, provider: Provider, report: Report) -> bool:
    if report.pending:
        return True
    with reader_of(job.index_file) as index:
        return count_to_do(index, provider) > 0


def _by_fallback(job: Job, report: Report, outcome: Outcome, wait_seconds: float) -> Report:
    """Let the fallback embed what the provider could not, if it could not embed anything."""
    reason = outcome.reason
    if job.fallback is None or reason is None or outcome.written or not outcome.stopped:
        return report
    if isinstance(reason, SpendLimit):  # what is too much for one is not given to another
        return report
    try:
        other = job.fallback()
    except EmbeddingError as error:
        return replace(report, warnings=(*report.warnings, f"the fallback cannot help: {error}"))
    with reader_of(job.index_file) as index:
        now = spaces.serving(index.connection)
    helped = {space_of(other), space_of(job.provider) if job.provider else None}
    if now is not None and now.space not in helped:
        return report  # the model before still answers, and nothing of what is paid is given up
    return add_vectors(replace(job, provider=other, fallback=None), report, wait_seconds, str(reason))


def _embed(
    job: Job, provider: Provider, wait_seconds: float, note: str, *, is_first: bool
) -> tuple[Outcome, str]:
    wait = 0.0 if job.is_hurried else min(wait_seconds, _HOLDER_WAIT)
    lock = job.lock(".embedding")
    with ExitStack() as held:
        try:
            held.enter_context(lock.held(wait))
        except StoreBusy:
            raise StoreBusy(f"the missing vectors are being made by {lock.holder()}") from None
        if is_first and provider.meter is not None:
            provider.meter.begin_run()
        place = Place(lambda: reader_of(job.index_file), lambda: _writing(job, wait_seconds))
        batched = _batched(job, place, provider)
        outcome = embed_pending(
            place,
            provider,
            leave=batched.waiting,
            use_cache=job.settings.cache.enabled,
            limit=job.embed_limit,
            deadline=job.deadline,
            progress=job.progress,
            group=job.group,
            note=note,
        )
        outcome.written += batched.written
        outcome.cached += batched.cached
        outcome.reason = outcome.reason or batched.reason
        with _writing(job, wait_seconds) as index:
            switched = _switched(index, provider, outcome)
            if outcome.written or switched:
                cache.prune(index.connection, job.settings.cache.max_entries)
                index.vectors.save_matrix()
    return outcome, switched


def _batched(job: Job, place: Place, provider: Provider) -> Batched:
    """Let batches embed what they can; a search, which embeds a few chunks only, just stays out of them."""
    if provider.meter is None:  # who costs nothing has no batches
        return Batched()
    from memlines.index.sync.by_batches import embed_in_batches, in_batches

    if job.is_hurried:
        return Batched(in_batches(place, provider))
    return embed_in_batches(place, provider, job.settings.embeddings.batch, job.progress)


def _switched(index: Index, provider: Provider, outcome: Outcome) -> str:
    """Let a space that is filled take over, and say so; chunks that were refused do not hold it up."""
    space = space_of(provider)
    entry, old = spaces.entry_of(index.connection, space), spaces.serving(index.connection)
    if entry is None or old is None or entry.state != "filling" or outcome.stopped:
        return ""
    if index.count_pending(space) > outcome.refused:
        return ""
    spaces.serve(index.connection, space)
    return f"from {old.space} to {space}"


def _forget_dead_holder(job: Job) -> None:
    """Remove what a process that was killed while it embedded left behind."""
    lock = job.lock(".embedding")
    if lock.path.with_name(lock.path.name + ".holder").exists():
        with suppress(StoreBusy), lock.held(0):
            return


def _warnings(outcome: Outcome) -> tuple[str, ...]:
    return (*_left(outcome), *_failed(outcome))


def _left(outcome: Outcome) -> tuple[str, ...]:
    if not outcome.left:
        return ()
    return (f"{outcome.left} chunks wait for a batch, which a later sync fetches; words find them meanwhile",)


def _failed(outcome: Outcome) -> tuple[str, ...]:
    if outcome.reason is None:
        return ()
    if outcome.stopped or not outcome.refused:
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
