"""What everything that was said loses before it is shown or written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from memlines.files.tombstones import Forgotten
from memlines.paths import Workspace
from memlines.settings import Settings
from memlines.text.redaction import Rules, merged, redact_together, rules_of
from memlines.types import Turn


@dataclass(frozen=True, slots=True)
class Cleaning:
    """Takes out of conversations what was forgotten, and secrets."""

    forgotten: Forgotten
    rules: Rules

    @classmethod
    def of(cls, workspace: Workspace, settings: Settings) -> Cleaning:
        """Return what a workspace asks for."""
        return cls(Forgotten.load(workspace), rules_of(settings.redaction.rules))

    def turns(self, path: str, turns: Sequence[Turn]) -> tuple[Turn, ...]:
        """Return turns of a conversation as far as something is left of them."""
        return self.counted(path, turns)[0]

    def counted(self, path: str, turns: Sequence[Turn]) -> tuple[tuple[Turn, ...], dict[str, int]]:
        """Return the same, and how many secrets there were of each kind."""
        counts: dict[str, int] = {}
        kept = []
        left = self.forgotten.turns(path, turns)
        for turn, redacted in zip(
            left, redact_together([turn.text for turn in left], self.rules), strict=True
        ):
            counts = merged(counts, redacted.counts)
            if text := redacted.text.strip():
                kept.append(replace(turn, text=text))
        return tuple(kept), counts
