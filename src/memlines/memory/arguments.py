"""What each operation accepts: one table that every interface is checked by.

`check` refuses arguments of a Python call, `parse` reads those that came as JSON, and `json_schema` describes
them to models; the command line makes its options from the same table. Settings are clamped, because a file
is written once and serves many versions. Arguments of one call are refused if they make no sense: the caller
is there to ask again.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import Any, Literal, get_args

from memlines.errors import UsageError
from memlines.records import dataclass
from memlines.settings.values import shown_value
from memlines.text.facts import CATEGORIES, IMPORTANCE, SCOPE
from memlines.types import Mode, Scope, Source, cited

Kind = Literal["text", "int", "number", "bool", "list", "object"]

MOST_CHARACTERS = 100_000
"""How long a text may be that a model hands over."""

_WORDS: Mapping[Kind, tuple[str, str]] = {
    "text": ("text", "string"),
    "int": ("a whole number", "integer"),
    "number": ("a number", "number"),
    "bool": ("true or false", "boolean"),
    "list": ("a list", "array"),
    "object": ("an object", "object"),
}
"""What each kind is called in messages, and in JSON Schema."""

_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_MOST_DIGITS = 60


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of an operation; what is not required may be None."""

    kind: Kind
    help: str = ""
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    pattern: re.Pattern[str] | None = None
    """What a text must look like; `help` says it in words."""
    required: bool = False
    aliases: tuple[str, ...] = ()
    """Names that other memory tools give it; a model may use them."""

    @property
    def allowed(self) -> str:
        """The values it accepts, in words."""
        words, _ = _WORDS[self.kind]
        if self.choices:
            return f"{'a list' if self.kind == 'list' else 'one'} of: {', '.join(self.choices)}"
        if self.pattern is not None:
            return f"{words}. {self.help}"
        if self.low is None:
            return words
        limits = f"of at least {self.low:g}" if self.high is None else f"from {self.low:g} to {self.high:g}"
        return f"{words} {limits}"

    def fits(self, value: Any) -> bool:
        """Return whether it accepts a value."""
        match self.kind:
            case "text":
                if not isinstance(value, str) or (self.choices and value not in self.choices):
                    return False
                return self.pattern is None or self.pattern.fullmatch(value) is not None
            case "bool":
                return isinstance(value, bool)
            case "object":
                return isinstance(value, Mapping)
            case "list":
                is_list = isinstance(value, Collection) and not isinstance(value, str | bytes | Mapping)
                return is_list and (not self.choices or all(one in self.choices for one in value))
            case _:
                is_number = isinstance(value, int | float if self.kind == "number" else int)
                if not is_number or isinstance(value, bool):
                    return False
                if isinstance(value, float) and not math.isfinite(value):
                    return False
                return (self.low is None or value >= self.low) and (self.high is None or value <= self.high)


Arguments = Mapping[str, Argument]

_TEXT = Argument("text", required=True)

SEARCH: Arguments = {
    "query": Argument(
        "text",
        'What to look for, as a question or words. Narrow it with "a phrase", -word, path:people, '
        "after:2026-05, before:2026-06-01.",
        required=True,
    ),
    "max_results": Argument("int", "How many results at most.", 1, 1000, aliases=("limit",)),
    "min_score": Argument("number", "Leave out what scores lower (0 to 1).", 0, 1),
    "mode": Argument("text", "What to search by.", choices=get_args(Mode), required=True),
    "sources": Argument("list", "Where to search.", choices=get_args(Source)),
    "scopes": Argument("list", "Whose memory to search.", choices=get_args(Scope)),
    "workspaces": Argument("list", "Which workspaces on the cluster to search, by name; * means all."),
    "without": Argument("list", "Answer as if the entries on these lines were not in the memory."),
    "as_of": Argument("text", "A day or month such as 2026-03: answer from the notes as they were then."),
}
READ: Arguments = {
    "path": Argument(
        "text",
        "The path, or a citation such as memory/2026-05-01.md#L3-L9.",
        required=True,
        aliases=("rel_path",),
    ),
    "start": Argument("int", "The first line, counted from 1.", 1, aliases=("start_line", "start")),
    "lines": Argument("int", "How many lines.", 1),
    "column": Argument("int", "The character of the first line to begin with, if that line was cut.", 1),
}
CONTEXT: Arguments = {
    "message": Argument("text", "The message that is about to be answered.", required=True),
    "max_tokens": Argument("int", "How many tokens at most.", 1, required=True),
}
RECALL: Arguments = {
    "query": Argument("text", "What should be recalled; facts first, then entries that answer it."),
    "recent": Argument("bool", "The latest first."),
    "decisions": Argument("bool", "Only entries that record a decision."),
    "topic": Argument("text", "Only entries of this topic."),
    "limit": Argument(
        "int", "How many at most; 10 by default.", 1, 1000, required=True, aliases=("max_results",)
    ),
}
REMEMBER: Arguments = {
    "text": Argument("text", "What to remember, in one or two sentences.", required=True),
    "topic": Argument(
        "text", "The topic it belongs to, such as decisions or people; without it the log of today."
    ),
    "session": Argument("text", "The session it comes from, so that it can be found by it."),
    "to": Argument("text", "Where to: log, memory (MEMORY.md) or a note such as memory/people/anna.md."),
}
FORGET: Arguments = {
    "selector": _TEXT,
    "session": Argument("text", "Forget what was remembered in this session, and the session itself."),
}
VERSION: Arguments = {"path": _TEXT, "version": _TEXT}
EDIT: Arguments = {"path": _TEXT, "text": _TEXT, "version": _TEXT}
LOG: Arguments = {
    "path": _TEXT,
    "most": Argument("int", "How many changes at most.", 1, 1000, required=True),
}
FACT: Arguments = {
    "id": _TEXT,
    "text": Argument("text", "The fact, in one sentence.", required=True),
    "category": Argument("text", "What kind of fact it is; without it that is guessed.", choices=CATEGORIES),
    "scope": Argument(
        "text",
        "What it is limited to, in one word such as writing or project/shop.",
        pattern=SCOPE,
    ),
    "source": _TEXT,
    "replaces": Argument("text", "The id of a fact that is no longer true because of this one."),
    "importance": Argument("number", f"How much it matters, {IMPORTANCE:g} by default.", 0, 1, required=True),
}


def check(arguments: Arguments, **values: object) -> None:
    """Refuse arguments of a call that make no sense."""
    for name, value in values.items():
        argument = arguments[name]
        if (value is not None or argument.required) and not argument.fits(value):
            raise _wrong_value(name, argument, value)


def check_opened(workspace: object, settings: object) -> None:
    """Refuse to open what is no path, or with settings that are no mapping."""
    if not isinstance(workspace, str | os.PathLike | None):
        raise UsageError(f"the workspace is {shown_value(workspace)}", todo="Give the path of its folder")
    if not isinstance(settings, Mapping | None):
        todo = 'Give a mapping such as {"query.max_results": 3}'
        raise UsageError(f"the settings are {shown_value(settings)}", todo=todo)


def check_chosen(chosen: object) -> None:
    """Refuse a query where the entries to forget are expected: a query never deletes."""
    if isinstance(chosen, str):
        raise UsageError("a query forgets nothing", todo="Choose among what forget_candidates returns")


def parse(name: str, arguments: Arguments, given: object, *, by_model: bool = False) -> dict[str, Any]:
    """Return the arguments of a call that came as JSON, or say which of them is wrong.

    Models leave out what is required, write numbers as text and invent names, and clients do not check that.
    What a model can only have meant in one way is accepted: `"5"` for 5, `maxResults` for `max_results`.
    """

    def wrong(what: str) -> UsageError:
        takes = [
            f"{own} ({_WORDS[argument.kind][0]}{', required' if argument.required else ''})"
            for own, argument in arguments.items()
        ]
        todo = f"It takes {', '.join(takes)}" if takes else "It takes no arguments"
        return UsageError(f"{name}: {what}", todo=todo)

    given = {} if given is None else given
    if not isinstance(given, Mapping):
        raise wrong(f"its arguments are {shown_value(given)}, not an object")
    values: dict[str, Any] = {}
    written: dict[str, Any] = {}
    aliases = {alias: own for own, argument in arguments.items() for alias in argument.aliases}
    for word, value in given.items():
        own = str(word)
        if by_model:  # it may be in camelCase, or the name that another tool gives it
            own = _CAPITAL.sub("_", own).lower()
            own = own if own in arguments else aliases.get(own, own)
        if value is None and (by_model or own in arguments):
            continue
        if own not in arguments:
            raise wrong(f"there is no argument {shown_value(word)}")
        found = _value(f"{name}: {own}", arguments[own], value, by_model=by_model)
        if values.setdefault(own, found) != found:
            raise wrong(f"{written[own]} and {word} name the same argument, with different values")
        written.setdefault(own, word)
    missing = [own for own, argument in arguments.items() if argument.required and own not in values]
    if missing:
        raise wrong(f"{missing[0]} is missing")
    return values


def json_schema(arguments: Arguments) -> dict[str, Any]:
    """Return the JSON Schema of the arguments.

    It does not forbid other names: a client that checks it would refuse those that are understood.
    """
    properties: dict[str, Any] = {}
    for name, argument in arguments.items():
        schema: dict[str, Any] = {"type": _WORDS[argument.kind][1], "description": argument.help}
        more = {"enum": list(argument.choices) or None, "minimum": argument.low, "maximum": argument.high}
        properties[name] = schema | {key: value for key, value in more.items() if value is not None}
    required = [name for name, argument in arguments.items() if argument.required]
    return {"type": "object", "properties": properties, "required": required}


_NEARLY_CITED = re.compile(r"(.+\.md)[#:][^/.]*", re.IGNORECASE)
"""What may be meant as a citation and is none; the name of a note ends with `.md`."""


def parse_citation(path: str, start: int | None, lines: int | None) -> tuple[str, int | None, int | None]:
    """Return the path, the first line and how many, where the path may be a citation of them.

    What was given beside a citation counts more than its lines.
    """
    place = cited(path)
    if place is None:
        if nearly := _NEARLY_CITED.fullmatch(path):
            note = nearly[1]
            raise UsageError(f"{path!r} is no citation", todo=f"Write {note}#L3, or {note}#L3-L5")
        return path, start, lines
    path, first, last = place
    if not 1 <= first <= last:
        todo = "Lines count from 1, and the smaller number comes first"
        raise UsageError(f"the citation #L{first}-L{last} names no lines", todo=todo)
    if start is not None:
        return path, start, lines
    return path, first, last - first + 1 if lines is None else lines


def _wrong_value(what: str, argument: Argument, value: Any) -> UsageError:
    return UsageError(f"{what} is {shown_value(value)}", todo=f"It takes {argument.allowed}")


def _value(what: str, argument: Argument, value: Any, *, by_model: bool = False) -> Any:
    """Return a value that an argument accepts, or refuse it."""
    found, kind = value, argument.kind
    if by_model:  # what was meant, as far as there is only one way to understand it
        if isinstance(found, str) and kind == "bool":
            found = {"true": True, "false": False}.get(found.strip().lower(), found)
        elif isinstance(found, str) and kind in ("int", "number"):
            with suppress(ValueError):
                found = float(found.strip()[:_MOST_DIGITS])
        if isinstance(found, float) and kind == "int" and found.is_integer():
            found = int(found)
    if not argument.fits(found):
        raise _wrong_value(what, argument, value)
    if by_model and isinstance(found, str):
        if argument.required and not found.strip():
            raise UsageError(f"{what} is empty", todo=f"It takes {argument.allowed}")
        if len(found) > MOST_CHARACTERS:
            most = f"It takes at most {MOST_CHARACTERS:,}"
            raise UsageError(f"{what} has {len(found):,} characters", todo=most)
    return found
