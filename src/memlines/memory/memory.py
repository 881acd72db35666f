"""The object that people and agents hold: `Memory` opens a workspace and answers from it.

Arguments are checked here, and a memory that is switched off refuses here. How a memory is opened and kept up
to date is in `opened`; what each call does is in `asking`, `notes`, `past`, `facts` and `conversations`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from memlines.errors import UsageError
from memlines.files.scan import SUFFIX
from memlines.memory import arguments, scopes
from memlines.memory.manager import Manager
from memlines.memory.open_index import silent
from memlines.memory.opened import OpenMemory
from memlines.paths import PRIVATE_DIR
from memlines.types import (
    CONTEXT_TOKENS,
    LOG_CHANGES,
    Excerpt,
    Mode,
    Progress,
    Scope,
    SearchResult,
    Source,
    cited_day,
)

if TYPE_CHECKING:
    from memlines.files.history import Version
    from memlines.files.journal import Operation
    from memlines.memory.calendar import Calendar
    from memlines.memory.map import MemoryMap
    from memlines.memory.notes.candidates import ForgetCandidate
    from memlines.memory.notes.edit import OpenNote
    from memlines.memory.notes.proof import ForgetReceipt
    from memlines.memory.notes.recall import Recalled
    from memlines.memory.notes.remember import Remembered
    from memlines.memory.notes.undo import NoteChange, Undone
    from memlines.memory.notes.versions import RestoredVersion
    from memlines.memory.past.log import LoggedChange

_CONVERSATIONS = ("sessions/", "snapshots/")
"""What the names of transcripts and snapshots begin with in the index."""


class Memory(OpenMemory):
    """The memory in one workspace; safe to use from several threads.

    `workspace.root` is its folder, `settings` are the settings in force, and `scope` says whose memory it is.
    """

    def search(
        self,
        query: str,
        *,
        max_results: int | None = None,
        min_score: float | None = None,
        mode: Mode = "hybrid",
        sources: Sequence[Source] | None = None,
        now: datetime | None = None,
        full: bool = False,
        strict: bool = False,
        scopes: Sequence[Scope] | None = None,
        without: Sequence[str] = (),
        as_of: date | str | None = None,
        workspaces: Sequence[str] = (),
        progress: Progress = silent,
    ) -> SearchResult:
        """Return the lines that answer a query, best first. No lines are an answer too.

        Files that changed are indexed first. A hit is the passage that answers, of at most twelve lines. If
        no answer is likely, the result is not `confident`, and its hits are the nearest lines.

        - `full` returns the whole chunk around each passage.
        - `strict` returns no nearest lines and corrects no spelling. Use it for what is shown unasked.
        - `min_score` leaves out every hit below it.
        - `sources` asks only notes (`memory`) or only conversations (`sessions`).
        - `without` names entries that must not answer, by their citations.
        - `as_of`, a day or a month, asks the notes as they were at its end. So does a question such as
          "what did we believe in March?".
        - `scopes` says whose memory is asked; without it, the setting of that name does.
        - `workspaces`, with `store.driver: qdrant`, names those on the cluster to ask: `.` is this one, `*`
          all that the token may see. A hit of another one has its name before the path.
        - `now` is the time that "yesterday" is counted from.
        """
        self._check(
            arguments.SEARCH,
            query=query,
            max_results=max_results,
            min_score=min_score,
            mode=mode,
            sources=sources,
            scopes=scopes,
            without=without,
            workspaces=workspaces,
        )
        if not query.strip():
            return SearchResult((), "none", "", "words", 0)
        # It takes time to import, which a sync need not wait for.
        from memlines.memory.asking import find_left_out, parse, search_scopes

        parsed = parse(
            self.settings,
            query,
            max_results=max_results,
            min_score=min_score,
            mode=mode,
            sources=sources,
            now=now,
            full=full,
            strict=strict,
            as_of=as_of,
        )
        if without:
            parsed = replace(parsed, left_out=find_left_out(self, without))
        if workspaces:
            if self._manager.sharing is None:
                raise UsageError(
                    "workspaces are searched on a Qdrant cluster, which answers no search of this memory",
                    todo="Set store.driver to qdrant, or search this workspace alone",
                )
            parsed = replace(parsed, workspaces=tuple(workspaces))
        return search_scopes(self, parsed, scopes or self.settings.scopes, progress)

    def context(self, message: str, *, max_tokens: int = CONTEXT_TOKENS) -> str:
        """Return what the memory holds about a message, quoted for the model that answers it.

        Every quote is below its citation, marked as data, and without secrets. The text has at most
        `max_tokens` of about four characters. It is empty if nothing fits or the memory is switched off.
        """
        from memlines.memory.context import find_relevant

        arguments.check(arguments.CONTEXT, message=message, max_tokens=max_tokens)
        return find_relevant(self, message, max_tokens=max_tokens).text

    def remember(
        self,
        text: str,
        *,
        topic: str | None = None,
        session: str | None = None,
        to: str | None = None,
        force: bool = False,
        allow_secret: bool = False,
        personal: bool = False,
        dry_run: bool = False,
        now: datetime | None = None,
    ) -> Remembered:
        """Write a text into the notes and return where it is; it is on disk when this returns.

        It goes into the daily log, into the note of a topic, or where `to` says. What the notes or the facts
        hold already is returned as a duplicate instead, unless `force` is set. A text that holds a secret
        raises `SecretRefused`, unless `allow_secret` is set. `personal` writes it into the personal memory.
        With `dry_run` nothing is written, and only the path says where it would be.
        """
        from memlines.memory.notes.remember import remember

        self._check(arguments.REMEMBER, text=text, topic=topic, session=session, to=to)
        owner = self if not personal else (self.personal or self) if dry_run else self.begin_personal()
        manager = owner._manager
        options = {"force": force, "allow_secret": allow_secret, "dry_run": dry_run}
        done = remember(manager, text, topic, session, to, now, **options)
        return scopes.mark_personal(done) if manager.prefix else done

    def remember_all(
        self, said: Sequence[tuple[str, datetime]], *, session: str | None = None
    ) -> list[Remembered | None]:
        """Write texts into the logs of the days they were said on, and return where each is.

        What goes into one log is written at once or not at all. A text that holds a secret is left out, and
        `None` is in its place.
        """
        from memlines.memory.notes.remember import remember_all

        for text, _ in said:
            self._check(arguments.REMEMBER, text=text, session=session)
        return remember_all(self._manager, said, session=session)

    def recall(
        self,
        query: str | None = None,
        *,
        recent: bool = False,
        decisions: bool = False,
        topic: str | None = None,
        limit: int = 10,
        now: datetime | None = None,
    ) -> tuple[Recalled, ...]:
        """Return entries: recent ones, decisions, those of a topic, or those that answer a query.

        Where none is a confident answer, up to three of the nearest are returned; each of these is `weak`.
        """
        from memlines.memory.notes.recall import recall

        self._check(arguments.RECALL, query=query, topic=topic, limit=limit)
        options: dict[str, Any] = {"recent": recent, "decisions": decisions, "topic": topic, "limit": limit}
        answers = []
        for one in scopes.list_scopes(self, []):
            found = recall(one._manager, query, **options, now=now)
            answers.append(tuple(map(scopes.mark_personal, found)) if one.scope == "personal" else found)
        return scopes.merge_recalled(answers, limit, by_day=recent or not query)

    def forget_candidates(
        self, selector: str = "", *, session: str | None = None
    ) -> tuple[ForgetCandidate, ...]:
        """Return the entries that a citation, a path, a query or a session points at."""
        from memlines.memory.notes.candidates import find_candidates, is_query

        self._check(arguments.FORGET, selector=selector, session=session)
        owner, named = scopes.owner_of(self, selector.strip())
        asked = [owner]
        if session is not None or (named and is_query(self.workspace, named)):
            asked = list(scopes.list_scopes(self, []))
        found: list[ForgetCandidate] = []
        for one in asked:
            own = find_candidates(one._manager, named, session=session)
            found += map(scopes.mark_personal, own) if one.scope == "personal" else own
        return tuple(found)

    def forget(self, chosen: Iterable[ForgetCandidate]) -> ForgetReceipt:
        """Remove entries for good, from the notes and everything derived from them; say what went."""
        from memlines.memory.notes.forget import forget

        self._check()
        arguments.check_chosen(chosen)
        by_owner: dict[Manager, list[ForgetCandidate]] = {}
        for candidate in chosen:
            owner, path = scopes.owner_of(self, candidate.path)
            by_owner.setdefault(owner._manager, []).append(replace(candidate, path=path))
        receipts = []
        for manager, own in by_owner.items():
            receipt = forget(manager, own)
            left = tuple(manager.prefix + place for place in receipt.left)
            receipts.append(replace(receipt, left=left))
        return scopes.merge_receipts(receipts) if receipts else forget(self._manager, ())

    def undo(self, *, redo: bool = False, dry_run: bool = False) -> Undone:
        """Undo what was last written into the notes; called again, what was written before that.

        With `redo` it brings back what the last undo removed. Forgetting cannot be undone.
        """
        from memlines.memory.notes.undo import undo

        self._check()
        undone = undo(self.workspace, redo=redo, dry_run=dry_run)
        self._manager.look_again()
        return undone

    def writes(self) -> tuple[Operation, ...]:
        """Return the operations that `undo` would undo, in its order."""
        from memlines.memory.notes.undo import recent

        self._check()
        return recent(self.workspace)

    def history(self, path: str) -> tuple[Version, ...]:
        """Return the earlier versions of a note, which need not exist any more, the newest first."""
        from memlines.memory.notes.versions import list_versions

        self._check(arguments.VERSION, path=path)
        owner, path = scopes.owner_of(self, path)
        return list_versions(owner.workspace, path)

    def log(self, path: str, *, most: int = LOG_CHANGES) -> tuple[LoggedChange, ...]:
        """Return how a note, or the lines that a citation names, changed over time, the newest change first.

        It knows the changes that Memlines made, the commits around the notes, and the note as it is.
        """
        from memlines.memory.past.log import list_changes

        self._check(arguments.LOG, path=path, most=most)
        owner, path = scopes.owner_of(self, path)
        changes = list_changes(owner._manager, path, most)
        return tuple(map(scopes.mark_personal, changes)) if owner.scope == "personal" else changes

    def read_version(self, path: str, version: str) -> str:
        """Return the text of a version of a note, by its name or its number (1 is the newest)."""
        from memlines.memory.notes.versions import read_version

        self._check(arguments.VERSION, path=path, version=version)
        owner, path = scopes.owner_of(self, path)
        return read_version(owner.workspace, path, version)

    def restore_version(
        self, path: str, version: str, *, with_forgotten: bool = False, dry_run: bool = False
    ) -> RestoredVersion:
        """Restore a note to an earlier version; the text it has now becomes a version itself.

        What was forgotten since stays out and is named, unless `with_forgotten` is set.
        """
        from memlines.memory.notes.versions import restore_version

        self._check(arguments.VERSION, path=path, version=version)
        owner, path = scopes.owner_of(self, path)
        restored = restore_version(
            owner.workspace, path, version, with_forgotten=with_forgotten, dry_run=dry_run
        )
        owner._manager.look_again()
        return restored

    def open_note(self, path: str) -> OpenNote:
        """Return the whole text of a note for a person to edit, empty for a new one, or why it cannot be."""
        from memlines.memory.notes.edit import open_note

        self._check(arguments.EDIT, path=path)
        owner, path = scopes.owner_of(self, path)
        note = open_note(owner._manager, path)
        return scopes.mark_personal(note) if owner.scope == "personal" else note

    def edit_note(self, path: str, text: str, version: str) -> NoteChange:
        """Replace the whole text of a note; lines that do not change keep their bytes.

        `version` is that of the note as it was opened. If someone saved it since, nothing is written and
        `EditConflict` is raised.
        """
        from memlines.memory.notes.edit import edit_note

        self._check(arguments.EDIT, path=path, text=text, version=version)
        owner, path = scopes.owner_of(self, path)
        change = edit_note(owner._manager, path, text, version)
        return scopes.mark_personal(change) if owner.scope == "personal" else change

    def calendar(self) -> Calendar:
        """Return what happened on which day: entries of notes, facts, sessions and snapshots."""
        from memlines.memory.calendar import list_days

        self._check()
        return list_days(self)

    def map(self) -> MemoryMap:
        """Return the indexed chunks in two dimensions, those that are alike near each other.

        The index is read as it is, without a sync. The personal memory has a map of its own, and is left out.
        """
        from memlines.memory.map import make_map

        self._check()
        return make_map(self._manager)

    def read(
        self,
        path: str,
        start: int | None = None,
        lines: int | None = None,
        column: int | None = None,
        *,
        private: bool = True,
    ) -> Excerpt:
        """Return lines of a note, or what was said on lines of a transcript; none if it does not exist.

        `path` may be a citation such as `memory/a.md#L3-L5`; `start` and `lines` count more than its lines.
        `column` is the character of the first line to begin with, for the rest of a line that was cut. With
        `private` off, lines of `<private>` blocks come out empty: do so for what a model reads.
        """
        self._check(arguments.READ, path=path, start=start, lines=lines, column=column)
        path, start, lines = arguments.parse_citation(path, start, lines)
        owner, path = scopes.owner_of(self, path)
        found = owner._read(path, start, lines, column, private=private)
        return scopes.mark_personal(found) if owner.scope == "personal" else found

    def _read(
        self, path: str, start: int | None, lines: int | None, column: int | None, *, private: bool
    ) -> Excerpt:
        from memlines.files.read import DEFAULT_LINES, excerpt_of, read_lines

        workspace, settings = self.workspace, self.settings
        name, _, there = path.partition(":")
        if there and "/" not in name and (sharing := self._manager.sharing) is not None:
            text = sharing.read(name, there)
            if text is not None:
                return excerpt_of(path, text, max(1, start or 1), lines or DEFAULT_LINES, max(1, column or 1))
        inside = path.removeprefix(f"{PRIVATE_DIR}/")
        if inside.startswith(_CONVERSATIONS) and not inside.endswith(SUFFIX):
            from memlines.memory.conversations.reading import read_turns

            return read_turns(workspace, settings, inside, start, lines, column, self._manager.heads)
        if (past := cited_day(path)) is not None:
            from memlines.memory.past.search import read_past

            return read_past(self._manager, *past, start, lines, column, private=private)
        limit = settings.files.max_bytes
        return read_lines(workspace, settings.extra_paths, path, start, lines, limit, column, private=private)
