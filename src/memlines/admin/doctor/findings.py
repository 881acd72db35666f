"""What every check is given and yields: the memory it looks at, and what it found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Self, TypeVar

from memlines.embed.select import choose
from memlines.errors import MemlinesError
from memlines.files.place import ensure_folder
from memlines.index.store.sqlite.index import Index
from memlines.index.sync.discovery import find_files
from memlines.locks import WriterLock
from memlines.memory.memory import Memory
from memlines.paths import Workspace
from memlines.records import dataclass
from memlines.settings import Settings
from memlines.types import Discovery, IndexedFile, Progress

Level = Literal["ok", "warning", "problem"]
Repair = Literal[
    "old-name",
    "private",
    "permissions",
    "attributes",
    "sweep",
    "model",
    "vectors",
    "orphans",
    "rebuild",
    "sync",
    "clean",
]
"""The names of what `doctor --repair` can do."""

_MOST_NAMES = 5
WAIT_SECONDS = 2.0
"""How long a repair waits for another writer before it is left undone."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was checked: its state, what to do about it, and the repair that does it."""

    check: str
    level: Level
    message: str
    todo: str = ""
    repair: Repair | None = None


def ok(message: str) -> Finding:
    """Return a finding that something is as it should be; `examine` fills in the check."""
    return Finding("", "ok", message)


def warning(message: str, todo: str, repair: Repair | None = None) -> Finding:
    """Return a finding that may be left as it is; `examine` fills in the check."""
    return Finding("", "warning", message, todo, repair)


def problem(message: str, todo: str, repair: Repair | None = None) -> Finding:
    """Return a finding that something is wrong; `examine` fills in the check."""
    return Finding("", "problem", message, todo, repair)


def list_names(names: Iterable[str]) -> str:
    """Format names in a row, the first few of many."""
    every = list(names)
    rest = len(every) - _MOST_NAMES
    return ", ".join(every[:_MOST_NAMES]) + (f" and {rest} more" if rest > 0 else "")


def megabytes(size: float) -> str:
    """Format a number of bytes."""
    return f"{size / 1e6:,.1f} MB"


# What is looked at


Opened = TypeVar("Opened")


class Checkup:
    """The memory that the checks look at; `deep` asks them to look at all of it, however long that takes.

    Everything is opened for reading. Where that fails, the error is kept for the check that reports it.
    """

    def __init__(
        self, workspace: Workspace, overrides: Mapping[str, Any] | None = None, *, deep: bool = False
    ) -> None:
        """Open what can be opened of a memory. Without usable settings, the defaults are used."""
        self.workspace = workspace
        self.deep = deep
        self.loaded, self.settings_error = _try(lambda: Memory(workspace.root, overrides).loaded)
        self.settings = self.loaded.settings if self.loaded else Settings()
        self.choice, self.choice_error = _try(lambda: choose(self.settings) if self.loaded else None)
        self.index_file = workspace.index_file(self.settings.store.path, self.settings.agent)
        self.index, self.index_error = _try(lambda: Index.reader(self.index_file))

    @cached_property
    def discovery(self) -> Discovery:
        """The files that are there."""
        return find_files(self.workspace, self.settings)

    @cached_property
    def known(self) -> dict[str, IndexedFile]:
        """The files as the index knows them."""
        return self.index.files() if self.index else {}

    def behind(self, message: str) -> Finding:
        """Return the finding that the index is behind the notes: as it should be if a search updates it."""
        if self.settings.sync.on_search:
            return Finding("", "ok", message, "The next search indexes that, as does 'memlines sync'", "sync")
        return warning(message, "Run 'memlines sync'", "sync")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.index is not None:
            self.index.close()


def _try(opening: Callable[[], Opened]) -> tuple[Opened | None, MemlinesError | OSError | None]:
    try:
        return opening(), None
    except (MemlinesError, OSError) as error:
        return None, error


# What is repaired


@dataclass(frozen=True, slots=True)
class RepairJob:
    """The memory to repair. A repair locks what it changes, checks it again, and returns what it did."""

    workspace: Workspace
    overrides: Mapping[str, Any] | None
    index_file: Path
    progress: Progress

    def writing(self) -> AbstractContextManager[None]:
        """Hold the lock of the index's writers."""
        ensure_folder(self.index_file.parent)
        lock = self.index_file.with_name(self.index_file.name + ".lock")
        return WriterLock(lock).held(WAIT_SECONDS)

    @contextmanager
    def open_index(self) -> Iterator[Index]:
        """Open the index for writing; repairs use this only if the file is an index already."""
        with self.writing(), closing(Index.writer(self.index_file, {})) as index:
            yield index
