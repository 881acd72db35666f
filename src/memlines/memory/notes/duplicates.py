"""Find out whether a text is known already: whether an entry or a fact says the same in the same words.

A text that is taken for known is not written, so this prefers a second copy to a loss. Case, punctuation and
markup do not count. Besides, one of two longer texts may have a few words more (Jaccard index of at least
0.9), if no other word differs, if what is new adds nothing but small words, and if no word that turns or
narrows the meaning is among them. Numbers, dates, names of things with signs in them (`C#`, `--force`) and
code must be the same, and so must the days that words such as "tomorrow" mean.

No model is asked and nothing is indexed for this: files that the index does not hold yet are read, and the
index as it is says which others share the words. A note is parsed only if it holds the longest word of the
text, and the note of facts, which may be long, only around the lines that do.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import date, datetime
from functools import cache

from memlines.errors import StoreError
from memlines.index.search.reorder import jaccard
from memlines.index.search.words import find_all
from memlines.memory.manager import Manager
from memlines.memory.notes.entries import body_of, text_of
from memlines.paths import languages_with, note_path
from memlines.records import dataclass
from memlines.text.dates import spans_of
from memlines.text.days import day_of
from memlines.text.entries import Entry, entries_of
from memlines.text.fact_note import facts_in
from memlines.text.facts import FactLine
from memlines.text.language import language_of, section, stop_words
from memlines.text.terms import RUN, is_unspaced, telling_words
from memlines.types import Hit, IndexedChunk

_ALIKE = 0.9
_FEWEST_WORDS = 4
_LOOKED_AT = 20
_SEARCHED_WORDS = 12
"""Chunks of the index that are compared, and the first telling words of a text that all of these must hold:
the end of a long entry may be in the next chunk."""

_LONGEST_ITEM = 50
"""Lines above and below a line that may belong to the same fact."""

_PLAIN_WORD = re.compile(r"[^\W\d_]+(?:[-'\u2019][^\W\d_]+)*")
_OPENING = "\"'`*_([{\u2018\u201c\u00ab\u300c\u300e\uff08"
_CLOSING = "\"'`*_)]}\u2019\u201d\u00bb\u300d\u300f\uff09.,;:!\u2026\u3001\u3002\uff0c\uff01"
"""What may be around a word without saying anything: quotation marks, brackets, emphasis, full stops."""

_DASHES = frozenset({"-", "\u2013", "\u2014"})


@cache
def turning_words() -> frozenset[str]:
    """Return the words that say the opposite or less of a sentence, in every language."""
    lists = [section(code, "words").get("turning_words", "") for code in languages_with("words")]
    return frozenset(word for words in lists for word in words.split())


@dataclass(frozen=True, slots=True)
class _Wording:
    """What two texts are compared by: the words, and whatever is more than words, in their order."""

    text: str
    words: tuple[str, ...]
    signs: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> _Wording:
        composed = unicodedata.normalize("NFC", text)
        stripped = (token.lstrip(_OPENING).rstrip(_CLOSING) for token in composed.split())
        signs = (token for token in stripped if not _PLAIN_WORD.fullmatch(token))
        runs = (run.strip("_") for run in RUN.findall(composed.casefold()))
        return cls(
            composed,
            tuple(run for run in runs if run),
            tuple(sign for sign in signs if sign and sign not in _DASHES),
        )

    def is_in(self, known: str) -> bool:
        """Return whether a known text says this in the same words."""
        old = _Wording.of(known)
        if "`" in self.text or not (self.words or self.signs):
            return self.text.split() == old.text.split()
        if self.signs != old.signs:
            return False
        if self.words == old.words:
            return True
        if min(len(self.words), len(old.words)) < _FEWEST_WORDS:
            return False
        if jaccard(frozenset(self.words), frozenset(old.words)) < _ALIKE:
            return False
        adds = len(self.words) > len(old.words)
        more = _added_words(self.words, old.words) if adds else _added_words(old.words, self.words)
        if more is None or any(word in turning_words() or is_unspaced(word) for word in more):
            return False
        return not adds or stop_words(language_of(self.text)).issuperset(more)


def find_known(
    manager: Manager, text: str, now: datetime, notes: Collection[str], *, with_facts: bool = True
) -> Hit | None:
    """Return the entry that says what a text says: of these notes, the facts, or what the index holds."""
    return find_duplicate(text, now, _entries_like(manager, text, notes, with_facts=with_facts))


def find_duplicate(text: str, now: datetime, entries: Iterable[tuple[str, Entry]]) -> Hit | None:
    """Return the first entry, of a note with a path, that says what a text says."""
    new = _Wording.of(text)
    for path, entry in entries:
        if entry.kind == "heading":
            continue
        body = body_of(entry.text)
        if new.is_in(body) and same_days(text, now, body, day_of(path, entry)):
            return Hit(
                path,
                entry.first,
                entry.last,
                1.0,
                entry.text,
                "memory",
                entry.heading,
                chunk_start_line=entry.first,
                chunk_end_line=entry.last,
            )
    return None


def same_words(new: str, known: str) -> bool:
    """Return whether a known text says in the same words what a new one says."""
    return _Wording.of(new).is_in(known)


def same_days(text: str, now: datetime, known: str, day: date | None) -> bool:
    """Return whether both texts speak of the same days, each seen from the day it was said on."""
    spans = spans_of(text, now)
    if day is None:
        return not any(span.said_only_time for span in spans)
    then = datetime(day.year, day.month, day.day, tzinfo=now.tzinfo)
    return [(span.first, span.last) for span in spans] == [
        (span.first, span.last) for span in spans_of(known, then)
    ]


def _added_words(longer: Sequence[str], shorter: Sequence[str]) -> list[str] | None:
    """Return the words that only the longer text has, if the others are the shorter one in its order."""
    more: list[str] = []
    at = 0
    for word in longer:
        if at < len(shorter) and shorter[at] == word:
            at += 1
        else:
            more.append(word)
    return more if at == len(shorter) else None


def _entries_like(
    manager: Manager, text: str, notes: Collection[str], *, with_facts: bool
) -> Iterator[tuple[str, Entry]]:
    """Yield the entries that may say what a text says, each with the path of its note."""
    new = _Wording.of(text)
    small = stop_words(language_of(text))
    word = max((word for word in new.words if word not in small), key=len, default="")
    facts = note_path(manager.settings.facts.file)

    def read(path: str) -> tuple[Entry, ...]:
        note = text_of(manager.workspace, manager.settings, path)
        return entries_of(note) if word in unicodedata.normalize("NFC", note).casefold() else ()

    for path in notes:
        if path != facts:
            yield from ((path, entry) for entry in read(path))
    if with_facts:
        for line in _facts_like(new, word, text_of(manager.workspace, manager.settings, facts)):
            day = f"{line.fact.created.isoformat()}: " if line.fact.created else ""
            yield facts, Entry("item", line.first, line.last, f"- {day}{line.fact.text}", "")
    searched = " ".join(telling_words(text)[:_SEARCHED_WORDS])
    chunks: list[IndexedChunk] = []
    with suppress(StoreError), manager.opened() as index:
        if index is not None:
            with index.snapshot():
                chunks = [*index.chunks(find_all(index, searched, _LOOKED_AT, ("memory",))).values()]
    for path in dict.fromkeys(chunk.path for chunk in chunks):
        if path != facts and path not in notes:
            lines = [(chunk.start_line, chunk.end_line) for chunk in chunks if chunk.path == path]
            for entry in read(path):
                if any(entry.first <= last and first <= entry.last for first, last in lines):
                    yield path, entry


def _facts_like(new: _Wording, word: str, note: str) -> list[FactLine]:
    """Return the facts of a note that say the same in the same words and still hold.

    A long note is parsed only if one of the items that hold the longest word of the text says the same.
    """

    def say_it(text: str) -> list[FactLine]:
        return [line for line in facts_in(text) if line.fact.is_current and new.is_in(line.fact.text)]

    lines = unicodedata.normalize("NFC", note).split("\n")
    for at in (at for at, line in enumerate(lines) if word in line.casefold()):
        first = last = at
        while first > max(0, at - _LONGEST_ITEM) and lines[first][:1] in " \t" and lines[first - 1].strip():
            first -= 1
        while last + 1 < min(len(lines), at + _LONGEST_ITEM) and lines[last + 1][:1] in tuple(" \t"):
            last += 1
        if say_it("\n".join(lines[first : last + 1])):
            return say_it(note)
    return []
