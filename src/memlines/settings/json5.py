"""Read JSON5: JSON with comments, trailing commas, names without quotes and other ways to write values.

The text is translated to JSON, line by line, and then read by the standard parser.
"""

from __future__ import annotations

import json
import re
from typing import Any

_SKIPPED = r"[\s\ufeff]+|//[^\n\r\u2028\u2029]*|/\*.*?\*/"
_TOKEN = re.compile(
    rf"(?P<skipped>{_SKIPPED})"
    r"""|(?P<string>"(?:[^"\\\n\r]|\\.)*"|'(?:[^'\\\n\r]|\\.)*')"""
    r"|(?P<number>[+-]?(?:0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|Infinity|NaN))"
    r"|(?P<name>[^\W\d][\w$]*|\$[\w$]*)"
    r"|(?P<sign>[{}\[\]:,])",
    re.DOTALL,
)
_COLON = re.compile(rf"(?:{_SKIPPED})*:", re.DOTALL)
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(\r\n|.))", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}
_CONTINUED = ("\n", "\r", "\r\n", "\u2028", "\u2029")
_WORDS = ("true", "false", "null")


class NotJson5(ValueError):
    """The text is not JSON5; the message says where and why."""


def parse(text: str) -> Any:
    """Return what a text says, or raise `NotJson5`."""
    try:
        return json.loads(text, object_pairs_hook=_refuse_duplicates)
    except (ValueError, RecursionError):  # not plain JSON
        pass
    try:
        return json.loads(_to_json(text), object_pairs_hook=_refuse_duplicates)
    except json.JSONDecodeError as error:
        raise NotJson5(f"line {error.lineno}: {error.msg}") from None
    except RecursionError:
        raise NotJson5("it is nested too deep") from None


def _to_json(text: str) -> str:
    pieces: list[str] = []
    last = comma = ""  # the comma waits for what follows it: the last one of a list goes
    at = 0
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None:
            raise _wrong(text, at, "a text or a comment does not end, or a sign is out of place")
        found, line_ends = token[0], "\n" * token[0].count("\n")
        at = token.end()
        if token["skipped"]:
            pieces.append(line_ends)
            continue
        if token["string"]:
            found = json.dumps(_ESCAPE.sub(_unescape, found[1:-1])) + line_ends
        elif token["number"]:
            found = _number(found)
        elif token["name"] and _COLON.match(text, at):
            found = json.dumps(found)
        elif token["name"] and found not in _WORDS:
            raise _wrong(text, at, f"{found!r} is not a value")
        if comma and (found not in ("}", "]") or last in ("", "{", "[", ",", ":")):
            pieces.append(comma)
            last = comma
        comma = "," if found == "," else ""
        if not comma:
            pieces.append(found)
            last = found
    return " ".join([*pieces, comma])  # what was apart stays apart


def _number(written: str) -> str:
    sign, digits = ("-" if written.startswith("-") else ""), written.lstrip("+-")
    if digits[:2].lower() == "0x":
        return f"{sign}{int(digits, 16)}"
    if digits in ("Infinity", "NaN"):
        return sign + digits if digits == "Infinity" else digits
    return sign + json.dumps(int(digits) if digits.isdigit() else float(digits))


def _unescape(found: re.Match[str]) -> str:
    if code := found[1] or found[2]:
        return chr(int(code, 16))
    return "" if found[3] in _CONTINUED else _ESCAPED.get(found[3], found[3])


def _refuse_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise NotJson5(f"{name!r} is set twice")
        found[name] = value
    return found


def _wrong(text: str, at: int, why: str) -> NotJson5:
    return NotJson5(f"line {text.count(chr(10), 0, at) + 1}: {why}")
