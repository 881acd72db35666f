"""Open the exports of other programs, which may be damaged, huge, or made to do harm.

Nothing is ever unpacked to a place that an archive names: what is in it is read as a stream.
"""

from __future__ import annotations

import os
import re
import stat
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from memlines.admin.imports.items import Malformed, Readable, items_in
from memlines.errors import PathError, reason_of
from memlines.files.atomic import refuse_link
from memlines.types import Progress

MAX_BYTES = 2_000_000_000
"""What an export may hold, unpacked if it is packed."""

_OPEN_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)  # a pipe does not block us
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError)
"""What reading a damaged or encrypted archive raises."""


class Export:
    """One file that another program exported: JSON, or an archive of such files."""

    def __init__(self, file: Path, stream: BinaryIO, what: str) -> None:
        self.file = file
        self.what = what
        """What it should be, in words, such as `an export of mem0`."""
        self._stream = stream
        self._size = os.fstat(stream.fileno()).st_size
        self._archive = zipfile.ZipFile(stream) if zipfile.is_zipfile(stream) else None

    @property
    def is_archive(self) -> bool:
        """Whether the file is an archive of files."""
        return self._archive is not None

    def refused(self, why: str) -> PathError:
        """Return the error for a file that cannot be used."""
        return PathError(
            f"{str(self.file)!r} cannot be taken for {self.what}: {why}; nothing was changed",
            todo="Export it again, and name that file",
        )

    def items(
        self, inside: re.Pattern[str], keys: Collection[str], progress: Progress, label: str
    ) -> Iterator[Any]:
        """Yield all items: of the file itself, or of the files in the archive whose names match."""
        done = 0

        def advance(count: int) -> None:
            nonlocal done
            done += count
            progress(min(done, total), total, label)

        try:
            if self._archive is None:
                total = self._size
                self._stream.seek(0)
                yield from items_in(_Limited(self._stream, MAX_BYTES, advance), keys)
                return
            infos = self.parts(inside)
            total = sum(info.file_size for info in infos)
            room = MAX_BYTES
            for info in infos:
                with self._archive.open(info) as part:
                    limited = _Limited(part, room, advance)
                    yield from items_in(limited, keys)
                    room = limited.room
        except Malformed as error:
            raise self.refused(str(error)) from None
        except _DAMAGE as error:
            raise self.refused(f"it is damaged ({error})") from error
        except OSError as error:
            raise self.refused(f"it cannot be read: {reason_of(error)}") from error

    def parts(self, inside: re.Pattern[str]) -> list[zipfile.ZipInfo]:
        """Return the files in the archive whose names match, in their order; none if it is no archive."""
        if self._archive is None:
            return []
        found = [info for info in self._archive.infolist() if inside.fullmatch(info.filename)]
        if sum(info.file_size for info in found) > MAX_BYTES:
            raise self.refused(f"it unpacks to more than {MAX_BYTES / 1e9:g} GB")
        return sorted(found, key=lambda info: info.filename)


class _Limited:
    """A stream that ends in an error rather than give more than allowed, whatever its header says."""

    def __init__(self, stream: Readable, room: int, advance: Callable[[int], None]) -> None:
        self._stream = stream
        self._advance = advance
        self.room = room

    def read(self, size: int, /) -> bytes:
        piece = self._stream.read(size)
        self.room -= len(piece)
        if self.room < 0:
            raise Malformed(f"it holds more than {MAX_BYTES / 1e9:g} GB")
        self._advance(len(piece))
        return piece


@contextmanager
def opened(file: Path, what: str) -> Iterator[Export]:
    """Open an export that somebody named."""
    with ExitStack() as stack:
        try:
            refuse_link(file)
            if file.is_dir():
                raise PathError(f"{str(file)!r} is a folder", todo=f"Name the file that is {what}")
            stream = stack.enter_context(os.fdopen(os.open(file, _OPEN_FLAGS), "rb"))
            info = os.fstat(stream.fileno())
            if not stat.S_ISREG(info.st_mode):
                raise PathError(f"{str(file)!r} is not a regular file", todo=f"Name {what}")
            if info.st_size > MAX_BYTES:
                raise PathError(
                    f"{str(file)!r} is above the limit of {MAX_BYTES / 1e9:g} GB; nothing was changed",
                    todo="Split it, and import the parts",
                )
            export = Export(file, stream, what)
        except FileNotFoundError:
            raise PathError(f"there is no file {str(file)!r}", todo="Check its name") from None
        except _DAMAGE as error:
            raise PathError(
                f"{str(file)!r} is a damaged archive ({error}); nothing was changed",
                todo="Download it again",
            ) from error
        except OSError as error:
            raise PathError(
                f"{str(file)!r} cannot be read: {reason_of(error)}", todo="Check its permissions"
            ) from error
        yield export
