"""What is known about one setting: its kind, its limits, who may set it and what it means."""

from __future__ import annotations

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
