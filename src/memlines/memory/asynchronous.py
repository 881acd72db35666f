"""`Memory` for programs that await: the same calls, each in a thread of its own."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, ParamSpec, Self, TypeVar

from memlines.embed.select import Probe
from memlines.memory.memory import Memory
from memlines.memory.status import Status
from memlines.types import CONTEXT_TOKENS, Excerpt, Mode, Report, SearchResult, Source, Space

if TYPE_CHECKING:
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


_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")


def _awaited(call: Callable[_Given, _Result]) -> Callable[_Given, Awaitable[_Result]]:
    """Return a call of the same shape that is done in a thread."""

    async def wait(*args: _Given.args, **kwargs: _Given.kwargs) -> _Result:
        return await asyncio.to_thread(call, *args, **kwargs)

    return wait


class AsyncFacts:
    """The long-term facts of a memory, without blocking the event loop; see `Facts`."""

    def __init__(self, facts: Facts) -> None:
        self.list = _awaited(facts.list)
        self.get = _awaited(facts.get)
        self.recall = _awaited(facts.recall)
        self.candidates = _awaited(facts.candidates)
        self.was_forgotten = _awaited(facts.was_forgotten)
        self.stats = _awaited(facts.stats)
        self.store = _awaited(facts.store)
        self.edit = _awaited(facts.edit)
        self.review = _awaited(facts.review)
        self.forget = _awaited(facts.forget)


class AsyncMemory:
    """The memory in one workspace, without blocking the event loop."""

    def __init__(
        self, workspace: str | os.PathLike[str] | None = None, settings: Mapping[str, Any] | None = None
    ) -> None:
        """Open the memory in a folder; see `Memory`."""
        self.memory = Memory(workspace, settings)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    @property
    def facts(self) -> AsyncFacts:
        """The long-term facts."""
        return AsyncFacts(self.memory.facts)

    async def close(self) -> None:
        """Close the index."""
        await asyncio.to_thread(self.memory.close)

    async def sync(self, *, force: bool = False) -> Report:
        """Make the index equal the files; `force` rebuilds it."""
        return await asyncio.to_thread(self.memory.sync, force=force)

    async def start_session(self, key: str | None = None) -> None:
        """Begin a session: sync in the background, once for each key."""
        await asyncio.to_thread(self.memory.start_session, key)

    async def warm_up(self) -> None:
        """Load what the first search needs, as far as it is on this machine."""
        await asyncio.to_thread(self.memory.warm_up)

    async def sync_soon(self) -> None:
        """Have the index made equal to the files in the background."""
        await asyncio.to_thread(self.memory.sync_soon)

    async def watch(
        self,
        stop: threading.Event,
        *,
        on_sync: Callable[[Report], None] | None = None,
        on_notice: Callable[[str], None] | None = None,
    ) -> None:
        """Keep the index equal to the files until `stop` is set; both callables are called in a thread.

        A task that is cancelled sets `stop` itself.
        """
        try:
            await asyncio.to_thread(self.memory.watch, stop, on_sync=on_sync, on_notice=on_notice)
        except asyncio.CancelledError:
            stop.set()
            raise

    async def search(
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
    ) -> SearchResult:
        """Return the lines that answer a query, best first; none is an honest answer."""
        return await asyncio.to_thread(
            self.memory.search,
            query,
            max_results=max_results,
            min_score=min_score,
            mode=mode,
            sources=sources,
            now=now,
            full=full,
            strict=strict,
        )

    async def context(self, message: str, *, max_tokens: int = CONTEXT_TOKENS) -> str:
        """Return what the memory holds about a message, quoted for the model that answers it."""
        return await asyncio.to_thread(self.memory.context, message, max_tokens=max_tokens)

    async def remember(
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
        """Write a text into the notes and return where it is; it is on disk when this returns."""
        return await asyncio.to_thread(
            self.memory.remember,
            text,
            topic=topic,
            session=session,
            to=to,
            force=force,
            allow_secret=allow_secret,
            now=now,
        )

    async def remember_all(
        self, said: Sequence[tuple[str, datetime]], *, session: str | None = None
    ) -> list[Remembered | None]:
        """Write texts into the logs of the days they were said on, and return where each is."""
        return await asyncio.to_thread(self.memory.remember_all, said, session=session)

    async def recall(
        self,
        query: str | None = None,
        *,
        recent: bool = False,
        decisions: bool = False,
        topic: str | None = None,
        limit: int = 10,
        now: datetime | None = None,
    ) -> tuple[Recalled, ...]:
        """Return entries: recent ones, decisions, those of a topic, or those that answer a query."""
        return await asyncio.to_thread(
            self.memory.recall,
            query,
            recent=recent,
            decisions=decisions,
            topic=topic,
            limit=limit,
            now=now,
        )

    async def forget_candidates(
        self, selector: str = "", *, session: str | None = None
    ) -> tuple[Candidate, ...]:
        """Return the entries that a citation, a path, a query or a session points at."""
        return await asyncio.to_thread(self.memory.forget_candidates, selector, session=session)

    async def forget(self, chosen: Iterable[Candidate]) -> Receipt:
        """Remove entries for good, from the notes and everything derived from them; say what went."""
        return await asyncio.to_thread(self.memory.forget, chosen)

    async def undo(self, *, redo: bool = False, dry_run: bool = False) -> Undone:
        """Undo what was last written into the notes; with `redo`, bring it back."""
        return await asyncio.to_thread(self.memory.undo, redo=redo, dry_run=dry_run)

    async def writes(self) -> tuple[Operation, ...]:
        """Return what `undo` would undo one after the other, the next one first."""
        return await asyncio.to_thread(self.memory.writes)

    async def history(self, path: str) -> tuple[Version, ...]:
        """Return the earlier versions of a note, the newest first."""
        return await asyncio.to_thread(self.memory.history, path)

    async def read_version(self, path: str, version: str) -> str:
        """Return what a version of a note says."""
        return await asyncio.to_thread(self.memory.read_version, path, version)

    async def restore_version(
        self, path: str, version: str, *, with_forgotten: bool = False, dry_run: bool = False
    ) -> RestoredVersion:
        """Make a note what it was in a version; what it holds now becomes a version itself."""
        return await asyncio.to_thread(
            self.memory.restore_version, path, version, with_forgotten=with_forgotten, dry_run=dry_run
        )

    async def read(
        self,
        path: str,
        start: int | None = None,
        lines: int | None = None,
        column: int | None = None,
        *,
        private: bool = True,
    ) -> Excerpt:
        """Return lines of a note; a note that does not exist has none."""
        return await asyncio.to_thread(self.memory.read, path, start, lines, column, private=private)

    async def status(self, *, deep: bool = False) -> Status:
        """Return the state of the memory; `deep` also asks the provider for one vector."""
        return await asyncio.to_thread(self.memory.status, deep=deep)

    async def probe_embedding(self) -> Probe:
        """Tell whether the provider that the settings ask for makes vectors; it may be sent one word."""
        return await asyncio.to_thread(self.memory.probe_embedding)

    async def probe_vectors(self) -> Probe:
        """Tell whether vectors can be searched, by the engine that the settings ask for."""
        return await asyncio.to_thread(self.memory.probe_vectors)

    async def plan(self) -> Plan:
        """Return what a sync would do and cost, without doing any of it."""
        return await asyncio.to_thread(self.memory.plan)

    async def cancel_model(self) -> Space:
        """Stop a change of model that is under way, and return the space that was given up."""
        return await asyncio.to_thread(self.memory.cancel_model)

    async def roll_back_model(self) -> Space:
        """Go back to the vectors of the model before, and return their space."""
        return await asyncio.to_thread(self.memory.roll_back_model)

    async def renew_model(self) -> Space:
        """Drop all vectors of the model, for the next sync to make again; return their space."""
        return await asyncio.to_thread(self.memory.renew_model)

    async def resume_model(self) -> Space:
        """Ask for the model of the settings again after its change was stopped; return its space."""
        return await asyncio.to_thread(self.memory.resume_model)
