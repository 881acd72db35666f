"""Parse a query: the words to rank by, its filters, and the days it is about.

`"a phrase"` must occur, `-word` must not; `path:people`, `tag:project`, `source:sessions`, `after:2026-05`
and `before:2026-06-01` say where to look. Whatever does not read like one of these is text. "Last week" and
"in May" raise the notes of those days.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from fnmatch import fnmatchcase

from memlines.index.search.passages import days_of
from memlines.records import dataclass
from memlines.settings.tree import Query as QuerySettings
from memlines.text.aliases import NO_EXPANSION, Expansion
from memlines.text.date_words import asks_when, without_happened
from memlines.text.dates import Span, spans_of
from memlines.text.decisions import asks_for_decisions
from memlines.text.terms import is_small_talk, telling_words, words_of
from memlines.types import IndexedChunk, Lines, Mode, Source, Space

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

_ANY_DAY = 0.05
"""The evidence for a chunk that has a date at all, if the query asks when something was."""


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

    def allow(self, day: str) -> bool:
        """Return whether an entry of a day may answer; one without a day may if days do not matter."""
        late_enough = not self.after or (bool(day) and day >= self.after)
        return late_enough and (not self.before or (bool(day) and day < self.before))


NO_FILTERS = Filters()


OWN_WORKSPACE, EVERY_WORKSPACE = ".", "*"
"""What stands for the workspace itself, and for all that the token may see, among names of workspaces."""


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
    names_days: bool = False
    """Whether the days of entries matter to it."""
    is_only_days: bool = False
    """Whether it is about nothing else, or about what was decided then."""
    wants_decisions: bool = False
    """Whether it asks what was decided in those days."""
    asks_when: bool = False
    """Whether it asks when something was."""
    corrects: bool = False
    """Whether a word or a phrase that no chunk holds is searched as what was probably meant."""
    strict: bool = False
    """Whether nothing is shown if no answer is likely."""
    in_pieces: frozenset[str] = frozenset()
    """Words of which the model that embedded it knows only small pieces."""
    expansion: Expansion = NO_EXPANSION
    """Other names that the text has for what it says."""
    vectors: dict[tuple[Space, str], bytes] | None = None
    """Its vectors by space and text, if several memories are asked: each is made once."""
    left_out: tuple[Lines, ...] = ()
    """Lines of files that may not answer."""
    as_of: date | None = None
    """The day whose state of knowledge it asks for; nothing for that of now."""
    workspaces: tuple[str, ...] = ()
    """The workspaces on the cluster that are asked; with none, the index on this machine answers."""

    def expand(self, expansion: Expansion) -> Query:
        """Return it with other names for what it says."""
        return replace(self, text=expansion.of(self.text), expansion=self.expansion | expansion)

    def is_about(self, day: str) -> bool:
        """Return whether a day is one of those that it names."""
        return any(span.first.isoformat() <= day <= span.last.isoformat() for span in self.spans)


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
    as_of: date | None = None,
) -> Query:
    """Parse a query; this needs no index."""
    # Some keyboards send letter and accent apart, which would end a word in the middle.
    text, filters = parse_filters(unicodedata.normalize("NFC", said))
    is_calibrated = profile != "openclaw" and settings.fusion == "evidence"
    is_empty = not words_of(said)
    given = settings, profile, mode, sources, now, cut, full
    names_days = bool(filters.after or filters.before)
    query = Query(said, text, *given, filters, is_empty, is_calibrated, names_days=names_days, strict=strict)
    query = replace(query, as_of=as_of) if as_of else query
    if not is_calibrated:
        return query
    text = find_question(text)
    rest, spans, is_only_days = parse_days(text, now)
    may_ask_then = as_of is None and corrects and "memory" in sources and "sessions" not in filters.sources
    if may_ask_then and len(spans) == 1 and (believed := parse_belief(text, spans[0], now)):
        text, as_of = believed
        rest, spans, is_only_days = parse_days(text, now)
    if names_days and (span := _span_of(filters, text)):
        spans, is_only_days = (span,), True
    return replace(
        query,
        text=rest,
        spans=spans,
        names_days=names_days or bool(spans),
        is_only_days=is_only_days,
        wants_decisions=is_only_days and asks_for_decisions(_remove(text, spans)),
        asks_when=asks_when(text),
        corrects=corrects,
        as_of=as_of,
    )


def parse_belief(question: str, span: Span, now: datetime) -> tuple[str, date] | None:
    """Return what a question asks about the state of knowledge at a past time, and the last day of that.

    "What did we believe about tea in March?" asks about tea at the end of March. If it asks about nothing
    else, the time is left in it: then the entries of that time answer.
    """
    if span.last >= now.date():
        return None
    from memlines.text.beliefs import without_belief  # which few queries need

    rest = without_belief(question, span.text)
    if rest is None:
        return None
    topic = _remove(rest, [span])
    return (rest if _asks_nothing_else(topic) else topic), span.last


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
    """Split a query into text and filters; one of filters alone is searched by its tags, or as plain text.

    Days are an exception: a query of nothing else is about the notes of those days.
    """
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
    if not (text or found["after"] or found["before"]):
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
    return text or query, filters


def _span_of(filters: Filters, text: str) -> Span | None:
    """Return the days that filters name if the query asks for nothing else: "what happened after:2026-05"."""
    if not _asks_nothing_else(_MARK.sub("", text)):
        return None
    try:
        first = date.fromisoformat(_first_day(filters.after)) if filters.after else date.min
        last = date.max
        if filters.before:
            last = date.fromisoformat(_first_day(filters.before)) - timedelta(days=1)
    except (ValueError, OverflowError):  # 2026-02-31
        return None
    return Span(first, last, "", said_only_time=True)


def _first_day(begin: str) -> str:
    """Return the first day of a year, a month or a day: of `2026-05`, `2026-05-01`."""
    return begin + "0000-01-01"[len(begin) :]


def parse_days(query: str, now: datetime) -> tuple[str, tuple[Span, ...], bool]:
    """Return a query without the words that only say when, the days it is about, and whether that is all."""
    spans = spans_of(query, now)
    if not spans:
        return " ".join(query.split()), spans, False
    rest = _remove(query, spans)
    if _asks_nothing_else(rest):
        return query, spans, True
    return _remove(query, [span for span in spans if span.said_only_time]), spans, False


def _asks_nothing_else(rest: str) -> bool:
    """Return whether a query without its days asks for all of them, or for what was decided in them."""
    plain = without_happened(rest)
    return not words_of(plain) or is_small_talk(plain) or asks_for_decisions(plain)


def without_code(message: str) -> str:
    """Return what a message says around the code in it."""
    return _CODE.sub(" ", message)


def as_prose(message: str) -> str:
    """Return a message as a query without filters: `pytest -x` does not ask to leave out x."""
    return _MARK.sub(lambda mark: _SIGNS.sub(" ", mark[0]), message.replace('"', " "))


def make_filter(
    query: Query, match: Callable[[str, str], Collection[str]], days: Mapping[int, str] | None = None
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
        known = days_of(chunk) if days is None else (days.get(chunk.number, ""),)
        text = f"{chunk.heading} {chunk.text}"
        return (
            all(
                fnmatchcase(chunk.path, path) if "*" in path else path.casefold() in chunk.path.casefold()
                for path in filters.paths
            )
            and all(tag.search(text) for tag in tags)
            and any(filters.allow(day) for day in known)
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


def date_evidence(chunk: IndexedChunk) -> float:
    """Return the evidence for a chunk by its dates, if the query asks for one."""
    return _ANY_DAY if any(days_of(chunk)) else 0.0


def _fold(text: str) -> str:
    return _BLANKS.sub(" ", text.casefold()).strip()


def _remove(query: str, spans: Sequence[Span]) -> str:
    for span in spans:
        query = query.replace(span.text, " ")
    return " ".join(query.split())
