"""After a sync the index matches the files, and unchanged files are not read."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from memlines.files.read import read_document
from memlines.folders import Tree
from memlines.index.sync import run, words
from memlines.index.sync.discovery import find_files, is_dirty, missing_paths
from memlines.memory.memory import Memory
from memlines.types import (
    Discovery,
    Document,
    Fingerprint,
    FoundFile,
    IndexedFile,
    Problem,
    Report,
)
from tests.indexes import (
    REPOSITORY,
    expected,
    found_by,
    hashes,
    indexed,
    notes,
    numbers_of,
    reading,
    settle,
    sync,
    write,
)
from tests.programs import unprivileged_run

pytestmark = pytest.mark.promise("P3")


class Reads:
    """The files that a sync opened, by name."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.paths: list[str] = []
        self._read = read_document
        monkeypatch.setattr(words, "read_document", self)

    def __call__(
        self, file: FoundFile, max_bytes: int, tree: Tree | None = None
    ) -> Document | Problem | None:
        self.paths.append(file.path)
        return self._read(file, max_bytes, tree)


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Reads:
    return Reads(monkeypatch)


def numbers(workspace: Path, path: str) -> list[int]:
    with reading(workspace) as index:
        return numbers_of(index, path)


def found(workspace: Path, word: str) -> list[str]:
    with reading(workspace) as index:
        return sorted(found_by(index, word))


# From nothing, and from one state to the next


def test_the_first_sync_indexes_every_note(workspace: Path) -> None:
    write(workspace, {"MEMORY.md": "root", "memory/deep/er/a.md": "deep"})
    report = sync(workspace)
    assert (report.indexed, report.rebuilt) == (("MEMORY.md", "memory/deep/er/a.md"), "")
    assert indexed(workspace) == expected(workspace)


def test_an_empty_workspace_gets_an_empty_index(workspace: Path) -> None:
    assert sync(workspace) == Report()
    assert indexed(workspace) == {}


def test_a_sync_without_changes_reports_none(workspace: Path) -> None:
    write(workspace, notes(3))
    sync(workspace)
    assert sync(workspace) == Report(unchanged=3)


def test_unchanged_files_are_not_read(workspace: Path, reads: Reads) -> None:
    write(workspace, notes(3))
    sync(workspace)
    reads.paths.clear()
    write(workspace, {"memory/n1.md": "changed"})
    sync(workspace)
    assert reads.paths == ["memory/n1.md"]


def test_a_changed_file_is_indexed_again(workspace: Path) -> None:
    write(workspace, notes(3))
    sync(workspace)
    write(workspace, {"memory/n1.md": "the zebra crosses"})
    report = sync(workspace)
    assert (report.indexed, report.unchanged) == (("memory/n1.md",), 2)
    assert indexed(workspace) == expected(workspace)


def test_a_file_with_a_new_time_but_the_same_content_is_not_chunked_again(workspace: Path) -> None:
    write(workspace, notes(1))
    sync(workspace)
    before = numbers(workspace, "memory/n0.md")
    settle(workspace / "memory/n0.md")
    assert sync(workspace) == Report(unchanged=1)
    assert numbers(workspace, "memory/n0.md") == before


def test_a_file_with_a_new_time_is_read_once_more_only(workspace: Path, reads: Reads) -> None:
    write(workspace, notes(1))
    sync(workspace)
    settle(workspace / "memory/n0.md")
    sync(workspace)
    reads.paths.clear()
    sync(workspace)
    assert reads.paths == []


def test_an_edit_that_leaves_size_and_time_as_they_were_is_noticed(workspace: Path) -> None:
    note = workspace / "memory/n0.md"
    note.write_text("the zebra", encoding="utf-8")
    moment = note.stat()
    sync(workspace)
    note.write_text("an okapi.", encoding="utf-8")
    os.utime(note, ns=(moment.st_atime_ns, moment.st_mtime_ns))
    assert sync(workspace).indexed == ("memory/n0.md",)
    assert found(workspace, "okapi") == ["memory/n0.md"]


def test_a_search_notices_such_an_edit_too(workspace: Path) -> None:
    note = workspace / "memory/n0.md"
    note.write_text("the zebra", encoding="utf-8")
    moment = note.stat()
    with Memory(workspace, {"embeddings.provider": "none"}) as memory:
        memory.search("zebra")
        note.write_text("an okapi.", encoding="utf-8")
        os.utime(note, ns=(moment.st_atime_ns, moment.st_mtime_ns))
        assert [hit.path for hit in memory.search("okapi")] == ["memory/n0.md"]


def test_a_file_put_in_the_place_of_another_of_the_same_size_and_time_is_noticed(workspace: Path) -> None:
    write(workspace, {"memory/n0.md": "the zebra"})
    moment = (workspace / "memory/n0.md").stat()
    sync(workspace)
    (workspace / "other").write_text("an okapi.", encoding="utf-8")
    os.utime(workspace / "other", ns=(moment.st_atime_ns, moment.st_mtime_ns))
    (workspace / "other").replace(workspace / "memory/n0.md")
    assert sync(workspace).indexed == ("memory/n0.md",)


def test_a_deleted_file_leaves_the_index(workspace: Path) -> None:
    write(workspace, notes(3))
    sync(workspace)
    (workspace / "memory/n1.md").unlink()
    assert sync(workspace).removed == ("memory/n1.md",)
    assert found(workspace, "own1") == []


def test_a_renamed_file_is_found_under_its_new_name(workspace: Path) -> None:
    write(workspace, notes(1))
    sync(workspace)
    (workspace / "memory/n0.md").rename(workspace / "memory/renamed.md")
    report = sync(workspace)
    assert (report.indexed, report.removed) == (("memory/renamed.md",), ("memory/n0.md",))
    assert found(workspace, "own0") == ["memory/renamed.md"]


def test_a_file_that_became_a_folder_leaves_the_index(workspace: Path) -> None:
    write(workspace, {"memory/n0.md": "the zebra"})
    sync(workspace)
    (workspace / "memory/n0.md").unlink()
    write(workspace, {"memory/n0.md/inner.md": "the okapi"})
    sync(workspace)
    assert indexed(workspace) == expected(workspace)


def test_a_file_that_became_blank_keeps_its_entry_but_no_chunks(workspace: Path) -> None:
    write(workspace, notes(1))
    sync(workspace)
    write(workspace, {"memory/n0.md": " \n\n"})
    sync(workspace)
    with reading(workspace) as index:
        assert (list(index.files()), index.count_chunks()) == (["memory/n0.md"], 0)


def test_a_file_that_became_binary_leaves_the_index_and_is_named(workspace: Path) -> None:
    write(workspace, notes(1))
    sync(workspace)
    (workspace / "memory/n0.md").write_bytes(b"a\0b")
    report = sync(workspace)
    assert [problem.path for problem in report.skipped] == ["memory/n0.md"]
    assert indexed(workspace) == {}


def test_a_skipped_file_is_named_at_every_sync_but_not_read_again(workspace: Path, reads: Reads) -> None:
    (workspace / "memory/n0.md").write_bytes(b"a\0b")
    settle(workspace / "memory/n0.md")
    first = sync(workspace).skipped
    reads.paths.clear()
    assert (sync(workspace).skipped, reads.paths) == (first, [])


def test_a_file_that_grew_too_large_leaves_the_index(workspace: Path) -> None:
    write(workspace, notes(1))
    sync(workspace)
    report = sync(workspace, settings={"files.max_bytes": 10})
    assert (report.removed, len(report.skipped)) == (("memory/n0.md",), 1)


def test_the_notes_stay_as_they_are(workspace: Path) -> None:
    write(workspace, notes(3))
    before = hashes(workspace)
    sync(workspace)
    sync(workspace, force=True)
    assert hashes(workspace) == before


# What goes wrong between looking and reading


def test_a_file_that_vanishes_before_it_is_read_is_not_indexed(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(workspace, notes(2))
    take_away(monkeypatch, workspace / "memory/n1.md")
    assert sync(workspace).indexed == ("memory/n0.md",)


def test_a_known_file_that_vanishes_before_it_is_read_leaves_the_index(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(workspace, notes(2))
    sync(workspace)
    settle(workspace / "memory/n1.md")
    take_away(monkeypatch, workspace / "memory/n1.md")
    assert sync(workspace).removed == ("memory/n1.md",)
    assert found(workspace, "own1") == []


def take_away(monkeypatch: pytest.MonkeyPatch, victim: Path) -> None:
    """Delete a file after the scan has seen it."""

    def look(*arguments: Any) -> Discovery:
        seen = find_files(*arguments)
        victim.unlink(missing_ok=True)
        return seen

    monkeypatch.setattr(run, "find_files", look)


def refuse(monkeypatch: pytest.MonkeyPatch, victim: str) -> None:
    """Make a file unreadable, whoever runs the tests."""

    def read(file: FoundFile, max_bytes: int, tree: Tree | None = None) -> Document | Problem | None:
        if file.path == victim:
            return Problem(file.path, "cannot be read: permission denied", failed=True)
        return read_document(file, max_bytes, tree)

    monkeypatch.setattr(words, "read_document", read)


def test_an_unreadable_file_keeps_its_old_chunks(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(workspace, notes(2))
    sync(workspace)
    settle(workspace / "memory/n1.md")
    refuse(monkeypatch, "memory/n1.md")
    report = sync(workspace)
    assert [problem.path for problem in report.failed] == ["memory/n1.md"]
    assert found(workspace, "own1") == ["memory/n1.md"]


def test_an_unreadable_file_is_tried_again_although_nothing_about_it_changed(workspace: Path) -> None:
    write(workspace, notes(2))
    with pytest.MonkeyPatch.context() as patch:
        refuse(patch, "memory/n1.md")
        sync(workspace)
    report = sync(workspace)
    assert (report.indexed, report.failed) == (("memory/n1.md",), ())


def test_a_real_unreadable_file_is_reported_and_kept(workspace: Path) -> None:
    write(workspace, notes(2))
    sync(workspace)
    (workspace / "memory/n1.md").chmod(0)
    settle(workspace / "memory/n1.md")
    code = (
        f"import sys; sys.path.insert(0, {str(REPOSITORY)!r})\n"
        "from pathlib import Path\n"
        "from tests.indexes import sync\n"
        "print([problem.path for problem in sync(Path(sys.argv[1])).failed])"
    )
    done = unprivileged_run(code, workspace)
    assert (done.stdout.strip(), done.stderr) == ("['memory/n1.md']", "")
    assert found(workspace, "own1") == ["memory/n1.md"]


def test_what_is_in_a_folder_nobody_can_list_is_not_removed(workspace: Path) -> None:
    write(workspace, {"memory/open/a.md": "zebra", "memory/closed/b.md": "okapi"})
    sync(workspace)
    (workspace / "memory/open/a.md").unlink()
    (workspace / "memory/closed").chmod(0)
    code = (
        f"import sys; sys.path.insert(0, {str(REPOSITORY)!r})\n"
        "from pathlib import Path\n"
        "from tests.indexes import sync\n"
        "print(sync(Path(sys.argv[1])).removed)"
    )
    done = unprivileged_run(code, workspace)
    (workspace / "memory/closed").chmod(0o755)
    assert (done.stdout.strip(), done.stderr) == ("('memory/open/a.md',)", "")
    assert found(workspace, "okapi") == ["memory/closed/b.md"]


PRINT = Fingerprint(1, 2, 3)


def known(*paths: str) -> dict[str, IndexedFile]:
    return {path: IndexedFile(path, "memory", "hash", PRINT) for path in paths}


def seen(*paths: str, blind: tuple[str, ...] = ()) -> Discovery:
    files = tuple(FoundFile(path, path, "memory", PRINT) for path in paths)
    return Discovery(files, blind=blind)


@pytest.mark.parametrize(
    ("blind", "missing"),
    [
        ((), ["MEMORY.md", "memory/a/x.md", "memory/ab.md"]),
        (("memory/a",), ["MEMORY.md", "memory/ab.md"]),
        (("memory/ab.md",), ["MEMORY.md", "memory/a/x.md"]),
        (("memory",), ["MEMORY.md"]),
        ((".",), []),
    ],
)
def test_where_nobody_could_look_nothing_is_missing(blind: tuple[str, ...], missing: list[str]) -> None:
    entries = known("MEMORY.md", "memory/a/x.md", "memory/ab.md", "memory/here.md")
    assert missing_paths(seen("memory/here.md", blind=blind), entries) == missing


def test_an_index_that_equals_the_files_is_not_dirty() -> None:
    assert not is_dirty(seen("a.md"), known("a.md"))


@pytest.mark.parametrize("files", [("a.md", "b.md"), ()])
def test_a_new_or_missing_file_makes_it_dirty(files: tuple[str, ...]) -> None:
    assert is_dirty(seen(*files), known("a.md"))


def test_another_fingerprint_makes_it_dirty() -> None:
    entry = IndexedFile("a.md", "memory", "hash", Fingerprint(1, 2, 4))
    assert is_dirty(seen("a.md"), {"a.md": entry})
