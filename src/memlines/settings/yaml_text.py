"""Read the text of a settings file, and change one setting in it; imported only when there is a file.

What is not changed stays as it is, comments included.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import yaml
from yaml.composer import ComposerError
from yaml.constructor import ConstructorError

from memlines.errors import SettingsError
from memlines.settings import json5
from memlines.settings.keys import Convert, known_keys, resolve, snake

_MAX_DEPTH = 20
"""The tree of settings is four deep; deeper nesting only serves to exhaust the parser."""

_MAX_NODES = 10_000
"""Far more than all settings and long lists of paths need, and read in well under a second."""


class _PlainLoader(yaml.SafeLoader):
    """YAML without the parts that a settings file never needs and that can do harm."""

    depth = 0
    nodes = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """Refuse anchors, aliases and tags, nesting and length without end."""
        event: Any = self.peek_event()  # type: ignore[no-untyped-call]  # PyYAML has no type for it
        if isinstance(event, yaml.AliasEvent) or event.anchor is not None:
            raise ComposerError(None, None, "anchors and aliases are not accepted", event.start_mark)
        if event.tag is not None:
            raise ComposerError(None, None, "tags are not accepted", event.start_mark)
        if self.depth >= _MAX_DEPTH:
            raise ComposerError(None, None, "it is nested too deeply", event.start_mark)
        if self.nodes >= _MAX_NODES:
            raise ComposerError(None, None, "it has too many entries", event.start_mark)
        self.nodes += 1
        self.depth += 1
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """Refuse a key that is written twice, which YAML would quietly let win."""
        seen: set[str] = set()
        for name, _ in node.value:
            if not isinstance(name, yaml.ScalarNode) or name.tag != "tag:yaml.org,2002:str":
                raise ConstructorError(
                    None, None, "a key is not plain text, or needs quotes", name.start_mark
                )
            if name.value in seen:
                raise ConstructorError(None, None, f"{name.value!r} is set twice", name.start_mark)
            seen.add(name.value)
        return super().construct_mapping(node, deep)


def parse(content: bytes, origin: str) -> dict[str, Any]:
    """Return the mapping that a file holds; an empty file holds no settings."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SettingsError(f"{origin} is not a text file in UTF-8", todo="Write it as YAML") from error
    if (written_as_json := _relaxed_json(text)) is not None:
        return written_as_json
    try:
        data = yaml.load(text, Loader=_PlainLoader)
    except yaml.MarkedYAMLError as error:
        line = f" in line {error.problem_mark.line + 1}" if error.problem_mark else ""
        problem = ", ".join(filter(None, (error.context, error.problem)))
        raise _broken(origin, line, problem) from error
    except yaml.reader.ReaderError as error:
        line = f" in line {text.count(chr(10), 0, error.position) + 1}"
        raise _broken(origin, line, "it contains a character that is not allowed in YAML") from error
    except (ValueError, OverflowError) as error:  # numbers, dates and escapes beyond what Python holds
        raise _broken(origin, "", str(error)) from error
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise SettingsError(
            f"{origin} does not hold settings but a {type(data).__name__}",
            todo="Write one 'key: value' per line",
        )
    return data


def compose(text: str) -> yaml.Node | None:
    """Return the nodes of a text that was parsed before, with their places; None if it cannot be edited."""
    try:
        # Tabs may be between the words of JSON, where this parser accepts none.
        node: yaml.Node | None = yaml.compose(text.replace("\t", " "), Loader=_PlainLoader)
    except yaml.YAMLError:  # it is JSON with comments
        return None
    return node


def _relaxed_json(text: str) -> dict[str, Any] | None:
    """Read JSON, also with comments, trailing commas, single quotes and bare names; else return None."""
    if not text.lstrip().startswith(("{", "//", "/*")):
        return None
    try:
        data = json5.parse(text)
    except (ValueError, RecursionError):  # YAML says what is wrong with it
        return None
    return data if isinstance(data, dict) else None


def _broken(origin: str, line: str, problem: str) -> SettingsError:
    """Return the error for text that is not the YAML we read."""
    return SettingsError(f"{origin} is not valid YAML{line}: {problem}", todo="Correct that line")


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
        text = _remove(text, others[0])  # it would contradict the new value
    plain: Any = list(value) if isinstance(value, tuple) else value
    if known_keys()[key].rule.kind == "dict":
        plain = dict(value)
    return _replace(text, same[0], plain) if same else _insert(text, key, plain)


def without(text: str, key: str) -> str:
    """Return the text without any line that sets a key."""
    while entries := list(_entries(compose(text), key, "")):
        text = _remove(text, entries[0])
    return text


def _entries(node: yaml.Node | None, key: str, heading: str) -> Iterator[_Entry]:
    """Find where a key is set, by its name or another."""
    if not isinstance(node, yaml.MappingNode):
        return
    for name, value in node.value:
        written = f"{heading}{name.value}"
        meant, convert = resolve(snake(written))
        if meant == key:
            yield _Entry(node, name, value, convert)
        elif meant not in known_keys():
            yield from _entries(value, key, f"{written}.")


def _replace(text: str, entry: _Entry, value: Any) -> str:
    start, end = entry.value.start_mark.index, _end(text, entry.value)
    written = _flow(value, entry.name)
    if isinstance(entry.value, yaml.CollectionNode) and not entry.value.flow_style:
        return f"{text[: entry.name.end_mark.index]}: {written}{text[end:]}"
    if start == end:  # nothing follows the colon
        written = f" {written}"
    return text[:start] + written + text[end:]


def _insert(text: str, key: str, value: Any) -> str:
    node, rest = compose(text), key.split(".")
    heading: yaml.ScalarNode | None = None
    while isinstance(node, yaml.MappingNode) and len(rest) > 1:
        inner = [entry for entry in node.value if snake(entry[0].value) == rest[0]]
        if not inner or not (isinstance(inner[0][1], yaml.MappingNode) or not inner[0][1].value):
            break
        heading, node = inner[0]
        rest = rest[1:]
    if isinstance(node, yaml.MappingNode) and node.flow_style:
        return _insert_in_braces(text, node, rest, value)
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


def _insert_in_braces(text: str, node: yaml.MappingNode, rest: list[str], value: Any) -> str:
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


def _remove(text: str, entry: _Entry) -> str:
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
