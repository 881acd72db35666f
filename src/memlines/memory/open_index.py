"""The index of an open memory, shared by its threads: who reads it, and who makes its vectors.

`Background` is the one thread for work on it that no caller waits for.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING

from memlines.embed.base import Provider
from memlines.embed.select import Choice, choose, former_provider
from memlines.errors import EmbeddingError, MemlinesError, StoreDamaged, StoreError
from memlines.files.scan import discover
from memlines.index.store.sqlite.index import Index
from memlines.index.store.sqlite.reader import IndexState
from memlines.index.store.sqlite.vectors import use_extension
from memlines.index.sync.discovery import find_files, is_dirty, is_unchanged
from memlines.index.sync.job import count_to_do, space_of
from memlines.paths import Workspace
from memlines.settings import Loaded
from memlines.types import Discovery, IndexedFile, Progress, Space

if TYPE_CHECKING:
    from memlines.embed.rerank.select import BoundedReranker
    from memlines.transcripts.finding import Known


_MOST_CHANGED = 1_000
"""Changed notes that are read one by one; a workspace without an index may have many more."""

_QUICK_SWEEP = 0.005
_SWEEP_SHARE = 20
"""Looking for changed files is done every time as long as it takes less than 5 ms. In larger workspaces it
rests twenty times as long as it took, so it never costs more than a twentieth."""


def rest_until(started: float) -> float:
    """Return until when the next look at the files may wait, after one that began then and ends now."""
    took = time.monotonic() - started
    return started + (1 + _SWEEP_SHARE) * took if took > _QUICK_SWEEP else 0.0


class OpenIndex:
    """The open index of one memory and the providers of its vectors; safe in several threads."""

    def __init__(self, workspace: Workspace, loaded: Loaded) -> None:
        self.workspace = workspace
        self.loaded = loaded
        self.settings = loaded.settings
        self.index_file = workspace.index_file(self.settings.store.path, self.settings.agent)
        use_extension(self.index_file, self.settings.store.vector.extension_path)
        self.reading = threading.RLock()
        """Held while the open reader is used."""
        self.prefix = ""
        """What is before the paths of this memory where others are shown beside them."""
        self.beside: OpenIndex | None = None
        """The memory that is asked together with this one; with the same settings they share a provider."""
        self.reader_inode = 0
        self.unread = 0
        """How many files and folders the last look at the files could not read."""
        self.heads: Known = {}
        self.choice: Choice | None = None
        self.is_warm = False
        """Whether a query can be embedded at once, without a model being loaded for it."""
        self._former: dict[Space, Provider | None] = {}
        self._reranker: BoundedReranker | None = None
        self._reader: Index | None = None
        self._takes_foreign = False
        self._known: tuple[IndexState, dict[str, IndexedFile]] | None = None
        self._changed: list[str] = []
        self._changed_until = 0.0

    def open_reader(self) -> Index | None:
        """Return the open reader, opened again if the index file is another one by now."""
        try:
            inode = self.index_file.stat().st_ino
        except OSError:
            inode = 0
        if self._reader is not None and inode != self.reader_inode:
            self.close_reader()
        if self._reader is None:
            self._reader = Index.reader(self.index_file, foreign=self._takes_foreign)
            self.reader_inode = inode
        return self._reader

    @contextmanager
    def opened(self) -> Iterator[Index | None]:
        """Hold the open index, or nothing if there is none; its errors are raised as ours."""
        with self.reading:
            index = self.open_reader()
            with index.errors() if index else nullcontext():
                yield index

    def read_state(self) -> IndexState | None:
        """Return the state of the index; `None` if there is none, or a damaged one."""
        with self.reading:
            try:
                index = self.open_reader()
                return index.state if index else None
            except StoreDamaged:  # the sync that follows sets it aside, with what it declined
                self.close_reader()
                return None

    def close_reader(self) -> None:
        """Let go of the index; it is opened again when it is needed."""
        with self.reading:
            if self._reader is not None:
                self._reader.close()
            self._reader = None
            self._known = None

    # Files

    def discover(self) -> Discovery:
        """Look at the files."""
        discovery = find_files(self.workspace, self.settings, self.heads)
        self.unread = discovery.unread
        return discovery

    def is_dirty(self) -> bool:
        """Return whether files changed since they were indexed, by looking at all of them."""
        discovery = self.discover()
        try:
            with self.opened() as index:
                known = self._known_files(index) if index else None
        except StoreDamaged:
            self.close_reader()
            known = None
        return known is None or is_dirty(discovery, known, self.settings.sync.sessions)

    def changed_notes(self) -> list[str]:
        """Return up to 1,000 notes that were added or changed since they were indexed, the latest first.

        If the index cannot be used, all notes count as changed. In a large workspace the same list is
        returned for a while, with the notes that this program wrote meanwhile.
        """
        started = time.monotonic()
        if started < self._changed_until:
            return self._changed
        notes = discover(self.workspace, self.settings.extra_paths, self.settings.files.max_bytes).files
        known: Mapping[str, IndexedFile] = {}
        with suppress(StoreError), self.opened() as index:
            known = self._known_files(index) if index else {}
        changed = [note for note in notes if not is_unchanged(note, known)]
        latest_first = sorted(changed, key=lambda note: -note.fingerprint.mtime_ns)
        self._changed = [note.path for note in latest_first[:_MOST_CHANGED]]
        self._changed_until = rest_until(started)
        return self._changed

    def note_changed(self, path: str | None) -> None:
        """Count a note as changed because this program wrote it; without a path any note may be another."""
        if path is None:
            self._changed_until = 0.0
        elif path not in self._changed:
            self._changed = [path, *self._changed]

    def _known_files(self, index: Index) -> dict[str, IndexedFile]:
        """Return what the index remembers of the files, read again only after it was written to."""
        state = index.state
        if self._known is None or self._known[0] is not state:
            self._known = state, index.files()
        return self._known[1]

    # Providers of vectors

    def chosen(self) -> Choice:
        """Return the provider of vectors, chosen when it is first needed."""
        if self.choice is None:
            shared = self.beside is not None and self.beside.settings.embeddings == self.settings.embeddings
            self.choice = self.beside.chosen() if self.beside and shared else choose(self.settings)
        return self.choice

    def provider_at_work(self) -> Provider | None:
        """Return the provider that makes vectors now: the chosen one, unless its model was declined."""
        return self._provider_for(self.read_state())

    def _provider_for(self, state: IndexState | None) -> Provider | None:
        wanted = self.chosen().provider
        if wanted is None or state is None or state.declined != space_of(wanted):
            return wanted
        return self.provider_of(state.serving.space) if state.serving else None

    def provider_of(self, space: Space) -> Provider | None:
        """Return the provider of a space, if the settings name it or allow it."""
        wanted = self.chosen().provider
        if wanted is not None and space_of(wanted) == space:
            return wanted
        if space not in self._former:
            provider = former_provider(space, self.settings)
            fits = provider is not None and space_of(provider) == space
            self._former[space] = provider if fits else None
        return self._former[space]

    def forget_providers(self) -> None:
        """Create the providers again: what they learnt about their service is no longer true."""
        self.choice = None
        self._former = {}

    def warm_up(self) -> None:
        """Load a model that is on this machine; one that cannot be loaded is reported by the first search."""
        provider = self.chosen().provider
        if provider is not None and not provider.sends_to:
            with suppress(EmbeddingError):
                provider.embed_query("what was that?")
        if self.settings.rerank.provider != "none":
            self.reranker.warm_up()
        self.is_warm = True

    @property
    def reranker(self) -> BoundedReranker:
        """The reranker that the settings name; without one there is nothing to ask."""
        from memlines.embed.rerank.select import BoundedReranker

        with self.reading:
            self._reranker = self._reranker or BoundedReranker(self.settings)
        return self._reranker

    def count_pending(self) -> int:
        """Return how many chunks have no vector yet."""
        provider = self.provider_at_work()
        if provider is None:
            return 0
        with self.opened() as index:
            return count_to_do(index, provider) if index else 0


Work = Callable[[Progress], Iterable[str]]
"""Something to do that calls its argument now and then, and returns messages to report."""

A_MOMENT = 0.2
"""Seconds before a new thread begins, so that a program that is about to end need not wait for it."""


def silent(completed: int, total: int, label: str) -> None:
    """Report progress to no one."""


class _Stopped(Exception):
    """Raised inside the work, from its own progress."""


class Background:
    """At most one thread, started when there is work and gone when there is none left.

    It is not a daemon: those are cut off at any instruction when the program ends. It notices that end
    itself, at the next progress of its work.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._work: dict[str, Work] = {}
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()
        self._messages: dict[str, None] = {}

    def ask(self, name: str, work: Work, after: float = A_MOMENT) -> None:
        """Have something done soon, once, however often it is asked for until it begins.

        `after` is how many seconds a thread waits that has to be started for it.
        """
        with self._lock:
            self._work[name] = work
            if self._thread is None:
                self._stop = threading.Event()
                self._thread = threading.Thread(target=self._run, args=(self._stop, after), name="memlines")
                self._thread.start()

    def stop(self) -> None:
        """Drop what is asked for, end what is being done, and return when the thread is gone."""
        with self._lock:
            thread = self._thread
            self._work.clear()
            self._stop.set()
        if thread is not None:
            thread.join()

    @property
    def is_busy(self) -> bool:
        """Whether there is something left to do."""
        return self._thread is not None

    def take_messages(self) -> list[str]:
        """Return what the work had to report since this was last called."""
        with self._lock:
            messages, self._messages = list(self._messages), {}
        return messages

    def _run(self, stop: threading.Event, after: float) -> None:
        def go_on(completed: int, total: int, label: str) -> None:
            if stop.is_set() or not threading.main_thread().is_alive():
                raise _Stopped

        begin = time.monotonic() + after
        while time.monotonic() < begin and threading.main_thread().is_alive():
            if stop.wait(min(after, A_MOMENT)):
                break
        while (work := self._next()) is not None:
            try:
                messages = [*work(go_on)]
            except _Stopped:
                continue
            except MemlinesError as error:
                messages = [str(error)]
            except Exception as error:  # noqa: BLE001 (no caller could catch it; the next result reports it)
                messages = [f"work in the background failed: {type(error).__name__}: {error}"]
            with self._lock:
                self._messages.update(dict.fromkeys(messages))

    def _next(self) -> Work | None:
        """Take the next work; without any, the thread ends."""
        with self._lock:
            if not self._work or self._stop.is_set() or not threading.main_thread().is_alive():
                self._work.clear()
                self._thread = None
                return None
            return self._work.pop(next(iter(self._work)))
