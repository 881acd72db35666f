"""What doctor says about git: how notes are merged, and what merges left in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from memlines import Memory
from tests.admin.doctor import WORDS_ONLY, everything, look, only, repair, wrong
from tests.memories import write
from tests.repositories import commit, git, make_repository

LIVE = "- 2026-11-14 [fact] Staging listens on port 8080. ^k3f5x2m7qa\n"
EDITED = "- 2026-11-14 [fact] Staging listens on port 9090. {edited: 2026-11-16} ^k3f5x2m7qa\n"
REWORDED = "- 2026-11-14 [fact] Staging answers on port 8181. ^k3f5x2m7qa\n"
MARKED = "<<<<<<< HEAD\n- green\n=======\n- black\n>>>>>>> other\n"


@pytest.fixture
def tracked(workspace: Path) -> Path:
    """A workspace whose notes are in git."""
    write(workspace, {"tea.md": "- green\n"})
    commit(make_repository(workspace))
    return workspace


def test_a_workspace_outside_of_git_is_well(workspace: Path) -> None:
    assert wrong(look(workspace), "merges") == []


def test_notes_that_are_not_in_git_are_well(workspace: Path) -> None:
    write(workspace, {"tea.md": "- green\n"})
    make_repository(workspace)
    assert wrong(look(workspace), "merges") == []


def test_notes_in_git_without_attributes_are_a_warning(tracked: Path) -> None:
    found = only(look(tracked), "merges")
    assert (found.level, found.repair) == ("warning", "attributes")
    assert found.message.endswith("add lines to daily logs or memory/facts.md")


def test_a_repair_writes_the_attributes_and_changes_no_note(tracked: Path) -> None:
    before = everything(tracked / "memory")
    assert [one.repair for one in wrong(repair(tracked), "merges")] == [None]  # only the hook is left
    assert everything(tracked / "memory") == before
    assert "union" in git(tracked, "check-attr", "merge", "--", "memory/facts.md").stdout


HOOK = "#!/bin/sh\nexec memlines check --staged\n"


@pytest.mark.parametrize(
    ("hooks_path", "file"),
    [
        ("", ".git/hooks/pre-commit"),
        (".githooks", ".githooks/pre-commit"),
        (".husky/_", ".husky/pre-commit"),
        ("", ".pre-commit-config.yaml"),
    ],
)
def test_notes_of_a_team_without_a_hook_that_checks_them_are_a_warning(
    tracked: Path, hooks_path: str, file: str
) -> None:
    repair(tracked)
    if hooks_path:
        git(tracked, "config", "core.hooksPath", hooks_path)
    found = only(look(tracked), "merges")
    assert (found.level, f"{hooks_path or '.git/hooks'}/pre-commit, and" in found.todo) == ("warning", True)
    (tracked / file).parent.mkdir(parents=True, exist_ok=True)
    (tracked / file).write_text("#!/bin/sh\nmake test\n", encoding="utf-8")
    assert only(look(tracked), "merges").todo == found.todo
    (tracked / file).write_text(HOOK, encoding="utf-8")
    assert wrong(look(tracked), "merges") == []


def test_the_hook_of_the_repository_counts_in_a_linked_worktree(tracked: Path, tmp_path: Path) -> None:
    repair(tracked)
    commit(tracked)
    git(tracked, "worktree", "add", "--quiet", str(tmp_path / "linked"))
    assert f"{tracked.as_posix()}/.git/hooks/pre-commit" in only(look(tmp_path / "linked"), "merges").todo
    (tracked / ".git/hooks").mkdir(exist_ok=True)
    (tracked / ".git/hooks/pre-commit").write_text(HOOK, encoding="utf-8")
    assert wrong(look(tmp_path / "linked"), "merges") == []


def test_a_linked_worktree_is_looked_at_too(tracked: Path, tmp_path: Path) -> None:
    git(tracked, "worktree", "add", "--quiet", str(tmp_path / "linked"))
    assert only(look(tmp_path / "linked"), "merges").repair == "attributes"


def test_a_repository_that_git_refuses_is_a_warning(workspace: Path) -> None:
    (workspace / ".git").write_text("gitdir: nowhere\n", encoding="utf-8")
    found = only(look(workspace), "merges")
    assert (found.level, "git cannot be asked" in found.message) == ("warning", True)


def test_a_missing_git_is_a_warning(tracked: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tracked))
    assert only(look(tracked), "merges").message == "git is not installed, or not found"


def test_a_program_that_a_repository_names_is_not_started(tracked: Path, tmp_path: Path) -> None:
    git(tracked, "config", "core.fsmonitor", f"touch {tmp_path / 'started'}; false")
    look(tracked)
    assert not (tmp_path / "started").exists()


@pytest.mark.parametrize("name", ["tea.md", "facts.md"])
def test_marks_of_a_conflict_are_a_warning(workspace: Path, name: str) -> None:
    write(workspace, {name: MARKED})
    assert only(look(workspace), "merges").message.startswith(f"memory/{name} has a merge conflict on line 1")


def test_lines_that_contradict_each_other_are_a_warning(workspace: Path) -> None:
    write(workspace, {"facts.md": LIVE + REWORDED})
    assert "lines 1 and 2" in only(look(workspace), "merges").message


def test_a_line_that_does_not_count_is_named(workspace: Path) -> None:
    write(workspace, {"facts.md": LIVE + EDITED})
    assert only(look(workspace), "merges").message.endswith("another line has the same id: 1")


def test_what_a_merge_brings_back_after_it_was_forgotten_is_named(tracked: Path) -> None:
    write(tracked, {"facts.md": LIVE})
    repair(tracked)
    commit(tracked)
    with Memory(tracked, WORDS_ONLY) as memory:
        memory.forget(memory.forget_candidates("memory/facts.md#L1"))
    git(tracked, "checkout", "--quiet", "--", "memory/facts.md")
    found = wrong(look(tracked), "merges")[-1]
    assert found.message.endswith("perhaps by a merge: memory/facts.md#L1")
