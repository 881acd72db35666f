"""The page of the documentation that lists every setting."""

from __future__ import annotations

from pathlib import Path

import pytest

from memlines.settings.keys import known_keys
from memlines.settings.values import Key
from write_settings import main, render_table


@pytest.mark.parametrize("name", list(known_keys()))
def test_the_page_has_every_key(name: str) -> None:
    assert f"| `{name}` |" in render_table()


@pytest.mark.parametrize("key", known_keys().values(), ids=known_keys())
def test_a_variable_is_named_as_the_page_says(key: Key) -> None:
    assert key.variable == f"MEMLINES_{key.name.replace('.', '__').upper()}"


def test_no_cell_breaks_the_table() -> None:
    settings = render_table().split("## Other names")[0]
    rows = [line for line in settings.splitlines() if line.startswith("| `")]
    assert {row.count("|") for row in rows} == {6}


def test_the_command_writes_the_page(tmp_path: Path) -> None:
    main([str(tmp_path / "settings.md")])
    assert (tmp_path / "settings.md").read_text(encoding="utf-8") == render_table()


def test_the_command_explains_itself() -> None:
    with pytest.raises(SystemExit, match="usage"):
        main([])
