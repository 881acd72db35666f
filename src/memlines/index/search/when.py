"""What a query says about time: "last week" and "in May" raise the notes of those days."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from memlines.index.search.decay import dated
from memlines.index.store.sqlite import sessions
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
        numbers += sessions.numbers_of_days(
            index.connection, span.first.isoformat(), span.last.isoformat(), _MOST
        )
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
