"""`Memory` for programs that await: the same calls, each in a thread of its own."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from datetime import datetime
from types import TracebackType
from typing import Any, Self

from recollect.memory import Memory
from recollect.types import Excerpt, Mode, Report, SearchResult, Source, Status


class AsyncMemory:
    """The memory in one workspace, without blocking the event loop."""

    def __init__(
        self, workspace: str | os.PathLike[str] = ".", settings: Mapping[str, Any] | None = None
    ) -> None:
        """Open the memory in a folder; see `Memory`."""
        self.memory = Memory(workspace, settings)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Let go of the index."""
        await asyncio.to_thread(self.memory.close)

    async def sync(self, *, force: bool = False) -> Report:
        """Make the index equal the files; `force` builds it anew."""
        return await asyncio.to_thread(self.memory.sync, force=force)

    async def search(
        self,
        query: str,
        *,
        max_results: int | None = None,
        min_score: float | None = None,
        mode: Mode = "hybrid",
        sources: Sequence[Source] | None = None,
        now: datetime | None = None,
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
        )

    async def read(
        self, path: str, start: int | None = None, lines: int | None = None, column: int | None = None
    ) -> Excerpt:
        """Return lines of a note; a note that does not exist has none."""
        return await asyncio.to_thread(self.memory.read, path, start, lines, column)

    async def status(self) -> Status:
        """Return the state of the memory, without changing anything."""
        return await asyncio.to_thread(self.memory.status)
