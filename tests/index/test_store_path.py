"""`store.path` may name anything by mistake: nothing that is not ours is moved."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from memlines.errors import SettingsError, StoreError
from memlines.index.store.sqlite.db import PAGE_BYTES
from memlines.memory.memory import Memory
from tests.indexes import hashes, write

pytestmark = pytest.mark.promise("P4")


@pytest.mark.parametrize("name", ["memory", "memory/a.md", "../note.md", ".", ".."])
def test_a_place_of_notes_is_refused_as_an_index(workspace: Path, name: str) -> None:
    with pytest.raises(SettingsError, match="names a place of notes"):
        Memory(workspace, {"store.path": name, "embeddings.provider": "none"})


@pytest.mark.parametrize("kind", ["folder", "text", "database"])
def test_what_is_not_ours_is_left_alone(workspace: Path, tmp_path: Path, kind: str) -> None:
    other = tmp_path / "other"
    if kind == "folder":
        other.mkdir()
        (other / "precious").write_text("x", encoding="utf-8")
    elif kind == "text":
        other.write_text("precious", encoding="utf-8")
    else:
        apsw.Connection(str(other)).execute("CREATE TABLE precious(x); INSERT INTO precious VALUES(1)")
    write(workspace, {"memory/a.md": "the zebra crosses"})
    before = hashes(tmp_path / "other") if kind == "folder" else other.read_bytes()
    with Memory(workspace, {"store.path": str(other), "embeddings.provider": "none"}) as memory:
        for call in (memory.sync, lambda: memory.search("zebra")):
            with pytest.raises(StoreError, match="left alone"):
                call()
    assert (hashes(tmp_path / "other") if kind == "folder" else other.read_bytes()) == before


def test_a_damaged_index_of_ours_elsewhere_is_set_aside(workspace: Path, tmp_path: Path) -> None:
    write(workspace, {"memory/a.md": "the zebra crosses"})
    settings = {"store.path": str(tmp_path / "elsewhere.sqlite"), "embeddings.provider": "none"}
    with Memory(workspace, settings) as memory:
        memory.sync()
    with (tmp_path / "elsewhere.sqlite").open("r+b") as stream:
        stream.seek(PAGE_BYTES)
        stream.write(b"\xa5" * 100_000)
    with Memory(workspace, settings) as memory:
        assert [hit.path for hit in memory.search("zebra")] == ["memory/a.md"]
