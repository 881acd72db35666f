"""Notes that a merge left with conflicts: the marks are noticed and are no text."""

from __future__ import annotations

from pathlib import Path

import pytest

from memlines import Memory
from memlines.text.entries import conflicts_in, without_conflict_marks
from tests.indexes import write

CONFLICT = """# Tea
<<<<<<< HEAD
- The tea is green.
=======
- The tea is black.
>>>>>>> feature
"""
WORDS = {"embeddings.provider": "none"}


def test_a_conflict_is_reported_with_its_line(workspace: Path) -> None:
    write(workspace, {"memory/tea.md": CONFLICT})
    with Memory(workspace, WORDS) as memory:
        (warning,) = memory.sync().warnings
    assert warning.startswith("memory/tea.md has a merge conflict on line 2")


@pytest.mark.parametrize("query", ["green tea", "black tea"])
def test_both_sides_are_found(workspace: Path, query: str) -> None:
    write(workspace, {"memory/tea.md": CONFLICT})
    with Memory(workspace, WORDS) as memory:
        (hit, *_) = memory.search(query)
    assert (query.split()[0] in hit.snippet, "<<<" in hit.snippet, "===" in hit.snippet) == (
        True,
        False,
        False,
    )


def test_the_marks_are_not_found(workspace: Path) -> None:
    write(workspace, {"memory/tea.md": CONFLICT})
    with Memory(workspace, WORDS) as memory:
        assert memory.search("feature").hits == ()


def test_lines_keep_their_numbers() -> None:
    assert without_conflict_marks(CONFLICT).split("\n")[4] == "- The tea is black."


def test_a_conflict_with_its_base_is_one_too() -> None:
    text = "<<<<<<< a\n1\n||||||| base\n2\n=======\n3\n>>>>>>> b\n"
    assert conflicts_in(text) == [(1, 3, 5, 7)]


@pytest.mark.parametrize(
    "text",
    [
        "A title\n=======\n\nText\n",
        f"```\n{CONFLICT}```\n",
        "> > > > > > >\n<<<<<<<\n",
        "=======\n>>>>>>> b\n<<<<<<< a\n",
        "    <<<<<<< a\n    =======\n    >>>>>>> b\n",
    ],
)
def test_what_only_looks_like_a_conflict_stays(text: str) -> None:
    assert without_conflict_marks(text) == text
