"""Write memories that another program kept into a note, one dated entry each, and never the same one twice.

    - 2026-03-01: Prefers tea over coffee #food [mem0 3f2a9c1b04de7781]

The mark at the end says where an entry came from, and identifies it even after it was reworded here.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, field
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

from memlines.admin.imports.json_export import open_export
from memlines.errors import UsageError
from memlines.files import atomic, notes
from memlines.files.journal import operation
from memlines.files.place import place_of, reading
from memlines.files.scan import NOTES_DIR, SUFFIX
from memlines.files.tombstones import Forgotten
from memlines.memory.notes.entries import block_of, local_now, usable_text
from memlines.paths import Workspace
from memlines.records import dataclass
from memlines.settings import Settings
from memlines.text.entries import title_of
from memlines.text.redaction import add_counts, redact, rules_of
from memlines.transcripts.lines import table, tidy, time_of
from memlines.types import Progress

FOLDER = f"{NOTES_DIR}/imported"

_NOTE_BYTES = 1_000_000
_BLOCK_BYTES = 200_000
"""The most that a note and one change of it may have: a larger note is slow to open and to change."""

_UNFIT = re.compile(r"[^\w/-]+")
_YEARS = range(1971, 9000)
"""A time outside of these was never set, and cannot be converted to every time zone."""


@dataclass(frozen=True, slots=True)
class ForeignMemory:
    """What another program remembered: its id there, the words, when, about what, about whom."""

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


def parse_time(value: Any) -> datetime | None:
    """Return the time in a value of an export, if it is one."""
    time = time_of(value)
    return time if time is not None and time.year in _YEARS else None


@operation("import")
def add_memories(
    workspace: Workspace,
    settings: Settings,
    origin: str,
    memories: Iterable[ForeignMemory],
    *,
    dry_run: bool,
    progress: Progress,
) -> Added:
    """Write the memories that are not there yet into the notes of their origin, the oldest first."""
    rules = rules_of(settings.redaction.rules)
    gone = Forgotten.load(workspace)
    now = datetime.now(UTC)
    marks = set(_marks_in(workspace, origin))
    counts: Counter[str] = Counter()
    redacted: dict[str, int] = {}
    new: list[tuple[datetime, str, str]] = []  # time, owner and text of an entry
    for memory in memories:
        clean = redact(memory.text, rules)
        try:
            words = usable_text(clean.text)
        except UsageError:
            counts["unusable"] += 1
            continue
        mark = mark_of(memory)
        if mark in marks:
            counts["known"] += 1
        elif gone and gone.drops(words):
            counts["forgotten"] += 1
        else:
            marks.add(mark)
            redacted = add_counts(redacted, clean.counts)
            time = memory.time or now
            tags = [f"#{tag}" for one in memory.tags if (tag := _UNFIT.sub("-", one).strip("-/"))]
            end = " ".join([*tags, f"[{origin} {mark}]"])
            day = local_now(settings, time).date().isoformat()
            new.append((time, title_of(memory.owner), block_of(f"{day}:", words, end)))
    paths = {} if dry_run else dict.fromkeys(_write(workspace, settings, origin, new, progress))
    return Added(added=len(new), redacted=redacted, paths=tuple(paths), **counts)


def _write(
    workspace: Workspace,
    settings: Settings,
    origin: str,
    new: Sequence[tuple[datetime, str, str]],
    progress: Progress,
) -> Iterator[str]:
    """Write entries, those of each owner under a heading if there are several; yield the notes they go to."""
    by_owner: dict[str, list[str]] = {}
    for _, owner, block in sorted(new, key=lambda entry: entry[0]):
        by_owner.setdefault(owner, []).append(block)
    done = 0
    for owner, every in by_owner.items():
        for blocks in _groups(every):
            path = _note_with_room(workspace, origin, blocks)
            notes.append(
                workspace,
                path,
                "\n".join(blocks),
                under=owner if owner and len(by_owner) > 1 else None,
                title=f"Memories from {origin}",
                max_bytes=settings.files.max_bytes,
            )
            done += len(blocks)
            progress(done, len(new), "writing")
            yield path


def _note_with_room(workspace: Workspace, origin: str, blocks: Sequence[str]) -> str:
    needed = _size(blocks)
    for path in _names(origin):
        place = place_of(workspace, path)
        there = atomic.read(place.real, _NOTE_BYTES, root=place.root)
        if there is None or len(there) + needed <= _NOTE_BYTES:
            return path
    raise AssertionError("the names do not end")


def _names(origin: str) -> Iterator[str]:
    """Yield the names of the notes of an origin, without end."""
    yield f"{FOLDER}/{origin}{SUFFIX}"
    yield from (f"{FOLDER}/{origin}-{number}{SUFFIX}" for number in count(2))


def _marks_in(workspace: Workspace, origin: str) -> Iterator[str]:
    """Yield the marks of what was brought in before."""
    pattern = re.compile(rf"\[{re.escape(origin)} ([0-9a-f]{{16}})\]".encode())
    for path in _names(origin):
        with reading(path):
            content = atomic.read(place_of(workspace, path).real, root=workspace.root)
        if content is None:
            return
        yield from (mark.decode() for mark in pattern.findall(content))


def mark_of(memory: ForeignMemory) -> str:
    """Return the mark of a memory: a hash of its id and text in the other program."""
    named = f"{memory.id}\0{memory.text}".encode("utf-8", "replace")
    return hashlib.sha256(named).hexdigest()[:16]


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
    """How many items of the export are not memories."""
    dry_run: bool

    def to_json(self) -> dict[str, Any]:
        """Return it with field names that stay."""
        result = asdict(self)
        return {**result.pop("memories"), **result}


def import_mem0(
    workspace: Workspace, settings: Settings, file: Path, *, dry_run: bool = False, progress: Progress
) -> ImportedMemories:
    """Write the memories of an export into the note of mem0; all of it is read before anything is written."""
    with open_export(file, "an export of mem0") as export:
        found = [memory_of(item) for item in export.items(_INSIDE, _KEYS, progress, "reading")]
    usable = [memory for memory in found if memory is not None]
    if found and not usable:
        raise export.refusal("none of its items is a memory")
    added = add_memories(workspace, settings, ORIGIN, usable, dry_run=dry_run, progress=progress)
    return ImportedMemories(str(file), added, len(found) - len(usable), dry_run)


def memory_of(item: Any) -> ForeignMemory | None:
    """Return the memory in an item of an export, if it is one."""
    fields = table(item)
    words = next((text for key in _WORDS if (text := tidy(fields.get(key)))), "")
    if not words:
        return None
    details = table(fields.get("metadata"))
    tags = fields.get("categories") or details.get("categories") or details.get("category") or ()
    every = [tags] if isinstance(tags, str) else tags if isinstance(tags, list) else []
    return ForeignMemory(
        tidy(fields.get("id")) or tidy(fields.get("hash")),
        words,
        parse_time(fields.get("created_at")) or parse_time(fields.get("updated_at")),
        tuple(tag for one in every if (tag := tidy(one))),
        next((owner for key in _OWNERS if (owner := tidy(fields.get(key)))), ""),
    )
