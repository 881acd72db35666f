"""Parse the note of facts once for each state of it, and after a small change only the lines that changed.

A line that we wrote is a fact of its own, whatever stands around it, unless the note holds code, comments or
front matter. So if only such lines were added, changed or taken out, all other facts are those from before.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import zip_longest
from operator import attrgetter
from typing import NamedTuple

from memlines.text.facts import FactLine, facts_in, is_our_line

_SHORT = 50_000
"""Characters of a note that is parsed as a whole whenever it is needed."""

_CONTEXT = ("```", "~~~", "<!--", "\r", "\ufeff")
"""What may change the meaning of other lines."""


class _Note(NamedTuple):
    text: str
    lines: list[str]
    facts: tuple[FactLine, ...]
    names: frozenset[str]
    """The ids of the facts, if each bears its own; nothing otherwise, and then the note is no basis."""


_last = _Note("", [], (), frozenset())


def facts_of(text: str) -> tuple[FactLine, ...]:
    """Return the facts of a note, as `facts_in` does."""
    global _last
    if len(text) < _SHORT:
        return facts_in(text)
    last = _last
    if last.text != text:
        _last = last = _after_change(last, text) or _whole(text)
    return last.facts


def _whole(text: str) -> _Note:
    facts = facts_in(text)
    is_plain = not _has_context(text) and _are_named(facts)
    names = frozenset(line.fact.id for line in facts) if is_plain else frozenset[str]()
    return _Note(text, text.split("\n"), facts, names)


def _after_change(last: _Note, text: str) -> _Note | None:
    """Return a note with the facts of the lines that changed parsed anew; nothing if that cannot be told."""
    if not last.names or _has_context(text):
        return None
    lines = text.split("\n")
    head = _shared(last.lines, lines, len(lines))
    tail = _shared(last.lines[::-1], lines[::-1], min(len(lines), len(last.lines)) - head)
    gone, new = last.lines[head : len(last.lines) - tail], lines[head : len(lines) - tail]
    below = next((line for line in lines[len(lines) - tail :]), "")
    if not all(not line or is_our_line(line) for line in (*gone, *new, below)):
        return None
    if tail and not below and any(line.strip() for line in lines[len(lines) - tail :]):
        return None  # what stands below a blank line may belong to the item above it
    facts = last.facts
    first = bisect_right(facts, head, key=attrgetter("first"))
    end = bisect_right(facts, head + len(gone), key=attrgetter("first"))
    added = facts_in("\n".join(new))
    kept = last.names.difference(line.fact.id for line in facts[first:end])
    names = kept.union(line.fact.id for line in added)
    if len(names) != len(kept) + len(added) or not _are_named(added):
        return None
    moved = len(new) - len(gone)
    rest = facts[end:] if not moved else tuple(_at(line, moved) for line in facts[end:])
    return _Note(text, lines, (*facts[:first], *(_at(line, head) for line in added), *rest), names)


def _at(line: FactLine, lower: int) -> FactLine:
    return FactLine(line.fact, line.first + lower, line.last + lower, line.raw)


def _shared(one: list[str], other: list[str], most: int) -> int:
    """Return how many lines two texts begin with in common."""
    pairs = enumerate(zip_longest(one[:most], other[:most]))
    return next((at for at, (left, right) in pairs if left != right), min(most, len(one), len(other)))


def _are_named(facts: tuple[FactLine, ...]) -> bool:
    return all(line.raw.endswith(f"^{line.fact.id}") for line in facts)


def _has_context(text: str) -> bool:
    return text.startswith("---") or any(mark in text for mark in _CONTEXT)
