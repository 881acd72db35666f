"""Runs the model over many texts on all cores in bounded memory."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, partial
from pathlib import Path

import numpy as np
from sentencepiece import SentencePieceProcessor
from threadpoolctl import ThreadpoolController

from memlines.embed.base import count_cores, pack
from memlines.embed.builtin.model import (
    DIMS,
    FEATURES,
    Floats,
    Ids,
    Segment,
    Weights,
    feature_sums,
    segments_of,
    vectors_of,
)
from memlines.embed.builtin.vocabulary import BEGIN, END, SHORT, UNKNOWN, Pieces

_SLICE = 65_536
"""Characters that are tokenised at once; bounds the memory a very long text takes."""

_FEW = 4_000
"""Characters of short texts after which loading sentencepiece pays."""


class Tokenizer:
    """The vocabulary, ready to use; safe to call from several threads."""

    def __init__(self, path: Path, weights: Weights) -> None:
        self._path = path
        self._table = Pieces(weights)
        self._left = _FEW

    def ids(self, text: str) -> Ids:
        """Return the token ids of a text between the marks of begin and end.

        A text that holds nothing the vocabulary can see is one unknown token.
        """
        own = None
        if len(text) <= SHORT and self._left > 0:
            self._left -= len(text)
            own = self._table.ids(text)
        parts: list[list[int]] = [[BEGIN], own or []]
        if own is None:
            # Bytes, because the library refuses text with half a surrogate pair (from a broken file).
            parts.extend(
                self._pieces.encode(part.encode("utf-8", "replace"), out_type=int) for part in _slices(text)
            )
        if not any(parts[1:]):
            parts.append([UNKNOWN])
        parts.append([END])
        return np.concatenate([np.array(part, dtype=np.int32) for part in parts])

    @cached_property
    def _pieces(self) -> SentencePieceProcessor:
        """Load the vocabulary. The file is read here because the library cannot open every path."""
        return SentencePieceProcessor(model_proto=self._path.read_bytes())


def _slices(text: str) -> Iterator[str]:
    """Yield a text in parts that end where a word ends, so that they give the same tokens."""
    begin = 0
    while len(text) - begin > _SLICE:
        limit = begin + _SLICE
        blank = max(text.rfind(" ", begin + 1, limit), text.rfind("\n", begin + 1, limit))
        end = blank if blank > 0 else limit
        yield text[begin:end]
        begin = end
    yield text[begin:]


SEGMENT_TOKENS = 2048
"""Tokens that are worked on at once: a passage of the usual length, its sentences, and what follows."""

_SMALLEST_BATCH = 256
"""Below this many tokens a core's share is not worth a thread."""

_SLAB_TEXTS = 512
_MOST_WORKERS = 8


class Engine:
    """A loaded model; safe to call from several threads."""

    def __init__(self, weights: Weights, tokenizer: Tokenizer) -> None:
        self._weights = weights
        self.tokenizer = tokenizer
        self._workers = min(count_cores(), _MOST_WORKERS)

    def embed(self, texts: Sequence[str]) -> Floats:
        """Return one vector a text, in their order, not yet of unit length."""
        vectors = np.empty((len(texts), DIMS), dtype=np.float32)
        with _one_blas_thread:
            for begin in range(0, len(texts), _SLAB_TEXTS):
                slab = texts[begin : begin + _SLAB_TEXTS]
                vectors[begin : begin + len(slab)] = self._embed_slab(slab)
        return vectors

    def _embed_slab(self, texts: Sequence[str]) -> Floats:
        ids = [self.tokenizer.ids(text) for text in texts]
        counts = np.fromiter(map(len, ids), dtype=np.int64, count=len(ids))
        segments = [
            segment for text, own in enumerate(ids) for segment in segments_of(text, own, SEGMENT_TOKENS)
        ]
        share = int(counts.sum()) // self._workers + 1
        most = min(SEGMENT_TOKENS, max(_SMALLEST_BATCH, share))
        # Neighbours stay together: passages of one file share words, and a word that occurs twice in a batch
        # is worked out once.
        batches = list(pack(segments, lambda segment: len(segment.ids), most))
        sums = np.zeros((len(texts), FEATURES), dtype=np.float32)
        for batch, parts in zip(batches, self._run(batches), strict=True):
            for segment, part in zip(batch, parts, strict=True):
                sums[segment.text] += part
        return vectors_of(self._weights, sums, counts)

    def _run(self, batches: Sequence[Sequence[Segment]]) -> Iterator[Floats]:
        work = partial(feature_sums, self._weights)
        if len(batches) == 1 or self._workers == 1:
            yield from map(work, batches)
            return
        pool = ThreadPoolExecutor(min(self._workers, len(batches)), thread_name_prefix="embed")
        try:
            yield from pool.map(work, batches)
        finally:
            # An interrupt must not wait for everything that is still queued.
            pool.shutdown(cancel_futures=True)


class _OneBlasThread:
    """Keeps the BLAS library to one thread while any call is inside.

    Our own threads each run whole batches; BLAS threads on top of them would fight over the
    cores. The limit holds for the process, so the first one in sets it and the last one out
    takes it back; otherwise overlapping calls would restore each other's limit.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._controller = ThreadpoolController()
        self._inside = 0

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._limit = self._controller.limit(limits=1, user_api="blas")
            self._inside += 1

    def __exit__(self, *exception: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._limit.restore_original_limits()


_one_blas_thread = _OneBlasThread()
