"""Find what a memory says already: one check for notes and facts, by words and files alone.

Looked at are the entries of named notes, the facts, and the entries that a search by words finds. The note of
facts may be long, so only the lines with a word of the text are read; all of it is parsed if one of them says
the same.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from datetime import datetime

from memlines.errors import EmbeddingError, StoreError
from memlines.files.scan import NOTES_DIR, SUFFIX
from memlines.memory.notes.duplicates import Search, find, query_of, same_words
from memlines.memory.notes.reading import entries_in, text_of
from memlines.paths import Workspace
from memlines.settings.tree import Settings
from memlines.text.entries import Entry
from memlines.text.fact_note import note_path
from memlines.text.facts import FactLine, facts_in
from memlines.text.words import telling_words
from memlines.types import Hit

_LONGEST_ITEM = 50
"""Lines above and below a line that may belong to the same fact."""


def daily_log(now: datetime) -> str:
    """Return the path of the log of a day."""
    return f"{NOTES_DIR}/{now.date().isoformat()}{SUFFIX}"


def known_entry(
    workspace: Workspace,
    settings: Settings,
    text: str,
    now: datetime,
    *,
    paths: Iterable[str],
    search: Search,
    facts: bool = True,
) -> Hit | None:
    """Return the entry that says what a text says: of these notes, of the facts, or of what a search finds.

    `facts` is off for somebody who compares the facts in another way.
    """
    return find(text, now, _entries_like(workspace, settings, text, paths, search, facts))


def _entries_like(
    workspace: Workspace, settings: Settings, text: str, paths: Iterable[str], search: Search, facts: bool
) -> Iterator[tuple[str, Entry]]:
    note = note_path(settings.facts.file)
    for path in paths:
        if path != note:
            yield from ((path, entry) for entry in entries_in(workspace, settings, path))
    if facts:
        for line in _facts_like(text, text_of(workspace, settings, note)):
            yield note, _entry_of(line)
    try:
        hits = [hit for hit in search(query_of(text)) if hit.source == "memory" and hit.path != note]
    except (StoreError, EmbeddingError):
        return  # an index that cannot be used must not keep anybody from writing
    known = {hit.path: entries_in(workspace, settings, hit.path) for hit in hits}
    for hit in hits:
        for entry in known[hit.path]:
            if entry.first <= hit.end_line and hit.start_line <= entry.last:
                yield hit.path, entry


def _entry_of(line: FactLine) -> Entry:
    """Return a fact as an entry of a note: its day as a label, and none of its marks."""
    day = f"{line.fact.created.isoformat()}: " if line.fact.created else ""
    return Entry("item", line.first, line.last, f"- {day}{line.fact.text}", "")


def _facts_like(text: str, note: str) -> Iterator[FactLine]:
    """Yield the facts of a note that say the same in the same words and still hold."""
    if any(_says(line, text) for line in _facts_around(text, unicodedata.normalize("NFC", note))):
        yield from (line for line in facts_in(note) if _says(line, text))


def _says(line: FactLine, text: str) -> bool:
    return line.fact.is_current and same_words(text, line.fact.text)


def _facts_around(text: str, note: str) -> Iterator[FactLine]:
    """Yield what would be facts around the lines that hold the longest word of a text."""
    word = max(telling_words(unicodedata.normalize("NFC", text)), key=len, default="").casefold()
    lines = note.split("\n")
    for at in (at for at, line in enumerate(lines) if word in line.casefold()):
        first = last = at
        while first > max(0, at - _LONGEST_ITEM) and lines[first][:1] in " \t" and lines[first - 1].strip():
            first -= 1
        while last + 1 < min(len(lines), at + _LONGEST_ITEM) and lines[last + 1][:1] in tuple(" \t"):
            last += 1
        yield from facts_in("\n".join(lines[first : last + 1]))
