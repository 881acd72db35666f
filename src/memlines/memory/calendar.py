"""List what happened on which day, from the files as they are; what cannot be read is left out."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import date, datetime
from itertools import chain
from typing import TYPE_CHECKING, Literal
from weakref import WeakKeyDictionary

from memlines.errors import MemlinesError
from memlines.files import snapshots
from memlines.memory import scopes
from memlines.memory.conversations.listing import list_sessions
from memlines.memory.manager import Manager
from memlines.memory.notes.entries import body_of, local_now, notes_in, one_line
from memlines.memory.notes.recall import recall
from memlines.paths import note_path
from memlines.records import dataclass
from memlines.types import FoundFile, Scope, cite

if TYPE_CHECKING:
    from memlines.memory.memory import Memory

DayKind = Literal["note", "fact", "session", "snapshot"]
"""What can be in the calendar."""


@dataclass(frozen=True, slots=True)
class DayItem:
    """Something of a day; `target` is the citation or path that `Memory.read` accepts."""

    day: date
    """The day."""
    kind: DayKind
    """What it is."""
    target: str
    """The citation or path that `Memory.read` accepts."""
    title: str
    """What to call it."""
    scope: Scope = "project"


@dataclass(frozen=True, slots=True)
class Calendar:
    """What happened on each day, the newest day first, and how much there is of each kind."""

    days: Mapping[date, tuple[DayItem, ...]]
    """What happened on each day."""
    by_kind: Mapping[DayKind, int]
    """How much there is of each kind."""


_READ: WeakKeyDictionary[Manager, tuple[tuple[FoundFile, ...], list[DayItem]]] = WeakKeyDictionary()
"""What the notes of a memory say, for as long as no file changes: reading thousands takes a second."""


def list_days(memory: Memory) -> Calendar:
    """Return what happened on which day, in this memory and in the personal one beside it."""
    by_day: dict[date, list[DayItem]] = {}
    of_notes: list[DayItem] = []
    for one in scopes.list_scopes(memory, []):
        notes = notes_in(one.workspace, one.settings)
        known = _READ.get(one._manager)
        if known is None or known[0] != notes:
            known = _READ[one._manager] = notes, [*_items_of(one)]
        of_notes += known[1]
    for item in chain(of_notes, _conversations(memory)):
        by_day.setdefault(item.day, []).append(item)
    days = {day: tuple(by_day[day]) for day in sorted(by_day, reverse=True)}
    return Calendar(days, Counter(item.kind for items in days.values() for item in items))


def _items_of(memory: Memory) -> Iterator[DayItem]:
    """Yield the dated entries of notes, the newest first, and the facts, the last stored first."""
    prefix, scope = memory._manager.prefix, memory.scope
    of_facts = note_path(memory.settings.facts.file)
    for entry in recall(memory._manager, recent=True, limit=sys.maxsize):
        if entry.day is not None and entry.path != of_facts:
            title = one_line(body_of(entry.text) or entry.text)
            yield DayItem(entry.day, "note", prefix + entry.citation, title, scope)
    with suppress(MemlinesError):
        for line in reversed(memory.facts.list(current=False)):
            if line.fact.created is not None:
                target = cite(memory.facts.path, line.first, line.last)
                yield DayItem(line.fact.created, "fact", target, one_line(line.fact.text), scope)


def _conversations(memory: Memory) -> Iterator[DayItem]:
    """Yield the sessions that are searched, and the snapshots, both the newest first."""
    workspace, settings = memory.workspace, memory.settings
    found: list[tuple[DayKind, datetime | None, str, str]] = []
    with suppress(MemlinesError):
        for info in list_sessions(workspace, settings) if "sessions" in settings.sources else ():
            if info.state not in ("left out", "gone"):
                name = info.path.rpartition("/")[2].rpartition(".")[0]
                found.append(("session", info.started or info.changed, info.path, f"{info.client} {name}"))
    with suppress(MemlinesError):
        kept = snapshots.list_all(workspace).snapshots
        found += [("snapshot", one.created, one.path, f"{one.client} {one.session}".strip()) for one in kept]
    for kind, moment, path, title in found:
        with suppress(OverflowError, ValueError):  # a damaged file may name a time that is on no day here
            if moment is not None:
                yield DayItem(local_now(settings, moment).date(), kind, path, title, memory.scope)
