"""Read lines of results without ever failing: what is wrong with a line is an answer, too."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from memlines.embed.base import validated
from memlines.embed.batches.base import Answer
from memlines.embed.remote.api import Malformed, Reply
from memlines.errors import BadVectors

if TYPE_CHECKING:
    from memlines.embed.base import Vector

_DIGITS = 15
"""A whole number with more digits is read as a float, which may be infinite; nothing else fails so."""
_QUOTED_CHARACTERS = 200
_SAME_CHARACTERS = 16
"""A message that shares this many characters in a row with a text repeats the text."""
_LONG_CODE = re.compile(r"[A-Za-z0-9_*+/=-]{24,}")


class Line(NamedTuple):
    """What a line of results holds, before anything of it is checked."""

    key: Any
    reply: Any = None
    """What the service would have replied if it had been asked directly."""
    error: str | None = None
    """The message of an error, which may be empty; `None` if there was no error."""


class Reader:
    """Turns lines of results into answers. Without `dims`, all vectors must be as long as the first."""

    def __init__(
        self,
        service: str,
        dims: int | None,
        read: Callable[[dict[str, Any]], Line],
        understand: Callable[[Any, int], Reply],
    ) -> None:
        """Take what reads a line of the service, and what understands a direct reply of it."""
        self._service = service
        self._dims = dims
        self._read = read
        self._understand = understand

    def answers(self, lines: Iterable[str], texts: Mapping[str, str]) -> Iterator[Answer]:
        """Yield one answer a line; only the first vector for a key counts."""
        seen: set[str] = set()
        for line in lines:
            if not line.strip():
                continue
            answer = self._answer(line, texts, seen)
            if answer.key is not None and answer.vector is not None:
                seen.add(answer.key)
            yield answer

    def _answer(self, raw: str, texts: Mapping[str, str], seen: set[str]) -> Answer:
        try:
            record = json.loads(raw, parse_int=_number)
        except (ValueError, RecursionError):
            record = None
        if not isinstance(record, dict):
            return Answer(None, None, "a line is broken")
        line = self._read(record)
        if not isinstance(line.key, str) or line.key not in texts:
            return Answer(None, None, "a line is about a text that was not asked for", self._tokens(line))
        if line.key in seen:
            return Answer(None, None, "a second line is about the same text", self._tokens(line))
        if line.error is not None:
            words = quoted(line.error, texts[line.key])
            return Answer(line.key, None, f"{self._service} refused the text{words and ': '}{words}")
        try:
            reply = self._understand(line.reply, 1)
            return Answer(line.key, self._vector(reply), "", reply.tokens or 0)
        except Malformed as problem:
            return Answer(line.key, None, f"{self._service} {problem}")
        except BadVectors as error:
            return Answer(line.key, None, error.what, self._tokens(line))

    def _vector(self, reply: Reply) -> Vector:
        for vector in reply.vectors:
            if not isinstance(vector, list) or not vector or not set(map(type, vector)) <= {int, float}:
                raise BadVectors(f"{self._service} replied with something other than numbers")
        unit: Vector = validated(reply.vectors, 1, self._dims, source=self._service)[0]
        self._dims = len(unit)
        return unit

    def _tokens(self, line: Line) -> int:
        try:
            return self._understand(line.reply, 1).tokens or 0
        except Malformed:
            return 0


def quoted(message: object, text: str = "") -> str:
    """Return the words of a service's message in short, or nothing if it repeats the text."""
    if not isinstance(message, str):
        return ""
    words = " ".join(_LONG_CODE.sub("…", message).split()).rstrip(".")
    words = "".join(character for character in words if character.isprintable())
    own = " ".join(text.split())
    pieces = (words[start : start + _SAME_CHARACTERS] for start in range(len(words) - _SAME_CHARACTERS + 1))
    if own and (own in words or any(piece in own for piece in pieces)):
        return ""
    return words if len(words) <= _QUOTED_CHARACTERS else words[: _QUOTED_CHARACTERS - 1] + "…"


def dug(value: Any, *path: str | int) -> Any:
    """Return what stands at a path in JSON; `None` if nothing does."""
    for step in path:
        if isinstance(step, int):
            value = value[step] if isinstance(value, list) and len(value) > step else None
        else:
            value = value.get(step) if isinstance(value, dict) else None
    return value


def text_at(value: Any, *path: str | int) -> str:
    """Return the string at a path in JSON; empty if there is none."""
    found = dug(value, *path)
    return found if isinstance(found, str) else ""


def list_at(value: Any, *path: str | int) -> list[Any]:
    """Return the list at a path in JSON; empty if there is none."""
    found = dug(value, *path)
    return found if isinstance(found, list) else []


def count_at(value: Any, *path: str | int) -> int:
    """Return the count at a path in JSON, which Google writes as a string; 0 if there is none."""
    digits = str(dug(value, *path))
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) <= _DIGITS else 0


def _number(digits: str) -> int | float:
    return int(digits) if len(digits) <= _DIGITS else float(digits)
