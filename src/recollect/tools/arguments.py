"""Check the arguments that a model gave against a tool's schema.

Clients do not do that, and models leave out what is required, write numbers as text and invent names. What
can only mean one thing is taken (`"5"` for 5, `null` for nothing); everything else is refused in words that
a model can act on.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from recollect.errors import UsageError
from recollect.tools.base import Tool

LONGEST = 100_000
"""Characters that a text may have."""

_SHOWN = 60


def checked(tool: Tool, given: Any) -> dict[str, Any]:
    """Return the arguments as the tool expects them, or say which of them is wrong."""
    if given is None:
        given = {}
    if not isinstance(given, Mapping):
        raise _wrong(tool, f"its arguments are {_shown(given)}, not an object")
    values = {name: value for name, value in given.items() if value is not None}
    unknown = [name for name in values if name not in tool.properties]
    if unknown:
        raise _wrong(tool, f"there is no argument {_shown(unknown[0])}")
    missing = [name for name in tool.required if name not in values]
    if missing:
        raise _wrong(tool, f"{missing[0]} is missing")
    return {name: _value(tool, name, value) for name, value in values.items()}


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
