"""File-first memory for AI agents: Markdown in, cited lines out."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from memlines.errors import (
    AccessRefused,
    BackupError,
    BadVectors,
    ClusterRefused,
    ClusterUnreachable,
    EditConflict,
    EmbeddingError,
    MemlinesError,
    MemoryOff,
    ModelChanged,
    ModelFilesError,
    PathError,
    ProviderUnreachable,
    ProviderUnusable,
    QmdFailed,
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
from memlines.types import (
    Band,
    Excerpt,
    Hit,
    Mode,
    Problem,
    Progress,
    Report,
    Scope,
    SearchResult,
    Source,
    Space,
    Why,
)
from memlines.version import __version__

if TYPE_CHECKING:
    from memlines.embed.select import Probe
    from memlines.files.history import Version
    from memlines.files.journal import FileState, NoteWrite, Operation, WrittenBlock
    from memlines.index.sync.plan import SyncPlan
    from memlines.memory.asynchronous import AsyncFacts, AsyncMemory
    from memlines.memory.calendar import Calendar, DayItem, DayKind
    from memlines.memory.facts.facts import Facts, FactStats, StoreAction, StoredFact
    from memlines.memory.facts.recall import FoundFact, Recollection
    from memlines.memory.map import MapMark, MapPoint, MemoryMap
    from memlines.memory.memory import Memory
    from memlines.memory.notes.candidates import ForgetCandidate
    from memlines.memory.notes.edit import OpenNote
    from memlines.memory.notes.proof import ForgetReceipt
    from memlines.memory.notes.recall import Recalled
    from memlines.memory.notes.remember import Remembered
    from memlines.memory.notes.undo import NoteChange, Undone
    from memlines.memory.notes.versions import RestoredVersion
    from memlines.memory.past.log import LoggedChange
    from memlines.memory.past.timeline import ChangeOrigin
    from memlines.memory.status import Status
    from memlines.memory.tidy.apply import TidyRefusal, TidyResult
    from memlines.memory.tidy.proposal import Proposal, TidyEdit, TidyItem, TidyKind, TidyLines
    from memlines.memory.tidy.propose import EntryUses
    from memlines.memory.tidy.tidy import Tidy
    from memlines.text.facts import Category, Fact, FactLine

__all__ = [
    "AccessRefused",
    "AsyncFacts",
    "AsyncMemory",
    "BackupError",
    "BadVectors",
    "Band",
    "Calendar",
    "Category",
    "ChangeOrigin",
    "ClusterRefused",
    "ClusterUnreachable",
    "DayItem",
    "DayKind",
    "EditConflict",
    "EmbeddingError",
    "EntryUses",
    "Excerpt",
    "Fact",
    "FactLine",
    "FactStats",
    "Facts",
    "FileState",
    "ForgetCandidate",
    "ForgetReceipt",
    "FoundFact",
    "Hit",
    "LoggedChange",
    "MapMark",
    "MapPoint",
    "MemlinesError",
    "Memory",
    "MemoryMap",
    "MemoryOff",
    "Mode",
    "ModelChanged",
    "ModelFilesError",
    "NoteChange",
    "NoteWrite",
    "OpenNote",
    "Operation",
    "PathError",
    "Probe",
    "Problem",
    "Progress",
    "Proposal",
    "ProviderUnreachable",
    "ProviderUnusable",
    "QmdFailed",
    "QuotaExceeded",
    "Recalled",
    "Recollection",
    "Remembered",
    "Report",
    "RestoredVersion",
    "Scope",
    "SearchResult",
    "SecretRefused",
    "SettingsError",
    "Source",
    "Space",
    "SpendLimit",
    "Status",
    "StoreAction",
    "StoreBusy",
    "StoreDamaged",
    "StoreError",
    "StoreForeign",
    "StoreFull",
    "StoreReadOnly",
    "StoredFact",
    "SyncPlan",
    "TextsRefused",
    "Tidy",
    "TidyEdit",
    "TidyItem",
    "TidyKind",
    "TidyLines",
    "TidyRefusal",
    "TidyResult",
    "Undone",
    "UsageError",
    "Version",
    "Why",
    "WorkspaceError",
    "WriteError",
    "WrittenBlock",
    "__version__",
]

_LATE = {
    "AsyncFacts": "memlines.memory.asynchronous",
    "AsyncMemory": "memlines.memory.asynchronous",
    "Calendar": "memlines.memory.calendar",
    "Category": "memlines.text.facts",
    "ChangeOrigin": "memlines.memory.past.timeline",
    "DayItem": "memlines.memory.calendar",
    "DayKind": "memlines.memory.calendar",
    "EntryUses": "memlines.memory.tidy.propose",
    "Fact": "memlines.text.facts",
    "FactLine": "memlines.text.facts",
    "FactStats": "memlines.memory.facts.facts",
    "Facts": "memlines.memory.facts.facts",
    "FileState": "memlines.files.journal",
    "ForgetCandidate": "memlines.memory.notes.candidates",
    "ForgetReceipt": "memlines.memory.notes.proof",
    "FoundFact": "memlines.memory.facts.recall",
    "LoggedChange": "memlines.memory.past.log",
    "MapMark": "memlines.memory.map",
    "MapPoint": "memlines.memory.map",
    "Memory": "memlines.memory.memory",
    "MemoryMap": "memlines.memory.map",
    "NoteChange": "memlines.memory.notes.undo",
    "NoteWrite": "memlines.files.journal",
    "OpenNote": "memlines.memory.notes.edit",
    "Operation": "memlines.files.journal",
    "Probe": "memlines.embed.select",
    "Proposal": "memlines.memory.tidy.proposal",
    "Recalled": "memlines.memory.notes.recall",
    "Recollection": "memlines.memory.facts.recall",
    "Remembered": "memlines.memory.notes.remember",
    "RestoredVersion": "memlines.memory.notes.versions",
    "Status": "memlines.memory.status",
    "StoreAction": "memlines.memory.facts.facts",
    "StoredFact": "memlines.memory.facts.facts",
    "SyncPlan": "memlines.index.sync.plan",
    "Tidy": "memlines.memory.tidy.tidy",
    "TidyEdit": "memlines.memory.tidy.proposal",
    "TidyItem": "memlines.memory.tidy.proposal",
    "TidyKind": "memlines.memory.tidy.proposal",
    "TidyLines": "memlines.memory.tidy.proposal",
    "TidyRefusal": "memlines.memory.tidy.apply",
    "TidyResult": "memlines.memory.tidy.apply",
    "Undone": "memlines.memory.notes.undo",
    "Version": "memlines.files.history",
    "WrittenBlock": "memlines.files.journal",
}


def __getattr__(name: str) -> Any:
    """Import the large names when they are first used, so that `memlines --help` stays quick."""
    if name in _LATE:
        return getattr(import_module(_LATE[name]), name)
    raise AttributeError(f"module 'memlines' has no attribute {name!r}")


def __dir__() -> list[str]:
    """List the late names as well, so that completion offers them."""
    return sorted({*globals(), *__all__})
