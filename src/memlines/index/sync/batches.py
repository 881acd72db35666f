"""Embed texts through the batches of a service, however often this process is stopped meanwhile.

A batch may take hours, so everything is written down before it is done. The intent to create a batch is
journaled with a token, then the batch is created with that token, then its id is journaled. A run that
finds an intent without an id asks the service for the token; all three services list their batches, so
no text is submitted twice. Should a service not list a new batch at once, a batch may be paid twice, and
nothing is lost.

Results are kept in slices while they arrive. What is left of a batch after a crash is fetched again.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import field, replace
from typing import TYPE_CHECKING
from uuid import uuid4

from memlines.embed.base import Meter, Provider
from memlines.embed.batches.base import BatchState
from memlines.embed.batches.services import BatchApi, batches_of
from memlines.embed.codec import encode
from memlines.embed.spending.budget import estimate
from memlines.errors import EmbeddingError, ProviderUnreachable, ProviderUnusable, SpendLimit
from memlines.index.store.sqlite import spaces
from memlines.index.store.sqlite.cache import Submitted, submitted_batches
from memlines.index.sync.batch_journal import MOST_FAILURES, BatchJournal, Failures
from memlines.index.sync.job import Job, space_of
from memlines.index.sync.pending import Outcome, put_known, texts_to_send
from memlines.records import dataclass
from memlines.settings.tree import Batch
from memlines.types import Progress

if TYPE_CHECKING:
    from memlines.embed.base import Vector

LABEL = "embedding in batches"

_GROUP = 1_000
_SLICE = 500
_MISSES = 5
"""How often in a row a batch may be asked for in vain before it is left to a later run."""
_PAUSE = 1.0
"""Seconds after which `progress` is called at the latest while a run waits."""
_LONGEST = 2 * 86_400.0
"""No service works on a batch for longer than this."""
_ENDS = {"failed": "failed", "expired": "expired", "cancelled": "was cancelled"}


def embed_in_batches(job: Job, provider: Provider) -> Outcome:
    """Submit what waits, and fetch what was submitted before; the rest is left to direct calls."""
    space, settings = space_of(provider), job.settings.embeddings.batch
    with job.reader() as index:
        has_open = bool(submitted_batches(index.connection, space))
    api = batches_of(provider) if settings.enabled or has_open else None
    if api is None:
        return Outcome()
    with job.writer() as index:
        entry = index.state.entry_of(space)
        spaces.begin(index.connection, space, entry.note if entry else "")
        known = put_known(index, space)  # what came before a crash and was not given to its chunks yet
        before = index.count_pending(space)
    texts: dict[str, str] = {}
    with job.reader() as index:
        last = 0
        while chunks := index.pending(index.vectors_in(space), last, _GROUP):
            texts |= texts_to_send(index, provider, chunks, job.settings)
            last = chunks[-1][0]
    # A text that has to be cut in pieces cannot be in a batch.
    longest = provider.limits.text_bytes
    texts = {key: text for key, text in texts.items() if text.strip() and len(text.encode()) <= longest}
    journal = BatchJournal(job, space)
    batches = BatchRun(api, journal, texts, settings, job.progress, provider.meter)
    batches.work()
    with job.writer() as index:
        put_known(index, space)
        written = before - index.count_pending(space) + known
    return Outcome(written, known, reason=batches.reason, in_batches=frozenset(batches.waiting))


def texts_in_batches(job: Job, provider: Provider) -> frozenset[str]:
    """Return the hashes of the texts that a service has in batches: sent again, they would be paid twice."""
    with job.reader() as index:
        batches = submitted_batches(index.connection, space_of(provider))
    return frozenset().union(*(batch.keys for batch in batches))


@dataclass(slots=True)
class _OpenBatch:
    """A batch under way."""

    submitted: Submitted
    completed: int = 0
    misses: int = 0


@dataclass(slots=True)
class BatchRun:
    """Brings vectors for texts by their keys, and keeps them in the journal as packed bytes.

    `texts` must be all that wait for a vector: a batch of an earlier run that none of them is in is
    given up. Those that are neither `embedded` nor `waiting` in the end are left to be embedded directly: the
    refused ones too, because a service may refuse in a batch what it accepts a minute later. Only one process
    may run at a time.
    """

    api: BatchApi
    journal: BatchJournal
    texts: Mapping[str, str]
    settings: Batch
    progress: Progress
    meter: Meter | None = None
    clock: Callable[[], float] = time.time
    sleep: Callable[[float], None] = time.sleep
    embedded: set[str] = field(default_factory=set)
    refused: dict[str, str] = field(default_factory=dict)
    """The reasons, by key, why texts that were in a batch got no vector."""
    waiting: set[str] = field(default_factory=set)
    """Texts that are submitted, or may be, or will be next: a later run brings their vectors."""
    reason: EmbeddingError | None = None
    """The first thing that went wrong."""
    open: dict[str, _OpenBatch] = field(default_factory=dict)
    """The batches under way, by their tokens."""
    is_stopped: bool = False
    """Whether nothing more is submitted by this run."""

    def work(self) -> None:
        """Resume what is open, submit the rest, and wait for it all if the settings say so.

        The rest is submitted if it is enough for a batch and batches have not failed lately. An error that
        `progress` or the journal raises ends the work; a later run continues from there.
        """
        self._resume()
        groups = self._groups()
        while True:
            ended = [batch for batch in list(self.open.values()) if self._poll(batch)]
            while groups and len(self.open) < self.settings.concurrency and not self.is_stopped:
                self._report()
                self._submit(groups.popleft())
            self._report()
            if not self.open or not self.settings.wait:
                break
            left = 0.0 if ended else self.settings.poll_seconds
            while left > 0:
                self.sleep(min(left, _PAUSE))
                left -= _PAUSE
                if left > 0:
                    self._report()
        for batch in self.open.values():
            self.waiting |= self._wanted(batch)
        if self.open and not self.is_stopped:
            self.waiting.update(*groups)

    def _resume(self) -> None:
        for submitted in self.journal.submitted():
            batch = _OpenBatch(submitted)
            if not submitted.id and not self._find(batch):
                continue
            if self._wanted(batch):
                self.open[submitted.token] = batch
            else:
                self._cancel(batch)

    def _find(self, batch: _OpenBatch) -> bool:
        """Look up the id of a batch that was about to be created; return whether there is one."""
        try:
            found = self.api.find(batch.submitted.token)
        except EmbeddingError as error:
            self._postpone(batch, error)
            return False
        if found is None:
            self._drop(batch, used=0)
            return False
        self._note(batch, found)
        return True

    def _groups(self) -> deque[dict[str, str]]:
        """Return the texts to submit, each group for one batch."""
        taken = self.waiting.union(*(batch.submitted.keys for batch in self.open.values()))
        rest = {key: text for key, text in self.texts.items() if key not in taken}
        if not self.settings.enabled or len(rest) < self.settings.min_texts:
            return deque()
        if self.journal.failures().recent(self.clock()) >= MOST_FAILURES:
            what = f"{self.api.service} failed at batches lately, so none is submitted for a day"
            todo = "Set embeddings.batch.enabled to false if that does not change"
            self._stop(EmbeddingError(what, todo=todo))
            return deque()
        return deque(self.api.split(rest))

    def _submit(self, group: dict[str, str]) -> None:
        tokens = sum(estimate(text) for text in group.values())
        try:
            if self.meter is not None:
                self.meter.reserve(tokens, "batch")
        except SpendLimit as error:
            self._stop(error)
            return
        try:
            file = self.api.upload(group)
        except EmbeddingError as error:
            # No batch is to blame for it: embedding directly will show what is wrong, or work.
            if self.meter is not None:
                self.meter.settle(tokens, 0, "batch")
            self._stop(error)
            return
        batch = _OpenBatch(Submitted(uuid4().hex, frozenset(group), self.clock(), tokens))
        self.journal.note(batch.submitted)
        try:
            self._note(batch, self.api.create(file, batch.submitted.token))
        except ProviderUnreachable as error:
            if not self._find(batch):  # else only the answer was lost
                if not self.is_stopped:
                    self._fail(error)
                return
        except EmbeddingError as error:
            self._drop(batch, used=0)
            self._fail(error, MOST_FAILURES if isinstance(error, ProviderUnusable) else 1)
            return
        self.open[batch.submitted.token] = batch

    def _poll(self, batch: _OpenBatch) -> bool:
        """Ask for a batch, and fetch it if it has ended; return whether it is no longer open."""
        try:
            state = self.api.state(batch.submitted.id)
            batch.completed = state.completed
            if state.phase != "running":
                self._end(batch, state, self._fetch(batch))
                return True
            batch.misses = 0
        except ProviderUnusable as error:
            self._check_existence(batch, error)
        except EmbeddingError as error:
            batch.misses += 1
            if batch.misses >= _MISSES or not self.settings.wait:
                self._postpone(batch, error)
        else:
            # No one waits for a batch that a later run fetches, so it has all the time that services take.
            longest = self.settings.timeout_minutes * 60 if self.settings.wait else _LONGEST
            if self.clock() - batch.submitted.created_at > longest:
                self._cancel(batch)
                late = self._trouble(batch, f"was not done within {longest / 60:g} minutes")
                self._fail(late, MOST_FAILURES)
        return batch.submitted.token not in self.open

    def _fetch(self, batch: _OpenBatch) -> int:
        """Keep what a batch brought, in slices, even if an error follows; return how many tokens it used."""
        wanted = {key: self.texts[key] for key in self._wanted(batch)}
        vectors: dict[str, Vector] = {}
        tokens = 0
        try:
            for answer in self.api.results(batch.submitted.id, wanted):
                tokens += answer.tokens
                if answer.key is None:
                    continue
                if answer.vector is None:
                    self.refused[answer.key] = answer.reason
                    continue
                vectors[answer.key] = answer.vector
                if len(vectors) == _SLICE:
                    self._keep(vectors)
                    vectors = {}
        except EmbeddingError:
            self._keep(vectors)
            raise
        self._keep(vectors)
        return tokens

    def _keep(self, vectors: dict[str, Vector]) -> None:
        if not vectors:
            return
        import numpy as np

        blobs = encode(np.stack(list(vectors.values())))
        self.journal.keep(dict(zip(vectors, blobs, strict=True)))
        for key in vectors:
            self.refused.pop(key, None)
        self.embedded |= vectors.keys()
        self._report()

    def _end(self, batch: _OpenBatch, state: BatchState, tokens: int) -> None:
        """Close the book on a batch that has ended and was fetched."""
        keys = batch.submitted.keys & self.texts.keys()
        brought = keys & self.embedded
        refusal = next((self.refused[key] for key in keys if key in self.refused), "")
        if state.phase == "done":
            for key in keys - brought:
                self.refused.setdefault(key, f"the batch of {self.api.service} says nothing about it")
        self._drop(batch, used=tokens or sum(estimate(self.texts[key]) for key in brought))
        with suppress(EmbeddingError):  # the files expire by themselves some day
            self.api.delete_files(batch.submitted.id)
        # What an earlier run kept of a batch is no longer among the texts.
        if state.phase == "done" and (brought or keys != batch.submitted.keys):
            self.journal.note_failures(Failures())
            return
        what = "brought no vector" if state.phase == "done" else _ENDS[state.phase]
        words = state.reason or refusal
        self._fail(self._trouble(batch, what + (f": {words}" if words else "")))

    def _check_existence(self, batch: _OpenBatch, error: ProviderUnusable) -> None:
        """Distinguish a batch that no longer exists from a service that does not let us in."""
        try:
            is_gone = self.api.find(batch.submitted.token) is None
        except EmbeddingError as other:
            self._postpone(batch, other)
            return
        if is_gone:
            self._drop(batch)
            self._fail(self._trouble(batch, "is no longer known there"))
        else:
            self._postpone(batch, error)

    def _postpone(self, batch: _OpenBatch, error: EmbeddingError) -> None:
        """Leave a batch to a later run, unless it is so old that nothing can come of it."""
        self._stop(error)
        if self.clock() - batch.submitted.created_at > _LONGEST:
            self._drop(batch)
            self._fail(error)
            return
        self.waiting |= self._wanted(batch)
        self.open.pop(batch.submitted.token, None)

    def _drop(self, batch: _OpenBatch, used: int | None = None) -> None:
        """Forget a batch; the tokens that it used, if that is known, replace those that were reserved."""
        self.journal.drop(batch.submitted.token)
        self.open.pop(batch.submitted.token, None)
        if used is not None and self.meter is not None:
            self.meter.settle(batch.submitted.reserved, used, "batch")

    def _note(self, batch: _OpenBatch, batch_id: str) -> None:
        batch.submitted = replace(batch.submitted, id=batch_id)
        self.journal.note(batch.submitted)

    def _cancel(self, batch: _OpenBatch) -> None:
        with suppress(EmbeddingError):  # a batch that continues costs money, and hurts nothing else
            self.api.cancel(batch.submitted.id)
        self._drop(batch)

    def _stop(self, error: EmbeddingError) -> None:
        self.is_stopped = True
        self.reason = self.reason or error

    def _fail(self, error: EmbeddingError, count: int = 1) -> None:
        """Count a failure; the service's batches are not used for a day after too many in a row."""
        count += self.journal.failures().recent(self.clock())
        self.journal.note_failures(Failures(count, self.clock(), error.what))
        self.is_stopped = self.is_stopped or count >= MOST_FAILURES
        self.reason = self.reason or error

    def _trouble(self, batch: _OpenBatch, what: str) -> EmbeddingError:
        name = f"batch {batch.submitted.id} of {self.api.service}"
        return EmbeddingError(f"{name} {what}", todo="Its texts are embedded directly")

    def _wanted(self, batch: _OpenBatch) -> set[str]:
        return {key for key in batch.submitted.keys & self.texts.keys() if key not in self.embedded}

    def _report(self) -> None:
        under_way = sum(min(batch.completed, len(self._wanted(batch))) for batch in self.open.values())
        if self.texts:
            self.progress(len(self.embedded) + under_way, len(self.texts), LABEL)
