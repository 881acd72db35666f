"""What `make docs` writes is up to date, and the protocol's page says what the engine does."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest

import write_api as api_page
import write_commands as commands_page
import write_errors as errors_page
import write_tools as tools_page
from memlines import errors
from memlines.errors import MemlinesError
from memlines.serve.rpc import engine, messages
from memlines.serve.rpc.server import ENGINE
from memlines.serve.tools import TOOLS
from tests.docs.pages import ROOT, text_of

WRITTEN = re.findall(r"^\t\$\(BIN\)/python (docs/\S+) (\S+)$", text_of(ROOT / "Makefile"), re.MULTILINE)
PROTOCOL = text_of(ROOT / "docs" / "protocol.md")


# What `make docs` writes


def test_make_docs_writes_every_page_that_says_so() -> None:
    says_so = {
        f"docs/{page.name}"
        for page in (ROOT / "docs").glob("*.md")
        if "Written by `make docs`" in text_of(page)
    }
    pictures = {path for _, path in WRITTEN if path.endswith(".svg")}
    others = {"integrations/opencode/memlines/tools.json"} | pictures
    assert says_so | others == {path for _, path in WRITTEN}


@pytest.mark.parametrize(("script", "path"), WRITTEN, ids=[path for _, path in WRITTEN])
def test_nothing_that_make_docs_writes_is_out_of_date(script: str, path: str, tmp_path: Path) -> None:
    file = tmp_path / Path(path).name
    subprocess.run([sys.executable, str(ROOT / script), str(file)], check=True, timeout=60)
    assert file.read_text(encoding="utf-8") == text_of(ROOT / path), "run 'make docs'"


@pytest.mark.parametrize("write", [page.main for page in (api_page, commands_page, errors_page, tools_page)])
def test_a_generator_explains_itself(write: Any) -> None:
    with pytest.raises(SystemExit, match="usage"):
        write([])


# Commands and exit codes


def test_the_page_has_every_exit_code_once() -> None:
    codes = re.findall(r"^\| (\d+) \|", errors_page.render_page(), re.MULTILINE)
    raised = {
        kind.exit_code
        for kind in vars(errors).values()
        if isinstance(kind, type) and issubclass(kind, MemlinesError)
    }
    assert sorted(map(int, codes)) == sorted({0, 130} | raised)


def test_the_page_has_the_name_of_every_error_once() -> None:
    rows = re.compile(r"^\| \d* \| \[?`([a-z-]+)`\S* \| `(\w+)` \|", re.MULTILINE)
    named = rows.findall(errors_page.render_page())
    kinds = [
        kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, MemlinesError)
    ]
    assert sorted(named) == sorted((kind.code, kind.__name__) for kind in kinds)


def test_every_error_but_the_first_is_explained() -> None:
    unexplained = [name for name, messages in errors_page.find_messages().items() if not messages]
    assert unexplained == [MemlinesError.__name__]


def test_the_page_has_what_an_error_says_with_a_place_for_what_is_filled_in() -> None:
    known = errors_page.find_messages()["StoreDamaged"]
    assert known["the index … is damaged: …"] == "Run 'memlines sync --force' to rebuild it"


def test_a_hidden_command_is_not_listed() -> None:
    group = click.Group("group", commands=[click.Command("shown"), click.Command("alias", hidden=True)])
    assert [words for words, _ in commands_page.commands(group)] == ["memlines shown"]


def test_a_hidden_option_is_not_listed() -> None:
    options = [click.Option(["--shown"], help="Yes."), click.Option(["--alias"], hidden=True, help="No.")]
    section = commands_page.section("memlines x", click.Command("x", params=[*options]), {})
    assert re.findall(r"^\| `(.*?)[ `]", section, re.MULTILINE) == ["--shown"]


# Tools


@pytest.mark.parametrize("name", TOOLS)
def test_the_page_has_every_tool_with_its_arguments(name: str) -> None:
    sections = dict(
        re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", tools_page.render_page(), re.MULTILINE | re.DOTALL)
    )
    assert re.findall(r"^\| `(\w+)`", sections[name], re.MULTILINE) == list(TOOLS[name].arguments)


# The protocol


def params(method: str) -> list[str]:
    """Return the parameters of a method; those that may be left out end with a question mark."""
    return [name if argument.required else f"{name}?" for name, argument in engine.PARAMS[method].items()]


def rows() -> dict[str, list[str]]:
    """Return the page's table of methods: the parameters of each."""
    section = PROTOCOL.partition("## Methods")[2].partition("\n## ")[0]
    found = re.findall(r"^\| `([\w/$]+)` \| ([^|]*)\|", section, re.MULTILINE)
    return {method: re.findall(r"`([\w?]+)`", parameters) for method, parameters in found}


OF_THE_SERVER = {str(ENGINE.shutdown): [], ENGINE.cancel: [ENGINE.cancelled]}


def test_the_page_has_the_methods_of_the_engine() -> None:
    assert rows().keys() == engine.Engine().methods().keys() - {"initialize"} | OF_THE_SERVER.keys()


@pytest.mark.parametrize("method", sorted(engine.Engine().methods().keys() - {"initialize"}))
def test_the_page_has_the_parameters_of_every_method(method: str) -> None:
    assert rows()[method] == params(method)


def test_the_page_has_the_parameters_of_the_handshake() -> None:
    example = re.findall(r'"method":"initialize","params":(\{.*\})\}', PROTOCOL)[0]
    assert set(re.findall(r'[{,]"(\w+)":', example)) - {"name"} == set(engine.PARAMS["initialize"])


def test_the_page_has_the_parameters_of_what_the_server_answers_itself() -> None:
    assert {method: rows()[method] for method in OF_THE_SERVER} == OF_THE_SERVER


def test_the_page_has_every_error_of_the_protocol_once() -> None:
    section = PROTOCOL.partition("## Errors")[2].partition("\n## ")[0]
    told = [
        number
        for cell in re.findall(r"^\| (-[\d, -]+) \|", section, re.MULTILINE)
        for number in cell.split(", ")
    ]
    known = [
        value
        for name, value in vars(messages).items()
        if name.isupper() and isinstance(value, int) and value <= -32000
    ]
    assert sorted(map(int, told)) == sorted(known)


def test_the_page_has_the_time_limit_of_every_method() -> None:
    section = " ".join(PROTOCOL.partition("## Time")[2].split())
    others = int(re.findall(r"the others in (\d+)", section)[0])
    told = {name: int(seconds) for name, seconds in re.findall(r"`([\w/]+)` in (\d+)", section)}
    for name, method in engine.Engine().methods().items():
        if name != "tools/call":
            assert method.limit({}) == told.get(name, others), name
    for name, tool in TOOLS.items():
        assert tool.seconds == told.get(name, told["tools/call"]), name
