"""What is known about one setting: its kind, its limits, who may set it and what it means."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from memlines.errors import SettingsError

Kind = Literal["flag", "whole", "number", "text", "list", "pairs"]

Project = Literal["no", "less", "yes"]
"""Whether a project's own file may set a key: never, only to less than it was, or freely.

A project's file comes from a repository somebody cloned, so whoever wrote that repository
speaks through it. It must not be able to read more of the user's files (sources,
extra_paths, store.path), send text or money anywhere (embeddings, spend, cache, which
saves paid calls), run a program (backend), touch another agent's index (agent, store) or
keep more of what the user says (facts). Those are "no", and "no" is what a new key gets.
Ranking, chunking and counting knobs only change how the project's own notes are found;
their limits keep them harmless, so they are "yes". Whether memory is used, how much of a
conversation is kept and how large a file is read are "less": a project may ask for less
than the user's own settings give it, such as switching something off, but never for more.
"""

_SHOWN_VALUE = 80


@dataclass(frozen=True, slots=True)
class Rule:
    """The description of one setting, kept in its dataclass field."""

    kind: Kind
    doc: str
    low: float | None
    high: float | None
    choices: tuple[str, ...]
    secret: bool
    expands: bool
    project: Project
    template: bool


def rule(
    kind: Kind,
    doc: str,
    *,
    low: float | None = None,
    high: float | None = None,
    choices: tuple[str, ...] = (),
    secret: bool = False,
    expands: bool = False,
    project: Project = "no",
    template: bool = False,
) -> dict[str, Any]:
    """Return the metadata of a field: numbers are clamped to `low` and `high`.

    `secret` values are never shown; in a value that `expands`, `${VAR}` stands for an
    environment variable; in a `template`, `{agent}` stands for the agent.
    """
    return {"rule": Rule(kind, doc, low, high, choices, secret, expands, project, template)}


@dataclass(frozen=True, slots=True)
class Key:
    """A setting's place in the tree, its default and its rule."""

    name: str
    attribute: str
    variable: str
    default: Any
    rule: Rule

    @property
    def optional(self) -> bool:
        """Whether the setting may be left without a value."""
        return self.default is None

    @property
    def allowed(self) -> str:
        """The values the key takes, in words."""
        words = _allowed(self.rule)
        return f"{words}, or nothing" if self.optional else words

    def wrong(self, value: Any, origin: str, problem: str) -> SettingsError:
        """Return the error that says what is wrong with a value and what would be right."""
        shown = "a value that is not shown" if self.rule.secret else shown_value(value)
        return SettingsError(
            f"setting {self.name!r} from {origin} is {shown}, which is {problem}",
            todo=f"It takes {self.allowed}",
        )


def _allowed(rule: Rule) -> str:
    """Describe the values of a rule."""
    names = ", ".join(rule.choices)
    match rule.kind:
        case "flag":
            return "true or false"
        case "whole":
            return f"a whole number{_limits(rule)}"
        case "number":
            return f"a number{_limits(rule)}"
        case "list":
            return f"a list of: {names}" if names else "a list of text"
        case "pairs":
            return "a mapping of names to text"
        case "text":
            if rule.template:
                return "text, with {agent} or {agentId} for the agent and no other braces"
            return f"one of: {names}" if names else "text"


def _limits(rule: Rule) -> str:
    """Describe the range of a number."""
    if rule.low is not None and rule.high is not None:
        return f" from {plain_number(rule.low)} to {plain_number(rule.high)}"
    return f" of at least {plain_number(rule.low)}" if rule.low is not None else ""


def plain_number(value: float) -> str:
    """Write a number without a needless `.0`."""
    return str(int(value)) if value == int(value) else str(value)


def shown_value(value: Any) -> str:
    """Write a value for a message, cut to a readable length."""
    try:
        text = repr(value)
    except ValueError:  # an integer with more digits than Python is willing to print
        text = f"a very long {type(value).__name__}"
    return text if len(text) <= _SHOWN_VALUE else text[: _SHOWN_VALUE - 1] + "…"


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
