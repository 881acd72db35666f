"""What a query asks for: words to rank by, and what narrows the search.

`"a phrase"` must stand there, `-word` must not; `path:people`, `tag:project`, `source:sessions`,
`after:2026-05` and `before:2026-06-01` say where to look. Whatever does not read like one of these is text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from fnmatch import fnmatchcase
from itertools import islice

from memlines.index.search.order import dated
from memlines.index.store.sqlite.chunks import numbers_of_days
from memlines.index.store.sqlite.index import Index
from memlines.text.dates import Span, asks_when, spans_of
from memlines.text.words import is_small_talk, words_of
from memlines.types import IndexedChunk

_SAME_DAYS = 0.3
"""What it says for a chunk that it was written in the days the query speaks of."""

_ONLY_DAYS = 0.7
"""The same where the query speaks of nothing else: "what did I do yesterday?"."""

_ANY_DAY = 0.05
"""What it says for a chunk that it has a date at all, where the query asks when something was."""

_MOST = 200
_SESSION_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True, slots=True)
class When:
    """What a query says about time, and the rest of what it says."""

    text: str
    spans: tuple[Span, ...]
    is_all: bool
    """Whether the query says nothing else."""
    is_asked: bool
    """Whether the query asks when something was."""


def understood(query: str, now: datetime) -> When:
    """Take the time out of a query; words that may stand in a note as well stay in its text."""
    spans = spans_of(query, now)
    rest = _without(query, spans)
    is_all = bool(spans) and (is_small_talk(rest) or not words_of(rest))
    text = query if is_all else _without(query, [span for span in spans if span.said_only_time])
    return When(text, spans, is_all, asks_when(query))


def evidence_by_days(index: Index, when: When) -> dict[int, float]:
    """Return what the days of chunks say for them, by number, where the query speaks of days."""
    numbers: list[int] = []
    paths = index.paths() if when.spans else []
    for span in when.spans:
        notes = [path for path in paths if _is_in(span, path)]
        numbers += islice(index.numbers_of(notes), _MOST)
        numbers += numbers_of_days(index.connection, span.first.isoformat(), span.last.isoformat(), _MOST)
    return dict.fromkeys(numbers, _ONLY_DAYS if when.is_all else _SAME_DAYS)


def evidence_by_known_days(days: dict[int, str], when: When) -> dict[int, float]:
    """Return what the days of chunks say for them where those are known beside the index.

    They only count where the query speaks of nothing else: what was written down on a day need not be
    about it.
    """
    spans = [(span.first.isoformat(), span.last.isoformat()) for span in when.spans if when.is_all]
    fitting = (
        number for number in reversed(days) if any(first <= days[number] <= last for first, last in spans)
    )
    return dict.fromkeys(islice(fitting, _MOST) if spans else (), _ONLY_DAYS)


def evidence_of_date(when: When, chunk: IndexedChunk) -> float:
    """Return what it says for a chunk that it has a date, where the query asks for one."""
    return _ANY_DAY if when.is_asked and day_of(chunk) else 0.0


def day_of(chunk: IndexedChunk) -> str:
    """Return the day a chunk belongs to: that of its daily log or of its session; others have none."""
    written = dated(chunk.path)
    if written is not None:
        return written.isoformat()
    session = _SESSION_DAY.match(chunk.heading) if chunk.source == "sessions" else None
    return session[0] if session else ""


def _is_in(span: Span, path: str) -> bool:
    written = dated(path)
    return written is not None and span.first <= written <= span.last


def _without(query: str, spans: Sequence[Span]) -> str:
    for span in spans:
        query = query.replace(span.text, " ")
    return " ".join(query.split())


_MARK = re.compile(
    r"(?<!\S)(?:"
    r'(?P<key>path|tag|source|after|before):(?P<value>"[^"]+"|\S+)'
    r"|-(?P<without>\w+)"
    r'|"(?P<phrase>[^"]*\w[^"]*)"'
    r")(?!\S)"
)
_DAY = re.compile(r"\d{4}(?:-\d{2}(?:-\d{2})?)?")
_TAG = re.compile(r"#?(?P<name>[\w/-]*\w)/?")
_BLANKS = re.compile(r"\s+")
_SIGNS = re.compile(r":|(?<!\w)-")


@dataclass(frozen=True, slots=True)
class Asked:
    """A query taken apart."""

    text: str
    phrases: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    after: str = ""
    before: str = ""

    @property
    def narrows(self) -> bool:
        """Whether anything but text was asked for."""
        return self != Asked(self.text)


def parse(query: str) -> Asked:
    """Take a query apart; one that only narrows is searched by the words it narrows with.

    One that only names tags is searched by those.
    """
    found: dict[str, list[str]] = {
        key: [] for key in ("phrase", "without", "path", "tag", "source", "after", "before")
    }

    def take(mark: re.Match[str]) -> str:
        if mark["phrase"]:
            found["phrase"].append(_plain(mark["phrase"]))
            return mark["phrase"]
        if mark["without"]:
            found["without"].append(mark["without"])
            return ""
        key, value = mark["key"], mark["value"].strip('"')
        if not _is_meant(key, value):
            return mark[0]
        found[key].append(value)
        return ""

    text = _MARK.sub(take, query).strip() or " ".join(found["tag"])
    if not text:
        return Asked(query)
    return Asked(
        text,
        tuple(found["phrase"]),
        tuple(found["without"]),
        tuple(found["path"]),
        tuple(found["tag"]),
        tuple(found["source"]),
        max(found["after"], default=""),
        min(found["before"], default=""),
    )


_CODE = re.compile(r"(```|~~~).*?(?:\1|\Z)|`[^`\n]*[^\w`.-][^`\n]*`|\S*(?:[\\^${}=<>|]|\w\()\S*", re.DOTALL)
"""Blocks and lines of code, and what is written like code; a single name between backticks is a word."""


def without_code(message: str) -> str:
    """Return what a message says around the code in it."""
    return _CODE.sub(" ", message)


def as_prose(message: str) -> str:
    """Return a message as a query that narrows nothing: `pytest -x` is no wish to leave out x."""
    return _MARK.sub(lambda mark: _SIGNS.sub(" ", mark[0]), message.replace('"', " "))


def filter_of(
    asked: Asked, matched: Callable[[str, str], tuple[str, ...]], days: Mapping[int, str] | None = None
) -> Callable[[IndexedChunk], bool]:
    """Return a function that tells whether a chunk is what a query narrows to.

    `matched` tells which of the words that must not occur a text in a language holds, `days` on which day
    chunks were written, where that is known better than by their file.
    """
    tagged = [_tag_pattern(tag) for tag in asked.tags]

    def fits(chunk: IndexedChunk) -> bool:
        day = day_of(chunk) if days is None else days.get(chunk.number, "")
        return (
            (not asked.sources or chunk.source in asked.sources)
            and all(_is_below(path, chunk.path) for path in asked.paths)
            and all(tag.search(f"{chunk.heading} {chunk.text}") for tag in tagged)
            and (not asked.after or (bool(day) and day >= asked.after))
            and (not asked.before or (bool(day) and day < asked.before))
            and all(phrase in _plain(f"{chunk.heading} {chunk.text}") for phrase in asked.phrases)
            and not (asked.without and matched(f"{chunk.heading} {chunk.text}", chunk.language))
        )

    return fits


def _is_meant(key: str, value: str) -> bool:
    if key in ("after", "before"):
        return _DAY.fullmatch(value) is not None
    if key == "tag":
        return _TAG.fullmatch(value) is not None
    return key == "path" or value in ("memory", "sessions")


def _tag_pattern(tag: str) -> re.Pattern[str]:
    """Return what finds a tag, or one below it, in text: `#project` and `#project/alpha`."""
    found = _TAG.fullmatch(tag)
    name = re.escape(found["name"] if found else tag)
    return re.compile(rf"(?<![\w#&/])#{name}(?![\w-])", re.IGNORECASE)


def _is_below(wanted: str, path: str) -> bool:
    return fnmatchcase(path, wanted) if "*" in wanted else wanted.casefold() in path.casefold()


def _plain(text: str) -> str:
    return _BLANKS.sub(" ", text.casefold()).strip()
