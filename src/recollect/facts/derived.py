"""When the LanceDB table of the facts may answer, and that it is kept equal to the note.

The table answers only if it was made of the very state that the index is in. Otherwise the index answers
itself, with the same vectors, so an answer never depends on the table; only how long it takes does.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from recollect.errors import RecollectError, StoreError, reason_of
from recollect.facts.book import Book
from recollect.facts.healing import heal, opened
from recollect.facts.lance import is_installed
from recollect.facts.record import is_remote, lock_of, make_folder, record_of, remove_record, uri_of
from recollect.facts.shelf import Shelf, state_of
from recollect.facts.table import Table, drop
from recollect.search.legs import Nearest
from recollect.store.sqlite import spaces
from recollect.store.sqlite.index import Index
from recollect.upkeep.upkeep import Upkeep

LANCEDB = "lancedb"
INDEX = "index"

_WORTH_LOADING = 20_000
"""Facts from which on the table is quicker than the index by more than it takes to load LanceDB: below it,
a program that has not loaded it does without, unless the settings name it."""

_WAIT = 60.0
"""Seconds to wait for a program that is changing the table before it is removed."""

_MISSING = (
    "facts.store is lancedb, but its package is not installed, so the main index finds the facts;"
    " 'pip install recollect[facts]' installs it"
)


class Derived:
    """The table of one open memory; safe in several threads."""

    def __init__(self, upkeep: Upkeep, book: Book) -> None:
        self._upkeep = upkeep
        self._book = book
        self._store = upkeep.settings.facts.store
        self._healing = threading.Lock()
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
        return self._store != INDEX and is_installed()

    def rows(self) -> int | None:
        """Return how many facts the table holds, as far as that is known without asking it."""
        record = record_of(self._uri) if self._is_wanted else None
        return record.count if record else None

    def troubles(self) -> tuple[str, ...]:
        """Return what went wrong with the table since this was last asked."""
        told, self._troubles = tuple(self._troubles), {}
        return told

    def nearest_in(self, index: Index, shelf: Shelf, *, current_only: bool) -> Nearest | None:
        """Return what asks the table for the nearest facts; nothing if the index has to tell that itself."""
        allowed = shelf.current if current_only else shelf.all
        try:
            table = self._table(index, len(shelf.all))
        except RecollectError as error:
            self._notice(error)
            return None
        if table is None:
            return None

        def nearest(vector: bytes, limit: int) -> dict[int, float] | None:
            try:
                near = table.nearest(vector, limit, current_only=current_only)
            except StoreError as error:
                self._notice(error)
                return None
            numbers = ((shelf.numbers.get(name), cosine) for name, cosine in near.items())
            return {number: cosine for number, cosine in numbers if number in allowed and number is not None}

        return nearest

    def _table(self, index: Index, facts: int) -> Table | None:
        """Return the table if it is equal to what the index holds."""
        is_free = self._store == LANCEDB or "lancedb" in sys.modules
        if not facts or not (is_free or facts >= _WORTH_LOADING) or not self._is_wanted:
            return None
        now = spaces.serving(index.connection)
        table = opened(self._uri, now.space) if now else None
        if now is None or table is None or table.waiting or table.space_number != now.number:
            return None
        return table if table.made_of == state_of(index, self._book.path) else None

    def heal(self) -> tuple[str, ...]:
        """Make the table equal to the note and the index; return what should be told about it."""
        if self._store == INDEX:
            return ()
        try:
            if not is_installed():
                return (_MISSING,) if self._store == LANCEDB and self._book.lines() else ()
            with self._healing:
                return self._heal()
        except RecollectError as error:
            return (_told(str(error)),)
        except OSError as error:
            return (_told(reason_of(error)),)

    def _heal(self) -> tuple[str, ...]:
        index = Index.reader(self._upkeep.index_file)  # not the shared one: healing may take a while
        if index is None:
            return ()
        try:
            heal(index, self._book, self._uri)
        finally:
            index.close()
        return ()

    @contextmanager
    def absent(self) -> Iterator[None]:
        """Remove the table with all that it ever held, and have nobody make it again inside the block."""
        uri = self._uri
        is_there = self._store != INDEX if is_remote(uri) else os.path.lexists(uri)
        with ExitStack() as held:
            if is_there:
                make_folder(uri)
                held.enter_context(lock_of(uri).held(_WAIT))
                remove_record(uri)
                drop(uri)
            yield

    def _notice(self, error: RecollectError) -> None:
        self._troubles[_told(str(error))] = None


def _told(reason: str) -> str:
    return f"the main index finds the facts, because their table cannot: {reason}"
