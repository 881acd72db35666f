"""What notes held before: kept, listed, restored, forgotten."""

from __future__ import annotations

import re
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memlines.errors import PathError
from memlines.files import history, trash
from memlines.files.atomic import TEMPORARY_PREFIX, TEMPORARY_SUFFIX
from memlines.files.history import scrub, versions
from memlines.files.notes import append
from memlines.files.scan import discover
from memlines.memory.notes.versions import restore_version as restore
from memlines.paths import Workspace
from tests.note_changes import delete, edit, remove_note, restore_note

pytestmark = pytest.mark.promise("P2")

DAY = "memory/2026-11-16.md"


@pytest.fixture
def home(workspace: Path) -> Workspace:
    return Workspace.at(workspace)


def write(home: Workspace, text: str, path: str = DAY) -> None:
    (home.root / path).write_bytes(text.encode())


def text_of(home: Workspace, path: str = DAY) -> str:
    return (home.root / path).read_bytes().decode()


def kept(home: Workspace, path: str = DAY) -> list[str]:
    """Return what the kept versions of a note hold, the newest first."""
    folder = home.private / "history" / path
    return [(folder / version.name).read_bytes().decode() for version in versions(home, path)]


def rewrite(home: Workspace, *texts: str, path: str = DAY) -> None:
    """Let a note hold one text after the other, each a single line."""
    for text in texts:
        present = text_of(home, path).rstrip("\n")
        edit(home, path, 1, 1, text, present)


def test_what_an_edit_replaces_is_kept(home: Workspace) -> None:
    write(home, "a\n")
    rewrite(home, "b", "c")
    assert kept(home) == ["b\n", "a\n"]


def test_what_a_deletion_takes_out_is_kept(home: Workspace) -> None:
    write(home, "- a\n- b\n")
    delete(home, DAY, 1, 1, "- a")
    assert kept(home) == ["- a\n- b\n"]


def test_what_only_grows_at_its_end_is_not_kept(home: Workspace) -> None:
    write(home, "- a")
    append(home, DAY, "- b")
    append(home, DAY, "- c", under="New")
    assert versions(home, DAY) == ()


def test_what_is_added_in_the_middle_keeps_the_old_text(home: Workspace) -> None:
    write(home, "# A\n- a\n\n# B\n")
    append(home, DAY, "- x", under="A")
    assert kept(home) == ["# A\n- a\n\n# B\n"]


def test_a_version_has_a_time_and_a_hash_for_its_name(home: Workspace) -> None:
    write(home, "a\n")
    rewrite(home, "b")
    assert re.fullmatch(r"\d{8}T\d{6}\.\d{6}Z-87428fc52280\.md", versions(home, DAY)[0].name)


def test_a_version_says_when_and_how_much(home: Workspace) -> None:
    write(home, "a\n")
    rewrite(home, "b")
    version = versions(home, DAY)[0]
    assert abs(version.time - datetime.now(UTC)) < timedelta(minutes=10)
    assert (version.path, version.size) == (DAY, 2)


def test_a_clock_that_goes_back_does_not_mix_up_the_order(home: Workspace) -> None:
    write(home, "a\n")
    rewrite(home, "b")
    folder = home.private / "history" / DAY
    old = folder / versions(home, DAY)[0].name
    old.rename(folder / f"29990101T000000.000000Z{old.name[23:]}")
    rewrite(home, "c")
    assert kept(home) == ["b\n", "a\n"]


def test_the_same_text_is_not_kept_twice_in_a_row(home: Workspace) -> None:
    write(home, "a\n")
    rewrite(home, "b")
    write(home, "a\n")
    rewrite(home, "c")
    assert kept(home) == ["a\n"]


def test_kept_versions_are_closed_to_others(home: Workspace) -> None:
    write(home, "a\n")
    rewrite(home, "b")
    (file,) = (home.private / "history" / DAY).iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_kept_versions_are_no_notes(home: Workspace) -> None:
    write(home, "a\n")
    rewrite(home, "b")
    assert [file.path for file in discover(home, (), 1000).files] == [DAY]


def test_a_note_without_a_history(home: Workspace) -> None:
    assert versions(home, DAY) == ()


@pytest.mark.parametrize("path", ["../a.md", "other.md", ""])
def test_the_history_of_what_is_no_note(home: Workspace, path: str) -> None:
    with pytest.raises(PathError):
        versions(home, path)


@pytest.mark.parametrize("link", ["history", "history/memory"])
def test_a_history_that_is_a_link_is_refused(home: Workspace, tmp_path: Path, link: str) -> None:
    (tmp_path / "elsewhere").mkdir()
    (home.private / link).parent.mkdir(parents=True)
    (home.private / link).symlink_to(tmp_path / "elsewhere")
    write(home, "a\n")
    with pytest.raises(PathError, match="is a symbolic link"):
        rewrite(home, "b")
    assert (text_of(home), list((tmp_path / "elsewhere").iterdir())) == ("a\n", [])


# bounds


@pytest.mark.promise("P12")
def test_the_oldest_versions_of_a_note_go(home: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "MAX_VERSIONS", 3)
    write(home, "0\n")
    rewrite(home, "1", "2", "3", "4", "5")
    assert kept(home) == ["4\n", "3\n", "2\n"]


@pytest.mark.promise("P12")
def test_the_oldest_of_all_go_but_never_the_newest_of_a_note(
    home: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(home, "a" * 50, "memory/old.md")
    rewrite(home, "b", path="memory/old.md")
    write(home, "0" * 10)
    rewrite(home, "1" * 10, "2" * 10)
    monkeypatch.setattr(history, "MAX_BYTES", 75)
    rewrite(home, "3" * 10)
    assert (kept(home, "memory/old.md"), kept(home)) == (["a" * 50], ["2" * 10, "1" * 10])


# restore


def test_a_version_is_restored_and_the_present_text_kept(home: Workspace) -> None:
    write(home, "a\n")
    rewrite(home, "b")
    restore(home, DAY, versions(home, DAY)[0].name)
    assert (text_of(home), kept(home)) == ("a\n", ["b\n", "a\n"])


def test_a_note_that_is_gone_is_restored(home: Workspace) -> None:
    write(home, "a\n")
    rewrite(home, "b")
    remove_note(home, DAY)
    restore(home, DAY, versions(home, DAY)[0].name)
    assert text_of(home) == "a\n"


@pytest.mark.parametrize(
    "version", ["", "none.md", "../../../MEMORY.md", "20261116T000000.000000Z-0123456789ab.md"]
)
def test_a_version_that_does_not_exist(home: Workspace, version: str) -> None:
    write(home, "a\n", "MEMORY.md")
    with pytest.raises(PathError, match="there is no earlier version"):
        restore(home, DAY, version)
    assert not (home.root / DAY).exists()


# scrub


@pytest.mark.parametrize(
    ("needle", "before", "after"),
    [
        ("- pin 42", "- a\n- pin 42\n- b\n", "- a\n- b\n"),
        ("- pin 42", "- a\n  * pin 42\n- b\n", "- a\n- b\n"),
        ("- pin 42\n", "- a\n- pin 42", "- a\n"),
        ("- pin 42", "- a\r\n- pin 42\r\n- b\r\n", "- a\r\n- b\r\n"),
        ("- pin 42", "- a\n- pin 42 (at home)\n", "- a\n (at home)\n"),
        ("- pin 42", "- pin 421\n- b\n", "- pin 421\n- b\n"),
        ("- pin 42", "the pin 42\n", "the pin 42\n"),
        ("- pin\n  42", "- a\n- pin\n\n  42\n- b\n", "- a\n- b\n"),
        ("- pin\n  42", "- pin\n- b\n  42\n", "- pin\n- b\n  42\n"),
        ("pin (.*)", "a\npin (.*)\npin x\n", "a\npin x\n"),
        ("- pin 42", "- pin 42\n- a\n- pin 42\n", "- a\n"),
        ("- pin 42", "\ufeff- pin 42\n- a\n", "\ufeff- a\n"),
        ("1. pin 42", "3. pin 42\n4. a\n", "4. a\n"),
    ],
)
def test_a_text_is_taken_out_of_what_is_kept(home: Workspace, needle: str, before: str, after: str) -> None:
    write(home, before)
    present = before.removeprefix("\ufeff").replace("\r\n", "\n").removesuffix("\n")
    edit(home, DAY, 1, present.count("\n") + 1, "gone", present)
    changed = scrub(home, needle)
    assert (kept(home), bool(changed)) == ([after], before != after)


def test_the_trash_is_scrubbed_too(home: Workspace) -> None:
    write(home, "- a\n- pin 42\n")
    item = remove_note(home, DAY)
    assert scrub(home, "- pin 42") == [f"trash/{item.name}/{DAY}"]
    restore_note(home, item)
    assert text_of(home) == "- a\n"


def test_what_held_nothing_else_goes(home: Workspace) -> None:
    write(home, "- pin 42\n")
    rewrite(home, "- b")
    write(home, "- pin 42\n", "memory/other.md")
    remove_note(home, "memory/other.md")
    assert len(scrub(home, "- pin 42")) == 2
    assert (versions(home, DAY), trash.items(home)) == ((), ())


def test_scrubbed_versions_have_the_name_of_what_they_hold(home: Workspace) -> None:
    write(home, "- a\n- pin 42\n")
    edit(home, DAY, 1, 2, "- b", "- a\n- pin 42")
    before = versions(home, DAY)[0]
    scrub(home, "- pin 42")
    after = versions(home, DAY)[0]
    assert (after.time, after.name != before.name) == (before.time, True)


def test_unfinished_files_may_hold_the_text_and_go(home: Workspace) -> None:
    append(home, DAY, "- a")
    left = [home.root, home.root / "memory", home.private, home.private / "history" / "memory"]
    (home.private / "history" / "memory").mkdir(parents=True)
    for folder in left:
        (folder / f"{TEMPORARY_PREFIX}{'0' * 32}{TEMPORARY_SUFFIX}").write_text("- pin 42", encoding="utf-8")
    scrub(home, "- pin 42")
    assert list(home.root.rglob(f"{TEMPORARY_PREFIX}*")) == []


@pytest.mark.parametrize("needle", ["", " \n ", "\n"])
def test_nothing_to_forget_changes_nothing(home: Workspace, needle: str) -> None:
    write(home, "a\n\nb\n")
    delete(home, DAY, 1, 1, "a")
    assert (scrub(home, needle), kept(home)) == ([], ["a\n\nb\n"])
