"""`memlines install` and `memlines uninstall` say what they do, and begin a memory where there is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from memlines.clients.client import integration_folder
from memlines.clients.opencode import global_folder
from tests.clients.places import names, tree, write
from tests.programs import Cli, keyboard


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home" / "config"))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def test_everything_of_the_integration_arrives_in_the_project(cli: Cli, project: Path) -> None:
    assert cli("install", "opencode", "-w", project).code == 0
    source = integration_folder("opencode")
    parts = ("commands", "plugins", "memlines", "skills")
    shipped = {f"{part}/{name}" for part in parts for name in names(source / part)}
    assert shipped <= names(project / ".opencode")


def test_it_says_what_was_made(cli: Cli, project: Path) -> None:
    told = cli("install", "opencode", "-w", project).out
    assert "made          plugins/memlines.js" in told


def test_it_says_what_to_do_next(cli: Cli, project: Path) -> None:
    assert "/memory status" in cli("install", "opencode", "-w", project).out.splitlines()[-1]


def test_the_second_time_there_is_nothing_to_do(cli: Cli, project: Path) -> None:
    cli("install", "opencode", "-w", project)
    assert "nothing to do" in cli("install", "opencode", "-w", project).out


def test_a_project_without_a_memory_gets_one(cli: Cli, project: Path) -> None:
    told = cli("install", "opencode", "-w", project).out
    assert (project / "MEMORY.md").exists()
    assert "had no memory" in told


@pytest.mark.parametrize("mark", ["memory/x.md", ".memory/config.yaml", "memory.md", "MEMORY.md"])
def test_a_project_with_a_memory_keeps_it_as_it_is(cli: Cli, project: Path, mark: str) -> None:
    write(project, {mark: ""})
    cli("install", "opencode", "-w", project)
    assert {name for name in names(project) if not name.startswith(".opencode/")} == {mark}


def test_a_global_installation_begins_no_memory(
    cli: Cli, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    assert cli("install", "opencode", "--global").code == 0
    assert tree(project) == {}
    assert "plugins/memlines.js" in names(global_folder())


def test_without_a_name_the_nearest_workspace_is_meant(
    cli: Cli, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(project, {"MEMORY.md": "", "src/deep/x.py": ""})
    monkeypatch.chdir(project / "src" / "deep")
    cli("install", "opencode")
    assert (project / ".opencode" / "plugins" / "memlines.js").exists()


def test_a_dry_run_changes_nothing(cli: Cli, project: Path, tmp_path: Path) -> None:
    told = cli("install", "opencode", "-w", project, "--dry-run")
    assert "would make" in told.out
    assert tree(project) == {}
    assert tree(tmp_path / "home") == {}


def test_the_result_as_json(cli: Cli, project: Path) -> None:
    told = cli("install", "opencode", "-w", project, "--json").json
    assert told.keys() == {"host", "folder", "dry_run", "files", "begun", "notes"}
    assert {file["action"] for file in told["files"]} == {"make"}


@pytest.mark.parametrize("folder", ["~", "/"])
def test_a_folder_that_holds_every_project_is_no_project(
    cli: Cli, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(Path(folder).expanduser())
    told = cli("install", "claude-code", "--dry-run")
    assert told.code == 2
    assert "every project in it would share its memory" in told.err


def test_a_conflict_is_an_error_that_says_what_to_do(cli: Cli, project: Path) -> None:
    write(project, {".opencode/commands/memory.md": "mine\n"})
    told = cli("install", "opencode", "-w", project)
    assert told.code == 7
    assert "Move it away" in told.err


def test_a_conflict_begins_no_memory(cli: Cli, project: Path) -> None:
    write(project, {".opencode/commands/memory.md": "mine\n"})
    cli("install", "opencode", "-w", project)
    assert names(project) == {".opencode/commands/memory.md"}


def test_a_project_cannot_be_named_for_all_of_them(cli: Cli, project: Path) -> None:
    assert cli("install", "opencode", "--global", "-w", project).code == 2


def test_an_unknown_client_is_refused_with_those_that_are_known(cli: Cli) -> None:
    told = cli("install", "emacs")
    assert told.code == 2
    assert "knows no client 'emacs'; it knows claude-code, codex, opencode" in told.err
    assert "For OpenClaw see docs/openclaw.md" in told.err


def test_a_client_may_be_named_in_capitals(cli: Cli, project: Path) -> None:
    assert cli("install", "OpenCode", "-w", project).code == 0


@pytest.mark.parametrize("host", ["opencode", "claude-code", "codex"])
def test_the_home_of_the_user_is_no_project(
    cli: Cli, project: Path, monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    monkeypatch.setenv("HOME", str(project))
    told = cli("install", host, "-w", project)
    assert (told.code, tree(project)) == (2, {})
    assert "--global" in told.err


def test_what_was_installed_in_the_home_can_be_taken_out(
    cli: Cli, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli("install", "opencode", "-w", project)
    monkeypatch.setenv("HOME", str(project))
    assert cli("uninstall", "opencode", "-w", project).code == 0
    assert not (project / ".opencode").exists()


@pytest.mark.parametrize("host", ["claude-code", "codex"])
def test_what_is_installed_for_all_projects_is_not_taken_out_as_that_of_the_home(
    cli: Cli, project: Path, monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    monkeypatch.setenv("HOME", str(project))
    monkeypatch.chdir(project)
    monkeypatch.delenv("CODEX_HOME", raising=False)
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    assert "also installed" not in cli("install", host, "--global").out
    before = tree(project)
    for options in ([], ["--force"], ["--dry-run"]):
        refused = cli("uninstall", host, *options)
        assert (refused.code, tree(project)) == (2, before)
        assert "--global" in refused.err
    assert cli("uninstall", host, "--global").code == 0
    assert not any("memlines" in path for path in tree(project))


def test_a_workspace_above_is_spoken_of(cli: Cli, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(project, {"MEMORY.md": "", "src/x.py": ""})
    monkeypatch.chdir(project / "src")
    first, *_ = cli("install", "opencode").out.splitlines()
    assert first == f"This is in {project}, the workspace above; '--workspace .' installs here."


@pytest.mark.parametrize(("answer", "code"), [("n", 130), ("", 130), ("y", 0)])
def test_a_person_is_asked_before_it_is_installed_above(
    cli: Cli, project: Path, monkeypatch: pytest.MonkeyPatch, answer: str, code: int
) -> None:
    write(project, {"MEMORY.md": "", "src/x.py": ""})
    monkeypatch.chdir(project / "src")
    keyboard(monkeypatch)(answer)
    told = cli("install", "opencode")
    assert (told.code, (project / ".opencode").exists()) == (code, code == 0)
    assert "Install there? [y/N]" in told.err


def test_the_root_of_a_repository_is_not_asked_about(
    cli: Cli, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(project, {"MEMORY.md": "", "src/x.py": "", ".git/HEAD": "ref: refs/heads/main\n"})
    monkeypatch.chdir(project / "src")
    keyboard(monkeypatch)()
    told = cli("install", "opencode")
    assert (told.code, "the root of the repository" in told.out) == (0, True)


def test_a_folder_for_notes_without_any_is_no_memory(cli: Cli, project: Path) -> None:
    write(project, {"memory/program.py": ""})
    cli("install", "opencode", "-w", project)
    assert (project / "MEMORY.md").exists()


def test_settings_that_cannot_be_read_are_a_warning(cli: Cli, project: Path) -> None:
    write(project, {".memory/config.yaml": "a: [\n"})
    told = cli("install", "opencode", "-w", project)
    assert told.code == 0
    assert "config.yaml" in told.err


def test_hooks_that_run_twice_are_spoken_of(
    cli: Cli, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "home" / "codex"))
    cli("install", "codex", "--global")
    told = cli("install", "codex", "-w", project).out
    assert "take one of the two out" in told
    assert "runs once" not in told


def test_two_installations_are_spoken_of(cli: Cli, project: Path) -> None:
    cli("install", "opencode", "--global")
    assert "it runs once" in cli("install", "opencode", "-w", project).out


def test_one_installation_is_not_spoken_of_as_two(cli: Cli, project: Path) -> None:
    assert "it runs once" not in cli("install", "opencode", "-w", project).out


def test_uninstalling_keeps_the_notes(cli: Cli, project: Path) -> None:
    cli("install", "opencode", "-w", project)
    cli("uninstall", "opencode", "-w", project)
    assert not (project / ".opencode").exists()
    assert (project / "MEMORY.md").exists()


def test_uninstalling_says_what_it_keeps(cli: Cli, project: Path) -> None:
    cli("install", "opencode", "-w", project)
    write(project, {".opencode/commands/memory.md": "mine\n"})
    told = cli("uninstall", "opencode", "-w", project).out
    why = "it was changed since it was installed (uninstall --force removes it)"
    assert f"kept          commands/memory.md: {why}" in told


def test_uninstalling_says_that_the_notes_are_kept(cli: Cli, project: Path) -> None:
    cli("install", "opencode", "-w", project)
    told = cli("uninstall", "opencode", "-w", project).out
    assert told.splitlines()[-1] == "Notes are kept: MEMORY.md, memory/, .memory/"


def test_uninstalling_says_in_one_line_what_came_with_the_repository(cli: Cli, project: Path) -> None:
    cli("install", "opencode", "-w", project)
    (project / ".opencode/memlines/receipt.json").unlink()
    told = cli("uninstall", "opencode", "-w", project).out
    assert told.count("came with the repository") == 1


def test_uninstalling_where_nothing_is_installed(cli: Cli, project: Path) -> None:
    told = cli("uninstall", "opencode", "-w", project)
    assert told.code == 0
    assert "it is not installed here" in told.out


def test_looking_at_what_would_be_removed(cli: Cli, project: Path) -> None:
    cli("install", "opencode", "-w", project)
    before = tree(project)
    assert "would remove" in cli("uninstall", "opencode", "-w", project, "--dry-run").out
    assert tree(project) == before
