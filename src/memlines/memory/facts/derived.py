"""When the LanceDB table of the facts may answer, and that it is kept equal to the note.

The table answers only if it was made of the very state that the index is in. Otherwise the index answers
itself, with the same vectors, so an answer never depends on the table; only how long it takes does.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from heapq import nlargest
from pathlib import Path

from memlines.errors import MemlinesError, SettingsError, StoreDamaged, StoreError, reason_of
from memlines.index.search.legs import Nearest
from memlines.index.store.sqlite import spaces
from memlines.index.store.sqlite.index import Index
from memlines.locks import start_daemon
from memlines.memory.facts.book import Book
from memlines.memory.facts.healing import absent, at_hand, distrust, heal, opened
from memlines.memory.facts.lance import answered, ask_again, is_installed, load
from memlines.memory.facts.places import default_place, drop_place, make_own_name, note_place, noted_places
from memlines.memory.facts.record import folder_of, is_remote, record_of, uri_of
from memlines.memory.facts.shelf import Shelf, state_of
from memlines.memory.facts.table import NAME, Table
from memlines.memory.upkeep.upkeep import Upkeep
from memlines.paths import MAIN_AGENT
from memlines.text.neutral import harmless_address

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

    def __init__(self, upkeep: Upkeep, book: Book) -> None:
        self._upkeep = upkeep
        self._book = book
        self._store = upkeep.settings.facts.store
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
        return uri_of(self._upkeep.workspace, self._upkeep.settings)

    @property
    def _is_wanted(self) -> bool:
        return self._store != INDEX and self._is_of_main and is_installed()

    @property
    def _is_of_main(self) -> bool:
        """Whether this agent has the table; agents whose indexes differ would overwrite each other's."""
        return self._upkeep.settings.agent == MAIN_AGENT

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
        if lines and self._upkeep.settings.facts.uri:
            make_own_name(self._upkeep.workspace)
        uri = self._uri
        if lines:
            note_place(self._upkeep.workspace, uri)
        with self._healing:
            if is_remote(uri):
                self._patiently(lambda: self._heal_at(uri))
            else:
                self._heal_at(uri)
        return ()

    def _heal_at(self, uri: str) -> None:
        index = Index.reader(self._upkeep.index_file)  # not the shared one: healing may take a while
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
                    drop_place(self._upkeep.workspace, uri)
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
        workspace = self._upkeep.workspace
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
