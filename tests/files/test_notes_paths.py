"""Which paths may be written, and that nothing is written anywhere else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from memlines.errors import PathError, WorkspaceError, WriteError
from memlines.files.notes import Written, append
from memlines.paths import Workspace

pytestmark = pytest.mark.promise("P7")

DAY = "memory/2026-11-16.md"


@pytest.fixture
def home(workspace: Path) -> Workspace:
    return Workspace.at(workspace)


@pytest.mark.parametrize(
    "path",
    [
        "MEMORY.md",
        "memory.md",
        "memory/a.md",
        "memory/b/c.md",
        "./memory/a.md",
        "memory//a.md",
        " memory/é.md ",
    ],
)
def test_a_path_that_may_be_written(home: Workspace, path: str) -> None:
    assert append(home, path, "- a").created


@pytest.mark.parametrize(
    "path",
    [
        "",
        " ",
        "a\0.md",
        "memory/\ud800.md",
        "other.md",
        "notes/a.md",
        "memory",
        "memory/",
        "memory/a.txt",
        "memory/a.MD",
        "Memory/a.md",
        "../a.md",
        "memory/../MEMORY.md",
        "memory/../../a.md",
        "/etc/a.md",
        "//a.md",
        "~/a.md",
        ".memory/a.md",
        "memory/.memory/a.md",
        "memory/.git/a.md",
        "sessions/a.md",
    ],
)
def test_a_path_that_may_not_be_written(home: Workspace, path: str) -> None:
    with pytest.raises(PathError):
        append(home, path, "- a")
    assert [found.name for found in home.root.rglob("*.md")] == []


def test_an_absolute_path_is_refused_even_inside(home: Workspace) -> None:
    with pytest.raises(PathError, match="not a plain path below the workspace"):
        append(home, str(home.root / DAY), "- a")


@pytest.mark.parametrize(
    "name",
    [
        "x" * 300 + ".md",
        "é" * 120 + ".md",
        "d/" * 500 + "a.md",
        ".md",
        "a:b.md",
        "a\nb.md",
        "con.md",
        "a. /b.md",
    ],
)
def test_a_name_that_not_every_system_can_use_is_refused(home: Workspace, name: str) -> None:
    with pytest.raises(PathError):
        append(home, f"memory/{name}", "- a")
    assert list((home.root / "memory").iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="such a file cannot exist")
def test_a_note_that_has_such_a_name_already_can_be_changed(home: Workspace) -> None:
    (home.root / "memory/a:b.md").write_bytes(b"- a\n")
    assert append(home, "memory/a:b.md", "- b") == Written("memory/a:b.md", 2, 2)


@pytest.mark.parametrize("link", ["memory/a.md", "memory/sub", "memory"])
def test_nothing_is_written_through_a_link(home: Workspace, tmp_path: Path, link: str) -> None:
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "sub").mkdir(parents=True)
    (elsewhere / "a.md").write_bytes(b"keep")
    if link == "memory":
        (home.root / "memory").rmdir()
    (home.root / link).symlink_to(elsewhere / "a.md" if link.endswith(".md") else elsewhere)
    with pytest.raises(PathError, match="symbolic link"):
        append(home, "memory/sub/a.md" if link == "memory/sub" else "memory/a.md", "- a")
    assert (elsewhere / "a.md").read_bytes() == b"keep"


def test_a_private_folder_that_is_a_link_is_refused(home: Workspace, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    home.private.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(WorkspaceError, match="is a symbolic link"):
        append(home, DAY, "- a")


def test_a_folder_with_the_name_of_a_note(home: Workspace) -> None:
    (home.root / DAY).mkdir()
    with pytest.raises(WriteError, match="not a regular file"):
        append(home, DAY, "- a")
