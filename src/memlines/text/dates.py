"""Find the days that a query is about: "last week", "in May", "vor 3 Tagen", "el 7 de mayo de 2023".

A query is cut into parts: words, numbers, dates, marks. The tables of a language give every word a tag, so
that a query becomes a string of tags, and one small grammar of tags serves all languages. It prefers silence
to a guess: a word that may mean something else needs a preposition, a day or a year beside it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from datetime import date, datetime, timedelta
from functools import cache
from typing import NamedTuple

from memlines.records import dataclass
from memlines.text import date_words as words
from memlines.text.date_words import Days, Part, one_day, whole_months
from memlines.text.language import language_of


@dataclass(frozen=True, slots=True)
class Span:
    """A run of days, the words of the query that said it (in composed Unicode), and of what kind they are.

    "Last week" and "3 days ago" only say when; "in May" and "2023-05-12" may also be in the note itself.
    """

    first: date
    last: date
    text: str
    said_only_time: bool


class _Said(NamedTuple):
    """What a rule of the grammar matched: tags, parts by role, the tags before it; and where and when."""

    tags: str
    roles: dict[str, Part]
    before: str
    stands_out: bool
    language: str
    now: datetime

    def value(self, role: str) -> int:
        return self.roles[role].least

    def after_any(self, tags: str) -> bool:
        return not set(tags).isdisjoint(self.before)

    @property
    def unit(self) -> str:
        return words.UNITS[self.value("u")] if "u" in self.roles else ""

    @property
    def year(self) -> int | None:
        """The year that was named, as a number or as this, last or next year."""
        if "y" in self.roles:
            return self.value("y")
        return self.now.year + self.value("L") if self.unit == "y" else None


# What the expressions mean. A function returns None for what it does not understand; days that the calendar
# does not have raise ValueError or OverflowError.


def _whole(now: datetime, unit: str, offset: int) -> Days | None:
    """Return the calendar week, weekend, month, quarter or year that many after the present one."""
    if unit in ("w", "e"):
        monday = now.date() + timedelta(days=7 * offset - now.weekday())
        return monday + timedelta(days=5 if unit == "e" else 0), monday + timedelta(days=6)
    if unit == "m":
        return whole_months(now.year, now.month + offset, 1)
    if unit == "q":
        return whole_months(now.year, now.month - (now.month - 1) % 3 + 3 * offset, 3)
    return whole_months(now.year + offset, 1, 12) if unit == "y" else None


def _moved(now: datetime, unit: str, count: int) -> date:
    """Return the day that many units after now."""
    if unit == "h":
        return (now + timedelta(hours=count)).date()
    if unit in ("d", "w", "e"):
        return now.date() + timedelta(days=count if unit == "d" else 7 * count)
    first, last = whole_months(now.year, now.month + count * {"m": 1, "q": 3, "y": 12}[unit], 1)
    return first.replace(day=min(now.day, last.day))


def _day(said: _Said) -> Days | None:
    month, day, now = said.value("M"), said.value("n"), said.now
    if said.language != "en" and said.roles["M"].start < said.roles["n"].start:
        return None
    if said.year is not None:
        return one_day(date(said.year, month, day))
    if said.unit or (said.tags.endswith("nv") and not said.stands_out):  # "the top 3 may fail"
        return None
    years = range(now.year, max(0, now.year - 9), -1)
    known = (date(year, month, day) for year in years if 0 < day <= words.days_in(year, month))
    return next((one_day(day) for day in known if day <= now.date()), None)


_MONTH_NEEDS = {"a": "PEFZ&", "m": "PEFZ&Op", "v": "PEFZ&Op", "b": "-"}
"""One of which tags must come before a month that is also another word."""


def _month(said: _Said) -> Days | None:
    month, now = said.value("M"), said.now
    if said.year is not None:
        return whole_months(said.year, month, 1)
    if said.unit:
        return None
    proper = said.stands_out or "v" not in said.tags
    if "L" not in said.roles:
        needs = _MONTH_NEEDS.get(said.tags[0])
        known = not needs or said.after_any(needs) or (said.tags == "v" and said.stands_out)
        return whole_months(now.year - (month > now.month), month, 1) if known else None
    offset = said.value("L")
    if offset == 0:
        return whole_months(now.year, month, 1) if proper else None  # "this may be"
    year = now.year + (month <= now.month) if offset > 0 else now.year - (month >= now.month) + offset + 1
    return whole_months(year, month, 1)


def _season(said: _Said) -> Days | None:
    month, now, is_winter = said.value("S"), said.now, said.value("S") == 12
    if said.year is not None:
        return None if is_winter else whole_months(said.year, month, 3)
    if said.unit:
        return None
    offset = said.value("L")
    if offset == 0:  # "this fall", "this spring" are too often other words
        return None if "s" in said.tags else whole_months(now.year - (is_winter and now.month < 7), month, 3)
    near = [whole_months(year, month, 3) for year in range(now.year - 3, now.year + 2)]
    if offset < 0:
        return [days for days in near if days[1] < now.date()][offset]
    return next(days for days in near if days[0] > now.date())


def _weekday(said: _Said) -> Days | None:
    ahead = said.value("W") - said.now.weekday()
    offset = said.value("L") if "L" in said.roles else -1
    if said.unit:
        return one_day(said.now.date() + timedelta(days=ahead + 7 * offset)) if said.unit == "w" else None
    if "L" not in said.roles and not said.after_any("HF&"):
        return None
    if offset:
        ahead = (ahead - 1) % 7 + 1 if offset > 0 else ahead % 7 + 7 * offset
    return one_day(said.now.date() + timedelta(days=ahead))


_DOUBT = {"h": 0, "d": 1, "w": 3, "m": 15, "q": 45, "y": 183, "e": 3}
"""Days by which people are off when they say how long ago something was."""


def _ago(said: _Said) -> Days | None:
    count, unit, now = said.roles["n"], said.unit, said.now
    if count.least < 1:
        return None
    doubt = timedelta(days=0 if unit == "d" and count.most < 3 else _DOUBT[unit])
    last = min(_moved(now, unit, -count.least) + doubt, now.date())
    return _moved(now, unit, -count.most) - doubt, last


_A_FEW = 4


def _stretch(said: _Said) -> Days | None:
    """Return the days up to today or from today on: "the past 3 weeks", "the next days"."""
    direction = said.value("L") if "L" in said.roles else -1
    count = said.roles["n"].most if "n" in said.roles else 0
    if not count:
        count = _A_FEW if "J" in said.tags or "U" in said.tags else 1
        if count == 1 and said.unit in ("h", "d", "e"):
            return _whole(said.now, said.unit, direction)
    elif said.tags[0] == "L" and not said.before:  # "did it last 3 days"
        return None
    if not direction:
        return None
    ends = (said.now.date(), _moved(said.now, said.unit, count * direction))
    return min(ends), max(ends)


def _unit(said: _Said) -> Days | None:
    offset = said.value("L")
    if "X" in said.roles:  # "the week before last", "the week after next"
        return _whole(said.now, said.unit, 2 * offset) if offset == said.value("X") != 0 else None
    return _whole(said.now, said.unit, offset)


def _year(said: _Said) -> Days | None:
    is_meant = said.unit == "y" if said.unit else said.after_any("PpEFZ&")
    return whole_months(said.value("y"), 1, 12) if is_meant else None


_MONTH = r"(?:[Mmav]|b\.?)"
_IN_YEAR = r",?O?t?(?:y|[LB]u|uB)"
_ON_WEEKDAY = r"(?:W,?t?)?"
_DAY_FIRST = _ON_WEEKDAY + r"(?:[no]\.?O?|NO)" + _MONTH
_MONTH_FIRST = _ON_WEEKDAY + _MONTH + r"t?[no]"

_Meaning = Callable[[_Said], Days | None]
_GRAMMAR: tuple[tuple[str, _Meaning, bool], ...] = (
    (_ON_WEEKDAY + "D", lambda said: said.roles["D"].days, False),
    (_DAY_FIRST + _IN_YEAR, _day, False),
    (_DAY_FIRST, _day, False),
    (_MONTH_FIRST + _IN_YEAR, _day, False),
    (_MONTH_FIRST + "(?![uU])", _day, False),
    (f"{_MONTH}{_IN_YEAR}|(?:[LB]u|uB)P{_MONTH}", _month, False),
    ("[LBK][Mmav]|[Mmav]B", _month, False),
    (_MONTH, _month, False),
    ("QO?y", lambda said: whole_months(said.value("y"), said.value("Q") * 3 - 2, 3), False),
    (f"[Ss]{_IN_YEAR}|[LBK][Ss]|[Ss]B", _season, False),
    ("W[OPHt]*(?:[LB]u|uB)|[LBK]W|WB", _weekday, True),
    ("W", _weekday, False),
    ("G[zN]?[NnA][uU]|[NnA][uU]g", _ago, True),
    ("F[NnA][uU](?!g)|[LBKJ][Nn][uU]|[Nn][BJ][uU]|(?:LU|[KJ][uU])(?!O)", _stretch, True),
    ("uXL|[LB]u(?!O)|uB", _unit, True),
    ("T", lambda said: one_day(said.now.date() + timedelta(days=said.value("T"))), True),
    ("u?y", _year, False),
)
"""Patterns of tags, what they mean, and whether such words say nothing but when; the first to answer wins."""


@cache
def _rules() -> tuple[tuple[re.Pattern[str], _Meaning, bool], ...]:
    """Return the grammar ready for use; most queries say nothing about time and never need it."""
    return tuple((re.compile(pattern), meaning, only_time) for pattern, meaning, only_time in _GRAMMAR)


_ROLES = dict(zip("mavboNAUBKJs", "MMMMnnnuLLLS", strict=True))
_BEGINNINGS = frozenset("WDnoNMmavbLBKJuQSsGAFTy")
"""Tags with which a rule can begin."""

_LEADING = "tOPpHEFXGZ"
_MOST_LEADING = 4
"""Tags of the words before an expression that belong to it, and how many of them at most."""

_A_DATE_AFTER = re.compile(r"X[tOP]*[noMmavbDyTWS]")
_CLUNG_TO = frozenset("_./@=#$:+-") | frozenset("0123456789")
_CLINGING = re.compile(r"[(\w]|[./@=]\w")
_HERE = re.compile(r"(?<!avant.)\bhier\b(?! soir)")
"""Yesterday in French; in German and Dutch it says "here", and far more often."""

_AFTER_A_VERB = {"i", "we", "you", "he", "she", "they", "it", "be", "not", "have"}


class _Found(NamedTuple):
    """What was understood: its first part, its core, past its last part; no days if it is left out."""

    begin: int
    core: int
    end: int
    days: Days | None
    only_time: bool


_Place = tuple[int, int, Span | None]
"""Where an expression begins and ends, and what it means; nothing if it is left out."""


class _Reader:
    """One language's reading of a query."""

    def __init__(self, query: str, folded: str, pieces: list[Part], language: str, now: datetime) -> None:
        self._query = query
        self._folded = folded
        self._parts = words.tag_words(folded, pieces, language)
        self._tags = "".join([part.tag for part in self._parts])
        self._language = language
        self._now = now

    def spans(self) -> list[_Place]:
        """Return where the expressions begin and end in the query, and what they mean."""
        found: list[_Found] = []
        at = 0
        while at < len(self._parts):
            one = self._expression(at, found[-1].end if found else 0)
            at = one.end if one else at + 1
            if one and found and (both := self._range(found[-1], one)):
                found[-1] = both
            elif one:
                found.append(one)
        places: list[_Place] = []
        for one in found:
            start, end = self._parts[one.begin].start, self._parts[one.end - 1].end
            before = self._folded[max(0, start - 1) : start]
            # Except for dates, part of a file, a flag, an address or a call says nothing about time.
            clings = before in _CLUNG_TO or _CLINGING.match(self._folded, end)
            if self._tags[one.core] == "D" or not clings:
                span = one.days and Span(*one.days, self._query[start:end], one.only_time)
                places.append((start, end, span))
        return places

    def _expression(self, at: int, floor: int) -> _Found | None:
        """Return the expression whose core begins at a part, with the words that lead to it."""
        if self._tags[at] == "!":
            return _Found(at, at, at + 1, None, False)
        if self._tags[at] not in _BEGINNINGS:
            return None
        begin = at
        while begin > max(floor, at - _MOST_LEADING) and self._tags[begin - 1] in _LEADING:
            begin -= 1
        begin += begin == floor > 0 and self._says_until(begin)
        joins = begin == floor + 1 and (self._tags[floor] == "&" or self._says_until(floor))
        before = ("&" if joins else "" if begin else "^") + self._tags[begin:at]
        for pattern, meaning, only_time in _rules():
            match = pattern.match(self._tags, at)
            days = match and self._days(meaning, at, match.end(), before)
            if not match or not days:
                continue
            # "The last weekend before April 10" is left to the date.
            leads_to_a_date = _A_DATE_AFTER.match(self._tags, match.end()) and not self._says_until(
                match.end()
            )
            if not (only_time and leads_to_a_date):
                is_left_out = "X" in before or "G" in before
                days = None if is_left_out else self._led(days, begin, at)
                return _Found(begin, at, match.end(), days, only_time)
        return None

    def _says_until(self, at: int) -> bool:
        return self._tags[at] == "X" and not self._parts[at].least

    def _days(self, meaning: _Meaning, at: int, end: int, before: str) -> Days | None:
        parts = self._parts[at:end]
        roles = {_ROLES.get(part.tag, part.tag): part for part in parts}
        stands_out = "M" in roles and self._stands_out(at + parts.index(roles["M"]))
        try:
            return meaning(_Said(self._tags[at:end], roles, before, stands_out, self._language, self._now))
        except (ValueError, OverflowError):  # 31 June, or beyond the years 1 to 9999
            return None

    def _stands_out(self, at: int) -> bool:
        """Return whether a month that is also a verb is written as a month: "our May report", not "May I"."""
        if at == 0 or not self._query[self._parts[at].start].isupper():
            return False
        following = self._parts[at + 1 : at + 2]
        if following and self._folded[following[0].start : following[0].end] in _AFTER_A_VERB:
            return False
        return self._tags[at - 1] not in ".;" and not self._query[self._parts[at - 1].start].isupper()

    def _led(self, days: Days, begin: int, core: int) -> Days:
        """Return what is left of some days after "early", "mid" or "late", or what comes after "since"."""
        first, last = days
        for part in self._parts[begin:core]:
            if part.tag == "F":
                last = max(first, self._now.date())
            elif part.tag == "E" and last - first >= timedelta(days=6):
                third = ((last - first).days + 1) // 3
                ends = (first + timedelta(days=third - 1), first + timedelta(days=2 * third - 1), last)
                first, last = first + timedelta(days=third * part.least), ends[part.least]
        return first, last

    def _range(self, one: _Found, other: _Found) -> _Found | None:
        """Return what lies between two expressions, if the query says so: "between May and July"."""
        joins = other.begin == one.end + 1 and self._tags[one.end] in "&X"
        if not joins or one.days is None or other.days is None:
            return None
        joiner = self._parts[one.end]
        if joiner.tag == "&" and not joiner.least and "Z" not in self._tags[one.begin : one.core]:
            return None
        first, last = one.days[0], other.days[1]
        if first > last and first.day == 1:  # "between May and July 2023"
            first = first.replace(year=max(1, last.year - (first.month > last.month)))
        if first > last:
            return None
        return _Found(one.begin, one.core, other.end, (first, last), one.only_time and other.only_time)


def spans_of(query: str, now: datetime) -> tuple[Span, ...]:
    """Return the runs of days that a query is about, seen from `now`, in the order they are said."""
    query = unicodedata.normalize("NFC", query[: words.LOOKED_AT])
    folded = words.fold(query)
    languages = words.languages_of(folded)
    if not languages:
        return ()
    if "fr" in languages and _HERE.search(folded) and language_of(query) != "fr":
        languages.remove("fr")
    pieces = words.pieces_of(folded)
    found = [one for language in languages for one in _Reader(query, folded, pieces, language, now).spans()]
    chosen: list[_Place] = []
    for start, end, span in sorted(found, key=lambda one: one[0] - one[1]):
        if all(end <= other[0] or other[1] <= start for other in chosen):
            chosen.append((start, end, span))
    return tuple(span for _, _, span in sorted(chosen, key=lambda one: one[0]) if span)
