"""The check of words that is part of `make lint`."""

from __future__ import annotations

from pathlib import Path

import pytest

from check_words import check
from tests.docs.pages import ROOT

PAGE = "# A page\n\nThe index is built anew.\n"
ERROR = """raise UsageError(\n    "no one is here", todo="ask somebody")\n"""
HELP = """parser.add_argument("--plan", help="the facts that are to be kept")\n"""
DATA = 'WORDS = """\n    none nobody\n"""\nNAME = "told"\ntold = 1\n'


def found_in(tmp_path: Path, name: str, content: str) -> list[str]:
    """Return what the check says about one file, up to what to write instead."""
    file = tmp_path / name
    file.parent.mkdir(parents=True)
    file.write_text(content, encoding="utf-8")
    return [place.split(" in ")[0] for place in check(tmp_path)]


@pytest.mark.parametrize(
    ("name", "content", "place"),
    [
        ("docs/page.md", PAGE, "docs/page.md:3: 'anew'"),
        ("src/memlines/refuse.py", ERROR, "src/memlines/refuse.py:2: 'somebody'"),
        ("src/memlines/options.py", HELP, "src/memlines/options.py:1: 'are to be'"),
    ],
    ids=["page", "error", "help"],
)
def test_a_word_we_do_not_use_is_found(tmp_path: Path, name: str, content: str, place: str) -> None:
    """A page, the text of an error and a help text are read, and the place is named."""
    assert found_in(tmp_path, name, content) == [place]


def test_names_and_lists_of_words_are_left_alone(tmp_path: Path) -> None:
    """A variable, a single word and a list of words are data, not text."""
    assert found_in(tmp_path, "src/memlines/data.py", DATA) == []


def test_this_repository_has_none() -> None:
    """Every page and every text of the program passes."""
    assert check(ROOT) == []
