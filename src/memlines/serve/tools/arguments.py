"""Check the arguments that a model gave against a tool's schema.

Clients do not do that, and models leave out what is required, write numbers as text and invent names. What
can only mean one thing is taken (`"5"` for 5, `null` for nothing, `maxResults` for `max_results`); everything
else is refused in words that a model can act on.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from memlines.errors import UsageError
from memlines.serve.tools.base import Tool

LONGEST = 100_000
"""Characters that a text may have."""

OTHER_NAMES = {
    "limit": "max_results",
    "max_results": "limit",
    "corpus": "source",
    "start_line": "from",
    "start": "from",
    "rel_path": "path",
    "memory_id": "id",
}
"""Names that other memory tools give our arguments; a tool's own name always counts first."""

_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SHOWN = 60


def checked(tool: Tool, given: Any) -> dict[str, Any]:
    """Return the arguments as the tool expects them, or say which of them is wrong."""
    if given is None:
        given = {}
    if not isinstance(given, Mapping):
        raise _wrong(tool, f"its arguments are {_shown(given)}, not an object")
    values: dict[str, Any] = {}
    written: dict[str, str] = {}
    for word, value in given.items():
        if value is None:
            continue
        name = _own_name(tool, word)
        found = _value(tool, name, value)
        if values.setdefault(name, found) != found:
            raise _wrong(tool, f"{written[name]} and {word} name the same argument, with different values")
        written.setdefault(name, word)
    missing = [name for name in tool.required if name not in values]
    if missing:
        raise _wrong(tool, f"{missing[0]} is missing")
    return values


def _own_name(tool: Tool, word: Any) -> str:
    """Return what a tool calls an argument that was given in camelCase or by another tool's name."""
    name = _CAPITAL.sub("_", word).lower() if isinstance(word, str) else ""
    for known in (word, name, OTHER_NAMES.get(name)):
        if known in tool.properties:
            return str(known)
    raise _wrong(tool, f"there is no argument {_shown(word)}")


def _value(tool: Tool, name: str, value: Any) -> Any:
    schema = tool.properties[name]
    kind = schema["type"]
    found: Any = _READERS[kind](value)
    if found is None:
        raise _wrong(tool, f"{name} is {_shown(value)}, not {_KINDS[kind]}")
    if kind == "string":
        _check_text(tool, name, found, schema)
    elif kind != "boolean" and not schema.get("minimum", found) <= found <= schema.get("maximum", found):
        limits = f"{schema.get('minimum', 'anything')} to {schema.get('maximum', 'anything')}"
        raise _wrong(tool, f"{name} is {_shown(value)}, and may be {limits}")
    return found


def _check_text(tool: Tool, name: str, value: str, schema: Mapping[str, Any]) -> None:
    if name in tool.required and not value.strip():
        raise _wrong(tool, f"{name} is empty")
    if len(value) > LONGEST:
        raise _wrong(tool, f"{name} has {len(value):,} characters, and may have {LONGEST:,}")
    if "enum" in schema and value not in schema["enum"]:
        raise _wrong(tool, f"{name} is {_shown(value)}, and may be {', '.join(schema['enum'])}")


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _flag(value: Any) -> bool | None:
    if isinstance(value, str):
        return {"true": True, "false": False}.get(value.strip().lower())
    return value if isinstance(value, bool) else None


def _number(value: Any) -> float | int | None:
    if isinstance(value, str):
        try:
            value = float(value.strip()[:_SHOWN])
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return value


def _whole(value: Any) -> int | None:
    found = _number(value)
    return int(found) if found is not None and found == int(found) else None


_READERS = {"string": _text, "boolean": _flag, "number": _number, "integer": _whole}
_KINDS = {
    "string": "text",
    "boolean": "true or false",
    "number": "a number",
    "integer": "a whole number",
}


def _shown(value: Any) -> str:
    written = repr(value)
    return written if len(written) <= _SHOWN else f"{written[:_SHOWN]}…"


def _wrong(tool: Tool, what: str) -> UsageError:
    takes = [
        f"{name} ({_KINDS[schema['type']]}{', required' if name in tool.required else ''})"
        for name, schema in tool.properties.items()
    ]
    return UsageError(
        f"{tool.name}: {what}", todo=f"It takes {', '.join(takes)}" if takes else "It takes no arguments"
    )
