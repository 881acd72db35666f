"""One memory for all worktrees of a git repository, found by the files of git."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from memlines import Memory
from memlines.serve.hooks import thin
from memlines.serve.hooks.events import Events
from memlines.settings.workspace import find_workspace
from memlines.worktrees import linked_worktrees, main_worktree, memory_of
from tests.programs import Cli
from tests.settings.test_settings import user_file
from tests.transcripts.test_sources_hosts import claude_session

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not there")


def git(folder: Path, *arguments: str) -> None:
    who = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "protocol.file.allow=always"]
    subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def main(tmp_path: Path) -> Path:
    """A repository with one commit and a memory that is not committed."""
    root = tmp_path.resolve() / "project"
    (root / "sub").mkdir(parents=True)
    (root / "sub/code.py").write_text("pass\n", encoding="utf-8")
    git(root, "init", "-q", "-b", "main")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "first")
    (root / "MEMORY.md").write_text("The tea is green.\n", encoding="utf-8")
    return root


@pytest.fixture
def linked(main: Path) -> Path:
    """A worktree of it, without a memory."""
    place = main.parent / "feature"
    git(main, "worktree", "add", "-q", str(place))
    return place


def test_a_worktree_uses_the_memory_of_the_main_one(main: Path, linked: Path) -> None:
    assert find_workspace(linked / "sub") == (main, "the main worktree of this repository")


def test_the_main_worktree_stays_as_it_is(main: Path, linked: Path) -> None:
    assert find_workspace(main / "sub") == (main, "the nearest folder with MEMORY.md or .memory")


def test_a_memory_of_its_own_wins(main: Path, linked: Path) -> None:
    (linked / "MEMORY.md").write_text("The tea is black.\n", encoding="utf-8")
    assert find_workspace(linked / "sub").folder == linked


def test_the_nearest_memory_wins_inside_the_main_one_too(main: Path, linked: Path) -> None:
    (main / "sub/MEMORY.md").write_text("The tea is white.\n", encoding="utf-8")
    assert find_workspace(linked / "sub").folder == main / "sub"


def test_a_memory_above_both_is_farther_away(main: Path, linked: Path) -> None:
    (main.parent / "MEMORY.md").write_text("The tea is red.\n", encoding="utf-8")
    assert find_workspace(linked).folder == main


def test_without_any_memory_the_main_worktree_gets_it(main: Path, linked: Path) -> None:
    (main / "MEMORY.md").unlink()
    assert find_workspace(linked).folder == main


def test_separate_worktrees_have_no_memory_in_common(main: Path) -> None:
    inside = main / ".worktrees/feature"
    git(main, "worktree", "add", "-q", str(inside))
    user_file("worktrees: separate\n")
    assert find_workspace(inside) == (inside, "the current folder")


def test_a_worktree_inside_the_main_one_shares_its_memory(main: Path) -> None:
    inside = main / ".worktrees/feature"
    git(main, "worktree", "add", "-q", str(inside))
    assert find_workspace(inside).folder == main


def test_a_search_in_a_worktree_finds_what_was_remembered_in_another(
    main: Path, linked: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(linked)
    with Memory(settings={"embeddings.provider": "none"}) as memory:
        memory.remember("We chose Postgres 17 for billing.", topic="decisions")
    monkeypatch.chdir(main)
    with Memory(settings={"embeddings.provider": "none"}) as memory:
        assert [hit.path for hit in memory.search("postgres billing")] == ["memory/decisions.md"]


def test_status_says_that_it_is_the_memory_of_the_main_worktree(
    cli: Cli, main: Path, linked: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(linked)
    assert f"{main} (the main worktree of this repository)" in cli("status").out


# What is no worktree


def test_a_git_file_that_points_nowhere_is_ignored(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("gitdir: /nowhere/.git/worktrees/x\n", encoding="utf-8")
    assert (main_worktree(str(tmp_path)), find_workspace(tmp_path).folder) == (None, tmp_path)


def test_a_worktree_whose_main_is_gone_has_no_memory_but_its_own(main: Path, linked: Path) -> None:
    shutil.rmtree(main)
    assert find_workspace(linked).folder == linked


def test_a_git_file_cannot_claim_the_memory_of_another_repository(main: Path, linked: Path) -> None:
    foreign = main.parent / "download"
    pretended = foreign / "pretended"
    pretended.mkdir(parents=True)
    (foreign / ".git").write_text("gitdir: pretended\n", encoding="utf-8")
    (pretended / "commondir").write_text(f"{main}/.git\n", encoding="utf-8")
    (pretended / "gitdir").write_text(f"{foreign}/.git\n", encoding="utf-8")
    assert find_workspace(foreign).folder == foreign


def test_a_copy_of_a_worktree_is_not_that_worktree(main: Path, linked: Path) -> None:
    copy = main.parent / "copy"
    shutil.copytree(linked, copy)
    assert find_workspace(copy).folder == copy


def test_a_submodule_is_a_repository_of_its_own(main: Path, tmp_path: Path) -> None:
    git(main, "submodule", "add", "-q", str(main), "inner")
    assert main_worktree(str(main / "inner")) is None


def test_a_bare_repository_has_no_main_worktree(main: Path) -> None:
    git(main.parent, "clone", "-q", "--bare", str(main), "bare.git")
    git(main.parent / "bare.git", "worktree", "add", "-q", str(main.parent / "of-bare"), "main")
    assert find_workspace(main.parent / "of-bare").folder == main.parent / "of-bare"


@pytest.mark.parametrize(
    "content", [b"", b"gitdir:", b"\xff\xfe", b"gitdir: a\0b", b"gitdir: " + b"x" * 9000]
)
def test_an_odd_git_file_is_ignored(tmp_path: Path, content: bytes) -> None:
    (tmp_path / ".git").write_bytes(content)
    assert memory_of(str(tmp_path.resolve())) is None


# Hooks, sessions, installations


def test_a_hook_in_a_worktree_asks_the_engine_of_the_main_one(main: Path, linked: Path) -> None:
    assert thin.workspace_of(str(linked / "sub")) == str(main)


def test_a_hook_follows_the_variable(main: Path, linked: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMLINES_WORKTREES", "separate")
    assert thin.workspace_of(str(linked)) is None


def test_an_event_of_a_separate_worktree_gets_no_answer(main: Path, linked: Path) -> None:
    user_file("worktrees: separate\nembeddings: {provider: none}\n")
    events = Events(main)
    try:
        given = {"session_id": "one", "cwd": str(linked), "source": "startup"}
        assert events.run("claude-code", "SessionStart", given) == {}
    finally:
        events.close()


def test_sessions_of_a_worktree_belong_to_the_shared_memory(
    main: Path, linked: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    claude_session(main.parent, str(linked))
    monkeypatch.setenv("HOME", str(main.parent))
    settings = {
        "embeddings.provider": "none",
        "sources": ("memory", "sessions"),
        "sessions.clients": ("claude-code",),
    }
    with Memory(main, settings) as memory:
        assert len(memory.sync().indexed) == 2


def test_the_worktrees_of_a_folder_are_listed(main: Path, linked: Path) -> None:
    assert linked_worktrees(str(main / "sub")) == [str(linked / "sub")]


def test_installing_in_a_subfolder_goes_to_the_root_of_the_repository(
    cli: Cli, main: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (main / "MEMORY.md").unlink()
    monkeypatch.chdir(main / "sub")
    cli("install", "opencode")
    assert ((main / ".opencode").is_dir(), (main / "MEMORY.md").is_file()) == (True, True)


def test_installing_in_a_worktree_makes_no_second_memory(
    cli: Cli, main: Path, linked: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(linked)
    cli("install", "opencode")
    assert ((linked / ".opencode").is_dir(), os.path.lexists(linked / "MEMORY.md")) == (True, False)
