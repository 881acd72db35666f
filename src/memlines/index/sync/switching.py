"""Stop a change of model, take it back, or go on with it.

The settings say which model is wanted. Whoever stops or takes back a change declines that model: its
vectors are not made any more until the change is resumed, or the settings want another one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from memlines.errors import UsageError
from memlines.index.store.sqlite import spaces
from memlines.index.store.sqlite.index import Index
from memlines.index.sync.identity import space_of
from memlines.index.sync.job import Job, writer_of
from memlines.types import Space

_WAIT = 10.0
"""Seconds to wait for another writer; a sync that fills the new space lets others write in between."""


def cancel(job: Job) -> Space:
    """Give up the space that is being filled; what answers so far goes on. Return what was given up."""
    with _writing(job) as index:
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
    with _writing(job) as index:
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
    with _writing(job) as index:
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
    with _writing(job) as index:
        spaces.empty(index.connection, space)
    return space


@contextmanager
def _writing(job: Job) -> Iterator[Index]:
    if not job.index_file.exists():
        raise UsageError("there is no index yet", todo="Run 'memlines sync'")
    with job.lock().held(_WAIT), writer_of(job.index_file, {}) as index:
        yield index


def _in_state(index: Index, state: spaces.State) -> spaces.SpaceEntry | None:
    return next((entry for entry in spaces.entries(index.connection) if entry.state == state), None)
