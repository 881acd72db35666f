"""A folder of Markdown is copied below memory/, and nothing there is overwritten."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from memlines import Memory
from memlines.admin.imports.vault import CopiedNotes, import_vault
from memlines.errors import PathError
from memlines.paths import Workspace
from memlines.settings import load
from tests.admin.backups import TODAY, fill, tree
from tests.indexes import silent
from tests.memories import WORDS_ONLY

VAULT = {
    "Home.md": b"---\naliases: [Start]\n---\nSee [[Boats/Petrel|my yawl]].\n",
    "Boats/Petrel.md": b"- [rig] Has two masts #boat/yawl (since 1998)\n- berthed_at [[Veere]]\n",
    "Boats/petrel.png": b"\x89PNG",
    ".obsidian/app.json": b"{}",
    ".obsidian/notes.md": b"hidden",
    ".trash/Old.md": b"gone",
    "node_modules/x/README.md": b"package",
}
NOTES = {"memory/vault/Home.md", "memory/vault/Boats/Petrel.md"}


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    return fill(tmp_path / "vault", VAULT)


def bring_in(folder: Path, vault: Path, *, name: str | None = None, dry_run: bool = False) -> CopiedNotes:
    workspace = Workspace.at(folder)
    return import_vault(
        workspace, load(workspace).settings, vault, name=name, dry_run=dry_run, progress=silent
    )


def test_notes_keep_their_paths_and_bytes(workspace: Path, vault: Path) -> None:
    done = bring_in(workspace, vault)
    assert (set(done.created), set(tree(workspace))) == (NOTES, NOTES)
    assert (workspace / "memory/vault/Home.md").read_bytes() == VAULT["Home.md"]


def test_a_note_keeps_its_time(workspace: Path, vault: Path) -> None:
    os.utime(vault / "Home.md", ns=(10**18, 10**18))
    bring_in(workspace, vault)
    assert (workspace / "memory/vault/Home.md").stat().st_mtime_ns == 10**18


def test_attachments_are_counted(workspace: Path, vault: Path) -> None:
    assert bring_in(workspace, vault).attachments == 1


def test_a_second_import_adds_nothing(workspace: Path, vault: Path) -> None:
    bring_in(workspace, vault)
    before = tree(workspace)
    done = bring_in(workspace, vault)
    assert (done.created, done.kept_both, done.same, tree(workspace)) == ((), (), 2, before)


def test_a_note_that_differs_is_kept_beside_the_other(workspace: Path, vault: Path) -> None:
    fill(workspace, {"memory/vault/Home.md": b"mine"})
    beside = f"memory/vault/Home-imported-{TODAY}.md"
    done = bring_in(workspace, vault)
    assert [(pair.path, pair.imported_as) for pair in done.kept_both] == [("memory/vault/Home.md", beside)]
    assert (tree(workspace)["memory/vault/Home.md"], tree(workspace)[beside]) == (b"mine", VAULT["Home.md"])


def test_a_dry_run_writes_nothing(workspace: Path, vault: Path) -> None:
    assert set(bring_in(workspace, vault, dry_run=True).created) == NOTES
    assert tree(workspace) == {}


@pytest.mark.parametrize(
    ("name", "below"), [("My notes", "My-notes"), ("../up", "up"), ("..", "vault"), ("ünï", "ünï")]
)
def test_the_folder_gets_a_plain_name(workspace: Path, vault: Path, name: str, below: str) -> None:
    assert bring_in(workspace, vault, name=name).below == f"memory/{below}"


@pytest.mark.parametrize("query", ["Start", "yawl", "masts rig", "Veere", "tag:boat"])
def test_aliases_links_and_tags_find_a_note(workspace: Path, vault: Path, query: str) -> None:
    bring_in(workspace, vault)
    with Memory(workspace, WORDS_ONLY) as memory:
        assert memory.search(query, min_score=0.0)[0].path in NOTES


def test_a_link_is_not_followed(workspace: Path, vault: Path, tmp_path: Path) -> None:
    fill(tmp_path / "elsewhere", {"secret.md": b"secret"})
    (vault / "link.md").symlink_to(tmp_path / "elsewhere/secret.md")
    (vault / "folder").symlink_to(tmp_path / "elsewhere")
    done = bring_in(workspace, vault)
    assert {problem.path for problem in done.left_out} == {"memory/vault/link.md", "memory/vault/folder"}
    assert set(tree(workspace)) == NOTES


def test_a_link_in_the_workspace_is_not_written_through(workspace: Path, vault: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (workspace / "memory/vault").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(PathError, match="symbolic link"):
        bring_in(workspace, vault)
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.parametrize("content", [b"\xff\xfe", b"a\0b"])
def test_what_is_no_text_is_left_out(workspace: Path, vault: Path, content: bytes) -> None:
    fill(vault, {"odd.md": content})
    assert [problem.path for problem in bring_in(workspace, vault).left_out] == ["memory/vault/odd.md"]


def test_a_note_that_is_too_large_is_left_out(workspace: Path, vault: Path) -> None:
    fill(vault, {"large.md": b"x" * 10_000_001})
    assert [problem.path for problem in bring_in(workspace, vault).left_out] == ["memory/vault/large.md"]


def test_a_pipe_is_left_out(workspace: Path, vault: Path) -> None:
    os.mkfifo(vault / "pipe.md")
    assert "not a regular file" in bring_in(workspace, vault).left_out[0].reason


@pytest.mark.parametrize("part", [".", "memory", "memory/topic", ".."])
def test_a_part_of_the_workspace_is_refused(workspace: Path, part: str) -> None:
    (workspace / "memory/topic").mkdir()
    with pytest.raises(PathError, match="part of this workspace"):
        bring_in(workspace, workspace / part)


def test_a_folder_that_is_not_there_is_told(workspace: Path, tmp_path: Path) -> None:
    with pytest.raises(PathError, match="there is no folder"):
        bring_in(workspace, tmp_path / "gone")


def test_a_file_is_refused(workspace: Path, vault: Path) -> None:
    with pytest.raises(PathError, match="not a folder"):
        bring_in(workspace, vault / "Home.md")
