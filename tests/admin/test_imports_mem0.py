"""Memories of mem0 become dated entries, once each."""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlines import Memory
from memlines.admin.imports import json_export as opening
from memlines.admin.imports import memories
from memlines.admin.imports.memories import ImportedMemories, import_mem0, memory_of
from memlines.errors import PathError
from memlines.files.tombstones import bury
from memlines.paths import Workspace
from memlines.settings import load
from tests.admin.backups import tree
from tests.indexes import silent
from tests.memories import WORDS_ONLY

NOTE = "memory/imported/mem0.md"
TEA: dict[str, Any] = {
    "id": "a1",
    "memory": "Prefers tea over coffee",
    "user_id": "ada",
    "categories": ["food", "likes & dislikes"],
    "created_at": "2025-03-01T10:00:00-07:00",
    "updated_at": "2025-04-01T10:00:00-07:00",
    "metadata": None,
}
GHENT: dict[str, Any] = {"id": "b2", "text": "Lives in Ghent", "created_at": "2024-12-31T12:00:00Z"}


@pytest.fixture
def export(tmp_path: Path) -> Path:
    return written(tmp_path / "mem0.json", [TEA, GHENT])


def written(file: Path, content: Any) -> Path:
    file.write_text(json.dumps(content), encoding="utf-8")
    return file


def bring_in(folder: Path, file: Path, *, dry_run: bool = False) -> ImportedMemories:
    workspace = Workspace.at(folder)
    settings = load(workspace, {"timezone": "UTC"}).settings
    return import_mem0(workspace, settings, file, dry_run=dry_run, progress=silent)


def note(folder: Path) -> str:
    return (folder / NOTE).read_text(encoding="utf-8")


def lines(folder: Path) -> list[str]:
    return [line for line in note(folder).splitlines() if line.startswith("- ")]


def test_each_memory_is_a_dated_entry_with_its_origin_the_oldest_first(workspace: Path, export: Path) -> None:
    bring_in(workspace, export)
    first, second = lines(workspace)
    assert first.startswith("- 2024-12-31: Lives in Ghent [mem0 ")
    assert second.startswith("- 2025-03-01: Prefers tea over coffee #food #likes-dislikes [mem0 ")


@pytest.mark.parametrize("key", ["results", "memories"])
def test_a_list_below_a_key_is_taken_too(workspace: Path, tmp_path: Path, key: str) -> None:
    bring_in(workspace, written(tmp_path / "x.json", {"count": 2, key: [TEA, GHENT]}))
    assert len(lines(workspace)) == 2


def test_a_memory_is_found(workspace: Path, export: Path) -> None:
    bring_in(workspace, export)
    with Memory(workspace, WORDS_ONLY) as memory:
        assert memory.search("tea or coffee?")[0].path == NOTE


def test_a_second_import_adds_nothing(workspace: Path, export: Path) -> None:
    bring_in(workspace, export)
    before = tree(workspace)
    done = bring_in(workspace, export)
    assert (done.memories.added, done.memories.known, tree(workspace)) == (0, 2, before)


def test_a_memory_that_was_reworded_here_is_known_again(workspace: Path, export: Path) -> None:
    bring_in(workspace, export)
    (workspace / NOTE).write_text(note(workspace).replace("Ghent", "Gent, Belgium"), encoding="utf-8")
    assert bring_in(workspace, export).memories.added == 0


def test_a_memory_that_changed_there_is_added(workspace: Path, export: Path, tmp_path: Path) -> None:
    bring_in(workspace, export)
    changed = written(tmp_path / "later.json", [{**TEA, "memory": "Prefers water"}, GHENT])
    assert bring_in(workspace, changed).memories.added == 1
    assert "Prefers tea" in note(workspace)


def test_the_same_memory_twice_is_written_once(workspace: Path, tmp_path: Path) -> None:
    done = bring_in(workspace, written(tmp_path / "x.json", [TEA, TEA]))
    assert (done.memories.added, done.memories.known) == (1, 1)


def test_a_dry_run_counts_and_writes_nothing(workspace: Path, export: Path) -> None:
    assert bring_in(workspace, export, dry_run=True).memories.added == 2
    assert tree(workspace) == {}


def test_several_people_have_sections_of_their_own(workspace: Path, tmp_path: Path) -> None:
    bring_in(workspace, written(tmp_path / "x.json", [TEA, {**GHENT, "user_id": "bob"}]))
    assert "## bob\n\n- 2024-12-31: Lives in Ghent" in note(workspace)


def test_a_secret_is_taken_out(workspace: Path, tmp_path: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    done = bring_in(
        workspace, written(tmp_path / "x.json", [{"id": "s", "memory": f"The token is {secret}"}])
    )
    assert secret not in note(workspace)
    assert sum(done.memories.redacted.values()) == 1


def test_what_was_forgotten_does_not_come_back(workspace: Path, export: Path) -> None:
    bury(Workspace.at(workspace), ["Prefers tea over coffee"])
    done = bring_in(workspace, export)
    assert (done.memories.added, done.memories.forgotten) == (1, 1)


def test_a_memory_of_several_lines_stays_one_entry(workspace: Path, tmp_path: Path) -> None:
    bring_in(workspace, written(tmp_path / "x.json", [{"id": "s", "memory": "# Plans\n- one\n- two"}]))
    assert len(lines(workspace)) == 1


def test_many_memories_are_spread_over_notes(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memories, "_NOTE_BYTES", 4_000)
    monkeypatch.setattr(memories, "_BLOCK_BYTES", 1_000)
    export = written(tmp_path / "x.json", [{"id": str(n), "memory": f"Fact number {n}"} for n in range(200)])
    done = bring_in(workspace, export)
    assert len(done.memories.paths) > 1
    assert all((workspace / path).stat().st_size <= 4_000 for path in done.memories.paths)
    assert bring_in(workspace, export).memories.added == 0


@pytest.mark.parametrize(
    "date", [None, "soon", 0, -1e300, "0001-01-01T00:00:00+14:00", True, [], "9999-12-31"]
)
def test_a_date_that_is_none_does_not_matter(workspace: Path, tmp_path: Path, date: Any) -> None:
    done = bring_in(
        workspace, written(tmp_path / "x.json", [{"id": "x", "memory": "A fact", "created_at": date}])
    )
    assert done.memories.added == 1


def test_what_is_no_memory_is_counted(workspace: Path, tmp_path: Path) -> None:
    done = bring_in(workspace, written(tmp_path / "x.json", [TEA, 7, {"id": "z"}, {"memory": "  "}]))
    assert (done.memories.added, done.skipped) == (1, 3)


@given(
    st.recursive(
        st.none() | st.text() | st.integers(),
        lambda inner: (
            st.dictionaries(
                st.sampled_from(["id", "memory", "text", "metadata", "categories", "created_at", "user_id"]),
                inner,
            )
            | st.lists(inner)
        ),
    )
)
def test_any_item_is_read_or_left(item: Any) -> None:
    found = memory_of(item)
    assert found is None or found.text


# What cannot be used


@pytest.mark.parametrize(
    "content", [b"", b"{", b'[{"memory": "x"}', b"[1, 2]", b'["\xff"]', b'{"a": 1}', b"PK\x03\x04"]
)
def test_a_broken_export_changes_nothing(workspace: Path, tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "broken.json"
    file.write_bytes(content)
    with pytest.raises(PathError):
        bring_in(workspace, file)
    assert tree(workspace) == {}


def test_an_export_above_the_limit_is_refused(
    workspace: Path, export: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "MAX_BYTES", 100)
    with pytest.raises(PathError, match="limit"):
        bring_in(workspace, export)


def test_a_link_is_refused(workspace: Path, export: Path, tmp_path: Path) -> None:
    (tmp_path / "link.json").symlink_to(export)
    with pytest.raises(PathError, match="symbolic link"):
        bring_in(workspace, tmp_path / "link.json")


def test_a_pipe_is_refused(workspace: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(PathError, match="not a regular file"):
        bring_in(workspace, tmp_path / "pipe")


def test_a_folder_is_refused(workspace: Path, tmp_path: Path) -> None:
    with pytest.raises(PathError, match="folder"):
        bring_in(workspace, tmp_path)


def test_a_file_that_is_not_there_is_told(workspace: Path, tmp_path: Path) -> None:
    with pytest.raises(PathError, match="there is no file"):
        bring_in(workspace, tmp_path / "gone.json")


def test_an_archive_of_an_export_is_taken(workspace: Path, export: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.write(export, "export/memories.json")
    assert bring_in(workspace, tmp_path / "x.zip").memories.added == 2
