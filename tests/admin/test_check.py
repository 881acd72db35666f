"""`memlines check` refuses secrets and personal notes, in the notes and in what git is about to commit."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from memlines.admin.check import Checked, _Reader, check_notes, check_repository, check_staged
from memlines.errors import WorkspaceError
from memlines.paths import Workspace, personal_folder
from memlines.settings import Settings, load
from tests.memories import write
from tests.programs import MAIN, Cli
from tests.repositories import commit, git, make_repository

TOKEN = "ghp_" + "0123456789abcdefghijABCDEFGHIJ012345"
SECRET = f"# Tea\n\n- fine\n- the token is {TOKEN}\n"
PERSONAL = "My landlord is called Quentin and lives upstairs"


@pytest.fixture
def repository(workspace: Path) -> Path:
    """A workspace that is a git repository."""
    return make_repository(workspace)


def found(workspace: Path, *, staged: bool) -> list[tuple[str, int | None, str]]:
    opened = Workspace.at(workspace)
    checked = (check_staged if staged else check_notes)(opened, load(opened).settings)
    return [(one.path, one.line, one.kind) for one in checked.refused]


def stage(workspace: Path, **notes: str) -> None:
    write(workspace, {f"{name}.md": text for name, text in notes.items()})
    git(workspace, "add", "--all")


@pytest.fixture(params=[False, True], ids=["notes", "staged"])
def staged(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


# Secrets


def test_a_secret_is_named_by_its_line_and_kind(repository: Path, staged: bool) -> None:
    stage(repository, tea=SECRET)
    assert found(repository, staged=staged) == [("memory/tea.md", 4, "github-token")]


def test_a_secret_is_never_shown(repository: Path, cli: Cli) -> None:
    stage(repository, tea=SECRET)
    for arguments in (("--staged",), ("--staged", "--json"), ()):
        done = cli("check", *arguments, "--workspace", repository)
        assert (done.code, TOKEN[:12] in done.out + done.err) == (1, False)


def test_notes_without_secrets_pass(repository: Path, staged: bool) -> None:
    stage(repository, tea="# Tea\n\n- The token rotates in March\n", cake="- [redacted:github-token]\n")
    assert found(repository, staged=staged) == []


def test_a_rule_of_the_user_counts(repository: Path, staged: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMLINES_REDACTION__RULES", "badge=B-[0-9]{4}")
    stage(repository, tea="- my badge is B-1234\n")
    assert found(repository, staged=staged) == [("memory/tea.md", 1, "badge")]


def test_a_secret_of_several_lines_is_named_once(repository: Path, staged: bool) -> None:
    key = (
        "-----BEGIN PRIVATE KEY-----\n"
        + "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n" * 4
        + "-----END PRIVATE KEY-----\n"
    )
    stage(repository, tea=f"# Tea\n\n{key}")
    assert [line for _, line, _ in found(repository, staged=staged)] == [3]


def test_windows_line_ends_and_a_byte_order_mark_change_no_numbers(repository: Path, staged: bool) -> None:
    stage(repository, tea="\ufeff" + SECRET.replace("\n", "\r\n"))
    assert found(repository, staged=staged) == [("memory/tea.md", 4, "github-token")]


def test_a_note_that_is_not_utf_8_is_checked_all_the_same(repository: Path, staged: bool) -> None:
    (repository / "memory/tea.md").write_bytes(b"caf\xe9\n" + SECRET.encode())
    git(repository, "add", "--all")
    assert found(repository, staged=staged) == [("memory/tea.md", 5, "github-token")]


def test_a_note_that_is_too_large_to_check_is_refused(
    repository: Path, staged: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMLINES_FILES__MAX_BYTES", "10000")
    stage(repository, tea="- word\n" * 2_000, cake="- fine\n")
    assert found(repository, staged=staged) == [("memory/tea.md", None, "large")]


@given(
    st.lists(st.sampled_from([*"ab<>/`\n ", TOKEN, "<private>", "</private>", "password: ", "\r\n"])).map(
        "".join
    )
)
def test_every_text_is_checked_and_lines_are_those_of_the_text(text: str) -> None:
    found = _Reader(Workspace(Path("/")), Settings()).check("memory/tea.md", text)
    assert all(one.line and one.line <= text.count("\n") + 1 for one in found)


# What is private or personal


def test_a_private_block_is_refused(repository: Path, staged: bool) -> None:
    stage(repository, tea="- one\n- two <private>a\nb</private> c\n- three\n\n<private>d</private>\n")
    assert found(repository, staged=staged) == [
        ("memory/tea.md", 2, "private"),
        ("memory/tea.md", 6, "private"),
    ]


def test_an_entry_of_the_personal_memory_is_refused(repository: Path, staged: bool) -> None:
    write(personal_folder(), {"home.md": f"# Home\n\n- 2026-11-01: {PERSONAL}\n- Tea\n"})
    stage(repository, tea=f"# Home\n\n- 10:00 {PERSONAL}.\n- 11:00 Tea\n- {PERSONAL}, I think\n")
    assert found(repository, staged=staged) == [("memory/tea.md", 3, "personal")]


def test_a_fact_of_the_personal_memory_is_refused(repository: Path, staged: bool) -> None:
    write(personal_folder(), {"facts.md": f"- 2026-11-01 [fact] {PERSONAL}. ^k3f5x2m7qa\n"})
    stage(repository, facts=f"- 2026-11-02 [other] {PERSONAL}. {{importance: 0.9}} ^m2p6t7u4wc\n")
    assert found(repository, staged=staged) == [("memory/facts.md", 1, "personal")]


def test_a_file_of_the_personal_memory_is_refused(
    repository: Path, staged: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMLINES_PERSONAL_FOLDER", str(repository / "memory/me"))
    write(repository, {"memory/me/memory/home.md": "- Tea\n", "memory/tea.md": "- Tea\n"})
    git(repository, "add", "--all")
    assert found(repository, staged=staged) == [("memory/me/memory/home.md", None, "personal")]


def test_a_personal_memory_in_a_repository_of_its_own_passes(
    repository: Path, staged: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMLINES_PERSONAL_FOLDER", str(repository))
    stage(repository, home=f"- {PERSONAL}\n")
    assert found(repository, staged=staged) == []


def test_a_file_of_the_private_folder_is_refused(repository: Path) -> None:
    stage(repository, tea="- Tea\n")
    (repository / ".memory").mkdir()
    (repository / ".memory/index.sqlite").write_bytes(b"x")
    git(repository, "add", "--force", ".memory")
    assert found(repository, staged=True) == [(".memory/index.sqlite", None, "private")]


def test_a_private_folder_of_another_workspace_of_the_repository_is_refused(repository: Path) -> None:
    (repository / "app/.memory").mkdir(parents=True)
    (repository / "app/.memory/writes.jsonl").write_bytes(b"{}")
    git(repository, "add", "--force", "app")
    assert found(repository, staged=True) == [("app/.memory/writes.jsonl", None, "private")]


def test_the_settings_of_a_project_may_be_shared_without_secrets(repository: Path) -> None:
    (repository / ".memory").mkdir()
    for key, expected in (("set-me", []), (TOKEN, [(".memory/config.yaml", 1, "github-token")])):
        (repository / ".memory/config.yaml").write_text(f"query: {key}\n", encoding="utf-8")
        git(repository, "add", "--force", ".memory/config.yaml")
        opened = Workspace.at(repository)
        checked = check_staged(opened, load(Workspace.at(personal_folder().parent)).settings)
        assert [(one.path, one.line, one.kind) for one in checked.refused] == expected


# What a merge left


def test_a_conflict_that_is_not_resolved_is_refused(repository: Path, staged: bool) -> None:
    marked = "- one\n<<<<<<< HEAD\n- two\n=======\n- three\n>>>>>>> theirs\n"
    stage(repository, tea=marked, cake=f"```\n{marked}```\n")
    assert found(repository, staged=staged) == [("memory/tea.md", 2, "conflict")]


# What is staged


def test_what_is_staged_counts_and_not_what_is_in_the_folder(repository: Path) -> None:
    stage(repository, tea=SECRET)
    write(repository, {"tea.md": "- fine\n", "cake.md": SECRET})
    assert found(repository, staged=True) == [("memory/tea.md", 4, "github-token")]


def test_what_is_committed_already_is_not_staged(repository: Path) -> None:
    write(repository, {"tea.md": SECRET})
    commit(repository)
    assert found(repository, staged=True) == []


def test_a_secret_can_be_removed(repository: Path) -> None:
    write(repository, {"tea.md": SECRET})
    commit(repository)
    git(repository, "rm", "--quiet", "memory/tea.md")
    assert found(repository, staged=True) == []


def test_a_renamed_note_is_checked(repository: Path) -> None:
    write(repository, {"tea.md": SECRET})
    commit(repository)
    git(repository, "mv", "memory/tea.md", "memory/cake.md")
    assert found(repository, staged=True) == [("memory/cake.md", 4, "github-token")]


def test_a_note_whose_file_is_a_link_by_now_is_checked(repository: Path) -> None:
    stage(repository, tea=SECRET)
    (repository / "memory/tea.md").unlink()
    (repository / "memory/tea.md").symlink_to("nowhere.md")
    assert found(repository, staged=True) == [("memory/tea.md", 4, "github-token")]


def test_a_link_that_is_staged_holds_no_text(repository: Path) -> None:
    (repository / "memory/tea.md").symlink_to("elsewhere.md")
    git(repository, "add", "--all")
    assert found(repository, staged=True) == []


def test_other_files_are_left_to_others(repository: Path) -> None:
    (repository / "app.py").write_text(SECRET, encoding="utf-8")
    stage(repository, tea="- fine\n")
    opened = Workspace.at(repository)
    assert check_staged(opened, load(opened).settings).files == 1


def test_odd_names_are_read(repository: Path) -> None:
    names = ["a b", "ä", "a\nb", 'a"b', "-n", ":(top)x"]
    stage(repository, **dict.fromkeys(names, SECRET))
    assert {path for path, _, _ in found(repository, staged=True)} == {f"memory/{name}.md" for name in names}


def test_a_workspace_below_the_root_is_named_from_the_root(tmp_path: Path) -> None:
    top = make_repository(tmp_path)
    write(top / "notes", {"tea.md": SECRET})
    git(top, "add", "--all")
    assert found(top / "notes", staged=True) == [("notes/memory/tea.md", 4, "github-token")]


@pytest.mark.parametrize("mark", ["MEMORY.md", ".memory", "no-mark"])
def test_every_memory_of_a_repository_is_checked_from_its_root(tmp_path: Path, mark: str) -> None:
    top = make_repository(tmp_path)
    write(top / "notes", {"tea.md": SECRET})
    write(top / "app", {"MEMORY.md": SECRET, "a/cake.md": SECRET})
    git(top, "add", "--all")
    (top / "notes" / mark).mkdir()
    names = ["app/MEMORY.md", "app/memory/a/cake.md", "notes/memory/tea.md"]
    assert [(one.path, one.line) for one in check_repository(top).refused] == [(name, 4) for name in names]
    assert check_repository(top / "app").files == len(names)


def test_a_file_that_only_lies_where_notes_do_is_no_note_of_a_memory_around_it(repository: Path) -> None:
    write(repository, {"MEMORY.md": "# Memory\n"})
    write(repository / "src", {"readme.md": SECRET})
    git(repository, "add", "--all")
    assert check_repository(repository) == Checked(1, ())


def test_each_memory_of_a_repository_is_checked_by_its_own_settings(tmp_path: Path) -> None:
    top = make_repository(tmp_path)
    for name in ("a", "b"):
        write(top / name, {"MEMORY.md": "- word\n" * 2_000})
    (top / "b/.memory").mkdir()
    (top / "b/.memory/config.yaml").write_text("files:\n  max_bytes: 10000\n", encoding="utf-8")
    git(top, "add", "a", "b/MEMORY.md")
    assert [(one.path, one.kind) for one in check_repository(top).refused] == [("b/MEMORY.md", "large")]


def test_the_personal_memory_in_a_repository_of_others_is_refused_from_its_root(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMLINES_PERSONAL_FOLDER", str(repository / "me"))
    write(repository / "me", {"MEMORY.md": "- Tea\n"})
    git(repository, "add", "--all")
    assert [(one.path, one.kind) for one in check_repository(repository).refused] == [
        ("me/MEMORY.md", "personal")
    ]


def test_a_repository_inside_of_a_memory_is_checked(workspace: Path) -> None:
    write(workspace, {"MEMORY.md": "# Memory\n", "tea.md": SECRET})
    git(make_repository(workspace / "memory"), "add", "--all")
    assert [one.path for one in check_repository(workspace / "memory").refused] == ["tea.md"]


def test_a_setting_of_git_does_not_hide_anything(tmp_path: Path) -> None:
    top = make_repository(tmp_path)
    for name in ("diff.relative", "diff.noprefix", "core.quotePath", "diff.mnemonicPrefix"):
        git(top, "config", name, "true")
    git(top, "config", "diff.external", "false")
    write(top / "notes", {"tea.md": SECRET})
    git(top, "add", "--all")
    assert found(top / "notes", staged=True) == [("notes/memory/tea.md", 4, "github-token")]


def test_outside_of_a_repository_there_is_nothing_staged(workspace: Path) -> None:
    with pytest.raises(WorkspaceError, match="not a git repository"):
        found(workspace, staged=True)


def test_without_git_nothing_staged_can_be_read(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(repository))
    with pytest.raises(WorkspaceError, match="git is not installed"):
        found(repository, staged=True)


def test_notes_are_checked_without_git(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(workspace))
    write(workspace, {"tea.md": SECRET})
    assert found(workspace, staged=False) == [("memory/tea.md", 4, "github-token")]


def test_a_bare_repository_has_nothing_staged(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "--bare")
    with pytest.raises(WorkspaceError, match="git cannot be asked"):
        found(tmp_path, staged=True)


# The command


def test_the_command_answers_in_json(repository: Path, cli: Cli) -> None:
    stage(repository, tea=SECRET)
    done = cli("check", "--staged", "--json", "--workspace", repository)
    finding = {
        "path": "memory/tea.md",
        "line": 4,
        "kind": "github-token",
        "reason": "looks like a secret (github-token)",
    }
    assert (done.code, done.json) == (1, {"clean": False, "files": 1, "refused": [finding]})


def test_the_command_says_where(repository: Path, cli: Cli) -> None:
    stage(repository, tea=SECRET)
    done = cli("check", "--workspace", repository)
    assert done.out.splitlines()[0] == "memory/tea.md:4 looks like a secret (github-token)"


def test_the_command_passes_what_is_fine(repository: Path, cli: Cli) -> None:
    stage(repository, tea="- fine\n")
    done = cli("check", "--staged", "--workspace", repository)
    assert (done.code, done.out) == (0, "1 file checked, nothing that should not be shared.\n")


def test_the_command_says_that_nothing_was_checked(
    repository: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repository)
    (repository / "app.py").write_text(SECRET, encoding="utf-8")
    git(repository, "add", "--all")
    done = cli("check", "--staged")
    assert (done.code, done.out) == (0, "No note is staged, so nothing was checked.\n")


# As a hook of git


@pytest.fixture
def hooked(repository: Path) -> Path:
    """A repository whose commits are checked by a hook."""
    hook = repository / ".git/hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "{MAIN}" check --staged\n', encoding="utf-8")
    hook.chmod(0o755)
    return repository


def try_commit(folder: Path, *arguments: str) -> tuple[int, str]:
    done = git(folder, "commit", "--quiet", "--message", "x", *arguments, check=False)
    return done.returncode, done.stdout + done.stderr


def test_a_commit_with_a_secret_is_refused(hooked: Path) -> None:
    stage(hooked, tea=SECRET)
    code, said = try_commit(hooked)
    assert (code, "memory/tea.md:4 looks like a secret (github-token)" in said) == (1, True)
    assert git(hooked, "rev-parse", "--verify", "--quiet", "HEAD", check=False).returncode == 1


@pytest.mark.parametrize("elsewhere", [False, True])
def test_a_commit_with_a_secret_in_a_memory_below_the_root_is_refused(
    hooked: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, elsewhere: bool
) -> None:
    if elsewhere:
        monkeypatch.setenv("MEMLINES_WORKSPACE", str(tmp_path))
    write(hooked, {"MEMORY.md": "# Memory\n"})
    write(hooked / "app/notes", {"MEMORY.md": SECRET})
    git(hooked, "add", "--all")
    code, said = try_commit(hooked / "app")
    assert (code, "app/notes/MEMORY.md:4 looks like a secret" in said) == (1, True)


def test_a_commit_without_a_secret_is_made(hooked: Path) -> None:
    stage(hooked, tea="- fine\n")
    assert try_commit(hooked)[0] == 0


def test_a_commit_of_named_files_is_checked_in_the_index_that_git_makes_for_it(hooked: Path) -> None:
    write(hooked, {"tea.md": "- fine\n"})
    commit(hooked)
    write(hooked, {"tea.md": SECRET, "cake.md": "- fine\n"})
    assert try_commit(hooked, "--", "memory/tea.md")[0] == 1
    assert try_commit(hooked, "--all")[0] == 1


def test_a_commit_in_a_linked_worktree_is_checked(hooked: Path, tmp_path: Path) -> None:
    write(hooked, {"MEMORY.md": "# Memory\n"})
    commit(hooked)
    linked = tmp_path / "linked"
    git(hooked, "worktree", "add", "--quiet", str(linked))
    stage(linked, tea=SECRET)
    assert try_commit(linked)[0] == 1


def test_the_hook_for_pre_commit_calls_the_command() -> None:
    root = Path(__file__).parents[2]
    (hook,) = yaml.safe_load((root / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert (hook["id"], hook["entry"]) == ("memlines-check", "memlines check --staged")
    assert (hook["language"], hook["pass_filenames"], hook["always_run"]) == ("python", False, True)


@pytest.mark.skipif(os.name == "nt", reason="the program is a script")
def test_a_program_named_git_in_the_workspace_is_not_run(
    cli: Cli, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (workspace / "git").write_text("#!/bin/sh\ntouch ran\n", encoding="utf-8")
    (workspace / "git").chmod(0o755)
    monkeypatch.chdir(workspace)
    for path in (f".{os.pathsep}{os.defpath}", f"{os.pathsep}{os.defpath}"):
        monkeypatch.setenv("PATH", path)
        assert cli("check", "--staged", "-w", workspace).code == 4
    assert not (workspace / "ran").exists()
