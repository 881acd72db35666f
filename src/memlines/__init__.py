"""File-first memory for AI agents: Markdown in, cited lines out."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from memlines.errors import (
    AccessRefused,
    BackupError,
    BadVectors,
    EditConflict,
    EmbeddingError,
    MemlinesError,
    MemoryOff,
    ModelChanged,
    ModelFilesError,
    PathError,
    ProviderUnreachable,
    ProviderUnusable,
    QuotaExceeded,
    SecretRefused,
    SettingsError,
    SpendLimit,
    StoreBusy,
    StoreDamaged,
    StoreError,
    StoreForeign,
    StoreFull,
    StoreReadOnly,
    TextsRefused,
    UsageError,
    WorkspaceError,
    WriteError,
)
from memlines.types import Excerpt, Hit, Problem, Report, SearchResult, Why
from memlines.version import __version__

if TYPE_CHECKING:
    from memlines.embed.select import Probe
    from memlines.files.history import Version
    from memlines.files.journal import Operation
    from memlines.memory.asynchronous import AsyncMemory
    from memlines.memory.calendar import Calendar, DayItem
    from memlines.memory.map import MapPoint, MemoryMap
    from memlines.memory.memory import Memory
    from memlines.memory.notes.edit import OpenNote
    from memlines.memory.notes.undo import NoteChange, Undone
    from memlines.memory.notes.versions import RestoredVersion
    from memlines.memory.past.log import LoggedChange
    from memlines.memory.status import Status

__all__ = [
    "AccessRefused",
    "AsyncMemory",
    "BackupError",
    "BadVectors",
    "Calendar",
    "DayItem",
    "EditConflict",
    "EmbeddingError",
    "Excerpt",
    "Hit",
    "LoggedChange",
    "MapPoint",
    "MemlinesError",
    "Memory",
    "MemoryMap",
    "MemoryOff",
    "ModelChanged",
    "ModelFilesError",
    "NoteChange",
    "OpenNote",
    "Operation",
    "PathError",
    "Probe",
    "Problem",
    "ProviderUnreachable",
    "ProviderUnusable",
    "QuotaExceeded",
    "Report",
    "RestoredVersion",
    "SearchResult",
    "SecretRefused",
    "SettingsError",
    "SpendLimit",
    "Status",
    "StoreBusy",
    "StoreDamaged",
    "StoreError",
    "StoreForeign",
    "StoreFull",
    "StoreReadOnly",
    "TextsRefused",
    "Undone",
    "UsageError",
    "Version",
    "Why",
    "WorkspaceError",
    "WriteError",
    "__version__",
]

_LATE = {
    "AsyncMemory": "memlines.memory.asynchronous",
    "Calendar": "memlines.memory.calendar",
    "DayItem": "memlines.memory.calendar",
    "LoggedChange": "memlines.memory.past.log",
    "MapPoint": "memlines.memory.map",
    "Memory": "memlines.memory.memory",
    "MemoryMap": "memlines.memory.map",
    "NoteChange": "memlines.memory.notes.undo",
    "OpenNote": "memlines.memory.notes.edit",
    "Operation": "memlines.files.journal",
    "Probe": "memlines.embed.select",
    "RestoredVersion": "memlines.memory.notes.versions",
    "Status": "memlines.memory.status",
    "Undone": "memlines.memory.notes.undo",
    "Version": "memlines.files.history",
}


def __getattr__(name: str) -> Any:
    """Import the large names when they are first used, so that `memlines --help` stays quick."""
    if name in _LATE:
        return getattr(import_module(_LATE[name]), name)
    raise AttributeError(f"module 'memlines' has no attribute {name!r}")


def __dir__() -> list[str]:
    """List the late names as well, so that completion offers them."""
    return sorted({*globals(), *__all__})
