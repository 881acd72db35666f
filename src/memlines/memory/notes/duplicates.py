"""Tell whether a text is known already: whether an entry or a fact says the same in the same words.

A text that is taken for known is not written, so this prefers a second copy to a loss. Case, punctuation and
markup do not count. Besides, one of two longer texts may have a few words more (Jaccard index of at least
0.9), if no other word differs, if what is new adds nothing but small words, and if no word that turns or
narrows the meaning is among them. Numbers, dates, names of things with signs in them (`C#`, `--force`) and
code must be the same, and so must the days that words such as "tomorrow" mean.

Looked at are the entries of named notes, the facts, and the entries that a search by words finds. The note of
facts may be long, so only the lines with a word of the text are read; all of it is parsed if one of them says
the same.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from memlines.errors import EmbeddingError, StoreError
from memlines.files.scan import NOTES_DIR, SUFFIX
from memlines.index.search.order import jaccard
from memlines.memory.notes.entries import body_of, day_of, entries_in, text_of
from memlines.paths import Workspace, note_path
from memlines.settings.tree import Settings
from memlines.text.dates import spans_of
from memlines.text.entries import Entry
from memlines.text.fact_note import facts_in
from memlines.text.facts import FactLine
from memlines.text.language import language_of, stop_words
from memlines.text.terms import RUN, is_unspaced
from memlines.text.words import telling_words
from memlines.types import Hit

Search = Callable[[str], Iterable[Hit]]
"""Finds the chunks that answer a query, best first."""

_ALIKE = 0.9
_FEWEST_WORDS = 4
_QUERY_WORDS = 40

_PLAIN_WORD = re.compile(r"[^\W\d_]+(?:[-'\u2019][^\W\d_]+)*")
_OPENING = "\"'`*_([{\u2018\u201c\u00ab\u300c\u300e\uff08"
_CLOSING = "\"'`*_)]}\u2019\u201d\u00bb\u300d\u300f\uff09.,;:!\u2026\u3001\u3002\uff0c\uff01"
"""What may stand around a word without saying anything: quotation marks, brackets, emphasis, full stops."""

_DASHES = frozenset({"-", "\u2013", "\u2014"})

_TURNING_WORDS = """
    not no never none nobody nothing neither nor without cannot t nt dont doesnt didnt isnt wasnt arent cant
    wont shouldnt wouldnt couldnt don doesn didn isn wasn aren weren won wouldn couldn shouldn only except
    unless until before after if but than instead former formerly
    niet geen nooit niemand niets noch zonder alleen slechts behalve tenzij totdat voor na als maar
    nicht kein keine keinen keinem keiner keines nie niemals niemand nichts weder ohne nur ausser bis vor nach
    wenn aber
    ne n pas non jamais rien personne sans aucun aucune plus seulement sauf si avant après mais
    no nunca jamás nada nadie sin ni ningún ninguno ninguna solo sólo excepto salvo antes después pero
    não nem nunca sem só mas senza mai non né solo ma se
    ne není nejsou nemá nebude nikdy nikdo nic nikde žádný žádná žádné žádného bez jen pouze jenom kromě pokud
    dokud než před po ale už
"""
"""Words that say the opposite or less of what is said without them, folded as words are compared."""

TURNING = frozenset(_TURNING_WORDS.split())


@dataclass(frozen=True, slots=True)
class _Said:
    """What two texts are compared by: the words, and whatever is more than words, in their order."""

    text: str
    words: tuple[str, ...]
    signs: tuple[str, ...]


def find(text: str, now: datetime, entries: Iterable[tuple[str, Entry]]) -> Hit | None:
    """Return the first entry (of a note with a path) that says what a text says."""
    new = _said(text)
    for path, entry in entries:
        if entry.kind == "heading":
            continue
        old = _said(body_of(entry.text))
        if _same(new, old) and same_days(new.text, now, old.text, day_of(path, entry)):
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
    """Tell whether a known text says in the same words what a new one says."""
    return _same(_said(new), _said(known))


def query_of(text: str) -> str:
    """Return what to search for to find entries like a text; nothing in it narrows the search."""
    return " ".join(telling_words(text)[:_QUERY_WORDS])


def _said(text: str) -> _Said:
    composed = unicodedata.normalize("NFC", text)
    stripped = (token.lstrip(_OPENING).rstrip(_CLOSING) for token in composed.split())
    signs = (token for token in stripped if not _PLAIN_WORD.fullmatch(token))
    runs = (run.strip("_") for run in RUN.findall(composed.casefold()))
    return _Said(
        composed,
        tuple(run for run in runs if run),
        tuple(sign for sign in signs if sign and sign not in _DASHES),
    )


def _same(new: _Said, old: _Said) -> bool:
    if "`" in new.text or not (new.words or new.signs):
        return new.text.split() == old.text.split()
    if new.signs != old.signs:
        return False
    return new.words == old.words or _almost_same(new, old)


def _almost_same(new: _Said, old: _Said) -> bool:
    if min(len(new.words), len(old.words)) < _FEWEST_WORDS:
        return False
    if jaccard(frozenset(new.words), frozenset(old.words)) < _ALIKE:
        return False
    adds = len(new.words) > len(old.words)
    more = _more(new.words, old.words) if adds else _more(old.words, new.words)
    if more is None or any(word in TURNING or is_unspaced(word) for word in more):
        return False
    return not adds or stop_words(language_of(new.text)).issuperset(more)


def _more(longer: Sequence[str], shorter: Sequence[str]) -> list[str] | None:
    """Return the words that only the longer text has, if the others are the shorter one in its order."""
    more: list[str] = []
    at = 0
    for word in longer:
        if at < len(shorter) and shorter[at] == word:
            at += 1
        else:
            more.append(word)
    return more if at == len(shorter) else None


def same_days(text: str, now: datetime, known: str, day: date | None) -> bool:
    """Tell whether both texts speak of the same days, each seen from the day it was said on."""
    spans = spans_of(text, now)
    if day is None:
        return not any(span.said_only_time for span in spans)
    then = datetime(day.year, day.month, day.day, tzinfo=now.tzinfo)
    return [(span.first, span.last) for span in spans] == [
        (span.first, span.last) for span in spans_of(known, then)
    ]


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
