"""What every check takes and gives: the memory it looks at, and what it found.

Everything is opened for reading; what cannot be opened is kept as the error that says why.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import TracebackType
from typing import Any, Literal, Self, TypeVar

from memlines.embed.select import Choice, choose
from memlines.errors import MemlinesError
from memlines.index.store.sqlite.index import Index
from memlines.index.sync.discovery import find_files
from memlines.memory.memory import Memory
from memlines.paths import Workspace
from memlines.settings import Settings
from memlines.types import Discovery, IndexedFile

Level = Literal["ok", "warning", "problem"]
Repair = Literal[
    "old-name",
    "private",
    "permissions",
    "locks",
    "sweep",
    "model",
    "vectors",
    "orphans",
    "rebuild",
    "sync",
    "copy",
    "clean",
]
"""The names of what `doctor --repair` can do; `repairs.py` does it."""

_MOST_NAMES = 5


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at: how it is, what to do about it, and the repair that does it."""

    check: str
    level: Level
    message: str
    todo: str = ""
    repair: Repair | None = None


def ok(message: str) -> Finding:
    """Return that something is as it should be; `examine` fills in the check."""
    return Finding("", "ok", message)


def warning(message: str, todo: str, repair: Repair | None = None) -> Finding:
    """Return something that may be left as it is; `examine` fills in the check."""
    return Finding("", "warning", message, todo, repair)


def problem(message: str, todo: str, repair: Repair | None = None) -> Finding:
    """Return something that is wrong; `examine` fills in the check."""
    return Finding("", "problem", message, todo, repair)


def listed(names: Iterable[str]) -> str:
    """Write names in a row, the first few of many."""
    every = list(names)
    rest = len(every) - _MOST_NAMES
    return ", ".join(every[:_MOST_NAMES]) + (f" and {rest} more" if rest > 0 else "")


def megabytes(size: float) -> str:
    """Write a number of bytes."""
    return f"{size / 1e6:,.1f} MB"


Opened = TypeVar("Opened")
Trouble = MemlinesError | OSError


class Patient:
    """What the checks look at; `deep` asks them to look at all of it, whatever that takes."""

    def __init__(
        self, workspace: Workspace, overrides: Mapping[str, Any] | None = None, *, deep: bool = False
    ) -> None:
        """Open what can be opened of a memory. Without usable settings, the defaults stand in for them."""
        self.workspace = workspace
        self.deep = deep
        self.loaded, self.settings_trouble = _tried(lambda: Memory(workspace.root, overrides).loaded)
        self.settings = self.loaded.settings if self.loaded else Settings()
        self.choice, self.choice_trouble = _tried(self._choice) if self.loaded else (None, None)
        self.index_file = workspace.index_file(self.settings.store.path, self.settings.agent)
        self.index, self.index_trouble = _tried(lambda: Index.reader(self.index_file))

    @cached_property
    def discovery(self) -> Discovery:
        """The files that are there."""
        return find_files(self.workspace, self.settings)

    @cached_property
    def known(self) -> dict[str, IndexedFile]:
        """The files as the index knows them."""
        return self.index.files() if self.index else {}

    def close(self) -> None:
        """Let go of the index."""
        if self.index is not None:
            self.index.close()
            self.index = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _choice(self) -> Choice:
        return choose(self.settings)


def _tried(opening: Callable[[], Opened]) -> tuple[Opened | None, Trouble | None]:
    try:
        return opening(), None
    except (MemlinesError, OSError) as trouble:
        return None, trouble
