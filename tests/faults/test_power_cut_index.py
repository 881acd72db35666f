"""After a power cut at any moment the index is whole, or empty, and the next sync heals it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from memlines.index.store.sqlite.db import PAGE_BYTES
from memlines.memory.memory import Memory
from tests.faults.conftest import Tell
from tests.faults.power_index import Call, Recording
from tests.faults.scale import chance_of, facts_on_failure, scaled
from tests.faults.support import entry, remember
from tests.indexes import (
    assert_sound,
    expected,
    hashes,
    index_file,
    indexed,
    notes,
    write,
)

pytestmark = [
    pytest.mark.promise("P3", "P4"),
    pytest.mark.usefixtures("each_provider", "copied_indexes"),
]

STATES = scaled(75, 10_000)
SEED = 31


def bring_up_to_date(workspace: Path, *, force: bool) -> None:
    with Memory(workspace) as memory:
        memory.sync(force=force)


def test_an_index_survives_a_power_cut_at_any_moment(workspace: Path, tell: Tell, provider: str) -> None:
    recording = Recording()
    with recording.running():
        for turn in range(6):
            write(workspace, {f"memory/n{turn}.md": notes(6)[f"memory/n{turn}.md"] * (turn + 1)})
            remember(workspace, "memory/day.md", entry(f"turn-{turn}"))
            bring_up_to_date(workspace, force=turn in (2, 5))
            if turn == 3:
                (workspace / "memory/n0.md").unlink()
    before, chunks = hashes(workspace), expected(workspace)
    empty, aside = 0, 0
    for number in range(STATES):
        with facts_on_failure(seed=SEED, number=number):
            shutil.rmtree(workspace / ".memory")
            (workspace / ".memory").mkdir()
            for name, content in recording.state(chance_of(SEED, number)).items():
                (workspace / ".memory" / name).write_bytes(content)
            empty += not index_file(workspace).exists()
            aside += check_state(workspace, chunks)
            assert hashes(workspace) == before
    tell(
        f"power cuts, index, provider {provider}: {STATES} states of"
        f" {len(recording.calls)} calls, {empty} of them without an index, {aside} set aside and built anew"
    )


def check_state(workspace: Path, chunks: dict[str, list[tuple[int, int, str]]]) -> bool:
    """Searches are answered from whatever is there, and a sync completes it; tell whether it began anew."""
    warnings: list[str] = []
    with Memory(workspace) as memory:
        found = memory.search("own4")
        assert [hit.path for hit in found] == ["memory/n4.md"]
        warnings += found.warnings
        warnings += memory.sync().warnings
    assert indexed(workspace) == chunks
    assert_sound(index_file(workspace))
    return any("set aside" in warning for warning in warnings)


def journal_of(workspace: Path) -> Path:
    return workspace / ".memory/index.sqlite-journal"


def replay(calls: list[Call], folder: Path) -> None:
    """Do what was recorded, in a folder that holds nothing yet."""
    for call in calls:
        path = folder / call.file
        if call.name == "delete":
            path.unlink()
        elif call.name == "write":
            path.touch()
            with path.open("r+b") as stream:
                stream.seek(call.place)
                stream.write(call.data)


def test_a_search_goes_on_where_the_very_first_writer_was_cut_off(workspace: Path) -> None:
    write(workspace, notes(3))
    recording = Recording()
    with recording.running():
        bring_up_to_date(workspace, force=False)
    shutil.rmtree(workspace / ".memory")
    (workspace / ".memory").mkdir()
    first_delete = [call.name for call in recording.calls].index("delete")
    replay(recording.calls[:first_delete], workspace / ".memory")
    with Memory(workspace) as memory:
        assert [hit.path for hit in memory.search("own1", mode="words")] == ["memory/n1.md"]


def test_an_index_elsewhere_survives_a_cut_in_its_first_checkpoint(workspace: Path, tmp_path: Path) -> None:
    write(workspace, notes(3))
    place = tmp_path / "elsewhere" / "index.sqlite"
    recording = Recording()
    with recording.running(), Memory(workspace, {"store.path": str(place)}) as memory:
        memory.sync()
    calls = recording.calls
    in_main = [number for number, call in enumerate(calls) if (call.name, call.file) == ("write", place.name)]
    second_page = next(number for number in in_main if calls[number].place == PAGE_BYTES)
    header = max(number for number in in_main if number < second_page)
    assert calls[header].place == 0
    shutil.rmtree(place.parent)
    place.parent.mkdir()
    replay([*calls[:header], calls[second_page]], place.parent)
    with Memory(workspace, {"store.path": str(place)}) as memory:
        memory.sync()
        assert [hit.path for hit in memory.search("own1")] == ["memory/n1.md"]
