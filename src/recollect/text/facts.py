"""Facts as they stand in their note: one list item each, which a person can read, edit and delete.

    - 2026-11-16 [preference] Prefers tabs over spaces. ^k3f5x2m7qa
    - 2026-11-16 [decision] Billing runs on Postgres. {importance: 0.9, from: capture codex 01ab} ^m2p6t7u4wc
    - 2026-03-01 [fact] ~~Works at Acme.~~ {until: 2026-11-16, now: m2p6t7u4wc} ^b7c5d2e6fg

Nothing but the text is needed. An item without a name gets one from its text; one whose text is struck
through is no longer true. What stands in braces is written where it is not what goes without saying.
"""

from __future__ import annotations

import hashlib
import re
from base64 import b32encode
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache
from typing import Any, Literal, get_args

from recollect.errors import UsageError
from recollect.paths import is_unicode
from recollect.text.entries import entries_of

Category = Literal["preference", "fact", "decision", "entity", "other"]
CATEGORIES: tuple[Category, ...] = get_args(Category)

IMPORTANCE = 0.7
"""How much a fact counts if nobody said."""

LONGEST = 1_000
"""Characters of a fact; what is longer is a note."""

_LONGEST_SOURCE = 200
_ID_LENGTH = 10
_ALPHABET = "abcdefghijklmnopqrstuvwxyz234567"
_ID = re.compile(rf"[a-z2-7]{{{_ID_LENGTH}}}")

_MARKER = re.compile(r" {0,3}(?:[-+*]|\d{1,9}[.)])(?:[ \t]+|$)(?:\[[ xX]\](?:[ \t]+|$))?")
_DAY = re.compile(r"(\d{4}-\d{2}-\d{2}):?[ \t]+")
_CATEGORY = re.compile(rf"\[({'|'.join(CATEGORIES)})\](?:[ \t]+|$)")
_NAME = re.compile(rf"(?:^|[ \t]+)\^({_ID.pattern})$")
_MORE = re.compile(r"(?:^|[ \t]+)\{([^{}]*)\}$")
_STRIKE = "~~"
_STRUCK = re.compile(r"~~(.*)~~", re.DOTALL)
_STRUCK_KEY = "struck"
"""Written behind a fact that is struck through and holds such marks itself, and could be mistaken."""

_OURS = re.compile(rf"- (?:[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}} )?\[(?:{'|'.join(CATEGORIES)})\] ")
"""How every line begins that `line_of` wrote."""

_LINE = re.compile(
    rf"- (?:([0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}) )?\[({'|'.join(CATEGORIES)})\] (\S.*) \^({_ID.pattern})"
)
"""Such a line as a whole."""

_BYTE_ORDER_MARK = "\ufeff"
_BY_NAME = {str(category): category for category in CATEGORIES}


@dataclass(frozen=True, slots=True)
class Fact:
    """A short long-term memory."""

    id: str
    text: str
    category: Category = "other"
    importance: float = IMPORTANCE
    created: date | None = None
    source: str = ""
    """Who wrote it down and where, such as `capture codex 01ab`."""
    since: date | None = None
    """From when on it holds, if that is not the day it was written down."""
    until: date | None = None
    superseded_by: str = ""
    """The id of the fact that took its place."""
    reviewed: bool = False
    """Whether a person looked at it after it was captured."""
    struck: bool = False
    """Whether it is no longer true."""

    @property
    def is_current(self) -> bool:
        """Whether it holds as far as is known."""
        return not self.struck

    @property
    def valid_from(self) -> date | None:
        """From when on it holds."""
        return self.since or self.created

    @property
    def is_captured(self) -> bool:
        """Whether it was taken from a conversation without anybody asking for it."""
        return self.source.split(" ", 1)[0] == CAPTURE

    def superseded(self, by: str, on: date) -> Fact:
        """Return it as no longer true since a day, because another fact took its place."""
        return replace(self, struck=True, until=on, superseded_by=by)

    def to_json(self) -> dict[str, Any]:
        """Return it with field names that stay."""
        return {
            "id": self.id,
            "text": self.text,
            "category": self.category,
            "importance": self.importance,
            "created_at": _written(self.created) or None,
            "source": self.source,
            "valid_from": _written(self.valid_from) or None,
            "valid_until": _written(self.until) or None,
            "superseded_by": self.superseded_by or None,
            "current": self.is_current,
            "reviewed": self.reviewed,
        }


CAPTURE = "capture"
"""What the source of a captured fact begins with."""


@dataclass(frozen=True, slots=True)
class FactLine:
    """A fact, and the lines of its note that it stands on, counted from 1 and both included."""

    fact: Fact
    first: int
    last: int
    raw: str


def plain(text: str) -> str:
    """Return a text on one line as a fact can hold it, or refuse it."""
    words = " ".join(text.split())
    words, _ = _unstruck(words)
    if not words:
        raise UsageError("there is no text to store", todo="Give a fact in a sentence")
    if "\0" in words or not is_unicode(words):
        raise UsageError("the text holds characters that no note can hold", todo="Leave them out")
    if len(words) > LONGEST:
        raise UsageError(
            f"the text has {len(words):,} characters, and a fact has at most {LONGEST:,}",
            todo="Store what matters in it, or remember it as a note",
        )
    return words


def source_of(text: str) -> str:
    """Return where a fact is from as its line can hold it: without what separates things there."""
    return " ".join(re.sub("[{},\0\ud800-\udfff]", " ", text).split())[:_LONGEST_SOURCE].strip()


def new_id(taken: Collection[str] = ()) -> str:
    """Return a name for a fact that no other one has."""
    import secrets

    while True:
        name = "".join(secrets.choice(_ALPHABET) for _ in range(_ID_LENGTH))
        if name not in taken:
            return name


def is_id(text: str) -> bool:
    """Tell whether a text can be the name of a fact."""
    return _ID.fullmatch(text) is not None


def line_of(fact: Fact) -> str:
    """Return a fact as the line it stands on."""
    text = f"~~{fact.text}~~" if fact.struck else fact.text
    more = _more_of(fact)
    if more or _MORE.search(text):  # braces of the text must not be taken for ours
        text = f"{text} {{{more}}}"
    day = f"{fact.created.isoformat()} " if fact.created else ""
    return f"- {day}[{fact.category}] {text} ^{fact.id}"


def facts_in(text: str) -> tuple[FactLine, ...]:
    """Return the facts of a note in their order; every item of a list outside of code is one."""
    lines = list(_lines_of(text))
    taken: set[str] = set()
    unnamed = []
    for at, line in enumerate(lines):
        name = line.fact.id
        if name and name not in taken:
            taken.add(name)
        else:  # written by hand, or a copy: the first one keeps its name
            unnamed.append(at)
    copies: Counter[str] = Counter()
    for at in unnamed:
        line = lines[at]
        name = _free_id(line.fact.text, taken, copies)
        taken.add(name)
        lines[at] = replace(line, fact=replace(line.fact, id=name))
    return tuple(lines)


def _free_id(text: str, taken: Collection[str], copies: Counter[str]) -> str:
    """Return a name for a fact that has none of its own: the same as long as the note says the same."""
    while True:
        count = copies[text]
        copies[text] += 1
        name = _id_of(f"{text}\n{count}" if count else text)
        if name not in taken:
            return name


def _lines_of(text: str) -> Iterator[FactLine]:
    """Yield the facts of a note; those without a name of their own with an empty one.

    A line as we write it is an item of its own, unless it stands in code. Of many in a row, Markdown is
    asked about the last one only, which may go on in the lines below it; the others are what that one is.
    """
    lines = text.removeprefix(_BYTE_ORDER_MARK).split("\n")
    ours = [*(_OURS.match(line) is not None for line in lines), False]
    shown = [at for at in range(len(lines)) if not (ours[at] and ours[at + 1])]
    for entry in entries_of(_BYTE_ORDER_MARK + "\n".join([lines[at] for at in shown])):
        if entry.kind != "item":
            continue
        first, last = shown[entry.first - 1], shown[entry.last - 1]
        if ours[first]:
            row = shown[entry.first - 2] + 1 if entry.first > 1 else 0
            for at in range(row, first):
                yield from _facts_at(lines, at, at)
        yield from _facts_at(lines, first, last)


def _facts_at(lines: list[str], first: int, last: int) -> Iterator[FactLine]:
    """Yield the fact that stands on some lines, counted from 0, if there are any words on them."""
    raw = "\n".join([line.removesuffix("\r") for line in lines[first : last + 1]])
    fact = _fact_of(raw)
    if fact is not None:
        yield FactLine(fact, first + 1, last + 1, raw)


def _fact_of(item: str) -> Fact | None:
    """Return the fact that an item of a list holds, without a name if it bears none."""
    line = _LINE.fullmatch(item)
    if line is not None:  # as we write it, which needs no further look and is most of a long note
        day, category, words, name = line.groups()
        if words == " ".join(words.split()) and (not day or _day(day)):
            return _fact(words, day or "", category, name)
    return _fact_by_hand(item)


def _fact_by_hand(item: str) -> Fact | None:
    """Return the fact that an item holds in any form.

    What we write at the end of a fact may also stand at the end of its first line, if lines were added.
    """
    first, _, others = item.partition("\n")
    marker = _MARKER.match(first)
    rest = " ".join(first[marker.end() if marker else 0 :].split())
    below = " ".join(others.split())
    if below and _NAME.search(rest) is None:
        rest, below = f"{rest} {below}", ""
    rest, is_struck = _unstruck(rest)
    day = _DAY.match(rest)
    if day and _day(day[1]):  # 2026-13-40 is text
        rest, is_struck = _unstruck(rest[day.end() :], is_struck)
    else:
        day = None
    category = _CATEGORY.match(rest)
    if category:
        rest, is_struck = _unstruck(rest[category.end() :], is_struck)
    name = _NAME.search(rest)
    rest = rest[: name.start()] if name else rest
    return _fact(
        rest,
        day[1] if day else "",
        category[1] if category else "other",
        name[1] if name else "",
        below,
        is_struck=is_struck,
    )


def _fact(
    words: str, day: str, category: str, name: str, below: str = "", *, is_struck: bool = False
) -> Fact | None:
    """Return the fact that some words and what stands in braces behind them make; nothing without words."""
    more = _MORE.search(words) if words.endswith("}") else None
    known = _more(more[1]) if more else None
    if more is not None and known is not None:
        words = words[: more.start()]
    known = known or {}
    words, is_struck = _unstruck(words, is_struck, whatever_is_inside=_STRUCK_KEY in known)
    words = f"{words} {below}".strip() if below else words
    if not words:
        return None
    importance = _importance(known["importance"]) if "importance" in known else None
    return Fact(
        name,
        words,
        _BY_NAME[category],
        IMPORTANCE if importance is None else importance,
        _day(day),
        known.get("from", ""),
        _day(known.get("since", "")),
        _day(known.get("until", "")),
        known.get("now", ""),
        "reviewed" in known,
        is_struck,
    )


def _unstruck(text: str, was: bool = False, *, whatever_is_inside: bool = False) -> tuple[str, bool]:
    """Return a text without the marks that strike all of it through, and whether it is or was struck.

    A text in which several parts are struck through begins and ends like that as well.
    """
    struck = _STRUCK.fullmatch(text) if text.startswith(_STRIKE) else None
    if struck and (whatever_is_inside or _STRIKE not in struck[1]):
        return struck[1].strip(), True
    return text, was


def _more(inside: str) -> dict[str, str] | None:
    """Return what stands in braces, or nothing if it is not ours."""
    known: dict[str, str] = {}
    for part in inside.split(",") if inside.strip() else ():
        key, _, value = part.partition(":")
        name, word = key.strip(), value.strip()
        if name not in _MEANT or not _MEANT[name](word):
            return None
        known[name] = word
    return known


def _more_of(fact: Fact) -> str:
    values = {
        "importance": "" if fact.importance == IMPORTANCE else _number(fact.importance),
        "from": fact.source,
        "since": _written(fact.since),
        "until": _written(fact.until),
        "now": fact.superseded_by,
    }
    parts = [f"{key}: {value}" for key, value in values.items() if value]
    if fact.struck and _STRIKE in fact.text:
        parts.append(_STRUCK_KEY)
    return ", ".join([*parts, *(["reviewed"] if fact.reviewed else [])])


def _number(value: float) -> str:
    short = f"{value:g}"
    return short if float(short) == value else repr(value)


def _importance(written: str) -> float | None:
    try:
        value = float(written)
    except ValueError:
        return None
    return min(1.0, max(0.0, value)) if value == value else None


@lru_cache(maxsize=4_096)  # most facts of a note share their day with others
def _day(written: str) -> date | None:
    try:
        return date.fromisoformat(written) if written else None
    except ValueError:
        return None


def _written(day: date | None) -> str:
    return day.isoformat() if day else ""


def _id_of(text: str) -> str:
    """Return the name of a fact that was given none: always the same for the same text."""
    digest = hashlib.sha256(text.encode(errors="surrogatepass")).digest()
    return b32encode(digest).decode("ascii").lower()[:_ID_LENGTH]


_MEANT: Mapping[str, Callable[[str], object]] = {
    "importance": lambda word: _importance(word) is not None,
    "from": lambda word: word,
    "since": _day,
    "until": _day,
    "now": is_id,
    "reviewed": lambda word: not word,
    _STRUCK_KEY: lambda word: not word,
}
"""What may stand in braces behind a fact, and when it makes sense; anything else there is text."""
