"""The documentation names what there is, and what it names is there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from recollect.cli.main import COMMANDS, cli

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def commands(group: click.Group, above: str = "recollect") -> Iterator[tuple[str, click.Command]]:
    """Yield every command and sub-command with the words that call it."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield f"{above} {name}", command
        if isinstance(command, click.Group):
            yield from commands(command, f"{above} {name}")


EVERY = dict(commands(cli))
LEAVES = {words: command for words, command in EVERY.items() if not isinstance(command, click.Group)}
WITHOUT = {
    "recollect hook": {"--json", "--workspace", "-w"},
    "recollect mcp": {"--json"},
    "recollect serve": {"--json"},
}
"""What programs start, and not people: their output is JSON anyway."""


@pytest.mark.parametrize("words", EVERY)
def test_every_command_says_in_a_sentence_what_it_does(words: str) -> None:
    sentence = (EVERY[words].help or "").split("\n\n")[0]
    assert re.match(r"[A-Z].{15,}\.$", " ".join(sentence.split()))


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_of_commands_says_what_each_does(name: str) -> None:
    assert re.fullmatch(r"[A-Z].{10,}\.", COMMANDS[name][1])


@pytest.mark.parametrize("words", LEAVES)
def test_every_option_says_what_it_does(words: str) -> None:
    for parameter in LEAVES[words].params:
        if isinstance(parameter, click.Option):
            assert parameter.help, f"{words} {parameter.opts[0]}"


@pytest.mark.parametrize("words", LEAVES)
def test_every_command_takes_json_and_a_workspace(words: str) -> None:
    options = {option for parameter in LEAVES[words].params for option in parameter.opts}
    assert {"--json", "--workspace", "-w"} - options <= WITHOUT.get(words, set())


@pytest.mark.parametrize("words", LEAVES)
def test_every_command_is_in_the_documentation(words: str) -> None:
    assert any(words in page.read_text(encoding="utf-8") for page in PAGES)


def test_every_command_the_documentation_calls_exists() -> None:
    known = {name.split()[1] for name in EVERY}
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        called = re.findall(r"(?:^\$ |`|&& )recollect ([a-z]+)", text, re.MULTILINE)
        assert set(called) <= known, page.name


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_to_a_file_leads_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    missing = [target for target in targets if ":" not in target and not (page.parent / target).exists()]
    assert missing == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_page_begins_with_its_title(page: Path) -> None:
    assert page.read_text(encoding="utf-8").startswith("# ")
