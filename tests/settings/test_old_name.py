"""What was made by the project's first name, Recollect, is still read, and the new name wins."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import platformdirs
import pytest

from memlines import old_name
from memlines.admin.doctor.places import check_old_name, move_old_folders
from memlines.errors import SettingsError
from memlines.files.atomic import sweep
from memlines.paths import Workspace, user_cache_dir, user_config_file, user_state_dir
from memlines.serve.hooks import thin
from memlines.settings import is_trusted, load, trust
from memlines.settings.workspace import find_workspace
from memlines.text.neutral import neutralise, without_quotes
from tests.admin.doctor import look, repair

ROOT = Path(__file__).parents[2]
MAIN = "from memlines.cli.start import main; main()"


@pytest.fixture(autouse=True)
def _forget_what_was_in_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(old_name, "in_use", {})


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home in which the user-wide folders are where the system has them."""
    monkeypatch.delenv("MEMLINES_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("CONFIG", "STATE", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))
    return tmp_path


def old_folder(kind: str) -> Path:
    folder: Path = getattr(platformdirs, f"user_{kind}_path")("recollect", appauthor=False)
    return folder


def make_old_home() -> None:
    """Make the folders as the old version did."""
    for kind, mark in (("config", "config.yaml"), ("state", "index-secret"), ("cache", "models/x")):
        file = old_folder(kind) / mark
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("query: {max_results: 9}\n" if kind == "config" else "x", encoding="utf-8")


# Environment variables


def test_a_setting_is_read_by_its_old_name(workspace: Path) -> None:
    loaded = load(Workspace.at(workspace), environ={"RECOLLECT_QUERY__MAX_RESULTS": "9"})

    assert loaded.settings.query.max_results == 9
    assert loaded.origins["query.max_results"] == "environment variable RECOLLECT_QUERY__MAX_RESULTS"


def test_that_it_was_is_a_warning(workspace: Path) -> None:
    loaded = load(Workspace.at(workspace), environ={"RECOLLECT_QUERY__MAX_RESULTS": "9"})

    assert loaded.warnings == (
        "environment variable RECOLLECT_QUERY__MAX_RESULTS is the old name of MEMLINES_QUERY__MAX_RESULTS:"
        " rename it",
    )


def test_the_new_name_wins(workspace: Path) -> None:
    environ = {"RECOLLECT_QUERY__MAX_RESULTS": "9", "MEMLINES_QUERY__MAX_RESULTS": "4"}
    loaded = load(Workspace.at(workspace), environ=environ)

    assert (loaded.settings.query.max_results, loaded.warnings) == (4, ())


def test_an_unknown_variable_of_the_old_name_may_be_of_another_program(workspace: Path) -> None:
    assert load(Workspace.at(workspace), environ={"RECOLLECT_TOKEN": "x"}).warnings == ()


def test_a_wrong_value_is_an_error_that_names_the_variable(workspace: Path) -> None:
    with pytest.raises(SettingsError, match="environment variable RECOLLECT_QUERY__MAX_RESULTS is"):
        load(Workspace.at(workspace), environ={"RECOLLECT_QUERY__MAX_RESULTS": "many"})


def test_the_home_the_workspace_and_the_agent_are_read(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MEMLINES_HOME")
    monkeypatch.setenv("RECOLLECT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("RECOLLECT_WORKSPACE", str(workspace))
    monkeypatch.setenv("RECOLLECT_AGENT", "research")

    assert user_config_file() == tmp_path / "home" / "config.yaml"
    assert find_workspace() == (workspace, "environment variable RECOLLECT_WORKSPACE")
    assert load().settings.agent == "research"


def test_hooks_read_the_same_variables(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (workspace / "MEMORY.md").touch()
    plain = thin.socket_file(str(workspace))
    monkeypatch.delenv("MEMLINES_HOME")
    monkeypatch.setenv("RECOLLECT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("RECOLLECT_WORKSPACE", str(workspace))
    monkeypatch.setenv("RECOLLECT_AGENT", "research")

    assert thin.state_folder() == str(tmp_path / "home" / "state")
    assert thin.workspace_of("/") == str(workspace)
    assert Path(thin.socket_file(str(workspace))).name != Path(plain).name


# User-wide folders


def test_the_old_folders_are_used_where_there_are_no_new_ones(folders: Path) -> None:
    make_old_home()

    assert user_config_file() == old_folder("config") / "config.yaml"
    assert user_state_dir() == old_folder("state")
    assert user_cache_dir() == old_folder("cache")
    assert load().settings.query.max_results == 9


def test_hooks_use_the_same_state_folder(folders: Path) -> None:
    assert thin.state_folder() == str(user_state_dir())
    make_old_home()

    assert thin.state_folder() == str(user_state_dir()) == str(old_folder("state"))
    assert old_name.MARKS["state"] == thin.OLD_STATE_MARKS


def test_a_new_folder_wins(folders: Path) -> None:
    new = user_state_dir()
    make_old_home()
    new.mkdir(parents=True)

    assert user_state_dir() == new
    assert thin.state_folder() == str(new)


def test_a_folder_of_another_program_with_that_name_is_not_used(folders: Path) -> None:
    old_folder("state").mkdir(parents=True)
    (old_folder("state") / "sessions.db").touch()

    assert user_state_dir() != old_folder("state")


@pytest.mark.usefixtures("folders")
def test_trust_given_by_the_old_name_holds_also_after_the_move(workspace: Path) -> None:
    make_old_home()
    config = workspace / ".memory" / "config.yaml"
    config.parent.mkdir()
    config.write_text("sources: [memory, sessions]\n", encoding="utf-8")
    trust(config)
    assert (old_folder("state") / "trusted.json").is_file()

    result = repair(workspace)

    assert is_trusted(config)
    assert not old_folder("state").exists()
    assert [done.done for done in result.repairs if done.repair == "old-name"] == [True]
    assert [finding for finding in result.findings if finding.check == "old-name"] == []


@pytest.mark.usefixtures("folders")
def test_doctor_names_the_folders(workspace: Path) -> None:
    make_old_home()

    messages = [finding.message for finding in look(workspace).findings if finding.check == "old-name"]
    assert len(messages) == 3
    assert all("recollect" in message and "memlines" in message for message in messages)


@pytest.mark.usefixtures("folders")
def test_where_both_exist_nothing_is_changed(workspace: Path) -> None:
    new = user_config_file().parent
    make_old_home()
    new.mkdir(parents=True)

    move_old_folders()

    assert (old_folder("config") / "config.yaml").is_file()
    assert list(new.iterdir()) == []
    left = [finding for finding in look(workspace).findings if finding.check == "old-name"]
    assert [finding.repair for finding in left] == [None]
    assert "exists as well" in left[0].message


def test_without_anything_old_there_is_nothing_to_say() -> None:
    assert list(check_old_name(None)) == []  # type: ignore[arg-type]


# The command line


def run(*words: str, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words],
        env=os.environ | environ,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
        check=True,
        stdin=subprocess.DEVNULL,
    )


def test_the_command_line_says_in_one_line_what_is_read_by_its_old_name(workspace: Path) -> None:
    told = run("-c", MAIN, "config", "show", "-w", str(workspace), RECOLLECT_QUERY__MAX_RESULTS="9").stderr

    assert "RECOLLECT_QUERY__MAX_RESULTS (now MEMLINES_QUERY__MAX_RESULTS)" in told.splitlines()[-1]
    assert told.count("Still in use by its old name") == 1


def test_the_old_module_runs_the_same_commands(workspace: Path) -> None:
    done = run("-P", "-m", "recollect", "config", "path", "-w", str(workspace))

    assert "config.yaml" in done.stdout
    assert done.stderr == (
        "Still in use by its old name: the command recollect (now memlines). 'memlines doctor' says what to"
        " do.\n"
    )


def test_clients_that_run_the_old_module_get_no_such_line(workspace: Path) -> None:
    assert run("-P", "-m", "recollect", "serve", "--stdio", "-w", str(workspace)).stderr == ""


def test_the_package_ships_what_the_old_name_started() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

    assert "src/recollect" in settings["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    assert settings["project"]["scripts"]["recollect"] == settings["project"]["scripts"]["memlines"]


def test_the_script_of_the_old_hooks_answers(tmp_path: Path) -> None:
    script = Path(thin.__file__).parents[3] / "recollect" / "hooks" / "hook.py"
    done = run("-I", "-S", str(script), "claude-code", "Stop", RECOLLECT_WORKSPACE=str(tmp_path))

    assert (done.stdout, done.stderr) == ("", "")


# Files and conversations


def test_what_a_killed_writer_left_by_the_old_name_is_swept(workspace: Path) -> None:
    left = workspace / "memory" / f".recollect-{'0' * 32}.tmp"
    left.touch()

    sweep(workspace / "memory")

    assert not left.exists()


def test_quotes_with_the_old_tags_are_taken_out_of_what_was_said() -> None:
    assert without_quotes("<recollect-context>\n> key\n</recollect-context>\nHello").strip() == "Hello"
    assert without_quotes("Hello <recollect-result>\nx\n</recollect-result>").strip() == "Hello"
    assert without_quotes("cut off\n</recollect-context>\nHello").strip() == "Hello"


def test_the_old_tags_are_neutral_in_what_is_quoted() -> None:
    assert "</recollect-context>" not in neutralise("a </recollect-context> b")
