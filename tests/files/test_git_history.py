"""What notes held in commits: read by git itself, of any repository, without running anything of it."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memlines.errors import WorkspaceError
from memlines.files.git import run_git
from memlines.files.git_history import GitHistory
from memlines.paths import Workspace
from tests.repositories import commit_notes, git, needs_git, noon

pytestmark = needs_git
LIMIT = 1_000_000
NOTE = "memory/topic.md"


def notes_on(folder: Path, day: str) -> dict[str, bytes]:
    """Return the notes of a workspace on a day, as its commits have them."""
    history = GitHistory(Workspace.at(folder))
    found = history.commit_at(noon(day))
    blobs = history.notes_in(found, LIMIT) if found else {}
    contents = history.read(blobs.values())
    return {path: contents[blob.id] for path, blob in blobs.items() if blob.id in contents}


def trouble_of(folder: Path) -> str:
    history = GitHistory(Workspace.at(folder))
    history.first_commit()
    return history.trouble


@pytest.fixture
def repository(workspace: Path) -> Path:
    """A repository with a note that was changed once."""
    commit_notes(workspace, "2026-02-01", {NOTE: "old\n", "code.md": "no note\n"})
    commit_notes(workspace, "2026-04-01", {NOTE: "new\n"})
    return workspace


def test_a_note_is_what_the_last_commit_up_to_a_moment_has(repository: Path) -> None:
    assert [notes_on(repository, f"2026-0{month}-15").get(NOTE) for month in (1, 2, 3, 4)] == [
        None,
        b"old\n",
        b"old\n",
        b"new\n",
    ]


def test_only_notes_are_read(repository: Path) -> None:
    write = {"memory/picture.png": "x", "memory/node_modules/a.md": "x", "README.md": "x", "MEMORY.md": "m"}
    for name, text in write.items():
        (repository / name).parent.mkdir(parents=True, exist_ok=True)
        (repository / name).write_text(text, encoding="utf-8")
    (repository / "memory/link.md").symlink_to("topic.md")
    commit_notes(repository, "2026-05-01", {})
    assert sorted(notes_on(repository, "2026-06-01")) == ["MEMORY.md", "memory/code.md", NOTE]


def test_names_with_blanks_and_other_letters_are_read(repository: Path) -> None:
    commit_notes(repository, "2026-05-01", {"memory/ä b\tc@d.md": "x"})
    assert notes_on(repository, "2026-06-01")["memory/ä b\tc@d.md"] == b"x"


def test_a_workspace_may_be_a_folder_of_the_repository(tmp_path: Path) -> None:
    inner = tmp_path / "project" / "notes"
    inner.mkdir(parents=True)
    git(tmp_path / "project", "init", "-q")
    commit_notes(inner.parent, "2026-02-01", {})
    (inner / "memory").mkdir()
    (inner / NOTE).write_text("inner\n", encoding="utf-8")
    commit_notes(inner.parent, "2026-03-01", {})
    history = GitHistory(Workspace.at(inner))
    versions = history.read_versions(NOTE, history.commits_of(NOTE, 10), LIMIT)
    assert (notes_on(inner, "2026-03-02"), [content for _, content in versions]) == (
        {NOTE: b"inner\n"},
        [b"inner\n"],
    )


def test_versions_of_a_note_come_newest_first(repository: Path) -> None:
    git(repository, "rm", "-q", NOTE)
    git(repository, "commit", "-q", "-m", "gone", day="2026-05-01")
    history = GitHistory(Workspace.at(repository))
    versions = history.read_versions(NOTE, history.commits_of(NOTE, 10), LIMIT)
    assert [(one.time, content) for one, content in versions] == [
        (noon("2026-05-01"), None),
        (noon("2026-04-01"), b"new\n"),
        (noon("2026-02-01"), b"old\n"),
    ]


def test_commit_times_that_run_backwards_follow_the_first_parents(repository: Path) -> None:
    commit_notes(repository, "2026-01-15", {NOTE: "wrong clock\n"})
    commit_notes(repository, "2026-06-01", {NOTE: "last\n"})
    assert [notes_on(repository, day)[NOTE] for day in ("2026-03-01", "2026-06-01")] == [
        b"wrong clock\n",
        b"last\n",
    ]


def test_what_a_merge_brought_counts_from_the_merge_on(repository: Path) -> None:
    git(repository, "checkout", "-q", "-b", "side")
    commit_notes(repository, "2026-04-10", {"memory/side.md": "side\n"})
    git(repository, "checkout", "-q", "main")
    git(repository, "merge", "-q", "--no-ff", "-m", "merge", "side", day="2026-05-01")
    found = [notes_on(repository, f"2026-0{month}-15") for month in (4, 5)]
    assert ["memory/side.md" in notes for notes in found] == [False, True]


def test_there_are_no_commits_before_1970(repository: Path) -> None:
    assert GitHistory(Workspace.at(repository)).commit_at(datetime(1960, 1, 1, tzinfo=UTC)) is None


def test_a_note_above_the_limit_is_left_out(repository: Path) -> None:
    history = GitHistory(Workspace.at(repository))
    last = history.commit_at(noon("2026-06-01"))
    assert last
    assert history.notes_in(last, 3) == {}


# Repositories that are odd, damaged or hostile


def test_outside_of_a_repository_there_is_nothing_and_no_trouble(workspace: Path) -> None:
    assert (notes_on(workspace, "2026-06-01"), trouble_of(workspace)) == ({}, "")


def test_a_repository_without_commits_is_no_trouble(workspace: Path) -> None:
    git(workspace, "init", "-q")
    assert (notes_on(workspace, "2026-06-01"), trouble_of(workspace)) == ({}, "")


def test_without_git_the_trouble_is_named(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(repository))
    assert trouble_of(repository).endswith("git is not installed")


def test_a_git_that_cannot_be_started_is_named(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "bin" / "git"
    program.parent.mkdir()
    program.write_bytes(b"\0")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent))
    with pytest.raises(WorkspaceError, match="cannot be started"):
        run_git(repository, "status")


def test_a_git_file_that_points_nowhere_is_named(workspace: Path) -> None:
    (workspace / ".git").write_text("gitdir: /nowhere/at/all\n", encoding="utf-8")
    assert trouble_of(workspace).endswith("its .git is gone, or leads to another repository")


@pytest.mark.parametrize("how", ["file", "link", "commondir", "objects"])
@pytest.mark.promise("P11")
def test_a_git_that_leads_to_another_repository_is_not_followed(
    repository: Path, tmp_path: Path, how: str
) -> None:
    hostile = tmp_path / "hostile"
    (hostile / "memory").mkdir(parents=True)
    there = hostile / ".git"
    if how == "file":
        there.write_text(f"gitdir: {repository}/.git\n", encoding="utf-8")
    elif how == "link":
        there.symlink_to(repository / ".git")
    else:
        shutil.copytree(repository / ".git", there)
        if how == "commondir":
            (there / "commondir").write_text(f"{repository}/.git\n", encoding="utf-8")
        else:
            shutil.rmtree(there / "objects")
            (there / "objects").symlink_to(repository / ".git/objects")
    assert (notes_on(hostile, "2026-06-01"), trouble_of(hostile) != "") == ({}, True)


def test_a_bare_repository_is_none(tmp_path: Path, repository: Path) -> None:
    git(tmp_path, "clone", "-q", "--bare", str(repository), "bare")
    (tmp_path / "bare/memory").mkdir()
    assert (notes_on(tmp_path / "bare", "2026-06-01"), trouble_of(tmp_path / "bare")) == ({}, "")


@pytest.mark.promise("P11")
def test_a_bare_repository_among_the_notes_is_not_asked(tmp_path: Path, repository: Path) -> None:
    git(tmp_path, "clone", "-q", "--bare", str(repository), "outer/inner")
    commit_notes(tmp_path / "outer", "2026-03-01", {})
    (tmp_path / "outer/inner/memory").mkdir()
    assert notes_on(tmp_path / "outer/inner", "2026-06-01") == {}


def test_a_submodule_and_a_linked_worktree_have_their_commits(tmp_path: Path, repository: Path) -> None:
    outer = tmp_path / "outer"
    outer.mkdir()
    git(outer, "init", "-q")
    git(outer, "submodule", "add", "-q", str(repository), "notes")
    git(repository, "worktree", "add", "-q", str(tmp_path / "linked"))
    expected = {NOTE: b"new\n", "memory/code.md": b"no note\n"}
    assert [notes_on(folder, "2026-06-01") for folder in (outer / "notes", tmp_path / "linked")] == [
        expected,
        expected,
    ]


def test_a_worktree_whose_main_is_gone_is_named(tmp_path: Path, repository: Path) -> None:
    git(repository, "worktree", "add", "-q", str(tmp_path / "linked"))
    shutil.rmtree(repository)
    assert trouble_of(tmp_path / "linked").endswith("its .git is gone, or leads to another repository")


def test_a_shallow_clone_knows_its_own_commits(tmp_path: Path, repository: Path) -> None:
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{repository}", "shallow")
    days = [notes_on(tmp_path / "shallow", day).get(NOTE) for day in ("2026-03-01", "2026-05-01")]
    first = GitHistory(Workspace.at(tmp_path / "shallow")).first_commit()
    assert (days, first and first.time) == ([None, b"new\n"], noon("2026-04-01"))


def _damage(repository: Path, name: str) -> None:
    file = repository / ".git/objects" / name[:2] / name[2:]
    file.chmod(stat.S_IRUSR | stat.S_IWUSR)
    file.write_bytes(b"damaged")


def test_a_damaged_note_is_named_and_others_are_read(repository: Path) -> None:
    commit_notes(repository, "2026-05-01", {"memory/a.md": "a\n", "memory/z.md": "z\n"})
    _damage(repository, git(repository, "rev-parse", f"HEAD:{NOTE}").stdout.strip())
    history = GitHistory(Workspace.at(repository))
    last = history.commit_at(noon("2026-06-01"))
    assert last
    contents = history.read(history.notes_in(last, LIMIT).values())
    assert (sorted(contents.values()), history.trouble != "") == ([b"a\n", b"no note\n", b"z\n"], True)


def test_a_damaged_commit_is_named(repository: Path) -> None:
    _damage(repository, git(repository, "rev-parse", "HEAD").stdout.strip())
    assert trouble_of(repository).startswith("the commits of this repository cannot be read")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
def test_a_repository_of_another_user_is_refused_by_git(repository: Path) -> None:
    for place in (repository, repository / ".git"):
        os.chown(place, 12345, 12345)
    assert "dubious ownership" in trouble_of(repository)


@pytest.mark.promise("P11")
def test_nothing_of_a_repository_is_run(repository: Path, tmp_path: Path) -> None:
    mark, program = tmp_path / "ran", tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {mark}\n", encoding="utf-8")
    program.chmod(0o755)
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    shutil.copy(program, hooks / "post-index-change")
    settings = {
        "core.fsmonitor": program,
        "core.hooksPath": hooks,
        "core.pager": program,
        "core.sshCommand": program,
        "core.askPass": program,
        "filter.x.smudge": program,
        "diff.x.textconv": program,
        "remote.origin.url": f"ext::{program}",
        "remote.origin.promisor": "true",
        "protocol.ext.allow": "always",
        "extensions.partialClone": "origin",
        "core.repositoryFormatVersion": "1",
    }
    for key, value in settings.items():
        git(repository, "config", key, str(value))
    (repository / ".git/info/attributes").write_text("*.md filter=x diff=x\n", encoding="utf-8")
    blob = git(repository, "rev-parse", f"HEAD:{NOTE}").stdout.strip()  # which a partial clone would fetch
    (repository / ".git/objects" / blob[:2] / blob[2:]).unlink()
    found = notes_on(repository, "2026-06-01")
    history = GitHistory(Workspace.at(repository))
    versions = [content for _, content in history.read_versions(NOTE, history.commits_of(NOTE, 1), LIMIT)]
    assert (sorted(found), versions, mark.exists()) == (["memory/code.md"], [None], False)


@pytest.mark.promise("P11")
def test_variables_of_git_change_nothing(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_OBJECT_DIRECTORY", "GIT_INDEX_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "elsewhere"))
    history = GitHistory(Workspace.at(repository))
    assert (history.commit_at(noon("2026-06-01")) is not None, history.trouble) == (True, "")


def test_ten_thousand_commits_are_no_trouble(repository: Path) -> None:
    """Only the commits themselves are walked; none of them is looked into."""
    head = git(repository, "rev-parse", "HEAD").stdout.strip()
    lines = []
    for number in range(10_000):
        when = int(noon("2026-05-01").timestamp()) + number
        lines.append(f"commit refs/heads/main\ncommitter A <a@example.org> {when} +0000\ndata 1\nx\n")
        lines.append(f"from {head}\n" if number == 0 else "")
    commits = "".join(lines).encode()
    subprocess.run(["git", "fast-import", "--quiet", "--force"], cwd=repository, input=commits, check=True)
    history = GitHistory(Workspace.at(repository))
    first = history.first_commit()
    assert (notes_on(repository, "2026-03-01")[NOTE], first and first.time, history.trouble) == (
        b"old\n",
        noon("2026-02-01"),
        "",
    )
