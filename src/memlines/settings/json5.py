"""Read JSON5: JSON with comments, trailing commas, names without quotes and other ways to write values."""

from __future__ import annotations

import json
import math
import re
from typing import Any

_SKIPPED = re.compile(r"(?:[\s\ufeff]+|//[^\n\r\u2028\u2029]*|/\*.*?\*/)*", re.DOTALL)
_NAME = re.compile(r"[^\W\d][\w$]*|\$[\w$]*")
_NUMBER = re.compile(r"[+-]?(?:0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|Infinity|NaN)")
_STRING = re.compile(r""""(?:[^"\\\n\r]|\\.)*"|'(?:[^'\\\n\r]|\\.)*'""", re.DOTALL)
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(\r\n|.))", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}
_CONTINUED = ("\n", "\r", "\r\n", "\u2028", "\u2029")
_WORDS = {"true": True, "false": False, "null": None}
_DEEPEST = 200


class NotJson5(ValueError):
    """The text is not JSON5; the message says where and why."""


def parse(text: str) -> Any:
    """Return what a text says, or raise `NotJson5`."""
    try:
        return json.loads(text, object_pairs_hook=_refuse_duplicates)
    except (ValueError, RecursionError):
        reader = _Reader(text)
        value = reader.value(0)
        reader.skip()
        if reader.at < len(text):
            raise reader.wrong("something follows its end") from None
        return value


class _Reader:
    """A text, and how far it was read."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def value(self, depth: int) -> Any:
        self.skip()
        sign = self.text[self.at : self.at + 1]
        if sign in ("{", "[") and depth >= _DEEPEST:
            raise self.wrong("it is nested too deep")
        if sign == "{":
            return self._object(depth)
        if sign == "[":
            return self._list(depth)
        if sign in ("'", '"'):
            return self._string()
        found = _NUMBER.match(self.text, self.at)
        return self._number(found) if found else self._word()

    def skip(self) -> None:
        """Pass over blanks and comments."""
        found = _SKIPPED.match(self.text, self.at)
        self.at = found.end() if found else self.at

    def wrong(self, why: str) -> NotJson5:
        return NotJson5(f"line {self.text.count(chr(10), 0, self.at) + 1}: {why}")

    def _object(self, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        self.at += 1
        while not self._ends("}"):
            name = self._string() if self.text[self.at] in "'\"" else self._name()
            if name in found:
                raise self.wrong(f"{name!r} is set twice")
            self._take(":")
            found[name] = self.value(depth + 1)
            self._next("}")
        return found

    def _list(self, depth: int) -> list[Any]:
        found: list[Any] = []
        self.at += 1
        while not self._ends("]"):
            found.append(self.value(depth + 1))
            self._next("]")
        return found

    def _ends(self, closing: str) -> bool:
        self.skip()
        if self.at >= len(self.text):
            raise self.wrong(f"it ends before {closing!r}")
        if self.text[self.at] != closing:
            return False
        self.at += 1
        return True

    def _next(self, closing: str) -> None:
        """Pass over the comma between two values; the last one needs none."""
        self.skip()
        if self.text[self.at : self.at + 1] != closing:
            self._take(",")

    def _take(self, sign: str) -> None:
        self.skip()
        if self.text[self.at : self.at + 1] != sign:
            raise self.wrong(f"{sign!r} is missing")
        self.at += 1

    def _name(self) -> str:
        found = _NAME.match(self.text, self.at)
        if found is None:
            raise self.wrong("the name of a value is missing")
        self.at = found.end()
        return found[0]

    def _string(self) -> str:
        found = _STRING.match(self.text, self.at)
        if found is None:
            raise self.wrong("a text does not end")
        self.at = found.end()
        text = _ESCAPE.sub(_unescape, found[0][1:-1])
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")  # joins halves of a letter

    def _number(self, found: re.Match[str]) -> int | float:
        self.at = found.end()
        written = found[0].lstrip("+-")
        if written in ("Infinity", "NaN"):
            number: int | float = math.inf if written == "Infinity" else math.nan
        elif written[:2].lower() == "0x":
            number = int(written, 16)
        else:
            number = int(written) if written.isdigit() else float(written)
        return -number if found[0].startswith("-") else number

    def _word(self) -> Any:
        found = _NAME.match(self.text, self.at)
        if found is None or found[0] not in _WORDS:
            raise self.wrong("a value is missing")
        self.at = found.end()
        return _WORDS[found[0]]


def _refuse_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name is set twice")  # read again, to say which
    return found


def _unescape(found: re.Match[str]) -> str:
    if code := found[1] or found[2]:
        return chr(int(code, 16))
    return "" if found[3] in _CONTINUED else _ESCAPED.get(found[3], found[3])
