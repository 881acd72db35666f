"""Decide when the index is brought up to date: by a sync, before a search, and in the background."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

from memlines.embed.base import Provider
from memlines.errors import EmbeddingError, StoreBusy, StoreDamaged, StoreFull, StoreReadOnly
from memlines.index.store.sqlite.index import Index
from memlines.index.store.sqlite.reader import IndexState
from memlines.index.sync.discovery import is_dirty, lags_behind
from memlines.index.sync.job import count_to_do, engine_warning, reason_to_rebuild
from memlines.memory.open_index import A_MOMENT, Background, OpenIndex, rest_until, silent
from memlines.paths import Workspace, note_path
from memlines.records import dataclass
from memlines.settings import Loaded
from memlines.types import Progress, Report

if TYPE_CHECKING:
    from memlines.index.sync.job import Job
    from memlines.memory.aliases import AliasNote
    from memlines.memory.answering import Quotes
    from memlines.memory.facts.table import FactTable
    from memlines.memory.fallback import FallbackMemory
    from memlines.memory.sharing import Sharing


_REBUILT_BY_SEARCH = 1_000
"""An index of more chunks is not rebuilt by a search, only by a sync; until then it serves as it is."""

_AFTER_FIRST_SEARCH = 2.0
"""Seconds until the background goes on with what the first search had no time for: a program that asks once
and ends is gone by then, and need not wait for it."""

_SYNC_WAIT = 600.0
_FIRST_SEARCH_WAIT = 10.0
_OWN_SYNC_WAIT = 2.0
_BACKGROUND_WAIT = 1.0
"""Seconds to wait for another writer: when a sync was asked for, when a first search needs one, when a later
search finds changes while our own background writes (that takes a moment), and in the background, where it
can be tried again but must be able to end."""

_BACKGROUND_GROUP = 32
"""Chunks embedded at a time in the background: closing the memory waits for one group."""

_EMBEDDING_REST = 60.0
"""Seconds until the background tries chunks again that it could not embed."""

_LONG_SWEEP = 0.1
"""Seconds. Where looking for changed files takes longer, a program's first search does it, and later ones
have it done in the background: they answer from the index as it is, and what changed is in later answers."""

_BEHIND = "files have changed and are being indexed; what is new in them may be missing from this answer"

_MOST_SESSIONS = 1_000
"""Keys of sessions that are remembered; the oldest are forgotten."""


@dataclass(frozen=True, slots=True)
class _Need:
    """What has to be done before a search answers: a sync or not, with vectors or not."""

    state: IndexState | None
    """The state of the index, if it can be used."""
    sync: bool
    embeds: bool = False
    pending: int = 0
    warnings: tuple[str, ...] = ()
    is_first: bool = False


def _uncounted(provider: Provider | None) -> tuple[str, ...]:
    """Return what to report about counting what a provider costs, such as a disk that is full."""
    if provider is None or provider.meter is None:
        return ()
    from memlines.embed.spending.budget import Budget

    return provider.meter.ledger.take_warnings() if isinstance(provider.meter, Budget) else ()


class Manager(OpenIndex):
    """What keeps the index of one open memory up to date; safe in several threads."""

    def __init__(self, workspace: Workspace, loaded: Loaded) -> None:
        super().__init__(workspace, loaded)
        self.background = Background()
        self.unindexed = 0
        """How many files the last sync left for another one, because its time was over."""
        self._rest_until = 0.0
        self._sweep_seconds = 0.0
        self._wrote = False
        """Whether this program changed a file since files were last looked at: it must find what it wrote."""
        self._is_behind = False
        self._lives_on = False
        """Whether this program goes on after a search, so that vectors may be left to the background."""
        self._sessions: dict[str, None] = {}
        self._given_up = (0, 0.0)
        self._fact_table: FactTable | None = None
        self._making_table = threading.Lock()

    @cached_property
    def sharing(self) -> Sharing | None:
        """What shares this memory through a cluster, if the settings say so; never a personal one."""
        if self.settings.store.driver != "qdrant" or self.prefix:
            return None
        from memlines.memory.sharing import Sharing  # which takes time to import

        return Sharing(self)

    @cached_property
    def qmd(self) -> FallbackMemory | None:
        """What asks the program qmd, if the settings name it as the backend."""
        if self.settings.backend != "qmd":
            return None
        from memlines.memory.fallback import FallbackMemory  # which takes time to import

        return FallbackMemory(self)

    def close(self) -> None:
        """End the work in the background and let go of the index."""
        if self._fact_table is not None:
            self._fact_table.close()
        if "sharing" in self.__dict__ and self.sharing is not None:
            self.sharing.publisher.close()  # a node that hangs would keep the background
        self.background.stop()
        self.__dict__.pop("sharing", None)  # the next use makes another
        self.close_reader()

    # Syncs

    def sync(self, *, force: bool = False, progress: Progress = silent) -> Report:
        """Make the index equal the files, vectors included; the caller waits for it."""
        self.background.stop()  # what it embeds would be left to it
        report = self.run(force=force, progress=progress)
        if self.sharing is not None:
            from memlines.memory.sharing import SYNC_WAIT

            copied = self.sharing.copy_all(progress, SYNC_WAIT)
            report = replace(report, warnings=(*report.warnings, *copied))
        if self.qmd is not None:
            report = replace(report, warnings=(*report.warnings, *self.qmd.update(progress)))
        traces = self.workspace.root / note_path(self.settings.facts.file), self.workspace.private / "facts"
        if not any(map(os.path.lexists, traces)):  # no facts, and no table that has to go
            return report
        return replace(report, warnings=(*report.warnings, *self.fact_table.refresh()))

    def run(
        self,
        *,
        force: bool = False,
        embed_limit: int | None = None,
        deadline: float | None = None,
        damaged_inode: int | None = None,
        wait_seconds: float | None = None,
        progress: Progress = silent,
        words_only: bool = False,
    ) -> Report:
        """Run one sync now, in this thread; with `words_only` no provider is even chosen."""
        from memlines.index.sync import run

        job = replace(
            self.job(progress, words_only=words_only),
            force=force,
            embed_limit=embed_limit,
            deadline=deadline,
            damaged_inode=damaged_inode,
            wait_seconds=_SYNC_WAIT if wait_seconds is None else wait_seconds,
        )
        if job.is_limited and job.provider is not None:
            job = replace(job, provider=job.provider.with_deadline())
        report = run.run(job)
        self.unindexed = report.unindexed
        if words_only:
            return report
        # Embedding refreshes it afterwards; the first search of a program may be its last.
        if embed_limit == 0 and not report.pending:
            self._refresh_table_soon(report)
        choice, pending = self.chosen(), report.pending
        reasons = (*_uncounted(job.provider), engine_warning(self.settings), choice.reason)
        if choice.reason and not pending and choice.provider is None and choice.requested != "auto":
            with self.opened() as index:
                pending = index.count_chunks() - index.count_vectors() if index else 0
        return replace(report, pending=pending, warnings=(*report.warnings, *filter(None, reasons)))

    def job(self, progress: Progress, group: int | None = None, *, words_only: bool = False) -> Job:
        """Return what a sync would have to do now; with `words_only` it embeds nothing."""
        from memlines.index.sync.job import Job

        return Job(
            self.workspace,
            self.settings,
            None if words_only else self.provider_at_work(),
            self.index_file,
            progress,
            group=group,
            heads=self.heads,
            fallback="" if words_only else self.chosen().fallback,
        )

    def replace_damaged(self, progress: Progress, *, words_only: bool = False) -> Report:
        """Rebuild an index that the open reader found damaged."""
        inode = self.reader_inode
        self.close_reader()
        deadline = time.monotonic() + self.settings.sync.search_seconds
        return self.run(deadline=deadline, damaged_inode=inode, progress=progress, words_only=words_only)

    def read_again(self, paths: Iterable[str]) -> None:
        """Index files again that do not hold what the index says of them; their vectors come later."""
        from memlines.index.sync.run import remove_files

        remove_files(replace(self.job(silent, words_only=True), wait_seconds=_OWN_SYNC_WAIT), paths)
        self.run(words_only=True, wait_seconds=_OWN_SYNC_WAIT)

    def start_session(self, key: str | None) -> None:
        """Sync in the background, once for each key; without a key every time."""
        if not self.settings.sync.on_session_start or (key is not None and key in self._sessions):
            return
        if key is not None:
            self._sessions[key] = None
            while len(self._sessions) > _MOST_SESSIONS:
                del self._sessions[next(iter(self._sessions))]
        self.sync_soon()

    def sync_soon(self, *, after_change: bool = False) -> None:
        """Sync in the background; after a change of our own, the next search need not make its vectors."""
        self._lives_on = self._lives_on or after_change
        self._rest_until = 0.0
        self._wrote = self._wrote or after_change
        self.background.ask("sync", self._sync_in_background)

    def embed_soon(self, pending: int, after: float = A_MOMENT) -> None:
        """Embed so many chunks in the background, unless that failed a moment ago."""
        given_up, until = self._given_up
        if self.background.is_busy or not pending or self.provider_at_work() is None:
            return
        if pending != given_up or time.monotonic() >= until:
            self.background.ask("embed", self._embed_in_background, after)

    def copy_soon(self) -> None:
        """Copy to the cluster in the background what it lacks, if there is one."""
        if self.sharing is not None and not self.sharing.is_copied(self.read_state()):
            self.background.ask("cluster", self.sharing.copy_all)

    def _sync_in_background(self, progress: Progress, *, words_only: bool = False) -> Iterable[str]:
        from memlines.index.sync import run

        words = replace(self.job(progress, _BACKGROUND_GROUP, words_only=words_only), embed_limit=0)
        try:
            report = run.run(replace(words, wait_seconds=_BACKGROUND_WAIT))
        except StoreBusy:
            return ()  # another sync is under way, and every search looks for changes itself
        self.unindexed = 0
        if words_only:
            return report.warnings
        if report.pending:
            return [*report.warnings, *self._embed_in_background(progress)]
        self._refresh_table_soon(report)
        return [*report.warnings, *(self.sharing.copy_all(progress) if self.sharing else ())]

    def _look_in_background(self, progress: Progress, *, words_only: bool) -> Iterable[str]:
        """Look for changed files, and bring the index up to date if there are some."""
        from memlines.index.sync.job import open_existing

        started = time.monotonic()
        with open_existing(self.index_file) as index:  # its own, so that no search waits for this
            changed = lags_behind(self.discover(), index, self.settings.sync.sessions)
        progress(0, 1, "looking")  # which ends this if the memory is being closed
        self._rest(started, changed=changed)
        if not changed:
            return ()
        self._is_behind = True
        try:
            return self._sync_in_background(progress, words_only=words_only)
        finally:
            self._is_behind = False
            self._rest_until = time.monotonic() + self._sweep_seconds

    def _embed_in_background(self, progress: Progress) -> Iterable[str]:
        from memlines.index.sync.vectors import add_vectors

        job = self.job(progress, _BACKGROUND_GROUP)
        if job.provider is not None:
            # Closing the memory waits for the end of this.
            job = replace(job, provider=job.provider.with_deadline())
        try:
            report = add_vectors(replace(job, wait_seconds=_BACKGROUND_WAIT), Report(pending=1))
        except StoreBusy:
            return ()  # another process embeds them
        # What could not be embedded is not tried again at every search.
        self._given_up = (report.pending, time.monotonic() + _EMBEDDING_REST)
        shared = self.sharing.copy_all(progress) if self.sharing else ()
        return [*report.warnings, *shared, *self.fact_table.refresh()]

    @cached_property
    def aliases(self) -> AliasNote:
        """The words that the user made equal."""
        from memlines.memory.aliases import AliasNote  # which takes time to import

        return AliasNote(self.workspace)

    @cached_property
    def quotes(self) -> Quotes:
        """The notes that hits cite."""
        from memlines.memory.answering import Quotes  # which takes time to import

        return Quotes(self.workspace, self.settings)

    @property
    def fact_table(self) -> FactTable:
        """The facts of this workspace: their note, and the table that may find them."""
        from memlines.memory.facts.table import FactTable  # which takes time to import

        with self._making_table:
            if self._fact_table is None:
                self._fact_table = FactTable(self.workspace, self.settings, self.index_file)
        return self._fact_table

    def _refresh_table_soon(self, report: Report) -> None:
        """Have the table of the facts written in the background, if a sync touched their note."""
        path = note_path(self.settings.facts.file)
        if report.rebuilt or report.switched or path in (*report.indexed, *report.removed):
            self.background.ask("fact table", lambda progress: self.fact_table.refresh())

    # Before a search

    def refresh(self, progress: Progress, *, words_only: bool = False) -> tuple[list[str], IndexState | None]:
        """Bring the index up to date before a search; return its state, and as warnings what failed.

        It takes `sync.search_seconds` at most; what is left is done in the background or by the next search.
        With `words_only` no provider is chosen, no model is loaded and nothing is embedded or sent.
        """
        deadline = time.monotonic() + self.settings.sync.search_seconds
        with self.reading:
            need = self._need(words_only=words_only)
        warnings = self.background.take_messages()
        pending = need.pending
        if need.sync:
            try:
                wait = _FIRST_SEARCH_WAIT if need.is_first else _OWN_SYNC_WAIT * self.background.is_busy
                report = self.run(
                    embed_limit=None if need.embeds else 0,
                    deadline=deadline,
                    wait_seconds=wait,
                    progress=progress,
                    words_only=words_only,
                )
                warnings += report.warnings
                pending = report.pending
            except (StoreBusy, StoreReadOnly, StoreFull, EmbeddingError) as error:
                # Where nothing can be written, a foreign index serves: every line that it cites is compared.
                self._takes_foreign = isinstance(error, StoreReadOnly)
                with self.reading:
                    if need.is_first and self._need(words_only=words_only).is_first:
                        raise
                warnings.append(f"the index may be out of date: {error}")
        if not words_only:
            if self.settings.sync.on_search:
                # What a search left is done in the background; of the first one only if its time was over.
                after = A_MOMENT if self._lives_on else _AFTER_FIRST_SEARCH
                if self.unindexed:
                    self.background.ask("sync", self._sync_in_background, after)
                elif pending and (self._lives_on or time.monotonic() >= deadline):
                    self.embed_soon(pending, after)
            self._lives_on = True
        if self._is_behind:
            warnings.append(_BEHIND)
        state = self.read_state() if need.sync else need.state
        return list(dict.fromkeys([*warnings, *need.warnings])), state

    def _need(self, *, words_only: bool) -> _Need:
        """Return what a search has to do first."""
        try:
            with self.opened() as index:
                if index is not None and index.count_chunks():
                    return self._need_of(index, words_only=words_only)
        except StoreDamaged:
            self.close_reader()
        if not self.discover().files and not os.path.lexists(self.index_file):
            hint = f"there are no notes in {self.workspace.root}; 'memlines init' makes the first"
            return _Need(None, sync=False, warnings=(hint,))
        return _Need(None, sync=True, embeds=True, is_first=True)

    def _need_of(self, index: Index, *, words_only: bool) -> _Need:
        state = index.state
        if state.synced_at is None:  # a first sync is under way, or was cut short
            return _Need(state, sync=True, embeds=not self._lives_on)
        if not self.settings.sync.on_search:
            return _Need(state, sync=False)
        changed = reason_to_rebuild(index, self.settings)
        if changed and (self.background.is_busy or index.count_chunks() > _REBUILT_BY_SEARCH):
            hint = f"settings changed, 'memlines sync' rebuilds the index: {changed}"
            return _Need(state, sync=False, warnings=(hint,))
        if changed:
            return _Need(state, sync=True, embeds=True)
        if words_only:
            return _Need(state, sync=self._files_changed(index, words_only=True))
        provider = self._provider_for(state)
        pending = count_to_do(index, provider) if provider is not None else 0
        if self._lives_on:
            return _Need(state, sync=self._files_changed(index), pending=pending)
        return _Need(state, sync=pending > 0 or self._files_changed(index), embeds=True)

    def look_again(self, path: str | None = None) -> None:
        """Have the next search look for changed files itself, because this program changed some."""
        self._rest_until = 0.0
        self._wrote = True
        self.note_changed(path)

    def _files_changed(self, index: Index, *, words_only: bool = False) -> bool:
        """Return whether files changed, as far as this search has to find that out itself."""
        started = time.monotonic()
        if not self._wrote:
            if started < self._rest_until:
                return False
            if self._sweep_seconds > _LONG_SWEEP:
                self.background.ask("look", partial(self._look_in_background, words_only=words_only), 0.0)
                return False
        self._wrote = False
        changed = is_dirty(self.discover(), self._known_files(index), self.settings.sync.sessions)
        self._rest(started, changed=changed)
        return changed

    def _rest(self, started: float, *, changed: bool) -> None:
        """Note how long a look at the files took, and let the next one wait in proportion."""
        self._sweep_seconds = time.monotonic() - started
        self._rest_until = 0.0 if changed else rest_until(started)
