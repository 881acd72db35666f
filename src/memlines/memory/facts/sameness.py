"""Tell whether a fact is known already.

A text that is taken for known is not written down, so a second line is preferred to a loss. The words are the
same, as they are for notes; or a vector says that both are almost the same, and word by word nothing differs
that matters: no number, date, name, address or identifier, no "not" or "only", no order ("tabs over spaces"),
and no other word that says something. What may differ: articles, "I" and "the user", "live" and "reside",
the ending that a verb has after "I" and after "she".
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import datetime

from memlines.memory.facts.statements import Item, Statement, read_together
from memlines.memory.notes.duplicates import TURNING, same_days, same_words
from memlines.text.facts import FactLine
from memlines.text.terms import telling_words

ALIKE = 0.95
"""The similarity from which on two texts may say the same in other words."""

_SYNONYMS = frozenset("iumobLUCDhx")
"""Tags whose words all say the same."""

_INFLECTED = frozenset({"s", "es", "e", "t", "n", "en"})
"""Endings of verbs in the present and of plurals, which the same word may have or not."""

_SHORTEST = 3
_ANY_DAY = datetime(2000, 1, 1)
_CODE = re.compile("`")


def duplicate_of(
    text: str, near: Sequence[tuple[FactLine, float | None]], now: datetime | None = None
) -> FactLine | None:
    """Return the current fact that says what a text says, among those near to it with their similarity.

    Days such as "tomorrow" are compared as seen from now and from the day of the fact; as long as it is not
    said when now is, a text with such a day is never known already.
    """
    same = [
        (says, -1.0 if nearness is None else nearness, line)
        for line, nearness in near
        if line.fact.is_current and (says := _sameness(text, line, nearness, now))
    ]
    return max(same, key=lambda found: found[:2])[2] if same else None


class KnownFacts:
    """Facts by their words, for many texts of which one asks whether a fact says the same."""

    def __init__(self, lines: Iterable[FactLine]) -> None:
        self._by_word: dict[str, list[FactLine]] = {}
        for line in lines:
            self.add(line)

    def add(self, line: FactLine) -> None:
        """Take in another fact."""
        for word in _words(line.fact.text):
            self._by_word.setdefault(word, []).append(line)

    def same_as(self, text: str, now: datetime) -> FactLine | None:
        """Return the current fact that says in the same words what a text says."""
        like = self._by_word.get(max(_words(text), key=len), ())
        return duplicate_of(text, [(line, None) for line in like], now)


def _words(text: str) -> list[str]:
    return telling_words(unicodedata.normalize("NFC", text).casefold()) or [""]


def _sameness(text: str, line: FactLine, nearness: float | None, now: datetime | None) -> int:
    """Return 2 if the words of a fact are the same, 1 if it says the same in other words, else 0."""
    known = line.fact.text
    if same_words(text, known) and same_words(known, text):  # neither says more than the other
        says = 2
    elif nearness is not None and nearness >= ALIKE and _says_the_same(text, known):
        says = 1
    else:
        return 0
    day = line.fact.created if now is not None else None
    return says if same_days(text, now or _ANY_DAY, known, day) else 0


def _says_the_same(text: str, known: str) -> bool:
    if _CODE.search(text) or _CODE.search(known):
        return False
    new, old = read_together(text, known)
    return bool(new) and len(new) == len(old) and all(map(_is_same_statement, new, old))


def _is_same_statement(new: Statement, old: Statement) -> bool:
    if new.marks != old.marks or new.doubtful or not new.items:
        return False
    ours, theirs = _without_self(new), _without_self(old)
    return len(ours) == len(theirs) and all(map(_is_same_word, ours, theirs))


def _without_self(statement: Statement) -> list[Item]:
    """Return the words without articles, and without the user as subject: "Likes tea" is "I like tea"."""
    items = [item for item in statement.items if item.tag != "x"]
    return items[1:] if items and items[0].tag == "i" and len(items) > 1 else items


def _is_same_word(one: Item, other: Item) -> bool:
    if one.word == other.word and one.tag == other.tag:
        return True
    if one.tag in "0D" or other.tag in "0D":
        return (one.tag, one.what) == (other.tag, other.what)
    if "#" in (one.tag, other.tag):
        return False
    if one.tag == other.tag and one.tag in _SYNONYMS:
        return one.what == other.what
    if one.tag == other.tag == "N":  # Peter is not Peters
        return one.word.casefold() == other.word.casefold()
    return _is_inflected(one.word.casefold(), other.word.casefold())


def _is_inflected(one: str, other: str) -> bool:
    """Tell whether two words are the same but for case and an ending, and neither turns the meaning."""
    if one == other:
        return True
    short, long = sorted((one, other), key=len)
    if TURNING & {one, other} or len(short) < _SHORTEST or not long.startswith(short):
        return False
    return long[len(short) :] in _INFLECTED
