"""Give vectors to the chunks of an index that is in use, and change from one model to another.

The writer lock is held only while a group is written, so another process writes its words between two
groups. Another lock is held all the while by the one process that embeds, so that two do not embed the
same chunks; a process that does not get it leaves the vectors to the holder.

Vectors of another model than the one that answers go into a space of their own. When it is filled, both
change places; until then every search is answered by the old one. The settings say which model is wanted.
A person who stops or takes back a change declines that model: its vectors are not made any more until the
change is resumed, or the settings want another one.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace

from memlines.embed.base import Provider
from memlines.embed.select import former_provider, make_provider
from memlines.errors import EmbeddingError, SpendLimit, StoreBusy, UsageError
from memlines.index.store.sqlite import cache, spaces
from memlines.index.store.sqlite.index import Index
from memlines.index.sync.job import Job, count_to_do, space_of
from memlines.index.sync.pending import Outcome, cache_spaces, embed_pending
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
    while provider is not None and job.embed_limit != 0 and not job.is_late():
        space = space_of(provider)
        if not report.pending:
            with job.reader() as index:
                if not count_to_do(index, provider):
                    break
        outcome, switched = _embed(job, provider, note, is_first=is_first)
        is_first = False
        with job.reader() as index:
            if index.state.declined == space:
                stopped = f"the change to {space} was stopped"
                return replace(report, pending=0, warnings=(*report.warnings, stopped))
            pending = index.count_pending(space)
        report = replace(
            report,
            pending=pending,
            switched=switched or report.switched,
            vectors_made=report.vectors_made + outcome.written - outcome.cached,
            vectors_cached=report.vectors_cached + outcome.cached,
        )
        is_done = not outcome.written or pending <= outcome.refused + outcome.left or job.is_limited
        if is_done or outcome.stopped:
            report = replace(report, warnings=(*report.warnings, *_warnings(outcome)))
            return _use_fallback(job, report, outcome)
        # Another process added chunks and left them to us before we let go of the lock: once more.
    return report


def _embed(job: Job, provider: Provider, note: str, *, is_first: bool) -> tuple[Outcome, str]:
    """Embed what waits, alone among all processes; return also the change of model that it led to."""
    lock = job.lock(".embedding")
    with ExitStack() as held:
        try:
            held.enter_context(lock.held(0.0 if job.is_limited else min(job.wait_seconds, _HOLDER_WAIT)))
        except StoreBusy:
            raise StoreBusy(f"the missing vectors are being made by {lock.holder()}") from None
        outcome = Outcome()
        if provider.meter is not None:  # what costs nothing has no batches
            from memlines.index.sync.batches import embed_in_batches, texts_in_batches

            if is_first:
                provider.meter.begin_run()
            if job.is_limited:  # a search embeds a few chunks only, and just stays out of batches
                outcome.in_batches = texts_in_batches(job, provider)
            else:
                outcome = embed_in_batches(job, provider)
        of_batches, outcome.reason = outcome.reason, None
        embed_pending(job, provider, outcome, note)
        outcome.reason = outcome.reason or of_batches
        space, switched = space_of(provider), ""
        with job.writer() as index:
            entry, old = index.state.entry_of(space), index.state.serving
            is_filling = entry is not None and entry.state == "filling" and not outcome.stopped
            # Chunks that were refused do not keep a filled space from taking over.
            if old is not None and is_filling and index.count_pending(space) <= outcome.refused:
                cache_spaces(job, index, "kept")
                spaces.serve(index.connection, space)
                switched = f"from {old.space} to {space}"
            if outcome.written or switched:
                cache.prune(index.connection, job.settings.cache.max_entries)
    return outcome, switched


def _warnings(outcome: Outcome) -> Iterator[str]:
    if outcome.left:
        yield f"{outcome.left} chunks wait for a batch, which a later sync fetches; words find them meanwhile"
    if outcome.reason is not None and (outcome.stopped or not outcome.refused):
        yield str(outcome.reason)
    elif outcome.reason is not None:
        chunks = "1 chunk was" if outcome.refused == 1 else f"{outcome.refused} chunks were"
        yield f"{chunks} not embedded and can be found by words only: {outcome.reason}"


def _use_fallback(job: Job, report: Report, outcome: Outcome) -> Report:
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
        now = index.state.serving
    replaced = {space_of(other), space_of(job.provider) if job.provider else None}
    if now is not None and now.space not in replaced:
        return report  # the model before still answers, and nothing of what is paid is given up
    return add_vectors(replace(job, provider=other, fallback=""), report, str(reason))


def drop_unwanted_spaces(job: Job) -> None:
    """Give up spaces that are half filled and not wanted any more, unless another process fills one."""
    if job.provider is None:
        return
    wanted = space_of(job.provider)
    with job.reader() as index:
        filling = index.state.entry_in("filling")
    # One that replaces another model for a reason is left to it.
    if filling is not None and filling.space != wanted and not filling.note:
        with suppress(StoreBusy), job.lock(".embedding").held(0), job.writer() as index:
            if index.state.entry_in("filling") == filling:
                cache_spaces(job, index, "filling")
                spaces.drop_filling(index.connection)


def cancel(job: Job) -> Space:
    """Give up the space that is being filled; the model that answers stays. Return what was given up."""
    with _existing_index(job) as index:
        filling = index.state.entry_in("filling")
        if filling is None:
            raise UsageError(
                "no change of model is under way", todo="'memlines model' shows which models there are"
            )
        spaces.decline(index.connection, filling.space)
        cache_spaces(job, index, "filling")
        spaces.drop_filling(index.connection)
        return filling.space


def roll_back(job: Job) -> Space:
    """Answer with the vectors that were used before the last change again; return their space."""
    with _existing_index(job) as index:
        kept, now = index.state.entry_in("kept"), index.state.serving
        if kept is None or now is None:
            raise UsageError(
                "there is no earlier model to go back to",
                todo="Set embeddings.provider and embeddings.model, then run 'memlines sync'",
            )
        provider = former_provider(kept.space, job.settings)
        if provider is None or space_of(provider) != kept.space:
            raise UsageError(
                f"{kept.space} cannot be asked any more, so its vectors could not answer",
                todo="Name it in embeddings.provider, as the first or as the fallback, with its key",
            )
        spaces.decline(index.connection, now.space)
        cache_spaces(job, index, "filling")
        spaces.serve(index.connection, kept.space)
        return kept.space


def resume(job: Job) -> Space:
    """Want a model again that was declined; the next sync continues with it. Return its space."""
    with _existing_index(job) as index:
        declined = index.state.declined
        if declined is None:
            raise UsageError("no change of model was stopped", todo="'memlines sync' makes what is missing")
        spaces.decline(index.connection, None)
        return declined


def renew(job: Job) -> Space:
    """Give up all vectors of the model that is wanted, those in the cache as well, to make them again."""
    if job.provider is None:
        raise UsageError("there is no model to make vectors with", todo="Set embeddings.provider")
    space = space_of(job.provider)
    with _existing_index(job) as index:
        spaces.empty(index.connection, space)
    return space


@contextmanager
def _existing_index(job: Job) -> Iterator[Index]:
    if not job.index_file.exists():
        raise UsageError("there is no index yet", todo="Run 'memlines sync'")
    with job.writer() as index:
        yield index
