"""."""

from __future__ import annotations

import hashlib
import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from heapq import nlargest
from pathlib import Path

from memlines.errors import MemlinesError, SettingsError, StoreBusy, StoreDamaged, StoreError, reason_of
from memlines.files.atomic import sync_folder
from memlines.folders import Folder, open_private
from memlines.index.search.retrievers import Nearest
from memlines.index.store.sqlite import spaces
from memlines.index.store.sqlite.index import Index
from memlines.locks import start_daemon
from memlines.memory.facts.lance import (
    NAME,
    Row,
    Table,
    answered,
    ask_again,
    drop,
    is_installed,
    lance_errors,
    load,
    reach,
)
from memlines.memory.facts.note import Book
from memlines.memory.facts.places import (
    Record,
    default_place,
    drop_place,
    folder_of,
    is_remote,
    lock_of,
    make_folder,
    make_own_name,
    note_place,
    noted_places,
    record_of,
    remove_record,
    uri_of,
    write_record,
)
from memlines.memory.facts.recall import Shelf, Shelves, state_of
from memlines.memory.manager import Manager
from memlines.paths import MAIN_AGENT
from memlines.text.facts import Fact, FactLine
from memlines.text.neutral import harmless_address
from memlines.types import IndexedChunk, Space

_WAIT = 10.0
_DROP_WAIT = 60.0
"""Seconds to wait for another process that heals the same table, and for one whose table is to go."""

_MOST_LACKING = 1_000
"""Facts without a row from which on the table does not answer: they are compared beside it every time."""

_TIDY_AFTER = 16
_NEW_IF_MORE = 1_000
"""Changes after which a table is tidied up, and changed rows from which on it is made anew if those are half
of it."""

_ROWS_AT_ONCE = 4_096
_NO_SPACE = Space("", "", "")
_MOST_OPEN = 8


@dataclass(frozen=True, slots=True)
class Healed:
    """What was done to a table, and how many facts it leaves to the index."""

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
    lacking: tuple[str, ...]
    """The facts that it should not hold, because they have no vector or several."""


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


@contextmanager
def absent(uri: str) -> Iterator[None]:
    """Remove a table with all that it ever held, and have nobody make it again inside the block."""
    if not is_remote(uri) and not os.path.lexists(uri):
        yield
        return
    make_folder(uri)
    with lock_of(uri).held(_DROP_WAIT):
        remove_record(uri)
        reach(uri)
        drop(uri)
        yield


_open: dict[str, tuple[Record, Table]] = {}
_opening = threading.Lock()


def opened(uri: str, space: Space) -> Table | None:
    """Return the table of the facts, open; nothing if there is none that holds vectors of this space.

    It may be behind the note: `made_of`, `space_number` and `lacking` tell. One that is not what was last
    written here is not trusted; the next healing makes it anew.
    """
    record = _record_of(uri, space)
    if record is None or not is_installed():
        return None
    table = _kept_open(uri, record)
    if table is None:
        table = _trusted(uri, record)  # holding nothing: whoever asks for another table need not wait
        if table is None:
            _distrust(uri, record)
            return None
        with _opening:
            _open[uri] = (record, table)
            while len(_open) > _MOST_OPEN:
                del _open[next(iter(_open))]
    return table


def at_hand(uri: str, space: Space) -> Table | None:
    """Return the same if it was opened before, and nothing otherwise; that takes no time."""
    record = _record_of(uri, space)
    return None if record is None else _kept_open(uri, record)


def distrust(table: Table) -> None:
    """Have the next healing make a table anew that turned out to be damaged."""
    with _opening:
        record, known = _open.get(table.uri, (None, None))
        if record is None or known is not table:
            return
        del _open[table.uri]
    _distrust(table.uri, record)


def _record_of(uri: str, space: Space) -> Record | None:
    record = record_of(uri)
    return record if record is not None and record.space == space and record.count else None


def _kept_open(uri: str, record: Record) -> Table | None:
    with _opening:
        known = _open.get(uri)
    return known[1] if known is not None and known[0] == record else None


def _trusted(uri: str, record: Record) -> Table | None:
    """Return a table if it is the one that a record is about."""
    try:
        table = Table.open(uri)
        if table is None or (table.version, table.token) != (record.version, record.token):
            return None
    except StoreDamaged:
        return None
    table.made_of, table.space_number = record.made_of, record.number
    table.lacking = frozenset(record.lacking) if len(record.lacking) == record.waiting else None
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
        """Tell whether a table holds all this already, by a look as long as it lacks no fact."""
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
        """Return what the table should hold: the facts that have one vector."""
        shelf = Shelves().of(self.index, self.path, self.lines)
        without = self._without_vectors(shelf.all)
        pieces = Counter(line.fact.id for line in shelf.lines.values())
        numbers = {
            name: number
            for name, number in shelf.numbers.items()
            if number not in without and pieces[name] == 1
        }
        chunks = self.index.chunks(numbers.values())
        facts = {name: shelf.lines[number].fact for name, number in numbers.items()}
        marks = {name: _mark(fact, chunks[numbers[name]]) for name, fact in facts.items()}
        rows = _digest(f"{name} {mark}" for name, mark in sorted(marks.items()))
        lacking = tuple(line.fact.id for line in self.lines if line.fact.id not in numbers)
        return _Wanted(facts, numbers, marks, rows, lacking)

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

    def record(self, version: int, token: str, changes: int) -> Record:
        """Return what a table was made of that was made of this."""
        wanted = self.wanted
        waiting = len(wanted.lacking)
        return Record(
            self.space,
            self.number,
            self.made_of,
            self.note,
            wanted.rows,
            len(wanted.marks),
            waiting,
            wanted.lacking if waiting <= _MOST_LACKING else (),
            version,
            token,
            changes,
        )


def _healed(here: _Here, uri: str, *, force: bool) -> Healed:
    """Heal a table while nobody else does."""
    record = record_of(uri)
    before = record if record is not None and not force and here.has_vectors_of(record) else None
    wanted = here.wanted
    if before is not None and before.rows == wanted.rows and here.is_there(before, uri):
        remove_record(uri)  # the same facts elsewhere in the note
        write_record(uri, here.record(before.version, before.token, before.changes))
        return Healed(waiting=len(wanted.lacking))
    reach(uri)
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
    version, token = (table.version, table.token) if table else (0, "")
    write_record(uri, here.record(version, token, changes))
    return replace(done, waiting=len(wanted.lacking))


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
    """Have the system keep what LanceDB wrote even if the power goes, and close it to others.

    LanceDB sees to neither.
    """
    if is_remote(uri):
        return
    with closing(Folder.at(folder_of(uri))) as place:
        is_shared = place.is_shared
    for above, _, names in os.walk(folder_of(uri) / f"{NAME}.lance"):
        with closing(Folder.at(above)) as place:
            place.tighten(shared=is_shared)
        for name in names:
            path = Path(above, name)
            if path.stat().st_mtime_ns >= since - 1_000_000_000:
                _sync_file(path)
        sync_folder(Path(above))


def _sync_file(path: Path) -> None:
    handle = open_private(path, os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


LANCEDB = "lancedb"
INDEX = "index"

_WORTH_LOADING = 20_000
"""Facts from which on the table is quicker than the index by more than it takes to load LanceDB: below it,
a program that has not loaded it does without, unless the settings name it."""

_PATIENCE = 1.0
"""Seconds that a service may take to open a table or to answer; the index is not slower than that."""

_LAST_CALL = 3.0
_A_MOMENT = 0.1
"""Seconds that healing a table of a service may go on once the memory is closed, and how often it looks."""

_MISSING = (
    "facts.store is lancedb, but its package is not installed, so the main index finds the facts;"
    " 'pip install memlines[facts]' installs it"
)


class Derived:
    """The table of one open memory; safe in several threads."""

    def __init__(self, manager: Manager, book: Book) -> None:
        self._manager = manager
        self._book = book
        self._store = manager.settings.facts.store
        self._healing = threading.Lock()
        self._closed = threading.Event()
        self._troubles: dict[str, None] = {}

    @property
    def kind(self) -> str:
        """What finds facts by meaning, once everything is in order."""
        return LANCEDB if self._is_wanted else INDEX

    @property
    def uri(self) -> str:
        """Where the table is, if there is to be one."""
        return self._uri if self._is_wanted else ""

    @property
    def _uri(self) -> str:
        return uri_of(self._manager.workspace, self._manager.settings)

    @property
    def _is_wanted(self) -> bool:
        return self._store != INDEX and self._is_of_main and is_installed()

    @property
    def _is_of_main(self) -> bool:
        """Whether this agent has the table; agents whose indexes differ would overwrite each other's."""
        return self._manager.settings.agent == MAIN_AGENT

    def rows(self) -> int | None:
        """Return how many facts the table holds, as far as that is known without asking it."""
        record = record_of(self._uri) if self._is_wanted else None
        return record.count if record else None

    def troubles(self) -> tuple[str, ...]:
        """Return what went wrong with the table since this was last asked."""
        told, self._troubles = tuple(self._troubles), {}
        return told

    def prepare(self) -> None:
        """Have the table open, if it is to answer.

        That may take a moment, so it is done while nothing is held that others wait for. What takes longer
        with a service goes on alone, and a later question finds it done.
        """
        try:
            record = record_of(self._uri) if self._is_wanted else None
            if record is None or not (self._is_free or record.count >= _WORTH_LOADING):
                return
            load()  # here, because a program must not end while another thread imports it
            uri, space = self._uri, record.space
            if at_hand(uri, space) is None:
                answered(uri, lambda: opened(uri, space), _PATIENCE)
        except MemlinesError as error:
            self._notice(error)

    @property
    def _is_free(self) -> bool:
        return self._store == LANCEDB or "lancedb" in sys.modules

    def nearest_in(self, index: Index, shelf: Shelf, *, current_only: bool) -> Nearest | None:
        """Return what asks the table for the nearest facts; nothing if the index has to tell that itself."""
        allowed = shelf.current if current_only else shelf.all
        try:
            table = self._table(index) if allowed else None
        except MemlinesError as error:
            self._notice(error)
            return None
        if table is None:
            return None
        beside = self._vectors_beside(index, shelf, table, allowed)

        def nearest(vector: bytes, limit: int) -> dict[int, float] | None:
            try:
                near = answered(
                    table.uri, lambda: table.nearest(vector, limit, current_only=current_only), _PATIENCE
                )
            except StoreError as error:
                self._notice(error)
                if isinstance(error, StoreDamaged):
                    distrust(table)
                return None
            numbers = ((shelf.numbers.get(name), cosine) for name, cosine in near.items())
            found = {number: cosine for number, cosine in numbers if number in allowed and number is not None}
            found |= _cosines(vector, beside)
            return {number: found[number] for number in nlargest(limit, found, key=found.__getitem__)}

        return nearest

    def _table(self, index: Index) -> Table | None:
        """Return the table if it is open and was made of what the index holds."""
        now = spaces.serving(index.connection) if self._is_wanted else None
        table = at_hand(self._uri, now.space) if now else None
        if now is None or table is None or table.lacking is None or table.space_number != now.number:
            return None
        return table if table.made_of == state_of(index, self._book.path) else None

    def _vectors_beside(
        self, index: Index, shelf: Shelf, table: Table, allowed: frozenset[int]
    ) -> Mapping[int, bytes]:
        """Return the vectors that the index has of the facts which the table lacks."""
        lacking = table.lacking
        if not lacking:
            return {}
        numbers = [number for number, line in shelf.lines.items() if line.fact.id in lacking]
        return index.vectors.of(number for number in numbers if number in allowed)

    # Keeping it

    def heal(self) -> tuple[str, ...]:
        """Make the table equal to the note and the index; return what should be told about it."""
        if not self._is_of_main:
            return ()
        self._closed.clear()
        try:
            told = self._heal()
            return (*told, *self._without_former())
        except MemlinesError as error:
            return (_told(str(error)),)
        except OSError as error:
            return (_told(reason_of(error)),)

    def close(self) -> None:
        """Wait for a service no longer than a moment; what healing is under way goes on alone."""
        self._closed.set()

    def _heal(self) -> tuple[str, ...]:
        if self._store == INDEX:
            return ()
        lines = self._book.lines()
        if not is_installed():
            return (_MISSING,) if self._store == LANCEDB and lines else ()
        if lines and self._manager.settings.facts.uri:
            make_own_name(self._manager.workspace)
        uri = self._uri
        if lines:
            note_place(self._manager.workspace, uri)
        with self._healing:
            if is_remote(uri):
                self._patiently(lambda: self._heal_at(uri))
            else:
                self._heal_at(uri)
        return ()

    def _heal_at(self, uri: str) -> None:
        index = Index.reader(self._manager.index_file)  # not the shared one: healing may take a while
        if index is None:
            return
        try:
            heal(index, self._book, uri)
        finally:
            index.close()

    def _patiently(self, work: Callable[[], None]) -> None:
        """Wait for something that may hang, but not long once the memory is closed or the program ends."""
        from concurrent.futures import wait

        done = start_daemon(work, "memlines-lancedb")
        while not self._closed.is_set() and threading.main_thread().is_alive():
            if wait([done], _A_MOMENT).done:
                done.result()
                return
        if wait([done], _LAST_CALL).done:
            done.result()

    def _without_former(self) -> tuple[str, ...]:
        """Remove the tables that the settings no longer name; return what should be told about it."""
        current = "" if self._store == INDEX else self._uri
        told = []
        for uri in self._places():
            if uri == current or not _is_known_here(uri):
                continue
            try:
                with absent(uri) if _may_hold(uri) else nullcontext():
                    drop_place(self._manager.workspace, uri)
            except (MemlinesError, OSError) as error:
                reason = str(error) if isinstance(error, MemlinesError) else reason_of(error)
                told.append(f"a former table of the facts could not be removed: {reason}")
        return tuple(told)

    @contextmanager
    def absent(self) -> Iterator[tuple[str, ...]]:
        """Remove all tables with what they ever held, and have nobody make them again inside the block.

        Those that could not be removed are named: the rest is to be forgotten whatever is wrong with them.
        """
        left: list[str] = []
        with ExitStack() as held:
            for uri in self._places():
                shown = f"the table of the facts in {harmless_address(uri)}"
                if not _is_known_here(uri):
                    left.append(shown)
                    continue
                ask_again(uri)
                try:
                    held.enter_context(absent(uri))
                except (MemlinesError, OSError):
                    left.append(shown)
            yield tuple(left)

    def _places(self) -> list[str]:
        """Return where tables of this workspace are or may be."""
        workspace = self._manager.workspace
        places = dict.fromkeys([default_place(workspace), *noted_places(workspace)])
        with suppress(SettingsError):  # a place that is none holds no table
            if os.path.lexists(folder_of(self._uri)):
                places[self._uri] = None
        return [*places]

    def _notice(self, error: MemlinesError) -> None:
        self._troubles[_told(str(error))] = None


def _told(reason: str) -> str:
    return f"the main index finds the facts, because their table cannot: {reason}"


def _cosines(vector: bytes, vectors: Mapping[int, bytes]) -> dict[int, float]:
    """Return the cosines of chunks, whose vectors have the length one."""
    held = {number: blob for number, blob in vectors.items() if len(blob) == len(vector)}
    if not held:
        return {}
    import numpy as np

    rows = np.frombuffer(b"".join(held.values()), "<f4").reshape(len(held), -1)
    return dict(zip(held, np.vecdot(rows, np.frombuffer(vector, "<f4")).tolist(), strict=True))


def _may_hold(uri: str) -> bool:
    """Tell whether a place may hold something of a table; of a service that is not known."""
    return is_remote(uri) or record_of(uri) is not None or os.path.lexists(Path(uri, f"{NAME}.lance"))


def _is_known_here(uri: str) -> bool:
    """Tell whether this machine wrote a table; of a service, a cloned workspace could name any bucket."""
    return not is_remote(uri) or folder_of(uri).is_dir()
