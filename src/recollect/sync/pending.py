"""Give vectors to the chunks that have none yet."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import islice

from recollect.embed.base import Provider
from recollect.embed.passages import is_packed, unpacked
from recollect.errors import EmbeddingError
from recollect.store.sqlite import cache
from recollect.store.sqlite.cache import Space
from recollect.store.sqlite.db import transaction
from recollect.store.sqlite.index import Index
from recollect.sync.embedding import embed_texts
from recollect.sync.identity import same_space
from recollect.text.chunk import text_hash
from recollect.types import Chunk, Progress

_GROUP = 256
"""Chunks embedded and committed at a time: what a kill loses at most, and what memory holds."""

LABEL = "embedding"


@dataclass(frozen=True, slots=True)
class Place:
    """The ways to open the index whose chunks wait.

    It is read, left, and opened again to write: whoever embeds holds nothing meanwhile.
    """

    reading: Callable[[], AbstractContextManager[Index]]
    writing: Callable[[], AbstractContextManager[Index]]


@dataclass(slots=True)
class Outcome:
    """What embedding came to: the chunks that got vectors, and those that were refused or not tried."""

    written: int = 0
    refused: int = 0
    reason: EmbeddingError | None = None
    """Why the first chunk was refused, or what stopped it."""
    stopped: bool = False


@dataclass(frozen=True, slots=True)
class _Group:
    """Chunks that are embedded together, and the vectors that are known already, by hash."""

    birth: str
    chunks: list[tuple[int, Chunk]]
    known: dict[str, bytes]

    @property
    def missing(self) -> dict[str, str]:
        texts = (chunk.embedded_text for _, chunk in self.chunks)
        return {digest: text for text in texts if (digest := text_hash(text)) not in self.known}


def embed_pending(
    place: Place,
    provider: Provider,
    *,
    use_cache: bool,
    limit: int | None,
    progress: Progress,
    group: int | None = None,
) -> Outcome:
    """Embed pending chunks, at most so many, and write every group as soon as it is done.

    Chunks that the provider refuses stay pending and are found by their words. So does everything after
    a group of which nothing could be embedded.
    """
    outcome = Outcome()
    done, total, last, birth = 0, 0, 0, ""
    while True:
        with place.reading() as index:
            if index.birth != birth:  # this is the first group, or the index was built anew meanwhile
                last, birth, total = 0, index.birth, done + _count(index, limit, done)
            batch = _read(index, provider, last, min(group or _GROUP, total - done), use_cache=use_cache)
        if not batch.chunks:
            break
        progress(done, total, LABEL)
        try:
            fresh, refusal = embed_texts(provider, batch.missing)
        except EmbeddingError as error:
            outcome.reason, outcome.stopped = error, True
            return outcome
        with place.writing() as index:
            written = _write(index, provider, batch, fresh, use_cache=use_cache)
            if index.birth != birth:
                continue
        outcome.written += written
        outcome.refused += sum(text_hash(c.embedded_text) not in fresh | batch.known for _, c in batch.chunks)
        outcome.reason = outcome.reason or refusal
        done += len(batch.chunks)
        last = batch.chunks[-1][0]
    if total:
        progress(done, total, LABEL)
    return outcome


def put_known(index: Index, provider: Provider) -> None:
    """Give chunks the vectors that the cache holds; the caller is the writer."""
    last = 0
    while (batch := _read(index, provider, last, _GROUP, use_cache=True)).chunks:
        _write(index, provider, batch, {}, use_cache=True)
        last = batch.chunks[-1][0]


def carry_vectors(old: Index, new: Index) -> None:
    """Put every vector of an index into the cache of the one that will replace it.

    The cache of the old one may have forgotten them: it holds fewer than a large index has.
    """
    made_with = old.identity()
    space = Space(made_with["provider"], made_with["model"], made_with["provider_key"])
    vectors = old.vectors.by_chunk()
    while group := dict(islice(vectors, _GROUP)):
        sentences = old.vectors.sentences(group)
        known = {
            text_hash(chunk.embedded_text): group[number] + sentences.get(number, b"")
            for number, chunk in old.chunks(group).items()
        }
        with transaction(new.connection):
            cache.remember(new.connection, space, known)


def _count(index: Index, limit: int | None, done: int) -> int:
    pending = index.count_pending()
    return pending if limit is None else min(pending, limit - done)


def _read(index: Index, provider: Provider, after: int, limit: int, *, use_cache: bool) -> _Group:
    """Return the next chunks without a vector; none if the index is of another model by now."""
    with index.snapshot():
        chunks = index.pending(after, limit) if _is_of(index, provider) else []
        known: dict[str, bytes] = {}
        if use_cache:
            hashes = {text_hash(chunk.embedded_text) for _, chunk in chunks}
            found = cache.cached(index.connection, _space(provider), list(hashes))
            known = {digest: blob for digest, blob in found.items() if is_packed(blob, provider.dims)}
        return _Group(index.birth, chunks, known)


def _write(
    index: Index, provider: Provider, batch: _Group, fresh: Mapping[str, bytes], *, use_cache: bool
) -> int:
    """Keep the vectors of those chunks that still exist and still have none; return how many."""
    if not _is_of(index, provider):
        return 0
    waiting: set[int] = set()
    if index.birth == batch.birth:
        # New chunks have higher numbers, so the first ones that wait now are those of the group.
        first = batch.chunks[0][0]
        waiting = {number for number, _ in index.pending(first - 1, len(batch.chunks))}
    written = 0
    with transaction(index.connection):
        for number, chunk in batch.chunks:
            digest = text_hash(chunk.embedded_text)
            blob = fresh.get(digest) or batch.known.get(digest)
            if blob is not None and number in waiting:
                index.vectors.put(number, *unpacked(blob, provider.dims))
                written += 1
        if use_cache:
            cache.touch(index.connection, _space(provider), batch.known)
            cache.remember(index.connection, _space(provider), fresh)
    return written


def _space(provider: Provider) -> Space:
    return Space(provider.id, provider.model, provider.key)


def _is_of(index: Index, provider: Provider) -> bool:
    wanted = {"provider": provider.id, "model": provider.model, "provider_key": provider.key}
    return same_space(index.identity(), wanted)
