"""Change one setting in the text of a settings file; everything else in it stays, comments included."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import yaml

from memlines.settings.aliases import Convert, resolve
from memlines.settings.keys import known_keys, snake
from memlines.settings.yaml_text import compose

_COMMA_BEHIND = re.compile(r"\s*,[ \t]*")
_COMMA_BEFORE = re.compile(r",\s*\Z")
_WIDE = 1_000_000


class _Entry(NamedTuple):
    """One line of a mapping, and how its numbers are converted if its name is an alias."""

    mapping: yaml.MappingNode
    name: yaml.ScalarNode
    value: yaml.Node
    convert: Convert | None = None


def with_value(text: str, key: str, value: Any) -> str:
    """Return the text with a key set: where it is set already, whatever its name there, else below its group.

    The caller makes sure that the result says what is meant, and nothing else was changed by it.
    """
    while True:
        entries = list(_entries(compose(text), key, ""))
        same = [entry for entry in entries if entry.convert is None]
        others = [entry for entry in entries if entry not in same[:1]]
        if not others:
            break
        text = _removed(text, others[0])  # it would contradict the new value
    plain: Any = list(value) if isinstance(value, tuple) else value
    if known_keys()[key].rule.kind == "pairs":
        plain = dict(value)
    return _replaced(text, same[0], plain) if same else _inserted(text, key, plain)


def without(text: str, key: str) -> str:
    """Return the text without any line that sets a key."""
    while entries := list(_entries(compose(text), key, "")):
        text = _removed(text, entries[0])
    return text


def _entries(node: yaml.Node | None, key: str, heading: str) -> Iterator[_Entry]:
    """Find where a key is set, by its name or another."""
    if not isinstance(node, yaml.MappingNode):
        return
    for name, value in node.value:
        written = f"{heading}{name.value}"
        stands_for, convert = resolve(snake(written))
        if stands_for == key:
            yield _Entry(node, name, value, convert)
        elif stands_for not in known_keys():
            yield from _entries(value, key, f"{written}.")


def _replaced(text: str, entry: _Entry, value: Any) -> str:
    start, end = entry.value.start_mark.index, _end(text, entry.value)
    written = _flow(value, entry.name)
    if isinstance(entry.value, yaml.CollectionNode) and not entry.value.flow_style:
        return f"{text[: entry.name.end_mark.index]}: {written}{text[end:]}"
    if start == end:  # nothing stands behind the colon
        written = f" {written}"
    return text[:start] + written + text[end:]


def _inserted(text: str, key: str, value: Any) -> str:
    node, rest = compose(text), key.split(".")
    heading: yaml.ScalarNode | None = None
    while isinstance(node, yaml.MappingNode) and len(rest) > 1:
        inner = [entry for entry in node.value if snake(entry[0].value) == rest[0]]
        if not inner or not (isinstance(inner[0][1], yaml.MappingNode) or not inner[0][1].value):
            break
        heading, node = inner[0]
        rest = rest[1:]
    if isinstance(node, yaml.MappingNode) and node.flow_style:
        return _inserted_in_braces(text, node, rest, value)
    newline = "\r\n" if "\r\n" in text else "\n"
    if isinstance(node, yaml.MappingNode):
        column, at = node.value[0][0].start_mark.column, _end(text, node)
    elif heading is not None:
        column, at = heading.start_mark.column + 2, heading.end_mark.index
    else:
        column, at = 0, len(text)
    line_end = text.find("\n", at) + 1 or len(text)
    before = text[:line_end]
    if before and not before.endswith("\n"):
        before += newline
    lines = [f"{' ' * (column + 2 * depth)}{part}:" for depth, part in enumerate(rest)]
    return before + newline.join(lines) + f" {_flow(value)}{newline}" + text[line_end:]


def _inserted_in_braces(text: str, node: yaml.MappingNode, rest: list[str], value: Any) -> str:
    like = node.value[0][0] if node.value else None
    written = _flow(value, like)
    for part in reversed(rest):
        name = json.dumps(part) if like is not None and like.style == '"' else part
        written = f"{{{name}: {written}}}"
    written = written[1:-1]
    if not node.value:
        at = node.end_mark.index - 1
        return text[:at] + written + text[at:]
    at = _end(text, node.value[-1][1])
    return f"{text[:at]}, {written}{text[at:]}"


def _removed(text: str, entry: _Entry) -> str:
    start, end = entry.name.start_mark.index, _end(text, entry.value)
    if entry.mapping.flow_style:
        if comma := _COMMA_BEHIND.match(text, end):
            return text[:start] + text[comma.end() :]
        return _COMMA_BEFORE.sub("", text[:start]) + text[end:]
    line = text.rfind("\n", 0, start) + 1
    return text[:line] + text[text.find("\n", end) + 1 or len(text) :]


def _end(text: str, node: yaml.Node) -> int:
    """Return where the text of a node ends; a block's own mark is behind the empty lines after it."""
    if isinstance(node, yaml.MappingNode) and not node.flow_style:
        return _end(text, node.value[-1][1])
    if isinstance(node, yaml.SequenceNode) and not node.flow_style:
        return _end(text, node.value[-1])
    start, end = node.start_mark.index, node.end_mark.index
    return start + len(text[start:end].rstrip())


def _flow(value: Any, like: yaml.ScalarNode | None = None) -> str:
    """Write a value on one line; as JSON does if the name beside it is written so."""
    if like is not None and like.style == '"':
        return json.dumps(value, ensure_ascii=False)
    dumped = yaml.safe_dump([value], default_flow_style=True, allow_unicode=True, width=_WIDE)
    return dumped.strip()[1:-1]
