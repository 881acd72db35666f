"""Find entries that say the same, and entries that contradict each other.

Two entries are the same by the rules that keep a text from being remembered twice: numbers, dates, names and
code must be the same. They must also be about the same: a line below "Billing" and the same line below "Shop"
say two things, unless the line itself names one of them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import date, datetime
from itertools import islice

from memlines.index.search.reorder import jaccard
from memlines.memory.facts.contradiction import find_contradicted
from memlines.memory.facts.near import says_the_same
from memlines.memory.notes.duplicates import same_days, same_words
from memlines.memory.tidy.gather import LOG, MAIN, Noted
from memlines.text.facts import Fact, FactLine

_FEWEST_WORDS = 4
"""An entry with fewer says too little to be known again: "Done", "Owner: Anna"."""

_RAREST = 4
_MOST_LOOKED_AT = 60
"""By how many of its rarest words an entry is looked up, and how many entries with each of them are compared:
a word that is in more of them says little."""

_SHARED = 0.2
"""How many of their words entries share at least that may say the same, or the opposite."""

_LONGEST = 300
"""Characters of an entry that may state one thing."""

_CODE = re.compile(r"`[^`\n]+`")


def group_same(entries: Sequence[Noted], now: datetime) -> list[list[Noted]]:
    """Return the entries in groups that say the same; the first of a group is the one to keep.

    That is the one in the most curated note. What no person wrote or reviewed comes after what one did, and
    entries of daily logs come last.
    """
    groups: list[list[Noted]] = []
    by_id: dict[str, list[int]] = {}
    near = _Lookup(entries)
    for entry in sorted(entries, key=_curated_first):
        if len(entry.body.split()) < _FEWEST_WORDS:
            continue
        for at in dict.fromkeys([*by_id.get(entry.id, ()), *near.find(entry)]):
            if _is_same(entry, groups[at][0], now):
                groups[at].append(entry)
                break
        else:
            by_id.setdefault(entry.id, []).append(len(groups))
            near.add(entry, len(groups))
            groups.append([entry])
    return groups


def find_contradictions(entries: Sequence[Noted]) -> Iterator[tuple[Noted, Noted]]:
    """Yield entries that cannot be true beside each other, the older one first if that is known.

    What a daily log said was true on its day, so only the newer one may be in a log.
    """
    short = [entry for entry in entries if len(entry.body) <= _LONGEST and "\n" not in entry.body]
    near = _Lookup(short)
    for at, entry in enumerate(short):
        if entry.kind != LOG:
            near.add(entry, at)
    seen: set[frozenset[str]] = set()
    for at, entry in enumerate(short):
        others = [short[place] for place in near.find(entry) if place != at]
        older = [other for other in others if _may_contradict(entry, other)]
        lines = {_as_fact(other): other for other in older}
        shares = [(line, jaccard(entry.terms, other.terms)) for line, other in lines.items()]
        category = entry.fact.fact.category if entry.fact else "other"
        found = find_contradicted(entry.body, category, shares) if shares else None
        if found is not None:
            pair = frozenset((entry.citation, lines[found].citation))
            if pair not in seen:  # both ways are tried where it is not known which is older
                seen.add(pair)
                yield lines[found], entry


def is_ordered(older: Noted, newer: Noted) -> bool:
    """Return whether it is known that one entry is older than another."""
    return older.day is not None and newer.day is not None and older.day < newer.day


def are_about_the_same(one: Noted, other: Noted, *, is_rule: bool = False) -> bool:
    """Return whether the titles above two entries, or words of both, let them speak of the same thing.

    With `is_rule`, what has no title of its own does not speak of everything: a general rule may have
    exceptions.
    """
    subjects = one.subject | other.subject
    if subjects & one.terms & other.terms:
        return True
    if not (one.subject and other.subject):
        return not subjects or not is_rule
    if not one.subject & other.subject:
        return False
    return not (one.section and other.section) or bool(one.section & other.section)


class _Lookup:
    """Entries by their rarest words, to find those that may say the same."""

    def __init__(self, entries: Sequence[Noted]) -> None:
        self._counts = Counter(term for entry in entries for term in entry.terms)
        self._places: dict[str, list[int]] = {}

    def add(self, entry: Noted, at: int) -> None:
        for term in entry.terms:
            self._places.setdefault(term, []).append(at)

    def find(self, entry: Noted) -> list[int]:
        """Return the places of entries that share one of the rarest words, in their order."""
        rarest = sorted(entry.terms, key=lambda term: (self._counts[term], term))[:_RAREST]
        found = {at for term in rarest for at in islice(self._places.get(term, ()), _MOST_LOOKED_AT)}
        return sorted(found)


def _curated_first(entry: Noted) -> tuple[bool, bool, int, date, str, int]:
    return (
        entry.kind == LOG,
        entry.kind != MAIN and not entry.is_trusted,
        entry.kind,
        entry.day or date.max,
        entry.path,
        entry.entry.first,
    )


def _is_same(one: Noted, other: Noted, now: datetime) -> bool:
    if jaccard(one.terms, other.terms) < _SHARED or not are_about_the_same(one, other):
        return False
    if _CODE.findall(one.body) != _CODE.findall(other.body):
        return False
    new, known = (text.replace("`", "") for text in (one.body, other.body))
    if not (same_words(new, known) or same_words(known, new) or says_the_same(new, known)):
        return False
    moment = _moment(one.day, now)
    if one.day is None and not same_days(known, _moment(other.day, now), new, None):
        return False
    return same_days(new, moment, known, other.day)


def _moment(day: date | None, now: datetime) -> datetime:
    return now if day is None else datetime(day.year, day.month, day.day, tzinfo=now.tzinfo)


def _may_contradict(newer: Noted, older: Noted) -> bool:
    if older.day is not None and newer.day is not None and older.day > newer.day:
        return False
    if newer.is_task or older.is_task or newer.id == older.id:
        return False
    shared = jaccard(newer.terms, older.terms)
    return shared >= _SHARED and are_about_the_same(newer, older, is_rule=True)


def _as_fact(entry: Noted) -> FactLine:
    if entry.fact is not None:
        return entry.fact
    return FactLine(Fact("", entry.body), entry.entry.first, entry.entry.last, entry.entry.text)
