"""File-first memory for AI agents: Markdown in, cited lines out."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from recollect.errors import (
    BackupError,
    BadVectors,
    EmbeddingError,
    MemoryOff,
    ModelChanged,
    ModelFilesError,
    PathError,
    ProviderUnreachable,
    ProviderUnusable,
    QuotaExceeded,
    RecollectError,
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
from recollect.types import Excerpt, Hit, Probe, Problem, Report, SearchResult, Status, Why
from recollect.version import __version__

if TYPE_CHECKING:
    from recollect.files.history import Version
    from recollect.files.journal import Operation
    from recollect.memory.asynchronous import AsyncMemory
    from recollect.memory.memory import Memory
    from recollect.memory.notes.undo import NoteChange, Undone
    from recollect.memory.notes.versions import RestoredVersion

__all__ = [
    "AsyncMemory",
    "BackupError",
    "BadVectors",
    "EmbeddingError",
    "Excerpt",
    "Hit",
    "Memory",
    "MemoryOff",
    "ModelChanged",
    "ModelFilesError",
    "NoteChange",
    "Operation",
    "PathError",
    "Probe",
    "Problem",
    "ProviderUnreachable",
    "ProviderUnusable",
    "QuotaExceeded",
    "RecollectError",
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
    "AsyncMemory": "recollect.memory.asynchronous",
    "Memory": "recollect.memory.memory",
    "NoteChange": "recollect.memory.notes.undo",
    "Operation": "recollect.files.journal",
    "RestoredVersion": "recollect.memory.notes.versions",
    "Undone": "recollect.memory.notes.undo",
    "Version": "recollect.files.history",
}


def __getattr__(name: str) -> Any:
    """Import the large names when they are first used, so that `recollect --help` stays quick."""
    if name in _LATE:
        return getattr(import_module(_LATE[name]), name)
    raise AttributeError(f"module 'recollect' has no attribute {name!r}")


def __dir__() -> list[str]:
    """List the late names as well, so that completion offers them."""
    return sorted({*globals(), *__all__})
