"""What a tool is: a name, words and arguments for a model, and a function that runs it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any, Literal

from memlines.errors import UsageError
from memlines.memory.arguments import Arguments, json_schema
from memlines.records import dataclass

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
        """Return a text to keep without its private parts; secrets are refused when it is written."""
        from memlines.text.redaction.apply import without_private

        text = without_private(self.arguments[name])[0]
        if not text.strip():
            raise UsageError("all of the text is private, which is not kept", todo="Leave it out")
        return text

    def room(self, notes: Iterable[str]) -> int:
        """Return how many characters quotes may take in an answer that ends with some notes."""
        return self.memory.settings.tools.max_chars - sum(len(note) + 1 for note in notes)

    def clean(self, text: str) -> str:
        """Return a text without the secrets that a model must not see, or write down."""
        from memlines.agent.messages import redactor

        return redactor(self.memory)(text)


@dataclass(frozen=True, slots=True)
class Output:
    """What a tool returns: a text for the model, and the same with stable field names."""

    text: str
    data: Mapping[str, Any] = field(default_factory=dict)
    changed: tuple[str, ...] = ()
    """What was written or forgotten: citations and ids of facts, never a text."""

    def to_json(self) -> dict[str, Any]:
        """Return it with stable field names."""
        return {"text": self.text, "data": dict(self.data)}


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that a model can call."""

    name: str
    title: str
    effect: Literal["reads", "writes", "removes"]
    """What it does to the memory, which clients show their users; one that writes removes nothing."""
    description: str
    arguments: Arguments
    run: Callable[[Call], Output]
    seconds: float = 20.0
    """How long a call may take."""
    maintenance: bool = False
    """Whether it maintains the index, which models are not shown unless a setting says so."""

    @property
    def parameters(self) -> dict[str, Any]:
        """The JSON Schema of its arguments."""
        return json_schema(self.arguments)

    def to_json(self) -> dict[str, Any]:
        """Return what a model reads about it."""
        return {"name": self.name, "description": self.description, "parameters": self.parameters}
