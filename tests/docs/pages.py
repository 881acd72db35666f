"""The pages of the documentation, and what stands in them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")),
    *sorted((ROOT / "docs").glob("*.md")),
]

_BLOCK = re.compile(r"^(```+)([a-z]*)\n(.*?)^\1\n", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"\]\(([^)\s]*)\)")
_OPERATORS = {"|", "||", "&&", ";", "&"}


class Block(NamedTuple):
    """A block of code in a page."""

    language: str
    text: str


def shown(page: Path) -> str:
    return page.name


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def blocks(page: Path) -> list[Block]:
    return [Block(language, text) for _, language, text in _BLOCK.findall(text_of(page))]


def prose(page: Path) -> str:
    """Return a page without its blocks of code."""
    return _BLOCK.sub("", text_of(page))


def in_line(page: Path) -> list[str]:
    """Return what is set as code within sentences and tables."""
    return re.findall(r"(?<!`)`([^`\n]+)`(?!`)", prose(page))


def links(page: Path) -> list[tuple[str, str]]:
    """Return the links to files of this repository: path and anchor."""
    targets = [target for target in _LINK.findall(prose(page)) if ":" not in target]
    return [(path, anchor) for path, _, anchor in (target.partition("#") for target in targets)]


def anchors(page: Path) -> set[str]:
    """Return what a link into a page can name, as GitHub makes it from the headings."""
    found: dict[str, int] = {}
    names = set()
    for heading in re.findall(r"^#+ (.*)$", prose(page), re.MULTILINE):
        plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
        name = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        names.add(f"{name}-{found[name]}" if name in found else name)
        found[name] = found.get(name, 0) + 1
    return names


def calls(page: Path) -> Iterator[list[str]]:
    """Yield the words behind `memlines` of every call in the page's shell blocks."""
    for block in blocks(page):
        for line in block.text.replace("\\\n", " ").splitlines():
            if line.startswith("$ "):
                yield from _calls_in(line.removeprefix("$ "))


def _calls_in(line: str) -> Iterator[list[str]]:
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;<>")
    lexer.whitespace_split = True
    lexer.commenters = ""
    command: list[str] = []
    for word in [*lexer, ";"]:
        if word.startswith("#"):
            yield from _call(command)
            return
        if word in _OPERATORS:
            yield from _call(command)
            command = []
        else:
            command.append(word)


def _call(command: list[str]) -> Iterator[list[str]]:
    """Yield the words of a command if it is a call of the program; variables may be set before it."""
    while command and re.match(r"[A-Z_]+=", command[0]):
        command = command[1:]
    if command and command[0] == "memlines":
        ends = [number for number, word in enumerate(command) if word[0:1] in "<>" and word]
        yield command[1 : min(ends, default=None)]
