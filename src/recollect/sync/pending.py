"""Give vectors to the chunks that have none yet."""

from __future__ import annotations

from itertools import islice

from recollect.embed.base import Provider
from recollect.embed.passages import embed_passages, is_packed, unpacked
from recollect.errors import EmbeddingError
from recollect.store.sqlite import cache
from recollect.store.sqlite.cache import Space
from recollect.store.sqlite.db import transaction
from recollect.store.sqlite.index import Index
from recollect.text.chunk import text_hash
from recollect.types import Chunk, Progress

_GROUP = 256
"""Chunks embedded and committed at a time: what a kill loses at most, and what memory holds."""

LABEL = "embedding"


def embed_pending(
    index: Index, provider: Provider, *, use_cache: bool, limit: int | None, progress: Progress
) -> EmbeddingError | None:
    """Embed pending chunks, at most so many; return what stopped it before that.

    Everything embedded until then is kept. The rest stays pending and is found by its words.
    """
    total = index.count_pending()
    if limit is not None:
        total = min(total, limit)
    done, last = 0, 0
    while done < total:
        batch = index.pending(last, min(_GROUP, total - done))
        if not batch:
            break
        progress(done, total, LABEL)
        try:
            _embed(index, provider, batch, use_cache=use_cache)
        except EmbeddingError as error:
            return error
        done += len(batch)
        last = batch[-1][0]
    if total:
        progress(done, total, LABEL)
    return None


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


def _embed(index: Index, provider: Provider, batch: list[tuple[int, Chunk]], *, use_cache: bool) -> None:
    space = Space(provider.id, provider.model, provider.key)
    texts = {text_hash(chunk.embedded_text): chunk.embedded_text for _, chunk in batch}
    known = cache.cached(index.connection, space, list(texts)) if use_cache else {}
    known = {digest: blob for digest, blob in known.items() if is_packed(blob, provider.dims)}
    missing = [digest for digest in texts if digest not in known]
    fresh: dict[str, bytes] = {}
    if missing:
        blobs = embed_passages(provider, [texts[digest] for digest in missing])
        fresh = dict(zip(missing, blobs, strict=True))
    every = known | fresh
    with transaction(index.connection):
        for number, chunk in batch:
            blob = every[text_hash(chunk.embedded_text)]
            index.vectors.put(number, *unpacked(blob, provider.dims))
        if use_cache:
            cache.touch(index.connection, space, known)
            cache.remember(index.connection, space, fresh)
