"""Put a table into the text of a TOML file and take it out again, without disturbing anything else.

Nothing marks where a table of ours ends: Codex rewrites its own file around the comments and puts its
tables before a comment at the end, so a table is found by its name instead. Whatever is done to a text, the
values that come of it are compared with those that should. The functions raise ValueError, with the reason,
if a text is not TOML or cannot be changed without changing something else.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, time
from typing import Any

from memlines.clients.edits import cut

Path = tuple[str, ...]

_BOM = "\ufeff"
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_KEY_END = re.compile(r'"(?:[^"\\]|\\.)*"|\'[^\']*\'|[^"\'=]+')
_STRING = re.compile(r'"""(?:[^\\]|\\.)*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'', re.DOTALL)


def values_of(text: str) -> dict[str, Any]:
    """Return what a TOML text says, with or without a byte order mark."""
    try:
        return tomllib.loads(text.removeprefix(_BOM))
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def value_at(values: Mapping[str, Any], path: Path) -> Any:
    """Return what is at a path, or None."""
    found: Any = values
    for key in path:
        found = found.get(key) if isinstance(found, Mapping) else None
    return found


def table(path: Path, values: Mapping[str, Any]) -> list[str]:
    """Return the lines of a table; tables inside it get headers of their own after it."""
    inner = {key: value for key, value in values.items() if isinstance(value, Mapping)}
    lines = [f"[{'.'.join(map(_key, path))}]"]
    lines += [f"{_key(key)} = {_value(value)}" for key, value in values.items() if key not in inner]
    for key, value in inner.items():
        if value and all(isinstance(each, Mapping) for each in value.values()):  # it needs no header itself
            below = [table((*path, key, name), each) for name, each in value.items()]
            lines += [line for each in below for line in ("", *each)]
        else:
            lines.append("")
            lines += table((*path, key), value)
    return lines


def check_added(old: str, new: str, path: Path, values: Mapping[str, Any]) -> None:
    """Raise unless the new text says what the old one does, and the table besides."""
    _check(values_of(old), values_of(new), path, values)


def without(text: str, path: Path, comment: str) -> str:
    """Return a text without a table and those inside it, nor the comment if that is before it."""
    before = values_of(text)
    after = cut(text, [_with_comment(text, start, end, comment) for start, end in _spans(text, path)])
    _check(before, values_of(after), path, None)
    return after


def _check(before: dict[str, Any], after: dict[str, Any], path: Path, wanted: Any) -> None:
    """Raise unless the wanted value is at a path, and everything else is as before."""
    if value_at(after, path) != wanted or _left(after, path) != _left(before, path):
        raise ValueError("something else would change")


def _left(values: dict[str, Any], path: Path) -> dict[str, Any]:
    """Return values without a table, nor one around it that holds nothing else."""
    inner = values.get(path[0])
    if not isinstance(inner, dict):
        return values
    rest = _left(inner, path[1:]) if path[1:] else {}
    others = {key: value for key, value in values.items() if key != path[0]}
    return {**others, path[0]: rest} if rest else others


def _spans(text: str, path: Path) -> Iterator[tuple[int, int]]:
    """Return from where to where the statements go that belong to a table, those in a row together."""
    begin = end = None
    for inside, start, after in _statements(text):
        if inside[: len(path)] == path:
            begin, end = start if begin is None else begin, after
        elif begin is not None and end is not None:
            yield begin, end
            begin = end = None
    if begin is not None and end is not None:
        yield begin, end


def _with_comment(text: str, start: int, end: int, comment: str) -> tuple[int, int]:
    """Widen a span by our comment before it, and by one empty line before that."""
    above = text[:start].splitlines(keepends=True)
    if above and above[-1].strip() == comment:
        start -= len(above.pop())
    if above and not above[-1].strip():
        start -= len(above[-1])
    return start, end


def _statements(text: str) -> Iterator[tuple[Path, int, int]]:
    """Yield the headers and keys of a text that is known to be TOML: the whole path of each, and its span."""
    inside: Path = ()
    at = len(text) - len(text.removeprefix(_BOM))
    while at < len(text):
        line_end = _after_line(text, at)
        line = text[at:line_end].strip()
        if not line or line.startswith("#"):
            at = line_end
        elif line.startswith("["):
            inside = _path_of(text[at:line_end])
            yield inside, at, line_end
            at = line_end
        else:
            equals = _equals(text, at)
            end = _after_line(text, _after_value(text, equals + 1))
            yield (*inside, *_path_of(f"{text[at:equals]}=0")), at, end
            at = end


def _path_of(line: str) -> Path:
    """Return the path that a header or a key gives, by having it parsed on its own."""
    path: list[str] = []
    value: Any = tomllib.loads(line)
    while isinstance(value, (dict, list)) and value:
        if isinstance(value, list):
            value = value[0]
        else:
            path.append(next(iter(value)))
            value = value[path[-1]]
    return tuple(path)


def _equals(text: str, at: int) -> int:
    """Return where the sign between a key and its value is."""
    while text[at] != "=":
        found = _KEY_END.match(text, at)
        if found is None:
            raise ValueError("a key has no value")
        at = found.end()
    return at


def _after_value(text: str, at: int) -> int:
    """Return where a value ends, which may go over many lines."""
    depth = 0
    while at < len(text):
        letter = text[at]
        if letter in "\"'":
            found = _STRING.match(text, at)
            if found is None:
                raise ValueError("a string has no end")
            at = found.end()
            continue
        if letter == "#" or (letter == "\n" and not depth):
            if not depth:
                return at
            at = _after_line(text, at)
            continue
        depth += (letter in "[{") - (letter in "]}")
        at += 1
    return at


def _after_line(text: str, at: int) -> int:
    found = text.find("\n", at)
    return len(text) if found < 0 else found + 1


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _quoted(key)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")  # the only difference from JSON


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, (date, time)):  # a datetime is a date
        return value.isoformat()
    if isinstance(value, Sequence):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{_key(key)} = {_value(each)}' for key, each in value.items())}}}"
    raise ValueError(f"a value of the kind {type(value).__name__} cannot be written")
