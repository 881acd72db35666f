"""Find the day that an entry is from.

It is the date that an entry begins with, behind the list mark and the checkbox; else the one that the nearest
heading above it begins with; else the day of its daily log. A date anywhere else says what a text is about.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from functools import lru_cache

from memlines.text.date_words import read_date
from memlines.text.dates import spans_of
from memlines.text.entries import Entry, entries_of, title_of
from memlines.types import Chunk, Days

_MARKS = r" {0,3}(?:(?:[-+*]|\d{1,9}[.)]|#{1,6})[ \t]+)?(?:\[[ xX]\][ \t]+)?[*_\[(]{0,4}"
_FIGURES = (
    r"(?P<figures>\d{4}(?P<sign>[-/])\d{1,2}(?P=sign)\d{1,2}(?=T\d|(?!\w|[./-]\w))"
    r"|\d{1,2}\.\d{1,2}\.\d{4}(?!\w|[./-]\w)|\d{4}年\d{1,2}月\d{1,2}[日号號])"
)
_DATED = re.compile(f"{_MARKS}{_FIGURES}")
_DATED_LINE = re.compile(f"\n{_MARKS}{_FIGURES}")
"""How a line begins that says from which day it is, with the break before it: sooner found than `^`."""

_YEAR = r"(?<![0-9])(?:19|20)[0-9]{2}(?![0-9])"
_WITH_YEAR = re.compile(_YEAR)
_TITLE_WITH_YEAR = re.compile(rf"\n {{0,3}}#{{1,6}}[ \t]+(?P<title>[^\n]*?{_YEAR}[^\n]*)")
_EMPHASIS = "*_[("
_LAST_MOMENT = datetime(9999, 12, 31)
"""From when a heading is read: its date has a year, and "since 16 November 2026" means many days."""

_LOG = re.compile(r"^memory/(?:.*/)?(\d{4}-\d{2}-\d{2})(?:[-_][^/]*)?\.md$")


def day_of(path: str, entry: Entry) -> date | None:
    """Return the day an entry is from: the one it begins with, that of a heading above, or of its log."""
    titles = reversed(entry.heading.split(" > "))
    dated = (day for title in titles if (day := _day_of_title(title)))
    return _day_at_start(entry.text) or next(dated, None) or log_day(path)


def days_in(text: str) -> set[str]:
    """Return the days that lines of a note begin with; each entry is from one of these or of its log."""
    text = f"\n{text}"
    found = [_read(match["figures"]) for match in _DATED_LINE.finditer(text)]
    found += [_day_of_title(match["title"]) for match in _TITLE_WITH_YEAR.finditer(text)]
    return {day.isoformat() for day in found if day}


def until_day(text: str, path: str, last: date, known_lines: int = 0) -> str:
    """Return a note with its known lines, and of the others the entries that are from up to a day.

    All other lines are left empty. Headings stay above what stays.
    """
    entries = [entry for entry in entries_of(text) if entry.last > known_lines]
    days = {entry: day_of(path, entry) for entry in entries if entry.kind != "heading"}
    dated = [entry for entry, day in days.items() if day is not None and day <= last]
    titles = {title for entry in dated for title in entry.heading.split(" > ")}
    headings = [entry for entry in entries if entry.kind == "heading" and title_of(entry.text) in titles]
    kept = {line for entry in (*dated, *headings) for line in range(entry.first, entry.last + 1)}
    lines = text.split("\n")
    return "\n".join([line if at <= known_lines or at in kept else "" for at, line in enumerate(lines, 1)])


@lru_cache(maxsize=4_096)
def log_day(path: str) -> date | None:
    """Return the day of a daily log; `None` if the path is not one's."""
    match = _LOG.match(path)
    if match is None:
        return None
    try:
        return date.fromisoformat(match[1])
    except ValueError:
        return None


def date_chunks(chunks: list[Chunk], text: str, path: str) -> list[Chunk]:
    """Return the chunks of a note with the days of their entries, as far as its path does not say them.

    A chunk may begin in the middle of an entry or far below a heading, so these are found in the whole note.
    """
    log = log_day(path)
    usual = log.isoformat() if log else ""
    if days_in(text) <= {usual}:
        return chunks
    days: dict[int, str] = {}
    for entry in entries_of(text):
        day = day_of(path, entry)
        days |= dict.fromkeys(range(entry.first, entry.last + 1), day.isoformat() if day else "")
    return [replace(chunk, days=join_days(_days_in_chunk(chunk, days, usual), usual)) for chunk in chunks]


def join_days(days: Sequence[str], usual: str) -> Days:
    """Return the days of a chunk's entries or turns as they are kept.

    That is one if all are the same, and none if it is the one that the chunk has anyway.
    """
    if len({*days}) > 1:
        return tuple(days)
    return () if not days or days[0] == usual else (days[0],)


def _days_in_chunk(chunk: Chunk, days: Mapping[int, str], usual: str) -> list[str]:
    """Return the day of each entry in a chunk, from the days of the lines of its note."""
    # A chunk may begin with several pieces of one long line; a fact of several lines is indexed as one.
    pieces = max(0, chunk.text.count("\n") - (chunk.end_line - chunk.start_line))
    # A blank line first: only a file begins with front matter, a chunk may begin with a rule.
    places = [entry.first - 2 for entry in entries_of(f"\n{chunk.text}") if entry.kind != "heading"] or [0]
    return [days.get(chunk.start_line + max(0, place - pieces), usual) for place in places]


def _day_at_start(text: str) -> date | None:
    found = _DATED.match(text)
    return _read(found["figures"]) if found else None


@lru_cache(maxsize=1_024)
def _day_of_title(title: str) -> date | None:
    """Return the day that a title begins with: "2026-11-16 Standup", "Monday, 16 November 2026"."""
    if (day := _day_at_start(title)) or not _WITH_YEAR.search(title):
        return day
    words = unicodedata.normalize("NFC", title).lstrip(_EMPHASIS)
    span = next(iter(spans_of(words, _LAST_MOMENT)), None)
    if span is None or span.first != span.last:
        return None
    return span.first if words.startswith(span.text) and _WITH_YEAR.search(span.text) else None


def _read(figures: str) -> date | None:
    days = read_date(figures)
    return days[0] if days else None
