"""Give vectors to the chunks that have none yet in the space of a provider.

The index is read, left, and opened again to write: nothing is held while a provider works. Several calls are
under way at once, and some texts may be refused.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import field

from memlines.embed.base import Provider, pack_requests
from memlines.embed.codec import is_sound, unpack
from memlines.embed.passages import background_of, embed_passages
from memlines.errors import (
    BadVectors,
    EmbeddingError,
    ModelChanged,
    ProviderUnreachable,
    ProviderUnusable,
    QuotaExceeded,
    SpendLimit,
)
from memlines.index.store.sqlite import cache, spaces
from memlines.index.store.sqlite.db import transaction
from memlines.index.store.sqlite.index import Index
from memlines.index.store.sqlite.spaces import State
from memlines.index.sync.job import Job, space_of
from memlines.records import dataclass
from memlines.settings import Settings
from memlines.text.chunk import text_hash
from memlines.types import Chunk, Space

_NOT_THE_TEXTS = (ProviderUnusable, ProviderUnreachable, QuotaExceeded, SpendLimit, ModelChanged)
"""Errors that another choice of texts would not change, so nothing more is tried."""

_FEW = 4
_HOPELESS = 5
"""Failures in a row before anything was embedded that mean that the service does not work at all: all
texts at once, each half, and the two shortest, which are the least likely to be refused for themselves.
A few texts are all tried one by one."""

_MOST_FAILURES = 100
"""Calls that may fail for one group of texts. Finding one text among 256 takes eight."""


@dataclass(slots=True)
class Embedded:
    """What came of embedding some texts."""

    vectors: dict[str, bytes] = field(default_factory=dict)
    """The packed vectors by the keys of their texts, without those that were refused."""
    reason: EmbeddingError | None = None
    """Why the first text was refused, or what stopped it."""
    stopped: bool = False
    """Whether the rest was not tried, because it is not the texts that are wrong."""
    background: bytes = b""
    """The mean vector of unrelated texts, if it was asked for."""


def embed_texts(provider: Provider, texts: Mapping[str, str]) -> Embedded:
    """Return the vectors of texts by their keys; what was embedded is kept whatever happens to the rest.

    What the provider refuses is tried again in halves, down to single texts. Where nothing at all can be
    embedded, it is not the texts, and `stopped` says so.
    """
    work = _Work(provider, texts)
    keys = list(texts)
    requests = [
        [keys[place] for place in places] for places in pack_requests(list(texts.values()), provider.limits)
    ]
    at_once = min(provider.limits.at_once, len(requests))
    if at_once <= 1:
        for request in requests:
            work.embed(request)
    else:
        from concurrent.futures import ThreadPoolExecutor  # which takes time to import

        with ThreadPoolExecutor(at_once, thread_name_prefix="memlines-embed") as pool:
            for done in [pool.submit(work.embed, request) for request in requests]:
                done.result()
    result = work.result
    result.stopped = result.stopped or (result.reason is not None and not result.vectors)
    return result


class _Work:
    """Texts that are being embedded, by one thread or by several."""

    def __init__(self, provider: Provider, texts: Mapping[str, str]) -> None:
        self.provider = provider
        self.texts = texts
        self.result = Embedded()
        self._failures = 0
        self._lock = threading.Lock()

    def embed(self, request: list[str]) -> None:
        """Embed the texts of one request; if they are refused, in halves."""
        parts = deque([request])
        while parts and not self.result.stopped and self._failures < _MOST_FAILURES:
            if not self.result.vectors and self._failures >= _HOPELESS and len(self.texts) > _FEW:
                return
            part = [key for key in parts.popleft() if key not in self.result.vectors]
            if not part or self._try(part):
                continue
            middle = len(part) // 2
            parts.extend([part[:middle], part[middle:]] if middle else [])
            if len(part) == len(request) > _FEW:
                shortest = sorted(part, key=lambda key: len(self.texts[key]))[:2]
                parts.extend([key] for key in shortest)

    def _try(self, part: list[str]) -> bool:
        """Embed texts in one call; return whether that worked."""
        try:
            blobs = embed_passages(self.provider, [self.texts[key] for key in part])
        except EmbeddingError as error:
            if isinstance(error, SpendLimit) and len(part) > 1:
                return False  # a part of it may still fit, and asking for that costs nothing
            with self._lock:
                self._failures += 1
                self.result.reason = self.result.reason or error
                if isinstance(error, _NOT_THE_TEXTS):
                    self.result.reason, self.result.stopped = error, True
            return False
        with self._lock:
            self.result.vectors.update(zip(part, blobs, strict=True))
        return True


LABEL = "embedding"

_GROUP = 256
"""Chunks embedded and committed at a time: what a kill loses at most, and what memory holds."""

_FIRST_TIMED_GROUP = 8
"""Chunks that are embedded first if there is a deadline; how long they take shows how many more fit."""


@dataclass(slots=True)
class Outcome:
    """What embedding came to: the chunks that got vectors, and those that were refused or not tried."""

    written: int = 0
    cached: int = 0
    """How many of those that were written were known, and not made now."""
    refused: int = 0
    left: int = 0
    """How many chunks were left alone, because their texts are in batches."""
    reason: EmbeddingError | None = None
    """Why the first chunk was refused, or what stopped it."""
    stopped: bool = False
    in_batches: frozenset[str] = frozenset()
    """The hashes of the texts that a service has in batches."""


@dataclass(frozen=True, slots=True)
class _Group:
    """Chunks that are embedded together, and the vectors that are known already, by hash."""

    birth: str
    chunks: list[tuple[int, Chunk]]
    digests: dict[int, str]
    """The hashes of the texts, by the numbers of the chunks."""
    known: dict[str, bytes]
    dims: int | None
    """How many numbers the vectors of the index have, if it has any."""
    answers_as: str = ""
    """What the service called the model that made them, if it said so."""
    has_background: bool = False
    """Whether it is known what the model makes of texts that have nothing to do with each other."""


def embed_pending(job: Job, provider: Provider, outcome: Outcome, note: str) -> None:
    """Embed pending chunks as far as the job's limits go, write every group at once, and add to the outcome.

    Chunks that the provider refuses stay pending and are found by their words. So does everything after
    an error that is not about the texts. `note` says why it is this provider, if another one was wanted.
    Texts that are in batches are left alone.
    """
    space, use_cache, in_batches = space_of(provider), job.settings.cache.enabled, outcome.in_batches
    done, total, last, birth = 0, 0, 0, ""
    began = time.monotonic()
    while not job.is_late():
        with job.reader() as index:
            is_new = index.state.birth != birth
        if is_new:  # this is the first group, or the index was rebuilt meanwhile
            with job.writer() as index:
                filling = index.state.entry_in("filling")
                if filling is not None and filling.space != space:
                    cache_spaces(job, index, "filling")
                spaces.begin(index.connection, space, note)
                pending = index.count_pending(space)
                limit = pending if job.embed_limit is None else job.embed_limit - done
                last, birth, total = 0, index.state.birth, done + min(pending, limit)
        with job.reader() as index:
            # Should the service have changed its model, that is better found out by one request.
            usual = job.group or (_GROUP if done else min(_GROUP, provider.limits.request_texts))
            size = min(_size_in_time(job.deadline, began, usual, done), total - done)
            group = _read_group(index, space, provider.dims, last, size, use_cache=use_cache)
            texts = texts_to_send(index, provider, group.chunks, job.settings)
        if not group.chunks:
            break
        job.progress(done, total, LABEL)
        ready = group.known.keys() | in_batches
        fresh = _embed_group(provider, group, {k: v for k, v in texts.items() if k not in ready})
        with job.writer() as index:
            written, cached = _write_group(index, space, provider, group, fresh.vectors, use_cache=use_cache)
            if fresh.background and written:
                index.vectors_in(space).set_background(fresh.background)
            is_same = index.state.birth == birth
        outcome.written += written
        outcome.cached += cached
        if fresh.stopped:
            outcome.reason, outcome.stopped = fresh.reason, True
            return
        outcome.reason = outcome.reason or fresh.reason
        if is_same:
            lacking = [
                digest
                for digest in group.digests.values()
                if digest not in fresh.vectors and digest not in group.known
            ]
            left = sum(digest in in_batches for digest in lacking)
            outcome.refused += len(lacking) - left
            outcome.left += left
            done += len(group.chunks)
            last = group.chunks[-1][0]
    if total:
        job.progress(done, total, LABEL)
    _measure_scale(job, provider, space)


def cache_spaces(job: Job, index: Index, state: State) -> None:
    """Put the vectors of the space in a state into the cache before it is dropped: it may come again."""
    entry = index.state.entry_in(state)
    if entry is not None and job.settings.cache.enabled:
        with transaction(index.connection):
            index.cache_vectors(index, entries=[entry])


def _size_in_time(deadline: float | None, began: float, most: int, done: int) -> int:
    """Return how many chunks are embedded next, after so many: what fits in half of the time left."""
    if deadline is None:
        return most
    if not done:
        return min(most, _FIRST_TIMED_GROUP)
    now = time.monotonic()
    return max(1, min(most, int(done / max(now - began, 1e-6) * (deadline - now) / 2)))


def texts_to_send(
    index: Index, provider: Provider, chunks: Sequence[tuple[int, Chunk]], settings: Settings
) -> dict[str, str]:
    """Return what a provider may be given of numbered chunks, by the hashes of their texts.

    A provider on this machine reads notes as they are. The secrets of a chunk itself are taken out by the
    provider that sends it; here are hidden the copies of those that another chunk of the note names.
    """
    if not provider.sends_to:
        return {text_hash(chunk.embedded_text): chunk.embedded_text for _, chunk in chunks}
    from memlines.text.redaction import redact, rules_of, without_copies  # which takes time to import

    notes, rules = index.notes_of(number for number, _ in chunks), rules_of(settings.redaction.rules)
    secrets: Mapping[str, Mapping[str, str]] = {
        path: redact("\n".join([chunk.text for chunk in index.chunks_of(path)]), rules).values
        for path in sorted(set(notes.values()))
    }
    texts = {}
    for number, chunk in chunks:
        values = secrets.get(notes.get(number, ""), {})
        texts[text_hash(chunk.embedded_text)] = without_copies(chunk.embedded_text, values)[0]
    return texts


def put_known(index: Index, space: Space) -> int:
    """Give chunks the vectors of a space that the cache holds, and return to how many; the caller writes."""
    last = done = 0
    while (group := _read_group(index, space, None, last, _GROUP, use_cache=True)).chunks:
        done += _write_group(index, space, None, group, {}, use_cache=True)[0]
        last = group.chunks[-1][0]
    return done


def _read_group(
    index: Index, space: Space, dims: int | None, after: int, limit: int, *, use_cache: bool
) -> _Group:
    """Return the next chunks without a vector; none if the index has given the space up."""
    with index.snapshot():
        entry = index.state.entry_of(space)
        if entry is None:
            return _Group(index.state.birth, [], {}, {}, None)
        vectors = index.vectors_in(space)
        chunks = index.pending(vectors, after, limit)
        digests = {number: text_hash(chunk.embedded_text) for number, chunk in chunks}
        dims = entry.dims or dims or cache.dims_of(index.connection, space)
        known: dict[str, bytes] = {}
        if dims:
            texts = {digests[number]: (chunk.hash, chunk.heading) for number, chunk in chunks}
            alike = index.numbers_like(texts, vectors)
            packed = vectors.packed(alike.values())
            known = {digest: packed[number] for digest, number in alike.items()}
            if use_cache:
                known |= cache.cached(index.connection, space, list(texts.keys() - known.keys()), dims)
            known = {digest: blob for digest, blob in known.items() if is_sound(blob, dims)}
        own_dims = dims if known else entry.dims
        measured = vectors.background() is not None
        return _Group(index.state.birth, chunks, digests, known, own_dims, entry.answers_as, measured)


def _embed_group(provider: Provider, group: _Group, texts: Mapping[str, str]) -> Embedded:
    """Embed the texts of a group; vectors of another model than those of the index are refused.

    With the first vectors of a space come those of unrelated texts, by which search learns the scale of the
    model. What the first vectors are like binds all that follow, so it is good that it is asked for twice.
    """
    fresh = embed_texts(provider, texts)
    if not fresh.vectors:
        return fresh
    if group.dims not in (None, provider.dims) or group.answers_as not in ("", provider.answers_as):
        now = f"{provider.answers_as or provider.model} with {provider.dims} numbers a text"
        before = f"{group.answers_as or provider.model} with {group.dims}"
        changed = ModelChanged(
            f"{provider.id} answers as {now}, but the vectors of the index are of {before}",
            todo="Name another model in embeddings.model, or run 'memlines model renew' to make all again",
        )
        return Embedded(reason=changed, stopped=True)
    if not provider.scale_known and not group.has_background:
        try:
            fresh.background = background_of(provider)
        except BadVectors as error:
            return Embedded(reason=error, stopped=True)
        except SpendLimit:
            pass  # it is measured when there is room for it
        except EmbeddingError as error:
            fresh.reason, fresh.stopped = error, True
    return fresh


def _write_group(
    index: Index,
    space: Space,
    provider: Provider | None,
    group: _Group,
    fresh: Mapping[str, bytes],
    *,
    use_cache: bool,
) -> tuple[int, int]:
    """Keep the vectors of chunks that still exist and have none; return how many, and how many were known."""
    dims = group.dims or (provider.dims if provider else None)
    entry = index.state.entry_of(space)
    if dims is None or entry is None:
        return 0, 0
    vectors = index.vectors_in(space)
    pending: set[int] = set()
    if index.state.birth == group.birth:
        # New chunks have higher numbers, so the first ones without a vector now are those of the group.
        first = group.chunks[0][0]
        pending = {number for number, _ in index.pending(vectors, first - 1, len(group.chunks))}
    written = cached = 0
    placed: set[str] = set()
    with transaction(index.connection):
        for number, digest in group.digests.items():
            blob = fresh.get(digest) or group.known.get(digest)
            if blob is not None and number in pending:
                vectors.put(number, *unpack(blob, dims))
                written += 1
                cached += digest not in fresh
                placed.add(digest)
        if fresh and provider is not None and not entry.answers_as:
            spaces.set_answers_as(index.connection, entry.number, provider.answers_as)
        if use_cache:
            cache.drop(index.connection, space, placed & group.known.keys())
            left = {digest: blob for digest, blob in fresh.items() if digest not in placed}
            cache.remember(index.connection, space, left, dims)
    return written, cached


def _measure_scale(job: Job, provider: Provider, space: Space) -> None:
    """Learn the scale of a model whose vectors all came from the cache or from a batch."""
    if provider.scale_known:
        return
    with job.reader() as index:
        vectors = index.vectors_in(space)
        if not vectors.count() or vectors.background() is not None:
            return
    with suppress(EmbeddingError):  # search does without until another sync learns it
        background = background_of(provider)
        with job.writer() as index:
            index.vectors_in(space).set_background(background)
