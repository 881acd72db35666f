"""All vectors of a table in memory: their signs, one bit a number, and as they are kept, one byte a number.

How many signs two vectors have in common says roughly how near they are, and to count that for a million
vectors takes a few milliseconds. Those that have the most are then compared by all their numbers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from memlines.embed.codec import cosines
from memlines.index.store.sqlite.db import Connection, damaged, in_groups, rows_in
from memlines.records import dataclass

Numbers = NDArray[np.int64]

_COMPARED = 1_000
"""Vectors that are compared by all numbers. Among 250,000 real ones, the 10 nearest were always among those
with the most signs in common with the query, and of the 40 nearest 98 in a hundred."""

_GROUP = 8_192
"""Vectors that are read at once; twice the bytes of all of them would fill the memory."""


@dataclass(frozen=True, slots=True)
class Matrix:
    """The vectors of a table at one moment."""

    version: int
    chunks: Numbers
    """The numbers of the chunks, the lowest first."""
    rows: NDArray[np.int8]
    signs: NDArray[np.uint64]
    """In row n, 64 signs of each vector, beginning with that of number 64 n."""

    @classmethod
    def load(cls, connection: Connection, table: str, index: Path, previous: Self | None) -> Self:
        """Read the vectors of a table; of what was read before, only those that came or went since."""
        version = int(connection.pragma("data_version"))
        # The version does not change by what this very connection writes.
        if previous is not None and previous.version == version and connection.readonly("main"):
            return previous
        sql = f"SELECT chunk, embedding FROM {table}"
        if previous is None:
            count = int(connection.execute(f"SELECT count(*) FROM {table}").get)
            return cls(version, *_read(connection.execute(f"{sql} ORDER BY chunk"), count, index))
        every = (number for (number,) in connection.execute(f"SELECT chunk FROM {table} ORDER BY chunk"))
        numbers = np.fromiter(every, np.int64)
        stay = np.isin(previous.chunks, numbers, assume_unique=True)
        new = np.setdiff1d(numbers, previous.chunks, assume_unique=True).tolist()
        added = rows_in(connection, f"{sql} WHERE chunk IN ({{marks}})", new)
        chunks, rows, signs = _read(added, len(new), index)
        if not new:
            return cls(version, numbers, previous.rows[stay], previous.signs[:, stay])
        if stay.any() and rows.shape[1] != previous.rows.shape[1]:
            raise _uneven(index)
        order = np.argsort(np.concatenate([previous.chunks[stay], chunks]))
        if stay.any():
            rows = np.concatenate([previous.rows[stay], rows])
            signs = np.concatenate([previous.signs[:, stay], signs], axis=1)
        return cls(version, numbers, rows[order], signs[:, order])

    def nearest(
        self, query: bytes, limit: int, also: Iterable[int], only: Collection[int] | None
    ) -> dict[int, float]:
        """Return the cosine of the nearest chunks, of all or of `only` some, and of those in `also`."""
        vector = np.frombuffer(query, "<f4")
        if not len(self.chunks) or len(vector) != self.rows.shape[1]:
            return {}
        found = self._cosines(query, self._most_alike(vector, max(limit, _COMPARED), only))
        if len(found) > limit:
            least = sorted(found.values())[-limit]
            found = {number: cosine for number, cosine in found.items() if cosine >= least}
        return found | self._cosines(query, self._places(also))

    def _cosines(self, query: bytes, places: Numbers) -> dict[int, float]:
        """Return the cosines of the vectors at some places, by the numbers of their chunks."""
        return dict(zip(self.chunks[places].tolist(), cosines(query, self.rows[places]), strict=True))

    def _places(self, chunks: Iterable[int]) -> Numbers:
        """Return where the vectors of those chunks are that have one."""
        wanted = np.fromiter(chunks, np.int64)
        places = np.searchsorted(self.chunks, wanted)
        places[places == len(self.chunks)] = 0
        there: Numbers = places[self.chunks[places] == wanted]
        return there

    def _most_alike(self, vector: NDArray[np.float32], limit: int, only: Collection[int] | None) -> Numbers:
        """Return where the vectors are that have the most signs in common with a query, of all or some."""
        inside = np.arange(len(self.chunks)) if only is None else self._places(only)
        if len(inside) <= limit:
            return inside
        differences = np.zeros(len(self.chunks), np.uint16)
        for row, signs in zip(self.signs, _signs_of(vector[None, :])[:, 0], strict=True):
            differences += np.bitwise_count(row ^ signs)
        if only is not None:
            differences = differences[inside]
        return inside[np.argpartition(differences, limit)[:limit]]


def _read(
    found: Iterable[Any], count: int, index: Path
) -> tuple[Numbers, NDArray[np.int8], NDArray[np.uint64]]:
    """Return the numbers of so many chunks, their vectors and the signs of these."""
    chunks = np.empty(count, np.int64)
    rows, signs = np.empty((count, 0), np.int8), np.empty((0, count), np.uint64)
    done = 0
    for group in in_groups(found, _GROUP):
        size = len(group[0][1]) if isinstance(group[0][1], bytes) else 0
        if not done:
            rows = np.empty((count, size), np.int8)
            signs = np.empty((-(-size // 64), count), np.uint64)
        blobs = [blob for _, blob in group if isinstance(blob, bytes) and len(blob) == size]
        if len(blobs) < len(group) or not size or size != rows.shape[1]:
            raise _uneven(index)
        part = slice(done, done + len(group))
        chunks[part] = [number for number, _ in group]
        rows[part] = np.frombuffer(b"".join(blobs), np.int8).reshape(len(group), size)
        signs[:, part] = _signs_of(rows[part])
        done += len(group)
    return chunks, rows, signs


def _signs_of(vectors: NDArray[Any]) -> NDArray[np.uint64]:
    """Return the signs of vectors, 64 in each number, those of one vector in one column."""
    signs = np.packbits(vectors >= 0, axis=1)
    return np.pad(signs, ((0, 0), (0, -signs.shape[1] % 8))).view(np.uint64).T


def _uneven(index: Path) -> Exception:
    return damaged(index, "its vectors are not of one length")
