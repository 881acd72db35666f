"""One setting: its kind, limits and meaning, who may set it, and the check of a value."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import field, replace
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, get_args, get_origin

from memlines.errors import SettingsError
from memlines.records import dataclass
from memlines.settings.trusted_files import Project

Kind = Literal["bool", "int", "float", "str", "list", "dict"]

_SHOWN_VALUE = 80

_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class Rule:
    """The description of one setting, kept in its dataclass field; kind and choices come from its type.

    Numbers are clamped to `low` and `high`. `secret` values are never shown; in a value that `expands`,
    `${VAR}` means an environment variable; in a `template`, `{agent}` means the agent.
    """

    doc: str
    low: float | None = None
    high: float | None = None
    project: Project = "no"
    choices: tuple[str, ...] = ()
    secret: bool = False
    expands: bool = False
    template: bool = False
    kind: Kind = "str"


def key(
    default: _Value,
    doc: str,
    limits: tuple[float | None, float | None] = (None, None),
    project: Project = "no",
    *,
    choices: tuple[str, ...] = (),
    secret: bool = False,
    expands: bool = False,
    template: bool = False,
) -> _Value:
    """Return the dataclass field of a setting; `choices` are for those that its type does not list."""
    rule = Rule(doc, *limits, project, choices, secret, expands, template)
    value: _Value = field(default=default, repr=not secret, metadata={"rule": rule})
    return value


def section(kind: type[_Value]) -> _Value:
    """Return the dataclass field that holds a part of the tree."""
    value: _Value = field(default_factory=kind)
    return value


def with_type(rule: Rule, annotation: Any) -> Rule:
    """Return a rule with the kind and the choices of its field's type."""
    if isinstance(annotation, UnionType):  # with None
        (annotation,) = (part for part in get_args(annotation) if part is not NoneType)
    if get_origin(annotation) is tuple:
        item = get_args(annotation)[0]
        if get_origin(item) is tuple:
            return replace(rule, kind="dict")
        return replace(rule, kind="list", choices=rule.choices or get_args(item))
    if get_origin(annotation) is Literal:
        return replace(rule, choices=get_args(annotation))
    return replace(rule, kind=annotation.__name__)


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
        """The values the key accepts, in words."""
        words = _describe_values(self.rule)
        return f"{words}, or nothing" if self.optional else words

    def wrong(self, value: Any, origin: str, problem: str) -> SettingsError:
        """Return the error that says what is wrong with a value and what would be right."""
        shown = "a value that is not shown" if self.rule.secret else shown_value(value)
        return SettingsError(
            f"setting {self.name!r} from {origin} is {shown}, which is {problem}",
            todo=f"It takes {self.allowed}",
        )


def _describe_values(rule: Rule) -> str:
    names = ", ".join(rule.choices)
    limits = ""
    if rule.low is not None:
        limits = f" of at least {plain_number(rule.low)}"
    if rule.low is not None and rule.high is not None:
        limits = f" from {plain_number(rule.low)} to {plain_number(rule.high)}"
    match rule.kind:
        case "bool":
            return "true or false"
        case "int":
            return f"a whole number{limits}"
        case "float":
            return f"a number{limits}"
        case "list":
            return f"a list of: {names}" if names else "a list of text"
        case "dict":
            return "a mapping of names to text"
        case "str":
            if rule.template:
                return "text, with {agent} or {agentId} for the agent and no other braces"
            return f"one of: {names}" if names else "text"


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


def check_value(key: Key, value: Any, origin: str) -> Any:
    """Return the value as the tree keeps it, with numbers clamped; raise what is wrong with it."""
    if value is None and key.optional:
        return None
    match key.rule.kind:
        case "bool":
            if not isinstance(value, bool):
                raise key.wrong(value, origin, "neither true nor false")
            return value
        case "int":
            if isinstance(value, bool) or not isinstance(value, int):
                raise key.wrong(value, origin, "not a whole number")
            return int(_clamp(key, value))
        case "float":
            return float(_clamp(key, _finite(key, value, origin)))
        case "str":
            return _check_text(key, value, origin)
        case "list":
            return _check_list(key, value, origin)
        case "dict":
            return _check_pairs(key, value, origin)


def parse_value(key: Key, text: str, origin: str) -> Any:
    """Read a text, such as of a variable, as a value of a key's kind."""
    if key.optional and not text.strip():
        return None
    value: Any = text.strip()
    match key.rule.kind:
        case "bool":
            word = value.lower()
            value = True if word in _TRUE_WORDS else False if word in _FALSE_WORDS else text
        case "int" | "float":
            try:
                value = int(text) if key.rule.kind == "int" else float(text)
            except ValueError:
                value = text  # which is then refused
        case "list":
            value = text.split(",")
        case "dict":
            value = {}
            for part in filter(None, map(str.strip, text.split(","))):
                name, equals, content = part.partition("=")
                if not equals:
                    raise key.wrong(text, origin, "not written as name=value,name=value")
                value[name.strip()] = content.strip()
    return check_value(key, value, origin)


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


def _clamp(key: Key, value: float) -> float:
    if key.rule.low is not None and value < key.rule.low:
        return key.rule.low
    if key.rule.high is not None and value > key.rule.high:
        return key.rule.high
    return value


def _check_text(key: Key, value: Any, origin: str) -> str:
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
        template = value.replace("{agentId}", "{agent}")
        if re.search("[{}]", template.replace("{agent}", "")):
            raise key.wrong(value, origin, "text with braces that nothing is known for")
        return template
    return value


def _check_list(key: Key, value: Any, origin: str) -> tuple[str, ...]:
    """Return a list of texts: trimmed, without empty ones and repetitions."""
    if not isinstance(value, list | tuple):
        raise key.wrong(value, origin, "not a list")
    texts: dict[str, None] = {}
    for item in value:
        if not isinstance(item, str) or not _is_clean(item):
            raise key.wrong(item, origin, "not a text that can be in the list")
        text = item.strip()
        if text and key.rule.choices and text not in key.rule.choices:
            raise key.wrong(item, origin, "not one of its choices")
        if text:
            texts[text] = None
    return tuple(texts)


def _check_pairs(key: Key, value: Any, origin: str) -> tuple[tuple[str, str], ...]:
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
    """Return whether a text can be written as UTF-8 and used as a path or an argument."""
    return "\0" not in text and not any("\ud800" <= letter <= "\udfff" for letter in text)
