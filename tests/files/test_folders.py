"""Below a root no link is followed, however deep, with descriptors of folders and without."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from memlines import folders
from memlines.errors import PathError
from memlines.files.atomic import create, listing, make_folders, read, remove, replace, unlink
from memlines.files.scan import discover, folders_below
from memlines.folders import Tree, open_file
from memlines.paths import Workspace

pytestmark = pytest.mark.promise("P7")


@pytest.fixture(params=["with descriptors", "without"])
def root(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A root with a folder and a link to the outside in it, on a system of either kind."""
    if request.param == "without":
        monkeypatch.setattr(folders, "HAS_DESCRIPTORS", False)
    elif not folders.HAS_DESCRIPTORS:
        pytest.skip("there are no descriptors of folders here")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "a.md").write_text("secret", encoding="utf-8")
    (tmp_path / "root" / "in").mkdir(parents=True)
    (tmp_path / "root" / "in" / "a.md").write_text("old", encoding="utf-8")
    (tmp_path / "root" / "link").symlink_to(tmp_path / "outside")
    (tmp_path / "root" / "in" / "link.md").symlink_to(tmp_path / "outside" / "a.md")
    return tmp_path / "root"


def test_a_file_is_read_replaced_and_removed(root: Path) -> None:
    assert read(root / "in" / "a.md", root=root) == b"old"
    replace(root / "in" / "a.md", b"new", expected=b"old", root=root)
    assert (root / "in" / "a.md").read_bytes() == b"new"
    remove(root / "in" / "a.md", b"new", root=root)
    make_folders(root / "in" / "deep" / "er", root)
    assert create(root / "in" / "deep" / "er" / "b.md", "b", root=root, mtime_ns=1_000_000_000)
    assert (root / "in" / "deep" / "er" / "b.md").stat().st_mtime_ns == 1_000_000_000


def test_nothing_behind_a_linked_folder_is_reached(root: Path) -> None:
    behind = root / "link" / "a.md"
    for reach in (
        lambda: read(behind, root=root),
        lambda: open_file(behind, root),
        lambda: create(root / "link" / "b.md", "b", root=root),
        lambda: replace(behind, b"new", expected=b"secret", root=root),
        lambda: remove(behind, b"secret", root=root),
        lambda: unlink(behind, root=root),
        lambda: make_folders(root / "link" / "new", root),
        lambda: listing(root / "link", root=root),
        lambda: folders_below(root / "link", root),
    ):
        with pytest.raises(PathError, match="is a symbolic link"):
            reach()
    assert [path.name for path in (root.parent / "outside").iterdir()] == ["a.md"]
    assert (root.parent / "outside" / "a.md").read_bytes() == b"secret"


def test_a_linked_file_is_not_opened(root: Path) -> None:
    with pytest.raises(PathError, match="is a symbolic link"):
        read(root / "in" / "link.md", root=root)


def test_the_root_itself_may_be_a_link(root: Path) -> None:
    (root.parent / "way").symlink_to(root)
    assert read(root.parent / "way" / "in" / "a.md", root=root.parent / "way") == b"old"


def test_no_path_leads_upwards(root: Path) -> None:
    with pytest.raises(PathError):
        read(root / "in" / ".." / ".." / "outside" / "a.md", root=root)


def test_a_folder_swapped_after_it_was_opened_is_still_the_same(root: Path) -> None:
    if not folders.HAS_DESCRIPTORS:
        pytest.skip("what is open has no name of its own here")
    with Tree(root) as tree:
        folder = tree.enter("in")
        (root / "in").rename(root / "aside")
        (root / "in").symlink_to(root.parent / "outside")
        assert folder.look("a.md").st_ino == (root / "aside" / "a.md").stat().st_ino


@pytest.mark.skipif(os.name == "nt", reason="paths are not so long there")
@pytest.mark.promise("P12")
def test_a_thousand_nested_folders_take_few_descriptors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """They are removed by another program: pytest, like many, cannot remove what is nested so deep."""
    workspace = tmp_path / "w"
    deepest = workspace / "memory"
    deepest.mkdir(parents=True)
    here = Path.cwd()
    os.chdir(deepest)
    try:
        for _ in range(1000):
            Path("d").mkdir()
            os.chdir("d")
        Path("deep.md").write_text("deep", encoding="utf-8")
    finally:
        os.chdir(here)
    request.addfinalizer(lambda: subprocess.run(["rm", "-r", str(workspace)], check=True))
    most = 0
    held: set[int] = set()
    really_open, really_close = os.open, os.close

    def watched(*arguments: object, **options: object) -> int:
        nonlocal most
        handle = really_open(*arguments, **options)  # type: ignore[arg-type]
        held.add(handle)
        most = max(most, len(held))
        return handle

    def closed(handle: int) -> None:
        held.discard(handle)
        really_close(handle)

    monkeypatch.setattr(os, "open", watched)
    monkeypatch.setattr(os, "close", closed)
    found = discover(Workspace(workspace), (), 1000)
    assert [file.path.count("/") for file in found.files] == [1001]
    assert 0 < most < 70
    with os.fdopen(open_file(found.files[0].real, found.files[0].root), "rb") as stream:
        assert stream.read() == b"deep"


@pytest.mark.skipif(not folders.HAS_DESCRIPTORS, reason="permissions are not like that here")
def test_a_link_put_there_while_a_file_is_closed_to_others_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside, inside = tmp_path / "outside", tmp_path / "root" / "a"
    inside.parent.mkdir()
    for file in (outside, inside):
        file.write_text("text", encoding="utf-8")
        file.chmod(0o644)

    def swap_first(name: str, mode: int, chmod: Callable[..., None] = os.chmod, **options: Any) -> None:
        inside.unlink()
        inside.symlink_to(outside)
        if options.get("follow_symlinks", True):
            chmod(name, mode, **options)

    monkeypatch.setattr(os, "chmod", swap_first)
    with closing(folders.Folder.at(tmp_path / "root")) as folder:
        folder.tighten_file("a", shared=False)
    assert outside.stat().st_mode & 0o777 == 0o644


@pytest.mark.skipif(not folders.HAS_DESCRIPTORS, reason="permissions are not like that here")
def test_a_file_is_closed_to_others_where_a_link_cannot_be_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").write_text("text", encoding="utf-8")
    (tmp_path / "a").chmod(0o644)

    def refuse(name: str, mode: int, chmod: Callable[..., None] = os.chmod, **options: Any) -> None:
        if not options.get("follow_symlinks", True):
            raise NotImplementedError
        chmod(name, mode, **options)

    monkeypatch.setattr(os, "chmod", refuse)
    with closing(folders.Folder.at(tmp_path)) as folder:
        folder.tighten_file("a", shared=False)
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o600


def test_a_file_cannot_be_entered(root: Path) -> None:
    with closing(folders.Folder.at(root / "in")) as folder, pytest.raises(NotADirectoryError):
        folder.enter("a.md")


def test_a_root_that_is_a_file_is_no_folder(root: Path) -> None:
    if folders.HAS_DESCRIPTORS:
        with pytest.raises(NotADirectoryError):
            folders.Folder.at(root / "in" / "a.md")


def test_without_descriptors_another_file_of_the_name_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folders, "HAS_DESCRIPTORS", False)
    for name in ("a", "b"):
        (tmp_path / name).write_text(name, encoding="utf-8")
    other = (tmp_path / "b").lstat()
    with closing(folders.Folder.at(tmp_path)) as folder:
        monkeypatch.setattr(os, "lstat", lambda _: other)
        with pytest.raises(PathError):
            folder.open("a")
