"""Copies of large notes need no more memory than copies of small ones, and nothing is left out in silence."""

from __future__ import annotations

import gc
import os
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from memlines.admin.backup import manifest as pieces
from memlines.admin.backup import snapshots
from memlines.admin.backup.manifest import digest
from tests.admin.backups import back_up, bring_back, bring_in, export, fill, tree

pytestmark = pytest.mark.promise("P12")

MEGABYTE = 1_000_000
SMALL, LARGE = 40 * MEGABYTE, 120 * MEGABYTE
MARK = b"the end"


def sparse(file: Path, size: int) -> None:
    """Make a file that takes no room on the disk but at its end."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("wb") as stream:
        stream.truncate(size - len(MARK))
        stream.seek(0, os.SEEK_END)
        stream.write(MARK)


def peak(work: Callable[[], object]) -> int:
    """Return how much memory some work took at most."""
    gc.collect()
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def peaks_of(folder: Path, size: int) -> dict[str, int]:
    """Return what each kind of copy of a workspace with one large note takes, and check the copies."""
    notes, imported, restored = folder / "notes", folder / "imported", folder / "restored"
    sparse(notes / "memory/a.md", size)
    imported.mkdir()
    restored.mkdir()
    archive, place = folder / "a.zip", folder / "place"
    peaks = {
        "export": peak(lambda: export(notes, archive)),
        "import": peak(lambda: bring_in(imported, archive)),
        "import again": peak(lambda: bring_in(imported, archive)),
        "backup": peak(lambda: back_up(notes, place)),
        "restore": peak(lambda: bring_back(restored, place)),
    }
    for copy in (imported / "memory/a.md", restored / "memory/a.md"):
        assert copy.stat().st_size == size
        with copy.open("rb") as stream:
            stream.seek(-len(MARK), os.SEEK_END)
            assert stream.read() == MARK
    return peaks


def test_memory_does_not_grow_with_the_size_of_a_note(tmp_path: Path) -> None:
    small, large = (peaks_of(tmp_path / f"{size}", size) for size in (SMALL, LARGE))
    assert [name for name in small if large[name] > small[name] + 8 * MEGABYTE] == []


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let notes of some thousand bytes count as large."""
    monkeypatch.setattr(pieces, "AT_ONCE", 1_000)
    for module in (pieces, snapshots):
        monkeypatch.setattr(module, "WHOLE_BYTES", 4_000)


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    random = bytes(number * number % 251 for number in range(10_000))
    return fill(tmp_path / "notes", {"MEMORY.md": b"small", "memory/a.md": random, "memory/b.md": random * 2})


@pytest.mark.usefixtures("small_pieces")
def test_large_notes_come_back_byte_for_byte(notes: Path, workspace: Path, tmp_path: Path) -> None:
    export(notes, tmp_path / "a.zip")
    back_up(notes, tmp_path / "place")
    bring_in(workspace, tmp_path / "a.zip")
    (tmp_path / "new").mkdir()
    bring_back(tmp_path / "new", tmp_path / "place")
    assert tree(workspace) == tree(tmp_path / "new") == tree(notes)


@pytest.mark.usefixtures("small_pieces")
def test_a_large_note_that_is_damaged_at_the_place_is_named_and_not_written(
    notes: Path, workspace: Path, tmp_path: Path
) -> None:
    back_up(notes, tmp_path / "place")
    sha256 = digest((notes / "memory/a.md").read_bytes())
    (tmp_path / "place/objects" / sha256[:2] / sha256).write_bytes(b"x" * 10_000)
    done = bring_back(workspace, tmp_path / "place")
    assert [problem.path for problem in done.failed] == ["memory/a.md"]
    assert set(tree(workspace)) == {"MEMORY.md", "memory/b.md"}


@pytest.mark.usefixtures("small_pieces")
def test_a_large_note_that_changes_meanwhile_is_named(
    notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def growing(stream: object) -> object:
        with (notes / "memory/a.md").open("ab") as note:
            note.write(b"more")
        return reading(stream)  # type: ignore[arg-type]

    reading = pieces.read_pieces
    monkeypatch.setattr(pieces, "read_pieces", growing)
    (notes / "memory/b.md").unlink()
    exported = export(notes, tmp_path / "a.zip")
    assert [problem.path for problem in exported.failed] == ["memory/a.md"]
    backed_up = back_up(notes, tmp_path / "place")
    assert [problem.path for problem in backed_up.failed] == ["memory/a.md"]
    with zipfile.ZipFile(tmp_path / "a.zip") as opened:
        assert opened.testzip() is None


def test_what_is_not_copied_is_listed(notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(notes, {"memory/picture.png": b"", "memory/x/table.csv": b"", "sessions/a.jsonl": b"{}\n"})
    outside = fill(tmp_path / "outside", {"a.md": b"outside"})
    monkeypatch.setenv("MEMLINES_EXTRA_PATHS", str(outside))
    expected = {
        "memory": "holds 2 files that are not notes, and are not copied",
        "sessions": "is not copied (1 transcripts)",
        str(outside): "lies outside the workspace, and is not copied",
    }
    for done in (export(notes, tmp_path / "a.zip"), back_up(notes, tmp_path / "place")):
        assert {problem.path: problem.reason for problem in done.left_out} == expected
        assert done.failed == ()
