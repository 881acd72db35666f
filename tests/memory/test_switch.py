"""Switching the memory of a workspace off and on: one line of its settings, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from memlines import Memory, SettingsError
from memlines.cli.main import cli
from memlines.memory.notes.settings_file import switch
from memlines.paths import Workspace
from memlines.settings import is_trusted, load, trust


def switched(workspace: Path, *, on: bool) -> bool:
    return switch(Workspace.at(workspace), on=on)


def config(workspace: Path, text: str) -> Path:
    file = workspace / ".memory" / "config.yaml"
    file.parent.mkdir(exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def test_a_memory_that_is_off_refuses_to_be_used(workspace: Path) -> None:
    assert switched(workspace, on=False)
    with Memory(workspace) as memory, pytest.raises(SettingsError, match="switched off"):
        memory.search("anything")


def test_on_takes_off_back(workspace: Path) -> None:
    switched(workspace, on=False)
    assert switched(workspace, on=True)
    assert load(Workspace.at(workspace)).settings.enabled


def test_what_is_so_already_changes_nothing(workspace: Path) -> None:
    assert not switched(workspace, on=True)
    assert not (workspace / ".memory" / "config.yaml").exists()


@pytest.mark.parametrize(
    "text",
    [
        "# mine\nquery:\n  max_results: 3 # few\n",
        "# mine\nenabled: true # for now\nquery:\n  max_results: 3\n",
        "---\nquery:\n  max_results: 3\n",
        "'enabled': true\nquery: {max_results: 3}\n",
        "query:\n  max_results: 3",
    ],
)
def test_the_rest_of_the_settings_stays(workspace: Path, text: str) -> None:
    file = config(workspace, text)
    switched(workspace, on=False)
    settings = load(Workspace.at(workspace)).settings
    assert (settings.enabled, settings.query.max_results) == (False, 3)
    kept = [line for line in text.splitlines() if "enabled" not in line]
    assert [line for line in file.read_text(encoding="utf-8").splitlines() if "enabled" not in line] == kept


def test_settings_that_cannot_be_changed_by_a_line_stay_as_they_are(workspace: Path) -> None:
    file = config(workspace, "{query: {max_results: 3}} // few\n")
    with pytest.raises(SettingsError, match="by hand"):
        switched(workspace, on=False)
    assert file.read_text(encoding="utf-8") == "{query: {max_results: 3}} // few\n"


def test_a_memory_that_another_name_switched_on_is_switched_off(workspace: Path) -> None:
    file = config(workspace, "memory:\n  enabled: true # for now\n")
    assert switched(workspace, on=False)
    assert file.read_text(encoding="utf-8") == "memory:\n  enabled: false # for now\n"


def test_on_wins_over_what_opencodes_file_says(workspace: Path) -> None:
    (workspace / ".opencode").mkdir()
    (workspace / ".opencode" / "config.yaml").write_text("memory: {enabled: false}\n", encoding="utf-8")
    assert switched(workspace, on=True)
    assert load(Workspace.at(workspace)).settings.enabled


def test_settings_that_were_trusted_still_are(workspace: Path) -> None:
    file = config(workspace, "extra_paths: [../more]\n")
    trust(file)
    switched(workspace, on=False)
    assert is_trusted(file)


def test_settings_that_were_not_trusted_are_not_trusted_by_it(workspace: Path) -> None:
    file = config(workspace, "query:\n  max_results: 3\n")
    switched(workspace, on=False)
    assert not is_trusted(file)


def test_the_command_line_switches_off(workspace: Path) -> None:
    (workspace / "MEMORY.md").touch()
    result = CliRunner().invoke(cli, ["config", "off", "-w", str(workspace)])
    assert result.output.startswith("memory is off")


def test_a_folder_without_a_memory_has_none_to_switch_off(workspace: Path) -> None:
    result = CliRunner().invoke(cli, ["config", "off", "-w", str(workspace)])
    assert "no memory" in str(result.exception)
    assert not (workspace / ".memory").exists()


def test_who_overrules_the_file_is_told(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (workspace / "MEMORY.md").touch()
    monkeypatch.setenv("MEMLINES_ENABLED", "true")
    result = CliRunner().invoke(cli, ["config", "off", "-w", str(workspace)])
    assert "MEMLINES_ENABLED overrules it" in str(result.exception)


def test_settings_that_cannot_be_read_stay_as_they_are(workspace: Path) -> None:
    file = config(workspace, "nosuch: 1\n")
    CliRunner().invoke(cli, ["config", "off", "-w", str(workspace)])
    assert file.read_text(encoding="utf-8") == "nosuch: 1\n"


def test_comments_and_line_ends_stay(workspace: Path) -> None:
    file = config(workspace, "")
    file.write_bytes(b"enabled: true # for now\r\nprofile: openclaw\r\n")
    switched(workspace, on=False)
    assert file.read_bytes() == b"enabled: false # for now\r\nprofile: openclaw\r\n"


def test_the_command_line_switches_on(workspace: Path) -> None:
    (workspace / "MEMORY.md").touch()
    CliRunner().invoke(cli, ["config", "off", "-w", str(workspace)])
    result = CliRunner().invoke(cli, ["config", "on", "-w", str(workspace), "--json"])
    assert '"enabled": true' in result.output
