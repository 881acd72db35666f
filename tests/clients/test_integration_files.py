"""What models and users are told in the integrations is true of the real commands, settings and tools."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
import yaml

from memlines.cli.main import cli
from memlines.serve.rpc.command import VERBS
from memlines.serve.tools import TOOLS, shown_tools
from memlines.settings.keys import known_keys

ROOT = Path(__file__).resolve().parents[2]
OPENCODE = ROOT / "integrations" / "opencode"
COMMANDS = sorted((OPENCODE / "commands").glob("*.md"))
SKILL = OPENCODE / "skills" / "memory" / "SKILL.md"
GUIDE = ROOT / "docs" / "opencode.md"
TOLD = [*COMMANDS, SKILL, GUIDE]
OWN_OPTIONS = {
    "remember": {"--session", "--topic", "--to", "--personal"},
    "recall": {"--recent", "--decisions"},
}
"""What the slash commands take; the tools have the same as arguments."""

MOST_LINES = 120


def parts(page: Path) -> tuple[dict[str, object], str]:
    """Return the frontmatter of a page and its text."""
    _, matter, text = page.read_text(encoding="utf-8").split("---\n", 2)
    return yaml.safe_load(matter), text


def code(page: Path) -> list[str]:
    """Return what is set as code in a page: in the line, or in blocks of the shell."""
    text = page.read_text(encoding="utf-8")
    blocks = re.findall(r"```(?:sh|console)\n(.*?)```", text, re.DOTALL)
    lines = [line.removeprefix("$ ") for block in blocks for line in block.splitlines()]
    return [*re.findall(r"(?<!`)`([^`\n]+)`(?!`)", text), *lines]


def calls(page: Path) -> Iterator[list[str]]:
    """Yield the words of every call of the command line."""
    for piece in code(page):
        if piece.startswith("memlines "):
            yield shlex.split(piece)[1:]


def shown(path: Path) -> str:
    return path.name


# Commands


def test_there_is_a_file_for_every_slash_command() -> None:
    assert [page.stem for page in COMMANDS] == ["forget", "memory", "recall", "remember"]


@pytest.mark.parametrize("page", COMMANDS, ids=shown)
def test_a_command_says_what_it_does_and_sets_nothing_else(page: Path) -> None:
    matter, _ = parts(page)
    assert matter.keys() == {"description"}
    assert isinstance(matter["description"], str)


@pytest.mark.parametrize("page", COMMANDS, ids=shown)
def test_a_command_runs_no_shell_and_attaches_no_file(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert "!`" not in text
    assert "@" not in text


@pytest.mark.parametrize("page", COMMANDS, ids=shown)
def test_the_words_of_the_user_stand_once_and_last(page: Path) -> None:
    _, text = parts(page)
    assert text.count("$") == 1
    assert text.endswith("\n\n$ARGUMENTS\n")


@pytest.mark.parametrize("page", COMMANDS, ids=shown)
def test_the_options_of_a_command_are_in_its_description_and_its_text(page: Path) -> None:
    matter, text = parts(page)
    expected = OWN_OPTIONS.get(page.stem, set())
    assert set(re.findall(r"--[a-z]+", str(matter["description"]))) == expected
    assert set(re.findall(r"--[a-z]+", text)) == expected


@pytest.mark.parametrize(
    ("page", "tools"),
    [
        ("memory", set()),
        ("remember", {"memory_remember"}),
        ("recall", {"memory_recall", "memory_search"}),
        ("forget", {"memory_forget"}),
    ],
)
def test_a_command_names_the_tools_it_needs(page: str, tools: set[str]) -> None:
    text = (OPENCODE / "commands" / f"{page}.md").read_text(encoding="utf-8")
    assert set(re.findall(r"\bmemory_[a-z]+\b", text)) == tools


def test_what_the_memory_command_offers_is_what_the_engine_does() -> None:
    matter, _ = parts(OPENCODE / "commands" / "memory.md")
    assert str(matter["description"]).partition(": ")[2].split(", ") == list(VERBS)


@pytest.mark.parametrize(
    ("page", "tool", "arguments"),
    [
        ("remember", "memory_remember", {"text", "topic", "to", "session"}),
        ("recall", "memory_recall", {"recent", "decisions", "query"}),
        ("forget", "memory_forget", {"query", "id"}),
    ],
)
def test_the_arguments_a_command_names_are_those_of_the_tool(
    page: str, tool: str, arguments: set[str]
) -> None:
    words = set(re.findall(r"[a-z]+", (OPENCODE / "commands" / f"{page}.md").read_text(encoding="utf-8")))
    assert arguments <= words
    assert arguments <= TOOLS[tool].arguments.keys()


# The skill


def test_the_skill_has_the_name_of_its_folder_and_a_description() -> None:
    matter, _ = parts(SKILL)
    assert matter.keys() == {"name", "description"}
    assert matter["name"] == SKILL.parent.name


def test_the_skill_is_short() -> None:
    assert len(SKILL.read_text(encoding="utf-8").splitlines()) <= MOST_LINES


def tools_told() -> dict[str, set[str]]:
    """Return the tools and their arguments as the skill's table lists them."""
    rows = re.findall(r"^\| `(memory_[a-z]+)` \| ([^|]*)\|", SKILL.read_text(encoding="utf-8"), re.MULTILINE)
    return {tool: set(re.findall(r"`(\w+)`", arguments)) for tool, arguments in rows}


def test_the_skill_lists_every_tool_with_its_arguments() -> None:
    assert tools_told() == {tool.name: set(tool.arguments) for tool in shown_tools()}


def test_the_skill_lists_every_slash_command() -> None:
    told = set(re.findall(r"`/([a-z]+)", SKILL.read_text(encoding="utf-8")))
    assert told == {page.stem for page in COMMANDS}


def test_the_skill_lists_what_the_memory_command_does() -> None:
    assert set(re.findall(r"`/memory ([a-z]+)`", SKILL.read_text(encoding="utf-8"))) == set(VERBS)


@pytest.mark.parametrize("name", OWN_OPTIONS)
def test_the_skill_lists_the_options_of_the_slash_commands(name: str) -> None:
    (row,) = re.findall(rf"^\| `/{name} .*$", SKILL.read_text(encoding="utf-8"), re.MULTILINE)
    assert set(re.findall(r"--[a-z]+", row)) == OWN_OPTIONS[name]


SKILLS = sorted((ROOT / "integrations").glob("*/skills/memory/SKILL.md"))
SHARED = ["When", "Tools", "How search works", "Citations", "Good notes"]


def sections(page: Path) -> dict[str, str]:
    _, *found = re.split(r"^## ", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return dict(section.split("\n", 1) for section in found)


@pytest.mark.parametrize("title", SHARED)
def test_the_skills_of_all_clients_say_the_same(title: str) -> None:
    assert len(SKILLS) == 3
    assert len({sections(page)[title] for page in SKILLS}) == 1


def test_the_skill_tells_how_text_is_cut_and_who_makes_vectors() -> None:
    told = sections(SKILL)["How search works"]
    assert f"about {known_keys()['chunking.tokens'].default} tokens" in told
    assert set(re.findall(r"`((?:chunking|embeddings)\.\w+)`", told)) <= known_keys().keys()
    assert "words only" in told


# All of them


@pytest.mark.parametrize("page", TOLD, ids=shown)
def test_every_tool_that_is_named_exists(page: Path) -> None:
    assert set(re.findall(r"\bmemory_[a-z]+\b", page.read_text(encoding="utf-8"))) <= TOOLS.keys()


@pytest.mark.parametrize("page", TOLD, ids=shown)
def test_every_call_of_the_command_line_can_be_made(page: Path) -> None:
    for words in calls(page):
        command: click.Command | None = cli
        context = click.Context(cli)
        while isinstance(command, click.Group) and words:
            command = command.get_command(context, words.pop(0))
        assert command is not None, page.name
        options = {
            option for parameter in command.params for option in parameter.opts + parameter.secondary_opts
        }
        assert {word for word in words if word.startswith("-")} <= options, command.name


@pytest.mark.parametrize("page", [SKILL, GUIDE], ids=shown)
def test_every_setting_that_is_named_exists(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    told = set(re.findall(r"settings? `([a-z_.]+)`", text))
    assert told
    assert told <= known_keys().keys()


def test_the_guide_names_every_option_of_the_plugin() -> None:
    source = (OPENCODE / "memlines" / "options.js").read_text(encoding="utf-8")
    (defaults,) = re.findall(r"DEFAULTS = Object\.freeze\(\{(.*?)\}\)", source, re.DOTALL)
    options = set(re.findall(r"^ +(\w+):", defaults, re.MULTILINE))
    told = set(re.findall(r"^\| `(\w+)` \| `", GUIDE.read_text(encoding="utf-8"), re.MULTILINE))
    assert told == options
