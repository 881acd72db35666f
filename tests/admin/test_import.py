"""An archive brings notes back without overwriting anything."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlines.admin.backup.gather import beside
from memlines.errors import BackupError, MemlinesError
from memlines.files.atomic import create
from memlines.files.scan import discover
from memlines.locks import WriterLock
from memlines.paths import Workspace
from tests.admin.backups import STRANGE, TODAY, bring_in, export, fill, tree


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    return fill(tmp_path / "notes", STRANGE)


@pytest.fixture
def archive(notes: Path, tmp_path: Path) -> Path:
    export(notes, tmp_path / "notes.zip")
    return tmp_path / "notes.zip"


def test_an_import_into_an_empty_workspace_equals_the_source(
    archive: Path, notes: Path, workspace: Path
) -> None:
    done = bring_in(workspace, archive)
    assert tree(workspace) == tree(notes)
    assert len(done.created) == len(STRANGE)


def test_a_note_keeps_its_time(archive: Path, notes: Path, workspace: Path) -> None:
    os.utime(notes / "MEMORY.md", ns=(10**18, 10**18))
    export(notes, archive, force=True)
    bring_in(workspace, archive)
    assert (workspace / "MEMORY.md").stat().st_mtime_ns == 10**18


def test_the_same_content_is_left_alone(archive: Path, notes: Path) -> None:
    done = bring_in(notes, archive)
    assert (done.created, done.kept_both, done.same) == ((), (), len(STRANGE))


@pytest.mark.parametrize(
    ("path", "imported"),
    [
        ("MEMORY.md", f"memory/MEMORY-imported-{TODAY}.md"),
        ("memory/2026-03-01.md", f"memory/2026-03-01-imported-{TODAY}.md"),
        ("memory/日本語/ノート.md", f"memory/日本語/ノート-imported-{TODAY}.md"),
        ("memory/.hidden.md", f"memory/.hidden-imported-{TODAY}.md"),
    ],
)
def test_both_are_kept_where_the_content_differs(
    archive: Path, workspace: Path, path: str, imported: str
) -> None:
    fill(workspace, {path: b"mine"})
    done = bring_in(workspace, archive)
    assert [(pair.path, pair.imported_as) for pair in done.kept_both] == [(path, imported)]
    assert (workspace / path).read_bytes() == b"mine"
    assert (workspace / imported).read_bytes() == STRANGE[path]


def test_an_imported_version_is_a_note(archive: Path, workspace: Path) -> None:
    fill(workspace, dict.fromkeys(STRANGE, b"mine"))
    done = bring_in(workspace, archive)
    found = {file.path for file in discover(Workspace.at(workspace), (), 10**9).files}
    assert {pair.imported_as for pair in done.kept_both} <= found


def test_importing_twice_changes_nothing(archive: Path, workspace: Path) -> None:
    fill(workspace, {"MEMORY.md": b"mine", "memory/empty.md": b"mine"})
    bring_in(workspace, archive)
    before = tree(workspace)
    again = bring_in(workspace, archive)
    assert tree(workspace) == before
    assert (again.created, again.kept_both, again.same) == ((), (), len(STRANGE))


def test_a_taken_name_is_numbered(archive: Path, workspace: Path) -> None:
    fill(workspace, {"MEMORY.md": b"mine", f"memory/MEMORY-imported-{TODAY}.md": b"mine, too"})
    done = bring_in(workspace, archive)
    assert done.kept_both[0].imported_as == f"memory/MEMORY-imported-{TODAY}-2.md"


def test_two_files_never_get_one_name(notes: Path, archive: Path, workspace: Path) -> None:
    fill(notes, {"memory/MEMORY.md": b"another"})
    export(notes, archive, force=True)
    fill(workspace, {"MEMORY.md": b"mine", "memory/MEMORY.md": b"mine"})
    done = bring_in(workspace, archive)
    assert len({pair.imported_as for pair in done.kept_both}) == 2
    assert {(workspace / pair.imported_as).read_bytes() for pair in done.kept_both} == {
        b"another",
        STRANGE["MEMORY.md"],
    }


def test_a_dry_run_writes_nothing_and_tells_the_same(archive: Path, workspace: Path) -> None:
    fill(workspace, {"MEMORY.md": b"mine"})
    before = sorted(workspace.rglob("*"))
    told = bring_in(workspace, archive, dry_run=True)
    assert sorted(workspace.rglob("*")) == before
    done = bring_in(workspace, archive)
    assert (told.created, told.kept_both, told.same) == (done.created, done.kept_both, done.same)


def test_settings_are_told_and_not_applied(notes: Path, archive: Path, workspace: Path) -> None:
    fill(notes, {".memory/config.yaml": b"query:\n  max_results: 3\n"})
    export(notes, archive, force=True)
    assert bring_in(workspace, archive).settings
    assert not (workspace / ".memory/config.yaml").exists()


def test_private_files_come_back(notes: Path, archive: Path, workspace: Path) -> None:
    private = {".memory/snapshots/s.json": b"{}"}
    private |= {".memory/trash/1/memory/x.md": b"x", ".memory/history/memory/x.md/1.md": b"x"}
    fill(notes, private)
    export(notes, archive, force=True, everything=True)
    bring_in(workspace, archive)
    assert tree(workspace) == tree(notes)


def test_a_folder_that_is_a_link_is_not_written_through(
    archive: Path, workspace: Path, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").mkdir()
    (workspace / "memory/tief").symlink_to(tmp_path / "elsewhere")
    done = bring_in(workspace, archive)
    assert list((tmp_path / "elsewhere").iterdir()) == []
    assert len(done.failed) == 2
    assert "memory/tief is a symbolic link" in done.failed[0].reason


def test_a_note_that_is_a_link_is_kept_beside(archive: Path, workspace: Path, tmp_path: Path) -> None:
    (tmp_path / "target").write_bytes(b"target")
    (workspace / "MEMORY.md").symlink_to(tmp_path / "target")
    assert [pair.path for pair in bring_in(workspace, archive).kept_both] == ["MEMORY.md"]
    assert (tmp_path / "target").read_bytes() == b"target"


def test_a_file_where_a_folder_must_be_is_named(archive: Path, workspace: Path) -> None:
    fill(workspace, {"memory/tief": b"a file"})
    done = bring_in(workspace, archive)
    assert "memory/tief is not a folder" in done.failed[0].reason
    assert len(done.created) == len(STRANGE) - 2


def test_a_writer_of_notes_is_waited_for(
    archive: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memlines.files.place.WAIT_SECONDS", 0.0)
    (workspace / ".memory").mkdir()
    with (
        WriterLock(workspace / ".memory/notes.lock").held(0),
        pytest.raises(MemlinesError, match="is being written by"),
    ):
        bring_in(workspace, archive)


@pytest.mark.parametrize("written", [0, 1, 5])
def test_an_import_that_broke_off_goes_on(
    archive: Path, notes: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch, written: int
) -> None:
    places: list[Path] = []

    def failing(path: Path, content: bytes, mode: int | None, **options: Any) -> bool:
        places.append(path)
        if len(places) > written:
            raise OSError(28, "No space left on device")
        return create(path, content, mode, **options)

    with monkeypatch.context() as patched:
        patched.setattr("memlines.admin.backup.merge.create", failing)
        with pytest.raises(BackupError, match="cannot be written: no space left on device"):
            bring_in(workspace, archive)
    done = bring_in(workspace, archive)
    assert (len(done.created), done.same) == (len(STRANGE) - written, written)
    assert tree(workspace) == tree(notes)


def test_a_full_disk_is_told_before_anything_is_written(
    archive: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memlines.admin.backup.merge._ROOM_TO_LEAVE", 10**18)
    with pytest.raises(BackupError, match="MB free; nothing was changed"):
        bring_in(workspace, archive)
    assert tree(workspace) == {}


@given(
    folder=st.sampled_from(["", "memory/", "memory/a/", ".memory/snapshots/"]),
    name=st.text(
        st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=300
    ),
)
def test_an_imported_version_has_a_name_every_disk_can_hold(folder: str, name: str) -> None:
    _, start, end = beside(folder + name)
    assert len(f"{start}{TODAY}-9999{end}".encode()) <= 200
