"""Give the chunks that wait to the batches of a service, if the settings ask for it and it has any."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from memlines.embed.base import Meter, Provider
from memlines.embed.spending.budget import Budget
from memlines.index.store.sqlite import cache, spaces
from memlines.index.store.sqlite.db import transaction
from memlines.index.store.sqlite.index import Index
from memlines.index.sync.batch_journal import IndexJournal, handed_in
from memlines.index.sync.batched import embed_by_batches
from memlines.index.sync.identity import space_of
from memlines.index.sync.pending import Batched, Place, put_known
from memlines.index.sync.sending import texts_for
from memlines.settings import Batch
from memlines.types import Progress, Space

_FLOAT_BYTES = 4
_GROUP = 1_000


def embed_in_batches(place: Place, provider: Provider, settings: Batch, progress: Progress) -> Batched:
    """Hand in what waits, and fetch what was handed in before; the rest is left to direct calls."""
    from memlines.embed.batches.select import batches_for

    space = space_of(provider)
    with place.reading() as index:
        has_open = bool(handed_in(index, space))
    api = batches_for(provider) if settings.enabled or has_open else None
    if api is None:
        return Batched()
    with place.writing() as index:
        spaces.begin(index.connection, space, _note_of(index, space))
        known = put_known(index, space)  # what came before a crash and was not given to its chunks yet
        before = index.count_pending(space)
    with place.reading() as index:
        texts = dict(_waiting_texts(index, space, provider))

    def keep(vectors: Mapping[str, bytes]) -> None:
        dims = len(next(iter(vectors.values()))) // _FLOAT_BYTES
        with place.writing() as index, transaction(index.connection):
            cache.remember(index.connection, space, vectors, dims)

    journal = IndexJournal(space, place.reading, place.writing)
    outcome = embed_by_batches(api, journal, texts, settings, keep, progress, meter=_meter(provider))
    with place.writing() as index:
        put_known(index, space)
        written = before - index.count_pending(space)
    return Batched(frozenset(outcome.waiting), written + known, outcome.reason, known)


def in_batches(place: Place, provider: Provider) -> frozenset[str]:
    """Return the texts that a service was handed, by hash: they would be paid twice if sent again."""
    with place.reading() as index:
        return frozenset().union(*(handed.keys for handed in handed_in(index, space_of(provider))))


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
