"""Add to a JSON file and take out of it, leaving every other byte as it is.

The file is read once by the standard parser, so that it is known to be JSON, and once by the small one here,
which notes where each value is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from pathlib import Path
from typing import Any

from memlines.clients.edits import Edit, Insertion, cut
from memlines.errors import WriteError
from memlines.records import dataclass

_SPACE = re.compile(r"\ufeff?[ \t\r\n]*")
_INDENTED = re.compile(r"\n([ \t]+)\S")

_DECODER = json.JSONDecoder()

Place = tuple[str | int, ...]
"""The keys that lead to a value."""


class NotJson(ValueError):
    """The text is not JSON, or has no place for what should be added."""


@dataclass(slots=True)
class Node:
    """A value and where it is; `parts` are those of an object or a list."""

    value: Any
    start: int
    end: int
    parts: list[Part] = field(default_factory=list)

    def at(self, key: str | int) -> Node | None:
        """Return a part by its key; the last one counts if there are several."""
        return next((part.node for part in reversed(self.parts) if part.key == key), None)


@dataclass(frozen=True, slots=True)
class Part:
    """A member of an object, or an item of a list, and where it begins: with its key, if it has one."""

    key: str | int
    start: int
    node: Node


def parsed(content: bytes) -> tuple[str, Node]:
    """Return a file as text and as values with their places; an empty file counts as an empty object."""
    try:
        text = content.decode("utf-8")
        begin = _skip(text, 0)
        if begin == len(text):
            return text, Node({}, begin, begin)
        json.loads(text.removeprefix("\ufeff"))
        return text, _node(text, begin)
    except (ValueError, RecursionError) as error:
        raise NotJson(str(error)) from error


def additions(content: bytes, added: Mapping[str, Any]) -> list[Insertion]:
    """Return what to insert so that a file holds more: its own objects are merged, lists are added to.

    An object further down that is there already stays as it is, as every other value does; an item that is
    there already is not added again.
    """
    text, root = parsed(content)
    style = _Style.of(text)
    if root.start == root.end:
        return [Insertion(len(content), (style.rendered(added, "") + style.newline).encode())]
    found = _merged(text, root, added, style)
    return [Insertion(len(text[:at].encode()), piece.encode()) for at, piece in found]


def without(content: bytes, is_ours: Callable[[Place, Any], bool]) -> bytes:
    """Return a file without the values that are ours, and without what holds nothing else then."""
    text, root = parsed(content)
    cuts = list(_cuts(root, (), is_ours)) if root.parts else []
    if not cuts:
        return content
    if _is_gone(root, (), is_ours):
        cuts = [(root.start + 1, root.end - 1)]
    return cut(text, sorted(cuts)).encode()


def is_empty(content: bytes) -> bool:
    """Return whether a file holds nothing, or an empty object."""
    try:
        return not parsed(content)[1].value
    except NotJson:
        return False


def json_edit(path: str, file: Path, added: Mapping[str, Any], is_ours: Callable[[Place, Any], bool]) -> Edit:
    """Return the edit that keeps something in a JSON file of the user's; `file` is for messages."""

    @contextmanager
    def named() -> Iterator[None]:
        try:
            yield
        except NotJson as error:
            raise WriteError(
                f"{str(file)!r} is not JSON that can be added to: {error}; nothing was changed",
                todo="Correct it, and try again",
            ) from error

    def put(content: bytes) -> list[Insertion]:
        with named():
            return additions(content, added)

    def take_out(content: bytes) -> bytes:
        with named():
            return without(content, is_ours)

    return Edit(path, put, take_out, is_empty)


# Reading


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _node(text: str, start: int) -> Node:
    if text[start] not in "{[":
        value, end = _DECODER.raw_decode(text, start)
        return Node(value, start, end)
    is_object = text[start] == "{"
    parts: list[Part] = []
    at = _skip(text, start + 1)
    while text[at] not in "}]":
        begin = at
        key: str | int = len(parts)
        if is_object:
            key, at = _DECODER.raw_decode(text, at)
            at = _skip(text, _skip(text, at) + 1)
        node = _node(text, at)
        parts.append(Part(key, begin, node))
        at = _skip(text, node.end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    value = {part.key: part.node.value for part in parts}
    return Node(value if is_object else list(value.values()), start, at + 1, parts)


# Adding


@dataclass(frozen=True, slots=True)
class _Style:
    """How a file is laid out."""

    indent: str
    newline: str

    @classmethod
    def of(cls, text: str) -> _Style:
        found = _INDENTED.search(text)
        return cls(found[1] if found else "  ", "\r\n" if "\r\n" in text else "\n")

    def rendered(self, value: Any, margin: str) -> str:
        """Return a value over several lines, the further ones with a margin."""
        lines = json.dumps(value, indent=self.indent, ensure_ascii=False).split("\n")
        return (self.newline + margin).join(lines)


def _merged(text: str, node: Node, added: Any, style: _Style, depth: int = 0) -> Iterator[tuple[int, str]]:
    if isinstance(node.value, dict) and isinstance(added, Mapping):
        missing: list[tuple[str | None, Any]] = []
        for key, value in added.items():
            inner = node.at(key)
            if inner is None:
                missing.append((key, value))
            elif isinstance(value, list) or (isinstance(value, Mapping) and not depth):
                yield from _merged(text, inner, value, style, depth + 1)
    elif isinstance(node.value, list) and isinstance(added, list):
        missing = [(None, item) for item in added if item not in node.value]
    else:
        raise NotJson(f"{_shown(node.value)} is where {_shown(added)} should go")
    if missing:
        yield _at_end(text, node, missing, style)


def _at_end(
    text: str, node: Node, missing: Sequence[tuple[str | None, Any]], style: _Style
) -> tuple[int, str]:
    """Return what to insert, and where, so that new parts follow those that a value has."""
    closing = node.end - 1
    line = text[text.rfind("\n", 0, closing) + 1 : closing]
    margin = line[: len(line) - len(line.lstrip(" \t"))]
    inner = margin + style.indent
    is_one_line = bool(node.parts) and "\n" not in text[node.start : node.end]
    pieces = []
    for key, value in missing:
        head = "" if key is None else f"{json.dumps(key, ensure_ascii=False)}: "
        body = json.dumps(value, ensure_ascii=False) if is_one_line else style.rendered(value, inner)
        pieces.append(head + body)
    between = " " if is_one_line else style.newline + inner
    joined = f",{between}".join(pieces)
    if node.parts:
        return node.parts[-1].node.end, f",{between}{joined}"
    is_closed_below = "\n" in text[node.start : closing]
    return node.start + 1, f"{between}{joined}" + ("" if is_closed_below else style.newline + margin)


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 40 else f"{text[:40]}…"


# Taking out


def _is_gone(node: Node, path: Place, is_ours: Callable[[Place, Any], bool]) -> bool:
    """Return whether a value is ours, or holds only what is."""
    if path and is_ours(path, node.value):
        return True
    return bool(node.parts) and all(_is_gone(part.node, (*path, part.key), is_ours) for part in node.parts)


def _cuts(node: Node, path: Place, is_ours: Callable[[Place, Any], bool]) -> Iterator[tuple[int, int]]:
    is_kept = [not _is_gone(part.node, (*path, part.key), is_ours) for part in node.parts]
    for index, part in enumerate(node.parts):
        if is_kept[index]:
            yield from _cuts(part.node, (*path, part.key), is_ours)
        elif any(is_kept[:index]):
            yield node.parts[index - 1].node.end, part.node.end
        elif index + 1 < len(node.parts):
            yield part.start, node.parts[index + 1].start
        else:
            yield part.start, part.node.end
