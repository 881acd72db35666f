"""The object that people and agents hold: `Memory` opens a workspace and answers from it.

Arguments are checked here, and a memory that is switched off refuses here. When the index is brought up to
date is decided in `manager`; what each call does is in `answering`, `notes`, `facts` and `conversations`.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Self

from memlines.errors import SettingsError
from memlines.files.scan import SUFFIX
from memlines.memory import arguments
from memlines.memory.manager import Manager
from memlines.memory.open_index import silent
from memlines.paths import PRIVATE_DIR, Workspace
from memlines.settings import Loaded, Settings, load, refuse_if_off, switched_off
from memlines.settings.workspace import find_workspace
from memlines.types import CONTEXT_TOKENS, Excerpt, Mode, Progress, Report, SearchResult, Source, Space

if TYPE_CHECKING:
    from memlines.embed.base import Vectors
    from memlines.embed.select import Probe
    from memlines.files.history import Version
    from memlines.files.journal import Operation
    from memlines.index.sync.plan import Plan
    from memlines.memory.facts.facts import Facts
    from memlines.memory.notes.candidates import Candidate
    from memlines.memory.notes.proof import Receipt
    from memlines.memory.notes.recall import Recalled
    from memlines.memory.notes.remember import Remembered
    from memlines.memory.notes.undo import Undone
    from memlines.memory.notes.versions import RestoredVersion
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
        store, backend = self.settings.store.driver, self.settings.backend
        if (store, backend) != ("sqlite", "builtin"):  # rather than quietly keep the index elsewhere
            raise SettingsError(
                f"store.driver {store!r} with backend {backend!r} is not available in this version",
                todo="Set store.driver to sqlite and backend to builtin",
            )
        self._manager = Manager(self.workspace, self.loaded)
        self._facts: Facts | None = None
        self._making_facts = threading.Lock()

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self.loaded.settings

    def close(self) -> None:
        """End the work in the background and close the index; both begin again with the next use."""
        self._manager.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def facts(self) -> Facts:
        """The long-term facts: short memories with a category, kept in a note of their own."""
        from memlines.memory.facts.facts import Facts

        with self._making_facts:
            self._facts = self._facts or Facts(self._manager)
        return self._facts

    @property
    def tidy(self) -> Tidy:
        """What can be tidied in the notes: proposals, which a person applies or declines."""
        from memlines.memory.tidy.tidy import Tidy

        return Tidy(self._manager)

    def sync(self, *, force: bool = False, progress: Progress = silent) -> Report:
        """Make the index equal the files; `force` rebuilds it."""
        self._check()
        return self._manager.sync(force=force, progress=progress)

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

    def cancel_model(self) -> Space:
        """Stop a change of model that is under way, and return the space that was given up."""
        from memlines.index.sync.vectors import cancel

        return cancel(self._manager.job(silent))

    def roll_back_model(self) -> Space:
        """Go back to the vectors of the model before, and return their space."""
        from memlines.index.sync.vectors import roll_back

        return roll_back(self._manager.job(silent))

    def renew_model(self) -> Space:
        """Drop all vectors of the model, for the next sync to make again; return their space."""
        from memlines.index.sync.vectors import renew

        return renew(self._manager.job(silent))

    def resume_model(self) -> Space:
        """Ask for the model of the settings again after its change was stopped; return its space."""
        from memlines.index.sync.vectors import resume

        return resume(self._manager.job(silent))

    def start_session(self, key: str | None = None) -> None:
        """Begin a session: sync in the background, once for each key, and return at once.

        Without a key it syncs every time; with `sync.on_session_start` off it does nothing.
        """
        if not switched_off(self.loaded):
            self._manager.start_session(key)

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
            self._manager.sync_soon()

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
        progress: Progress = silent,
    ) -> SearchResult:
        """Return the lines that answer a query, best first; none is an honest answer.

        A hit is the passage that answers, of at most twelve lines; with `full` it is the chunk around it.
        If an answer is not likely, the result is not `confident`, and the hits are the nearest lines. With
        `strict` there are none then, and spelling is not corrected: do so for what no one asked to see. With
        `min_score` nothing below that is shown. Files that changed are indexed first.
        """
        self._check(
            arguments.SEARCH,
            query=query,
            max_results=max_results,
            min_score=min_score,
            mode=mode,
            sources=sources,
        )
        if not query.strip():
            return SearchResult((), "none", "", "words", 0)
        # Both take time to import, which a sync need not wait for.
        from memlines.index.search.query import parse_query
        from memlines.memory.answering import search_asked, search_fresh

        settings = self.settings
        wanted = settings.query if max_results is None else replace(settings.query, max_results=max_results)
        parsed = parse_query(
            query,
            wanted,
            settings.profile,
            mode=mode,
            sources=tuple(sources) if sources else settings.sources,
            now=now or datetime.now(UTC),
            cut=min_score,
            full=full,
            corrects=not strict,
            strict=strict,
        )
        return (search_fresh if strict else search_asked)(self._manager, parsed, progress)

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
        now: datetime | None = None,
    ) -> Remembered:
        """Write a text into the notes and return where it is; it is on disk when this returns.

        It goes into the daily log, into the note of a topic, or where `to` says. What the notes or the facts
        hold already is returned as a duplicate instead, unless `force` is set. A text that holds a secret
        raises `SecretRefused`, unless `allow_secret` is set.
        """
        from memlines.memory.notes.remember import remember

        self._check(arguments.REMEMBER, text=text, topic=topic, session=session, to=to)
        return remember(self._manager, text, topic, session, to, now, force=force, allow_secret=allow_secret)

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
        return recall(self, query, recent=recent, decisions=decisions, topic=topic, limit=limit, now=now)

    def forget_candidates(self, selector: str = "", *, session: str | None = None) -> tuple[Candidate, ...]:
        """Return the entries that a citation, a path, a query or a session points at."""
        from memlines.memory.notes.candidates import find_candidates

        self._check(arguments.FORGET, selector=selector, session=session)
        return find_candidates(self, selector, session=session)

    def forget(self, chosen: Iterable[Candidate]) -> Receipt:
        """Remove entries for good, from the notes and everything derived from them; say what went."""
        from memlines.memory.notes.forget import forget

        self._check()
        arguments.check_chosen(chosen)
        return forget(self._manager, chosen)

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
        return list_versions(self.workspace, path)

    def read_version(self, path: str, version: str) -> str:
        """Return what a version of a note says; it goes by its name, or by its number from the newest on."""
        from memlines.memory.notes.versions import read_version

        self._check(arguments.VERSION, path=path, version=version)
        return read_version(self.workspace, path, version)

    def restore_version(
        self, path: str, version: str, *, with_forgotten: bool = False, dry_run: bool = False
    ) -> RestoredVersion:
        """Make a note what it was in a version; what it holds now becomes a version itself.

        What was forgotten since stays out and is named, unless `with_forgotten` is set.
        """
        from memlines.memory.notes.versions import restore_version

        self._check(arguments.VERSION, path=path, version=version)
        restored = restore_version(
            self.workspace, path, version, with_forgotten=with_forgotten, dry_run=dry_run
        )
        self._manager.look_again()
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
        from memlines.files.read import read_lines

        self._check(arguments.READ, path=path, start=start, lines=lines, column=column)
        workspace, settings = self.workspace, self.settings
        inside = path.removeprefix(f"{PRIVATE_DIR}/")
        if inside.startswith(_CONVERSATIONS) and not inside.endswith(SUFFIX):
            from memlines.memory.conversations.reading import read_turns

            return read_turns(workspace, settings, inside, start, lines, column, self._manager.heads)
        limit = settings.files.max_bytes
        return read_lines(workspace, settings.extra_paths, path, start, lines, limit, column, private=private)

    def status(self, *, deep: bool = False) -> Status:
        """Return the state of the memory; `deep` also asks the provider for one vector of one word."""
        from memlines.memory.status import read_status

        return read_status(self._manager, deep=deep)

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
