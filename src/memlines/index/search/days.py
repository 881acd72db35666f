"""Answer queries about days: find the chunks with entries of those days, and rank these before others.

Days count for entries: a chunk with entries of several days is found by each of them, and of its entries only
those of the days that were asked for are shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice

from memlines.index.search import rank
from memlines.index.search.matches import MatchedChunks
from memlines.index.search.passages import BELOW, days_of, days_of_units, may_answer, units_of
from memlines.index.search.query import Query
from memlines.index.search.rank import Candidate, Estimates
from memlines.index.search.retrievers import RetrieverResults
from memlines.index.store.base import SearchedIndex
from memlines.text.dates import Span
from memlines.text.decisions import is_decision
from memlines.types import IndexedChunk

_SAME_DAYS = 0.3
"""The evidence for a chunk with entries of the days the query is about."""

_ONLY_DAYS = 0.7
"""The same for a fact if the query is about nothing else: "what did I do yesterday?"."""

_MOST_OF_DAYS = 2_000
"""Chunks of some days that are candidates without another reason; those of the newest days come first."""

_MOST_FACTS = 200

_OF_DAYS = 0.9
_BESIDE_DECISIONS = 0.6
"""The scores of what is of the days that were asked for and nothing else, and of what is no decision if
decisions were."""

_STEP = 1e-6
"""How much less each scores than the one before it, so that they keep their order."""

_SHORT_SPAN = 32
"""Days below which a note of other days is hardly about them; of last year many things are noted later."""

_LOOKED_INTO = 200
"""Chunks of some days that are looked through for decisions."""


def days_evidence(
    index: SearchedIndex, query: Query, scores: Mapping[int, float], chunks: MatchedChunks
) -> dict[int, float]:
    """Return the evidence for chunks with entries of the days that the query is about, by number.

    Those of the newest day come first, each day in the order of its notes and conversations.
    """
    found: dict[int, None] = {}
    for span in sorted(query.spans, key=lambda span: span.last, reverse=True):
        days = index.find_days(span.first.isoformat(), span.last.isoformat(), _MOST_OF_DAYS)
        found |= dict.fromkeys(days)
    if len(found) >= _MOST_OF_DAYS:  # what was found otherwise may be of a day that was not reached
        others = chunks.read(number for number in scores if number not in found)
        found |= dict.fromkeys(
            number for number, chunk in others.items() if any(query.is_about(day) for day in days_of(chunk))
        )
    return dict.fromkeys(found, _SAME_DAYS)


def known_days_evidence(days: Mapping[int, str], query: Query) -> dict[int, float]:
    """Return the same if the days of chunks are known from elsewhere than the index.

    They only count if the query is about nothing else: what was written down on a day need not be about it.
    """
    if not query.is_only_days:
        return {}
    newest_first = (number for number in reversed([*days]) if query.is_about(days[number]))
    return dict.fromkeys(islice(newest_first, _MOST_FACTS), _ONLY_DAYS)


def rank_days(
    query: Query,
    evidence: Estimates,
    of_days: Sequence[int],
    found: RetrieverResults,
    chunks: MatchedChunks,
) -> tuple[Estimates, bool]:
    """Put entries of the days that a query is about before others; return also whether these are scores now.

    If it is about nothing else, only a date that may be in a note ("2026-11-16", "in May") finds others.
    """
    numbers = {*of_days}
    if not query.is_only_days:
        return _put_days_first(query, evidence, numbers, found, chunks), False
    ranked = _score_days(query, of_days, chunks)
    others = {one: amount for one, amount in evidence.items() if one.number not in numbers}
    if not others or all(span.said_only_time for span in query.spans):
        return ranked, True
    if not ranked:
        return evidence, False
    _, score_of = rank.make_score(query, others, found, chunks)
    below = min(ranked.values()) - _STEP
    return ranked | {one: min(score_of(one), below) for one in others}, True


def _score_days(query: Query, of_days: Sequence[int], chunks: MatchedChunks) -> dict[Candidate, float]:
    """Return the scores of what is of the days that a query is about: the newest day first, in its order.

    Decisions come before all if these were asked for. Of chunks that are hardly ever reached, all of one is a
    candidate instead of its entries.
    """
    looked_into = max(_LOOKED_INTO if query.wants_decisions else 0, 2 * query.settings.max_results)
    units: list[tuple[bool, str, Candidate]] = []
    for number, chunk in chunks.read(of_days[:looked_into]).items():
        decided = _decisions_in(query, chunk) if query.wants_decisions else []
        may = may_answer(chunk, query.left_out)
        units += [
            (bool(decided) and decided[at], day, Candidate(number, at))
            for at, day in enumerate(days_of_units(chunk))
            if query.is_about(day) and query.filters.allow(day) and (not may or may[at])
        ]
    units.sort(key=lambda unit: unit[:2], reverse=True)  # which keeps the order within a day
    units += [(False, "", Candidate(number)) for number in of_days[looked_into:]]
    return {
        one: (_BESIDE_DECISIONS if query.wants_decisions and not is_decided else _OF_DAYS) - place * _STEP
        for place, (is_decided, _, one) in enumerate(units)
    }


def _put_days_first(
    query: Query, evidence: Estimates, numbers: set[int], found: RetrieverResults, chunks: MatchedChunks
) -> Estimates:
    """Put entries of the days before all others if one of them is a likely answer.

    The query has to say when in words that are in no note and mean few days, as "last week" does.
    """
    spans = query.spans
    if not all(span.said_only_time and (span.last - span.first).days < _SHORT_SPAN for span in spans):
        return evidence

    def is_of_days(one: Candidate) -> bool:
        is_chunk = one.unit < 0  # of one that was not looked into
        return is_chunk or query.is_about(days_of_units(chunks.known[one.number])[one.unit])

    of_days = {one for one in evidence if one.number in numbers and is_of_days(one)}
    answers = {
        one: evidence[one]
        for one in of_days
        if one.unit >= 0
        and evidence[one] > _SAME_DAYS + _STEP
        and rank.is_near(chunks.known[one.number], found, chunks)
    }
    if not answers or rank.make_score(query, answers, found, chunks)[0] < query.settings.min_score:
        return evidence
    below = min(evidence[one] for one in of_days) - _STEP
    return {one: amount if one in of_days else min(amount, below) for one, amount in evidence.items()}


def shown_together(query: Query, chunk: IndexedChunk, unit: int) -> list[bool]:
    """Say of each unit of a chunk whether it may be shown beside one of them; nothing if all may.

    It is of the days that the query names too, and of the same day if the query is about nothing else. If the
    query asks for decisions, both are one, or neither is.
    """
    days = days_of_units(chunk)
    allowed = [query.filters.allow(day) for day in days]
    about = [may and query.is_about(day) for day, may in zip(days, allowed, strict=True)]
    if query.is_only_days and unit >= 0:
        decided = _decisions_in(query, chunk) if query.wants_decisions else [False] * len(days)
        alike = list(zip(days, decided, strict=True))
        return [one == alike[unit] for one in alike]
    return next((choice for choice in (about, allowed) if any(choice)), [])


def _decisions_in(query: Query, chunk: IndexedChunk) -> list[bool]:
    """Say of each unit of a chunk whether it is a decision of the days that the query names."""
    return [
        query.is_about(day)
        and query.filters.allow(day)
        and is_decision(unit.text, f"{chunk.heading}{BELOW}{unit.heading}")
        for day, unit in zip(days_of_units(chunk), units_of(chunk), strict=True)
    ]


def without_notes_of(spans: Sequence[Span]) -> str:
    """Say that there is no note of some days."""
    days = [
        f"{span.first}" if span.first == span.last else f"the days from {span.first} to {span.last}"
        for span in spans
    ]
    return f"no note is of {' or '.join(days)}"
