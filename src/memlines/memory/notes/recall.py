"""Recall entries: the latest, the decisions, those of a topic, and those that answer a query."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import date, datetime, timedelta
from heapq import nlargest
from operator import itemgetter
from typing import TYPE_CHECKING

from memlines.files.read import without_private_blocks
from memlines.memory.asking import parse, search_asked
from memlines.memory.notes.entries import (
    body_of,
    local_now,
    notes_in,
    slug_of,
    text_in,
    text_of,
    topic_notes,
    topic_title,
)
from memlines.paths import Workspace, note_path
from memlines.records import dataclass
from memlines.settings import Settings
from memlines.text.days import day_of, days_in, log_day
from memlines.text.decisions import compose, is_decision, may_be_decision
from memlines.text.entries import Entry, entries_of, without_comments, without_conflict_marks
from memlines.text.fact_note import doubles_in, facts_in
from memlines.text.language import language_of
from memlines.text.merges import without_repeats
from memlines.text.terms import query_terms, telling_words, terms_of
from memlines.types import FoundFile, SearchResult, Source, cite

if TYPE_CHECKING:
    from memlines.memory.manager import Manager

_SEARCHED = 50
_MOST_NEAREST = 3
"""How many chunks are searched for entries that answer, and how many entries are shown that are only near."""

_MOST_NOTES = 40
_MOST_LATEST = 20
"""Notes that the start of a session reads for the latest entries, and how many entries it shows."""

_EPOCH = date(1970, 1, 1).toordinal()
_DAY_NS = 86_400 * 10**9


@dataclass(frozen=True, slots=True)
class Recalled:
    """An entry as a note holds it, the day it was written if that is known, and the headings above it."""

    path: str
    start_line: int
    end_line: int
    text: str
    day: date | None
    """The day it was written, if that is known."""
    heading: str
    weak: bool = False
    """Whether it is only near to the query, where nothing is a confident answer."""

    @property
    def citation(self) -> str:
        """The lines as `path#L3` or `path#L3-L9`."""
        return cite(self.path, self.start_line, self.end_line)


@dataclass(frozen=True, slots=True)
class _Wanted:
    """Which entries are asked for."""

    latest_day: date | None
    decisions: bool
    topic: str
    topic_notes: frozenset[str]

    def may_be_in(self, path: str, text: str) -> bool:
        """Return whether a note is worth cutting into entries, which takes far longer than this look."""
        if self.latest_day is not None and not (log_day(path) or days_in(text)):
            return False
        if self.decisions and not may_be_decision(compose(text).lower()):
            return False
        if not self.topic:
            return True
        # The slug of a text holds that of a topic in it, without the prefix for the name of a device.
        return path in self.topic_notes or self.topic.removeprefix("topic-") in slug_of(text)

    def fits(self, found: Recalled) -> bool:
        if self.latest_day is not None and (found.day is None or found.day > self.latest_day):
            return False
        if self.decisions and not is_decision(body_of(found.text), found.heading):
            return False
        if not self.topic or found.path in self.topic_notes:
            return True
        if any(slug_of(title) == self.topic for title in found.heading.split(" > ")):
            return True
        first, colon, _ = body_of(found.text).partition(":")
        return bool(colon) and slug_of(first) == self.topic


def recall(
    manager: Manager,
    query: str | None = None,
    *,
    recent: bool = False,
    decisions: bool = False,
    topic: str | None = None,
    limit: int = 10,
    now: datetime | None = None,
) -> tuple[Recalled, ...]:
    """Return entries, newest first, or best first if they answer a query and need not be recent.

    `recent` asks for entries whose day is known, `decisions` for those that record one, a topic for those
    in its note or under its heading; several of these narrow each other. Nothing asked means recent.
    """
    workspace, settings = manager.workspace, manager.settings
    words = (query or "").strip()
    title = "" if topic is None else topic_title(topic)
    recent = recent or not (words or decisions or title)
    # One day more than today: a person who shares these notes may live further east.
    latest = local_now(settings, now).date() + timedelta(days=1) if recent else None
    named = topic_notes(workspace, settings, title) if title else ()
    wanted = _Wanted(latest, decisions, slug_of(title), frozenset(named))
    if not words:
        return _newest(notes_in(workspace, settings), settings, wanted, limit)
    notes: Sequence[Source] = ("memory",)
    today = local_now(settings).date()  # entries are read from the notes as they are
    wide = parse(settings, words, max_results=_SEARCHED, sources=notes, full=True, as_of=today)
    hits = search_asked(manager, wide)
    if hits and not hits.confident:  # the passages: most of a chunk is not near
        hits = search_asked(manager, parse(settings, words, sources=notes, as_of=today))
    found = [one for one in _answers(workspace, settings, words, hits) if wanted.fits(one)]
    if all(one.weak for one in found):
        found = found[:_MOST_NEAREST]
    return tuple((sorted(found, key=_newest_first) if recent else found)[:limit])


def latest(
    workspace: Workspace, settings: Settings, first: date, last: date, *, leave_out: Collection[str]
) -> list[tuple[Recalled, str]]:
    """Return the newest entries of some days, each with the text of its note, for the start of a session.

    Only the notes that were changed last are read. Cutting them into entries takes longest, so it begins with
    the newest days and ends when there are enough.
    """
    files = [
        file
        for file in notes_in(workspace, settings)
        if file.path not in leave_out and _newest_day_in(file) >= first.toordinal()
    ]
    read: list[tuple[str, str, str]] = []
    for file in nlargest(_MOST_NOTES, files, key=lambda file: file.fingerprint.mtime_ns):
        text = without_private_blocks(text_in(file, settings))
        day = log_day(file.path)
        days = [*days_in(text), *([day.isoformat()] if day else [])]
        read.append((max((day for day in days if day <= last.isoformat()), default=""), file.path, text))
    found: list[tuple[date, Recalled, str]] = []
    for newest, path, text in sorted(read, key=itemgetter(0), reverse=True):
        enough = sum(day.isoformat() >= newest for day, _, _ in found) >= _MOST_LATEST
        if enough or newest < first.isoformat():
            break
        for entry in _entries(settings, path, text):
            day = day_of(path, entry)
            if day is not None and first <= day <= last:
                found.append((day, _recalled(path, entry), text))
    in_order = sorted(found, key=lambda each: _newest_first(each[1]))
    return [(one, text) for _, one, text in in_order[:_MOST_LATEST]]


def _newest(
    files: Iterable[FoundFile], settings: Settings, wanted: _Wanted, limit: int
) -> tuple[Recalled, ...]:
    """Read notes, those first that may hold the newest entries, until no other can hold a newer one."""
    found: list[Recalled] = []
    days: list[int] = []
    for file in sorted(files, key=_newest_day_in, reverse=True):
        if len(days) - bisect_right(days, _newest_day_in(file)) >= limit:
            break
        text = without_private_blocks(text_in(file, settings))
        for entry in _entries(settings, file.path, text) if wanted.may_be_in(file.path, text) else ():
            one = _recalled(file.path, entry)
            if wanted.fits(one):
                found.append(one)
                insort(days, _ordinal(one.day))
    return tuple(sorted(found, key=_newest_first)[:limit])


def _newest_day_in(file: FoundFile) -> int:
    """Return the last day that an entry of a note can be from, as a number."""
    day = log_day(file.path)
    return day.toordinal() if day else _EPOCH + file.fingerprint.mtime_ns // _DAY_NS + 1


def _newest_first(found: Recalled) -> tuple[int, str, int]:
    return -_ordinal(found.day), found.path, -found.start_line


def _ordinal(day: date | None) -> int:
    return 0 if day is None else day.toordinal()


def _answers(workspace: Workspace, settings: Settings, query: str, hits: SearchResult) -> Iterator[Recalled]:
    """Yield the entries in the lines of hits; of one hit, those first that share most of its words."""
    language = language_of(query)
    words = telling_words(query)
    terms = {term for word in words for term in query_terms(word, (language,))}
    terms.update(terms_of(" ".join(words), language))

    def shared(entry: Entry) -> int:
        return len(terms.intersection(terms_of(f"{entry.heading}\n{entry.text}", language)))

    seen: set[tuple[str, int]] = set()
    known: dict[str, list[Entry]] = {}
    for hit in hits:
        if hit.source != "memory":
            continue
        if hit.path not in known:
            text = without_private_blocks(text_of(workspace, settings, hit.path))
            known[hit.path] = _entries(settings, hit.path, text)
        inside = [
            entry for entry in known[hit.path] if entry.first <= hit.end_line and hit.start_line <= entry.last
        ]
        best_first = sorted(inside, key=shared, reverse=True)
        for entry in [entry for entry in best_first if shared(entry)] or inside:
            if (hit.path, entry.first) not in seen:
                seen.add((hit.path, entry.first))
                yield _recalled(hit.path, entry, weak=not hits.confident)


def _entries(settings: Settings, path: str, text: str) -> list[Entry]:
    """Return what a note says: no headings, no comments, and no facts that are no longer true.

    What a merge left does not count: marks of conflicts, and what is there twice.
    """
    text = without_conflict_marks(text)
    hidden: set[int] = set()
    if path == note_path(settings.facts.file):
        hidden = {line.first for line in doubles_in(text).lost}
        if "~~" in text:
            hidden.update(line.first for line in facts_in(text) if not line.fact.is_current)
    elif log_day(path):
        text = without_repeats(text)
    shown = entries_of("\n".join(without_comments(text.split("\n"))))
    return [entry for entry in shown if entry.kind != "heading" and entry.first not in hidden]


def _recalled(path: str, entry: Entry, *, weak: bool = False) -> Recalled:
    return Recalled(path, entry.first, entry.last, entry.text, day_of(path, entry), entry.heading, weak)
