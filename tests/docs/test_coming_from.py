"""What other programs left can be moved as the pages say, from files in the form of those programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.docs.pages import ROOT, shown
from tests.docs.shell import FIRST, play

_MEMSEARCH_LOG = r"""# 2026-11-16

## Session 10:12

### 10:12
<!-- session:7f3a turn:b21c transcript:/home/you/7f3a.jsonl -->
- The user asked which database billing should use.
- Claude Code compared two; the user chose Postgres 17, because exports need transactions.
"""
_MEM0_EXPORT = {
    "results": [
        {
            "id": "94291aa1-61d3",
            "memory": "We chose Postgres 17 for billing",
            "hash": "f03d9722",
            "metadata": {"category": "decisions"},
            "created_at": "2026-11-16T04:10:59.635319+00:00",
            "updated_at": "2026-11-16T04:10:59.635319+00:00",
            "user_id": "ada",
            "role": "user",
        },
        {
            "id": "ea1cf2a8-ef54",
            "memory": "Ada prefers tea over coffee",
            "hash": "5b1df6e7",
            "metadata": None,
            "created_at": "2026-11-16T04:11:59.704388+00:00",
            "updated_at": "2026-11-16T04:11:59.704388+00:00",
            "user_id": "ada",
            "role": "user",
        },
    ]
}
_BASIC_MEMORY_NOTE = """---
title: Billing
type: note
permalink: shop/decisions/billing
tags:
- storage
---

# Billing

## Observations
- [decision] We chose Postgres 17 for billing #database (MariaDB was close)
- [rule] Exports need transactions

## Relations
- affects [[Exports]]
"""
_CLAUDE_MEM = """
import sqlite3
with sqlite3.connect("../.claude-mem/claude-mem.db") as database:
    columns = "id INTEGER PRIMARY KEY, created_at, project, type, title, narrative, facts"
    database.execute(f"CREATE TABLE observations ({columns})")
    kept = ("2026-11-16T04:03:40.320Z", "shop", "decision", "Postgres 17 for billing")
    why = ("The team chose it because exports need transactions.", '["MariaDB was close"]')
    database.execute("INSERT INTO observations VALUES (1, ?, ?, ?, ?, ?, ?)", kept + why)
"""


def _writes(file: str, text: str) -> str:
    return f"mkdir -p {Path(file).parent}; cat > {file} <<'END'\n{text}END\n"


_SHOP = "mkdir shop; cd shop\n"

LEFT = {
    "coming-from-memsearch.md": _SHOP + _writes(".memsearch/memory/2026-11-16.md", _MEMSEARCH_LOG),
    "coming-from-mem0.md": _SHOP + _writes("mem0.json", f"{json.dumps(_MEM0_EXPORT)}\n"),
    "coming-from-basic-memory.md": _writes("basic-memory/decisions/Billing.md", _BASIC_MEMORY_NOTE),
    "coming-from-claude-mem.md": f"mkdir .claude-mem shop; cd shop; python <<'END'\n{_CLAUDE_MEM}END\n",
}
"""What each program leaves in a home, as a script that writes it."""


@pytest.mark.skipif(sys.platform == "win32", reason="the pages show a POSIX shell")
@pytest.mark.timeout(360)
@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("coming-from-*.md")), ids=shown)
def test_it_can_be_moved_as_the_page_says(page: Path, tmp_path: Path, warm: Mapping[str, str]) -> None:
    play(page, {FIRST: LEFT[page.name]}, tmp_path / "home" / "you", warm)
