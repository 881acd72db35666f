"""Read the entries of all notes as they are compared: what each says, from when, about what, from whom."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from datetime import date
from functools import cached_property

from memlines.files.place import is_note
from memlines.files.scan import NOTES_DIR, ROOT_FILES, SUFFIX
from memlines.memory.notes.entries import body_of, notes_in, sessions_in, slug_of, text_in
from memlines.paths import Workspace, note_path
from memlines.settings import Settings
from memlines.text.aliases import PATH as ALIASES
from memlines.text.days import day_of, log_day
from memlines.text.entries import Entry, conflicts_in, entries_of
from memlines.text.fact_note import facts_in
from memlines.text.facts import FactLine
from memlines.text.language import language_of, stop_words
from memlines.text.matching import entry_id
from memlines.text.patterns import any_language
from memlines.text.redaction.apply import without_private
from memlines.text.terms import terms_of
from memlines.types import cite

MAIN, FACT, TOPIC, LOG = range(4)
"""What kind a note is; entries of the first are the most curated."""

_IMPORTED = f"{NOTES_DIR}/imported/"
"""Where notes are that were made from the memories of other programs."""

_TASK = re.compile(r" {0,3}(?:[-+*]|\d{1,9}[.)])[ \t]+\[[ xX]\][ \t]")


class Noted:
    """An entry of a note, or a fact."""

    def __init__(
        self, path: str, kind: int, entry: Entry, fact: FactLine | None = None, *, from_session: bool = False
    ) -> None:
        self.path = path
        self.kind = kind
        self.entry = entry
        self.fact = fact
        self.body = fact.fact.text if fact else body_of(entry.text)
        self.day: date | None = fact.fact.valid_from if fact else day_of(path, entry)
        self.is_task = _TASK.match(entry.text) is not None
        # A fact with a source was captured, imported, or stored by an agent.
        from_source = fact is not None and bool(fact.fact.source) and not fact.fact.reviewed
        self.is_trusted = not (from_session or from_source or path.startswith(_IMPORTED))

    @property
    def citation(self) -> str:
        """The lines as `path#L3`."""
        return cite(self.path, self.entry.first, self.entry.last)

    @cached_property
    def id(self) -> str:
        """What the entry is known by wherever it is."""
        return entry_id(self.entry.text)

    @cached_property
    def hash(self) -> str:
        """The hash of its lines."""
        return hash_lines(self.entry.text)

    @cached_property
    def terms(self) -> frozenset[str]:
        """Its words without endings and small words."""
        language = language_of(self.body)
        small = stop_words(language)
        words = " ".join(word for word in re.findall(r"\w+", self.body) if word.casefold() not in small)
        return frozenset(terms_of(words, language))

    @cached_property
    def subject(self) -> frozenset[str]:
        """The words that say what its note is about: its name, or else its title; elsewhere the headings."""
        if self.kind != TOPIC:
            return self.section
        named = _words_of_title(slug_of(self.path.rpartition("/")[2].removesuffix(SUFFIX)))
        return named or _words_of_title(self.entry.heading.partition(" > ")[0])

    @cached_property
    def section(self) -> frozenset[str]:
        """The words of the headings above it, but for the title of its note."""
        if self.kind == FACT and self.fact is not None:
            return _words_of_title(self.fact.fact.scope)
        return _words_of_title(self.entry.heading.partition(" > ")[2] or "")


def _words_of_title(title: str) -> frozenset[str]:
    """Return the words of a title without small ones and those that may be about anything: "decisions"."""
    general, small = any_language("tidy", "titles"), stop_words(language_of(title))
    words = re.findall(r"[^\W\d_]+", title.casefold())
    telling = [word for word in words if word not in small and not general.fullmatch(word)]
    return frozenset(terms_of(" ".join(telling), "en"))


def gather(workspace: Workspace, settings: Settings) -> Iterator[tuple[str, str, list[Noted]]]:
    """Yield the notes that may be written, each with its text and its entries.

    A note in which a merge left conflicts is left out, and so are tables and what touches a private block.
    """
    facts = note_path(settings.facts.file)
    for file in notes_in(workspace, settings):
        if file.path == ALIASES or not is_note(workspace, file.path):
            continue
        text = text_in(file, settings)
        if not text.strip() or conflicts_in(text):
            continue
        if file.path == facts:
            yield file.path, text, list(_facts_in(facts, text))
        else:
            yield file.path, text, list(_entries_in(file.path, text))


def _facts_in(path: str, text: str) -> Iterator[Noted]:
    for line in facts_in(text):
        if line.fact.is_current and not without_private(line.raw)[1]:
            yield Noted(path, FACT, Entry("item", line.first, line.last, line.raw, ""), line)


def _entries_in(path: str, text: str) -> Iterator[Noted]:
    kind = MAIN if path in ROOT_FILES else LOG if log_day(path) else TOPIC
    shown = without_private(text)[0].split("\n")
    sessions = {entry.first for entry, _ in sessions_in(text)} if "session " in text else set()
    lines = text.split("\n")
    for entry in entries_of(text):
        place = slice(entry.first - 1, entry.last)
        is_prose = entry.kind == "item" or (entry.kind == "paragraph" and not entry.text.startswith("|"))
        if is_prose and shown[place] == lines[place]:
            yield Noted(path, kind, entry, from_session=entry.first in sessions)


def hash_lines(text: str) -> str:
    """Return the hash by which lines are known again, whatever their line ends are."""
    return hashlib.sha256(text.replace("\r\n", "\n").encode(errors="surrogatepass")).hexdigest()[:32]
