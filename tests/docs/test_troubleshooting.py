"""The page about troubles shows what the program prints: it is provoked, or found in the source."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.docs.pages import ROOT, text_of
from tests.docs.shell import FIRST, play
from tests.repositories import needs_git

PAGE = ROOT / "docs/troubleshooting.md"

_SECRET = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
_MERGED = r"<<<<<<< HEAD\n- The port is 8080\n=======\n- The port is 9090\n>>>>>>> theirs\n"
_WITH_OPENAI = "MEMLINES_EMBEDDINGS__PROVIDER=openai"

TROUBLES: Mapping[str, str] = {
    FIRST: """
git config --global user.name Ana; git config --global user.email ana@example.org
git config --global init.defaultBranch main
memlines init notes > /dev/null
memlines remember -w notes 'Staging listens on port 9090.' > /dev/null
""",
    "memlines status": r"printf 'embeddings:\n  provider: openai\n' > .memory/config.yaml",
    "memlines recall --recent": "rm .memory/config.yaml; memlines config off > /dev/null",
    f'{_WITH_OPENAI} memlines search "which port has staging?"': "memlines config on > /dev/null",
    "memlines web": """
mkdir ~/without; echo 'raise ModuleNotFoundError("not here", name="jinja2")' > ~/without/jinja2.py
export PYTHONPATH=~/without
""",
    'memlines search "staging"': """
unset PYTHONPATH; memlines sync > /dev/null; echo damaged > .memory/index.sqlite
""",
    'memlines search "port"': "rm -r ~/.local/state/memlines",
    "memlines sync": r"rm .memory/*.damaged*; printf '\377 not text' > memory/photo.md",
    'memlines search "which port?"': f"rm memory/photo.md; printf '{_MERGED}' > memory/staging.md",
    "memlines doctor | grep -v '^ok'": """
rm memory/staging.md; git init -q; git add memory MEMORY.md; git commit -qm Notes; memlines sync > /dev/null
""",
    'git commit -q -m "Remember"': rf"""
printf '#!/bin/sh\nexec memlines check --staged\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit
echo '- The token is {_SECRET}' >> MEMORY.md; git add MEMORY.md
""",
    "memlines install claude-code": "mkdir -p .claude/commands; echo mine > .claude/commands/recall.md",
    "memlines import mem0 export.json": "echo '{}' > export.json",
}
"""What goes wrong before a command of the page."""


@pytest.mark.skipif(sys.platform == "win32", reason="the page shows a POSIX shell")
@pytest.mark.timeout(360)
@needs_git
def test_each_message_is_the_one_that_the_page_shows(tmp_path: Path, warm: Mapping[str, str]) -> None:
    play(PAGE, TROUBLES, tmp_path / "home" / "you", warm)


@pytest.mark.parametrize("command", TROUBLES)
def test_every_trouble_comes_before_a_command_of_the_page(command: str) -> None:
    assert f"$ {command}" in text_of(PAGE)


def rarer_messages() -> list[str]:
    table = text_of(PAGE).partition("## Rarer messages\n")[2]
    return re.findall(r"^\| `([^`]+)` \|", table, re.MULTILINE)


@pytest.fixture(scope="module")
def texts() -> str:
    """Every text in the source, with … where a value is put in."""
    found = [file.read_text(encoding="utf-8") for file in (ROOT / "integrations").rglob("*.js")]
    for file in (ROOT / "src").rglob("*.py"):
        found += _texts_in(ast.parse(file.read_text(encoding="utf-8")))
    return "\n".join(found)


def _texts_in(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


@pytest.mark.parametrize("message", rarer_messages())
def test_a_rarer_message_is_one_of_the_program(message: str, texts: str) -> None:
    assert message in texts
