"""Check the parameters of a request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memlines.serve.rpc.messages import InvalidParams

_WORDS = {str: "text", list: "a list", dict: "an object", int: "a whole number"}


def taken(
    params: Mapping[str, Any], required: Mapping[str, type], optional: Mapping[str, type] | None = None
) -> dict[str, Any]:
    """Return the parameters that a method takes; those that were left out are None."""
    optional = optional or {}
    for name in params:
        if name not in required and name not in optional:
            known = ", ".join([*required, *optional]) or "nothing"
            raise InvalidParams(f"there is no parameter {name[:60]!r}; this takes {known}")
    values: dict[str, Any] = {}
    for name, kind in {**required, **optional}.items():
        value = params.get(name)
        if value is None and name in optional:
            values[name] = None
            continue
        if value is None:
            raise InvalidParams(f"the parameter {name!r} is missing")
        if not isinstance(value, kind) or isinstance(value, bool):
            raise InvalidParams(f"the parameter {name!r} is not {_WORDS[kind]}")
        values[name] = value
    return values
