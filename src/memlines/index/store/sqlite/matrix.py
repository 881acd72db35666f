"""All vectors as one matrix, so that exact search is one product.

Reading a hundred thousand blobs at every start would be noticed, so the writer keeps a copy
beside the index that is mapped into memory. The copy is only a copy: rows that were deleted
since are masked, rows that came since are read from the table, and a copy of another index,
or a damaged one, is ignored.
"""

from __future__ import annotations

import hashlib
import os
import struct
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memlines.folders import CREATE_FLAGS, open_private
from memlines.index.store.sqlite.db import Connection, damaged
from memlines.index.store.sqlite.files import open_regular

Floats = NDArray[np.float32]
Numbers = NDArray[np.int64]

_HEADER = struct.Struct("<8s32sQQ")
_MAGIC = b"RCLVEC01"
_WORTH_SAVING = 1_000
_STALE_PART = 0.1
"""The copy is written again when this part of the rows is not in it: often enough that a start
is quick, seldom enough that one changed note does not rewrite everything."""


@dataclass(frozen=True, slots=True)
class Matrix:
    """The vectors of an index at one moment."""

    path: Path
    owner: str
    version: int
    chunks: Numbers
    parts: tuple[Floats, ...]
    dead: NDArray[np.bool_]
    rows: Numbers
    copied: int

    @classmethod
    def load(
        cls, connection: Connection, index: Path, owner: str, table: str, previous: Matrix | None
    ) -> Matrix:
        """Return the current vectors; what was loaded before is kept if nothing changed."""
        version = int(connection.pragma("data_version"))
        # The version does not change by what this very connection writes.
        if previous is not None and previous.version == version and connection.readonly("main"):
            return previous
        copy = _read_copy(_copy_path(index), owner)
        # Without an order SQLite answers this from the narrow index; with one it would read every blob.
        alive = np.fromiter((row[0] for row in connection.execute(f"SELECT number FROM {table}")), np.int64)
        dead = ~np.isin(copy.rows, alive, assume_unique=True)
        if np.count_nonzero(alive <= copy.last_row) != np.count_nonzero(~dead):
            # A writer made the copy after the moment this reader sees, without rows that it still sees.
            copy, dead = _NO_COPY, np.empty(0, np.bool_)
        new = list(
            connection.execute(
                f"SELECT number, chunk, embedding FROM {table} WHERE number > ? ORDER BY number",
                (copy.last_row,),
            )
        )
        added = _stacked([row[2] for row in new], index)
        return cls(
            index,
            owner,
            version,
            np.concatenate([copy.chunks, np.array([row[1] for row in new], np.int64)]),
            tuple(part for part in (copy.matrix, added) if part is not None),
            np.concatenate([dead, np.zeros(len(new), np.bool_)]),
            np.concatenate([copy.rows, np.array([row[0] for row in new], np.int64)]),
            len(copy.rows),
        )

    def nearest(self, query: bytes, limit: int, also: Iterable[int]) -> dict[int, float]:
        """Return the cosine of the nearest chunks, and of those in `also`."""
        vector = np.frombuffer(query, "<f4")
        # Not `part @ vector`: BLAS would spread that over all cores, which gains little because it waits
        # for memory, and on busy cores its threads wait for each other far longer than the work takes.
        parts = [np.vecdot(part, vector) for part in self.parts if part.shape[1] == len(vector)]
        if not parts or sum(map(len, parts)) != len(self.chunks):
            return {}
        scores = np.concatenate(parts)
        scores[self.dead] = -np.inf
        best = np.argpartition(-scores, limit)[:limit] if limit < len(scores) else np.arange(len(scores))
        wanted = np.isin(self.chunks, np.fromiter(also, np.int64))
        chosen = np.union1d(best, np.flatnonzero(wanted))
        chosen = chosen[~self.dead[chosen]]
        return dict(zip(self.chunks[chosen].tolist(), scores[chosen].tolist(), strict=True))

    def among(self, chunks: Collection[int]) -> Matrix:
        """Return the vectors of some chunks alone, to search in."""
        inside = np.isin(self.chunks, np.fromiter(chunks, np.int64, len(chunks)))
        if 2 * np.count_nonzero(inside) >= len(inside):  # a copy would take more room than it saves time
            return replace(self, dead=self.dead | ~inside)
        alive = inside & ~self.dead
        borders = np.cumsum([len(part) for part in self.parts])[:-1]
        kept = np.split(alive, borders)
        return replace(
            self,
            chunks=self.chunks[alive],
            parts=tuple(part[rows] for part, rows in zip(self.parts, kept, strict=True)),
            dead=np.zeros(np.count_nonzero(alive), np.bool_),
            rows=self.rows[alive],
        )

    def save_if_stale(self) -> None:
        """Write the copy again if it would save a good part of the reading at the next start."""
        missing = len(self.chunks) - self.copied + int(self.dead.sum())
        if missing < _WORTH_SAVING or missing < _STALE_PART * len(self.chunks):
            return
        alive = ~self.dead
        matrix = np.concatenate(self.parts)[alive]
        rows, chunks = self.rows[alive], self.chunks[alive]
        target = _copy_path(self.path)
        temporary = target.with_name(f"{target.name}.tmp-{os.getpid()}")
        try:
            with os.fdopen(open_private(temporary, CREATE_FLAGS), "wb") as stream:
                owner = _owner_in(stream.fileno(), self.owner)
                stream.write(_HEADER.pack(_MAGIC, owner, len(rows), matrix.shape[1]))
                for array in (rows, chunks, matrix):
                    stream.write(np.ascontiguousarray(array).data)
                stream.flush()
                os.fsync(stream.fileno())  # a name without all of its pages would answer wrongly
            temporary.replace(target)
        except OSError:
            # The disk is full, or this is Windows, where a file that a reader has mapped cannot be
            # replaced. Nothing is lost: what the copy lacks is read from the table.
            temporary.unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class _Copy:
    """The vectors as the memory-mapped file holds them."""

    rows: Numbers
    chunks: Numbers
    matrix: Floats | None

    @property
    def last_row(self) -> int:
        return int(self.rows[-1]) if len(self.rows) else -1


_NO_COPY = _Copy(np.empty(0, np.int64), np.empty(0, np.int64), None)


def _copy_path(index: Path) -> Path:
    return index.with_name(index.name + ".vectors")


def _owner_in(handle: int, owner: str) -> bytes:
    """Return what a copy says of whose it is: of this index, and of no other file than this one."""
    return hashlib.sha256(f"{owner}:{os.fstat(handle).st_ino}".encode()).hexdigest()[:32].encode()


def _read_copy(path: Path, owner: str) -> _Copy:
    """Map the copy, or return an empty one if it is missing, cut off, or of another index."""
    try:
        with open_regular(path) as stream:  # opened once: a writer may replace it at any moment
            header = stream.read(_HEADER.size)
            size = os.fstat(stream.fileno()).st_size
            if len(header) < _HEADER.size:
                return _NO_COPY
            magic, holder, count, dims = _HEADER.unpack(header)
            numbers_end = _HEADER.size + 2 * 8 * count
            if (magic, holder) != (_MAGIC, _owner_in(stream.fileno(), owner)) or not count:
                return _NO_COPY
            if size != numbers_end + 4 * count * dims:
                return _NO_COPY
            numbers = np.frombuffer(stream.read(2 * 8 * count), np.int64)
            matrix = np.memmap(stream, "<f4", "r", numbers_end, (count, dims))
    except (OSError, ValueError):
        return _NO_COPY
    return _Copy(numbers[:count], numbers[count:], matrix)


def _stacked(blobs: list[Any], index: Path) -> Floats | None:
    """Return vectors as the rows of one array; they are all of one length unless the index is damaged."""
    sizes = {len(blob) if isinstance(blob, bytes) else 0 for blob in blobs}
    if not sizes:
        return None
    if len(sizes) > 1 or 0 in sizes or sizes.pop() % 4:
        raise damaged(index, "its vectors are not of one length")
    return np.frombuffer(b"".join(blobs), "<f4").reshape(len(blobs), -1)
