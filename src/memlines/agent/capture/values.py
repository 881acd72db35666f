"""What is captured of a message, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from memlines.text.facts import Category

MOST = 3
"""Facts that one turn leaves at most."""


@dataclass(frozen=True, slots=True)
class Capture:
    """A sentence that is worth keeping, and what it was told by."""

    text: str
    category: Category
    importance: float
    why: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return it with field names that stay."""
        return {
            "text": self.text,
            "category": self.category,
            "importance": self.importance,
            "why": list(self.why),
        }
