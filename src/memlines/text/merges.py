"""Read what a union merge of notes leaves: an entry of a log twice, and several lines of one fact.

Git's `merge=union` keeps the lines of both sides. Where one side changed a line and the other added one below
it, the merged note has the line in both forms; up to three lines between two such places are there twice.
Only what the lines say decides which one counts, so every clone comes to the same result, whatever the order
of merges and the times of its files.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import replace
from datetime import date
from typing import NamedTuple

from memlines.text.entries import Entry, conflicts_in, entries_of
from memlines.text.facts import Fact, FactLine


def describe_marks(text: str, path: str) -> list[str]:
    """Return a sentence about the first conflict whose marks a merge left in a note, if there is one."""
    return [
        f"{path} has a merge conflict on line {marks[0]}: both sides are indexed, resolve it"
        for marks in conflicts_in(text)[:1]
    ]


# Logs


def repeats_in(log: str) -> list[Entry]:
    """Return the entries of a daily log that are also further up in it, below the same heading."""
    lines = [line for line in log.split("\n") if line]
    if len({*lines}) == len(lines):
        return []
    seen: set[tuple[str, str]] = set()
    repeats = []
    for entry in entries_of(log):
        key = entry.heading, entry.text.rstrip()
        if entry.kind != "heading" and key in seen:
            repeats.append(entry)
        seen.add(key)
    return repeats


def without_repeats(log: str) -> str:
    """Return a daily log with blank lines in the place of entries that are also further up."""
    return without_lines(log, repeats_in(log))


def without_lines(text: str, places: Iterable[Entry | FactLine]) -> str:
    """Return a text with blank lines in some places, so that the others keep their numbers."""
    lines = text.split("\n")
    for place in places:
        lines[place.first - 1 : place.last] = [""] * (place.last + 1 - place.first)
    return "\n".join(lines)


# Facts


class Doubles(NamedTuple):
    """The lines of facts that have an id in common."""

    lost: tuple[FactLine, ...] = ()
    """Those that do not count, because another line of the same id does."""
    conflicts: tuple[tuple[FactLine, ...], ...] = ()
    """Those that contradict each other, by id; all of them count, and the first keeps the id."""


def resolve(lines: Iterable[FactLine]) -> Doubles:
    """Decide which of the lines with one id count.

    A line that is struck through comes before one that is not, then the newer date. Lines that say the same
    are one, and the one that was reviewed is taken. What is left is a conflict that a person has to decide.
    """
    by_id: dict[str, list[FactLine]] = {}
    for line in lines:
        by_id.setdefault(line.fact.id, []).append(line)
    lost: list[FactLine] = []
    conflicts: list[tuple[FactLine, ...]] = []
    for name, group in by_id.items():
        if name and len(group) > 1:
            newest = max(map(_precedence, group))
            claims: dict[Hashable, FactLine] = {}
            for line in sorted(group, key=_order):
                if _precedence(line) == newest:
                    claims.setdefault(_claim_of(line.fact), line)
            kept = tuple(claims.values())
            lost += [line for line in group if line not in kept]
            conflicts += [kept] if len(kept) > 1 else []
    return Doubles(tuple(lost), tuple(conflicts))


def _order(line: FactLine) -> tuple[bool, bool, str, int]:
    """Return which of two lines comes first that count as much: one with its id written, a reviewed one."""
    return f"^{line.fact.id}" not in line.raw, not line.fact.reviewed, line.raw, line.first


def _precedence(line: FactLine) -> tuple[bool, date, date]:
    """Return what decides between two lines; what was edited is newer than what was written on that day."""
    fact = line.fact
    days = (fact.created, fact.edited, fact.until if fact.struck else None)
    return fact.struck, max((day for day in days if day), default=date.min), fact.edited or date.min


def _claim_of(fact: Fact) -> Hashable:
    """Return what two lines have in common if they say the same: what replaced a fact makes no difference."""
    return fact.text if fact.struck else replace(fact, reviewed=False)
