"""Files are replaced whole, and only if they hold what their writer last saw."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from memlines.errors import PathError
from memlines.files.atomic import (
    TEMPORARY_PREFIX,
    TEMPORARY_SUFFIX,
    Changed,
    Unconfirmed,
    append,
    create,
    make_folders,
    read,
    remove,
    replace,
    sweep,
    sync_folder,
)
from memlines.folders import Folder
from tests.programs import unprivileged_run

pytestmark = pytest.mark.promise("P1", "P2")

OPEN_FILES = Path("/proc/self/fd")


def listing(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def permissions(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


# replace


def test_a_file_that_holds_what_is_expected_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"old")
    replace(tmp_path / "a.md", b"new", expected=b"old")
    assert ((tmp_path / "a.md").read_bytes(), listing(tmp_path)) == (b"new", ["a.md"])


@pytest.mark.parametrize("present", [b"other", b"", b"old and more", b"ol"])
def test_a_file_that_holds_something_else_stays(tmp_path: Path, present: bytes) -> None:
    (tmp_path / "a.md").write_bytes(present)
    with pytest.raises(Changed):
        replace(tmp_path / "a.md", b"new", expected=b"old")
    assert ((tmp_path / "a.md").read_bytes(), listing(tmp_path)) == (present, ["a.md"])


def test_a_file_that_is_gone_is_not_made_again(tmp_path: Path) -> None:
    with pytest.raises(Changed):
        replace(tmp_path / "a.md", b"new", expected=b"old")
    assert listing(tmp_path) == []


def test_a_file_that_should_not_exist_stays(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"old")
    with pytest.raises(Changed):
        replace(tmp_path / "a.md", b"new", expected=None)
    assert (tmp_path / "a.md").read_bytes() == b"old"


def test_a_change_after_the_new_content_was_written_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.md").write_bytes(b"old")
    fsync = os.fsync

    def save_meanwhile(handle: int) -> None:
        (tmp_path / "a.md").write_bytes(b"mine")
        fsync(handle)

    monkeypatch.setattr(os, "fsync", save_meanwhile)
    with pytest.raises(Changed):
        replace(tmp_path / "a.md", b"new", expected=b"old")
    assert (tmp_path / "a.md").read_bytes() == b"mine"


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o664, 0o755])
def test_permissions_stay(tmp_path: Path, mode: int) -> None:
    (tmp_path / "a.md").write_bytes(b"old")
    (tmp_path / "a.md").chmod(mode)
    replace(tmp_path / "a.md", b"new", expected=b"old")
    assert permissions(tmp_path / "a.md") == mode


@pytest.mark.parametrize("expected", [b"old", None])
@pytest.mark.parametrize("target", ["file", "missing"])
def test_a_link_is_never_replaced(tmp_path: Path, expected: bytes | None, target: str) -> None:
    (tmp_path / "file").write_bytes(b"old")
    (tmp_path / "a.md").symlink_to(target)
    with pytest.raises(PathError, match="is a symbolic link"):
        replace(tmp_path / "a.md", b"new", expected)
    assert ((tmp_path / "file").read_bytes(), (tmp_path / "a.md").is_symlink()) == (b"old", True)


def test_a_write_may_take_several_calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write
    monkeypatch.setattr(os, "write", lambda handle, data: write(handle, data[:3]))
    create(tmp_path / "a.md", "longer than three")
    assert (tmp_path / "a.md").read_bytes() == b"longer than three"


def test_a_file_that_is_read_only_stays(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"old")
    (tmp_path / "a.md").chmod(0o444)
    done = unprivileged_run(
        "import sys\n"
        "from pathlib import Path\n"
        "from memlines.files.atomic import replace\n"
        "try: replace(Path(sys.argv[1]), b'new', b'old')\n"
        "except PermissionError as error: print(error.strerror)\n",
        tmp_path / "a.md",
    )
    assert (done.stdout, (tmp_path / "a.md").read_bytes()) == ("it is read-only\n", b"old")


def failing_for_folders(handle: int) -> None:
    if stat.S_ISDIR(os.fstat(handle).st_mode):
        raise OSError(errno.EIO, "Input/output error")


def test_a_change_that_is_not_confirmed_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.md").write_bytes(b"old")
    monkeypatch.setattr(os, "fsync", failing_for_folders)
    with pytest.raises(Unconfirmed) as error:
        replace(tmp_path / "a.md", b"new", expected=b"old")
    assert error.value.filename == str(tmp_path / "a.md")


def test_a_file_system_that_cannot_sync_folders_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(handle: int) -> None:
        raise OSError(errno.EINVAL, "Invalid argument")

    monkeypatch.setattr(os, "fsync", refuse)
    sync_folder(tmp_path)


# remove, read


def test_a_file_that_holds_what_is_expected_is_removed(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"old")
    remove(tmp_path / "a.md", b"old")
    assert listing(tmp_path) == []


def test_a_file_that_holds_something_else_is_not_removed(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"new")
    with pytest.raises(Changed):
        remove(tmp_path / "a.md", b"old")
    assert listing(tmp_path) == ["a.md"]


@pytest.mark.parametrize(
    ("limit", "expected"), [(0, b"0"), (3, b"0123"), (9, b"0123456789"), (99, b"0123456789")]
)
def test_one_byte_above_the_limit_is_read(tmp_path: Path, limit: int, expected: bytes) -> None:
    (tmp_path / "a.md").write_bytes(b"0123456789")
    assert read(tmp_path / "a.md", limit) == expected


def test_what_does_not_exist_is_nothing(tmp_path: Path) -> None:
    assert read(tmp_path / "a.md") is None


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="not a regular file"):
        read(tmp_path)


# make_folders, sweep


def test_missing_folders_are_made_and_durable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[str] = []
    monkeypatch.setattr(Folder, "sync", lambda folder: synced.append(Path(folder.path).name))
    make_folders(tmp_path / "a" / "b" / "c", tmp_path)
    assert ((tmp_path / "a" / "b" / "c").is_dir(), synced) == (True, [tmp_path.name, "a", "b"])


def test_a_folder_that_is_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "a").symlink_to("elsewhere")
    with pytest.raises(PathError, match="is a symbolic link"):
        make_folders(tmp_path / "a" / "b", tmp_path)
    assert listing(tmp_path / "elsewhere") == []


def test_a_file_in_the_place_of_a_folder_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    with pytest.raises(NotADirectoryError):
        make_folders(tmp_path / "a" / "b", tmp_path)


@pytest.mark.promise("P12")
@pytest.mark.skipif(not OPEN_FILES.is_dir(), reason="what is open cannot be listed here")
def test_nothing_stays_open(tmp_path: Path) -> None:
    file = tmp_path / "a.md"
    for use in (
        lambda: create(file, b"old", root=tmp_path),
        lambda: append(file, b" and more", root=tmp_path, durable=True),
        lambda: replace(file, b"new", b"old and more", root=tmp_path),
        lambda: read(file, root=tmp_path),
        lambda: remove(file, b"new", root=tmp_path),
    ):
        before = len(list(OPEN_FILES.iterdir()))
        use()
        assert len(list(OPEN_FILES.iterdir())) == before


@pytest.mark.promise("P12")
def test_unfinished_files_are_swept_away_and_nothing_else(tmp_path: Path) -> None:
    stale = f"{TEMPORARY_PREFIX}{'0' * 32}{TEMPORARY_SUFFIX}"
    others = ["a.md", ".memlines-config.tmp", "b.tmp", f"x{stale}"]
    for name in [stale, *others]:
        (tmp_path / name).touch()
    sweep(tmp_path)
    assert listing(tmp_path) == sorted(others)


def test_a_missing_folder_needs_no_sweep(tmp_path: Path) -> None:
    sweep(tmp_path / "no")
