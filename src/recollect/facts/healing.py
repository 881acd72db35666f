"""Make the table of the facts equal to their note.

The note says which facts there are, the index has their vectors. Only what differs is written. A table that
is of other vectors, damaged, or not the one that was written last is made anew.
"""

from __future__ import annotations

import hashlib
import os
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from recollect.errors import StoreBusy, StoreDamaged
from recollect.facts.book import Book
from recollect.facts.lance import is_installed, lance_errors
from recollect.facts.record import (
    Record,
    folder_of,
    is_remote,
    lock_of,
    make_folder,
    record_of,
    remove_record,
    write_record,
)
from recollect.facts.shelf import Shelves, state_of
from recollect.facts.table import NAME, Row, Table, drop
from recollect.files.atomic import sync_folder
from recollect.store.sqlite import spaces
from recollect.store.sqlite.index import Index
from recollect.text.facts import Fact, FactLine
from recollect.types import IndexedChunk, Space

_WAIT = 10.0
"""Seconds to wait for another process that heals the same table."""

_TIDY_AFTER = 16
_NEW_IF_MORE = 1_000
"""Changes after which a table is tidied up, and changed rows from which on it is made anew if those are half
of it."""

_ROWS_AT_ONCE = 4_096
_NO_SPACE = Space("", "", "")
_MOST_OPEN = 8


@dataclass(frozen=True, slots=True)
class Healed:
    """What was done to a table, and how many facts it lacks because they have no vector yet."""

    added: int = 0
    changed: int = 0
    removed: int = 0
    rebuilt: bool = False
    waiting: int = 0
    busy: bool = False
    """Whether it was left to another process, which takes longer than one waits."""


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What the table should hold: facts, the numbers of their chunks, and their marks, by id."""

    facts: Mapping[str, Fact]
    numbers: Mapping[str, int]
    marks: Mapping[str, str]
    rows: str
    """Tells all of that."""
    waiting: int


def heal(index: Index, book: Book, uri: str, *, force: bool = False, wait_seconds: float = _WAIT) -> Healed:
    """Make a table equal to the note and the index; `force` makes it anew.

    The index is a reader that nobody else uses meanwhile. Where nothing changed, LanceDB is not imported.
    """
    lines = book.lines()
    if not lines and not is_remote(uri) and not os.path.lexists(uri):
        return Healed()
    with index.errors(), index.snapshot():
        here = _Here(index, book.path, lines)
        record = None if force else record_of(uri)
        if record is not None and here.is_in(record, uri):
            return Healed(waiting=record.waiting)
        make_folder(uri)
        try:
            with lock_of(uri).held(wait_seconds):
                return _healed(here, uri, force=force)
        except StoreBusy:
            return Healed(busy=True)


def forget(uri: str) -> None:
    """Remove a table with all that it ever held; the next healing makes it anew."""
    if not is_remote(uri) and not os.path.lexists(uri):
        return
    make_folder(uri)
    with lock_of(uri).held(_WAIT):
        remove_record(uri)
        drop(uri)


_open: dict[str, tuple[Record, Table]] = {}
_opening = threading.Lock()


def opened(uri: str, space: Space) -> Table | None:
    """Return the table of the facts, open; nothing if there is none that holds vectors of this space.

    It may be behind the note: `made_of`, `space_number` and `waiting` tell. One that is not what was last
    written here is not trusted; the next healing makes it anew.
    """
    record = record_of(uri)
    if record is None or record.space != space or not record.count or not is_installed():
        return None
    with _opening:
        known = _open.get(uri)
        if known is not None and known[0] == record:
            return known[1]
        table = _trusted(uri, record)
        if table is None:
            _distrust(uri, record)
            return None
        _open[uri] = (record, table)
        while len(_open) > _MOST_OPEN:
            del _open[next(iter(_open))]
        return table


def _trusted(uri: str, record: Record) -> Table | None:
    """Return a table if it is the one that a record is about."""
    try:
        table = Table.open(uri)
        if table is None or table.version != record.version:
            return None
    except StoreDamaged:
        return None
    table.made_of, table.space_number, table.waiting = record.made_of, record.number, record.waiting
    return table


def _distrust(uri: str, record: Record) -> None:
    try:
        with lock_of(uri).held(0):
            if record_of(uri) == record:
                remove_record(uri)
    except StoreBusy:
        return  # it is just being healed


class _Here:
    """The note and the index as they are now."""

    def __init__(self, index: Index, path: str, lines: Sequence[FactLine]) -> None:
        self.index = index
        self.path = path
        self.lines = lines
        entry = spaces.serving(index.connection)
        self.space, self.number = (entry.space, entry.number) if entry else (_NO_SPACE, 0)
        self.made_of = state_of(index, path)
        self.note = _digest(f"{line.first} {line.fact.id} {line.raw}" for line in lines)

    def is_in(self, record: Record, uri: str) -> bool:
        """Tell whether a table holds all this already, by a look as long as no fact waits for a vector."""
        return (
            self.has_vectors_of(record)
            and (record.made_of, record.note) == (self.made_of, self.note)
            and self.is_there(record, uri)
            and (not record.waiting or record.rows == self.wanted.rows)
        )

    def is_there(self, record: Record, uri: str) -> bool:
        """Tell whether nobody removed the table, as far as that can be seen without LanceDB."""
        return is_remote(uri) or not record.count or Path(uri, f"{NAME}.lance").is_dir()

    def has_vectors_of(self, record: Record) -> bool:
        """Tell whether the vectors of a table are those that the index has."""
        birth = self.made_of[0]
        return (record.made_of[0], record.space, record.number) == (birth, self.space, self.number)

    @cached_property
    def wanted(self) -> _Wanted:
        """Return what the table should hold: the facts that have a vector."""
        shelf = Shelves().of(self.index, self.path, self.lines)
        lacking = self._without_vectors(shelf.all)
        numbers = {name: number for name, number in shelf.numbers.items() if number not in lacking}
        chunks = self.index.chunks(numbers.values())
        facts = {name: shelf.lines[number].fact for name, number in numbers.items()}
        marks = {name: _mark(fact, chunks[numbers[name]]) for name, fact in facts.items()}
        rows = _digest(f"{name} {mark}" for name, mark in sorted(marks.items()))
        return _Wanted(facts, numbers, marks, rows, len(self.lines) - len(numbers))

    def _without_vectors(self, numbers: frozenset[int]) -> set[int]:
        if not numbers:
            return set()
        first, last = min(numbers), max(numbers)
        pending = self.index.pending(self.index.vectors, first - 1, last - first + 1)
        return {number for number, _ in pending}

    def rows_of(self, names: Iterable[str]) -> Iterator[Row]:
        """Yield the rows of facts; their vectors are read some at a time."""
        wanted = self.wanted
        left = list(names)
        while left:
            some, left = left[:_ROWS_AT_ONCE], left[_ROWS_AT_ONCE:]
            vectors = self.index.vectors.of(wanted.numbers[name] for name in some)
            for name in some:
                yield Row(wanted.facts[name], vectors[wanted.numbers[name]], wanted.marks[name])

    def record(self, version: int, changes: int) -> Record:
        """Return what a table was made of that was made of this."""
        wanted = self.wanted
        sizes = (len(wanted.marks), wanted.waiting)
        return Record(self.space, self.number, self.made_of, self.note, wanted.rows, *sizes, version, changes)


def _healed(here: _Here, uri: str, *, force: bool) -> Healed:
    """Heal a table while nobody else does."""
    record = record_of(uri)
    before = record if record is not None and not force and here.has_vectors_of(record) else None
    wanted = here.wanted
    if before is not None and before.rows == wanted.rows and here.is_there(before, uri):
        remove_record(uri)  # the same facts elsewhere in the note
        write_record(uri, here.record(before.version, before.changes))
        return Healed(waiting=wanted.waiting)
    begin = time.time_ns()
    table = _trusted(uri, before) if before is not None and before.count else None
    remove_record(uri)
    try:
        done, table = _changed(here, uri, table)
    except StoreDamaged:
        done, table = _made_anew(here, uri)
    changes = 0
    if table is not None:
        if not done.rebuilt and before is not None:
            changes = before.changes + 1
        table.index_if_large()
        if changes >= _TIDY_AFTER:
            table.tidy()
            changes = 0
        with lance_errors(uri):
            _make_durable(uri, begin)
    write_record(uri, here.record(table.version if table else 0, changes))
    return replace(done, waiting=wanted.waiting)


def _changed(here: _Here, uri: str, table: Table | None) -> tuple[Healed, Table | None]:
    """Change what differs, or make the table anew if there is none or most of it differs."""
    wanted = here.wanted.marks
    if table is None or not wanted:
        return _made_anew(here, uri)
    held = table.marks()
    stale = [name for name, mark in wanted.items() if held.get(name) != mark]
    gone = held.keys() - wanted.keys()
    if len(stale) + len(gone) > max(_NEW_IF_MORE, len(held) // 2):
        return _made_anew(here, uri)
    table.put(here.rows_of(stale))
    table.remove(gone)
    if table.marks() != wanted:
        raise StoreDamaged(f"the table {uri!r} was changed by another machine", todo="Sync again")
    added = len(set(stale) - held.keys())
    return Healed(added, len(stale) - added, len(gone)), table


def _made_anew(here: _Here, uri: str) -> tuple[Healed, Table | None]:
    drop(uri)
    wanted = here.wanted.marks
    if not wanted:
        return Healed(rebuilt=True), None
    table = Table.create(uri, here.rows_of(wanted))
    if table.marks() != wanted:
        raise StoreBusy(f"the table {uri!r} is being written by another machine", todo="Sync again")
    return Healed(added=len(wanted), rebuilt=True), table


def _mark(fact: Fact, chunk: IndexedChunk) -> str:
    """Return what tells whether a row is up to date: all that it holds, and what its vector was made of."""
    return hashlib.sha256(repr((fact, chunk.embedded_text)).encode(errors="surrogatepass")).hexdigest()[:32]


def _digest(parts: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(parts).encode(errors="surrogatepass")).hexdigest()[:32]


def _make_durable(uri: str, since: int) -> None:
    """Have the system keep what LanceDB wrote even if the power goes; it does not see to that itself."""
    if is_remote(uri):
        return
    for above, _, names in os.walk(folder_of(uri) / f"{NAME}.lance"):
        for name in names:
            path = Path(above, name)
            if path.stat().st_mtime_ns >= since - 1_000_000_000:
                _sync_file(path)
        sync_folder(Path(above))


def _sync_file(path: Path) -> None:
    handle = os.open(path, os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
