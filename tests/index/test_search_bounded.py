"""A search indexes for so long and no longer; what is left is said, and done afterwards."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from memlines import Memory
from memlines.index.sync import pending, words
from memlines.memory import manager
from memlines.serve.tools import call_tool
from tests.memories import fake_memory, words_memory, write
from tests.programs import program
from tests.providers import MeaningsProvider
from tests.waiting import background_threads, eventually

if TYPE_CHECKING:
    from memlines.embed.base import Vectors

BIG = {"big.md": "".join(f"# Part {number}\n\nThe okapi of number {number}.\n\n" for number in range(400))}
MANY = {f"n{number}.md": f"The okapi of number {number}.\n" for number in range(40)}
FINE = {"chunking__tokens": 32, "chunking__overlap": 0}


class Clock:
    """A clock that stands still unless work is done, in the place of `time` where there are deadlines."""

    def __init__(self) -> None:
        self.now = time.monotonic()

    def monotonic(self) -> float:
        return self.now


class Slow(MeaningsProvider):
    """Takes a tenth of a second a text by the clock, and counts its texts."""

    def __init__(self, clock: Clock) -> None:
        super().__init__({})
        self.clock = clock
        self.texts = 0

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        self.clock.now += 0.1 * len(texts)
        self.texts += len(texts)
        return super().embed_documents(texts)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock that deadlines are counted by."""
    clock = Clock()
    for module in (pending, words, manager):
        monkeypatch.setattr(module, "time", clock)
    monkeypatch.setattr("memlines.index.sync.job.time", clock)
    monkeypatch.setattr(manager, "_AFTER_FIRST_SEARCH", 3600.0)
    return clock


def slow_reading(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> list[str]:
    """Let reading a file take half a second by the clock; return the list of files read."""
    read: list[str] = []
    real = words.read_file

    def read_file(file: Any, *rest: Any) -> Any:
        clock.now += 0.5
        read.append(file.path)
        return real(file, *rest)

    monkeypatch.setattr(words, "read_file", read_file)
    return read


def test_the_first_search_of_a_large_note_embeds_for_two_seconds(workspace: Path, clock: Clock) -> None:
    provider = Slow(clock)
    began = clock.now
    with fake_memory(workspace, BIG, provider, **FINE) as memory:
        result = memory.search("okapi", min_score=0)
    assert len(result) > 0
    assert clock.now - began < 2.5
    assert 0 < provider.texts == result.chunks - result.pending < result.chunks
    assert f"Still indexing: {provider.texts} of {result.chunks} passages have vectors" in result.unfinished


def test_the_bound_is_a_setting(workspace: Path, clock: Clock) -> None:
    provider = Slow(clock)
    with fake_memory(workspace, BIG, provider, sync__search_seconds=10, **FINE) as memory:
        memory.search("okapi")
    assert 50 < provider.texts <= 110


def test_the_next_search_of_another_program_goes_on_within_its_own_bound(
    workspace: Path, clock: Clock
) -> None:
    provider, made = Slow(clock), [0]
    while len(made) < 4:
        with fake_memory(workspace, BIG, provider, **FINE) as memory:
            memory.search("okapi")
        made.append(provider.texts)
    assert all(0 < after - before <= 25 for before, after in pairwise(made))


def test_what_the_first_search_left_is_done_in_the_background(
    workspace: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(manager, "_AFTER_FIRST_SEARCH", 0.05)
    with fake_memory(workspace, BIG, Slow(clock), **FINE) as memory:
        assert memory.search("okapi").pending > 0
        eventually(lambda: memory.status().pending == 0)


def test_a_program_that_asks_once_and_closes_leaves_no_thread(workspace: Path, clock: Clock) -> None:
    provider = Slow(clock)
    with fake_memory(workspace, BIG, provider, **FINE) as memory:
        memory.search("okapi")
        texts = provider.texts
    assert (background_threads(), provider.texts) == ([], texts)


def test_without_time_for_any_vector_words_answer_and_nothing_is_asked(
    workspace: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider = Slow(clock)
    slow_reading(monkeypatch, clock)
    with fake_memory(workspace, MANY, provider) as memory:
        result = memory.search("okapi", min_score=0)
    assert (result.mode, provider.texts, provider.queries) == ("words", 0, [])
    assert result.unfinished == (
        "Still indexing: 36 files are not indexed yet; 0 of 4 passages have vectors; searched by words."
        " The next search goes on; 'memlines sync' finishes it."
    )


def test_reading_files_is_bounded_and_what_was_read_is_kept(
    workspace: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = slow_reading(monkeypatch, clock)
    write(workspace, MANY)
    left = []
    for _ in range(3):
        with words_memory(workspace, {}) as memory:
            result = memory.search("okapi", min_score=0, max_results=50)
        left.append(result.unindexed)
    assert left == [36, 32, 28]
    assert len(read) == len(set(read)) == 12


def test_files_that_are_left_keep_others_from_being_taken_for_gone(
    workspace: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    with words_memory(workspace, {"old.md": "The okapi of before.\n"}) as memory:
        memory.sync()
    (workspace / "memory/old.md").rename(workspace / "memory/z.md")
    slow_reading(monkeypatch, clock)
    with words_memory(workspace, MANY) as memory:
        assert "memory/old.md" in [hit.path for hit in memory.search("before")]
    monkeypatch.undo()
    with words_memory(workspace, {}) as memory:
        assert [hit.path for hit in memory.search("before")] == ["memory/z.md"]


def test_in_a_memory_that_lives_on_the_background_reads_the_rest(
    workspace: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(manager, "_AFTER_FIRST_SEARCH", 0.05)
    slow_reading(monkeypatch, clock)
    with fake_memory(workspace, MANY, Slow(clock)) as memory:
        assert memory.search("okapi").unindexed == 36
        eventually(lambda: not background_threads())
        result = memory.search("okapi")
        assert (result.unindexed, result.chunks, result.pending, result.unfinished) == (0, 40, 0, "")


def test_settings_that_take_too_long_to_follow_leave_the_old_index(
    workspace: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    with words_memory(workspace, MANY) as memory:
        memory.sync()
    slow_reading(monkeypatch, clock)
    with words_memory(workspace, {}, chunking__tokens=100) as memory:
        result = memory.search("okapi", max_results=50, min_score=0)
        assert (result.chunks, result.unindexed) == (40, 36)
        assert "'memlines sync' rebuilds the index: chunk tokens was 400" in result.warnings[0]


def test_later_searches_embed_nothing(workspace: Path, clock: Clock) -> None:
    provider = Slow(clock)
    with fake_memory(workspace, {"a.md": "The heron.\n"}, provider) as memory:
        memory.search("heron")
        texts = provider.texts
        write(workspace, BIG)
        memory.search("okapi")
        memory.close()
    assert provider.texts == texts


def test_the_command_and_the_tool_say_it_in_one_line(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(workspace, BIG)
    monkeypatch.setenv("MEMLINES_SYNC__SEARCH_SECONDS", "0.1")
    monkeypatch.setenv("MEMLINES_CHUNKING__TOKENS", "32")
    monkeypatch.setenv("MEMLINES_CHUNKING__OVERLAP", "0")
    done = program("search", "-w", workspace, "okapi", env={"MEMLINES_EMBEDDINGS__PROVIDER": None})
    assert b"Still indexing: " in done.stderr
    with Memory(workspace) as memory:
        told = call_tool(memory, "memory_search", {"query": "okapi"}, None)
    assert "\nNote: Still indexing: " in told.text
    assert told.to_json()["data"]["pending"] > 0
