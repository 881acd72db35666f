"""Vectors as bytes, as few as possible without changing an answer.

In use a vector is float32 of unit length. Kept is less:

- of a passage one byte a number, so scaled that the largest is 127. It needs no scale beside it, because a
  cosine does not depend on the length, and it changes a cosine by about 0.001;
- of a sentence its part in the direction of its passage, as one number, and of the rest two bits a number,
  one of four levels, with one number for what a level weighs. The product of a query with these levels is on
  average that with the rest itself: exact enough to find which sentence of a few candidates answers.

What is kept of a passage is packed: its vector, followed by those of its sentences.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from memlines.errors import StoreDamaged

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from memlines.embed.base import Vector, Vectors

_PEAK = 127
_NUMBER_BYTES = 4
"""Two numbers of two bytes each."""

_MIDDLE = 1.5
_STEP = 0.9957
"""The middle of the four levels of a number of a sentence, 0 to 3, and how far apart these are, as a part of
the deviation of the numbers: so they say the most of what is distributed normally."""

_NOTHING = 1e-3
"""What the numbers of a rest that is only rounding add up to at most."""


def encode(vectors: Vectors) -> list[bytes]:
    """Return each row with one byte a number."""
    import numpy as np

    peaks = np.abs(vectors).max(axis=1, keepdims=True)
    return [row.tobytes() for row in np.round(vectors / peaks * _PEAK).astype(np.int8)]


def decode(blobs: Sequence[bytes]) -> Vectors:
    """Return vectors that `encode` made, again of unit length; they must be of one length."""
    rows, lengths = _rows_of(blobs)
    rows /= lengths[:, None]
    return rows


def cosines(query: bytes, blobs: Sequence[bytes] | NDArray[np.int8]) -> list[float]:
    """Return the cosines of a query with vectors that `encode` made."""
    import numpy as np

    rows, lengths = _rows_of(blobs)
    found: list[float] = (np.vecdot(rows, np.frombuffer(query, "<f4")) / lengths).tolist()
    return found


def _rows_of(blobs: Sequence[bytes] | NDArray[np.int8]) -> tuple[Vectors, Vector]:
    """Return vectors that `encode` made, and how long each of them is; what went blank counts as 1."""
    import numpy as np

    if not isinstance(blobs, np.ndarray):
        blobs = np.frombuffer(b"".join(blobs), np.int8).reshape(len(blobs), -1)
    rows = blobs.astype(np.float32)
    return rows, np.sqrt(np.maximum(1.0, np.vecdot(rows, rows)))


def encode_sentences(vectors: Vectors, passages: Vectors) -> list[bytes]:
    """Return each row, the vector of a sentence, beside that of its passage, with two bits a number."""
    import numpy as np

    shares = np.vecdot(vectors, passages)
    rest = vectors - shares[:, None] * passages
    steps = _STEP * np.sqrt(np.mean(rest**2, axis=1, keepdims=True))
    codes = np.clip(np.floor(rest / np.maximum(steps, _NOTHING)) + 2, 0, 3).astype(np.uint8)
    said, length = np.vecdot(rest, codes - _MIDDLE), np.vecdot(rest, rest)
    weights = np.divide(length, said, out=np.zeros_like(said), where=said > _NOTHING)
    numbers = np.stack([shares, weights], axis=1).astype("<f2")
    low, high = np.packbits(codes & 1, axis=1), np.packbits(codes >> 1, axis=1)
    rows = np.concatenate([low, high, numbers.view(np.uint8)], axis=1)
    return [row.tobytes() for row in rows]


def sentence_cosines(
    query: bytes, sentences: Mapping[int, bytes], passages: Mapping[int, float]
) -> dict[int, list[float]]:
    """Return for each passage the cosines of its sentences with a query, in their order.

    `passages` are the cosines of the passages themselves.
    """
    import numpy as np

    if not sentences:
        return {}
    vector = np.frombuffer(query, "<f4")
    size = sentence_size(len(vector))
    levels, shares, weights = _sentence_rows(b"".join(sentences.values()), len(vector))
    if not _are_sound(shares, weights, len(vector)):
        raise StoreDamaged(
            "the index is damaged: vectors of sentences are not what was written",
            todo="Run 'memlines sync --force' to rebuild it",
        )
    counts = [len(blob) // size for blob in sentences.values()]
    known = np.repeat([passages[number] for number in sentences], counts)
    low, high = np.split(np.unpackbits(levels, axis=1), 2, axis=1)
    # Its parameter `count` would leave out the bits behind the last number too, in ten times as long.
    codes = (low + 2 * high)[:, : len(vector)].astype(np.float32)
    products = np.vecdot(codes, vector) - _MIDDLE * vector.sum()
    cosines = iter(np.clip(shares * known + weights * products, -1.0, 1.0).tolist())
    return {number: list(islice(cosines, count)) for number, count in zip(sentences, counts, strict=True)}


def is_packed(blob: bytes, dims: int) -> bool:
    """Return whether a blob has the length of a packed passage with vectors of so many numbers."""
    rest = len(blob) - dims
    return rest >= 0 and rest % sentence_size(dims) == 0


def unpack(blob: bytes, dims: int) -> tuple[bytes, bytes]:
    """Return the vector of a passage and those of its sentences."""
    return blob[:dims], blob[dims:]


def is_sound(blob: bytes, dims: int) -> bool:
    """Return whether a blob is packed and every vector in it can be what was written.

    A page of an index that went blank leaves vectors of zeros, which no check of SQLite's own notices.
    """
    import numpy as np

    if not is_packed(blob, dims):
        return False
    numbers, sentences = unpack(blob, dims)
    peak = int(np.abs(np.frombuffer(numbers, np.int8).astype(np.int16)).max(initial=0))
    return peak == _PEAK and _are_sound(*_sentence_rows(sentences, dims)[1:], dims)


def sentence_size(dims: int) -> int:
    """Return how many bytes the vector of a sentence has."""
    return 2 * ((dims + 7) // 8) + _NUMBER_BYTES


def _sentence_rows(blob: bytes, dims: int) -> tuple[NDArray[np.uint8], Vectors, Vectors]:
    """Return the packed levels of sentences, their shares of their passages, and what a level weighs."""
    import numpy as np

    rows = np.frombuffer(blob, np.uint8).reshape(-1, sentence_size(dims))
    numbers = np.ascontiguousarray(rows[:, -_NUMBER_BYTES:]).view("<f2").astype(np.float32)
    return rows[:, :-_NUMBER_BYTES], numbers[:, 0], numbers[:, 1]


def _are_sound(shares: Vectors, weights: Vectors, dims: int) -> bool:
    """Return whether these can be of vectors of unit length, which those that went blank are not."""
    import numpy as np

    most = shares**2 + dims * (_MIDDLE * weights) ** 2
    return bool(np.all((np.abs(shares) < 1.01) & (weights < 2.01) & (most > 0.9)))
