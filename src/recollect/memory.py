"""The one object a user holds.

`Memory` opens a workspace, keeps its index up to date and answers from it. It decides when
things happen; how they are done is in `sync`, `search`, `files` and `store`.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Self

from recollect.arguments import check_read, check_search
from recollect.embed.base import Provider
from recollect.embed.select import Choice, choose
from recollect.errors import (
    EmbeddingError,
    SettingsError,
    StoreBusy,
    StoreDamaged,
    StoreError,
    StoreFull,
    StoreReadOnly,
    UsageError,
)
from recollect.files.read import read_lines
from recollect.files.scan import discover
from recollect.paths import Workspace
from recollect.search.engine import search
from recollect.search.legs import Request
from recollect.settings import Loaded, Settings, load, overridden, switched_off
from recollect.status import status_of
from recollect.store.sqlite.index import Index
from recollect.sync.dirty import is_dirty
from recollect.sync.identity import difference, identity_of, same_space
from recollect.types import (
    Discovery,
    Excerpt,
    IndexedFile,
    Mode,
    Progress,
    Report,
    SearchResult,
    Source,
    Status,
)

_FIRST_SEARCH_EMBEDS = 1_000
_SEARCH_EMBEDS = 64
"""How many chunks a search embeds before it answers, when it meets a workspace for the first time
and when it finds changes. The rest is found by words until a sync gives it vectors. An index of more
than the first number is not built anew by a search, only by a sync; until then it serves as it is."""

_SYNC_WAIT = 600.0
_FIRST_SEARCH_WAIT = 10.0
"""Seconds to wait for another writer: when a sync was asked for, and when a first search needs one."""

_QUICK_SWEEP = 0.005
_SWEEP_SHARE = 20
"""Looking for changed files is done at every search as long as it takes less than 5 ms. In larger
workspaces it rests twenty times as long as it took, so it never costs more than a twentieth."""


@dataclass(frozen=True, slots=True)
class _Need:
    """What a search has to do before it answers: a sync with so many embeddings, 0 for no sync at all."""

    embeds: int | None
    warnings: tuple[str, ...] = ()
    is_first: bool = False


def _silent(completed: int, total: int, label: str) -> None:
    """Report progress to nobody."""


def _refuse_unavailable(settings: Settings) -> None:
    """Raise rather than quietly keep the index elsewhere than the settings say."""
    if (settings.store.driver, settings.backend) != ("sqlite", "builtin"):
        raise SettingsError(
            f"store.driver {settings.store.driver!r} with backend {settings.backend!r} is not available"
            " in this version",
            todo="Set store.driver to sqlite and backend to builtin",
        )


class Memory:
    """The memory in one workspace; safe to use from several threads."""

    def __init__(
        self, workspace: str | os.PathLike[str] = ".", settings: Mapping[str, Any] | None = None
    ) -> None:
        """Open the memory in a folder; `settings` holds keys such as `{"query.max_results": 3}`."""
        self.workspace = Workspace.at(workspace)
        self.loaded: Loaded = load(self.workspace, settings)
        _refuse_unavailable(self.settings)
        self._index_file = self.workspace.index_file(self.settings.store.path, self.settings.agent)
        self._reading = threading.RLock()
        self._syncing = threading.Lock()
        self._choice: Choice | None = None
        self._reader: Index | None = None
        self._reader_inode = 0
        self._rest_until = 0.0
        self._known: tuple[tuple[str, int], dict[str, IndexedFile]] | None = None

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self.loaded.settings

    def close(self) -> None:
        """Let go of the index; it is opened again when the memory is used again."""
        with self._reading:
            if self._reader is not None:
                self._reader.close()
            self._reader = None
            self._known = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # What people and agents call

    def sync(self, *, force: bool = False, progress: Progress = _silent) -> Report:
        """Make the index equal the files; `force` builds it anew."""
        self._refuse_if_off()
        return self._sync(force=force, progress=progress)

    def search(
        self,
        query: str,
        *,
        max_results: int | None = None,
        min_score: float | None = None,
        mode: Mode = "hybrid",
        sources: Sequence[Source] | None = None,
        now: datetime | None = None,
        progress: Progress = _silent,
    ) -> SearchResult:
        """Return the lines that answer a query, best first; none is an honest answer.

        Files that changed are indexed first, and a workspace without an index gets one. The setting
        `query.min_score` gives way to hits that hold the words when nothing reaches it; `min_score` does not.
        """
        check_search(query, max_results, min_score, mode, sources)
        self._refuse_if_off()
        asked = {"query.max_results": max_results, "query.min_score": min_score}
        settings = overridden(self.loaded, {key: value for key, value in asked.items() if value is not None})
        request = Request(
            text=query,
            query=settings.query,
            profile=settings.profile,
            mode=mode,
            sources=tuple(sources) if sources else settings.sources,
            now=now or datetime.now(UTC),
            strict=min_score is not None,
        )
        if not query.strip():
            return SearchResult((), "none", "", "words", 0)
        warnings = self._refresh(progress)
        with self._reading:
            try:
                return self._answer(request, warnings)
            except StoreDamaged:
                inode = self._reader_inode
                self.close()
                report = self._sync(embed_limit=_FIRST_SEARCH_EMBEDS, damaged_inode=inode, progress=progress)
                return self._answer(request, [*warnings, *report.warnings])

    def read(
        self, path: str, start: int | None = None, lines: int | None = None, column: int | None = None
    ) -> Excerpt:
        """Return lines of a note; a note that does not exist has none.

        `column` is the character of the first line to begin with, for the rest of a line that was cut.
        """
        check_read(path, start, lines, column)
        self._refuse_if_off()
        settings = self.settings
        limit = settings.files.max_bytes
        return read_lines(self.workspace, settings.extra_paths, path, start, lines, limit, column)

    def status(self) -> Status:
        """Return the state of the memory, without changing anything."""
        discovery = self._discover()
        about = (self.workspace, self.loaded, self._chosen(), self._index_file)
        with self._reading:
            try:
                index = self._open_reader()
                with index.errors() if index else nullcontext():
                    return status_of(*about, index, discovery, None)
            except StoreError as problem:
                return status_of(*about, None, discovery, problem)

    # When things happen

    def _refuse_if_off(self) -> None:
        off = switched_off(self.loaded)
        if off:
            raise SettingsError(off, todo="Set it to true to use this memory")

    def _chosen(self) -> Choice:
        if self._choice is None:
            wanted = self.settings.embeddings.provider if self.settings.store.vector.enabled else "none"
            self._choice = choose(wanted)
        return self._choice

    def _discover(self) -> Discovery:
        settings = self.settings
        return discover(self.workspace, settings.extra_paths, settings.files.max_bytes, settings.sources)

    def _sync(
        self,
        *,
        force: bool = False,
        embed_limit: int | None = None,
        damaged_inode: int | None = None,
        wait_seconds: float = _SYNC_WAIT,
        progress: Progress = _silent,
    ) -> Report:
        from recollect.sync import run

        job = run.Job(
            self.workspace,
            self.settings,
            self._chosen().provider,
            self._index_file,
            progress,
            force,
            embed_limit,
            damaged_inode,
        )
        if not self._syncing.acquire(timeout=wait_seconds):
            raise StoreBusy("the index is being written by this program", todo="Try again in a moment")
        try:
            return run.run(job, wait_seconds)
        finally:
            self._syncing.release()

    def _refresh(self, progress: Progress) -> list[str]:
        """Bring the index up to date before a search; what fails becomes a warning if it can."""
        with self._reading:
            need = self._need()
        if need.embeds == 0:
            return list(need.warnings)
        try:
            wait = _FIRST_SEARCH_WAIT if need.is_first else 0.0
            report = self._sync(embed_limit=need.embeds, wait_seconds=wait, progress=progress)
        except (StoreBusy, StoreReadOnly, StoreFull, EmbeddingError) as error:
            with self._reading:
                if need.is_first and self._need().is_first:
                    raise
            return [f"the index may be out of date: {error}"]
        return list(report.warnings)

    def _need(self) -> _Need:
        """Tell what a search has to do first."""
        try:
            index = self._open_reader()
            if index is not None:
                with index.errors():
                    if index.count_chunks():
                        return self._need_of(index)
        except StoreDamaged:
            self.close()
        if not os.path.lexists(self._index_file) and not self._discover().files:
            return _Need(
                0, (f"there are no notes in {self.workspace.root}; 'recollect init' makes the first",)
            )
        return _Need(_FIRST_SEARCH_EMBEDS, is_first=True)

    def _need_of(self, index: Index) -> _Need:
        if not self.settings.sync.on_search:
            return _Need(0)
        provider = self._chosen().provider
        changed = difference(index.identity(), identity_of(self.settings, provider))
        if changed and index.count_chunks() > _FIRST_SEARCH_EMBEDS:
            return _Need(0, (f"settings changed, 'recollect sync' builds the index anew: {changed}",))
        if changed:
            return _Need(None)  # a new index replaces the old one when it is whole, not before
        if index.synced_at is None:
            return _Need(_FIRST_SEARCH_EMBEDS)  # a first sync is under way, or was cut short
        waiting = provider is not None and index.count_pending() > 0
        return _Need(_SEARCH_EMBEDS if waiting or self._files_changed(index) else 0)

    def _files_changed(self, index: Index) -> bool:
        started = time.monotonic()
        if started < self._rest_until:
            return False
        changed = is_dirty(self._discover(), self._known_files(index))
        took = time.monotonic() - started
        rests = not changed and took > _QUICK_SWEEP
        self._rest_until = started + (1 + _SWEEP_SHARE) * took if rests else 0.0
        return changed

    def _known_files(self, index: Index) -> dict[str, IndexedFile]:
        """Return what the index remembers of the files, read again only after somebody wrote."""
        version = (index.birth, index.version)
        if self._known is None or self._known[0] != version:
            self._known = version, index.files()
        return self._known[1]

    def _open_reader(self) -> Index | None:
        """Return the open reader, opened again if the index file is another one by now."""
        try:
            inode = self._index_file.stat().st_ino
        except OSError:
            inode = 0
        if self._reader is not None and inode != self._reader_inode:
            self.close()
        if self._reader is None:
            self._reader = Index.reader(self._index_file)
            self._reader_inode = inode
        return self._reader

    def _answer(self, request: Request, warnings: list[str]) -> SearchResult:
        index = self._open_reader()
        if index is None:
            return SearchResult((), "none", "", "words", 0, tuple(warnings))
        with index.errors(), index.snapshot():
            provider, doubts = self._provider_for(index, request.mode)
            pending = index.count_pending() if provider else 0
            if provider is None:
                request = replace(request, mode="words")
            elif request.mode == "hybrid" and not request.query.hybrid.enabled:
                request = replace(request, mode="vectors")
            try:
                answer = search(index, provider, request)
            except EmbeddingError as error:
                doubts = [*doubts, f"answered by words only: {error}"]
                request = replace(request, mode="words")
                answer = search(index, None, request)
        return SearchResult(
            hits=answer.hits,
            provider=provider.id if provider else "none",
            model=provider.model if provider else "",
            mode=request.mode,
            pending=pending,
            warnings=(*warnings, *doubts),
            nearest=answer.nearest,
        )

    def _provider_for(self, index: Index, mode: Mode) -> tuple[Provider | None, list[str]]:
        """Return the provider if the index holds its vectors, and what stands against using it."""
        if mode == "words":
            return None, []
        choice = self._chosen()
        if choice.provider is None:
            if mode == "vectors":
                raise UsageError(
                    "there are no vectors to search", todo="Set embeddings.provider, or search by words"
                )
            return None, [choice.reason] if choice.reason else []
        if not same_space(index.identity(), identity_of(self.settings, choice.provider)):
            return None, ["the index holds vectors of another model; run 'recollect sync'"]
        return choice.provider, []
