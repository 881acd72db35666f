"""Carry a content in pieces, so that a large file never has to fit into memory.

A content is an iterable of pieces that can be gone through again from the start: a list of one piece for a
small file, an object that opens the file or the member of an archive for a large one.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

from memlines.admin.backup.manifest import Entry
from memlines.beneath import open_file
from memlines.errors import BackupError
from memlines.files.scan import fingerprint_of

AT_ONCE = 1 << 20

WHOLE_BYTES = 16_000_000
"""Up to this size a file is read whole, and read again if it changed meanwhile; larger ones go in pieces."""

Content = Iterable[bytes]


class Damaged(BackupError):
    """A content in a copy is not what was put there, or cannot be read; other contents may be whole."""


class FileContent:
    """A file read in pieces; when it was read to its end, `entry` says what was read."""

    def __init__(self, path: str, real: str | Path, root: str | Path) -> None:
        """Name the file: in the copy, where it is, and below which root no link is followed to it."""
        self.path = path
        self.real = real
        self.root = root
        self.entry: Entry | None = None
        self.changed = False

    def __iter__(self) -> Iterator[bytes]:
        """Yield the pieces; `changed` tells afterwards whether the file changed meanwhile."""
        with os.fdopen(open_file(self.real, self.root), "rb") as stream:
            before = os.fstat(stream.fileno())
            if not stat.S_ISREG(before.st_mode):
                raise OSError(0, "not a regular file")
            size, hashed = 0, hashlib.sha256()
            for piece in read_pieces(stream):
                size += len(piece)
                hashed.update(piece)
                yield piece
            after = os.fstat(stream.fileno())
        self.changed = fingerprint_of(before) != fingerprint_of(after)
        self.entry = Entry(self.path, size, hashed.hexdigest(), max(0, after.st_mtime_ns))


def read_pieces(stream: IO[bytes]) -> Iterator[bytes]:
    """Yield what a stream holds from here on."""
    while piece := stream.read(AT_ONCE):
        yield piece


def verified(entry: Entry, pieces: Iterable[bytes], wrong: str) -> Iterator[bytes]:
    """Yield pieces, never more than an entry says, and raise at the end if they are not its content."""
    size, hashed = 0, hashlib.sha256()
    for piece in pieces:
        size += len(piece)
        if size > entry.size:
            break
        hashed.update(piece)
        yield piece
    if (size, hashed.hexdigest()) != (entry.size, entry.sha256):
        raise Damaged(wrong, todo="Use another copy")


def go_through(content: Content) -> None:
    """Read a content to its end, for what that may raise or find out."""
    for _ in content:
        pass
