"""Take over what OpenClaw's LanceDB plugin remembers: each memory becomes a fact.

A memory that is too long for a fact becomes an entry of `memory/imported/openclaw.md`. A mark, which is the
source of the fact, identifies a memory even after it was reworded here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

from memlines.admin.imports import memories
from memlines.errors import StoreError, UsageError, extra_missing, reason_of
from memlines.files.tombstones import Forgotten
from memlines.memory.facts.lance import is_installed, load
from memlines.memory.memory import Memory
from memlines.memory.notes.entries import local_now
from memlines.paths import expand_home
from memlines.records import dataclass
from memlines.text.facts import CATEGORIES, IMPORTANCE, LONGEST, Category, Fact, plain
from memlines.text.injection import is_injection
from memlines.text.redaction import add_counts, redact, rules_of
from memlines.transcripts.lines import table, tidy
from memlines.types import Progress

ORIGIN = "openclaw"
PLUGIN = "memory-lancedb"

_TABLE = "memories"
_COLUMNS = ("id", "text", "importance", "category", "createdAt")
_AGENT = "agentId"
"""The column in which newer versions have the agent; a table without it belongs to all of them."""

_SCHEMA_ROW = "__schema__"
_BY_NAME: Mapping[str, Category] = {str(category): category for category in CATEGORIES}


@dataclass(frozen=True, slots=True)
class Memories:
    """What became of memories: how many became facts or entries of notes, and why the others did not."""

    place: str
    there: int = 0
    facts: int = 0
    noted: int = 0
    known: int = 0
    forgotten: int = 0
    orders: int = 0
    """Those that read like an order to a model, which no fact may be."""
    unusable: int = 0
    redacted: Mapping[str, int] = field(default_factory=dict)
    reason: str = ""
    """Why they could not be read."""


def plugin_config(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what a configuration says about the plugin."""
    entry = table(table(table(config.get("plugins")).get("entries")).get(PLUGIN))
    return table(entry.get("config"))


def place_of_memories(state_dir: Path, config: Mapping[str, Any]) -> str | None:
    """Return where the plugin keeps its memories; `None` if it has none."""
    named = tidy(plugin_config(config).get("dbPath"))
    if "://" in named:
        return named
    place = state_dir / expand_home(named) if named else state_dir / "memory" / "lancedb"
    return str(place) if (place / f"{_TABLE}.lance").is_dir() else None


def take_memories(
    memory: Memory, place: str, *, dry_run: bool, with_forgotten: bool, progress: Progress
) -> Memories:
    """Write the memories at a place that are not known yet, the oldest first."""
    if "://" in place:
        return Memories(place, reason="they are kept by a service; copy the table to a folder and name that")
    if not is_installed():
        missing = extra_missing(StoreError, "reading this table", "facts", "lancedb")
        return Memories(place, reason=str(missing))
    try:
        rows = list(_rows(place, memory.settings.agent))
    except (RuntimeError, ValueError, OSError, StoreError) as error:
        return Memories(place, reason=f"the table cannot be read: {reason_of(error)}")
    work = _MemoryImport(memory, with_forgotten=with_forgotten)
    for done, row in enumerate(rows, 1):
        work.prepare(row)
        progress(done, len(rows), "reading")
    return work.write(place, dry_run=dry_run, progress=progress)


def _rows(place: str, agent: str) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of an agent, the oldest first, without their vectors; nothing is written."""
    load()
    import lancedb

    inner = lancedb.connect(place).open_table(_TABLE)
    names = [name for name in (*_COLUMNS, _AGENT) if name in inner.schema.names]
    if "text" not in names:
        raise ValueError("it has no column text")
    rows = inner.search().select(names).to_arrow().to_pylist()
    own = [row for row in rows if row.get(_AGENT) in (None, "", agent) and row.get("id") != _SCHEMA_ROW]
    yield from sorted(own, key=lambda row: _number(row.get("createdAt"), 0.0))


class _MemoryImport:
    """One import: what will be written, and why the rest is not."""

    def __init__(self, memory: Memory, *, with_forgotten: bool) -> None:
        self.memory = memory
        self.facts: list[Fact] = []
        self.long: list[memories.ForeignMemory] = []
        self.there = self.known = self.forgotten = self.orders = self.unusable = 0
        self.redacted: dict[str, int] = {}
        self._with_forgotten = with_forgotten
        self._rules = rules_of(memory.settings.redaction.rules)
        self._gone = Forgotten.load(memory.workspace)
        self._sources = {line.fact.source for line in memory.facts.list(current=False)}

    def prepare(self, row: Mapping[str, Any]) -> None:
        """Decide whether a memory is written, and as what."""
        self.there += 1
        text, time = tidy(row.get("text")), memories.parse_time(row.get("createdAt"))
        one = memories.ForeignMemory(tidy(row.get("id")), text, time, (tidy(row.get("category")),))
        source = f"{ORIGIN} {memories.mark_of(one)}"
        clean = redact(text, self._rules)
        if source in self._sources:
            self.known += 1
        elif not clean.text:
            self.unusable += 1
        elif is_injection(clean.text):
            self.orders += 1
        elif self._gone.drops(clean.text) and not self._with_forgotten:
            self.forgotten += 1
        elif len(" ".join(clean.text.split())) > LONGEST:
            self.long.append(one)
        else:
            self._sources.add(source)
            self.redacted = add_counts(self.redacted, clean.counts)
            try:
                words = plain(clean.text)
            except UsageError:
                self.unusable += 1
                return
            day = local_now(self.memory.settings, time).date()
            importance = min(1.0, max(0.0, _number(row.get("importance"), IMPORTANCE)))
            category = _BY_NAME.get(str(row.get("category")), "other")
            self.facts.append(Fact("", words, category, importance, day, source))

    def write(self, place: str, *, dry_run: bool, progress: Progress) -> Memories:
        """Write what was prepared, and return what became of everything."""
        workspace, settings = self.memory.workspace, self.memory.settings
        if self._with_forgotten and not dry_run:
            for text in [*(fact.text for fact in self.facts), *(one.text for one in self.long)]:
                self._gone.lift(text)
        added = self.memory.facts.add_all(self.facts, dry_run=dry_run)
        noted = memories.add_memories(
            workspace, settings, ORIGIN, self.long, dry_run=dry_run, progress=progress
        )
        return Memories(
            place,
            self.there,
            len(added),
            noted.added,
            self.known + len(self.facts) - len(added) + noted.known,
            self.forgotten + noted.forgotten,
            self.orders,
            self.unusable + noted.unusable,
            add_counts(self.redacted, noted.redacted),
        )


def _number(value: Any, default: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return default
    return float(value)
