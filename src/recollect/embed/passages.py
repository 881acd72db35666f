"""Embed passages whole and by sentence.

The vector of a long passage says what it is about, and blurs what each sentence says. So the
sentences are embedded too, and kept as one byte a number: four times smaller than the vector
of the passage, and exact enough to tell which of a few candidates answers a question.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from recollect.embed.base import Provider, embed_documents, to_blobs
from recollect.text.sentences import sentences_of

_SCALE = 127
_FLOAT_BYTES = 4


def embed_passages(provider: Provider, texts: Sequence[str]) -> list[bytes]:
    """Return for each text its vector, followed by those of its sentences if the provider wants them."""
    import numpy as np

    sentences = [sentences_of(text) if provider.by_sentence else [] for text in texts]
    flat = [sentence for own in sentences for sentence in own]
    vectors = embed_documents(provider, [*texts, *flat])
    small = np.round(vectors[len(texts) :] * _SCALE).astype(np.int8)
    packed, begin = [], 0
    for blob, own in zip(to_blobs(vectors[: len(texts)]), sentences, strict=True):
        packed.append(blob + small[begin : begin + len(own)].tobytes())
        begin += len(own)
    return packed


def is_packed(blob: bytes, dims: int) -> bool:
    """Tell whether a blob can be what `embed_passages` gives for vectors of this length."""
    rest = len(blob) - _FLOAT_BYTES * dims
    return rest >= 0 and rest % dims == 0


def unpacked(blob: bytes, dims: int) -> tuple[bytes, bytes]:
    """Return the vector of a passage and those of its sentences."""
    return blob[: _FLOAT_BYTES * dims], blob[_FLOAT_BYTES * dims :]


def best_sentence(query: bytes, sentences: Mapping[int, bytes]) -> dict[int, float]:
    """Return for each passage the cosine of its best sentence with a query."""
    import numpy as np

    if not sentences:
        return {}
    vector = np.frombuffer(query, "<f4") / _SCALE
    counts = [len(blob) // len(vector) for blob in sentences.values()]
    rows = np.frombuffer(b"".join(sentences.values()), np.int8).reshape(-1, len(vector))
    cosines = np.vecdot(rows.astype(np.float32), vector)  # on one core, like the search itself
    best = np.maximum.reduceat(cosines, np.cumsum([0, *counts[:-1]]))
    return dict(zip(sentences, best.tolist(), strict=True))
