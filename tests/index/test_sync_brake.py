"""When most files are gone at once, nothing is removed until somebody says so."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from memlines.memory.memory import Memory
from memlines.types import Report
from tests.indexes import expected, found_by, indexed, notes, reading, sync, write
from tests.programs import Cli
from tests.providers import FakeProvider

WORDS_ONLY = {"embeddings.provider": "none"}


def remove(workspace: Path, count: int) -> None:
    for number in range(count):
        (workspace / f"memory/n{number}.md").unlink()


def found(workspace: Path, word: str) -> list[str]:
    with reading(workspace) as index:
        return found_by(index, word)


@pytest.fixture
def emptied(workspace: Path) -> Path:
    """A workspace of 20 notes, of which 12 are gone since they were indexed."""
    write(workspace, notes(20))
    sync(workspace)
    remove(workspace, 12)
    return workspace


def test_nothing_is_removed_and_the_report_says_so(emptied: Path) -> None:
    report = sync(emptied)
    assert (report.removed, report.held_back, report.unchanged) == ((), 12, 8)
    assert "12 of 20 indexed files are gone at once" in report.warnings[0]
    assert "'memlines sync --force' removes them" in report.warnings[0]


def test_what_is_gone_is_still_found(emptied: Path) -> None:
    sync(emptied)
    assert found(emptied, "own3") == ["memory/n3.md"]


def test_it_stays_so_at_every_sync(emptied: Path) -> None:
    assert [sync(emptied).held_back for _ in range(3)] == [12, 12, 12]


def test_force_removes_them(emptied: Path) -> None:
    sync(emptied)
    report = sync(emptied, force=True)
    assert (report.held_back, len(report.indexed), found(emptied, "own3")) == (0, 8, [])


def test_files_that_come_back_are_as_they_were(workspace: Path, tmp_path: Path) -> None:
    write(workspace, notes(20))
    sync(workspace)
    (workspace / "memory").rename(tmp_path / "elsewhere")
    sync(workspace)
    (tmp_path / "elsewhere").rename(workspace / "memory")
    assert sync(workspace) == Report(unchanged=20)


def test_new_and_changed_files_are_indexed_all_the_same(emptied: Path) -> None:
    write(emptied, {"memory/n15.md": "the okapi", "memory/new.md": "the zebra"})
    report = sync(emptied)
    assert (report.indexed, report.held_back) == (("memory/n15.md", "memory/new.md"), 12)


@pytest.mark.parametrize(("files", "gone"), [(9, 9), (20, 10), (100, 50)])
def test_few_files_or_half_of_them_are_removed(workspace: Path, files: int, gone: int) -> None:
    write(workspace, notes(files))
    sync(workspace)
    remove(workspace, gone)
    report = sync(workspace)
    assert (len(report.removed), report.held_back) == (gone, 0)


@pytest.mark.parametrize("files", [10, 19])
def test_ten_files_that_are_more_than_half_are_kept(workspace: Path, files: int) -> None:
    write(workspace, notes(files))
    sync(workspace)
    remove(workspace, 10)
    assert sync(workspace).held_back == 10


def test_a_folder_that_was_renamed_is_no_accident(workspace: Path) -> None:
    write(workspace, {f"memory/old/n{number}.md": f"okapi{number}" for number in range(20)})
    sync(workspace)
    (workspace / "memory/old").rename(workspace / "memory/new")
    report = sync(workspace)
    assert (len(report.indexed), len(report.removed), report.held_back) == (20, 20, 0)


def test_a_folder_that_was_copied_and_deleted_is_no_accident(workspace: Path) -> None:
    write(workspace, {f"memory/old/n{number}.md": f"okapi{number}" for number in range(20)})
    sync(workspace)
    shutil.copytree(workspace / "memory/old", workspace / "memory/new", copy_function=shutil.copyfile)
    shutil.rmtree(workspace / "memory/old")
    assert sync(workspace).held_back == 0


def test_a_rebuild_keeps_them_too(emptied: Path) -> None:
    report = sync(emptied, None, {"chunking.tokens": 100})
    assert (report.rebuilt != "", report.held_back, found(emptied, "own3")) == (True, 12, ["memory/n3.md"])
    assert sync(emptied, None, {"chunking.tokens": 100}).held_back == 12


def test_a_rebuild_with_another_model_keeps_them_too(emptied: Path) -> None:
    report = sync(emptied, FakeProvider())
    assert (report.held_back, report.pending, found(emptied, "own3")) == (12, 0, ["memory/n3.md"])


def test_after_a_rebuild_that_kept_them_files_that_come_back_are_indexed(
    workspace: Path, tmp_path: Path
) -> None:
    write(workspace, notes(20))
    sync(workspace)
    (workspace / "memory").rename(tmp_path / "elsewhere")
    sync(workspace, None, {"chunking.tokens": 100})
    (tmp_path / "elsewhere").rename(workspace / "memory")
    sync(workspace, None, {"chunking.tokens": 100})
    assert indexed(workspace) == expected(workspace, 100, 80)


def test_a_folder_that_is_no_longer_asked_for_is_removed(workspace: Path, tmp_path: Path) -> None:
    write(tmp_path, {f"extra/n{number}.md": f"okapi{number}" for number in range(20)})
    write(workspace, notes(3))
    sync(workspace, None, {"extra_paths": [str(tmp_path / "extra")]})
    report = sync(workspace)
    assert (len(report.indexed), report.held_back) == (3, 0)


def test_an_index_that_holds_them_back_is_not_up_to_date(emptied: Path) -> None:
    with reading(emptied) as index:
        before = index.state.synced_at
    sync(emptied)
    with reading(emptied) as index, Memory(emptied, WORDS_ONLY) as memory:
        assert (index.state.synced_at, memory.status().dirty) == (before, True)


# Where people see it


def test_a_search_answers_and_warns(emptied: Path) -> None:
    with Memory(emptied, WORDS_ONLY) as memory:
        result = memory.search("own3")
    assert [hit.path for hit in result] == ["memory/n3.md"]
    assert "12 of 20 indexed files are gone at once" in result.warnings[0]


def test_the_command_says_it_and_exits_with_one(
    emptied: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMLINES_EMBEDDINGS__PROVIDER", "none")
    done = Cli(capsys)("sync", "-w", emptied)
    assert (done.code, "12 gone but kept" in done.out, "--force" in done.err) == (1, True, True)


def test_the_command_tells_the_number_in_json(
    emptied: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMLINES_EMBEDDINGS__PROVIDER", "none")
    cli = Cli(capsys)
    assert cli("sync", "-w", emptied, "--json").json["held_back"] == 12
    assert cli("sync", "-w", emptied, "--json", "--force").json["held_back"] == 0
