"""Write memories that another program kept into a note, one dated entry each, and never the same one twice.

    - 2026-03-01: Prefers tea over coffee #food [mem0 3f2a9c1b04de7781]

The mark at the end says where an entry came from, and knows it again although somebody reworded it here.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memlines.admin.imports.exports import Export, opened
from memlines.errors import UsageError
from memlines.files import atomic, notes
from memlines.files.journal import operation
from memlines.files.place import place_of, reading
from memlines.files.scan import NOTES_DIR, SUFFIX
from memlines.files.tombstones import Forgotten
from memlines.memory.notes.entries import block_of, local_now, usable_text
from memlines.paths import Workspace
from memlines.settings import Settings
from memlines.text.entries import title_of
from memlines.text.redaction import merged, redact, rules_of
from memlines.transcripts.lines import table, tidy, time_of
from memlines.types import Progress

FOLDER = f"{NOTES_DIR}/imported"

_NOTE_BYTES = 1_000_000
_BLOCK_BYTES = 200_000
"""What a note and what one change of it take at most: a larger note is slow to open and to change."""

_UNFIT = re.compile(r"[^\w/-]+")
_YEARS = range(1971, 9000)
"""A time outside of these was never set, and cannot even be told in every time zone."""


@dataclass(frozen=True, slots=True)
class Memory:
    """What another program remembered: the name it has there, the words, when, about what, about whom."""

    id: str
    text: str
    time: datetime | None = None
    tags: tuple[str, ...] = ()
    owner: str = ""


@dataclass(frozen=True, slots=True)
class Added:
    """What became of memories: how many are new, and why the others were left out."""

    added: int = 0
    known: int = 0
    forgotten: int = 0
    unusable: int = 0
    redacted: Mapping[str, int] = field(default_factory=dict)
    paths: tuple[str, ...] = ()


def moment_of(value: Any) -> datetime | None:
    """Return the time that a value of an export tells, if it tells one."""
    time = time_of(value)
    return time if time is not None and time.year in _YEARS else None


@operation("import")
def add(
    workspace: Workspace,
    settings: Settings,
    origin: str,
    memories: Iterable[Memory],
    *,
    dry_run: bool,
    progress: Progress,
) -> Added:
    """Write the memories that are not there yet into the notes of their origin, the oldest first."""
    work = _Work(workspace, settings, origin)
    work.prepare(memories)
    paths = {} if dry_run else dict.fromkeys(work.write(progress))
    return Added(len(work.entries), work.known, work.forgotten, work.unusable, work.redacted, tuple(paths))


@dataclass(frozen=True, slots=True)
class _Entry:
    time: datetime
    owner: str
    block: str


class _Work:
    """One import: what is to be written, and what is not."""

    def __init__(self, workspace: Workspace, settings: Settings, origin: str) -> None:
        self.workspace = workspace
        self.settings = settings
        self.origin = origin
        self.entries: list[_Entry] = []
        self.known = self.forgotten = self.unusable = 0
        self.redacted: dict[str, int] = {}
        self._marks = set(_marks_in(workspace, origin))

    def prepare(self, memories: Iterable[Memory]) -> None:
        """Decide of each memory whether it is written, and how."""
        rules = rules_of(self.settings.redaction.rules)
        gone = Forgotten.load(self.workspace)
        now = datetime.now(UTC)
        for memory in memories:
            clean = redact(memory.text, rules)
            try:
                words = usable_text(clean.text)
            except UsageError:
                self.unusable += 1
                continue
            mark = mark_of(memory)
            if mark in self._marks:
                self.known += 1
            elif gone and gone.drops(words):
                self.forgotten += 1
            else:
                self._marks.add(mark)
                self.redacted = merged(self.redacted, clean.counts)
                self.entries.append(self._entry(memory, words, mark, now))

    def write(self, progress: Progress) -> Iterator[str]:
        """Write the entries and yield the notes they went to."""
        own: dict[str, list[str]] = {}
        for entry in sorted(self.entries, key=lambda entry: entry.time):
            own.setdefault(entry.owner, []).append(entry.block)
        done, total = 0, len(self.entries)
        for owner, every in own.items():
            for blocks in _groups(every):
                path = self._note_with_room(blocks)
                notes.append(
                    self.workspace,
                    path,
                    "\n".join(blocks),
                    under=owner if owner and len(own) > 1 else None,
                    title=f"Memories from {self.origin}",
                    max_bytes=self.settings.files.max_bytes,
                )
                done += len(blocks)
                progress(done, total, "writing")
                yield path

    def _entry(self, memory: Memory, words: str, mark: str, now: datetime) -> _Entry:
        time = memory.time or now
        day = local_now(self.settings, time).date().isoformat()
        tags = [f"#{tag}" for one in memory.tags if (tag := _UNFIT.sub("-", one).strip("-/"))]
        end = " ".join([*tags, f"[{self.origin} {mark}]"])
        return _Entry(time, title_of(memory.owner), block_of(f"{day}:", words, end))

    def _note_with_room(self, blocks: Sequence[str]) -> str:
        needed = _size(blocks)
        for path in _names(self.origin):
            place = place_of(self.workspace, path)
            there = atomic.read(place.real, _NOTE_BYTES, root=place.root)
            if there is None or len(there) + needed <= _NOTE_BYTES:
                return path
        raise AssertionError("numbers do not end")


def _names(origin: str) -> Iterator[str]:
    yield f"{FOLDER}/{origin}{SUFFIX}"
    number = 1
    while True:
        number += 1
        yield f"{FOLDER}/{origin}-{number}{SUFFIX}"


def _marks_in(workspace: Workspace, origin: str) -> Iterator[str]:
    """Yield the marks of what was brought in before."""
    pattern = re.compile(rf"\[{re.escape(origin)} ([0-9a-f]{{16}})\]".encode())
    for path in _names(origin):
        with reading(path):
            content = atomic.read(place_of(workspace, path).real, root=workspace.root)
        if content is None:
            return
        yield from (mark.decode() for mark in pattern.findall(content))


def mark_of(memory: Memory) -> str:
    """Return what knows a memory again: its name and what it says there."""
    told = f"{memory.id}\0{memory.text}".encode("utf-8", "replace")
    return hashlib.sha256(told).hexdigest()[:16]


def _groups(blocks: Sequence[str]) -> Iterator[list[str]]:
    """Put blocks together that are written at once."""
    group: list[str] = []
    room = _BLOCK_BYTES
    for block in blocks:
        size = _size([block])
        if group and size > room:
            yield group
            group, room = [], _BLOCK_BYTES
        group.append(block)
        room -= size
    if group:
        yield group


def _size(blocks: Sequence[str]) -> int:
    return sum(len(block.encode()) + 1 for block in blocks)


ORIGIN = "mem0"

_KEYS = ("results", "memories", "data")
_WORDS = ("memory", "text", "content", "data")
_OWNERS = ("user_id", "agent_id", "run_id")
_INSIDE = re.compile(r"(?:.*/)?[^/]*memor[^/]*\.json", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class ImportedMemories:
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
) -> ImportedMemories:
    """Write the memories of an export into the note of mem0; all of it is read before anything is written."""
    with opened(file, "an export of mem0") as export:
        found = list(_memories(export, progress))
    usable = [memory for memory in found if memory is not None]
    if found and not usable:
        raise export.refused("none of its items is a memory")
    added = add(workspace, settings, ORIGIN, usable, dry_run=dry_run, progress=progress)
    return ImportedMemories(str(file), added, len(found) - len(usable), dry_run)


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
