"""Facts as they stand in their note: one list item each, which a person can read, edit and delete.

    - 2026-11-16 [preference] Prefers tabs over spaces. ^k3f5x2m7qa
    - 2026-11-16 [decision] Billing runs on Postgres. {importance: 0.9, from: capture codex 01ab} ^m2p6t7u4wc
    - 2026-03-01 [fact] ~~Works at Acme.~~ {until: 2026-11-16, now: m2p6t7u4wc} ^b7c5d2e6fg

Nothing but the text is needed. An item without a name gets one from its text; one whose text is struck
through is no longer true. What stands in braces is written where it is not what goes without saying.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, Literal, NamedTuple, get_args

from memlines.errors import UsageError
from memlines.paths import is_unicode
from memlines.text.comments import without_comments
from memlines.text.entries import entries_of
from memlines.text.fact_marks import (
    DETAILS,
    ID,
    ID_LENGTH,
    NAME,
    STRIKE,
    STRUCK,
    behind_marker,
    day_in,
    details_in,
    holds_prose,
    id_of,
    importance_in,
    number_of,
    unstruck,
    without_end,
)

Category = Literal["preference", "fact", "decision", "entity", "other"]
CATEGORIES: tuple[Category, ...] = get_args(Category)

IMPORTANCE = 0.7
"""How much a fact counts if nobody said."""

LONGEST = 1_000
"""Characters of a fact; what is longer is a note."""

_LONGEST_SOURCE = 200
_ALPHABET = "abcdefghijklmnopqrstuvwxyz234567"

_DAY = re.compile(r"(\d{4}-\d{2}-\d{2}):?[ \t]+")
_CATEGORY = re.compile(rf"\[({'|'.join(CATEGORIES)})\](?:[ \t]+|$)")

_OURS = re.compile(rf"- (?:[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}} )?\[(?:{'|'.join(CATEGORIES)})\] ")
"""How every line begins that `line_of` wrote."""

_LINE = re.compile(
    rf"- (?:([0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}) )?\[({'|'.join(CATEGORIES)})\] (\S.*) \^({ID.pattern})"
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


@dataclass(frozen=True, slots=True)
class FirstLine:
    """A line that tells a fact, and how many lines of its item it takes the place of."""

    line: str
    replaces: int
    fact: Fact


def plain(text: str) -> str:
    """Return a text on one line as a fact can hold it, or refuse it."""
    words = " ".join(text.split())
    words, _ = unstruck(words)
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
        name = "".join(secrets.choice(_ALPHABET) for _ in range(ID_LENGTH))
        if name not in taken:
            return name


def is_id(text: str) -> bool:
    """Tell whether a text can be the name of a fact."""
    return ID.fullmatch(text) is not None


def is_our_line(line: str) -> bool:
    """Tell whether a line is a fact as we write it, with its id."""
    return _LINE.fullmatch(line) is not None


def line_of(fact: Fact) -> str:
    """Return a fact as the line it stands on."""
    return f"- {_lead_of(fact)}{_marked(fact, fact.text)}"


def rewritten(old: FactLine, new: Fact) -> Iterator[FirstLine]:
    """Yield how the first line of an item may tell another fact, the one that changes it least first.

    What stands below it stays. Other words take the place of those on that line, if it holds all of them.
    """
    first, *others = without_comments(old.raw.split("\n"))
    marker, rest = behind_marker(first)
    below = " ".join(" ".join(others).split())
    whole = f"{rest} {below}".strip()
    count = 1
    is_shown = [first, *others] == old.raw.split("\n")
    if below and is_shown and not NAME.search(rest) and len(without_end(whole)) <= len(rest):
        rest, below, count = whole, "", 1 + len(others)  # only what we write went on below
    name = NAME.search(rest)
    parts = _parts_of(rest)
    alone = None if below and not name else _fact_by_hand(f"{marker}{rest}")
    words = alone.text if alone else "" if name else parts.rest
    fact = replace(new, id=old.fact.id, text=old.fact.text, source=source_of(new.source))
    if new.text != old.fact.text:
        if below and holds_prose("\n".join(others)):
            raise UsageError(
                f"the words of the fact {old.fact.id} stand on several lines",
                todo="Edit them in the note by hand",
            )
        below = without_end(below, name[1]) if name else below
        words = plain(new.text.removesuffix(f" {below}")) if below else plain(new.text)
        fact = replace(fact, text=f"{words} {below}".strip())
    if (fact.created, fact.category) == (old.fact.created, old.fact.category):
        yield FirstLine(f"{marker}{parts.lead}{_marked(fact, words)}", count, fact)
    yield FirstLine(f"{marker}{_lead_of(fact)}{_marked(fact, words)}", count, fact)


def _lead_of(fact: Fact) -> str:
    day = f"{fact.created.isoformat()} " if fact.created else ""
    return f"{day}[{fact.category}] "


def _marked(fact: Fact, words: str) -> str:
    """Return words of a fact that stand on one line, with what is known of it behind them."""
    text = f"~~{words}~~" if fact.struck and words else words
    more = _more_of(fact, tells_struck=not words or STRIKE in words)
    if more or DETAILS.search(text):  # braces of the text must not be taken for ours
        text = f"{text} {{{more}}}"
    return f"{text} ^{fact.id}".lstrip()


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
        name = id_of(f"{text}\n{count}" if count else text)
        if name not in taken:
            return name


def _lines_of(text: str) -> Iterator[FactLine]:
    """Yield the facts of a note; those without a name of their own with an empty one.

    A line as we write it is an item of its own, unless it stands in code. Of many in a row, Markdown is
    asked about the last one only, which may go on in the lines below it; the others are what that one is.
    """
    every = text.removeprefix(_BYTE_ORDER_MARK).split("\n")
    lines = without_comments(every)
    ours = [*(_OURS.match(line) is not None for line in lines), False]
    shown = [at for at in range(len(lines)) if not (ours[at] and ours[at + 1])]
    for entry in entries_of(_BYTE_ORDER_MARK + "\n".join([lines[at] for at in shown])):
        if entry.kind != "item":
            continue
        first, last = shown[entry.first - 1], shown[entry.last - 1]
        if ours[first]:
            row = shown[entry.first - 2] + 1 if entry.first > 1 else 0
            for at in range(row, first):
                yield from _facts_at(every, lines, at, at)
        yield from _facts_at(every, lines, first, last)


def _facts_at(every: list[str], lines: list[str], first: int, last: int) -> Iterator[FactLine]:
    """Yield the fact that stands on some lines, counted from 0, if there are any words on them."""
    raw = item = _joined(every[first : last + 1])
    if first < last:  # there may be a comment below
        item = _joined(lines[first : last + 1])
    fact = _fact_of(item)
    if fact is not None:
        yield FactLine(fact, first + 1, last + 1, raw)


def _joined(lines: list[str]) -> str:
    return "\n".join([line.removesuffix("\r") for line in lines])


def _fact_of(item: str) -> Fact | None:
    """Return the fact that an item of a list holds, without a name if it bears none."""
    line = _LINE.fullmatch(item)
    if line is not None:  # as we write it, which needs no further look and is most of a long note
        day, category, words, name = line.groups()
        if words == " ".join(words.split()) and (not day or day_in(day)):
            return _fact(words, day or "", category, name)
    return _fact_by_hand(item)


def _fact_by_hand(item: str) -> Fact | None:
    """Return the fact that an item holds in any form.

    What we write at the end of a fact may also stand at the end of its first line, if lines were added. If
    it stands in both places, what the first line says counts.
    """
    first, _, others = item.partition("\n")
    _, rest = behind_marker(first)
    below = " ".join(others.split())
    if below:
        name = NAME.search(rest)
        rest, below = (rest, without_end(below, name[1])) if name else (f"{rest} {below}".lstrip(), "")
    parts = _parts_of(rest)
    name = NAME.search(parts.rest)
    words = parts.rest[: name.start()] if name else parts.rest
    return _fact(words, parts.day, parts.category, name[1] if name else "", below, is_struck=parts.is_struck)


class _Parts(NamedTuple):
    """What an item says behind its marker: what stands before the words, and the rest."""

    lead: str
    day: str
    category: str
    rest: str
    is_struck: bool


def _parts_of(text: str) -> _Parts:
    rest, is_struck = unstruck(text)
    lead = day = ""
    category = "other"
    mark = _DAY.match(rest)
    if mark and day_in(mark[1]):  # 2026-13-40 is text
        lead, day = mark[0], mark[1]
        rest, is_struck = unstruck(rest[mark.end() :], is_struck)
    mark = _CATEGORY.match(rest)
    if mark:
        lead, category = lead + mark[0], mark[1]
        rest, is_struck = unstruck(rest[mark.end() :], is_struck)
    return _Parts(lead, day, category, rest, is_struck)


def _fact(
    words: str, day: str, category: str, name: str, below: str = "", *, is_struck: bool = False
) -> Fact | None:
    """Return the fact that some words and what stands in braces behind them make; nothing without words."""
    more = DETAILS.search(words) if words.endswith("}") else None
    known = details_in(more[1]) if more else None
    if more is not None and known is not None:
        words = words[: more.start()]
    known = known or {}
    words, is_struck = unstruck(words, is_struck, whatever_is_inside=STRUCK in known)
    is_struck = is_struck or (STRUCK in known and not words)  # there is nothing that could be struck through
    words = f"{words} {below}".strip() if below else words
    if not words:
        return None
    importance = importance_in(known["importance"]) if "importance" in known else None
    return Fact(
        name,
        words,
        _BY_NAME[category],
        IMPORTANCE if importance is None else importance,
        day_in(day),
        known.get("from", ""),
        day_in(known.get("since", "")),
        day_in(known.get("until", "")),
        known.get("now", ""),
        "reviewed" in known,
        is_struck,
    )


def _more_of(fact: Fact, *, tells_struck: bool) -> str:
    values = {
        "importance": "" if fact.importance == IMPORTANCE else number_of(fact.importance),
        "from": fact.source,
        "since": _written(fact.since),
        "until": _written(fact.until),
        "now": fact.superseded_by,
    }
    parts = [f"{key}: {value}" for key, value in values.items() if value]
    if fact.struck and tells_struck:
        parts.append(STRUCK)
    return ", ".join([*parts, *(["reviewed"] if fact.reviewed else [])])


def _written(day: date | None) -> str:
    return day.isoformat() if day else ""
