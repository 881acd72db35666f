"""The object that people and agents hold: `Memory` opens a workspace and answers from it.

Arguments are checked here, and a memory that is switched off refuses here. When the index is brought up to
date is decided in `manager`; what each call does is in `answering`, `notes`, `facts` and `conversations`.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

from memlines.errors import SettingsError
from memlines.files.scan import SUFFIX
from memlines.memory import arguments, scopes
from memlines.memory.manager import Manager
from memlines.memory.open_index import silent
from memlines.paths import PRIVATE_DIR, Workspace, personal_folder
from memlines.settings import Loaded, Settings, load, refuse_if_off, switched_off
from memlines.settings.workspace import find_workspace
from memlines.types import (
    CONTEXT_TOKENS,
    LOG_CHANGES,
    Excerpt,
    Mode,
    Progress,
    Report,
    Scope,
    SearchResult,
    Source,
    Space,
    cited_day,
)

if TYPE_CHECKING:
    from memlines.embed.base import Vectors
    from memlines.embed.select import Probe
    from memlines.files.history import Version
    from memlines.files.journal import Operation
    from memlines.index.sync.job import Job
    from memlines.index.sync.plan import Plan
    from memlines.memory.facts.facts import Facts
    from memlines.memory.notes.candidates import Candidate
    from memlines.memory.notes.proof import Receipt
    from memlines.memory.notes.recall import Recalled
    from memlines.memory.notes.remember import Remembered
    from memlines.memory.notes.undo import Undone
    from memlines.memory.notes.versions import RestoredVersion
    from memlines.memory.past.log import LoggedChange
    from memlines.memory.status import Status
    from memlines.memory.tidy.tidy import Tidy

_CONVERSATIONS = ("sessions/", "snapshots/")
"""What the names of transcripts and snapshots begin with in the index."""


class Memory:
    """The memory in one workspace; safe to use from several threads."""

    def __init__(
        self, workspace: str | os.PathLike[str] | None = None, settings: Mapping[str, Any] | None = None
    ) -> None:
        """Open the memory in a folder; `settings` holds keys such as `{"query.max_results": 3}`.

        Without a folder it is that of `MEMLINES_WORKSPACE`, the nearest one from here upwards that holds
        a memory, the setting `workspace`, or this one.
        """
        folder = find_workspace(overrides=settings).folder if workspace is None else workspace
        self.workspace = Workspace.at(folder)
        self.loaded: Loaded = load(self.workspace, settings)
        self.personal_folder = Path(os.path.realpath(personal_folder(self.settings.personal_folder)))
        self.scope: Scope = "personal" if self.workspace.root == self.personal_folder else "project"
        store, backend = self.settings.store.driver, self.settings.backend
        if (store, backend) != ("sqlite", "builtin"):  # rather than quietly keep the index elsewhere
            raise SettingsError(
                f"store.driver {store!r} with backend {backend!r} is not available in this version",
                todo="Set store.driver to sqlite and backend to builtin",
            )
        self._manager = Manager(self.workspace, self.loaded)
        self._manager.prefix = scopes.PERSONAL if self.scope == "personal" else ""
        self._given = dict(settings or {})
        self._personal: Memory | None = None
        self._facts: Facts | None = None
        self._opening = threading.Lock()

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self.loaded.settings

    def close(self) -> None:
        """End the work in the background and close the index; both begin again with the next use."""
        self._manager.close()
        if self._personal is not None:
            self._personal.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def facts(self) -> Facts:
        """The long-term facts: short memories with a category, kept in a note of their own."""
        from memlines.memory.facts.facts import Facts

        with self._opening:
            self._facts = self._facts or Facts(self._manager)
        return self._facts

    @property
    def tidy(self) -> Tidy:
        """What can be tidied in the notes: proposals, which a person applies or declines."""
        from memlines.memory.tidy.tidy import Tidy

        return Tidy(self._manager)

    @property
    def personal(self) -> Memory | None:
        """The user's personal memory, asked together with this one; `None` without one, or if it is off."""
        is_wanted = self.scope == "project" and "personal" in self.settings.scopes
        if is_wanted and self.settings.personal_folder:
            scopes.refuse_inside(self)
        if self._personal is None and is_wanted and self.personal_folder.is_dir():
            with self._opening:
                if self._personal is None:
                    self._personal = Memory(self.personal_folder, scopes.without_places(self._given))
                    self._personal._manager.beside = self._manager
        return self._personal

    def begin_personal(self) -> Memory:
        """Return the user's personal memory to write into, made if there is none."""
        if self.scope == "personal":
            return self
        if "personal" in self.settings.scopes and not self.personal_folder.is_dir():
            from memlines.files.place import begin_workspace

            scopes.refuse_inside(self)
            begin_workspace(self.personal_folder, personal=True)
        personal = self.personal
        if personal is None:
            raise SettingsError(
                f"the personal memory is switched off by scopes ({self.loaded.origins['scopes']})",
                todo="Add personal to scopes there, or write it into the project's memory",
            )
        return personal

    def sync(self, *, force: bool = False, progress: Progress = silent) -> Report:
        """Make the index equal the files, that of the personal memory too; `force` rebuilds it."""
        self._check()
        report = self._manager.sync(force=force, progress=progress)
        warnings: list[str] = []
        for personal in scopes.list_personal(self, warnings):
            report = scopes.merge_reports(report, personal._manager.sync(force=force, progress=progress))
        return replace(report, warnings=(*report.warnings, *warnings))

    def plan(self, *, progress: Progress = silent) -> Plan:
        """Return what a sync would do and cost, without doing any of it."""
        from memlines.index.sync.plan import plan

        self._check()
        return plan(self._manager.job(progress))

    @property
    def provider_trouble(self) -> str:
        """Why vectors are not made by the provider that the settings name; empty if they are."""
        return self._manager.chosen().reason

    @property
    def builtin_vectors(self) -> Callable[[Sequence[str]], Vectors] | None:
        """How the builtin model embeds sentences, if it is what this memory uses; none is loaded for it."""
        provider = self._manager.provider_at_work()
        return provider.embed_documents if provider is not None and provider.id == "builtin" else None

    def change_model(self, change: Literal["cancel", "roll_back", "renew", "resume"]) -> Space:
        """Act on a change of model, and return the space of the vectors that it is about.

        Stop it, go back to the vectors of the model before, drop all vectors of the model for the next sync
        to make again, or ask for the model of the settings again after its change was stopped.
        """
        from memlines.index.sync import vectors

        changes: Mapping[str, Callable[[Job], Space]] = {
            "cancel": vectors.cancel,
            "roll_back": vectors.roll_back,
            "renew": vectors.renew,
            "resume": vectors.resume,
        }
        return changes[change](self._manager.job(silent))

    def start_session(self, key: str | None = None) -> None:
        """Begin a session: sync in the background, once for each key, and return at once.

        Without a key it syncs every time; with `sync.on_session_start` off it does nothing.
        """
        if not switched_off(self.loaded):
            for one in scopes.list_scopes(self, []):
                one._manager.start_session(key)

    def warm_up(self) -> None:
        """Load what the first search needs, as far as it is on this machine; it may take a second."""
        if not switched_off(self.loaded):
            self._manager.warm_up()

    @property
    def is_warm(self) -> bool:
        """Whether `warm_up` is done; until then a search by meaning may first load a model."""
        return self._manager.is_warm

    def sync_soon(self) -> None:
        """Have the index made equal to the files in the background, and return at once."""
        if not switched_off(self.loaded):
            for one in scopes.list_scopes(self, []):
                one._manager.sync_soon()

    def watch(
        self,
        stop: threading.Event,
        *,
        on_sync: Callable[[Report], None] | None = None,
        on_notice: Callable[[str], None] | None = None,
    ) -> None:
        """Keep the index equal to the files until `stop` is set, whatever changes them.

        `on_sync` is called with the report of every sync that changed the index, `on_notice` with what else
        is worth knowing, in a sentence. A sync that fails is reported and tried again. Where another program
        watches already, this waits to take over.
        """
        from memlines.memory.watching import watch

        self._check()
        watch(self._manager, stop, on_sync, on_notice)

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
        progress: Progress = silent,
    ) -> SearchResult:
        """Return the lines that answer a query, best first; none is an honest answer.

        A hit is the passage that answers, of at most twelve lines; with `full` it is the chunk around it.
        If an answer is not likely, the result is not `confident`, and the hits are the nearest lines. With
        `strict` there are none then, and spelling is not corrected: do so for what no one asked to see. With
        `min_score` nothing below that is shown. The entries that the citations in `without` name do not
        answer. Files that changed are indexed first.

        With `as_of`, a day or a month, the notes answer as they were at its end; so does a question such as
        "what did we believe in March?". The personal memory is asked too, if `scopes` or the setting of that
        name has it.
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
        return search_scopes(self, parsed, scopes or self.settings.scopes, progress)

    def context(self, message: str, *, max_tokens: int = CONTEXT_TOKENS) -> str:
        """Return what the memory holds about a message, quoted for the model that answers it.

        Every quote is below its citation, marked as data and without secrets, all in at most so many tokens
        of about four characters. The text is empty if nothing fits or the memory is switched off.
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
        now: datetime | None = None,
    ) -> Remembered:
        """Write a text into the notes and return where it is; it is on disk when this returns.

        It goes into the daily log, into the note of a topic, or where `to` says. What the notes or the facts
        hold already is returned as a duplicate instead, unless `force` is set. A text that holds a secret
        raises `SecretRefused`, unless `allow_secret` is set. `personal` writes it into the personal memory.
        """
        from memlines.memory.notes.remember import remember

        self._check(arguments.REMEMBER, text=text, topic=topic, session=session, to=to)
        manager = self.begin_personal()._manager if personal else self._manager
        done = remember(manager, text, topic, session, to, now, force=force, allow_secret=allow_secret)
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

    def forget_candidates(self, selector: str = "", *, session: str | None = None) -> tuple[Candidate, ...]:
        """Return the entries that a citation, a path, a query or a session points at."""
        from memlines.memory.notes.candidates import find_candidates, is_query

        self._check(arguments.FORGET, selector=selector, session=session)
        owner, named = scopes.owner_of(self, selector.strip())
        asked = [owner]
        if session is not None or (named and is_query(self.workspace, named)):
            asked = list(scopes.list_scopes(self, []))
        found: list[Candidate] = []
        for one in asked:
            own = find_candidates(one._manager, named, session=session)
            found += map(scopes.mark_personal, own) if one.scope == "personal" else own
        return tuple(found)

    def forget(self, chosen: Iterable[Candidate]) -> Receipt:
        """Remove entries for good, from the notes and everything derived from them; say what went."""
        from memlines.memory.notes.forget import forget

        self._check()
        arguments.check_chosen(chosen)
        by_owner: dict[Manager, list[Candidate]] = {}
        for candidate in chosen:
            owner, path = scopes.owner_of(self, candidate.path)
            by_owner.setdefault(owner._manager, []).append(replace(candidate, path=path))
        receipts = [forget(manager, own) for manager, own in by_owner.items()]
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
        """Return what `undo` would undo one after the other, the next one first."""
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

        Known are the changes that Memlines made, the commits around the notes, and the note as it is.
        """
        from memlines.memory.past.log import list_changes

        self._check(arguments.LOG, path=path, most=most)
        owner, path = scopes.owner_of(self, path)
        changes = list_changes(owner._manager, path, most)
        return tuple(map(scopes.mark_personal, changes)) if owner.scope == "personal" else changes

    def read_version(self, path: str, version: str) -> str:
        """Return what a version of a note says; it goes by its name, or by its number from the newest on."""
        from memlines.memory.notes.versions import read_version

        self._check(arguments.VERSION, path=path, version=version)
        owner, path = scopes.owner_of(self, path)
        return read_version(owner.workspace, path, version)

    def restore_version(
        self, path: str, version: str, *, with_forgotten: bool = False, dry_run: bool = False
    ) -> RestoredVersion:
        """Make a note what it was in a version; what it holds now becomes a version itself.

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

    def read(
        self,
        path: str,
        start: int | None = None,
        lines: int | None = None,
        column: int | None = None,
        *,
        private: bool = True,
    ) -> Excerpt:
        """Return lines of a note, or what was said on lines of a transcript; what does not exist has none.

        `column` is the character of the first line to begin with, for the rest of a line that was cut. With
        `private` off, lines of `<private>` blocks come out empty: do so for what a model reads.
        """
        self._check(arguments.READ, path=path, start=start, lines=lines, column=column)
        owner, path = scopes.owner_of(self, path)
        found = owner._read(path, start, lines, column, private=private)
        return scopes.mark_personal(found) if owner.scope == "personal" else found

    def _read(
        self, path: str, start: int | None, lines: int | None, column: int | None, *, private: bool
    ) -> Excerpt:
        from memlines.files.read import read_lines

        workspace, settings = self.workspace, self.settings
        inside = path.removeprefix(f"{PRIVATE_DIR}/")
        if inside.startswith(_CONVERSATIONS) and not inside.endswith(SUFFIX):
            from memlines.memory.conversations.reading import read_turns

            return read_turns(workspace, settings, inside, start, lines, column, self._manager.heads)
        if (past := cited_day(path)) is not None:
            from memlines.memory.past.search import read_past

            return read_past(self._manager, *past, start, lines, column, private=private)
        limit = settings.files.max_bytes
        return read_lines(workspace, settings.extra_paths, path, start, lines, limit, column, private=private)

    def status(self, *, deep: bool = False) -> Status:
        """Return the state of the memory; `deep` also asks the provider for one vector of one word."""
        from memlines.memory.status import read_status

        return replace(read_status(self._manager, deep=deep), personal=scopes.describe_personal(self))

    def probe_embedding(self) -> Probe:
        """Return whether the provider that the settings ask for makes vectors; it may be sent one word."""
        from memlines.memory.status import probe_embedding

        return probe_embedding(self._manager)

    def probe_vectors(self) -> Probe:
        """Return whether vectors can be searched, by the engine that the settings ask for."""
        from memlines.memory.status import probe_vectors

        return probe_vectors(self._manager)

    def _check(self, operation: arguments.Arguments | None = None, **given: object) -> None:
        """Refuse arguments that make no sense, and every call while the memory is switched off."""
        arguments.check(operation or {}, **given)
        refuse_if_off(self.loaded)
