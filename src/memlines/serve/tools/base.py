"""What a tool is: a name, words and a schema for a model, and a function that does it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from memlines.errors import UsageError

if TYPE_CHECKING:
    from memlines.memory.memory import Memory


@dataclass(frozen=True, slots=True)
class Call:
    """A tool as a model called it: on which memory, with what, and in which session."""

    memory: Memory
    arguments: Mapping[str, Any]
    session: str | None = None

    def get(self, name: str) -> Any:
        """Return an argument, or nothing if it was left out."""
        return self.arguments.get(name)

    def public(self, name: str) -> str:
        """Return a text that is to be kept without what is private in it; secrets are refused when it is."""
        from memlines.text.redaction.apply import without_private

        text = without_private(self.arguments[name])[0]
        if self.arguments[name].strip() and not text.strip():
            raise UsageError("all of the text is private, which is not kept", todo="Leave it out")
        return text

    def room(self, notes: Iterable[str]) -> int:
        """Return how many characters quotes may take in an answer that ends with some notes."""
        return self.memory.settings.tools.max_chars - sum(len(note) + 1 for note in notes)

    def clean(self, text: str) -> str:
        """Return a text without the secrets that a model must not see, or write down."""
        from memlines.agent.messages import secrets_out

        return secrets_out(self.memory)(text)


@dataclass(frozen=True, slots=True)
class Output:
    """What a tool gives back: a text for the model, and the same with field names that stay."""

    text: str
    data: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return it with field names that stay."""
        return {"text": self.text, "data": dict(self.data)}


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that a model can call."""

    name: str
    description: str
    properties: Mapping[str, Mapping[str, Any]]
    run: Callable[[Call], Output]
    required: tuple[str, ...] = ()
    seconds: float = 20.0
    """How long a caller has to wait at most."""
    maintenance: bool = False
    """Whether it looks after the index, which is for people unless they want models to do it."""

    @property
    def parameters(self) -> dict[str, Any]:
        """The schema of its arguments.

        It does not forbid other names: a client that checks it would refuse those that are understood.
        """
        return {
            "type": "object",
            "properties": {name: dict(schema) for name, schema in self.properties.items()},
            "required": list(self.required),
        }

    def to_json(self) -> dict[str, Any]:
        """Return what a model is told about it."""
        return {"name": self.name, "description": self.description, "parameters": self.parameters}


def text(description: str, **more: Any) -> dict[str, Any]:
    """Return the schema of an argument that is text."""
    return {"type": "string", "description": description, **more}


def whole(description: str, **more: Any) -> dict[str, Any]:
    """Return the schema of an argument that is a whole number."""
    return {"type": "integer", "description": description, **more}


def number(description: str, **more: Any) -> dict[str, Any]:
    """Return the schema of an argument that is a number."""
    return {"type": "number", "description": description, **more}


def flag(description: str) -> dict[str, Any]:
    """Return the schema of an argument that is true or false."""
    return {"type": "boolean", "description": description}
