"""Parse a query: the words to rank by, its filters, and the days it is about.

`"a phrase"` must occur, `-word` must not; `path:people`, `tag:project`, `source:sessions`, `after:2026-05`
and `before:2026-06-01` say where to look. Whatever does not read like one of these is text. "Last week" and
"in May" raise the notes of those days.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from fnmatch import fnmatchcase
from itertools import islice

from memlines.index.store.sqlite.chunks import numbers_of_days
from memlines.index.store.sqlite.index import Index
from memlines.settings.tree import Query as QuerySettings
from memlines.text.aliases import NO_EXPANSION, Expansion
from memlines.text.dates import Span, asks_when, spans_of
from memlines.text.terms import is_small_talk, telling_words, words_of
from memlines.types import IndexedChunk, Mode, Source

_MARK = re.compile(
    r"(?<!\S)(?:"
    r'(?P<key>path|tag|source|after|before):(?P<value>"[^"]+"|\S+)'
    r"|-(?P<without>\w+)"
    r'|"(?P<phrase>[^"]*\w[^"]*)"'
    r")(?!\S)"
)
_DAY = re.compile(r"\d{4}(?:-\d{2}(?:-\d{2})?)?")
_FILTERS = {
    "path": re.compile(r".*", re.DOTALL),
    "tag": re.compile(r"#?[\w/-]*\w/?"),
    "source": re.compile("memory|sessions"),
    "after": _DAY,
    "before": _DAY,
}
"""What may follow each word and colon; with anything else it is text."""

_BLANKS = re.compile(r"\s+")
_SIGNS = re.compile(r":|(?<!\w)-")
_CODE = re.compile(r"(```|~~~).*?(?:\1|\Z)|`[^`\n]*[^\w`.-][^`\n]*`|\S*(?:[\\^${}=<>|]|\w\()\S*", re.DOTALL)
"""Blocks and lines of code, and what is written like code; a single name between backticks is a word."""

_SENTENCE_END = re.compile(r"(?<=[.!?…])\s+|\s*\n\s*")
_SHORT_MESSAGE = 40
"""Words; a longer text is a message with a question in it rather than a query."""

_LOG = re.compile(r"^memory/(?:.*/)?(\d{4}-\d{2}-\d{2})(?:[-_][^/]*)?\.md$")
_SESSION_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")

_SAME_DAYS = 0.3
"""The evidence for a chunk that was written in the days the query is about."""

_ONLY_DAYS = 0.7
"""The same if the query is about nothing else: "what did I do yesterday?"."""

_ANY_DAY = 0.05
"""The evidence for a chunk that has a date at all, if the query asks when something was."""

_MOST_OF_DAYS = 200


@dataclass(frozen=True, slots=True)
class Filters:
    """What a query narrows the search to."""

    phrases: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    after: str = ""
    before: str = ""


NO_FILTERS = Filters()


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed query: what to look for, where, in which days, and how to answer."""

    said: str
    """The query as it was asked."""
    text: str
    """What words and vectors are compared with."""
    settings: QuerySettings
    profile: str
    mode: Mode
    sources: tuple[Source, ...]
    now: datetime
    cut: float | None
    """The score below which nothing is shown. Without it, the nearest are weak hits if none is likely."""
    full: bool
    """Whether a hit is the whole chunk instead of the passage in it that answers."""
    filters: Filters
    is_empty: bool
    """Whether it has no words."""
    is_calibrated: bool
    """Whether scores are probabilities; the classic fusions keep the scores they are known for."""
    spans: tuple[Span, ...] = ()
    """The days it is about."""
    is_only_days: bool = False
    """Whether it is about nothing else."""
    asks_when: bool = False
    """Whether it asks when something was."""
    corrects: bool = False
    """Whether a word or a phrase that no chunk holds is searched as what was probably meant."""
    strict: bool = False
    """Whether nothing is shown if no answer is likely."""
    expansion: Expansion = NO_EXPANSION
    """Other names that the text has for what it says."""

    def expand(self, expansion: Expansion) -> Query:
        """Return it with other names for what it says."""
        return replace(self, text=expansion.of(self.text), expansion=self.expansion | expansion)


def parse_query(
    said: str,
    settings: QuerySettings,
    profile: str,
    *,
    mode: Mode,
    sources: tuple[Source, ...],
    now: datetime,
    cut: float | None = None,
    full: bool = False,
    corrects: bool = False,
    strict: bool = False,
) -> Query:
    """Parse a query; this needs no index."""
    # Some keyboards send letter and accent apart, which would end a word in the middle.
    text, filters = parse_filters(unicodedata.normalize("NFC", said))
    is_calibrated = profile != "openclaw" and settings.fusion == "evidence"
    is_empty = not words_of(said)
    given = settings, profile, mode, sources, now, cut, full
    query = Query(said, text, *given, filters, is_empty, is_calibrated, strict=strict)
    if not is_calibrated:
        return query
    text = find_question(text)
    rest, spans, is_only_days = parse_days(text, now)
    asks = asks_when(text)
    return replace(
        query, text=rest, spans=spans, is_only_days=is_only_days, asks_when=asks, corrects=corrects
    )


def find_question(message: str) -> str:
    """Return the last question in a long message, or the whole of a text that is short or asks nothing.

    What is said around a question has many words, which would find anything but its answer.
    """
    if len(words_of(message)) <= _SHORT_MESSAGE:
        return message
    sentences = _SENTENCE_END.split(message)
    questions = [one for one in sentences if one.endswith("?") and len(telling_words(one)) > 1]
    return questions[-1] if questions else message


def parse_filters(query: str) -> tuple[str, Filters]:
    """Split a query into text and filters; one of filters alone is searched by its tags, or as plain text."""
    found: dict[str, list[str]] = {key: [] for key in ("phrase", "without", *_FILTERS)}

    def take(mark: re.Match[str]) -> str:
        if mark["phrase"]:
            found["phrase"].append(_fold(mark["phrase"]))
            return mark["phrase"]
        if mark["without"]:
            found["without"].append(mark["without"])
            return ""
        key, value = mark["key"], mark["value"].strip('"')
        if not _FILTERS[key].fullmatch(value):
            return mark[0]
        found[key].append(value)
        return ""

    text = _MARK.sub(take, query).strip() or " ".join(found["tag"])
    if not text:
        return query, NO_FILTERS
    filters = Filters(
        tuple(found["phrase"]),
        tuple(found["without"]),
        tuple(found["path"]),
        tuple(found["tag"]),
        tuple(found["source"]),
        max(found["after"], default=""),
        min(found["before"], default=""),
    )
    return text, filters


def parse_days(query: str, now: datetime) -> tuple[str, tuple[Span, ...], bool]:
    """Return a query without the words that only say when, the days it is about, and whether that is all."""
    spans = spans_of(query, now)
    if not spans:
        return " ".join(query.split()), spans, False
    rest = _remove(query, spans)
    if is_small_talk(rest) or not words_of(rest):
        return query, spans, True
    return _remove(query, [span for span in spans if span.said_only_time]), spans, False


def without_code(message: str) -> str:
    """Return what a message says around the code in it."""
    return _CODE.sub(" ", message)


def as_prose(message: str) -> str:
    """Return a message as a query without filters: `pytest -x` does not ask to leave out x."""
    return _MARK.sub(lambda mark: _SIGNS.sub(" ", mark[0]), message.replace('"', " "))


def make_filter(
    query: Query, match: Callable[[str, str], tuple[str, ...]], days: Mapping[int, str] | None = None
) -> Callable[[IndexedChunk], bool]:
    """Return a function that says whether a chunk is what a query narrows to.

    `match` finds the words that must not occur in a text of a language; `days` are the days that chunks were
    written on, if that is known better than by their file.
    """
    filters = query.filters
    # A tag is found with those below it: `#project` and `#project/alpha`.
    names = [re.escape(tag.removeprefix("#").removesuffix("/")) for tag in filters.tags]
    tags = [re.compile(rf"(?<![\w#&/])#{name}(?![\w-])", re.IGNORECASE) for name in names]

    def fits(chunk: IndexedChunk) -> bool:
        if chunk.source not in query.sources or (filters.sources and chunk.source not in filters.sources):
            return False
        day = day_of(chunk) if days is None else days.get(chunk.number, "")
        text = f"{chunk.heading} {chunk.text}"
        return (
            all(
                fnmatchcase(chunk.path, path) if "*" in path else path.casefold() in chunk.path.casefold()
                for path in filters.paths
            )
            and all(tag.search(text) for tag in tags)
            and (not filters.after or (bool(day) and day >= filters.after))
            and (not filters.before or (bool(day) and day < filters.before))
            and all(phrase in _fold(text) for phrase in filters.phrases)
            and not (filters.without and match(text, chunk.language))
        )

    return fits


def relax_phrases(query: Query, chunks: Iterable[IndexedChunk]) -> tuple[Query, dict[str, str]]:
    """Return a query without the phrases that no chunk holds, and what is searched instead of each.

    The words of a phrase are looked for anyway.
    """
    texts = [_fold(f"{chunk.heading} {chunk.text}") for chunk in chunks]
    kept = tuple(phrase for phrase in query.filters.phrases if any(phrase in text for text in texts))
    missing = {f'"{phrase}"': phrase for phrase in query.filters.phrases if phrase not in kept}
    return replace(query, filters=replace(query.filters, phrases=kept)), missing


def days_evidence(index: Index, query: Query) -> dict[int, float]:
    """Return the evidence for chunks of the days that the query is about, by number."""
    numbers: list[int] = []
    paths = index.paths()
    for span in query.spans:
        logs = [path for path in paths if (day := log_day(path)) and span.first <= day <= span.last]
        numbers += islice(index.numbers_of(logs), _MOST_OF_DAYS)
        first, last = span.first.isoformat(), span.last.isoformat()
        numbers += numbers_of_days(index.connection, first, last, _MOST_OF_DAYS)
    return dict.fromkeys(numbers, _ONLY_DAYS if query.is_only_days else _SAME_DAYS)


def known_days_evidence(days: Mapping[int, str], query: Query) -> dict[int, float]:
    """Return the same if the days of chunks are known from elsewhere than the index.

    They only count if the query is about nothing else: what was written down on a day need not be about it.
    """
    spans = [(span.first.isoformat(), span.last.isoformat()) for span in query.spans if query.is_only_days]
    fitting = (
        number for number in reversed([*days]) if any(first <= days[number] <= last for first, last in spans)
    )
    return dict.fromkeys(islice(fitting, _MOST_OF_DAYS) if spans else (), _ONLY_DAYS)


def date_evidence(chunk: IndexedChunk) -> float:
    """Return the evidence for a chunk by its date, if the query asks for one."""
    return _ANY_DAY if day_of(chunk) else 0.0


def day_of(chunk: IndexedChunk) -> str:
    """Return the day a chunk belongs to: that of its daily log or of its session; others have none."""
    day = log_day(chunk.path)
    if day is not None:
        return day.isoformat()
    session = _SESSION_DAY.match(chunk.heading) if chunk.source == "sessions" else None
    return session[0] if session else ""


def log_day(path: str) -> date | None:
    """Return the day of a daily log; `None` if the path is not one's."""
    match = _LOG.match(path)
    if match is None:
        return None
    try:
        return date.fromisoformat(match[1])
    except ValueError:
        return None


def _fold(text: str) -> str:
    return _BLANKS.sub(" ", text.casefold()).strip()


def _remove(query: str, spans: Sequence[Span]) -> str:
    for span in spans:
        query = query.replace(span.text, " ")
    return " ".join(query.split())
