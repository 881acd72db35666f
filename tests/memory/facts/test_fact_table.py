"""The table of an open memory: when it answers, who waits for it, and that no place of it is overlooked."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memlines import Memory, StoreError
from memlines.embed.select import Choice
from memlines.errors import TextsRefused
from memlines.memory.facts import lance, rebuild, table
from memlines.memory.facts.lance import NAME, LanceTable
from memlines.memory.facts.places import (
    Stamp,
    folder_of,
    is_remote,
    make_own_name,
    note_place,
    noted_places,
    uri_of,
)
from memlines.memory.facts.table import FactTable
from memlines.paths import Workspace
from tests.memory.facts.memories import (
    BILLING,
    DEPLOY,
    FACTS,
    SISTER,
    STORES,
    TABS,
    facts_memory,
    names,
    note_of,
)
from tests.providers import FakeProvider

if TYPE_CHECKING:
    from memlines.embed.base import Vectors

pytest.importorskip("lancedb", reason="needs the extra 'facts'")

BUCKET = "s3://bucket/facts"


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lance, "_resting", {})


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The limits that the table was asked with."""
    limits: list[int] = []
    ask = LanceTable.nearest

    def nearest(
        inner: LanceTable, vector: bytes, limit: int, *, current_only: bool = False
    ) -> dict[int, float]:
        limits.append(limit)
        return ask(inner, vector, limit, current_only=current_only)

    monkeypatch.setattr(LanceTable, "nearest", nearest)
    return limits


def holders(*folders: Path, of: bytes = b"Porto") -> list[Path]:
    files = (file for folder in folders for file in folder.rglob("*") if file.is_file())
    return [file for file in files if of in file.read_bytes()]


def synced(folder: Path, **settings: str) -> None:
    with facts_memory(folder, "lancedb", FACTS, **settings) as memory:
        assert not memory.sync().warnings


# Places


@pytest.fixture(params=["away", "to", "off"])
def moved(request: pytest.FixtureRequest, workspace: Path, tmp_path: Path) -> Iterator[Memory]:
    """A memory whose table was written elsewhere before."""
    elsewhere = {"facts__uri": str(tmp_path / "elsewhere")}
    synced(workspace, **(elsewhere if request.param == "away" else {}))
    store = "index" if request.param == "off" else "lancedb"
    with facts_memory(workspace, store, **(elsewhere if request.param == "to" else {})) as memory:
        yield memory


def test_forgetting_reaches_a_table_that_was_written_elsewhere(moved: Memory, tmp_path: Path) -> None:
    assert moved.facts.forget([SISTER]).complete
    moved.close()
    assert holders(tmp_path) == []


def test_a_sync_removes_a_table_that_was_written_elsewhere(moved: Memory, tmp_path: Path) -> None:
    moved.sync()
    tables = [folder for folder in tmp_path.rglob(f"{NAME}.lance") if folder.is_dir()]
    current = [moved.facts.stats().uri] if moved.facts.stats().uri else []
    assert [str(folder.parent) for folder in tables] == current
    assert noted_places(moved.workspace) == [uri for uri in current if ".memory" not in uri]


def test_a_table_inside_a_workspace_that_was_moved_is_forgotten(workspace: Path, tmp_path: Path) -> None:
    synced(workspace, facts__uri="vectors")
    workspace.rename(tmp_path / "other")
    with facts_memory(tmp_path / "other", "index", text="") as memory:
        assert memory.facts.forget([SISTER]).complete
    assert holders(tmp_path) == []


def test_a_table_that_cannot_be_removed_is_named_and_the_rest_forgotten(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(uri: str) -> None:
        raise StoreError(f"{uri} is out of order")

    synced(workspace)
    monkeypatch.setattr(rebuild, "drop", fails)
    with facts_memory(workspace, "lancedb", text="") as memory:
        receipt = memory.facts.forget([SISTER])
    assert any(str(workspace / ".memory/facts") in left for left in receipt.left)
    assert "Porto" not in note_of(workspace).read_text(encoding="utf-8")


def test_a_uri_that_is_none_does_not_prevent_forgetting(workspace: Path) -> None:
    with facts_memory(workspace, "lancedb", facts__uri="ftp://host/x") as memory:
        assert memory.facts.forget([SISTER]).complete
    assert "Porto" not in note_of(workspace).read_text(encoding="utf-8")


def test_without_the_package_a_table_in_a_bucket_is_named(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = Workspace.at(workspace)
    bucket = "s3://user:password@bucket/0123456789ab"
    note_place(home, bucket)
    folder_of(bucket).mkdir(parents=True)
    monkeypatch.setattr(lance, "find_spec", lambda name: None)
    with facts_memory(workspace) as memory:
        receipt = memory.facts.forget([SISTER])
    assert receipt.left == ("the table of the facts in s3://***@bucket/0123456789ab",)


def test_a_bucket_that_only_a_cloned_workspace_names_is_not_asked(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    note_place(Workspace.at(workspace), f"{BUCKET}/0123456789ab")
    monkeypatch.setattr(rebuild, "reach", lambda uri: is_remote(uri) and pytest.fail("it was asked"))
    with facts_memory(workspace) as memory:
        assert not memory.sync().warnings
        assert memory.facts.forget([SISTER]).left == (f"the table of the facts in {BUCKET}/0123456789ab",)


def test_a_cloned_workspace_cannot_name_the_table_of_another_program(workspace: Path, tmp_path: Path) -> None:
    other = tmp_path / "other" / "lancedb"
    (other / f"{NAME}.lance").mkdir(parents=True)
    note_place(Workspace.at(workspace), str(other))
    with facts_memory(workspace) as memory:
        memory.sync()
        assert memory.facts.forget([SISTER]).complete
    assert [*other.iterdir()] == [other / f"{NAME}.lance"]


def test_workspaces_of_the_same_path_on_two_machines_share_no_table(workspace: Path) -> None:
    with facts_memory(workspace, facts__uri=BUCKET) as memory:
        uris = set()
        for _ in range(2):
            make_own_name(memory.workspace)
            uris.add(uri_of(memory.workspace, memory.settings))
            shutil.rmtree(workspace / ".memory")
    assert len(uris) == 2


def test_a_workspace_keeps_its_own_name(workspace: Path, tmp_path: Path) -> None:
    place = str(tmp_path / "shared")
    synced(workspace, facts__uri=place)
    synced(workspace, facts__uri=place)
    assert len([*Path(place).iterdir()]) == 1


# Damage


def test_a_table_that_turns_out_damaged_is_written_again_by_the_next_sync(
    workspace: Path, asked: list[int]
) -> None:
    synced(workspace)
    for file in (workspace / ".memory/facts" / f"{NAME}.lance" / "data").iterdir():
        file.write_bytes(file.read_bytes()[:100])
    with facts_memory(workspace, "lancedb") as memory:
        assert "is damaged" in memory.facts.recall("tabs").warnings[0]
        memory.sync()
        asked.clear()
        assert not memory.facts.recall("tabs").warnings
    assert len(asked) == 1


# What the table lacks

LONG = " ".join(
    f"The {colour} lamp stands in the {room}."
    for colour in ["red", "green", "blue"]
    for room in ["kitchen", "hall", "cellar", "attic", "garden", "garage", "office"]
)


def test_a_fact_in_pieces_is_found_alike_by_both_stores(tmp_path: Path, asked: list[int]) -> None:
    text = FACTS + f"- 2026-11-07 [fact] {LONG} ^gggggggggg\n"
    found = []
    for store in STORES:
        with facts_memory(tmp_path / store, store, text, chunking__tokens=40, chunking__overlap=0) as memory:
            memory.sync()
            recalled = memory.facts.recall("a red lamp in the kitchen", min_score=0).found
            found.append({one.fact.id: one.similarity for one in recalled})
    assert found[0]["gggggggggg"] == pytest.approx(found[1]["gggggggggg"], abs=1e-5)
    assert found[0].keys() == found[1].keys()
    assert len(asked) == 1


class Refusing(FakeProvider):
    """Makes no vector of what is about Porto."""

    refuses = "Porto"

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        if self.refuses and any(self.refuses in text for text in texts):
            raise TextsRefused("a text was refused", todo="Change it")
        return super().embed_documents(texts)


@pytest.fixture
def refusing() -> Refusing:
    return Refusing()


@pytest.fixture
def partly(workspace: Path, refusing: Refusing) -> Iterator[Memory]:
    """A memory with a table that lacks one fact."""
    with facts_memory(workspace, "lancedb") as memory:
        memory._manager.choice = Choice("fake", refusing)
        memory.sync()
        assert memory.facts.stats().rows == 5
        yield memory


def test_a_fact_that_gets_no_vector_does_not_keep_the_table_from_answering(
    partly: Memory, asked: list[int]
) -> None:
    assert names(partly.facts.recall("which database does billing use?", min_score=0))[0] == BILLING
    assert len(asked) == 1


def test_a_fact_that_gets_no_vector_is_found_by_its_words(partly: Memory) -> None:
    assert names(partly.facts.recall("Porto", min_score=0))[:1] == [SISTER]


def test_a_vector_that_came_since_is_compared_beside_the_table(
    partly: Memory, refusing: Refusing, asked: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    refusing.refuses = ""
    monkeypatch.setattr(FactTable, "refresh", lambda table: ())
    partly.sync()
    found = {one.fact.id: one.similarity for one in partly.facts.recall("Ana lives", min_score=0).found}
    assert (found[SISTER] or 0) > 0.3
    assert len(asked) == 1


def test_more_missing_facts_than_can_be_compared_are_left_to_the_index(
    workspace: Path, refusing: Refusing, asked: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rebuild, "_MOST_LACKING", 0)
    with facts_memory(workspace, "lancedb") as memory:
        memory._manager.choice = Choice("fake", refusing)
        memory.sync()
        assert names(memory.facts.recall("deploy window", min_score=0))[:1] == [DEPLOY]
    assert asked == []


# Waiting


def test_nobody_waits_while_the_table_is_opened(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    free: list[bool] = []
    real = rebuild.open_table

    def look() -> None:
        free.append(memory._manager.reading.acquire(blocking=False))
        if free[-1]:
            memory._manager.reading.release()

    def open_table(uri: str) -> tuple[Stamp, LanceTable] | None:
        other = threading.Thread(target=look)
        other.start()
        other.join()
        return real(uri)

    synced(workspace)
    monkeypatch.setattr(table, "open_table", open_table)
    with facts_memory(workspace, "lancedb") as memory:
        memory.facts.recall("tabs")
    assert free == [True]


@pytest.fixture
def never() -> Iterator[threading.Event]:
    """What is waited for while a service hangs; in the end it is set, so that no thread is left."""
    event = threading.Event()
    yield event
    event.set()


def test_a_table_that_hangs_is_waited_for_a_moment_and_then_let_rest(
    workspace: Path, never: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced(workspace)
    monkeypatch.setattr(lance, "is_remote", lambda uri: True)
    monkeypatch.setattr(table, "_PATIENCE", 0.01)
    with facts_memory(workspace, "lancedb") as memory:
        memory._manager.fact_table._open(memory.facts.stats().uri)
        monkeypatch.setattr(LanceTable, "nearest", lambda *_, **__: never.wait())
        recalled = [memory.facts.recall("how do we indent code?") for _ in range(2)]
    assert [names(one) for one in recalled] == [[TABS], [TABS]]
    assert all("cannot be reached" in one.warnings[0] for one in recalled)


def test_closing_does_not_wait_for_a_service_that_hangs(
    workspace: Path, never: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    began = threading.Event()

    def hangs(*_: object, **__: object) -> None:
        began.set()
        never.wait()

    monkeypatch.setattr(table, "rebuild", hangs)
    monkeypatch.setattr(table, "_LAST_CALL", 0.01)
    with facts_memory(workspace, "lancedb", facts__uri=BUCKET) as memory:
        healer = threading.Thread(target=memory.sync)
        healer.start()
        assert began.wait(30)
        memory.close()
        healer.join(30)
        assert not healer.is_alive()
    assert not never.is_set()
