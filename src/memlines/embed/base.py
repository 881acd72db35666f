"""What a provider of embeddings is, and the one place where its answers are checked.

A vector is a row of a numpy float32 array while it is worked with, and raw little-endian float32
bytes where a query is handed on (`to_blobs`). Both are of unit length, so a dot product is the
cosine. How vectors are kept is in `codec.py`. Call a provider through `embed_query` and
`embed_documents` of this module only: they refuse blank text before it is sent and check every
vector that comes back.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from memlines.errors import BadVectors, UsageError
from memlines.records import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]
    """One vector, shape (dims,)."""
    Vectors = NDArray[np.float32]
    """One vector a row, shape (n, dims)."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a provider accepts at a time."""

    text_bytes: int
    """The longest text; a longer one is embedded in pieces."""
    request_bytes: int
    request_texts: int
    """What one call may hold."""
    at_once: int = 1
    """How many calls may be under way at the same time."""


_Item = TypeVar("_Item")

Use = Literal["passages", "batch", "query", "rerank"]
"""What tokens are sent for, which decides their price and their limits."""


class Meter(Protocol):
    """Counts what a provider costs, and stops it at a limit; safe to call from several threads."""

    def reserve(self, tokens: int, use: Use) -> None:
        """Count tokens that are about to be sent, or raise `SpendLimit` if they are too many."""

    def settle(self, reserved: int, used: int, use: Use) -> None:
        """Replace what was reserved by what was really used; 0 if nothing was sent."""

    def begin_run(self) -> None:
        """Begin to count for another sync."""


class Provider:
    """Something that turns text into vectors; safe to call from several threads.

    The constructor raises an `EmbeddingError` where the provider cannot work, and is cheap
    otherwise: whatever is slow (a model, a connection) waits until the first text.
    """

    id: str
    """The name in the settings, such as `builtin`."""
    model: str
    """The model's name; a different name means different vectors."""
    key: str
    """What differs between two sources of the same model; holds no secret."""
    dims: int | None
    """How many numbers a vector has; `None` until the first one came, where only the service knows."""
    limits: Limits
    """How much it accepts at a time."""
    by_sentence: bool = False
    """Whether the sentences of a passage are embedded as well: where that costs time only."""
    scale_known: bool = False
    """Whether search knows what the cosines of the model mean; if not, that has to be measured."""
    answers_as: str = ""
    """What the service calls the model that answers, once it said so; empty where none does."""
    sends_to: str = ""
    """Where the text goes, such as `api.openai.com`; empty if it stays on this machine."""
    meter: Meter | None = None
    """What counts its cost; nothing if it is free."""

    def embed_query(self, text: str) -> Vector:
        """Return the vector of a question."""
        raise NotImplementedError

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of passages, in their order."""
        raise NotImplementedError

    def words_in_pieces(self, words: Iterable[str]) -> frozenset[str]:
        """Return the words that the model knows only in small pieces: its vectors say little about them."""
        return frozenset()

    def with_deadline(self) -> Provider:
        """Return the same provider for when a person waits, which gives up early if it can."""
        return self


def embed_query(provider: Provider, text: str) -> Vector:
    """Return the checked unit vector of a question.

    Blank text is refused with a `UsageError`: remote services answer it with errors of their own.
    """
    if not text.strip():
        raise UsageError("a query without any text has no vector", todo="Ask for something")
    source = f"provider {provider.id!r} (model {provider.model!r})"
    vectors = validated([provider.embed_query(text)], 1, provider.dims, source=source)
    vector: Vector = vectors[0]
    return vector


def embed_documents(provider: Provider, texts: Sequence[str]) -> Vectors:
    """Return the checked unit vectors of passages, one row each, in their order.

    A blank passage is refused with a `UsageError` that names its index, before anything is sent.
    """
    for index, text in enumerate(texts):
        if not text.strip():
            raise UsageError(f"text {index} is blank and has no vector", todo="Leave blank texts out")
    if not texts:
        return validated([], 0, provider.dims)
    source = f"provider {provider.id!r} (model {provider.model!r})"
    return validated(provider.embed_documents(texts), len(texts), provider.dims, source=source)


def validated(
    vectors: Sequence[Any] | Vectors, count: int, dims: int | None, *, source: str = "the provider"
) -> Vectors:
    """Return vectors as one float32 array of unit rows, or raise `BadVectors`.

    Wrong are: not one vector a text, not `dims` numbers a vector, a number that is not
    finite, nothing but zeros. Without `dims` all vectors must be as long as the first.
    """
    import numpy as np

    if len(vectors) != count:
        raise _bad(source, f"returned {len(vectors)} vectors for {count} texts")
    if dims is None:
        dims = np.size(vectors[0]) if count else 0
    for index, vector in enumerate(vectors):
        try:
            shape = np.shape(vector) if isinstance(vector, (np.ndarray, Sequence)) else ()
        except ValueError:  # lists of unequal length
            shape = ()
        if shape != (dims,):
            raise _bad(source, f"returned shape {shape} instead of ({dims},) for text {index}")
    raw = np.asarray(vectors).reshape(count, dims)
    if count and raw.dtype.kind not in "fiu":
        index = next(i for i, vector in enumerate(vectors) if np.asarray(vector).dtype.kind not in "fiu")
        raise _bad(source, f"returned something other than numbers for text {index}")
    # In float64, scaled by the largest number first, no finite input overflows or underflows.
    exact = raw.astype(np.float64)
    finite = np.isfinite(exact).all(axis=1)
    if not finite.all():
        raise _bad(source, f"returned a number that is not finite for text {int(np.argmin(finite))}")
    peak = np.abs(exact).max(axis=1, keepdims=True, initial=0.0)
    if (peak == 0).any():
        raise _bad(source, f"returned nothing but zeros for text {int(np.argmin(peak))}")
    exact /= peak
    exact /= np.sqrt(np.einsum("ij,ij->i", exact, exact))[:, None]
    return exact.astype(np.float32)


def to_blobs(vectors: Vectors) -> list[bytes]:
    """Return each row as its raw little-endian float32 bytes."""
    return [row.tobytes() for row in vectors.astype("<f4", copy=False)]


def _bad(source: str, problem: str) -> BadVectors:
    return BadVectors(f"{source} {problem}", todo="Try again, or choose another embeddings.provider")


def pack(
    items: Iterable[_Item], size_of: Callable[[_Item], int], most_size: int, most_items: int | None = None
) -> Iterator[list[_Item]]:
    """Yield items together, in their order, as many as the limits allow; one that is too large goes alone."""
    group: list[_Item] = []
    size = 0
    for item in items:
        own = size_of(item)
        if group and (len(group) == most_items or size + own > most_size):
            yield group
            group, size = [], 0
        group.append(item)
        size += own
    if group:
        yield group


def pack_requests(texts: Sequence[str], limits: Limits) -> list[list[int]]:
    """Return the places of the texts that go into one request each."""
    sizes = [len(text.encode("utf-8", "replace")) for text in texts]
    return list(pack(range(len(texts)), sizes.__getitem__, limits.request_bytes, limits.request_texts))


def count_cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
