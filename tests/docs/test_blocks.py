"""Every block of the README, the tutorial and the quick starts is run, or is in a table with the reason."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from memlines.serve.tools import TOOLS, shown_tools
from tests.clients.claude_code.conftest import program as claude
from tests.clients.codex.conftest import program as codex
from tests.docs.pages import PAGES, ROOT, Block, blocks, shown
from tests.docs.shell import FIRST, INSTEAD, NOT_RUN, all_steps, begins_with, play
from tests.programs import MAIN, environment
from tests.repositories import needs_git

__all__ = ["claude", "codex"]  # fixtures: the real clients, installed once for all tests

_START = [
    ROOT / "README.md",
    ROOT / "docs/index.md",
    *sorted((ROOT / "docs").glob("quickstart*.md")),
    ROOT / "docs/tutorial.md",
]

_QUIET = "DISABLE_AUTOUPDATER=1 DISABLE_TELEMETRY=1 CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"
_PROJECT = "mkdir shop; cd shop; git init -q"
_TRUST_CLAUDE = """echo '{"projects": {"'"$PWD"'": {"hasTrustDialogAccepted": true}}}' > ~/.claude.json"""
_TRUST_CODEX = (
    r"""mkdir ~/.codex; printf '[projects."%s"]\ntrust_level = "trusted"\n' "$PWD" > ~/.codex/config.toml"""
)
_OPENCODE = r"""
mkdir -p ~/.opencode/bin; export PATH=~/.opencode/bin:$PATH
printf '#!/bin/sh\necho 1.18.33\n' > ~/.opencode/bin/opencode; chmod +x ~/.opencode/bin/opencode
"""
"""A stand-in that says its version, which is all that the page asks of it."""

_REMOTE = """
git config --global user.name Ana; git config --global user.email ana@example.org
git config --global init.defaultBranch main
git init -q --bare shop.git; git clone -q shop.git shop 2> /dev/null
"""

_LET_THE_SERVER_END = "memlines sync > /dev/null"
"""The server that the client started a moment ago may still be embedding the same notes, which a person who
types does not meet; a search then answers by words and says so."""

BEFORE: Mapping[str, Mapping[str, str]] = {
    "quickstart.md": {FIRST: "mkdir notes; touch notes/MEMORY.md; cd notes"},
    "quickstart-opencode.md": {FIRST: f"{_PROJECT}\n{_OPENCODE}"},
    "quickstart-claude-code.md": {
        FIRST: _PROJECT,
        "claude mcp list": _TRUST_CLAUDE,
        'memlines search "which database did we pick for invoices?"': _LET_THE_SERVER_END,
    },
    "quickstart-codex.md": {FIRST: _PROJECT, "codex mcp get memlines": _TRUST_CODEX},
    "quickstart-team.md": {FIRST: _REMOTE},
}
"""What is there before a page begins, and what a person does before a command: trust it, take time."""

CLIENTS = {"quickstart-claude-code.md": "claude", "quickstart-codex.md": "codex"}
"""Pages that call a client, which is the real one."""

READ_ONLY = {
    "": "a picture, or what a file looks like",
    "ini": "a file that an installation writes; tests/clients/test_install_npm.py",
    "yaml": "settings; tests/docs/test_docs.py loads them",
}
"""Kinds of blocks that cannot be run, and why."""

PROGRAMS = {
    "memlines": [sys.executable, "-c", MAIN],
    "/abs/python": [sys.executable],
    "uvx": [sys.executable, "-m"],  # no package index is asked
}
FOLDERS = {"/home/you/notes": "notes", "${workspaceFolder}": "notes"}
"""What the programs and folders in the configuration of a client are here."""


@pytest.mark.skipif(sys.platform == "win32", reason="the pages show a POSIX shell")
@needs_git
@pytest.mark.timeout(1200)  # the first test of a client installs it
@pytest.mark.parametrize("page", _START, ids=shown)
def test_a_page_goes_as_it_shows(
    page: Path, tmp_path: Path, warm: Mapping[str, str], request: pytest.FixtureRequest
) -> None:
    before = dict(BEFORE.get(page.name, {}))
    if page.name in CLIENTS:
        program = request.getfixturevalue(CLIENTS[page.name])
        before[FIRST] += f"\nexport PATH='{program.parent}':$PATH {_QUIET}"
    play(page, before, tmp_path / "home" / "you", warm)


@pytest.mark.parametrize("page", _START, ids=shown)
def test_every_block_is_run_or_listed(page: Path) -> None:
    run = {"bash", "console", "json", "output", "python", "toml"}
    assert {block.language for block in blocks(page)} <= run | READ_ONLY.keys()


@pytest.mark.parametrize("page", _START, ids=shown)
def test_no_command_is_in_a_block_that_is_not_run(page: Path) -> None:
    texts = [block.text for block in blocks(page) if block.language in READ_ONLY]
    assert [line for text in texts for line in text.splitlines() if line.startswith("$ ")] == []


@pytest.mark.parametrize("pattern", [*NOT_RUN, *INSTEAD])
def test_every_reason_excuses_something(pattern: str) -> None:
    commands = [step.command for page in PAGES for step in all_steps(page)]
    assert any(begins_with(pattern, command) for command in commands)


CONFIGURATIONS = [
    pytest.param(block, id=f"{page.name}-{number}")
    for page in _START
    for number, block in enumerate(blocks(page))
    if block.language in ("json", "toml")
]


@pytest.mark.parametrize("block", CONFIGURATIONS)
def test_a_configuration_does_what_the_page_says(block: Block, tmp_path: Path) -> None:
    read = json.loads if block.language == "json" else tomllib.loads
    (kind, value), *more = read(block.text).items()
    assert not more
    if kind == "permissions":
        assert {name.removeprefix("mcp__memlines__") for name in value["allow"]} <= TOOLS.keys()
        return
    assert kind in ("mcpServers", "servers", "mcp_servers"), "no test uses this"
    for server in value.values():
        assert_serves([server["command"], *server["args"]], tmp_path)


def assert_serves(words: list[str], folder: Path) -> None:
    """Start an MCP server as a client does, and see that it offers all tools."""
    (folder / "notes").mkdir()
    asked: list[dict[str, Any]] = [
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "page", "version": "1"},
            },
        },
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    ]
    done = subprocess.run(
        [*PROGRAMS[words[0]], *(FOLDERS.get(word, word) for word in words[1:])],
        cwd=folder,
        env=environment({}),
        input="".join(f"{json.dumps(one)}\n" for one in asked).encode(),
        capture_output=True,
        timeout=60,
        check=True,
    )
    answers = {answer["id"]: answer["result"] for answer in map(json.loads, done.stdout.splitlines())}
    assert {tool["name"] for tool in answers[2]["tools"]} == {tool.name for tool in shown_tools()}
