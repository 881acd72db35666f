"""What has to be known about batches after a crash, kept in the index."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import astuple

from memlines.index.store.sqlite import cache
from memlines.index.store.sqlite.cache import Submitted
from memlines.index.store.sqlite.db import transaction
from memlines.index.store.sqlite.index import Index
from memlines.index.sync.job import Job
from memlines.records import dataclass
from memlines.types import Space

MOST_FAILURES = 2
"""Failures in a row after which no batch is submitted for a day."""
PAUSE_SECONDS = 86_400.0

_FAILURES = "batch_failures"


@dataclass(frozen=True, slots=True)
class Failures:
    """How many batches in a row came to nothing, and when the last one did, in seconds since 1970."""

    count: int = 0
    at: float = 0.0
    error: str = ""
    """Why the last one did."""

    def recent(self, now: float) -> int:
        """Return how many there are that still count: a day after the last one, batches are tried again."""
        return self.count if now - self.at < PAUSE_SECONDS else 0


class BatchJournal:
    """The journal of one vector space; every call opens the index for a moment, so that no one waits for it.

    A call returns when what it writes will survive the end of the process.
    """

    def __init__(self, job: Job, space: Space) -> None:
        self._job = job
        self._space = space

    def submitted(self) -> list[Submitted]:
        """Return the batches that were noted and not dropped, oldest first."""
        with self._job.reader() as index:
            return cache.submitted_batches(index.connection, self._space)

    def note(self, batch: Submitted) -> None:
        """Write a batch down, replacing what was noted with the same token."""
        with self._job.writer() as index:
            cache.put_batch(index.connection, self._space, batch)

    def drop(self, token: str) -> None:
        """Forget a batch."""
        with self._job.writer() as index:
            cache.drop_batch(index.connection, token)

    def failures(self) -> Failures:
        """Return the failures that were noted last; none if there never were any."""
        with self._job.reader() as index:
            return failures_of(index, self._space)

    def note_failures(self, failures: Failures) -> None:
        """Write these failures down, replacing the ones before."""
        with self._job.writer() as index:
            known = json.loads(index.state.meta.get(_FAILURES) or "{}")
            known[str(self._space)] = astuple(failures)
            index.note(_FAILURES, json.dumps(known))

    def keep(self, vectors: Mapping[str, bytes]) -> None:
        """Put vectors, by the hashes of their texts, into the cache."""
        dims = len(next(iter(vectors.values())))
        with self._job.writer() as index, transaction(index.connection):
            cache.remember(index.connection, self._space, vectors, dims)


def failures_of(index: Index, space: Space) -> Failures:
    """Return how many batches of a space failed in a row."""
    return Failures(*json.loads(index.state.meta.get(_FAILURES) or "{}").get(str(space), ()))
