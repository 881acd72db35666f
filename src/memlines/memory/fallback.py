"""Answer searches by the program qmd, and by the builtin engine from its first failure on.

Only searches that a person or an agent asks for go to qmd, and of those only plain ones: filters, days, exact
scores and earlier states need the builtin index, which stays in use beside it. Where qmd finds nothing, or
has not yet read what changed, the builtin engine answers that one search.
"""

from __future__ import annotations

import hashlib
import os
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memlines.errors import MemlinesError, QmdFailed, StoreBusy
from memlines.files import atomic
from memlines.files.place import ensure_folder, ensure_private
from memlines.files.scan import NOTES_DIR, root_files
from memlines.folders import PRIVATE_FILE
from memlines.index.qmd import Collection, QmdHit, QmdIndex, find_qmd
from memlines.index.search.matches import Matcher
from memlines.index.search.passages import MOST_LINES, part_of, snippet_of
from memlines.index.search.query import NO_FILTERS, OWN_WORKSPACE, Query
from memlines.locks import qmd_lock
from memlines.memory.answering import redact_hit, search_fresh
from memlines.memory.conversations.conversation import Cleaning
from memlines.memory.conversations.export import export_sessions, name_exports
from memlines.memory.scopes import MOST_NEAREST, merge_warnings
from memlines.paths import QMD_DIR, contains, expand_home, note_path
from memlines.settings.qmd import Qmd
from memlines.text.entries import Entry, entries_of
from memlines.text.language import language_of
from memlines.text.terms import telling_words
from memlines.types import Band, FoundFile, Hit, Mode, Progress, SearchResult, Source, Why

if TYPE_CHECKING:
    from memlines.memory.manager import Manager

NAME = "qmd"
_MARK = "mark"
"""The file that says which files qmd has read, and by its time when."""

_MODES: Mapping[str, Mode] = {"search": "words", "vsearch": "vectors", "query": "hybrid"}
_FAILURES = (MemlinesError, OSError, atomic.Changed)
_BOOT_TRIES = 3
_UPDATE_WAIT = 0.5
"""Seconds that a search waits for an update, unless it is the first one of the program."""

_FIRST_REST, _LONGEST_REST = 60.0, 3600.0
"""Seconds until vectors are made again after that failed; each failure in a row doubles them."""

_CANDIDATES = 3
"""Times as many hits are asked for as are wanted: some are of files that may not be quoted."""

_LIKELY = 0.5


class FallbackMemory:
    """Answers the searches of one open memory by qmd, or by the builtin engine once qmd failed."""

    def __init__(self, manager: Manager) -> None:
        workspace, settings = manager.workspace, manager.settings
        self._manager, self._wanted = manager, settings.qmd
        self._folder = workspace.private / QMD_DIR / settings.agent
        self._collections = dict(_name_collections(manager, self._folder))
        """What qmd indexes."""
        self._exports = [one.folder for one in self._collections.values() if one.source == "sessions"]
        """The folder for conversations, if they are searched."""
        self._index = QmdIndex(self._wanted, self._folder, workspace.root, self._collections)
        self._allowed = self._wanted.scope.allows({"chat_type": "direct"})  # which is all that is known
        self._reason = ""
        """Why qmd is not asked any more."""
        self._is_first = True
        self._updated = threading.Event()
        self._embed_at, self._embed_rest = 0.0, _FIRST_REST

    def describe_fallback(self) -> Mapping[str, Any] | None:
        """Return which engine answers instead of qmd, and why; nothing if qmd is asked."""
        try:
            if not self._reason:
                find_qmd(self._wanted.command)
        except QmdFailed as error:
            self._reason = str(error)
        return {"from": NAME, "to": "builtin", "reason": self._reason} if self._reason else None

    def search(self, query: Query, progress: Progress) -> SearchResult:
        """Answer a query that someone asked for; the caller never gets an error of qmd."""
        warnings: tuple[str, ...] = ()
        if not self._reason and self._suits(query):
            if not self._allowed:
                denied = ("qmd.scope allows no answer in this conversation",)
                return SearchResult((), NAME, "", _MODES[self._wanted.search_mode], 0, denied)
            try:
                result = self._ask(query, progress)
                if result.hits:
                    return result
            except _FAILURES as error:
                warnings = self._note_failure(error)
        result = search_fresh(self._manager, query, progress)
        fallback = self.describe_fallback() or result.fallback
        return replace(result, warnings=merge_warnings(warnings, result.warnings), fallback=fallback)

    def _suits(self, query: Query) -> bool:
        """Return whether qmd can answer a query as it is meant."""
        if query.filters != NO_FILTERS or query.names_days or query.left_out or query.cut is not None:
            return False
        if query.strict or query.full or query.workspaces not in ((), (OWN_WORKSPACE,)):
            return False
        return query.mode in ("hybrid", _MODES[self._wanted.search_mode])

    def _note_failure(self, error: Exception) -> tuple[str, ...]:
        """Ask qmd no more, and return a warning that says so, unless its index is only being updated."""
        if isinstance(error, StoreBusy | atomic.Changed):
            return ()
        self._reason = self._reason or str(error)
        return (f"the builtin engine answers from now on: {self._reason}",)

    # Updates

    def update(self, progress: Progress, tries: int = 1) -> tuple[str, ...]:
        """Bring the index of qmd up to date, and return what went wrong as a warning."""
        try:
            return () if self._reason else self._update(progress)
        except _FAILURES as error:
            if tries > 1:
                return self.update(progress, tries - 1)
            return self._note_failure(error)
        finally:
            self._updated.set()

    def _update(self, progress: Progress) -> tuple[str, ...]:
        """Export the sessions, update the index, then make vectors."""
        workspace, rules = self._manager.workspace, self._wanted.update
        ensure_private(workspace)
        atomic.make_folders(self._folder, workspace.root, private=True)
        with qmd_lock(workspace.private).held(0):
            files, mark = self._look()
            known = self._read_mark()[0]
            for folder in self._exports:
                atomic.refuse_link(folder)
                ensure_folder(folder)
                exports = {real: file for real, file in files.items() if file.source == "sessions"}
                cleaning = Cleaning.of(workspace, self._manager.settings)
                export_sessions(cleaning, folder, exports, again=known is None)  # forgetting removes it
            self._index.run(["update"], rules.update_timeout_ms, progress)
            atomic.replace(self._folder / _MARK, mark, known, mode=PRIVATE_FILE, root=workspace.root)
            return self._embed(progress)

    def _embed(self, progress: Progress) -> tuple[str, ...]:
        """Make vectors if the mode needs them and it is time, and return what went wrong as a warning."""
        rules = self._wanted.update
        if self._wanted.search_mode == "search" or time.monotonic() < self._embed_at:
            return ()
        try:
            self._index.run(["embed"], rules.embed_timeout_ms, progress)
        except QmdFailed as error:
            self._embed_at = time.monotonic() + self._embed_rest
            self._embed_rest = min(_LONGEST_REST, self._embed_rest * 2)
            return (f"qmd made no vectors: {error}",)
        self._embed_at, self._embed_rest = time.monotonic() + rules.embed_interval_minutes * 60, _FIRST_REST
        return ()

    def _look(self) -> tuple[dict[str, FoundFile], bytes]:
        """Return the files that qmd may quote, by where it reads them, and a mark that changes with any."""
        found = self._manager.discover().files
        # The builtin index holds facts in a wording of its own, which qmd does not know.
        facts = note_path(self._manager.settings.facts.file)
        notes = [file for file in found if file.source == "memory" and file.path != facts]
        files = {os.path.realpath(file.real): file for file in notes}
        for folder in self._exports:
            files |= name_exports(found, folder, self._wanted.sessions.retention_days)
        seen = sorted((file.path, *file.fingerprint) for file in files.values())
        mark = hashlib.sha256(repr((seen, [*self._collections.items()])).encode())
        return files, mark.hexdigest().encode()

    def _read_mark(self) -> tuple[bytes | None, float]:
        """Return the mark of the files that qmd knows, and how many seconds ago it was updated."""
        file = self._folder / _MARK
        mark = atomic.read(file, root=self._manager.workspace.root)
        return mark, max(0.0, time.time() - file.stat().st_mtime) if mark else float("inf")

    def _look_current(self) -> Mapping[str, FoundFile]:
        """Have the index updated if it has to be; return what may be quoted, or raise if qmd is behind."""
        (files, mark), (known, age) = self._look(), self._read_mark()
        is_boot, self._is_first = self._is_first and self._wanted.update.on_boot, False
        wait = seconds_to_wait(self._wanted, age, is_boot=is_boot, is_behind=known != mark)
        if wait is not None:
            find_qmd(self._wanted.command)  # without it there is nothing to wait for
            self._updated.clear()
            self._manager.background.ask(NAME, partial(self.update, tries=_BOOT_TRIES if is_boot else 1), 0.0)
            self._updated.wait(wait)
        if self._reason:
            raise QmdFailed(self._reason)
        if self._read_mark()[0] != mark:
            raise StoreBusy("qmd has not yet read what changed")
        return files

    # Answers

    def _ask(self, query: Query, progress: Progress) -> SearchResult:
        """Answer from qmd, if it has read what changed."""
        files, limits, mode = self._look_current(), self._wanted.limits, self._wanted.search_mode
        most = min(query.settings.max_results, limits.max_results)
        found = self._index.search(query.text, query.sources, most * _CANDIDATES, progress)
        quoted = [hit for one in found if (hit := self._quote(one, files, query.text)) is not None]
        distinct = {hit.citation: hit for hit in quoted}.values()
        # Sorting keeps the order of qmd, by vectors within a band.
        hits = sorted(distinct, key=lambda hit: (hit.band == "weak", -hit.score if mode == "search" else 0))
        confident = any(hit.band == "likely" for hit in hits)
        shown, room = [], limits.max_injected_chars
        for hit in hits[: most if confident else min(most, MOST_NEAREST)]:
            room -= len(hit.snippet)
            if room < 0:
                break
            shown.append(hit)
        likelihood = max((hit.score for hit in shown), default=0.0)
        result = SearchResult(tuple(shown), NAME, "", _MODES[mode], 0, chunks=len(files))
        return replace(result, confident=confident, likelihood=likelihood)

    def _quote(self, found: QmdHit, files: Mapping[str, FoundFile], text: str) -> Hit | None:
        """Return the entry at the lines that qmd named, as it is in the file now; nothing if it is gone."""
        manager, (folder, _, source) = self._manager, self._collections[found.collection]
        real = Path(os.path.realpath(folder / found.path))
        path = f"{NAME}/{found.collection}/{found.path}"
        if file := files.get(str(real)):
            path, source = file.path, file.source
        elif source == "sessions" or not contains(folder, real) or contains(manager.workspace.root, real):
            return None
        entry = _find_entry(manager.quotes.lines_of(str(real)) or [], found, source)
        if entry is None:
            return None
        words = telling_words(text)
        match = partial(Matcher({word: (word,) for word in words}), language=language_of(text))
        snippet = snippet_of(entry.text, match, self._wanted.limits.max_snippet_chars)
        held = match(f"{entry.heading}\n{snippet}")
        share = len(held) / max(1, len(words))
        score = share if self._wanted.search_mode == "search" else found.score
        why = Why(words=tuple([word for word in words if word in held]), fusion=NAME)
        band: Band = "likely" if share > _LIKELY else "weak"
        whole = Hit(path, entry.first, entry.last, score, entry.text, source, entry.heading, why, band=band)
        hit = part_of(whole, snippet)
        hit = replace(hit, chunk_start_line=entry.first, chunk_end_line=entry.last)
        return redact_hit(hit, manager.settings) if source == "sessions" else hit


def _name_collections(manager: Manager, folder: Path) -> Iterator[tuple[str, Collection]]:
    """Yield what qmd indexes, by names; its own files are in the folder."""
    root, agent, wanted = manager.workspace.root, manager.settings.agent, manager.settings.qmd
    if wanted.include_default_memory:
        yield f"memory-root-{agent}", Collection(root, ",".join(root_files(manager.workspace)), "memory")
        yield f"memory-dir-{agent}", Collection(root / NOTES_DIR, "**/*.md", "memory")
    for number, (named, pattern) in enumerate(wanted.paths):
        real = Path(os.path.realpath(root / expand_home(named)))
        yield f"custom-{number}-{agent}", Collection(real, pattern, "memory")
    if wanted.sessions.enabled and "sessions" in manager.settings.sources:
        exports = folder / "sessions"
        if wanted.sessions.export_dir:  # which may hold notes of the user's, and exports of other workspaces
            own = f"memlines-{agent}-{hashlib.sha256(os.fsencode(root)).hexdigest()[:12]}"
            exports = Path(os.path.realpath(expand_home(wanted.sessions.export_dir)), own)
        yield f"sessions-{agent}", Collection(exports, "*.md", "sessions")


def seconds_to_wait(wanted: Qmd, age: float, *, is_boot: bool, is_behind: bool) -> float | None:
    """Return how long a search waits for the update that it starts, or nothing if it starts none.

    `age` is how many seconds ago the last one was.
    """
    rules = wanted.update
    # Changes in other folders, and vectors, are not in the mark.
    has_more = bool(wanted.paths) or wanted.search_mode != "search"
    is_due = is_behind or (has_more and 0 < rules.interval_minutes * 60 <= age)
    if not is_due:
        return None
    if is_boot:  # a program that ends after one search would end the update too
        long = _BOOT_TRIES * rules.update_timeout_ms if rules.wait_for_boot_sync else wanted.limits.timeout_ms
        return max(_UPDATE_WAIT, long / 1000)
    if age * 1000 < rules.debounce_ms:
        return None
    return _UPDATE_WAIT if is_behind else 0.0


def _find_entry(lines: list[str], found: QmdHit, source: Source) -> Entry | None:
    """Return the turn or the entry that a hit points at, or the first one below a heading.

    Of a long one only the lines are returned that the hit names; nothing if there is nothing on the first.
    """
    first, last = found.first, min(found.last, len(lines))
    if source == "sessions":  # below a title, with a turn on each line
        lines, first, last = lines[1:], first - 1, first - 1
    if not any(lines[first - 1 : first]):
        return None
    named = Entry("paragraph", first, last, "\n".join(lines[first - 1 : last]), "")
    if source == "sessions":
        return named
    below = (entry for entry in entries_of("\n".join(lines)) if entry.last >= first)
    entry = next((entry for entry in below if entry.kind != "heading"), named)
    return entry if entry.last - entry.first < MOST_LINES else replace(named, heading=entry.heading)
