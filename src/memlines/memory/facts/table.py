"""The LanceDB table of the facts: when it answers, and when it is written again.

The table is a copy of what the index holds. It answers only if it was written from the very state that the
index is in; otherwise the index answers itself, with the same vectors. So an answer never depends on the
table, only how long it takes does. A table of another state is not changed row by row: it is dropped and
written again from the index, after a sync and where it is used at all.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, nullcontext, suppress
from heapq import nlargest
from pathlib import Path

from memlines.embed.codec import cosines
from memlines.errors import MemlinesError, SettingsError, StoreDamaged, StoreError, reason_of
from memlines.index.search.retrievers import Nearest
from memlines.index.store.sqlite.index import Index
from memlines.locks import start_daemon
from memlines.memory.facts import places
from memlines.memory.facts.lance import (
    NAME,
    LanceTable,
    ask_again,
    is_installed,
    load,
    not_installed,
    with_deadline,
)
from memlines.memory.facts.note import FactNote, FactStore, FactStores
from memlines.memory.facts.rebuild import LARGE, absent, distrust, open_table, rebuild, state_in
from memlines.paths import MAIN_AGENT, Workspace
from memlines.settings import Settings
from memlines.text.neutral import harmless_address

LANCEDB = "lancedb"
INDEX = "index"

_PATIENCE = 1.0
"""Seconds that a service may take to open a table or to answer; the index is not slower than that."""

_LAST_CALL = 3.0
_A_MOMENT = 0.1
"""Seconds that writing a table to a service may go on once the memory is closed, and how often it looks."""

_TROUBLE = "the main index finds the facts, because their table cannot: {}"


def uses_table(settings: Settings, facts: int) -> bool:
    """Return whether a table finds this many facts, once everything is in order."""
    wanted = settings.facts.store == LANCEDB or (settings.facts.store != INDEX and facts >= LARGE)
    # Agents whose indexes differ would overwrite each other's table.
    return wanted and settings.agent == MAIN_AGENT and is_installed()


class FactTable:
    """The table of one open memory; safe in several threads."""

    def __init__(self, workspace: Workspace, settings: Settings, index_file: Path) -> None:
        self.note = FactNote(workspace, settings)
        self.stores = FactStores()
        self._workspace = workspace
        self._settings = settings
        self._index_file = index_file
        self._writing = threading.Lock()
        self._closed = threading.Event()
        self._opened: tuple[places.Stamp, LanceTable] | None = None
        self._troubles: dict[str, None] = {}

    @property
    def uri(self) -> str:
        """Where the table is; empty if none is used."""
        return self._uri if uses_table(self._settings, len(self.note.lines())) else ""

    @property
    def _uri(self) -> str:
        return places.uri_of(self._workspace, self._settings)

    def take_troubles(self) -> tuple[str, ...]:
        """Return what went wrong with the table since this was last called."""
        troubles, self._troubles = tuple(self._troubles), {}
        return troubles

    # Answering

    def prepare(self) -> None:
        """Open the table, if it may answer.

        That may take a moment, so the caller holds no lock. If a service takes longer, opening goes on in a
        thread, and a later question uses the table.
        """
        try:
            uri = self.uri
            stamp = places.stamp_of(uri) if uri else None
            if stamp is None or not stamp.count:
                return
            load()  # here, because a program must not end while another thread imports it
            if self._opened is None or self._opened[0] != stamp:
                with_deadline(uri, lambda: self._open(uri), _PATIENCE)
        except MemlinesError as error:
            self._notice(error)

    def _open(self, uri: str) -> None:
        self._opened = open_table(uri)

    def look(self, index: Index, *, current_only: bool) -> tuple[FactStore, Nearest | None]:
        """Return where an index holds the facts, and what asks the table for the nearest, if that may answer.

        The caller holds a snapshot of the index.
        """
        store = self.stores.of(index, self.note.path, self.note.lines())
        allowed = store.current if current_only else store.all
        opened, uri = self._opened, ""
        try:
            uri = self.uri if allowed and opened else ""
        except MemlinesError as error:
            self._notice(error)
        if opened is None or not uri or opened[0] != places.stamp_of(uri):
            return store, None
        stamp, table = opened
        if stamp.state != state_in(index, self.note.path):
            return store, None
        beside = index.vectors.of(number for number in stamp.lacking if number in allowed)

        def nearest(vector: bytes, limit: int) -> dict[int, float] | None:
            try:
                near = with_deadline(
                    uri, lambda: table.nearest(vector, limit, current_only=current_only), _PATIENCE
                )
            except StoreError as error:
                self._notice(error)
                if isinstance(error, StoreDamaged):
                    distrust(uri, stamp)
                return None
            found = {number: cosine for number, cosine in near.items() if number in allowed}
            fitting = {number: blob for number, blob in beside.items() if len(blob) * 4 == len(vector)}
            if fitting:
                found.update(zip(fitting, cosines(vector, [*fitting.values()]), strict=True))
            return {number: found[number] for number in nlargest(limit, found, key=found.__getitem__)}

        return store, nearest

    def _notice(self, error: MemlinesError) -> None:
        self._troubles[_TROUBLE.format(error)] = None

    # Writing it

    def refresh(self) -> tuple[str, ...]:
        """Write the table again if it is used and of another state; return what should be reported.

        Nothing depends on the table, so whatever is wrong with it is reported and not raised.
        """
        if self._settings.agent != MAIN_AGENT:
            return ()
        self._closed.clear()
        try:
            return (*self._rebuild(), *self._remove_former())
        except (MemlinesError, OSError) as error:
            return (_TROUBLE.format(reason_of(error)),)

    def close(self) -> None:
        """Stop waiting for a service soon; what is being written goes on in its own thread."""
        self._closed.set()

    def _rebuild(self) -> tuple[str, ...]:
        lines = self.note.lines()
        if self._settings.facts.store == LANCEDB and lines and not is_installed():
            return (_TROUBLE.format(not_installed()),)
        if not uses_table(self._settings, len(lines)):
            return ()
        if lines and self._settings.facts.uri:
            places.make_own_name(self._workspace)
        uri = self._uri
        if lines:
            places.note_place(self._workspace, uri)

        def work() -> None:
            index = Index.reader(self._index_file)  # not the shared one: this may take a while
            if index is not None:
                with closing(index):
                    rebuild(index, self.note, uri, self.stores)

        with self._writing:
            if places.is_remote(uri):
                self._wait_for(work)
            else:
                work()
        return ()

    def _wait_for(self, work: Callable[[], None]) -> None:
        """Wait for something that may hang, but not long once the memory is closed or the program ends."""
        from concurrent.futures import wait

        done = start_daemon(work, "memlines-lancedb")
        while not self._closed.is_set() and threading.main_thread().is_alive():
            if wait([done], _A_MOMENT).done:
                done.result()
                return
        if wait([done], _LAST_CALL).done:
            done.result()

    # Removing it

    def _remove_former(self) -> tuple[str, ...]:
        """Remove the tables that are no longer used; return what should be reported."""
        store = self._settings.facts.store
        is_kept = self.uri or (store != INDEX and not is_installed())
        current = self._uri if is_kept else ""
        reported = []
        for uri in self._places():
            if uri == current or not _is_known_here(uri):
                continue
            may_hold = (
                places.is_remote(uri) or places.stamp_of(uri) or os.path.lexists(Path(uri, f"{NAME}.lance"))
            )
            try:
                with absent(uri) if may_hold else nullcontext():
                    places.drop_place(self._workspace, uri)
            except (MemlinesError, OSError) as error:
                reported.append(f"a former table of the facts could not be removed: {reason_of(error)}")
        return tuple(reported)

    @contextmanager
    def absent(self) -> Iterator[tuple[str, ...]]:
        """Remove all tables with what they ever held; no other process writes them inside the block.

        Those that could not be removed are named: the rest is forgotten whatever is wrong with them.
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
        known = dict.fromkeys([places.default_place(self._workspace), *places.noted_places(self._workspace)])
        with suppress(SettingsError):  # a setting that names no place names no table
            if os.path.lexists(places.folder_of(self._uri)):
                known[self._uri] = None
        return [*known]


def _is_known_here(uri: str) -> bool:
    """Return whether this machine wrote a table; of a service, a cloned workspace could name any bucket."""
    return not places.is_remote(uri) or places.folder_of(uri).is_dir()
