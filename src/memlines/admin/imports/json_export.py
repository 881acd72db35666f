"""Read the exports of other programs, which may be damaged, huge, or made to do harm.

Nothing is ever unpacked to a place that an archive names: its files are read as streams. The items of a long
JSON list are read one by one, so that a large export need not fit into memory. The list is the whole text, or
the value of a key in an object.
"""

from __future__ import annotations

import codecs
import json
import os
import re
import stat
import zipfile
import zlib
from collections.abc import Collection, Iterable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from memlines.errors import PathError, reason_of
from memlines.files.atomic import refuse_link
from memlines.types import Progress

MAX_ITEM = 100_000_000
"""Characters of one item; the largest conversation by far is smaller."""

_AT_ONCE = 1 << 16
_BLANKS = " \t\r\n"
_AFTER_VALUES = frozenset(f"{_BLANKS},:]}}")
_DECODER = json.JSONDecoder()


class Malformed(Exception):
    """The text is not what was asked for; says why."""


class Readable(Protocol):
    """What bytes can be read from."""

    def read(self, size: int, /) -> bytes:
        """Return at most so many bytes; none at the end."""


def read_items(stream: Readable, keys: Collection[str] = ()) -> Iterator[Any]:
    """Yield the items of a JSON list, or of the one under the first of some keys in a JSON object.

    What cannot be read as that raises `Malformed`, after everything before it was yielded.
    """
    text = _Text(stream)
    is_object = bool(keys) and text.skip_if("{")
    if is_object:
        _go_to_list(text, keys)
    text.skip("[")
    if text.peek() != "]":
        yield text.value()
        while text.skip_if(","):
            yield text.value()
    text.skip("]")
    if is_object:
        while text.skip_if(","):  # what else is in the object must be JSON as well
            text.key()
            text.value()
        text.skip("}")
    if text.peek():
        raise Malformed("something follows its end")


def _go_to_list(text: _Text, keys: Collection[str]) -> None:
    while text.peek() == '"':
        if text.key() in keys and text.peek() == "[":
            return
        text.value()
        if not text.skip_if(","):
            break
    raise Malformed(f"it has no list under {' or '.join(keys)}")


class _Text:
    """The text of a stream; only the part that is being read is kept in memory."""

    def __init__(self, stream: Readable) -> None:
        self._stream = stream
        self._decode = codecs.getincrementaldecoder("utf-8-sig")()
        self._buffer = ""
        self._at = 0
        self._ended = False

    def peek(self) -> str:
        """Return the next character that is not blank, without skipping it; nothing at the end."""
        while True:
            while self._at < len(self._buffer):
                if self._buffer[self._at] not in _BLANKS:
                    return self._buffer[self._at]
                self._at += 1
            if not self._more():
                return ""

    def skip(self, character: str) -> None:
        """Skip a character that has to be next."""
        if not self.skip_if(character):
            what = f"{self.peek()!r} is" if self.peek() else "it ends"
            raise Malformed(f"it is not a JSON list, or damaged: {what} where {character!r} should be")

    def skip_if(self, character: str) -> bool:
        """Skip the next character if it is this one; return whether it is."""
        found = self.peek() == character
        self._at += found
        return found

    def key(self) -> str:
        """Read the name of a value in an object."""
        if self.peek() != '"':
            raise Malformed("it is not JSON: the name of a value is missing")
        key = str(self.value())
        self.skip(":")
        return key

    def value(self) -> Any:
        """Read the next value."""
        if not self.peek():
            raise Malformed("it ends in the middle")
        while True:
            try:
                value, end = _DECODER.raw_decode(self._buffer, self._at)
            except RecursionError:
                raise Malformed("it is not JSON: it is nested too deep") from None
            except ValueError as error:
                if not self._more():
                    reason = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
                    raise Malformed(f"it is not JSON: {reason}") from None
                continue
            # Without what may follow a value, this may be only the beginning of a number: 1. or 1e
            if self._buffer[end : end + 1] in _AFTER_VALUES or not self._more():
                self._at = end
                return value

    def _more(self) -> bool:
        """Read another piece of the stream; return whether there was one."""
        if self._ended:
            return False
        kept = len(self._buffer) - self._at
        if kept > MAX_ITEM:
            raise Malformed("one item of it is too large, or it is not JSON")
        piece = self._stream.read(max(_AT_ONCE, kept))  # doubling, so that a long item is not tried too often
        try:
            new = self._decode.decode(piece, final=not piece)
        except UnicodeDecodeError:
            raise Malformed("it is not UTF-8 text") from None
        self._ended = not piece
        self._buffer = self._buffer[self._at :] + new
        self._at = 0
        return bool(piece)


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
        self.archive = zipfile.ZipFile(stream) if zipfile.is_zipfile(stream) else None

    def refusal(self, why: str) -> PathError:
        """Return the error for a file that cannot be used."""
        return PathError(
            f"{str(self.file)!r} cannot be read as {self.what}: {why}; nothing was changed",
            todo="Export it again, and name that file",
        )

    def items(
        self, inside: re.Pattern[str], keys: Collection[str], progress: Progress, label: str
    ) -> Iterator[Any]:
        """Yield all items: of the file itself, or of the files in the archive whose names match."""
        try:
            if self.archive is None:
                total = self._size
                self._stream.seek(0)
                streams: Iterable[Any] = [nullcontext(self._stream)]
            else:
                infos = self.parts(inside)
                total = sum(info.file_size for info in infos)
                streams = map(self.archive.open, infos)
            limited = _Limited(total, progress, label)
            for part in streams:
                with part as limited.stream:
                    yield from read_items(limited, keys)
        except Malformed as error:
            raise self.refusal(str(error)) from None
        except _DAMAGE as error:
            raise self.refusal(f"it is damaged ({error})") from error
        except OSError as error:
            raise self.refusal(f"it cannot be read: {reason_of(error)}") from error

    def parts(self, inside: re.Pattern[str]) -> list[zipfile.ZipInfo]:
        """Return the files in the archive whose names match, by name; none if the file is not an archive."""
        if self.archive is None:
            return []
        found = [info for info in self.archive.infolist() if inside.fullmatch(info.filename)]
        if sum(info.file_size for info in found) > MAX_BYTES:
            raise self.refusal(f"it unpacks to more than {MAX_BYTES / 1e9:g} GB")
        return sorted(found, key=lambda info: info.filename)


class _Limited:
    """Reads streams one after the other; raises rather than return more than is allowed."""

    stream: Readable

    def __init__(self, total: int, progress: Progress, label: str) -> None:
        self._total = total
        self._progress = progress
        self._label = label
        self._done = 0

    def read(self, size: int, /) -> bytes:
        piece = self.stream.read(size)
        self._done += len(piece)
        if self._done > MAX_BYTES:
            raise Malformed(f"it holds more than {MAX_BYTES / 1e9:g} GB")
        self._progress(min(self._done, self._total), self._total, self._label)
        return piece


@contextmanager
def open_export(file: Path, what: str) -> Iterator[Export]:
    """Open an export by its name."""
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
