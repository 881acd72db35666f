"""Turns the bytes of a settings file into plain data; imported only when there is a file."""

from __future__ import annotations

from typing import Any

import yaml
from yaml.composer import ComposerError
from yaml.constructor import ConstructorError

from memlines.errors import SettingsError
from memlines.settings import json5

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
        # Tabs may stand between the words of JSON, where this parser takes none.
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
