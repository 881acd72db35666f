"""The page of the documentation that lists every setting."""

from __future__ import annotations

from pathlib import Path

import pytest

from recollect.settings.keys import known_keys
from recollect.settings.table import main, render_table

PAGE = Path(__file__).parents[1] / "docs" / "settings.md"


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == render_table(), "run 'make docs'"


@pytest.mark.parametrize("name", list(known_keys()))
def test_the_page_has_every_key(name: str) -> None:
    assert f"| `{name}` |" in render_table()


def test_the_page_marks_what_does_nothing_yet() -> None:
    rows = [line for line in render_table().splitlines() if "| (later) " in line]
    assert len(rows) == sum(key.later for key in known_keys().values())


@pytest.mark.parametrize(
    ("name", "later"),
    [
        ("embeddings.provider", False),
        ("embeddings.model", False),
        ("sync.on_search", False),
        ("sync.watch", False),
        ("sync.sessions.delta_bytes", False),
        ("facts.auto_recall", True),
        ("query.max_results", False),
    ],
)
def test_a_key_is_for_later_with_its_section_unless_it_says_otherwise(name: str, later: bool) -> None:
    assert known_keys()[name].later is later


def test_no_cell_breaks_the_table() -> None:
    rows = [line for line in render_table().splitlines() if line.startswith("| `")]
    assert {row.count("|") for row in rows} == {7}


def test_the_command_writes_the_page(tmp_path: Path) -> None:
    main([str(tmp_path / "settings.md")])
    assert (tmp_path / "settings.md").read_text(encoding="utf-8") == render_table()


def test_the_command_explains_itself() -> None:
    with pytest.raises(SystemExit, match="usage"):
        main([])
