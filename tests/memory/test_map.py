"""The map of a memory: what is alike is near, what is marked and why, and what it says without vectors."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import numpy as np
import pytest

from memlines import AsyncMemory, MapPoint, Memory, MemoryMap, MemoryOff, StoreDamaged
from memlines.memory import map as mapping
from tests.memories import WORDS_ONLY, fake_memory, words_memory, write
from tests.providers import MeaningsProvider

MEANINGS = {
    "tea": (1.0, 0.0, 0.0, 0.0),
    "boiler": (0.0, 1.0, 0.0, 0.0),
    "green": (0.4, 0.0, 0.3, 0.0),
    "black": (0.4, 0.0, -0.3, 0.0),
    "pump": (0.0, 0.4, 0.3, 0.0),
    "valve": (0.0, 0.4, -0.3, 0.0),
    "saturn": (0.0, 0.0, 0.0, 1.0),
}
NOTES = {
    "one.md": "Green tea is in the blue tin.\n",
    "two.md": "Black tea is in the red tin.\n",
    "three.md": "The boiler has a new pump.\n",
    "four.md": "The boiler lost a valve.\n",
}


def map_of(folder: Path, notes: dict[str, str], **settings: Any) -> MemoryMap:
    with fake_memory(folder, notes, MeaningsProvider(MEANINGS), **settings) as memory:
        memory.sync()
        return memory.map()


def marked(made: MemoryMap, mark: str) -> set[str]:
    return {Path(point.path).name for point in made.points if mark in point.marks}


def distance(one: MapPoint, other: MapPoint) -> float:
    return abs(one.x - other.x) + abs(one.y - other.y)


@pytest.fixture
def memory(workspace: Path) -> Iterator[Memory]:
    with fake_memory(workspace, NOTES, MeaningsProvider(MEANINGS)) as memory:
        memory.sync()
        yield memory


def test_what_is_alike_is_near_each_other(memory: Memory) -> None:
    point = {Path(one.path).stem: one for one in memory.map().points}
    assert point["one"].x == pytest.approx(point["two"].x, abs=0.15)
    assert distance(point["one"], point["three"]) > 0.5
    assert abs(point["one"].x - point["three"].x) > 4 * abs(point["one"].x - point["two"].x)


def test_every_place_is_between_0_and_1(memory: Memory) -> None:
    assert all(0 <= place <= 1 for point in memory.map().points for place in (point.x, point.y))


def test_one_chunk_is_in_the_middle(workspace: Path) -> None:
    (point,) = map_of(workspace, {"one.md": "Tea.\n"}).points
    assert (point.x, point.y, point.marks) == (0.5, 0.5, ())


def test_a_point_says_which_chunk_it_is(workspace: Path) -> None:
    (point,) = map_of(workspace, {"tea.md": "# Tea\n\n- 2026-03-02: Green tea is in the tin.\n"}).points
    said = point.path, point.start_line, point.end_line, point.source, point.topic, point.day
    assert said == ("memory/tea.md", 1, 3, "memory", "tea", "2026-03-02")
    assert point.title == "Tea - 2026-03-02: Green tea is in the tin."


def test_a_daily_log_says_its_day_and_no_topic(workspace: Path) -> None:
    (point,) = map_of(workspace, {"2026-03-01.md": "Tea is out.\n"}).points
    assert (point.day, point.topic) == ("2026-03-01", "")


def test_a_long_text_has_a_title_of_80_characters(workspace: Path) -> None:
    (point,) = map_of(workspace, {"tea.md": "Tea is good for you. " * 9}).points
    assert len(point.title) == 80
    assert point.title.endswith("…")


def test_nearly_the_same_in_two_notes_are_duplicates(workspace: Path) -> None:
    notes = {**NOTES, "again.md": "The tin with green tea is blue.\n"}
    assert marked(map_of(workspace, notes), "duplicate") == {"one.md", "again.md"}


def test_chunks_of_one_note_that_share_no_line_may_be_duplicates(workspace: Path) -> None:
    text = "".join(f"Line {number} is about tea and nothing else.\n" for number in range(60))
    made = map_of(workspace, {"long.md": text}, chunking__tokens=100, chunking__overlap=0)
    assert all("duplicate" in point.marks for point in made.points)


def test_overlapping_chunks_of_one_note_are_not_duplicates(workspace: Path) -> None:
    text = "".join(f"Line {number} is about tea and nothing else.\n" for number in range(12))
    made = map_of(workspace, {"long.md": text}, chunking__tokens=100, chunking__overlap=60)
    assert len(made.points) == 2
    assert not marked(made, "duplicate")


def test_what_is_like_nothing_in_another_file_is_an_orphan(workspace: Path) -> None:
    notes = {**NOTES, "far.md": "Saturn has rings.\n"}
    assert marked(map_of(workspace, notes), "orphan") == {"far.md"}


def test_the_only_note_has_no_orphans(workspace: Path) -> None:
    made = map_of(workspace, {"one.md": "Saturn.\n\n" * 300}, chunking__tokens=50, chunking__overlap=0)
    assert len(made.points) > 1
    assert not marked(made, "orphan")


CONTRADICTING = {
    "tea.md": "# Tea\n\n- 2026-01-05: We use the blue tin for green tea.\n",
    "MEMORY.md": "# Notes\n\n## Tea\n\n- 2026-03-05: We no longer use the blue tin for green tea.\n",
    "three.md": "The boiler has a new pump.\n",
}


def test_notes_that_contradict_each_other_are_marked_once_tidy_found_them(workspace: Path) -> None:
    before = marked(map_of(workspace, CONTRADICTING), "contradiction")
    with words_memory(workspace, {}) as memory:
        memory.tidy.propose()
    assert (before, marked(map_of(workspace, {}), "contradiction")) == (set(), {"tea.md", "MEMORY.md"})


def test_a_contradiction_that_was_declined_is_not_marked(workspace: Path) -> None:
    with words_memory(workspace, CONTRADICTING) as memory:
        memory.tidy.decline(item.id for item in memory.tidy.propose().items)
    assert not marked(map_of(workspace, {}), "contradiction")


def test_without_an_index_it_says_so(workspace: Path) -> None:
    with words_memory(workspace, NOTES) as memory:
        assert memory.map() == MemoryMap(reason="Nothing is indexed yet. Run 'memlines sync'.")


def test_without_a_provider_it_says_so(workspace: Path) -> None:
    with words_memory(workspace, NOTES) as memory:
        memory.sync()
        made = memory.map()
    assert (made.points, made.total_chunks, made.without_vector) == ((), 4, 4)
    assert "embeddings.provider is none" in made.reason


def test_as_long_as_no_chunk_has_a_vector_it_says_so(workspace: Path) -> None:
    provider = MeaningsProvider(MEANINGS)
    provider.failing_documents = True
    with fake_memory(workspace, NOTES, provider) as memory:
        memory.sync()
        assert memory.map().reason == "No chunk has a vector yet. 'memlines sync' makes them."


def test_chunks_without_a_vector_are_counted(workspace: Path) -> None:
    provider = MeaningsProvider(MEANINGS)
    with fake_memory(workspace, NOTES, provider) as memory:
        memory.sync()
        provider.failing_documents = True
        write(workspace, {"five.md": "Rings of Saturn.\n"})
        memory.sync()
        made = memory.map()
    assert (len(made.points), made.total_chunks, made.without_vector) == (4, 5, 1)


def test_the_model_is_named(memory: Memory) -> None:
    assert memory.map().model == "fake (fake-1)"


def test_another_program_makes_the_same_map(memory: Memory, workspace: Path) -> None:
    with fake_memory(workspace, {}, MeaningsProvider(MEANINGS)) as other:
        assert other.map() == memory.map()


def test_the_map_is_kept_until_the_index_changes(memory: Memory, workspace: Path) -> None:
    before = memory.map()
    assert memory.map() is before
    write(workspace, {"five.md": "Rings of Saturn.\n"})
    memory.sync()
    after = memory.map()
    assert len(after.points) == 5
    assert after.made_for != before.made_for


def test_a_rebuilt_index_of_the_same_has_the_same_map(memory: Memory) -> None:
    before = memory.map()
    memory.sync(force=True)
    assert memory.map() == before


def test_sqlite_vec_makes_the_same_map(memory: Memory, tmp_path: Path) -> None:
    pytest.importorskip("sqlite_vec")
    other = map_of(tmp_path / "other", NOTES, store__vector__engine="sqlite-vec")
    assert other.points == memory.map().points


def test_too_many_chunks_show_notes_first_and_say_so(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mapping, "MOST_POINTS", 3)
    made = memory.map()
    assert (len(made.points), made.total_chunks, made.without_vector) == (3, 4, 0)
    assert made.warnings == ("3 of 4 chunks are shown, notes first",)


def test_too_many_comparisons_are_cut_and_it_is_said(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mapping, "_MOST_PRODUCTS", 2 * 2 * 4)
    made = memory.map()
    assert len(made.points) == 4
    assert made.warnings == ("duplicates and orphans were looked for among 2 of 4 chunks",)


def test_vectors_of_two_lengths_are_a_damaged_index(memory: Memory) -> None:
    with memory._manager.opened() as index:
        assert index is not None
        table, file = index.vectors.table, index.path
    memory.close()
    connection = apsw.Connection(str(file))
    connection.execute(f"UPDATE {table} SET embedding = x'7f' WHERE chunk = (SELECT min(chunk) FROM {table})")
    connection.close()
    with pytest.raises(StoreDamaged, match="not of one length"):
        memory.map()


def test_a_memory_that_is_off_has_no_map(workspace: Path) -> None:
    with words_memory(workspace, NOTES, enabled=False) as memory, pytest.raises(MemoryOff):
        memory.map()


def test_it_can_be_awaited(workspace: Path) -> None:
    async def use() -> MemoryMap:
        async with AsyncMemory(workspace, WORDS_ONLY) as memory:
            return await memory.map()

    assert asyncio.run(use()).reason


def test_wide_vectors_are_laid_out_as_narrow_ones() -> None:
    numbers = np.random.default_rng(1).normal(size=(200, 40)) * np.linspace(3, 0.1, 40)
    narrow = numbers.astype(np.float32)
    wide = np.concatenate([narrow, np.zeros((200, 600), np.float32)], axis=1)
    assert np.allclose(mapping.project(narrow), mapping.project(wide), atol=0.01)
