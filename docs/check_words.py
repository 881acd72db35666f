"""Fail if a page, a help text, an error or a docstring has a word that we do not use.

python docs/check_words.py

Each word has a plain one beside it. Pages are Markdown. In code only string literals are read, and of
those only texts: a literal without a blank, or of several lines without a full stop, is data.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "docs/*.md", "integrations/**/*.md")
CODE = "src/**/*.py"
WORDS = {
    r"anew": "again, rebuild",
    r"mend(?:s|ed|ing)?": "fix, repair",
    r"told": "reported, said, known",
    r"whoever": "anyone who, the caller",
    r"nobody": "no one",
    r"(?:some|any|every)body": "someone, a person, the user; anyone; everyone",
    r"(?:is|are|was|were) to be": "must, will, should",
    r"stands? in for": "replaces",
    r"(?:stands?|stood)(?! for)": "is, are, was",
    r"tells? (?:whether|if)": "return whether, says whether",
    r"cannot be meant": "make no sense: …",
    r"to anything": "must be at least …",
    r"goes on from there": "continues",
    r"comes second": "the second",
    r"otherwise than": "differently, not as",
    r"sees? to (?:it|that)": "ensures",
}
_UNUSED = re.compile(rf"\b(?:{'|'.join(WORDS)})\b", re.IGNORECASE)


def read_texts(file: Path) -> Iterator[tuple[int, str]]:
    """Yield each line of a page, or of the texts in a module, with its number."""
    content = file.read_text(encoding="utf-8")
    if file.suffix == ".md":
        yield from enumerate(content.splitlines(), 1)
        return
    for node in ast.walk(ast.parse(content)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and _is_text(node.value):
            yield from enumerate(node.value.splitlines(), node.lineno)


def _is_text(literal: str) -> bool:
    return " " in literal and ("\n" not in literal or "." in literal)


def check(root: Path) -> list[str]:
    """Return every place below a folder that has such a word, and what to write instead."""
    files = [file for pattern in (*PAGES, CODE) for file in sorted(root.glob(pattern))]
    return [
        f"{file.relative_to(root)}:{line}: {match[0]!r} in {text.strip()[:90]!r}: {_replace(match[0])}"
        for file in files
        for line, text in read_texts(file)
        for match in _UNUSED.finditer(text)
    ]


def _replace(word: str) -> str:
    return next(plain for pattern, plain in WORDS.items() if re.fullmatch(pattern, word, re.IGNORECASE))


def main() -> int:
    """Print what the check finds; return 1 if it finds anything."""
    found = check(ROOT)
    if found:
        print("\n".join(found), file=sys.stderr)
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
