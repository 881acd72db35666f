"""Vectors as bytes, as few as possible without changing an answer.

In use a vector is float32 of unit length. Kept is less:

- of a passage one byte a number, so scaled that the largest is 127. It needs no scale beside it, because a
  cosine does not depend on the length, and it changes a cosine by about 0.001;
- of a sentence its part in the direction of its passage, as one number, and of the rest one bit a number, its
  sign, with one number for how much they say. The product of a query with these signs is on average that with
  the rest itself, which is exact enough to find which sentence of a few candidates answers a question.

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

    from memlines.embed.base import Vectors

_PEAK = 127
_NUMBER_BYTES = 4
"""Two numbers of two bytes each."""

_NOTHING = 1e-3
"""What the numbers of a rest that is only rounding add up to at most."""


def encode(vectors: Vectors) -> list[bytes]:
    """Return each row with one byte a number."""
    import numpy as np

    peaks = np.abs(vectors).max(axis=1, keepdims=True)
    return [row.tobytes() for row in np.round(vectors / peaks * _PEAK).astype(np.int8)]


def decode(blobs: Sequence[bytes] | NDArray[np.int8]) -> Vectors:
    """Return vectors that `encode` made, again of unit length; they must be of one length."""
    import numpy as np

    if not isinstance(blobs, np.ndarray):
        blobs = np.frombuffer(b"".join(blobs), np.int8).reshape(len(blobs), -1)
    rows = blobs.astype(np.float32)
    rows /= np.sqrt(np.maximum(1.0, np.vecdot(rows, rows)))[:, None]  # what went blank stays so
    return rows


def cosines(query: bytes, blobs: Sequence[bytes] | NDArray[np.int8]) -> list[float]:
    """Return the cosines of a query with vectors that `encode` made."""
    import numpy as np

    found: list[float] = np.vecdot(decode(blobs), np.frombuffer(query, "<f4")).tolist()
    return found


def encode_sentences(vectors: Vectors, passages: Vectors) -> list[bytes]:
    """Return each row, the vector of a sentence, beside that of its passage, with one bit a number."""
    import numpy as np

    shares = np.vecdot(vectors, passages)
    rest = vectors - shares[:, None] * passages
    sums = np.abs(rest).sum(axis=1)
    weights = np.divide(np.vecdot(rest, rest), sums, out=np.zeros_like(sums), where=sums > _NOTHING)
    numbers = np.stack([shares, weights], axis=1).astype("<f2")
    signs = np.packbits(rest >= 0, axis=1)
    return [sign.tobytes() + two.tobytes() for sign, two in zip(signs, numbers, strict=True)]


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
    size = _sentence_size(len(vector))
    signs, shares, weights = _sentence_rows(b"".join(sentences.values()), len(vector))
    if not _are_sound(shares, weights, len(vector)):
        raise StoreDamaged(
            "the index is damaged: vectors of sentences are not what was written",
            todo="Run 'memlines sync --force' to rebuild it",
        )
    counts = [len(blob) // size for blob in sentences.values()]
    known = np.repeat([passages[number] for number in sentences], counts)
    # The signs are 1 and 0 instead of 1 and -1, so the product is doubled and the sum of the query taken off.
    products = 2 * np.vecdot(signs.astype(np.float32), vector) - vector.sum()
    cosines = iter(np.clip(shares * known + weights * products, -1.0, 1.0).tolist())
    return {number: list(islice(cosines, count)) for number, count in zip(sentences, counts, strict=True)}


def is_packed(blob: bytes, dims: int) -> bool:
    """Return whether a blob has the length of a packed passage with vectors of so many numbers."""
    rest = len(blob) - dims
    return rest >= 0 and rest % _sentence_size(dims) == 0


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


def _sentence_size(dims: int) -> int:
    return (dims + 7) // 8 + _NUMBER_BYTES


def _sentence_rows(blob: bytes, dims: int) -> tuple[NDArray[np.uint8], Vectors, Vectors]:
    """Return the signs of sentences, as 1 and 0, their shares of their passages, and what the signs weigh."""
    import numpy as np

    rows = np.frombuffer(blob, np.uint8).reshape(-1, _sentence_size(dims))
    numbers = np.ascontiguousarray(rows[:, -_NUMBER_BYTES:]).view("<f2").astype(np.float32)
    return np.unpackbits(rows[:, :-_NUMBER_BYTES], axis=1, count=dims), numbers[:, 0], numbers[:, 1]


def _are_sound(shares: Vectors, weights: Vectors, dims: int) -> bool:
    """Return whether these can be of vectors of unit length, which those that went blank are not."""
    import numpy as np

    return bool(np.all((np.abs(shares) < 1.01) & (weights < 1.01) & (shares**2 + dims * weights**2 > 0.9)))
