"""`Memory` for programs that await: the same calls, each in a thread of its own."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Self, TypeVar

from memlines.memory.memory import Memory
from memlines.types import Report

if TYPE_CHECKING:
    from memlines.memory.facts.facts import Facts

_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")


def _await_call(call: Callable[_Given, _Result]) -> Callable[_Given, Coroutine[Any, Any, _Result]]:
    """Return a call of the same shape that is done in a thread."""

    @wraps(call)
    async def wait(*args: _Given.args, **kwargs: _Given.kwargs) -> _Result:
        return await asyncio.to_thread(call, *args, **kwargs)

    return wait


def _await_method(
    method: Callable[Concatenate[Memory, _Given], _Result],
) -> Callable[Concatenate[AsyncMemory, _Given], Coroutine[Any, Any, _Result]]:
    """Return a method of `AsyncMemory` that does what one of `Memory` does, in a thread."""

    @wraps(method)
    async def wait(self: AsyncMemory, /, *args: _Given.args, **kwargs: _Given.kwargs) -> _Result:
        return await asyncio.to_thread(method, self.memory, *args, **kwargs)

    return wait


class AsyncFacts:
    """The long-term facts of a memory, without blocking the event loop; see `Facts`."""

    def __init__(self, facts: Facts) -> None:
        self.list = _await_call(facts.list)
        self.get = _await_call(facts.get)
        self.recall = _await_call(facts.recall)
        self.candidates = _await_call(facts.candidates)
        self.was_forgotten = _await_call(facts.was_forgotten)
        self.stats = _await_call(facts.stats)
        self.store = _await_call(facts.store)
        self.edit = _await_call(facts.edit)
        self.review = _await_call(facts.review)
        self.forget = _await_call(facts.forget)


class AsyncMemory:
    """The memory in one workspace, without blocking the event loop; its methods are those of `Memory`.

    The functions that you pass are called in the thread that does the work. What only `Memory` has is reached
    through `memory`, the `Memory` that does the work.
    """

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

    close = _await_method(Memory.close)
    sync = _await_method(Memory.sync)
    plan = _await_method(Memory.plan)
    start_session = _await_method(Memory.start_session)
    warm_up = _await_method(Memory.warm_up)
    sync_soon = _await_method(Memory.sync_soon)
    search = _await_method(Memory.search)
    context = _await_method(Memory.context)
    remember = _await_method(Memory.remember)
    remember_all = _await_method(Memory.remember_all)
    recall = _await_method(Memory.recall)
    forget_candidates = _await_method(Memory.forget_candidates)
    forget = _await_method(Memory.forget)
    undo = _await_method(Memory.undo)
    writes = _await_method(Memory.writes)
    history = _await_method(Memory.history)
    log = _await_method(Memory.log)
    read_version = _await_method(Memory.read_version)
    restore_version = _await_method(Memory.restore_version)
    open_note = _await_method(Memory.open_note)
    edit_note = _await_method(Memory.edit_note)
    calendar = _await_method(Memory.calendar)
    map = _await_method(Memory.map)
    read = _await_method(Memory.read)
    verify_cluster = _await_method(Memory.verify_cluster)
    leave_cluster = _await_method(Memory.leave_cluster)
    status = _await_method(Memory.status)
    probe_embedding = _await_method(Memory.probe_embedding)
    probe_vectors = _await_method(Memory.probe_vectors)
    change_model = _await_method(Memory.change_model)
