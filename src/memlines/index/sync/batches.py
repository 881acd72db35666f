"""Give the chunks that wait to the batches of a service, if the settings ask for it and it has any."""

from __future__ import annotations

from collections.abc import Iterator

from memlines.embed.base import Meter, Provider
from memlines.embed.spending.budget import Budget
from memlines.index.store.sqlite import spaces
from memlines.index.store.sqlite.index import Index
from memlines.index.sync.batch_journal import BatchJournal, submitted_batches
from memlines.index.sync.batched import embed_by_batches
from memlines.index.sync.identity import space_of
from memlines.index.sync.job import Job
from memlines.index.sync.pending import Batched, put_known, texts_for
from memlines.types import Space

_GROUP = 1_000


def embed_in_batches(job: Job, provider: Provider) -> Batched:
    """Hand in what waits, and fetch what was handed in before; the rest is left to direct calls."""
    from memlines.embed.batches.services import batches_of

    space, settings = space_of(provider), job.settings.embeddings.batch
    with job.reader() as index:
        has_open = bool(submitted_batches(index, space))
    api = batches_of(provider) if settings.enabled or has_open else None
    if api is None:
        return Batched()
    with job.writer() as index:
        spaces.begin(index.connection, space, _note_of(index, space))
        known = put_known(index, space)  # what came before a crash and was not given to its chunks yet
        before = index.count_pending(space)
    with job.reader() as index:
        texts = dict(_waiting_texts(index, space, provider))
    journal = BatchJournal(job, space)
    outcome = embed_by_batches(api, journal, texts, settings, job.progress, meter=_meter(provider))
    with job.writer() as index:
        put_known(index, space)
        written = before - index.count_pending(space)
    return Batched(frozenset(outcome.waiting), written + known, outcome.reason, known)


def in_batches(job: Job, provider: Provider) -> frozenset[str]:
    """Return the texts that a service was handed, by hash: they would be paid twice if sent again."""
    with job.reader() as index:
        return frozenset().union(*(batch.keys for batch in submitted_batches(index, space_of(provider))))


def _waiting_texts(index: Index, space: Space, provider: Provider) -> Iterator[tuple[str, str]]:
    """Yield every text that waits, by its hash; one that has to be cut in pieces is no text for a batch."""
    last = 0
    while chunks := index.pending(index.vectors_in(space), last, _GROUP):
        for digest, text in texts_for(index, provider, chunks).items():
            if text.strip() and len(text.encode()) <= provider.limits.text_bytes:
                yield digest, text
        last = chunks[-1][0]


def _note_of(index: Index, space: Space) -> str:
    entry = spaces.entry_of(index.connection, space)
    return entry.note if entry else ""


def _meter(provider: Provider) -> Meter | None:
    return provider.meter.batch() if isinstance(provider.meter, Budget) else provider.meter
