"""Guess the category of a fact by its words, in every language that has the section `[categories]`.

All languages are matched at once, because people mix them. To-dos come first, because they often name
people and days; then what was decided, what a person likes or always does, who is who, and what happens
on a day. Anything else that is a sentence is a plain fact.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from memlines.text.decisions import compose, is_decision
from memlines.text.facts import Category
from memlines.text.patterns import alternatives, any_language

_FEWEST_WORDS = 3
_NAME = r"[A-ZÀ-ÖØ-ÞŁŚŠŽČŘ][\w'’-]+"  # noqa: RUF001

CONTACTS = re.compile(
    r"(?<![\w.+-])[\w.+-]++@[\w-]++\.[\w.-]+\w"
    r"|(?<![\w.:/-])(?!\d{4}-\d\d-\d\d|\d+\.\d+\.\d)\+?\(?\d{2,4}\)?(?:[ /.-]?\d{2,4}){2,4}(?![\w:])"
)
"""Addresses of mail, and numbers of phones."""


class _Patterns(NamedTuple):
    to_do: re.Pattern[str]
    to_do_at_end: re.Pattern[str]
    """An errand in a language whose verb is at the end, without a subject."""
    order: re.Pattern[str]
    who: re.Pattern[str]
    """Who a person is to others: "Priya is our lead", "our dentist is Dr. Alvarez"."""
    in_charge: re.Pattern[str]
    date: re.Pattern[str]


@cache
def _patterns() -> _Patterns:
    def words(name: str, use: str = "categories") -> str:
        return f"(?:{alternatives(use, name)})"

    relations = rf"(?i:{alternatives('cues', 'roles')}|{alternatives('categories', 'relations')})"
    months = rf"{words('months')}\w*"
    return _Patterns(
        to_do=re.compile(rf"\W*{words('to_do')}(?!\w)"),
        to_do_at_end=re.compile(
            rf"(?:[^\W\d_][\w-]*,? ){{1,6}}(?:.{{0,40}} )?{words('errands')}"
            rf"(?: {words('errand_before')} .*)?\W*$"
        ),
        order=re.compile(rf"\W*{words('order')}(?!\w)"),
        who=re.compile(
            rf"(?<!\w)(?:{_NAME}(?: {_NAME})* {words('is_role')} (?:[\w'-]+ ){{0,4}}{relations}(?!\w)"
            rf"|{relations}(?: {words('role_of')} [\w ]{{1,30}}?)?"
            rf" {words('role_is')} (?:{words('now')} )?(?:{words('titles')}\.? )*{_NAME})"
        ),
        in_charge=re.compile(
            rf"(?<!\w)(?!{words('articles')}\b){_NAME}(?: {_NAME})* "
            rf"(?:{words('handles')}|(?<!\w){words('in_charge', 'cues')}(?!\w))"
        ),
        date=re.compile(
            rf"(?<![\w.,])(?:\d{{1,2}}(?:st|nd|rd|th|er)?\.? (?:de |of )?{months}"
            rf"|{months} \d{{1,2}}(?:st|nd|rd|th)?(?!\w)"
            r"|\d{4}-\d\d-\d\d|\d{1,2}[./]\d{1,2}\.(?:\d{2,4})?|\d{1,2}/\d{1,2}/\d{2,4})"
        ),
    )


def category_of(text: str) -> Category:
    """Return the category that fits a fact best."""
    words = compose(text)
    low = words.lower().strip()
    patterns = _patterns()
    if patterns.to_do.match(low) or (low.endswith("?") and not re.search(r"[.!] ", low)):
        return "other"
    if patterns.to_do_at_end.match(low) and not _holds("subject", low):
        return "other"
    if is_decision(words) or _holds("decided", low):
        return "decision"
    if _holds("likes", low) or _holds("rule", low) or patterns.order.match(low):
        return "preference"
    if (
        CONTACTS.search(low)
        or _holds("person", low)
        or patterns.who.search(words)
        or patterns.in_charge.search(words)
        or any_language("cues", "called").search(low)
    ):
        return "entity"
    if patterns.date.search(low) and _holds("happens", low):
        return "other"
    return "fact" if len(low.split()) >= _FEWEST_WORDS else "other"


def _holds(name: str, low: str) -> bool:
    return any_language("categories", name).search(low) is not None
