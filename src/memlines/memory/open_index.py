"""The index of an open memory, shared by its threads: who reads it, and who makes its vectors."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from memlines.embed.base import Provider
from memlines.embed.select import Choice, choose, former_provider
from memlines.errors import EmbeddingError, StoreDamaged, StoreError
from memlines.files.scan import discover
from memlines.index.store.sqlite.index import Index
from memlines.index.store.sqlite.reader import IndexState
from memlines.index.store.sqlite.vectors import use_extension
from memlines.index.sync.discovery import find_files, is_dirty, is_unchanged
from memlines.index.sync.job import count_to_do, space_of
from memlines.paths import Workspace
from memlines.settings import Loaded
from memlines.types import Discovery, IndexedFile, Space

if TYPE_CHECKING:
    from memlines.transcripts.finding import Known


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
        self.reader_inode = 0
        self.heads: Known = {}
        self.choice: Choice | None = None
        self.is_warm = False
        """Whether a query can be embedded at once, without a model being loaded for it."""
        self._former: dict[Space, Provider | None] = {}
        self._reader: Index | None = None
        self._takes_foreign = False
        self._known: tuple[IndexState, dict[str, IndexedFile]] | None = None

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
        return find_files(self.workspace, self.settings, self.heads)

    def is_dirty(self) -> bool:
        """Tell whether files changed since they were indexed, by looking at all of them."""
        discovery = self.discover()
        with self.reading:
            try:
                index = self.open_reader()
                if index is None:
                    return True
                with index.errors():
                    return is_dirty(discovery, self._known_files(index), self.settings.sync.sessions)
            except StoreDamaged:
                self.close_reader()
                return True

    def changed_notes(self) -> list[str]:
        """Return the notes that were added or changed since they were indexed, the latest first.

        Of an index that cannot be used nothing is known, so all notes count as changed.
        """
        notes = discover(self.workspace, self.settings.extra_paths, self.settings.files.max_bytes).files
        known: Mapping[str, IndexedFile] = {}
        with suppress(StoreError), self.reading:
            index = self.open_reader()
            if index is not None:
                with index.errors():
                    known = self._known_files(index)
        changed = [note for note in notes if not is_unchanged(note, known)]
        return [note.path for note in sorted(changed, key=lambda note: -note.fingerprint.mtime_ns)]

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
            self.choice = choose(self.settings)
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
        """Have the providers made again, because what they learnt about their service is no longer so."""
        self.choice = None
        self._former = {}

    def warm_up(self) -> None:
        """Load a model that is on this machine; one that cannot be loaded is reported by the first search."""
        provider = self.chosen().provider
        if provider is not None and not provider.sends_to:
            with suppress(EmbeddingError):
                provider.embed_query("what was that?")
        self.is_warm = True

    def count_pending(self) -> int:
        """Return how many chunks have no vector yet."""
        with self.reading:
            provider = self.provider_at_work()
            index = self.open_reader() if provider is not None else None
            if index is None or provider is None:
                return 0
            with index.errors():
                return count_to_do(index, provider)
