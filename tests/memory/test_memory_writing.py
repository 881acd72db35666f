"""Writing through `Memory`: on disk and found when it returns, gone for good when forgotten."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from memlines import AsyncMemory, Memory, SettingsError, UsageError
from memlines.files.tombstones import Forgotten
from memlines.paths import Workspace
from tests.memories import WORDS_ONLY, words_memory

NOTES = {"a.md": "The heron waits.\n"}
SAID = "The kestrel nests in the old church tower"


def test_what_is_remembered_is_found_at_once(workspace: Path) -> None:
    with words_memory(workspace, NOTES) as memory:
        memory.search("heron")
        remembered = memory.remember(SAID)
        hit = memory.search("kestrel")[0]
    assert hit.path == remembered.path
    assert hit.start_line <= remembered.start_line <= hit.end_line


def test_what_is_remembered_is_found_although_a_look_at_the_files_rests(workspace: Path) -> None:
    with words_memory(workspace, NOTES) as memory:
        memory.search("heron")
        memory._manager._rest_until = time.monotonic() + 1_000
        memory.remember(SAID)
        assert len(memory.search("kestrel")) == 1


def test_another_program_finds_it_too(workspace: Path) -> None:
    with words_memory(workspace, NOTES) as one, Memory(workspace, WORDS_ONLY) as other:
        other.search("heron")
        one.remember(SAID)
        assert len(other.search("kestrel")) == 1


def test_what_is_known_is_not_written_twice(workspace: Path) -> None:
    with words_memory(workspace, NOTES) as memory:
        first = memory.remember(SAID)
        before = (workspace / first.path).read_bytes()
        second = memory.remember(SAID.upper())
    assert second.duplicate is not None
    assert (workspace / first.path).read_bytes() == before


def test_what_is_known_in_another_note_is_reported(workspace: Path) -> None:
    with words_memory(workspace, {"birds.md": f"# Birds\n\n- {SAID}\n"}) as memory:
        assert memory.remember(SAID).citation == "memory/birds.md#L3"


def test_what_is_forgotten_is_not_found_again(workspace: Path) -> None:
    with words_memory(workspace, NOTES) as memory:
        memory.remember(SAID)
        memory.search("kestrel")
        receipt = memory.forget(memory.forget_candidates("kestrel"))
        assert len(memory.search("kestrel", min_score=0)) == 0
    assert receipt.complete
    everything = b"".join(path.read_bytes() for path in workspace.rglob("*") if path.is_file())
    assert b"church tower" not in everything


def test_what_was_forgotten_can_be_remembered_again(workspace: Path) -> None:
    with words_memory(workspace, NOTES) as memory:
        memory.remember(SAID)
        memory.forget(memory.forget_candidates("kestrel"))
        memory.remember(SAID)
        assert len(memory.search("kestrel")) == 1
    assert not Forgotten.load(Workspace.at(workspace)).drops(SAID)


def test_recall_shows_what_was_remembered_last(workspace: Path) -> None:
    with words_memory(workspace, NOTES) as memory:
        memory.remember(SAID)
        memory.remember("The owl sleeps all day long")
        assert "owl" in memory.recall()[0].text


@pytest.mark.parametrize("text", [None, 5, b"bytes"])
def test_only_text_can_be_remembered(workspace: Path, text: object) -> None:
    with words_memory(workspace, NOTES) as memory, pytest.raises(UsageError, match="text is"):
        memory.remember(text)  # type: ignore[arg-type]


def test_a_memory_that_is_off_writes_nothing(workspace: Path) -> None:
    with words_memory(workspace, NOTES, enabled=False) as memory, pytest.raises(SettingsError):
        memory.remember(SAID)
    assert [path.name for path in (workspace / "memory").iterdir()] == ["a.md"]


def test_the_same_without_blocking(workspace: Path) -> None:
    async def talk() -> tuple[int, bool, int]:
        async with AsyncMemory(workspace, WORDS_ONLY) as memory:
            await memory.remember(SAID)
            recalled = await memory.recall()
            chosen = await memory.forget_candidates("kestrel")
            receipt = await memory.forget(chosen)
            return len(recalled), receipt.complete, len(await memory.search("kestrel", min_score=0))

    assert asyncio.run(talk()) == (1, True, 0)
