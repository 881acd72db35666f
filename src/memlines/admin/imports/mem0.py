"""Import what mem0 exports: a list of memories, bare or under `results`, as its API gives them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from memlines.admin.imports.memories import Added, Memory, add, moment_of
from memlines.admin.imports.opening import Export, opened
from memlines.paths import Workspace
from memlines.settings import Settings
from memlines.transcripts.lines import table, tidy
from memlines.types import Progress

ORIGIN = "mem0"

_KEYS = ("results", "memories", "data")
_WORDS = ("memory", "text", "content", "data")
_OWNERS = ("user_id", "agent_id", "run_id")
_INSIDE = re.compile(r"(?:.*/)?[^/]*memor[^/]*\.json", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import did, or would do if `dry_run`."""

    file: str
    memories: Added
    skipped: int
    """How many items of the export are no memories."""
    dry_run: bool

    def to_json(self) -> dict[str, Any]:
        """Return it with field names that stay."""
        told = asdict(self.memories) | {"redacted": dict(self.memories.redacted)}
        return {"file": self.file, **told, "skipped": self.skipped, "dry_run": self.dry_run}


def import_mem0(
    workspace: Workspace, settings: Settings, file: Path, *, dry_run: bool = False, progress: Progress
) -> Imported:
    """Write the memories of an export into the note of mem0; all of it is read before anything is written."""
    with opened(file, "an export of mem0") as export:
        found = list(_memories(export, progress))
    usable = [memory for memory in found if memory is not None]
    if found and not usable:
        raise export.refused("none of its items is a memory")
    added = add(workspace, settings, ORIGIN, usable, dry_run=dry_run, progress=progress)
    return Imported(str(file), added, len(found) - len(usable), dry_run)


def _memories(export: Export, progress: Progress) -> Iterator[Memory | None]:
    for item in export.items(_INSIDE, _KEYS, progress, "reading"):
        yield memory_of(item)


def memory_of(item: Any) -> Memory | None:
    """Return the memory that an item of an export is; nothing if it is none."""
    told = table(item)
    words = next((text for key in _WORDS if (text := tidy(told.get(key)))), "")
    if not words:
        return None
    details = table(told.get("metadata"))
    tags = told.get("categories") or details.get("categories") or details.get("category") or ()
    every = [tags] if isinstance(tags, str) else tags if isinstance(tags, list) else []
    return Memory(
        tidy(told.get("id")) or tidy(told.get("hash")),
        words,
        moment_of(told.get("created_at")) or moment_of(told.get("updated_at")),
        tuple(tag for one in every if (tag := tidy(one))),
        next((owner for key in _OWNERS if (owner := tidy(told.get(key)))), ""),
    )
