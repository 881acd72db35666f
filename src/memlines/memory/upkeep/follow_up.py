"""What is done after the index changed, because something else is made of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from memlines.memory.upkeep.background import Background
from memlines.types import Report


@dataclass(frozen=True, slots=True)
class FollowUp:
    """Work to do after a note changed in the index, or vectors came; it returns what should be told."""

    path: str
    work: Callable[[], Iterable[str]]

    def soon(self, background: Background, report: Report) -> None:
        """Have it done in the background, if a sync touched the note."""
        if report.rebuilt or report.switched or self.path in (*report.indexed, *report.removed):
            background.ask("follow up", lambda progress: self.work())
