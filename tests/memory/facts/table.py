"""What the tests of the facts' table share: a note that is synced, and the table that is written of it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any
from unittest.mock import patch

from memlines.memory.facts import rebuild as rebuilding
from memlines.memory.facts.lance import NAME, LanceTable
from memlines.memory.facts.note import FactNote, FactStores
from memlines.memory.facts.places import uri_of
from memlines.memory.facts.rebuild import Outcome, open_table, rebuild
from memlines.paths import Workspace
from memlines.settings import load
from memlines.text.facts import Fact, line_of
from tests.indexes import reading, sync, write
from tests.providers import FakeProvider

NOTE = "memory/facts.md"


class Kept:
    """A workspace whose facts are kept in a table."""

    def __init__(self, root: Path, settings: dict[str, Any] | None = None) -> None:
        self.root = root
        self.workspace = Workspace.at(root)
        self.settings = load(self.workspace, settings).settings
        self.note = FactNote(self.workspace, self.settings)
        self.uri = uri_of(self.workspace, self.settings)
        self.provider = FakeProvider()

    @property
    def folder(self) -> Path:
        """The folder of LanceDB's files."""
        return Path(self.uri, f"{NAME}.lance")

    def write(self, text: str) -> None:
        write(self.root, {NOTE: text})

    def write_facts(self, facts: Iterable[Fact]) -> None:
        self.write("# Facts\n\n" + "".join(f"{line_of(fact)}\n" for fact in facts))

    def sync(self, embed_limit: int | None = None) -> None:
        sync(self.root, self.provider, embed_limit=embed_limit)

    def rebuild(self) -> Outcome:
        with reading(self.root) as index:
            return rebuild(index, self.note, self.uri, FactStores())

    def write_again(self) -> None:
        """Write the table although it is of the state that it should be."""
        with patch.object(rebuilding, "_is_current", return_value=False):
            self.rebuild()

    def keep(self, text: str) -> Outcome:
        """Write the note, sync it and refresh the table."""
        self.write(text)
        self.sync()
        return self.rebuild()

    def opened(self) -> LanceTable | None:
        found = open_table(self.uri)
        return found[1] if found else None

    def table(self) -> LanceTable:
        table = self.opened()
        assert table is not None
        return table

    def rows(self) -> dict[str, dict[str, Any]]:
        """Return what the table holds by id; of a fact in pieces the last one."""
        table = LanceTable.open(self.uri)
        held = table._inner.to_arrow().to_pylist() if table else []
        return {row["id"]: row for row in held}

    def texts(self) -> dict[str, str]:
        return {name: row["text"] for name, row in self.rows().items()}

    def of_the_note(self) -> dict[str, str]:
        return {line.fact.id: line.fact.text for line in self.note.lines()}

    def nearest(self, text: str, limit: int = 1, *, current_only: bool = False) -> dict[str, float]:
        """Return the facts that the table finds by the words of a text, by id."""
        names = {row["number"]: name for name, row in self.rows().items()}
        found = self.table().nearest(self.query(text), limit, current_only=current_only)
        return {names[number]: cosine for number, cosine in found.items()}

    def query(self, text: str) -> bytes:
        from memlines.embed.base import embed_query, to_blobs

        return to_blobs(embed_query(self.provider, text)[None, :])[0]


def named(number: int) -> str:
    """Return an id that is easy to make."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    return f"fact{letters[number // 676 % 26]}{letters[number // 26 % 26]}{letters[number % 26]}aaa"


def note_of(*texts: str) -> str:
    """Return a note with a fact a line."""
    lines = (f"- 2026-11-16 [fact] {text} ^{named(number)}\n" for number, text in enumerate(texts))
    return "# Facts\n\n" + "".join(lines)
