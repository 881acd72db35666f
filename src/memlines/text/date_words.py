"""The words that say when, from the section `[time]` of each language's file, and a query cut into them.

Each key of the section is a part that its words play in an expression, and has a tag here; a value follows
`=`. Words are in lower case and without accents; `_` is the blank in a phrase, and the longest phrase wins.

| tag | plays the part of | value |
|---|---|---|
| T | a day named from today | days from today |
| u U | a unit of time, one and many | h d w m q y, e for a weekend |
| L B | last, this, next before a noun; B also after it | -2 to 1 |
| K J | the same for the time up to or from today; J is plural | -1 or 1 |
| N A | a number; an article that means one | least-most |
| g G z | "ago" after the time; before it; about | |
| W | a weekday | 0 to 6 |
| M m a v b | a month; m, a, v are also other words (a: a name, v: a verb); b is short | 1 to 12 |
| S s | a season; s is also another word | its first month |
| Q | a quarter of a year | 1 to 4 |
| E | early, mid, late | 0 to 2 |
| P p H O t | in; by; on; of; the | |
| F X | since; before -1, after 1, until 0 | |
| Z & | between; and 0, to 1 | |
| ! | a phrase that only looks like a time | |
"""

from __future__ import annotations

import re
import unicodedata
from datetime import date
from functools import cache
from typing import NamedTuple

from memlines.paths import languages_with
from memlines.text.language import section

Days = tuple[date, date]
"""The first and the last day of a run."""

LOOKED_AT = 2_000
"""Characters of a query that are read; what follows is hardly a question."""

UNITS = "hdwmqye"


class Part(NamedTuple):
    """A piece of a query, or a phrase of several, with the part it plays and its value."""

    tag: str
    start: int
    end: int
    least: int = 0
    most: int = 0
    days: Days | None = None


class Meaning(NamedTuple):
    """The part a word or phrase plays, and its value, as the least and the most it can mean."""

    tag: str
    least: int = 0
    most: int = 0


_UNKNOWN = Meaning("x")

_TAGS = {
    "days": "T",
    "unit": "u",
    "units": "U",
    "last_this_next": "L",
    "last_next_behind": "B",
    "stretch": "K",
    "stretches": "J",
    "numbers": "N",
    "one": "A",
    "ago": "g",
    "ago_before": "G",
    "about": "z",
    "weekdays": "W",
    "months": "M",
    "months_with_in": "m",
    "months_names": "a",
    "months_verbs": "v",
    "months_short": "b",
    "seasons": "S",
    "seasons_unclear": "s",
    "quarters": "Q",
    "part_of": "E",
    "in": "P",
    "by": "p",
    "on": "H",
    "of": "O",
    "the": "t",
    "since": "F",
    "before_after": "X",
    "between": "Z",
    "and": "&",
    "no_time": "!",
}


class _Vocabulary:
    """The words for times of every language."""

    def __init__(self) -> None:
        self.meanings = {code: _meanings_of(code) for code in languages_with("time")}
        """The meaning of each word and phrase of a language."""
        phrases = [phrase for words in self.meanings.values() for phrase in words]
        self.longest_phrase = 1 + max(phrase.count(" ") for phrase in phrases)
        self.openings = {phrase.split()[0] for phrase in phrases if " " in phrase}
        """Words with which a phrase begins, in any language."""
        self.telling: dict[str, list[str]] = {}
        """The words without which nothing is said about time, and the languages in which they say it."""
        for code, words in self.meanings.items():
            for phrase, meaning in words.items():
                if meaning.tag in "TuUWMmavbSs":
                    self.telling.setdefault(phrase.split()[-1], []).append(code)


_vocabulary = cache(_Vocabulary)
"""Return the vocabulary, read when it is first needed."""


def _meanings_of(code: str) -> dict[str, Meaning]:
    words = section(code, "time")
    found: dict[str, Meaning] = {}
    for key, tag in _TAGS.items():
        for entry in words.get(key, "").split():
            word, _, value = entry.partition("=")
            found[word.replace("_", " ")] = _meaning(tag, value)
    return found


@cache
def _meaning(tag: str, value: str) -> Meaning:
    if value in UNITS:
        return Meaning(tag, UNITS.find(value))
    least, _, most = value.partition("-") if value[0] != "-" else (value, "", "")
    return Meaning(tag, int(least), int(most or least))


_CLAUSE_HEAD = (
    r"(?:^|[.?!:;\u00bf(])\W{0,3}(?:(?:and|so|en|et|y|e|since|by|sinds|vanaf|depuis|desde|para|da) )?"
)
""""When" and its like ask at the head of a question, and join two clauses elsewhere."""
_ASKED = "know|tell me|find out|weet je|zeg me|sais[ -]tu|savez[ -]vous|sabes|dime|sabe|sai|dimmi"


@cache
def _asking() -> tuple[dict[str, list[str]], str]:
    """Return what asks for a time: patterns by a word that must be there, and one for unspaced scripts."""
    by_word: dict[str, list[str]] = {}
    unspaced = []
    for code in languages_with("time"):
        words = section(code, "time")
        for line in words.get("asks", "").strip().splitlines():
            heads, _, pattern = line.strip().partition(":")
            pattern = pattern.strip().replace("{clause_head}", _CLAUSE_HEAD).replace("{asked}", _ASKED)
            for head in heads.split():
                by_word.setdefault(head, []).append(pattern)
        unspaced += [words["asks_unspaced"]] if "asks_unspaced" in words else []
    return by_word, "|".join(unspaced)


def asks_when(query: str) -> bool:
    """Return whether a query asks for a time, as "When did we move?" does."""
    folded = fold(unicodedata.normalize("NFC", query[:LOOKED_AT]))
    by_word, unspaced = _asking()
    patterns = [pattern for word in set(_WORD.findall(folded)) for pattern in by_word.get(word, ())]
    if not folded.isascii():
        patterns.append(unspaced)
    return any(re.search(pattern, folded) for pattern in patterns)


@cache
def _happened() -> frozenset[str]:
    """Return the words, of every language, with which a question asks for all of a time."""
    return frozenset(
        word for code in languages_with("time") for word in section(code, "time").get("happened", "").split()
    )


def without_happened(question: str) -> str:
    """Return a question without words such as "happened", which name nothing that could be found."""
    return re.sub(r"\w+", lambda word: "" if fold(word[0]) in _happened() else word[0], question)


# Letters keep their number, so that what is found in the folded text can be cut out of the query.
_FOLDED = {
    code: unicodedata.normalize("NFKD", chr(code))[0].lower()
    for code in (*range(0x41, 0x5B), *range(0xAA, 0x180), *range(0xFF10, 0xFF1A))
}
_WORD = re.compile(r"[a-z]+|[0-9]{4}")
_ISO = r"(?<![0-9])[0-9]{4}-[0-9]{2}-[0-9]{2}(?![0-9])"
_PIECE = (
    r"(?P<figures>(?>[0-9]{4}\s?年(?:\s?[0-9]{1,2}\s?月(?:\s?[0-9]{1,2}\s?[日号號])?)?)(?!\s?[之以])"
    rf"|{_ISO}|(?<![\w./:-])[0-9]+(?:[./:-][0-9]+|,[0-9]{{3}}(?![0-9]))+(?![a-z0-9_]))"
    r"|(?P<number>[0-9]+)(?P<ordinal>st|nd|rd|th|er|ste|de|e|o|a)?(?![a-z0-9_])"
    rf"|(?P<word>(?:(?!{_ISO})[a-z0-9_])+)|(?P<mark>\S)"
)
_NUMBER = re.compile("[0-9]+")
_WITHOUT_NUMBERS = str.maketrans("", "", "0123456789")
_YEAR_FIRST = {"--", "//", "-", "年", "年月", "年月日", "年月号", "年月號"}
_QUOTED = re.compile('"[^"]*"|“[^“”]*”|«[^«»]*»')
_GLUE = re.compile(r"(?<=[^\W_])[-'\u2019](?=[^\W_])")


def fold(text: str) -> str:
    """Return a text in lower case and without accents, letter for letter."""
    return text.translate(_FOLDED)


def languages_of(folded: str) -> list[str]:
    """Return the languages in which a folded query may say when: with a word for it, or with a year."""
    words, known = set(_WORD.findall(folded)), _vocabulary()
    if any(word.isdigit() for word in words):
        return [code for code, meant in known.meanings.items() if code == "en" or words & meant.keys()]
    telling = {code for word in words & known.telling.keys() for code in known.telling[word]}
    return [code for code in known.meanings if code in telling]


def pieces_of(folded: str) -> list[Part]:
    """Cut a query into words, numbers, dates and marks; what is quoted is a title, unless it is a date."""
    quoted = {place for match in _QUOTED.finditer(folded) for place in range(*match.span())}
    glue = {match.start() for match in _GLUE.finditer(folded)}
    parts = [_part(piece) for piece in re.finditer(_PIECE, folded) if piece.start() not in glue]
    return [part._replace(tag="x") if part.tag != "D" and part.start in quoted else part for part in parts]


def _part(piece: re.Match[str]) -> Part:
    start, end = piece.span()
    if piece["figures"]:
        days = read_date(piece["figures"])
        return Part("D" if days else "x", start, end, days=days)
    if piece["number"]:
        value = int(piece["number"])
        tag = "o" if piece["ordinal"] else "y" if _is_year(value) else "n"
        return Part(tag, start, end, value, value)
    return Part("w" if piece["word"] else piece["mark"] if piece["mark"] in ",." else ";", start, end)


def tag_words(folded: str, pieces: list[Part], language: str) -> list[Part]:
    """Give the words and phrases of a query the tags they have in a language."""
    known = _vocabulary()
    meanings = known.meanings[language]
    words = [folded[piece.start : piece.end] for piece in pieces]
    parts: list[Part] = []
    at = 0
    while at < len(pieces):
        part, size = pieces[at], 1
        if part.tag == "w":
            if words[at] in known.openings:
                sizes = range(min(known.longest_phrase, len(words) - at), 1, -1)
                size = next((size for size in sizes if " ".join(words[at : at + size]) in meanings), 1)
            tag, least, most = meanings.get(" ".join(words[at : at + size]), _UNKNOWN)
            part = Part(tag, part.start, pieces[at + size - 1].end, least, most)
        parts.append(part)
        at += size
    return parts


def read_date(figures: str) -> Days | None:
    """Read a date in figures; 05/07/2023 is one day in Europe and another in America, so it is none here."""
    numbers = _NUMBER.findall(figures)
    marks = "".join(figures.translate(_WITHOUT_NUMBERS).split())
    values = [int(number) for number in numbers]
    if len(values) != (len(marks) if marks.startswith("年") else len(marks) + 1):
        return None
    if marks in ("..", "--", "//") and len(numbers[2]) == 4:
        day, month, year = values
        if marks != ".." and day != month and max(day, month) <= 12:
            return None
        values = [year, day, month] if month > 12 and marks != ".." else [year, month, day]
    elif marks not in _YEAR_FIRST or (marks == "-" and len(numbers[1]) != 2):
        return None
    year, month, day = (*values, 0, 0)[:3]
    if not _is_year(year) or month > 12 or (month == 0 and len(values) > 1):
        return None
    if len(values) < 3:
        return whole_months(year, month or 1, 1 if month else 12)
    return one_day(date(year, month, day)) if 0 < day <= days_in(year, month) else None


def _is_year(number: int) -> bool:
    """Return whether a number of four figures is likely to be a year."""
    return 1900 <= number < 2100


def one_day(day: date) -> Days:
    """Return a day as a run of one."""
    return day, day


def whole_months(year: int, month: int, count: int) -> Days:
    """Return the days of whole months; the first month may be counted beyond the year."""
    first, last = year * 12 + month - 1, year * 12 + month - 2 + count
    end = days_in(last // 12, last % 12 + 1)
    return date(first // 12, first % 12 + 1, 1), date(last // 12, last % 12 + 1, end)


def days_in(year: int, month: int) -> int:
    """Return how many days a month has; the standard calendar module would load all locales for it."""
    if month == 2:
        return 29 if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0) else 28
    return 30 if month in (4, 6, 9, 11) else 31
