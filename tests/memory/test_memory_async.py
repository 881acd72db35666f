"""`AsyncMemory` has the shape of `Memory` and does not block the event loop."""

from __future__ import annotations

import asyncio
import inspect
import threading
from pathlib import Path

import pytest

from memlines import AsyncMemory, Memory
from tests.memories import WORDS_ONLY, write
from tests.waiting import eventually, is_equal

NOTES = {"a.md": "The kestrel lives here.\n", "b.md": "Something else.\n"}


def test_every_call_of_memory_can_be_awaited(workspace: Path) -> None:
    write(workspace, NOTES)

    async def use() -> tuple[object, ...]:
        async with AsyncMemory(workspace, WORDS_ONLY) as memory:
            report = await memory.sync()
            forced = await memory.sync(force=True)
            result = await memory.search("kestrel", max_results=1, min_score=0.1, mode="words")
            excerpt = await memory.read("memory/a.md", 1, 1)
            status = await memory.status()
        return len(report.indexed), forced.rebuilt, result[0].path, excerpt.text, status.files

    assert asyncio.run(use()) == (2, "forced", "memory/a.md", "The kestrel lives here.", 2)


def test_facts_can_be_awaited(workspace: Path) -> None:
    async def use() -> list[str]:
        async with AsyncMemory(workspace, WORDS_ONLY) as memory:
            await memory.facts.store("Prefers tabs over spaces")
            return [found.fact.text for found in (await memory.facts.recall("tabs or spaces")).found]

    assert asyncio.run(use()) == ["Prefers tabs over spaces"]


def test_leaving_the_block_closes_the_index(workspace: Path) -> None:
    write(workspace, NOTES)

    async def use() -> AsyncMemory:
        async with AsyncMemory(workspace, WORDS_ONLY) as memory:
            await memory.search("kestrel")
        return memory

    assert asyncio.run(use()).memory._manager._reader is None


def test_a_session_can_be_started(workspace: Path) -> None:
    write(workspace, NOTES)

    async def use() -> None:
        async with AsyncMemory(workspace, WORDS_ONLY) as memory:
            await memory.start_session("one")
            await asyncio.to_thread(eventually, lambda: is_equal(workspace))

    asyncio.run(use())


def test_a_watch_follows_the_files_until_it_is_stopped(workspace: Path) -> None:
    async def use() -> None:
        stop = threading.Event()
        async with AsyncMemory(workspace, {**WORDS_ONLY, "sync.watch_debounce_ms": 20}) as memory:
            watch = asyncio.create_task(memory.watch(stop))
            await asyncio.to_thread(eventually, lambda: is_equal(workspace))
            write(workspace, NOTES)
            await asyncio.to_thread(eventually, lambda: is_equal(workspace))
            stop.set()
            await watch

    asyncio.run(use())


def test_a_watch_that_is_cancelled_ends(workspace: Path) -> None:
    async def use() -> bool:
        stop = threading.Event()
        async with AsyncMemory(workspace, WORDS_ONLY) as memory:
            watch = asyncio.create_task(memory.watch(stop))
            await asyncio.to_thread(eventually, lambda: is_equal(workspace))
            watch.cancel()
            await asyncio.wait({watch})
        return stop.is_set()

    assert asyncio.run(use())


def test_several_searches_at_once(workspace: Path) -> None:
    write(workspace, NOTES)

    async def use() -> list[str]:
        async with AsyncMemory(workspace, WORDS_ONLY) as memory:
            results = await asyncio.gather(*(memory.search("kestrel") for _ in range(8)))
        return [result[0].path for result in results]

    assert asyncio.run(use()) == ["memory/a.md"] * 8


def test_the_event_loop_goes_on_while_a_search_waits(workspace: Path) -> None:
    write(workspace, NOTES)

    async def use() -> bool:
        async with AsyncMemory(workspace, WORDS_ONLY) as memory:
            memory.memory._manager.reading.acquire()  # a search now waits for this
            try:
                search = asyncio.create_task(memory.search("kestrel"))
                done, _ = await asyncio.wait({search}, timeout=0.05)
            finally:
                memory.memory._manager.reading.release()
            await search
        return not done

    assert asyncio.run(use())


@pytest.mark.parametrize(
    "name",
    ["sync", "start_session", "watch", "search", "read", "remember_all", "leave_cluster", "status", "close"],
)
def test_the_calls_have_the_same_arguments(name: str) -> None:
    plain = inspect.signature(getattr(Memory, name)).parameters
    awaited = inspect.signature(getattr(AsyncMemory, name)).parameters
    assert {key for key in plain if key != "progress"} == {key for key in awaited if key != "progress"}
