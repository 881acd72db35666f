"""Fail if a word of the old dialect is in a page, a help text, an error or a docstring.

python docs/check_words.py

Each word has a plain one beside it. Pages are Markdown; code is read for its string literals only, so a
variable may have any name.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = ("README.md", "CONTRIBUTING.md", "docs/*.md", "integrations/**/*.md")
WORDS = {
    r"anew": "again, rebuild",
    r"mend(?:s|ed|ing)?": "fix, repair",
    r"told": "reported, said",
    r"whoever": "the caller, anyone who",
    r"nobody": "no one, not",
    r"somebody": "someone, a person, the user",
    r"(?:is|are|was|were) to be": "must, will, should",
    r"stands? in for": "replaces",
    r"cannot be meant": "make no sense: …",
    r"to anything": "must be at least …",
    r"goes on from there": "continues",
}
DIALECT = re.compile(rf"\b(?:{'|'.join(WORDS)})\b", re.IGNORECASE)


def texts_of(file: Path) -> Iterator[tuple[int, str]]:
    """Yield each line of a page, or of the string literals of a module, with its number."""
    content = file.read_text(encoding="utf-8")
    if file.suffix == ".md":
        yield from enumerate(content.splitlines(), 1)
        return
    for node in ast.walk(ast.parse(content)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from enumerate(node.value.splitlines(), node.lineno)


def main() -> int:
    """Print every place with such a word; return 1 if there is any."""
    files = [file for pattern in PAGES for file in sorted(ROOT.glob(pattern))]
    files += sorted(ROOT.glob("src/**/*.py"))
    found = [
        f"{file.relative_to(ROOT)}:{line}: {match[0]!r} in {text.strip()[:90]!r}"
        for file in files
        for line, text in texts_of(file)
        for match in DIALECT.finditer(text)
    ]
    print("\n".join(found), file=sys.stderr)
    if found:
        print(f"{len(found)} words of the old dialect; docs/check_words.py names plain ones", file=sys.stderr)
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
