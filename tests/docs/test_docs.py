"""The documentation names what there is, and what it names is there."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

import click
import pytest
import yaml

import memlines
from memlines import Memory
from memlines.agent import intent, snapshot
from memlines.agent.auto_recall import fitting_facts
from memlines.agent.bootstrap import bootstrap
from memlines.agent.capture.turn import capture
from memlines.agent.chat import ChatModel
from memlines.agent.flush import flush
from memlines.cli.main import COMMANDS, cli
from memlines.memory.context import find_relevant
from memlines.paths import Workspace
from memlines.serve.tools import TOOLS, shown_tools
from memlines.settings import load
from memlines.settings.keys import ALIASES, WITHOUT_EFFECT, groups, known_keys, variables
from tests.docs.pages import PAGES, ROOT, anchors, blocks, calls, in_line, links, shown, text_of
from write_commands import commands, without

EVERY = dict(commands())
LEAVES = {words: command for words, command in EVERY.items() if not isinstance(command, click.Group)}
FOR_PROGRAMS = ["memlines hook", "memlines mcp", "memlines serve"]
"""What programs start, and not people: their output is JSON anyway."""

SUFFIXES = {"gguf", "json", "jsonl", "md", "py", "sqlite", "yaml"}
"""Endings of file names, which look like the end of a setting's name."""

OF_CLIENTS = {"chat.message"}
"""Hooks of clients that are named like settings."""

by_page = pytest.mark.parametrize("page", PAGES, ids=shown)


# Commands


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


def test_every_command_takes_a_workspace() -> None:
    assert without("--workspace") == without("-w") == []


def test_every_command_for_people_takes_json() -> None:
    assert without("--json") == FOR_PROGRAMS


def test_the_readme_says_which_commands_take_no_json() -> None:
    readme = text_of(ROOT / "README.md")
    (sentence,) = re.findall(
        r"^Every command takes `--workspace FOLDER` and `--json`[^.]*\.", readme, re.MULTILINE
    )
    assert [f"memlines {name}" for name in re.findall(r"`([a-z]+)`", sentence)] == FOR_PROGRAMS


@pytest.mark.parametrize("words", LEAVES)
def test_every_command_is_explained_beside_the_list_of_commands(words: str) -> None:
    assert any(words in text_of(page) for page in PAGES if page.name != "commands.md")


def parsed(words: list[str]) -> click.Context:
    """Parse a call as the program does, to the command that would be run."""
    context = cli.make_context("memlines", list(words))
    while isinstance(context.command, click.Group):
        rest = [*getattr(context, "_protected_args", []), *context.args]
        if not rest and context.command.invoke_without_command:
            break
        name, command, rest = context.command.resolve_command(context, rest)
        assert command is not None
        context = command.make_context(name, rest, parent=context)
    return context


@by_page
def test_every_call_in_a_block_can_be_made(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(click.Path, "convert", lambda self, value, param, ctx: value)
    for words in calls(page):
        parsed(words).close()  # some options set a variable until then


def test_a_call_that_cannot_be_made_is_noticed() -> None:
    with pytest.raises(click.NoSuchOption):
        parsed(["search", "--no-such-option", "x"])
    with pytest.raises(click.UsageError):
        parsed(["facts", "no-such-command"])


@by_page
def test_every_option_named_within_a_sentence_exists(page: Path) -> None:
    """A call in a sentence may leave things out or stand for several, so only its words are looked at."""
    for piece in in_line(page):
        if not piece.startswith("memlines "):
            continue
        words = shlex.split(piece.replace("…", "").partition(" | ")[0])[1:]
        command: click.Command | None = cli
        while isinstance(command, click.Group) and words and re.fullmatch(r"[a-z][a-z0-9-]*", words[0]):
            command = command.get_command(click.Context(command), words.pop(0))
        assert command is not None, piece
        options = {name for one in command.params for name in [*one.opts, *one.secondary_opts]}
        given = {word.partition("=")[0] for word in words if word.startswith("-") and word.strip("-")}
        shared = {"--json", "--workspace"} if command is cli else set()
        assert given <= options | shared | {"--help", "-h", "--version"}, piece


# Links


@by_page
def test_every_link_leads_somewhere(page: Path) -> None:
    for path, anchor in links(page):
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), path
        if anchor:
            assert anchor in anchors(target), f"{path}#{anchor}"


def test_the_readme_leads_to_every_page() -> None:
    found: set[Path] = set()
    ahead = [ROOT / "README.md"]
    while ahead:
        page = ahead.pop()
        found.add(page)
        leads_to = {(page.parent / path).resolve() for path, _ in links(page)}
        ahead += [other for other in leads_to if other in PAGES and other not in found]
    assert set(PAGES) <= found


@by_page
def test_every_page_begins_with_its_title(page: Path) -> None:
    assert text_of(page).startswith("# ")


# Settings and variables


def is_setting(name: str) -> bool:
    """Tell whether something set as code is meant as the name of a setting."""
    parts = name.split(".")
    is_dotted = len(parts) > 1 and all(re.fullmatch(r"[a-z_]+", part) for part in parts)
    return is_dotted and parts[0] in groups() and parts[-1] not in SUFFIXES and name not in OF_CLIENTS


@by_page
def test_every_setting_that_is_named_exists(page: Path) -> None:
    named = {piece.partition(":")[0].partition("=")[0].strip() for piece in in_line(page)}
    known = {*known_keys(), *groups(), *ALIASES, *WITHOUT_EFFECT}
    assert {name for name in named if is_setting(name)} <= known


SOURCES = "\n".join(
    file.read_text(encoding="utf-8")
    for folder in ("src", "integrations", "examples", "bench", "tests")
    for file in sorted((ROOT / folder).rglob("*"))
    if file.suffix in {".py", ".js", ".mjs", ".toml"} and file.name != Path(__file__).name
)


@by_page
def test_every_variable_that_is_named_is_read_somewhere(page: Path) -> None:
    text = text_of(page)
    ours = set(re.findall(r"\bMEMLINES_[A-Z_]*[A-Z]\b", text))
    assert ours <= variables().keys() | {"MEMLINES_HOME"}
    others = set(re.findall(r"`\$?\{?([A-Z]+_[A-Z_]+)\}?`", text)) - ours
    assert {name for name in others if not re.search(rf"\b{name}\b", SOURCES)} == set()


@by_page
def test_every_yaml_block_holds_settings_that_load(page: Path, workspace: Path) -> None:
    for block in blocks(page):
        if block.language == "yaml":
            given = yaml.safe_load(block.text)
            load(Workspace.at(workspace), given, environ=Everything())


class Everything(dict[str, str]):
    """An environment in which every variable that a page refers to is set."""

    def __contains__(self, name: object) -> bool:
        return not str(name).startswith(("MEMLINES_", "RECOLLECT_"))

    def __getitem__(self, name: str) -> str:
        return "set"

    def get(self, name: str, default: Any = None) -> Any:
        return "set" if name in self else default


# Programs


@by_page
def test_every_python_block_can_be_read_and_imports_what_there_is(page: Path) -> None:
    for block in blocks(page):
        if block.language != "python":
            continue
        for node in ast.walk(ast.parse(block.text)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("memlines"):
                module = importlib.import_module(str(node.module))
                assert {name.name for name in node.names} <= set(dir(module))


PLACES: Mapping[str, object] = {
    "Memory": Memory,
    "memory": Memory,
    "snapshot": snapshot,
    "bootstrap": bootstrap,
    "flush": flush,
    "find_relevant": find_relevant,
    "fitting_facts": fitting_facts,
    "capture": capture,
    "ChatModel": ChatModel,
    "memlines": memlines,
    **{name: getattr(intent, name) for name in intent.__all__ if name[0].islower()},
}
"""What a name in a sentence stands for."""


def function_named(name: str) -> Callable[..., Any]:
    """Return the function that a page means."""
    first, *rest = name.split(".")
    found = PLACES[first]
    for part in rest:
        found = getattr(found, part)
    assert callable(found)
    return found


@by_page
def test_every_signature_on_a_page_is_that_of_the_function(page: Path) -> None:
    for piece in in_line(page):
        match = re.fullmatch(r"([\w.]+)\((.*?)\) -> (\w+)(?:\((.*)\)| \| None)?", piece)
        if match is None:
            continue
        name, parameters, result, fields = match.groups()
        function = function_named(name)
        told = cast("ast.FunctionDef", ast.parse(f"def f({parameters}): ...").body[0]).args
        defaults = [ast.literal_eval(one) for one in [*told.defaults, *told.kw_defaults] if one]
        real = inspect.signature(function).parameters.values()
        assert [one.arg for one in [*told.args, *told.kwonlyargs]] == [one.name for one in real], piece
        assert defaults == [one.default for one in real if one.default is not one.empty], piece
        kind = getattr(inspect.getmodule(function), result)
        assert set((fields or "").split(", ")) - {""} <= set(dir(kind)), piece


@by_page
def test_every_call_of_a_function_within_a_sentence_can_be_made(page: Path) -> None:
    for piece in in_line(page):
        name = re.match(r"([A-Za-z_.]+)\((?!.*->)", piece)
        if name is None or name[1].split(".")[0] not in PLACES or not piece.endswith(")"):
            continue
        call = cast("ast.Expr", ast.parse(piece.replace("…", "...")).body[0]).value
        assert isinstance(call, ast.Call), piece
        if ast.unparse(call.func) != name[1]:
            continue  # a method of something that is made there
        parameters = inspect.signature(function_named(name[1])).parameters
        assert {keyword.arg for keyword in call.keywords} <= parameters.keys(), piece
        assert len(call.args) + len(call.keywords) <= len(parameters), piece


# Tools


@by_page
def test_every_tool_that_is_named_exists(page: Path) -> None:
    assert set(re.findall(r"\bmemory_[a-z]+\b(?![.(])", " ".join(in_line(page)))) <= TOOLS.keys()


@pytest.mark.parametrize("name", ["claude-code.md", "codex.md", "mcp.md", "tools.md"])
def test_a_page_that_lists_the_tools_lists_all_that_are_shown(name: str) -> None:
    assert {tool.name for tool in shown_tools()} <= set(in_line(ROOT / "docs" / name))


# Files


@pytest.mark.parametrize(
    "page", [ROOT / "CONTRIBUTING.md", ROOT / "docs/why.md", ROOT / "docs/architecture.md"], ids=shown
)
def test_every_file_of_the_program_that_is_named_exists(page: Path) -> None:
    named = [piece for piece in in_line(page) if re.fullmatch(r"[\w./-]+(?:/|\.py|\.toml)", piece)]
    assert named or page.name != "CONTRIBUTING.md"
    package = ROOT / "src" / "memlines"
    known = {"memory/", ".memory/", "bench/results/"}
    assert [
        name
        for name in named
        if not ((ROOT / name).exists() or (package / name).exists()) and name not in known
    ] == []
