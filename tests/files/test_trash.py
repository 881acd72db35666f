"""Notes that were removed whole, and how they come back."""

from __future__ import annotations

import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memlines.errors import PathError
from memlines.files import trash
from memlines.files.notes import append
from memlines.files.place import place_of
from memlines.files.trash import items, put_back
from memlines.paths import Workspace
from tests.note_changes import remove_note, restore_note

pytestmark = pytest.mark.promise("P2")

LONG = "memory/" + "/".join(["x" * 190] * 4) + ".md"


@pytest.fixture
def home(workspace: Path) -> Workspace:
    return Workspace.at(workspace)


def removed(home: Workspace, path: str, text: str = "- a\n") -> trash.Item:
    (home.root / path).parent.mkdir(parents=True, exist_ok=True)
    (home.root / path).write_bytes(text.encode())
    return remove_note(home, path)


def test_an_item_says_what_it_was_and_since_when(home: Workspace) -> None:
    item = removed(home, "memory/a.md")
    assert (item.path, item.size) == ("memory/a.md", 4)
    assert abs(item.time - datetime.now(UTC)) < timedelta(minutes=10)


def test_the_newest_is_first(home: Workspace) -> None:
    first, second = removed(home, "memory/a.md"), removed(home, "memory/a.md")
    assert items(home) == (second, first)


def test_an_empty_trash(home: Workspace) -> None:
    assert items(home) == ()


@pytest.mark.parametrize("path", ["MEMORY.md", "memory/deep/er/a.md", "memory/a%2Fb.md", LONG])
def test_a_note_comes_back_to_where_it_was(home: Workspace, path: str) -> None:
    restore_note(home, removed(home, path, "- mine\n"))
    assert ((home.root / path).read_bytes(), items(home)) == (b"- mine\n", ())


def test_its_folder_is_made_again(home: Workspace) -> None:
    item = removed(home, "memory/deep/a.md")
    (home.root / "memory/deep").rmdir()
    restore_note(home, item)
    assert (home.root / "memory/deep/a.md").exists()


def test_its_permissions_come_back(home: Workspace) -> None:
    (home.root / "memory/a.md").write_bytes(b"- a\n")
    (home.root / "memory/a.md").chmod(0o640)
    restore_note(home, remove_note(home, "memory/a.md"))
    assert stat.S_IMODE((home.root / "memory/a.md").stat().st_mode) == 0o640


def test_nothing_is_overwritten(home: Workspace) -> None:
    item = removed(home, "memory/a.md")
    append(home, "memory/a.md", "- new")
    with pytest.raises(PathError, match="there is another note in its place"):
        restore_note(home, item)
    assert ((home.root / "memory/a.md").read_bytes(), items(home)) == (b"- new\n", (item,))


@pytest.mark.parametrize(
    "name", ["", "..", "20261116T000000.000000Z", "99999999T999999.999999Z", "../history"]
)
def test_what_is_not_in_the_trash(home: Workspace, name: str) -> None:
    with pytest.raises(PathError, match="in the trash"):
        put_back(home, name, place_of(home, "memory/a.md"))


@pytest.mark.promise("P12")
def test_the_oldest_go_when_there_are_too_many(home: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trash, "MAX_ITEMS", 2)
    every = [removed(home, f"memory/{number}.md") for number in range(4)]
    assert items(home) == (every[3], every[2])


@pytest.mark.promise("P12")
def test_the_oldest_go_when_they_are_too_large_together(
    home: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trash, "MAX_BYTES", 8)
    every = [removed(home, f"memory/{number}.md") for number in range(4)]
    assert items(home) == (every[3], every[2])


def test_the_newest_stays_however_large(home: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trash, "MAX_BYTES", 1)
    item = removed(home, "memory/a.md")
    assert items(home) == (item,)


@pytest.mark.promise("P12")
def test_what_a_killed_writer_left_goes_with_the_next_note(home: Workspace) -> None:
    left = home.private / "trash" / "20200101T000000.000000Z" / "memory"
    left.mkdir(parents=True)
    (left / ".memlines-0.tmp").touch()
    item = removed(home, "memory/a.md")
    assert [path.name for path in (home.private / "trash").iterdir()] == [item.name]


def test_a_planted_name_from_the_end_of_time_is_no_trouble(home: Workspace) -> None:
    (home.private / "trash" / "99991231T235959.999999Z").mkdir(parents=True)
    item = removed(home, "memory/a.md")
    assert items(home) == (item,)


def test_what_somebody_else_put_there_stays(home: Workspace) -> None:
    (home.private / "trash" / "mine").mkdir(parents=True)
    removed(home, "memory/a.md")
    assert (home.private / "trash" / "mine").is_dir()


def test_a_trash_that_is_a_link_is_refused(home: Workspace, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    home.private.mkdir()
    (home.private / "trash").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(PathError, match="is a symbolic link"):
        removed(home, "memory/a.md")
    assert (home.root / "memory/a.md").exists()


def test_the_next_name_is_a_moment_later_whatever_the_clock_did() -> None:
    stamp = trash.next_stamp("", datetime(2026, 11, 16, 12, tzinfo=UTC))
    later = trash.next_stamp(stamp, datetime(2026, 11, 16, 11, tzinfo=UTC))
    assert trash.time_of(later) - trash.time_of(stamp) == timedelta(microseconds=1)
