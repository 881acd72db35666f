"""What tells one embedding service from another: addresses, limits, and the shapes of its messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from memlines.embed.base import Limits

_MOST_TOKENS = 2**53


class Malformed(Exception):
    """A reply that is not of the service's shape; says how, without repeating any of it."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a service replied: one vector a text, in their order, and what it says about itself."""

    vectors: Sequence[Any]
    model: str = ""
    tokens: int | None = None


class Api(Protocol):
    """The shapes of one service's messages; it keeps nothing and asks nobody."""

    @property
    def id(self) -> str:
        """The name in the settings."""

    @property
    def default_model(self) -> str:
        """The model to use if the settings name none; empty where they have to."""

    @property
    def own_prefixes(self) -> tuple[str, ...]:
        """What people write before a model's name and the service does not."""

    def base_url(self, environ: Mapping[str, str]) -> str:
        """Return the usual address; empty where the settings have to name it."""

    def auth(self, key: str) -> dict[str, str]:
        """Return the headers that carry a key."""

    def limits(self, model: str) -> Limits:
        """Return how much it takes at a time."""

    def dims(self, model: str) -> int | None:
        """Return the length of the model's vectors, if it is known before the first one."""

    def shortens(self, model: str) -> bool:
        """Whether the model makes vectors of a length of one's choice."""

    def prefixes(self, model: str) -> tuple[str, str]:
        """Return what goes before a query and before a passage."""

    def request(
        self, model: str, texts: Sequence[str], *, is_query: bool, dims: int | None
    ) -> tuple[str, dict[str, Any]]:
        """Return the path and the body of a request; `dims` is set if somebody chose a length."""

    def reply(self, raw: Any, count: int) -> Reply:
        """Return what a reply says, or raise `Malformed`."""


def part(raw: Any, name: str, kind: type) -> Any:
    """Return a part of a reply, or raise `Malformed` if it is missing or of another kind."""
    value = raw.get(name) if isinstance(raw, dict) else None
    if not isinstance(value, kind):
        raise Malformed(f"replied without {name!r}")
    return value


def model_of(raw: dict[str, Any]) -> str:
    """Return the model's name as the service says it."""
    name = raw.get("model")
    return name if isinstance(name, str) else ""


def tokens_of(counts: Any, name: str) -> int | None:
    """Return a count of tokens, if it is there and can be true."""
    value = counts.get(name) if isinstance(counts, dict) else None
    return value if type(value) is int and 0 <= value < _MOST_TOKENS else None
