"""What models and users are told about Codex is true of the real commands, settings and tools."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest
import yaml

from memlines.cli.main import cli
from memlines.clients import codex, toml_text
from memlines.serve.tools import TOOLS, shown_tools
from memlines.settings.keys import known_keys
from tests.clients.test_integration_files import OWN_OPTIONS, calls, parts, shown

ROOT = Path(__file__).resolve().parents[2]
CODEX = ROOT / "integrations" / "codex"
GUIDE = ROOT / "docs" / "codex.md"
MEMORY = CODEX / "skills/memory/SKILL.md"
ON_DEMAND = [CODEX / f"skills/{name}/SKILL.md" for name in ("forget", "recall", "remember")]
TOLD = [*ON_DEMAND, MEMORY, CODEX / "instructions.md", GUIDE]
MOST_WORDS = 150


def skill(page: Path) -> str:
    return page.parent.name


@pytest.mark.parametrize("page", [MEMORY, *ON_DEMAND], ids=skill)
def test_a_skill_has_the_name_of_its_folder_and_a_description(page: Path) -> None:
    matter, _ = parts(page)
    assert matter.keys() == {"name", "description"}
    assert matter["name"] == page.parent.name


@pytest.mark.parametrize("page", ON_DEMAND, ids=skill)
def test_what_the_user_asks_for_is_not_shown_to_the_model_before(page: Path) -> None:
    policy = yaml.safe_load((page.parent / "agents/openai.yaml").read_bytes())
    assert policy == {"policy": {"allow_implicit_invocation": False}}


def test_the_model_sees_how_to_use_the_memory() -> None:
    assert not (MEMORY.parent / "agents").exists()


@pytest.mark.parametrize("page", ON_DEMAND, ids=skill)
def test_the_options_of_a_skill_are_in_its_description_and_its_text(page: Path) -> None:
    matter, text = parts(page)
    expected = OWN_OPTIONS.get(page.parent.name, set())
    assert set(re.findall(r"--[a-z]+", str(matter["description"]))) == expected
    assert set(re.findall(r"--[a-z]+", text)) == expected


def test_the_skill_lists_every_tool_with_its_arguments() -> None:
    text = MEMORY.read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(memory_[a-z]+)` \| ([^|]*)\|", text, re.MULTILINE)
    told = {tool: set(re.findall(r"`(\w+)`", arguments)) for tool, arguments in rows}
    assert told == {tool.name: set(tool.arguments) for tool in shown_tools()}


@pytest.mark.parametrize("page", [MEMORY, GUIDE], ids=shown)
def test_the_skills_of_the_user_are_listed(page: Path) -> None:
    told = set(re.findall(r"^\| `\$([a-z]+)", page.read_text(encoding="utf-8"), re.MULTILINE))
    assert told == {page.parent.name for page in ON_DEMAND}


@pytest.mark.parametrize("page", TOLD, ids=lambda page: f"{page.parent.name}/{page.name}")
def test_every_tool_that_is_named_exists(page: Path) -> None:
    assert set(re.findall(r"\bmemory_[a-z]+\b", page.read_text(encoding="utf-8"))) <= TOOLS.keys()


@pytest.mark.parametrize("page", TOLD, ids=lambda page: f"{page.parent.name}/{page.name}")
def test_every_call_of_the_command_line_can_be_made(page: Path) -> None:
    for words in calls(page):
        command: click.Command | None = cli
        while isinstance(command, click.Group) and words:
            command = command.get_command(click.Context(cli), words.pop(0))
        assert command is not None, page.name
        known = {option for each in command.params for option in each.opts + each.secondary_opts}
        assert {word for word in words if word.startswith("-")} <= known, command.name


@pytest.mark.parametrize("page", [MEMORY, GUIDE], ids=shown)
def test_every_setting_that_is_named_exists(page: Path) -> None:
    told = set(re.findall(r"settings? `([a-z_.]+)`", page.read_text(encoding="utf-8")))
    assert told
    assert told <= known_keys().keys()


def test_the_instructions_for_every_session_are_short() -> None:
    assert len((CODEX / "instructions.md").read_text(encoding="utf-8").split()) <= MOST_WORDS


def test_the_guide_shows_what_is_written() -> None:
    (shown_table,) = re.findall(r"```toml\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    written = "\n".join(toml_text.table(codex.SERVER, codex.server({})))
    without_values = {line.split(" = ")[0] for line in written.splitlines() if "memlines.env" not in line}
    assert {line.split(" = ")[0] for line in shown_table.splitlines() if not line.startswith("#")} == (
        without_values - {"MEMLINES_HOME"}
    )
