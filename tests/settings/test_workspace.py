"""Which folder is meant where none is named: the variable, the nearest above, the setting, this one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memlines import Memory
from memlines.errors import SettingsError, WorkspaceError
from memlines.paths import Workspace, user_config_file
from memlines.serve.hooks import thin
from memlines.serve.rpc.workplace import folder_of
from memlines.settings import load, trust
from memlines.settings.workspace import find_workspace
from tests.programs import Cli, program
from tests.settings.test_settings import project_file, user_file

VARIABLE = "MEMLINES_WORKSPACE"


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder without notes, which is the current one."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def marked(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "MEMORY.md").write_text("The tea is green.\n", encoding="utf-8")
    return folder


def test_the_current_folder_is_the_last_resort(elsewhere: Path) -> None:
    assert find_workspace() == (elsewhere, "the current folder")


def test_the_setting_wins_over_the_current_folder(elsewhere: Path, workspace: Path) -> None:
    path = user_file(f"workspace: {workspace}\n")
    assert find_workspace() == (workspace, f"user file {path}")


def test_a_relative_setting_starts_from_the_file_that_names_it(elsewhere: Path) -> None:
    path = user_file("memory: {workspace: ./notes}\n")
    notes = marked(path.parent / "notes")
    assert find_workspace() == (notes, f"user file {path}, as memory.workspace")


def test_the_nearest_workspace_wins_over_the_setting(elsewhere: Path, workspace: Path) -> None:
    user_file(f"workspace: {workspace}\n")
    marked(elsewhere.parent)
    assert find_workspace() == (elsewhere.parent, "the nearest folder with MEMORY.md or .memory")


def test_the_variable_wins_over_the_nearest(
    elsewhere: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    marked(elsewhere)
    monkeypatch.setenv(VARIABLE, str(workspace))
    assert find_workspace() == (workspace, f"environment variable {VARIABLE}")


def test_an_argument_wins_over_the_variable(
    elsewhere: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(elsewhere))
    with Memory(workspace) as named, Memory(settings={"memory": {"workspace": str(workspace)}}) as told:
        assert named.workspace == told.workspace == Workspace.at(workspace)


def test_every_agent_may_have_a_workspace_of_its_own(elsewhere: Path, workspace: Path) -> None:
    user_file(f"workspace: {elsewhere}\nagents: {{work: {{workspace: {workspace}}}}}\n")
    assert find_workspace(overrides={"agent": "work"}).folder == workspace


def test_a_memory_without_a_folder_opens_the_one_that_is_meant(elsewhere: Path, workspace: Path) -> None:
    user_file(f"workspace: {workspace}\n")
    with Memory() as memory:
        assert memory.workspace.root == workspace


def test_a_memory_without_a_folder_opens_the_nearest(
    elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    marked(elsewhere.parent)
    with Memory() as memory:
        assert memory.workspace.root == elsewhere.parent


@pytest.mark.parametrize("named", ["nowhere", "file"])
def test_a_named_folder_that_is_none_is_an_error(elsewhere: Path, cli: Cli, named: str) -> None:
    path = user_file(f"workspace: {named}\n")
    (path.parent / "file").touch()
    outcome = cli("search", "tea")
    assert outcome.code == WorkspaceError.exit_code
    assert f"{str(path.parent / named)!r} from user file {path} does not exist" in outcome.err


def test_a_variable_that_names_no_folder_is_an_error(
    elsewhere: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "nowhere")
    outcome = cli("status")
    assert outcome.code == WorkspaceError.exit_code
    assert f"{str(elsewhere / 'nowhere')!r} from environment variable {VARIABLE}" in outcome.err


def test_an_empty_variable_takes_the_setting_back(
    elsewhere: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    user_file(f"workspace: {workspace}\n")
    monkeypatch.setenv(VARIABLE, "")
    assert find_workspace().folder == elsewhere


def test_a_command_searches_the_workspace_of_the_setting(elsewhere: Path, cli: Cli, workspace: Path) -> None:
    user_file(f"workspace: {marked(workspace)}\n")
    hits = cli("search", "tea", "--json").json["results"]
    assert [hit["path"] for hit in hits] == ["MEMORY.md"]
    assert list(elsewhere.iterdir()) == []


def test_the_program_takes_the_variable(elsewhere: Path, workspace: Path) -> None:
    run = program("status", "--json", cwd=elsewhere, env={VARIABLE: str(marked(workspace))})
    status = json.loads(run.stdout)
    assert (status["workspace"], status["workspace_from"]) == (
        str(workspace),
        f"environment variable {VARIABLE}",
    )


def test_the_status_says_where_the_workspace_came_from(elsewhere: Path, cli: Cli, workspace: Path) -> None:
    path = user_file(f"workspace: {marked(workspace)}\n")
    assert f"{workspace} (user file {path})\n" in cli("status").out
    assert cli("status", "-w", workspace, "--json").json["workspace_from"] == "--workspace"


def test_settings_that_cannot_be_read_are_told_where_they_are_loaded(elsewhere: Path) -> None:
    user_file("workspace: [a]\n")
    assert find_workspace().folder == elsewhere
    with pytest.raises(SettingsError, match="'workspace' from user file"):
        Memory()


@pytest.mark.parametrize("text", ["workspace: ..", "memory: {workspace: ..}", "agents: {a: {workspace: ..}}"])
def test_no_project_says_where_the_workspace_is_even_if_it_is_trusted(workspace: Path, text: str) -> None:
    trust(project_file(workspace, text))
    with pytest.raises(SettingsError, match="sets workspace, which only your own file may do"):
        load(Workspace.at(workspace))


def test_an_engine_works_in_the_workspace_of_the_setting(elsewhere: Path, workspace: Path) -> None:
    user_file(f"workspace: {workspace}\n")
    assert folder_of(str(elsewhere), None) == workspace


def test_an_engine_stays_in_a_project_that_holds_a_memory(elsewhere: Path, workspace: Path) -> None:
    user_file(f"workspace: {workspace}\n")
    assert folder_of(str(marked(elsewhere)), None) == elsewhere


def test_a_hook_takes_the_variable(elsewhere: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(marked(workspace)))
    assert thin.workspace_of(str(elsewhere)) == str(workspace)


def test_a_hook_says_in_its_log_that_the_variable_names_no_folder(
    elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "nowhere")
    with pytest.raises(thin.Trouble, match=f"from {VARIABLE} does not exist"):
        thin.workspace_of(str(elsewhere))


def test_a_client_is_installed_in_the_project_and_not_in_the_notes(
    elsewhere: Path, cli: Cli, workspace: Path
) -> None:
    user_file(f"workspace: {marked(workspace)}\n")
    steps = cli("install", "opencode", "--dry-run", "--json").json
    assert Path(steps["folder"]).is_relative_to(elsewhere)


def test_the_setting_is_shown_as_it_is_written(elsewhere: Path, cli: Cli) -> None:
    marked(user_config_file().parent / "notes")
    path = user_file("workspace: notes\n")
    assert cli("config", "show", "workspace", "--json").json == {
        "workspace": {
            "value": "notes",
            "origin": f"user file {path}",
            "in_use": str(path.parent / "notes"),
            "in_use_from": f"user file {path}",
        }
    }
