"""What has to be known about batches after a crash, kept in the index."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import astuple

from memlines.embed.batches.journal import Failures, Handed
from memlines.index.store.sqlite.cache import drop_batch, put_batch, waiting_batches
from memlines.index.store.sqlite.index import Index
from memlines.types import Space

_FAILURES = "batch_failures"

Open = Callable[[], AbstractContextManager[Index]]


class IndexJournal:
    """The journal of one space; every call opens the index for a moment, so that nobody waits for it."""

    def __init__(self, space: Space, reading: Open, writing: Open) -> None:
        self._space = space
        self._reading = reading
        self._writing = writing

    def open(self) -> list[Handed]:
        """Return what was noted and not dropped, oldest first."""
        with self._reading() as index:
            return handed_in(index, self._space)

    def note(self, handed: Handed) -> None:
        """Keep a batch, in the place of what was noted with the same token."""
        entry = {"id": handed.id, "reserved": handed.reserved, "keys": sorted(handed.keys)}
        with self._writing() as index:
            put_batch(index.connection, self._space, handed.token, handed.created_at, json.dumps(entry))

    def drop(self, token: str) -> None:
        """Forget a batch."""
        with self._writing() as index:
            drop_batch(index.connection, token)

    def failures(self) -> Failures:
        """Return the failures that were noted last; none if there never were any."""
        with self._reading() as index:
            return failures_of(index, self._space)

    def note_failures(self, failures: Failures) -> None:
        """Keep these failures in the place of the ones before."""
        with self._writing() as index:
            known = json.loads(index.noted(_FAILURES) or "{}")
            known[str(self._space)] = astuple(failures)
            index.note(_FAILURES, json.dumps(known))


def failures_of(index: Index, space: Space) -> Failures:
    """Return how many batches of a space failed in a row."""
    return Failures(*json.loads(index.noted(_FAILURES) or "{}").get(str(space), ()))


def handed_in(index: Index, space: Space) -> list[Handed]:
    """Return the batches of a space that have not come back yet, oldest first."""
    found = []
    for token, created_at, written in waiting_batches(index.connection, space):
        entry = json.loads(written)
        keys = frozenset(entry["keys"])
        found.append(Handed(token, keys, created_at, entry["reserved"], entry["id"]))
    return found
