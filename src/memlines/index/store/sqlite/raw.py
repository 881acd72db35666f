"""Read the bytes of a database without harm to those in this process who have it open.

Whoever opens and closes such a file by the system's own calls drops the locks that SQLite holds on it in
the same process, and another program could then take its log away. SQLite's own way to open a file knows of
them.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import apsw

NO_TEXT = ("-shm",)
"""How the names of files end that hold locks and no text: they are never opened."""

_BLOCK = 1 << 20
_PLAIN_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)  # a pipe does not block us
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
_FLAGS = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_MAIN_DB


def blocks(path: Path) -> Iterator[bytes]:
    """Yield what a file holds, piece by piece; one that cannot be read is an `OSError`."""
    file = _opened(path)
    try:
        size = file.xFileSize()
        for at in range(0, size, _BLOCK):
            yield file.xRead(min(_BLOCK, size - at), at)  # a longer read would lose zeros at its end
    except apsw.Error as error:
        raise OSError(f"{path} cannot be read: {error}") from error
    finally:
        file.xClose()


def beginning(path: Path, length: int) -> bytes:
    """Return the first bytes of a file."""
    return next(blocks(path), b"")[:length]


def open_regular(path: Path) -> BinaryIO:
    """Open a file that is no database; a link, a pipe or a folder in its place is an `OSError`."""
    handle = os.open(path, _PLAIN_FLAGS)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    return os.fdopen(handle, "rb")


def _opened(path: Path) -> apsw.VFSFile:
    path.stat()  # says why, if there is no such file
    if not os.access(path, os.R_OK):
        raise PermissionError(f"{path} may not be read")
    try:
        return apsw.VFSFile("", str(path), [_FLAGS, 0])
    except apsw.Error as error:
        raise OSError(f"{path} cannot be opened: {error}") from error
