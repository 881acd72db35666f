"""What is told about a message: what its writer wants of the memory, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from memlines.settings.agents_tree import Language

Kind = Literal["remember", "query", "forget", "none"]
KINDS: tuple[Kind, ...] = get_args(Kind)
LANGUAGES: tuple[Language, ...] = get_args(Language)

MOST_ENTITIES = 3
LONGEST_ENTITY = 200


@dataclass(frozen=True, slots=True)
class Intent:
    """What somebody wants of the memory, what it is about, how sure that is, and in which language.

    `warning` says why a model that was to be asked did not decide; it is empty if nothing went wrong.
    """

    intent: Kind
    entities: tuple[str, ...]
    confidence: float
    language: str
    warning: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return it with field names that stay."""
        return {
            "intent": self.intent,
            "entities": list(self.entities),
            "confidence": self.confidence,
            "language": self.language,
            "warnings": [self.warning] if self.warning else [],
        }

    def at_least(self, threshold: float) -> Intent:
        """Return it, or no intent at all if it is less sure than that."""
        if self.intent == "none" or self.confidence >= threshold:
            return self
        return replace(self, intent="none", entities=())


def nothing(language: str) -> Intent:
    """Return that a message wants nothing of the memory."""
    return Intent("none", (), 0.0, language)
