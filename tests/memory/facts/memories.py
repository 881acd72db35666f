"""A memory with a few facts, found by the index alone or by a table as well."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from memlines import Memory
from memlines.memory.facts.recall import Recollection

STORES = ("index", "lancedb")

FACTS = """\
# Facts

- 2026-11-02 [preference] Prefers tabs over spaces for indentation. ^aaaaaaaaaa
- 2026-11-03 [decision] Billing runs on Postgres 17. ^bbbbbbbbbb
- 2026-11-04 [entity] Her sister Ana lives in Porto. ^cccccccccc
- 2026-11-05 [fact] The deploy window is Thursday at 14:00. ^dddddddddd
- 2026-03-01 [fact] ~~Works at Acme as a nurse.~~ {until: 2026-11-06, now: ffffffffff} ^eeeeeeeeee
- 2026-11-06 [fact] Works at Globex as a nurse. ^ffffffffff
"""

TABS, BILLING, SISTER, DEPLOY, ACME, GLOBEX = (letter * 10 for letter in "abcdef")


def note_of(folder: Path) -> Path:
    return folder / "memory/facts.md"


def facts_memory(folder: Path, store: str = "index", text: str = FACTS, **settings: Any) -> Memory:
    """Return a memory over a note of facts, which are found by this store."""
    if store == "lancedb":
        pytest.importorskip("lancedb")
    if text:
        note_of(folder).parent.mkdir(parents=True, exist_ok=True)
        note_of(folder).write_text(text, encoding="utf-8")
    given = {key.replace("__", "."): value for key, value in settings.items()}
    return Memory(folder, {"facts.store": store, **given})


def names(recalled: Recollection) -> list[str]:
    """Return the ids of the facts that were recalled."""
    return [found.fact.id for found in recalled.found]


def words_of(folder: Path) -> Iterable[bytes]:
    """Yield what every file of the private folder holds."""
    return (file.read_bytes() for file in (folder / ".memory").rglob("*") if file.is_file())
