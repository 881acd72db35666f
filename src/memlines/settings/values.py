"""Checks a value against the rule of its key, and clamps what is out of range."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from memlines.settings.rules import Key

_TRUE_WORDS = frozenset({"true", "1", "yes", "on"})
_FALSE_WORDS = frozenset({"false", "0", "no", "off"})


def checked(key: Key, value: Any, origin: str) -> Any:
    """Return the value as the tree keeps it, or say what is wrong with it."""
    if value is None and key.optional:
        return None
    match key.rule.kind:
        case "flag":
            if not isinstance(value, bool):
                raise key.wrong(value, origin, "neither true nor false")
            return value
        case "whole":
            if isinstance(value, bool) or not isinstance(value, int):
                raise key.wrong(value, origin, "not a whole number")
            return int(_clamped(key, value))
        case "number":
            return float(_clamped(key, _finite(key, value, origin)))
        case "text":
            return _text(key, value, origin)
        case "list":
            return _list(key, value, origin)
        case "pairs":
            return _pairs(key, value, origin)


def from_variable(key: Key, text: str) -> Any:
    """Read the text of an environment variable as a value of its key's kind."""
    return from_text(key, text, f"environment variable {key.variable}")


def from_text(key: Key, text: str, origin: str) -> Any:
    """Read a text, in which nothing tells numbers from words, as a value of a key's kind."""
    if key.optional and not text.strip():
        return None
    value: Any = text
    match key.rule.kind:
        case "flag":
            word = text.strip().lower()
            value = True if word in _TRUE_WORDS else False if word in _FALSE_WORDS else text
        case "whole" | "number":
            value = _parsed_number(key, text)
        case "list":
            value = text.split(",")
        case "pairs":
            value = _split_pairs(key, text, origin)
        case "text":
            value = text.strip()
    return checked(key, value, origin)


def _parsed_number(key: Key, text: str) -> Any:
    """Return the number a text spells, or the text itself, which is then refused."""
    try:
        return int(text) if key.rule.kind == "whole" else float(text)
    except ValueError:
        return text


def _split_pairs(key: Key, text: str, origin: str) -> dict[str, str]:
    """Read `name=value,name=value`."""
    pairs: dict[str, str] = {}
    for part in filter(None, map(str.strip, text.split(","))):
        name, equals, value = part.partition("=")
        if not equals:
            raise key.wrong(text, origin, "not written as name=value,name=value")
        pairs[name.strip()] = value.strip()
    return pairs


def _finite(key: Key, value: Any, origin: str) -> float:
    """Return a number as a float that can be compared and multiplied."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise key.wrong(value, origin, "not a number")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise key.wrong(value, origin, "not a finite number")
    return number


def _clamped(key: Key, value: float) -> float:
    """Bring a number into the range of its key."""
    if key.rule.low is not None and value < key.rule.low:
        return key.rule.low
    if key.rule.high is not None and value > key.rule.high:
        return key.rule.high
    return value


def _text(key: Key, value: Any, origin: str) -> str:
    """Return a text, or one of the choices."""
    choices = key.rule.choices
    if isinstance(value, bool) and "on" in choices and "off" in choices:
        value = "on" if value else "off"  # an unquoted on or off is a boolean in YAML
    if not isinstance(value, str):
        raise key.wrong(value, origin, "not text")
    if choices and value not in choices:
        raise key.wrong(value, origin, "not one of its choices")
    if not _is_clean(value):
        raise key.wrong(value, origin, "text with characters that cannot be stored")
    if key.rule.template:
        return _template(key, value, origin)
    return value


def _template(key: Key, value: str, origin: str) -> str:
    """Return a text in which `{agent}` stands for the agent, however that was spelled."""
    template = value.replace("{agentId}", "{agent}")
    if re.search("[{}]", template.replace("{agent}", "")):
        raise key.wrong(value, origin, "text with braces that nothing is known for")
    return template


def _list(key: Key, value: Any, origin: str) -> tuple[str, ...]:
    """Return a list of texts: trimmed, without empty ones and repetitions."""
    if not isinstance(value, list | tuple):
        raise key.wrong(value, origin, "not a list")
    items = [_text_item(key, item, origin) for item in value]
    return tuple(dict.fromkeys(item for item in items if item))


def _text_item(key: Key, item: Any, origin: str) -> str:
    """Return one item of a list."""
    if not isinstance(item, str) or not _is_clean(item):
        raise key.wrong(item, origin, "not a text that can stand in the list")
    text = item.strip()
    if text and key.rule.choices and text not in key.rule.choices:
        raise key.wrong(item, origin, "not one of its choices")
    return text


def _pairs(key: Key, value: Any, origin: str) -> tuple[tuple[str, str], ...]:
    """Return a mapping of texts as pairs, which can be frozen and hashed."""
    if not isinstance(value, Mapping):
        raise key.wrong(value, origin, "not a mapping")
    for name, text in value.items():
        if not (isinstance(name, str) and name and isinstance(text, str)):
            raise key.wrong(value, origin, "not a mapping of names to text")
        if not _is_clean(name) or not _is_clean(text):
            raise key.wrong(value, origin, "a mapping with characters that cannot be stored")
    return tuple(value.items())


def _is_clean(text: str) -> bool:
    """Tell whether a text can be written as UTF-8 and used as a path or an argument."""
    return "\0" not in text and not any("\ud800" <= letter <= "\udfff" for letter in text)
