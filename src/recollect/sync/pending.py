"""Give vectors to the chunks that have none yet in the space of a provider."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from contextlib import AbstractContextManager
from dataclasses import dataclass

from recollect.embed.base import Provider
from recollect.embed.passages import is_packed, unpacked
from recollect.errors import EmbeddingError, ModelChanged
from recollect.store.sqlite import cache, spaces
from recollect.store.sqlite.db import transaction
from recollect.store.sqlite.index import Index
from recollect.sync.embedding import embed_texts
from recollect.sync.identity import space_of
from recollect.text.chunk import text_hash
from recollect.types import Chunk, Progress, Space

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
    left: int = 0
    """How many chunks were left alone, because their texts are under way already."""
    reason: EmbeddingError | None = None
    """Why the first chunk was refused, or what stopped it."""
    stopped: bool = False


@dataclass(frozen=True, slots=True)
class _Group:
    """Chunks that are embedded together, and the vectors that are known already, by hash."""

    birth: str
    chunks: list[tuple[int, Chunk]]
    known: dict[str, bytes]
    dims: int | None
    """How many numbers the vectors of the index have, if it has any."""

    def missing(self, leave: Set[str]) -> dict[str, str]:
        """Return the texts that have to be embedded, by their hashes."""
        texts = (chunk.embedded_text for _, chunk in self.chunks)
        hashed = ((text_hash(text), text) for text in texts)
        return {digest: text for digest, text in hashed if digest not in self.known and digest not in leave}

    def count_without(self, having: Set[str]) -> int:
        """Return how many chunks have a text that is not among these."""
        return sum(text_hash(chunk.embedded_text) not in having for _, chunk in self.chunks)


def embed_pending(
    place: Place,
    provider: Provider,
    *,
    use_cache: bool,
    limit: int | None,
    progress: Progress,
    group: int | None = None,
    note: str = "",
    leave: Set[str] = frozenset(),
) -> Outcome:
    """Embed pending chunks, at most so many, and write every group as soon as it is done.

    Chunks that the provider refuses stay pending and are found by their words. So does everything after
    an error that is not about the texts. `note` says why it is this provider, if another one was wanted.
    Texts to `leave`, by their hashes, are not embedded: somebody else does it.
    """
    outcome = Outcome()
    space = space_of(provider)
    done, total, last, birth = 0, 0, 0, ""
    while True:
        with place.reading() as index:
            is_new = index.birth != birth
        if is_new:  # this is the first group, or the index was built anew meanwhile
            with place.writing() as index:
                spaces.begin(index.connection, space, note)
                last, birth, total = 0, index.birth, done + _count(index, space, limit, done)
        with place.reading() as index:
            size = min(group or _GROUP, total - done)
            batch = _read(index, space, provider.dims, last, size, use_cache=use_cache)
        if not batch.chunks:
            break
        progress(done, total, LABEL)
        fresh = embed_texts(provider, batch.missing(leave))
        refusal = fresh.reason
        if fresh.vectors and batch.dims not in (None, provider.dims):
            refusal, fresh.stopped, fresh.vectors = _other_length(provider, batch.dims), True, {}
        with place.writing() as index:
            written = _write(index, space, provider.dims, batch, fresh.vectors, use_cache=use_cache)
            is_same = index.birth == birth
        outcome.written += written
        outcome.reason = outcome.reason or refusal
        if fresh.stopped:
            outcome.reason, outcome.stopped = refusal, True
            return outcome
        if not is_same:
            continue
        have = fresh.vectors.keys() | batch.known.keys()
        outcome.refused += batch.count_without(have | leave)
        outcome.left += batch.count_without(have) - batch.count_without(have | leave)
        done += len(batch.chunks)
        last = batch.chunks[-1][0]
    if total:
        progress(done, total, LABEL)
    return outcome


def put_known(index: Index, space: Space) -> None:
    """Give chunks the vectors of a space that the cache holds; the caller is the writer."""
    last = 0
    dims = cache.dims_of(index.connection, space)
    while (batch := _read(index, space, dims, last, _GROUP, use_cache=True)).chunks:
        _write(index, space, dims, batch, {}, use_cache=True)
        last = batch.chunks[-1][0]


def _count(index: Index, space: Space, limit: int | None, done: int) -> int:
    pending = index.count_pending(space)
    return pending if limit is None else min(pending, limit - done)


def _read(index: Index, space: Space, dims: int | None, after: int, limit: int, *, use_cache: bool) -> _Group:
    """Return the next chunks without a vector; none if the index has given the space up."""
    with index.snapshot():
        entry = spaces.entry_of(index.connection, space)
        if entry is None:
            return _Group(index.birth, [], {}, None)
        chunks = index.pending(index.vectors_in(space), after, limit)
        dims = entry.dims or dims or cache.dims_of(index.connection, space)
        known: dict[str, bytes] = {}
        if use_cache and dims:
            hashes = {text_hash(chunk.embedded_text) for _, chunk in chunks}
            found = cache.cached(index.connection, space, list(hashes))
            known = {digest: blob for digest, blob in found.items() if is_packed(blob, dims)}
        return _Group(index.birth, chunks, known, dims if known else entry.dims)


def _write(
    index: Index,
    space: Space,
    dims: int | None,
    batch: _Group,
    fresh: Mapping[str, bytes],
    *,
    use_cache: bool,
) -> int:
    """Keep the vectors of those chunks that still exist and still have none; return how many."""
    dims = batch.dims or dims
    if dims is None or spaces.entry_of(index.connection, space) is None:
        return 0
    vectors = index.vectors_in(space)
    waiting: set[int] = set()
    if index.birth == batch.birth:
        # New chunks have higher numbers, so the first ones that wait now are those of the group.
        first = batch.chunks[0][0]
        waiting = {number for number, _ in index.pending(vectors, first - 1, len(batch.chunks))}
    written = 0
    with transaction(index.connection):
        for number, chunk in batch.chunks:
            digest = text_hash(chunk.embedded_text)
            blob = fresh.get(digest) or batch.known.get(digest)
            if blob is not None and number in waiting:
                vectors.put(number, *unpacked(blob, dims))
                written += 1
        if use_cache:
            cache.touch(index.connection, space, batch.known)
            cache.remember(index.connection, space, fresh, dims)
    return written


def _other_length(provider: Provider, dims: int | None) -> ModelChanged:
    return ModelChanged(
        f"provider {provider.id!r} (model {provider.model!r}) returns {provider.dims} numbers a text,"
        f" but the index has {dims}: the service changed its model",
        todo="Give the new model's name in embeddings.model, or set embeddings.dimensions",
    )
