"""Read and write facts as lines of their note: one list item each, which a person can read, edit and delete.

    - 2026-11-16 [preference] Prefers tabs over spaces. {scope: code} ^k3f5x2m7qa
    - 2026-11-16 [decision] Billing runs on Postgres. {importance: 0.9, from: capture codex 01ab} ^m2p6t7u4wc
    - 2026-03-01 [fact] ~~Works at Acme.~~ {until: 2026-11-16, now: m2p6t7u4wc} ^b7c5d2e6fg

Only the text is required. An item without a name gets one from its text; one whose text is struck through is
no longer true. The braces hold only values that differ from the default.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from datetime import date
from functools import lru_cache
from typing import Any, Literal, NamedTuple, cast, get_args

from memlines.errors import UsageError
from memlines.paths import is_unicode
from memlines.records import dataclass

_STRUCK = "struck"
"""Written behind a struck fact where the marks alone would be ambiguous."""

ID_LENGTH = 10
ID = re.compile(rf"[a-z2-7]{{{ID_LENGTH}}}")
"""The name of a fact."""

_NAME = re.compile(rf"(?:^|[ \t]+)\^({ID.pattern})$")
"""Such a name at the end of a line."""

_DETAILS = re.compile(r"(?:^|[ \t]+)\{([^{}]*)\}$")
"""Braces at the end of a line, ours or not."""

_STRIKE = "~~"
_MARKER = re.compile(r" {0,3}(?:[-+*]|\d{1,9}[.)])(?:[ \t]+|$)(?:\[[ xX]\](?:[ \t]+|$))?")
_STRUCK_THROUGH = re.compile(r"~~(.*)~~", re.DOTALL)

Category = Literal["preference", "fact", "decision", "entity", "other"]
"""What kind of fact it is."""
CATEGORIES: tuple[Category, ...] = get_args(Category)

IMPORTANCE = 0.7
"""The importance of a fact if none was given."""

LONGEST = 1_000
"""Characters of a fact; what is longer is a note."""

CAPTURE = "capture"
"""The first word of a captured fact's source."""

SCOPE = re.compile(r"\w[\w/-]{0,39}")
"""What a fact may be limited to: one word, such as `writing` or `project/shop`."""

_LONGEST_SOURCE = 200
_ALPHABET = "abcdefghijklmnopqrstuvwxyz234567"

_DAY = re.compile(r"(\d{4}-\d{2}-\d{2}):?[ \t]+")
_CATEGORY = re.compile(rf"\[({'|'.join(CATEGORIES)})\](?:[ \t]+|$)")

LINE = re.compile(
    rf"- (?:([0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}) )?\[({'|'.join(CATEGORIES)})\] (\S.*) \^({ID.pattern})"
)
"""Such a line as a whole."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A short long-term memory."""

    id: str
    text: str
    category: Category = "other"
    """What kind of fact it is."""
    importance: float = IMPORTANCE
    """How much it counts, from 0 to 1."""
    created: date | None = None
    """The day it was written down."""
    source: str = ""
    """What wrote it down and where, such as `capture codex 01ab`."""
    since: date | None = None
    """Since when it is true, if that is not the day it was written down."""
    until: date | None = None
    """The day since which it is no longer true."""
    superseded_by: str = ""
    """The id of the fact that took its place."""
    reviewed: bool = False
    """Whether a person looked at it after it was captured."""
    struck: bool = False
    """Whether it is no longer true."""
    scope: str = ""
    edited: date | None = None
    """When a command last changed its words; of two versions in a merged note, the newer one counts."""

    @property
    def is_current(self) -> bool:
        """Whether it is still true, as far as is known."""
        return not self.struck

    @property
    def valid_from(self) -> date | None:
        """Since when it is true."""
        return self.since or self.created

    @property
    def is_captured(self) -> bool:
        """Whether it was captured from a conversation, without a request to store it."""
        return self.source.split(" ", 1)[0] == CAPTURE

    def supersede(self, by: str, on: date) -> Fact:
        """Return it as no longer true since a day, because another fact took its place."""
        return replace(self, struck=True, until=on, superseded_by=by)

    def to_json(self) -> dict[str, Any]:
        """Return it with field names that stay."""
        return {
            "id": self.id,
            "text": self.text,
            "category": self.category,
            "scope": self.scope or None,
            "importance": self.importance,
            "created_at": str(self.created) if self.created else None,
            "edited_at": str(self.edited) if self.edited else None,
            "source": self.source,
            "valid_from": str(self.valid_from) if self.valid_from else None,
            "valid_until": str(self.until) if self.until else None,
            "superseded_by": self.superseded_by or None,
            "current": self.is_current,
            "reviewed": self.reviewed,
        }


@dataclass(frozen=True, slots=True)
class FactLine:
    """A fact and its lines in the note, counted from 1 and both included."""

    fact: Fact
    first: int
    last: int
    raw: str
    """The lines as they are in the note."""


@dataclass(frozen=True, slots=True)
class FirstLine:
    """A line that states a fact, and how many lines of its item it replaces."""

    line: str
    replaces: int
    fact: Fact


def plain(text: str) -> str:
    """Return a text on one line as a fact can hold it, or refuse it."""
    words, _ = _without_strike(" ".join(text.split()))
    if not words:
        raise UsageError("there is no text to store", todo="Give a fact in a sentence")
    if "\0" in words or not is_unicode(words):
        raise UsageError("the text has characters that a note cannot contain", todo="Leave them out")
    if len(words) > LONGEST:
        raise UsageError(
            f"the text has {len(words):,} characters, and a fact has at most {LONGEST:,}",
            todo="Store what matters in it, or remember it as a note",
        )
    return words


def source_of(text: str) -> str:
    """Return the source of a fact as its line can hold it: without the signs that have a meaning there."""
    return " ".join(re.sub("[{},\0\ud800-\udfff]", " ", text).split())[:_LONGEST_SOURCE].strip()


def new_id(taken: Collection[str] = ()) -> str:
    """Return a name for a fact that no other one has."""
    import secrets

    while True:
        name = "".join(secrets.choice(_ALPHABET) for _ in range(ID_LENGTH))
        if name not in taken:
            return name


def is_id(text: str) -> bool:
    """Return whether a text can be the name of a fact."""
    return ID.fullmatch(text) is not None


def line_of(fact: Fact) -> str:
    """Return the line of a fact."""
    return f"- {_lead_of(fact)}{_with_marks(fact, fact.text)}"


def rewrite_line(old: FactLine, new: Fact) -> Iterator[FirstLine]:
    """Yield how the first line of an item may state another fact, beginning with the smallest change.

    The lines below it stay. Other words replace those on that line, if it holds all of them.
    """
    from textwrap import dedent

    from memlines.text.entries import entries_of, without_comments  # which takes time to import

    first, *others = without_comments(old.raw.split("\n"))
    marker, rest = _behind_marker(first)
    below = " ".join(" ".join(others).split())
    whole = f"{rest} {below}".strip()
    count = 1
    is_shown = [first, *others] == old.raw.split("\n")
    if below and is_shown and not _NAME.search(rest) and len(_without_end(whole)) <= len(rest):
        rest, below, count = whole, "", 1 + len(others)  # only what we write went on below
    name = _NAME.search(rest)
    parts = _parts_of(rest)
    alone = None if below and not name else _fact_by_hand(f"{marker}{rest}")
    words = alone.text if alone else "" if name else parts.rest
    fact = replace(new, id=old.fact.id, text=old.fact.text, source=source_of(new.source))
    if new.text != old.fact.text:
        lower = entries_of("\n" + dedent("\n".join(others))) if below else ()
        if any(entry.kind == "paragraph" for entry in lower):
            raise UsageError(
                f"the words of the fact {old.fact.id} are on several lines",
                todo="Edit them in the note by hand",
            )
        below = _without_end(below, name[1]) if name else below
        words = plain(new.text.removesuffix(f" {below}")) if below else plain(new.text)
        fact = replace(fact, text=f"{words} {below}".strip())
    if (fact.created, fact.category) == (old.fact.created, old.fact.category):
        yield FirstLine(f"{marker}{parts.lead}{_with_marks(fact, words)}", count, fact)
    yield FirstLine(f"{marker}{_lead_of(fact)}{_with_marks(fact, words)}", count, fact)


def _lead_of(fact: Fact) -> str:
    day = f"{fact.created.isoformat()} " if fact.created else ""
    return f"{day}[{fact.category}] "


def _with_marks(fact: Fact, words: str) -> str:
    """Return words of a fact, on one line, followed by what is known of it."""
    text = f"~~{words}~~" if fact.struck and words else words
    short = f"{fact.importance:g}"
    values = {
        "scope": fact.scope,
        "importance": short if float(short) == fact.importance else repr(fact.importance),
        "from": fact.source,
        "edited": fact.edited,
        "since": fact.since,
        "until": fact.until,
        "now": fact.superseded_by,
    }
    if fact.importance == IMPORTANCE:
        del values["importance"]
    more = [f"{key}: {value}" for key, value in values.items() if value]
    if fact.struck and (not words or _STRIKE in words):
        more.append(_STRUCK)
    if fact.reviewed:
        more.append("reviewed")
    if more or _DETAILS.search(text):  # braces of the text must not be taken for ours
        text = f"{text} {{{', '.join(more)}}}"
    return f"{text} ^{fact.id}".lstrip()


def fact_of(item: str) -> Fact | None:
    """Return the fact that an item of a list states, with an empty id if it has none."""
    line = LINE.fullmatch(item)
    if line is not None:  # as we write it, like most lines of a long note
        day, category, words, name = line.groups()
        if words == " ".join(words.split()) and (not day or _day_in(day)):
            return _fact(words, day or "", category, name)
    return _fact_by_hand(item)


def _fact_by_hand(item: str) -> Fact | None:
    """Return the fact that an item states in any form.

    What we write at the end of a fact may also be at the end of its first line, if lines were added. If it is
    in both places, the first line counts.
    """
    first, _, others = item.partition("\n")
    _, rest = _behind_marker(first)
    below = " ".join(others.split())
    if below:
        name = _NAME.search(rest)
        rest, below = (rest, _without_end(below, name[1])) if name else (f"{rest} {below}".lstrip(), "")
    parts = _parts_of(rest)
    name = _NAME.search(parts.rest)
    words = parts.rest[: name.start()] if name else parts.rest
    return _fact(words, parts.day, parts.category, name[1] if name else "", below, is_struck=parts.is_struck)


class _Parts(NamedTuple):
    """What an item says behind its marker: what is before the words, and the rest."""

    lead: str
    day: str
    category: str
    rest: str
    is_struck: bool


def _parts_of(text: str) -> _Parts:
    rest, is_struck = _without_strike(text)
    lead = day = ""
    category = "other"
    mark = _DAY.match(rest)
    if mark and _day_in(mark[1]):  # 2026-13-40 is text
        lead, day = mark[0], mark[1]
        rest, is_struck = _without_strike(rest[mark.end() :], is_struck)
    mark = _CATEGORY.match(rest)
    if mark:
        lead, category = lead + mark[0], mark[1]
        rest, is_struck = _without_strike(rest[mark.end() :], is_struck)
    return _Parts(lead, day, category, rest, is_struck)


def _fact(
    words: str, day: str, category: str, name: str, below: str = "", *, is_struck: bool = False
) -> Fact | None:
    """Return the fact that some words and the braces behind them state; nothing without words."""
    more = _DETAILS.search(words) if words.endswith("}") else None
    known = _details_in(more[1]) if more else None
    if more is not None and known is not None:
        words = words[: more.start()]
    known = known or {}
    words, is_struck = _without_strike(words, is_struck, whatever_is_inside=_STRUCK in known)
    is_struck = is_struck or (_STRUCK in known and not words)  # there is nothing that could be struck through
    words = f"{words} {below}".strip() if below else words
    if not words:
        return None
    importance = _importance_in(known["importance"]) if "importance" in known else None
    return Fact(
        name,
        words,
        cast("Category", category),
        IMPORTANCE if importance is None else importance,
        _day_in(day),
        known.get("from", ""),
        _day_in(known.get("since", "")),
        _day_in(known.get("until", "")),
        known.get("now", ""),
        "reviewed" in known,
        is_struck,
        known.get("scope", ""),
        _day_in(known.get("edited", "")),
    )


def _behind_marker(line: str) -> tuple[str, str]:
    """Return the marker of an item with the blank behind it, and the words of its line."""
    marker = _MARKER.match(line)
    end = marker.end() if marker else 0
    lead = line[:end]
    return lead if not lead or lead[-1] in " \t" else f"{lead} ", " ".join(line[end:].split())


def _without_strike(text: str, was: bool = False, *, whatever_is_inside: bool = False) -> tuple[str, bool]:
    """Return a text without the marks that strike all of it through, and whether it is or was struck."""
    # A text in which several parts are struck through begins and ends with these marks as well.
    struck = _STRUCK_THROUGH.fullmatch(text) if text.startswith(_STRIKE) else None
    if struck and (whatever_is_inside or _STRIKE not in struck[1]):
        return struck[1].strip(), True
    return text, was


def _without_end(text: str, name: str = "") -> str:
    """Return a text without the name at its end (a given one, or any) and the braces before it."""
    mark = _NAME.search(text)
    if mark is None or name not in ("", mark[1]):
        return text
    rest = text[: mark.start()]
    more = _DETAILS.search(rest)
    return rest[: more.start()] if more and _details_in(more[1]) is not None else rest


def _details_in(inside: str) -> dict[str, str] | None:
    """Return the details that are written in braces, or nothing if the braces are not ours."""
    known: dict[str, str] = {}
    for part in inside.split(",") if inside.strip() else ():
        key, _, value = part.partition(":")
        name, word = key.strip(), value.strip()
        if name not in _MEANT or not _MEANT[name](word):
            return None
        known[name] = word
    return known


def _importance_in(written: str) -> float | None:
    """Return the importance in a word, from 0 to 1; nothing if it is not a number."""
    try:
        value = float(written)
    except ValueError:
        return None
    return min(1.0, max(0.0, value)) if value == value else None


@lru_cache(maxsize=4_096)  # most facts of a note share their day with others
def _day_in(written: str) -> date | None:
    """Return the day in a word, if it is one."""
    try:
        return date.fromisoformat(written) if written else None
    except ValueError:
        return None


_MEANT: Mapping[str, Callable[[str], object]] = {
    "scope": SCOPE.fullmatch,
    "importance": lambda word: _importance_in(word) is not None,
    "from": lambda word: word,
    "edited": _day_in,
    "since": _day_in,
    "until": _day_in,
    "now": ID.fullmatch,
    "reviewed": lambda word: not word,
    _STRUCK: lambda word: not word,
}
"""What may be in the braces behind a fact, and when it is valid; anything else there is text."""
