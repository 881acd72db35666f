"""Find the fact that a newer one makes untrue.

Both are read as statements, and only what cannot be true at the same time counts: another value of a thing
there is one of at a time ("I live in …"), an end ("no longer", "switched from … to …", "cancelled"), the
same said with and without "not" ("never push", "pushing is fine"), and the same sentence with the opposite
word or another number. What is not understood contradicts nothing, and neither does what adds detail, speaks
of someone else, of the past or of a wish.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import combinations

from memlines.memory.facts.frames import Frame, about_of, frames_of
from memlines.memory.facts.lexicon import (
    are_opposites,
    is_anything,
    is_country,
    is_known,
    is_nation,
    same_kind,
)
from memlines.memory.facts.statements import VERBS, Item, Statement, read_together
from memlines.text.facts import Category, FactLine

_ENDING = 2
"""Letters at the end of a name that may be its case, as in "Praha" and "Praze"."""

_LEFT_BEHIND = frozenset({"live", "employer", "use", "uses", "name"})
_OURS_LEFT_BEHIND = frozenset({"database", "editor", "branch", "url"})
"""What one can go on from to another one; with the latter, "the" and "our" are the same."""

_BEFORE_NUMBERS = frozenset("bhd@BSt")
"""Tags after which another number is another value: "every 30 days"."""

_DETAIL = frozenset("fltnra@D")
"""Tags that details begin with: "I work at Acme as …"."""

_PERMISSION = re.compile("(?=.*A)A?(?P<done>[^bh&pA]+)(?:bA(?P<where>[^bh&pA]*))?")


def find_contradicted(
    text: str, category: Category, near: Sequence[tuple[FactLine, float | None]]
) -> FactLine | None:
    """Return the one current fact that a newer one replaces, among those near to it with their similarity.

    If several would be replaced, it is the nearest one; nothing if they contradict each other, because then
    there is more than one of the thing, or if two are as near.
    """
    found = []
    for line, nearness in near:
        if not line.fact.is_current or line.fact.text.split() == text.split():
            continue
        new, old = read_together(text, line.fact.text)
        if len(old) != 1:
            continue  # a line that says more than one thing is not struck because of one of them
        is_alike = category == line.fact.category or "other" in (category, line.fact.category)
        if any(_replaces(one, old[0]) or (is_alike and _turns(one, old[0])) for one in new):
            found.append((line, nearness))
    if len(found) < 2:
        return found[0][0] if found else None
    for (one, _), (other, _) in combinations(found, 2):
        ours, theirs = read_together(one.fact.text, other.fact.text)
        if any(_replaces(a, b) or _replaces(b, a) for a in ours for b in theirs):
            return None
    best = max(-1.0 if nearness is None else nearness for _, nearness in found)
    nearest = [line for line, nearness in found if nearness == best]
    return nearest[0] if len(nearest) == 1 else None


def _replaces(new: Statement, old: Statement) -> bool:
    if _is_open(new, old) or (
        _is_denial(new) == _is_denial(old) and _words(_said(new)) == _words(_said(old))
    ):
        return False
    if _denies(new, old) or _cancels(new, old):
        return True
    known = frames_of(old)
    return any(
        _has_other_value(one, other, new.change) or _leaves(one, other, new)
        for one in frames_of(new)
        for other in known
    )


def _is_open(new: Statement, old: Statement) -> bool:
    """Return whether one of them may be true beside the other in any case."""
    return new.also or old.also or new.doubtful or old.doubtful


# The same statement, said and denied.


def _said(statement: Statement) -> tuple[Item, ...]:
    """Return what a statement says, without who says it of themselves and whether it is so."""
    items = _permitted(statement) or statement.items
    said = [item for item in items if item.tag not in "xg\u2032"]
    return tuple(said[1:] if said and said[0].tag == "i" else said)


def _permitted(statement: Statement) -> tuple[Item, ...]:
    """Return what a statement says may be done: "Pushing to main is fine", "You can push to main"."""
    found = _PERMISSION.fullmatch(statement.tags)
    if found is None:
        return ()
    where = statement.items[slice(*found.span("where"))] if found["where"] else ()
    return statement.items[slice(*found.span("done"))] + where


def _words(items: Sequence[Item]) -> list[str]:
    return ["K" if item.tag in "KH" else item.what for item in items]


def _is_denial(statement: Statement) -> bool:
    return statement.negative != ("H" in statement.tags)


def _denies(new: Statement, old: Statement) -> bool:
    if _is_denial(new) == _is_denial(old):
        return False
    ours, theirs = _said(new), _said(old)
    said, known = _words(ours), _words(theirs)
    if _permitted(new) or _permitted(old):
        return _is_rule(new, old) and sorted(said) == sorted(known)
    if not said or any(item.tag in "p&" for item in (*ours, *theirs)):
        return False
    is_turned = len(said) == 2 or (len(said) == 3 and "U" in new.tags)  # "Kafka is no longer used"
    if said == known or (new.change and is_turned and sorted(said) == sorted(known)):
        return True
    adds = _is_denial(new) and 1 < len(said) < len(known) and known[: len(said)] == said
    return adds and theirs[len(said)].tag in _DETAIL | (set("w0") if new.change else set())


def _is_rule(new: Statement, old: Statement) -> bool:
    """Return whether what may be done is said or denied by both, or an order by one: "Never push"."""
    if _permitted(new) and _permitted(old):
        return True
    return len(_said(new)) > 1 and not {new.tags[:1], old.tags[:1]} & {"i", "u"}


# The same sentence with another number, or with the opposite word.


def _turns(new: Statement, old: Statement) -> bool:
    if _is_open(new, old) or _is_denial(new) != _is_denial(old):
        return False
    ours, theirs = _said(new), _said(old)
    if len(ours) != len(theirs) or any(item.tag in "pk" for item in ours):
        return False
    other = [at for at in range(len(ours)) if ours[at].what != theirs[at].what]
    if len(other) != 1:
        return False
    at = other[0]
    verb = next((place for place, item in enumerate(ours) if item.tag in VERBS), -1)
    if are_opposites(ours[at].word.casefold(), theirs[at].word.casefold()):
        return at > verb
    if not ours[at].tag == theirs[at].tag == "0" or at == 0 or (ours[at - 1].tag == "S" and at < verb):
        return False  # of "Port 3000 is open" there may be several
    # "are kept for 30 days", and not "are paid for 2026"
    says_how_long = ours[at - 1].tag == "f" and 0 <= verb < at - 1 and at + 1 < len(ours)
    if ours[at - 1].tag in _BEFORE_NUMBERS or (says_how_long and ours[at + 1].tag in "wN"):
        return True
    return all(item.word.count(".") == 3 for item in (ours[at], theirs[at])) and ours[at - 1].tag in "nl"


# Another value of the same thing.


def _has_other_value(new: Frame, old: Frame, change: bool) -> bool:
    kind = new.kind
    if kind != old.kind:
        return False
    if kind == "uses":  # "our CI" is "the CI"
        things = new.about - {"us"}
        if things != old.about - {"us"} or not (things or new.about == old.about):
            return False
    elif new.about != old.about:
        return False
    # One may work for somebody while working at another's.
    is_same_shade = new.shade == old.shade or (kind == "employer" and not (new.shade and old.shade))
    if (new.one_of_many or not is_same_shade) and not change:
        return False
    if kind == "prefer":
        turned = bool(old.dropped) and _alike(new.value, old.dropped)
        turned = turned or (bool(new.dropped) and _alike(new.dropped, old.value))
        return turned and _differs(new.value, old.value)
    if kind == "when":
        is_event = any(what.startswith(("S:event ", "d:", "Y")) for what in new.about)
        return (is_event or change) and _is_other_time(new.value, old.value, change)
    if kind == "mine" and not (change and new.shade == old.shade):
        return False
    if kind == "uses":
        of_one_thing = new.shade == old.shade == "B"
        return (change or new.shade == "B") and same_kind(
            _name(new.value), _name(old.value), of_one_thing=of_one_thing
        )
    if kind == "use":
        return _is_used_instead(new, old)
    if kind in ("role", "mine") and any(is_nation(_name(frame.value)) for frame in (new, old)):
        return False
    if kind in ("live", "place") and is_country(_name(new.value)) != is_country(_name(old.value)):
        return False
    return kind != "left" and _differs(new.value, old.value)


def _is_used_instead(new: Frame, old: Frame) -> bool:
    """Return whether one thing is used for something instead of another, rather than both for parts of it."""
    ours, theirs = _name(new.value), _name(old.value)
    purposes = [what.removeprefix("for ") for what in new.about if what.startswith("for ")]
    if (is_known(ours) and is_known(theirs)) or any(map(is_anything, purposes)):
        return same_kind(ours, theirs)
    return _differs(new.value, old.value)


def _is_other_time(new: tuple[Item, ...], old: tuple[Item, ...], change: bool) -> bool:
    ours, theirs = ([item for item in items if item.tag == "D"] for items in (new, old))
    if bool(ours) != bool(theirs):
        return False
    if not ours:
        return _differs(_numbers(new), _numbers(old))
    same_form = change or _form(ours[0]) == _form(theirs[0])
    return same_form and _differs([*ours, *_numbers(new)], [*theirs, *_numbers(old)])


def _form(day: Item) -> str:
    """Return how a day is written: Friday may be the 5th of May, and that may be 2026-05-05."""
    if not day.what.startswith("D:"):
        return "number"
    return "weekday" if day.what[2:].isdigit() else "month"


def _numbers(items: Sequence[Item]) -> tuple[Item, ...]:
    return tuple(item for item in items if item.tag == "0")


# What is left behind.


def _leaves(new: Frame, old: Frame, said: Statement) -> bool:
    """Return whether a statement says that what another one holds is over: "from … to …", "instead of …"."""
    if new.kind == "left":
        return old.kind == "employer" and new.about == old.about and _alike(new.value, old.value)
    if new.kind == "prefer" or not new.dropped or not _alike(new.dropped, old.value):
        # What is called something may be called otherwise now.
        is_renamed = new.kind == old.kind == "name" and "E" in said.tags
        return is_renamed and {item.what for item in old.value} == new.about
    if old.kind in _OURS_LEFT_BEHIND:
        return new.about == {"us"} and old.about == {"me"}  # of no one else
    return old.kind in _LEFT_BEHIND and new.about <= old.about


def _cancels(new: Statement, old: Statement) -> bool:
    at = new.tags.find("X")
    if at < 1 or new.negative or (new.tags[at + 1 :] and new.tags[at + 1] not in _DETAIL):
        return False
    gone = about_of([item for item in new.items[:at] if item.tag != "b"]) - {"us"}
    return bool(gone - {"me"}) and any(
        frame.kind == "when" and frame.about == gone for frame in frames_of(old)
    )


# Values.


def _name(items: Sequence[Item]) -> str:
    return "-".join(item.word.casefold() for item in items)


def _differs(new: Sequence[Item], old: Sequence[Item]) -> bool:
    """Return whether two values are different, and neither says only more than the other."""
    return not (_within(new, old) or _within(old, new))


def _alike(one: Sequence[Item], other: Sequence[Item]) -> bool:
    return bool(one) and _within(one, other) and _within(other, one)


def _within(one: Sequence[Item], other: Sequence[Item]) -> bool:
    return all(any(_same(a, b) for b in other) for a in one)


def _same(one: Item, other: Item) -> bool:
    if one.what == other.what:
        return True
    if one.tag not in "Nw" or other.tag not in "Nw":
        return False
    least = min(len(one.what), len(other.what))
    shared = next((at for at in range(least) if one.what[at] != other.what[at]), least)
    return shared >= 3 and shared >= max(len(one.what), len(other.what)) - _ENDING
