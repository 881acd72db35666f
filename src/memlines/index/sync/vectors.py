"""Embed what waits in an index that is in use, without keeping anybody from it.

The writer lock is held only while a group is written, so another process gets its words in between
two groups. Another lock is held all the while by the one process that embeds, so that two do not
embed the same chunks; who does not get it leaves the vectors to the holder.

Vectors of another model than the one that answers go into a space of their own. When it is filled, both
change places; until then every search is answered by the old one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace

from memlines.embed.base import Provider
from memlines.embed.select import make_provider
from memlines.errors import EmbeddingError, SpendLimit, StoreBusy, UsageError
from memlines.index.store.sqlite import cache, spaces
from memlines.index.store.sqlite.index import Index
from memlines.index.sync.identity import count_to_do, space_of
from memlines.index.sync.job import Job, writer_of
from memlines.index.sync.pending import Batched, Outcome, embed_pending
from memlines.types import Report, Space

_HOLDER_WAIT = 5.0
"""Seconds for which a whole sync waits for another process that embeds: long enough for one that only
gives vectors to a few chunks before a search."""


def add_vectors(job: Job, report: Report, note: str = "") -> Report:
    """Give vectors to what a sync left pending, as far as its limit goes; return the report with that.

    `StoreBusy` is raised if another process embeds. If the provider cannot embed anything and there is a
    fallback, that does it; `note` then says why.
    """
    provider, is_first = job.provider, True
    while provider is not None and _may_embed(job) and _is_to_do(job, provider, report):
        outcome, switched = _embed(job, provider, note, is_first=is_first)
        is_first = False
        with job.reader() as index:
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
            return _by_fallback(job, report, outcome)
        # Another process added chunks and left them to us before we let go of the lock: once more.
    _forget_dead_holder(job)
    return report


def give_up_unwanted(job: Job) -> None:
    """Give up spaces that were to be filled and are not wanted any more, unless another process fills one."""
    if job.provider is None:
        return
    wanted = space_of(job.provider)
    with job.reader() as index:
        if not spaces.has_unfinished(index.connection, wanted):
            return
    with suppress(StoreBusy), job.lock(".embedding").held(0), job.writer() as index:
        spaces.drop_unfinished(index.connection, wanted)


def _may_embed(job: Job) -> bool:
    return job.embed_limit != 0 and not job.is_late()


def _is_to_do(job: Job, provider: Provider, report: Report) -> bool:
    if report.pending:
        return True
    with job.reader() as index:
        return count_to_do(index, provider) > 0


def _by_fallback(job: Job, report: Report, outcome: Outcome) -> Report:
    """Let the fallback embed what the provider could not, if it could not embed anything."""
    reason = outcome.reason
    if not job.fallback or reason is None or outcome.written or not outcome.stopped:
        return report
    if isinstance(reason, SpendLimit):  # what is too much for one is not given to another
        return report
    try:
        other = make_provider(job.fallback, job.settings)
    except EmbeddingError as error:
        return replace(report, warnings=(*report.warnings, f"the fallback cannot help: {error}"))
    with job.reader() as index:
        now = spaces.serving(index.connection)
    helped = {space_of(other), space_of(job.provider) if job.provider else None}
    if now is not None and now.space not in helped:
        return report  # the model before still answers, and nothing of what is paid is given up
    return add_vectors(replace(job, provider=other, fallback=""), report, str(reason))


def _embed(job: Job, provider: Provider, note: str, *, is_first: bool) -> tuple[Outcome, str]:
    wait = 0.0 if job.is_hurried else min(job.wait_seconds, _HOLDER_WAIT)
    lock = job.lock(".embedding")
    with ExitStack() as held:
        try:
            held.enter_context(lock.held(wait))
        except StoreBusy:
            raise StoreBusy(f"the missing vectors are being made by {lock.holder()}") from None
        if is_first and provider.meter is not None:
            provider.meter.begin_run()
        batched = _batched(job, provider)
        outcome = embed_pending(
            job,
            provider,
            leave=batched.waiting,
            note=note,
        )
        outcome.written += batched.written
        outcome.cached += batched.cached
        outcome.reason = outcome.reason or batched.reason
        with job.writer() as index:
            switched = _switched(index, provider, outcome)
            if outcome.written or switched:
                cache.prune(index.connection, job.settings.cache.max_entries)
                index.vectors.save_matrix()
    return outcome, switched


def _batched(job: Job, provider: Provider) -> Batched:
    """Let batches embed what they can; a search, which embeds a few chunks only, just stays out of them."""
    if provider.meter is None:  # who costs nothing has no batches
        return Batched()
    from memlines.index.sync.batches import embed_in_batches, in_batches

    if job.is_hurried:
        return Batched(in_batches(job, provider))
    return embed_in_batches(job, provider)


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


_WAIT = 10.0
"""Seconds to wait for another writer; a sync that fills the new space lets others write in between."""


def cancel(job: Job) -> Space:
    """Give up the space that is being filled; what answers so far goes on. Return what was given up."""
    with _changing(job) as index:
        filling = _in_state(index, "filling")
        if filling is None:
            raise UsageError(
                "no change of model is under way", todo="'memlines model' shows which models there are"
            )
        spaces.decline(index.connection, filling.space)
        spaces.drop(index.connection, filling.space)
        return filling.space


def roll_back(job: Job, can_ask: Callable[[Space], bool]) -> Space:
    """Answer with the vectors that were used before the last change again; return their space."""
    with _changing(job) as index:
        kept, now = _in_state(index, "kept"), spaces.serving(index.connection)
        if kept is None or now is None:
            raise UsageError(
                "there is no earlier model to go back to",
                todo="Set embeddings.provider and embeddings.model, then run 'memlines sync'",
            )
        if not can_ask(kept.space):
            raise UsageError(
                f"{kept.space} cannot be asked any more, so its vectors could not answer",
                todo="Name it in embeddings.provider, as the first or as the fallback, with its key",
            )
        spaces.decline(index.connection, now.space)
        spaces.serve(index.connection, kept.space)
        index.vectors.save_matrix()
        return kept.space


def resume(job: Job) -> Space:
    """Want a model again that was declined; the next sync goes on with it. Return its space."""
    with _changing(job) as index:
        declined = spaces.declined(index.connection)
        if declined is None:
            raise UsageError("no change of model was stopped", todo="'memlines sync' makes what is missing")
        spaces.decline(index.connection, None)
        return declined


def renew(job: Job) -> Space:
    """Give up all vectors of the model that is wanted, those in the cache as well, to have them made anew."""
    if job.provider is None:
        raise UsageError("there is no model whose vectors could be made anew", todo="Set embeddings.provider")
    space = space_of(job.provider)
    with _changing(job) as index:
        spaces.empty(index.connection, space)
    return space


@contextmanager
def _changing(job: Job) -> Iterator[Index]:
    if not job.index_file.exists():
        raise UsageError("there is no index yet", todo="Run 'memlines sync'")
    with job.lock().held(_WAIT), writer_of(job.index_file, {}) as index:
        yield index


def _in_state(index: Index, state: spaces.State) -> spaces.SpaceEntry | None:
    return next((entry for entry in spaces.entries(index.connection) if entry.state == state), None)
