"""Read the items of a long JSON list one by one, so that a large export need not fit into memory.

The list is the whole text, or it stands in an object under a key that is asked for.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Collection, Iterator
from typing import Any, Protocol

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


def items_in(stream: Readable, keys: Collection[str] = ()) -> Iterator[Any]:
    """Yield the items of a JSON list, or of the one under the first of some keys in a JSON object.

    What cannot be read as that raises `Malformed`, after everything before it was yielded.
    """
    text = _Text(stream)
    if text.peek() == "{" and keys:
        if not _enter(text, keys):
            raise Malformed(f"it has no list under {' or '.join(keys)}")
        yield from _list(text)
        while text.peek() == ",":  # what else stands in the object must be JSON as well
            text.skip(",")
            _key(text)
            text.value()
        text.skip("}")
    else:
        yield from _list(text)
    if text.peek():
        raise Malformed("something follows its end")


def _list(text: _Text) -> Iterator[Any]:
    text.skip("[")
    if text.peek() == "]":
        text.skip("]")
        return
    while True:
        yield text.value()
        if text.peek() != ",":
            break
        text.skip(",")
    text.skip("]")


def _enter(text: _Text, keys: Collection[str]) -> bool:
    """Go to the list under one of the keys; tell whether there is one."""
    text.skip("{")
    while text.peek() == '"':
        key = _key(text)
        if key in keys and text.peek() == "[":
            return True
        text.value()
        if text.peek() != ",":
            break
        text.skip(",")
    return False


def _key(text: _Text) -> str:
    if text.peek() != '"':
        raise Malformed("it is no JSON: the name of a value is missing")
    key = str(text.value())
    text.skip(":")
    return key


class _Text:
    """The text of a stream, of which only what is being looked at is kept."""

    def __init__(self, stream: Readable) -> None:
        self._stream = stream
        self._decode = codecs.getincrementaldecoder("utf-8-sig")()
        self._buffer = ""
        self._at = 0
        self._ended = False

    def peek(self) -> str:
        """Return the next character that is not blank, without taking it; nothing at the end."""
        while True:
            while self._at < len(self._buffer):
                if self._buffer[self._at] not in _BLANKS:
                    return self._buffer[self._at]
                self._at += 1
            if not self._more():
                return ""

    def skip(self, character: str) -> None:
        """Take a character that has to be next."""
        found = self.peek()
        if found != character:
            what = f"{found!r} stands" if found else "it ends"
            raise Malformed(f"it is no JSON list, or it is damaged: {what} where {character!r} should be")
        self._at += 1

    def value(self) -> Any:
        """Take the next value."""
        if not self.peek():
            raise Malformed("it ends in the middle")
        while True:
            try:
                value, end = _DECODER.raw_decode(self._buffer, self._at)
            except (ValueError, RecursionError) as error:
                if isinstance(error, RecursionError) or not self._more():
                    raise Malformed(f"it is no JSON: {_told(error)}") from None
                continue
            # Before anything else may follow, this may be the beginning of a number only: 1. or 1e
            if self._buffer[end : end + 1] in _AFTER_VALUES or not self._more():
                self._at = end
                return value

    def _more(self) -> bool:
        """Read on; tell whether there was anything."""
        if self._ended:
            return False
        kept = len(self._buffer) - self._at
        if kept > MAX_ITEM:
            raise Malformed("one item of it is too large, or it is no JSON")
        piece = self._stream.read(max(_AT_ONCE, kept))  # as much again: no item is tried too often
        try:
            new = self._decode.decode(piece, final=not piece)
        except UnicodeDecodeError:
            raise Malformed("it is not UTF-8 text") from None
        self._ended = not piece
        self._buffer = self._buffer[self._at :] + new
        self._at = 0
        return bool(piece)


def _told(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return error.msg
    return "it is nested too deep" if isinstance(error, RecursionError) else str(error)
