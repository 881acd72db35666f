"""What a statement fills in: of whom or what which thing is said, for things there is one of at a time."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache, lru_cache

from memlines.memory.facts.lexicon import is_anything, is_known, is_nation, is_place
from memlines.memory.facts.statements import VERBS, Item, Statement
from memlines.records import dataclass

_SOME = rf"[^{VERBS}&p]+"
_DEFINITE = rf"[^{VERBS}&px]*"
_PLACE = r"[N#]+"
_MORE = r"(?:[flntra@D].*)?"
_THING = r"[Nw#]+"
_MOVED = rf"(?:[rg](?P<old>{_THING})0?)?[tfl@](?P<v>{_THING})0?"
_MOVED_THING = rf"(?P<s>[^{VERBS}&prgtfl@]+)"

_GRAMMAR = {
    "live": (
        rf"(?P<s>{_SOME})?L[lnt@](?P<v>{_PLACE})(?:I(?P<old>{_PLACE})|{_MORE})",
        rf"(?P<s>{_SOME}?)[bh]*M(?:[rg](?P<old>{_PLACE}))?[tfl@](?P<v>{_PLACE}){_MORE}",
        rf"(?P<s>[iuN])[bh]*(?:[rg](?P<old>{_PLACE}))?[tfl@](?P<v>{_PLACE})M",
        rf"(?P<s>[iu])[ln](?P<v>{_PLACE})L",
    ),
    "place": (rf"(?P<s>{_DEFINITE})[bL]l(?P<v>N+|#)",),
    "employer": (
        rf"(?P<s>{_SOME})?W(?P<shade>[nf])(?P<v>{_PLACE}){_MORE}",
        rf"(?P<s>{_SOME})?J(?P<v>{_PLACE}){_MORE}",
        rf"(?P<s>[iu])(?P<shade>[nf])(?P<v>{_PLACE})W",
        rf"(?P<s>{_SOME}?)[bh]*n(?P<v>{_PLACE})J",
    ),
    "title": (rf"(?P<s>{_SOME})?W(?:[nf]{_PLACE})?ax?(?P<v>[Nw#]+)",),
    "role": (
        rf"(?P<v>[wR]?N+)b(?P<s>{_DEFINITE}R{_DEFINITE})",
        rf"(?P<s>{_DEFINITE}R{_DEFINITE})b(?P<v>[wR]?N+)",
        rf"(?P<v>N+)(?P<s>V{_SOME})",
    ),
    "is": (
        rf"(?P<s>{_SOME})b@?(?P<v>{_SOME})",
        rf"(?P<s>{_SOME})[BUbL][@l]?(?P<k>S)(?P<v>[0#])",
        rf"(?P<v>[N#]+)b(?P<s>[mo]{_DEFINITE}S{_DEFINITE})",
    ),
    "version": (rf"(?P<s>{_SOME})?(?:U|B|b@)(?P<k>[Nw#]{{1,2}})(?P<v>0)",),
    "when": (
        rf"(?P<s>{_SOME})(?:b|(?P<k>d))(?P<v>{_SOME})",
        rf"(?P<s>{_SOME})b?M(?:[rg](?P<old>[D0]+))?[tf@](?P<v>{_SOME})",
        rf"(?P<s>{_SOME})b?[tf@](?P<v>{_SOME})M",
        rf"[iu][bh]*M{_MOVED_THING}(?:[rg](?P<old>[D0]+))?[tf@](?P<v>[D0@lntgf]+)",
        rf"[iu][bh]*{_MOVED_THING}(?:[rg](?P<old>[D0]+))?[tf@](?P<v>[D0@lntgf]+)M",
        rf"[iu][bh]*{_MOVED_THING}M(?:[rg](?P<old>[D0]+))?[tf@](?P<v>[D0@lntgf]+)",
    ),
    "name": (
        rf"(?P<s>{_SOME})b?C(?P<v>[Nw#]+)",
        rf"(?P<s>{_SOME})b?E[tfl]?(?P<v>[Nw#]+)",
    ),
    "use": (
        rf"(?P<s>{_SOME}?)?U(?P<v>[Nw#]+)(?:I(?P<old>[Nw#]+))?[fa](?P<k>{_SOME})",
        rf"f(?P<k>{_SOME})(?P<s>[iu])U(?P<v>[Nw#]+)",
        rf"(?P<s>[iu])f(?P<k>{_SOME})(?P<v>[N#]+)U",
    ),
    "uses": (
        rf"(?P<s>{_SOME})?U(?P<v>{_THING})0?(?:I(?P<old>{_THING}))?",
        rf"(?P<s>{_SOME})[bh]*M{_MOVED}",
        rf"(?P<s>{_SOME})[bh]*{_MOVED}M",
        rf"(?P<s>{_SOME})(?P<shade>B)(?P<v>{_THING})0?",
        rf"[iu][bh]*M{_MOVED_THING}{_MOVED}",
        rf"[iu][bh]*{_MOVED_THING}{_MOVED}M",
        rf"[iu][bh]*{_MOVED_THING}M{_MOVED}",
        rf"{_MOVED_THING}[iu]b?M{_MOVED}",
        rf"[iu][bh]*M{_MOVED}f(?P<s>{_SOME})",
        rf"(?P<s>[iu])[bh]*T(?P<old>{_THING})[@ny](?P<v>{_THING})",
        rf"(?P<s>[iu])[bh]*(?P<old>{_THING})[@ny](?P<v>{_THING})T",
        rf"(?P<s>[iu])[bh]*(?P<old>{_THING})T[@ny](?P<v>{_THING})",
        rf"(?P<old>{_THING})(?P<s>[iu])b?T[@ny](?P<v>{_THING})",
        rf"[iu][bh]*T(?P<old>{_THING})[@ny](?P<v>{_THING})f(?P<s>{_SOME})",
    ),
    "needs": (
        rf"(?P<k>[Nw#]{{1,2}})(?P<v>[0#])b?G(?:f(?P<s>{_SOME}))?",
        rf"(?P<s>{_SOME})?b?G(?P<k>[Nw#]{{1,2}})(?P<v>[0#])",
        rf"(?P<s>{_SOME})h?(?P<k>[Nw#]{{1,2}})(?P<v>[0#])G",
    ),
    "prefer": (
        rf"(?P<s>{_SOME})?P(?P<v>[Nw#]+)(?:[OtI](?P<old>[Nw#]+)(?:[lfn@](?P<k>{_SOME}))?)?",
        rf"(?P<s>{_SOME})?K(?P<v>[Nw#]+)O(?P<old>[Nw#]+)",
        rf"(?P<s>{_SOME})?K(?P<v>[Nw#]+)P[Oa](?P<old>[Nw#]+)",
    ),
    "left": (
        rf"(?P<s>{_SOME})h?Q(?P<v>{_PLACE}){_MORE}",
        rf"(?P<s>[iuN])h?(?P<v>{_PLACE})Q",
    ),
    "mine": (rf"(?P<s>m{_SOME})b(?P<shade>x?)(?P<v>N[N#0]*)",),
    "day": (rf"(?P<s>{_SOME}?)?(?P<k>Y)[@lnfx]*(?P<v>D+)",),
}

_SILENT = frozenset("g\u2032flnt@ax")
"""Tags that only join the words of a name for something: what is meant is the same in another order."""

_CLOCK = re.compile(r"\d{1,2}(?:[:.h]\d\d|h|am|pm)?")

_SINGULAR = frozenset({"is", "ist", "est", "está", "je"})
"""Words for "is"; "are" may be said of several things at several places."""

_NOT_TOLD_APART = {"place": frozenset({"us"}), "needs": frozenset({"us", "me"})}
"""Whose a thing is where that says nothing: "our" database is "the" database."""

_ASSETS = frozenset({"S:phone", "S:mail", "S:address", "S:birthday", "S:name", "S:title", "S:employer"})
"""What a person has, so that "our" is not "the"."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A thing said of a person or a thing."""

    kind: str
    about: frozenset[str]
    value: tuple[Item, ...]
    dropped: tuple[Item, ...] = ()
    """What it was before, if the statement says so; what is liked less, for a preference."""
    shade: str = ""
    one_of_many: bool = False
    """Whether it is about a person of a kind that may have several, such as a son."""


@lru_cache(maxsize=4_096)
def frames_of(statement: Statement) -> tuple[Frame, ...]:
    """Return what a statement fills in; nothing if it denies it or leaves it open."""
    if statement.negative or statement.doubtful:
        return ()
    frames: list[Frame] = []
    for kind, rule in _grammar():
        found = rule.fullmatch(statement.tags)
        if found is None:
            continue
        parts = {
            name: statement.items[slice(*found.span(name))] if found[name] else ()
            for name in found.groupdict()
        }
        about = about_of(parts["s"])
        if kind == "live":  # of people, who also move, but not as users of something
            moves = [item.what for item in statement.items if item.tag == "M" or item.what == "L:host"]
            if moves and not (moves == ["M:move"] and is_place(parts["v"][0].word.casefold())):
                continue
        if kind == "place" and not _is_whereabouts(statement, parts["s"], parts["v"]):
            continue
        frame = Frame(
            kind,
            about or frozenset({"me"}),
            parts["v"],
            parts.get("old", ()),
            "".join(item.tag for item in parts.get("shade", ())),
            any(item.tag == "k" for item in parts["s"]),
        )
        frames += _typed(frame, parts.get("k", ()))
    return tuple(frames)


@cache
def _grammar() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((kind, re.compile(rule)) for kind, rules in _GRAMMAR.items() for rule in rules)


def _is_whereabouts(statement: Statement, subject: Sequence[Item], place: Sequence[Item]) -> bool:
    """Return whether something is at one place: not "we are in …", "they are in …", "it runs in Docker"."""
    if not subject or any(item.tag in "iuk0" for item in subject):
        return False
    if any(item.what == "L" for item in statement.items):  # who lives in a town may be in another one
        return False
    if any(item.tag == "b" and item.word.casefold() not in _SINGULAR for item in statement.items):
        return False
    if place[0].tag == "#":
        return "-" in place[0].word
    name = place[0].word.casefold()
    return all(item.word.istitle() for item in place) and is_place(name) and not is_nation(name)


def about_of(items: Sequence[Item]) -> frozenset[str]:
    """Return who or what some words are about, whatever their order."""
    return frozenset(item.what for item in items if item.tag not in _SILENT)


def _typed(frame: Frame, key: tuple[Item, ...]) -> Iterator[Frame]:
    """Give a frame the kind of what it is about, if its value is one that the kind can have."""
    if frame.kind == "is":
        yield from _filled(frame, key)
    elif frame.kind == "when":
        says_when = any(
            item.tag == "D" or (item.tag == "0" and _CLOCK.fullmatch(item.word.rstrip(".,")))
            for item in frame.value
        )
        if says_when and all(item.tag in "D0@lntgf" for item in frame.value):
            yield replace(frame, about=frame.about - {"us"} | about_of(key))
    elif frame.kind in ("version", "day", "place", "needs"):
        yield replace(frame, about=frame.about - _NOT_TOLD_APART.get(frame.kind, frozenset()) | about_of(key))
    elif frame.kind == "role":
        if len(frame.about) > 1:  # whose lead it is
            yield replace(frame, about=frame.about - {"us"})
    elif frame.kind == "use":
        purposes = about_of(key)
        yield replace(frame, about=frame.about | {f"for {what}" for what in purposes})
        if frame.about == {"us"} and not any(map(is_anything, purposes)):
            yield replace(frame, kind="uses", about=purposes, shade="B")
    elif frame.kind == "prefer":
        yield replace(frame, about=frame.about | {f"for {what}" for what in about_of(key)})
    else:
        yield frame


def _filled(frame: Frame, key: tuple[Item, ...]) -> Iterator[Frame]:
    about = frame.about | about_of(key)
    slots = [what for what in about if what.startswith("S:") and not what.startswith("S:event ")]
    if "F" in about and frame.value:
        yield replace(frame, kind="favourite", about=about)
    if len(slots) != 1:
        return
    slot = slots[0]
    value = _value(slot, frame.value)
    if value:
        thing = about - {slot} if slot in _ASSETS else about - {slot, "us"}
        yield replace(frame, kind=slot.removeprefix("S:"), about=thing or frozenset({"me"}), value=value)


def _value(slot: str, items: tuple[Item, ...]) -> tuple[Item, ...]:
    """Return the part of a value that fits a slot: a phone that is broken is no number."""
    slot = slot.partition(" ")[0]
    if slot == "S:phone":
        digits = "".join(character for item in items for character in item.word if character.isdigit())
        return (Item("0", digits, digits),) if len(digits) >= 5 else ()
    if slot == "S:mail" or slot == "S:workmail":
        return tuple(item for item in items if "@" in item.word)[:1]
    if slot in ("S:port", "S:version", "S:budget", "S:price", "S:limit", "S:age", "S:size", "S:password"):
        return tuple(item for item in items if item.tag in "0#" and any(c.isdigit() for c in item.word))
    if slot == "S:birthday":
        return items if any(item.tag in "D0" for item in items) else ()
    if slot in ("S:name", "S:employer", "S:address", "S:database", "S:editor", "S:zone", "S:url"):
        return items if items[0].tag in "N#0" or is_known(items[0].word.casefold()) else ()
    return items if len(items) <= (4 if slot == "S:title" else 1) else ()
