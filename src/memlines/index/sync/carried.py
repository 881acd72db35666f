"""Keep vectors of chunks that go, for texts that stay.

The cache holds fewer vectors than a large index has, so what a chunk of it was embedded to may be in no
other place. A file that was moved or changed, and an index that is built anew, should not cost a call.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import islice

from memlines.embed.passages import is_sound
from memlines.index.store.sqlite import cache, spaces
from memlines.index.store.sqlite.db import transaction
from memlines.index.store.sqlite.index import Index
from memlines.text.chunk import text_hash

_GROUP = 256


def carry_vectors(old: Index, new: Index) -> None:
    """Put every vector of an index, of each of its spaces, into the cache of the one that replaces it."""
    for entry in spaces.entries(old.connection):
        numbers = (number for number, _ in old.vectors_in(entry.space).by_chunk())
        _carry(old, new, entry, numbers)


def carry_chunks(index: Index, numbers: Collection[int]) -> None:
    """Put the vectors of chunks into the cache before they go."""
    for entry in spaces.entries(index.connection) if numbers else ():
        _carry(index, index, entry, numbers)


def _carry(old: Index, new: Index, entry: spaces.SpaceEntry, numbers: Iterable[int]) -> None:
    vectors = old.vectors_in(entry.space)
    dims = entry.dims or vectors.dims() or 0
    for group in _groups(numbers):
        blobs, sentences = vectors.of(group), vectors.sentences(group)
        packed = {number: blob + sentences.get(number, b"") for number, blob in blobs.items()}
        sound = {number: blob for number, blob in packed.items() if is_sound(blob, dims)}
        known = {text_hash(chunk.embedded_text): sound[number] for number, chunk in old.chunks(sound).items()}
        with transaction(new.connection):
            cache.remember(new.connection, entry.space, known, dims)


def _groups(numbers: Iterable[int]) -> Iterator[list[int]]:
    rest = iter(numbers)
    while group := list(islice(rest, _GROUP)):
        yield group
