"""Keep an index equal to the files while they change.

What the system reports about changes is a hint only: it loses files that are written right after their
folder was made, and says nothing when its queue was full. So every hint, and the clock, leads to a look at
all files, and that look alone decides what is indexed.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager

from memlines.errors import MemlinesError, StoreBusy, WorkspaceError
from memlines.files.place import ensure_index_folder
from memlines.files.watch import Hints, NoHints, Places, Unheard
from memlines.locks import WriterLock
from memlines.memory.manager import Manager
from memlines.types import Report

OnSync = Callable[[Report], None]
OnNotice = Callable[[str], None]

_SWEEP_SECONDS = 30.0
"""How often the files are looked at although no change was reported."""

_CLIENTS_SECONDS = 5.0
"""How often transcripts in the folders of clients are looked at, which are written to all the time."""

_POLL_SECONDS = 3.0
_POLL_SHARE = 50
"""The same where the system does not report changes; fifty times as long as a look takes, if that is more, so
that polling never takes more than a fiftieth of one core."""

_LONGEST_UNREST = 10.0
"""Seconds after which changes are indexed although they still go on."""

_TAKE_OVER_SECONDS = 5.0
"""How often a second watcher looks whether the first one is gone."""

_WRITER_WAIT = 1.0
_WRITER_PATIENCE = 30.0
"""Seconds between two tries to sync while another process does, and until that is worth a notice."""

_MINUTE = 60.0
_MOST_NOTICES = 100


class _Stopped(Exception):
    """Raised inside a sync, from its progress, when the watch must end."""


def watch(
    manager: Manager, stop: threading.Event, on_sync: OnSync | None = None, on_notice: OnNotice | None = None
) -> None:
    """Sync whenever files change, until `stop` is set; raise if the workspace itself goes away."""
    notice = on_notice or _ignore
    with _sole_watcher(manager, stop, notice):
        if not stop.is_set():
            _Watch(manager, stop, on_sync or _ignore, notice).run()


def _ignore(reported: object) -> None:
    """Report nothing."""


@contextmanager
def _sole_watcher(manager: Manager, stop: threading.Event, on_notice: OnNotice) -> Iterator[None]:
    """Wait until no other program watches for this index."""
    ensure_index_folder(manager.workspace, manager.index_file)
    lock = WriterLock(manager.index_file.with_name(manager.index_file.name + ".watching.lock"))
    is_waiting = False
    with ExitStack() as held:
        while not stop.is_set():
            try:
                held.enter_context(lock.held(0))
                break
            except StoreBusy:
                if not is_waiting:
                    on_notice(f"watched already by {lock.holder()}; this watch takes over when that ends")
                    is_waiting = True
                stop.wait(_TAKE_OVER_SECONDS)
        yield


class _Watch:
    """One watch over one workspace."""

    def __init__(self, manager: Manager, stop: threading.Event, on_sync: OnSync, on_notice: OnNotice) -> None:
        settings = manager.settings
        self.manager = manager
        self.stop = stop
        self.on_sync = on_sync
        self.on_notice = on_notice
        self.places = Places(manager.workspace, settings.extra_paths, settings.sources)
        self.root = self._root()
        self.reads_clients = "sessions" in settings.sources and bool(settings.sessions.clients)
        self.debounce = settings.sync.watch_debounce_ms / 1000
        self.interval = settings.sync.interval_minutes * _MINUTE or float("inf")
        self.next_sync = time.monotonic() + self.interval
        self.next_look = 0.0
        self.busy_since: float | None = None
        self.refused = False
        self.noticed: set[str] = set()

    def run(self) -> None:
        """Watch until `stop` is set."""
        self._sync()
        while not self.stop.is_set():
            folders = self.places.folders()
            hints = self._listen(folders)
            with closing(hints):
                self._look(polls=not hints.listens)  # at what happened before we listened
                if self.places.folders() == folders:  # one made meanwhile is not listened to
                    self._follow(folders, hints)

    def _listen(self, folders: dict[str, int]) -> Hints | NoHints:
        if not self.manager.settings.sync.watch:
            return NoHints(self.stop)
        try:
            hints = Hints(folders, self.places, self.stop)
        except Unheard as refusal:
            self._check_root()
            if self.places.folders() != folders:
                return NoHints(self.stop)  # one of them is gone already; the next look sees that, too
            if not self.refused:
                self.on_notice(
                    f"the system does not report changes ({refusal}), so all files are looked at every"
                    f" {_POLL_SECONDS:g} seconds or less often"
                )
            self.refused = True
            return NoHints(self.stop)
        self.refused = False
        return hints

    def _follow(self, folders: dict[str, int], hints: Hints | NoHints) -> None:
        """Look at the files after hints and by the clock, until there are other folders to listen to."""
        first_hint: float | None = None
        last_hint = 0.0
        while not self.stop.is_set():
            try:
                heard = hints.heard()
            except Unheard as broken:
                self._notice(f"listening for changes starts again: {broken}")
                self.stop.wait(_WRITER_WAIT)
                return
            now = time.monotonic()
            if heard:
                first_hint, last_hint = first_hint or now, now
            rests = now - last_hint >= self.debounce or (first_hint and now - first_hint >= _LONGEST_UNREST)
            if now >= self.next_sync:
                self._sync()
            elif (first_hint and rests) or now >= self.next_look:
                first_hint = None
                self._look(polls=not hints.listens)
                if hints.is_stale or self.places.folders() != folders:
                    return

    def _look(self, *, polls: bool) -> None:
        """Sync if any file changed."""
        self._check_root()
        started = time.monotonic()
        dirty = False
        try:
            dirty = self.manager.is_dirty()
            pending = self.manager.count_pending()
        except (MemlinesError, OSError) as error:
            self._notice(str(error))
            pending = 0
        now = time.monotonic()
        rest = max(_POLL_SECONDS, _POLL_SHARE * (now - started)) if polls else _SWEEP_SECONDS
        if self.reads_clients:  # changes in their folders are not reported
            rest = min(rest, max(_CLIENTS_SECONDS, _POLL_SHARE * (now - started)))
        self.next_look = now + rest
        for message in self.manager.background.take_messages():
            self._notice(message)
        if dirty:
            self._sync()
        else:
            self.manager.embed_soon(pending)
            self.manager.copy_soon()

    def _sync(self) -> None:
        """Index the words now; vectors follow in the background, so that the next change need not wait."""
        self._check_root()
        now = time.monotonic()
        self.next_sync = now + self.interval
        try:
            report = self.manager.run(embed_limit=0, wait_seconds=_WRITER_WAIT, progress=self._end_if_stopped)
        except _Stopped:
            return
        except StoreBusy as busy:
            self.next_look = now + 2 * _WRITER_WAIT
            self.busy_since = self.busy_since or now
            if now - self.busy_since > _WRITER_PATIENCE:
                self._notice(str(busy))
            return
        except (MemlinesError, OSError) as error:
            self._notice(str(error))
            return
        self.busy_since = None
        if not report.warnings:
            self.noticed.clear()
        if report.changed:
            self.on_sync(report)
        for warning in report.warnings:
            self._notice(warning)
        self.manager.embed_soon(report.pending)
        self.manager.copy_soon()

    def _end_if_stopped(self, completed: int, total: int, label: str) -> None:
        if self.stop.is_set():
            raise _Stopped

    def _notice(self, sentence: str) -> None:
        """Report something once, not at every look as long as it lasts."""
        if len(self.noticed) > _MOST_NOTICES:
            self.noticed.clear()
        if sentence not in self.noticed:
            self.noticed.add(sentence)
            self.on_notice(sentence)

    def _root(self) -> tuple[int, int] | None:
        try:
            info = self.manager.workspace.root.stat()
        except OSError:
            return None
        return info.st_dev, info.st_ino

    def _check_root(self) -> None:
        """Raise if the workspace is not where it was: what is there now has nothing to do with the index."""
        if self.root is None or self._root() != self.root:
            root = str(self.manager.workspace.root)
            raise WorkspaceError(
                f"the workspace {root!r} was moved or deleted while it was watched",
                todo="Start the watch again where it is now",
            )
