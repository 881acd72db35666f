"""Read the note that holds facts, and cut it into chunks, one for each fact.

A long note is parsed once for each state of it, and after a small change only the lines that changed. A line
that we wrote is a fact of its own, whatever is around it, unless the note holds code, comments or front
matter. So if only such lines were added, changed or removed, all other facts are those from before.
"""

from __future__ import annotations

import hashlib
import re
from base64 import b32encode
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from datetime import date
from operator import attrgetter
from typing import NamedTuple

from memlines.text.chunk import chunk_note, chunk_text, limit_of, text_hash, weigh
from memlines.text.entries import entries_of, without_comments, without_conflict_marks
from memlines.text.facts import CATEGORIES, ID, ID_LENGTH, LINE, SCOPE, Fact, FactLine, fact_of
from memlines.text.merges import Doubles, resolve, without_lines
from memlines.text.outline import Heading, front_matter, heading_above, outline
from memlines.types import Chunk

_BYTE_ORDER_MARK = "\ufeff"

_OURS = re.compile(rf"- (?:[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}} )?\[(?:{'|'.join(CATEGORIES)})\] ")
"""How every line begins that `line_of` wrote."""

_SHORT = 50_000
"""Characters of a note that is parsed as a whole whenever it is needed."""

_CONTEXT = ("```", "~~~", "<!--", "\r", "\ufeff", ">>>>>>>")
"""What may change the meaning of other lines."""


_NAMES = re.compile(rf"\^({ID.pattern})\b")
_ITEMS = re.compile(r"^[ \t]*(?:[-+*]|\d{1,9}[.)])[ \t].*", re.MULTILINE)


def facts_in(text: str) -> tuple[FactLine, ...]:
    """Return the facts of a note in their order; every item of a list outside of code is one.

    Of several lines with one id, those count that `resolve` says. Each fact has an id of its own.
    """
    return _parse(text)[0]


def doubles_in(text: str) -> Doubles:
    """Return the lines of a note that have the id of a fact in common, as a merge may leave them."""
    names, items = _NAMES.findall(text), _ITEMS.findall(text)
    is_plain = len({*names}) == len(names) in (0, len(items)) and len({*items}) == len(items)
    return Doubles() if is_plain else _parse(text)[1]


def describe_conflicts(doubles: Doubles, path: str) -> list[str]:
    """Return a sentence about each fact of a note of which several lines contradict each other."""
    return [
        f"{path} has a merge conflict on lines {' and '.join(str(line.first) for line in lines)}, which say "
        f"different things about the fact {lines[0].fact.id}: both count, delete the wrong one or decide "
        f"with 'memlines facts edit {lines[0].fact.id} TEXT'"
        for lines in (sorted(one, key=attrgetter("first")) for one in doubles.conflicts)
    ]


def _parse(text: str) -> tuple[tuple[FactLine, ...], Doubles]:
    lines, repeats = _split_repeats(list(_lines_of(text)), text)
    lines = _with_names_of_others(lines)
    doubles = resolve(lines)
    lost = {*doubles.lost}
    lines = [line for line in lines if line not in lost] if lost else lines
    others = {line for conflict in doubles.conflicts for line in conflict[1:]}
    taken = {line.fact.id for line in lines if line.fact.id}
    copies: Counter[str] = Counter()
    for at, line in enumerate(lines):
        if not line.fact.id or line in others:
            name = _free_id(line.fact.text, taken, copies)
            taken.add(name)
            lines[at] = replace(line, fact=replace(line.fact, id=name))
    if repeats:
        named = {line.first: line.fact for line in lines}
        copied = [replace(line, fact=named.get(first, line.fact)) for line, first in repeats]
        doubles = doubles._replace(lost=(*doubles.lost, *copied))
    return tuple(lines), doubles


def _split_repeats(lines: list[FactLine], text: str) -> tuple[list[FactLine], list[tuple[FactLine, int]]]:
    """Return lines without those that have no name and are also further up, below the same heading.

    Return these as well, each with the number of the line that it repeats.
    """
    unnamed = [line.raw for line in lines if not line.fact.id]
    if len({*unnamed}) == len(unnamed):
        return lines, []
    headings = outline(text)
    seen: dict[tuple[str, str], int] = {}
    once: list[FactLine] = []
    repeats: list[tuple[FactLine, int]] = []
    for line in lines:
        key = heading_above(headings, line.first), line.raw
        first = line.first if line.fact.id else seen.setdefault(key, line.first)
        if first == line.first:
            once.append(line)
        else:
            repeats.append((line, first))
    return once, repeats


def _with_names_of_others(lines: list[FactLine]) -> list[FactLine]:
    """Return lines of which one without a name has that of another line, if a command wrote it there.

    A fact that was written by hand gets the name of its words when it is changed.
    """
    written = {line.fact.id for line in lines if line.fact.id}
    if not written or len(written) == len(lines):
        return lines
    names = (line.fact.id or _id_of(line.fact.text) for line in lines)
    return [
        replace(line, fact=replace(line.fact, id=name)) if name in written else line
        for line, name in zip(lines, names, strict=True)
    ]


def _free_id(text: str, taken: Collection[str], copies: Counter[str]) -> str:
    """Return a name for a fact that has none: the same as long as the note has the same text."""
    while True:
        count = copies[text]
        copies[text] += 1
        name = _id_of(f"{text}\n{count}" if count else text)
        if name not in taken:
            return name


def _id_of(text: str) -> str:
    digest = hashlib.sha256(text.encode(errors="surrogatepass")).digest()
    return b32encode(digest).decode("ascii").lower()[:ID_LENGTH]


def _lines_of(text: str) -> Iterator[FactLine]:
    """Yield the facts of a note; those without a name have an empty one.

    A line as we write it is an item of its own, unless it is in code. Of many in a row, only the last one is
    parsed as Markdown, because it may continue in the lines below it; the others are what that one is.
    """
    every = without_conflict_marks(text).removeprefix(_BYTE_ORDER_MARK).split("\n")
    lines = without_comments(every)
    ours = [*(_OURS.match(line) is not None for line in lines), False]
    shown = [at for at in range(len(lines)) if not (ours[at] and ours[at + 1])]
    for entry in entries_of(_BYTE_ORDER_MARK + "\n".join([lines[at] for at in shown])):
        if entry.kind != "item":
            continue
        first, last = shown[entry.first - 1], shown[entry.last - 1]
        places = [(first, last)]
        if ours[first]:
            above = shown[entry.first - 2] + 1 if entry.first > 1 else 0
            places = [*((at, at) for at in range(above, first)), *places]
        for start, end in places:
            raw = _join(every[start : end + 1])
            fact = fact_of(
                raw if start == end else _join(lines[start : end + 1])
            )  # without comments below it
            if fact is not None:
                yield FactLine(fact, start + 1, end + 1, raw)


def _join(lines: list[str]) -> str:
    return "\n".join([line.removesuffix("\r") for line in lines])


class _Note(NamedTuple):
    text: str
    lines: list[str]
    facts: tuple[FactLine, ...]
    names: frozenset[str]
    """The ids of the facts; empty unless each has its own, and then the next state is parsed as a whole."""


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
    facts, doubles = _parse(text)
    is_plain = not _has_context(text) and not doubles.lost and _are_named(facts)
    names = frozenset(line.fact.id for line in facts) if is_plain else frozenset[str]()
    return _Note(text, text.split("\n"), facts, names)


def _after_change(last: _Note, text: str) -> _Note | None:
    """Return a note with only the changed lines parsed again; nothing if that could be wrong."""
    if not last.names or _has_context(text):
        return None
    lines = text.split("\n")
    head = _count_shared(last.lines, lines)
    most = min(len(lines), len(last.lines)) - head
    tail = _count_shared(last.lines[::-1][:most], lines[::-1])
    gone, new = last.lines[head : len(last.lines) - tail], lines[head : len(lines) - tail]
    below = lines[len(lines) - tail] if tail else ""
    if not all(not line or LINE.fullmatch(line) for line in (*gone, *new, below)):
        return None
    if tail and not below and any(line.strip() for line in lines[len(lines) - tail :]):
        return None  # lines below a blank one may belong to the item above it
    facts = last.facts
    first = bisect_right(facts, head, key=attrgetter("first"))
    end = bisect_right(facts, head + len(gone), key=attrgetter("first"))
    added = facts_in("\n".join(new))
    kept = last.names.difference(line.fact.id for line in facts[first:end])
    names = kept.union(line.fact.id for line in added)
    if len(names) != len(kept) + len(added) or not _are_named(added):
        return None
    if len(added) < sum(map(bool, new)):
        return None  # one of the new lines does not count, and may later
    moved = len(new) - len(gone)
    rest = facts[end:] if not moved else tuple(_at(line, moved) for line in facts[end:])
    return _Note(text, lines, (*facts[:first], *(_at(line, head) for line in added), *rest), names)


def _at(line: FactLine, lower: int) -> FactLine:
    return FactLine(line.fact, line.first + lower, line.last + lower, line.raw)


def _count_shared(one: list[str], other: list[str]) -> int:
    """Return how many lines two texts begin with in common."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (left, right) in pairs if left != right), min(len(one), len(other)))


def _are_named(facts: tuple[FactLine, ...]) -> bool:
    return all(line.raw.endswith(f"^{line.fact.id}") for line in facts)


def _has_context(text: str) -> bool:
    return text.startswith("---") or any(mark in text for mark in _CONTEXT)


ENDED = " (no longer true"
"""What follows the words of a fact that is no longer true."""


def chunk_facts(text: str, tokens: int, overlap: int) -> list[Chunk]:
    """Cut a note of facts into chunks, in their order and with their lines as they are in the note.

    The text of a fact's chunk is its words alone, so that they alone are compared; one that is no longer
    true says so.
    """
    doubles = doubles_in(text)
    lines = without_lines(text, doubles.lost).split("\n")
    headings = outline(text)
    sections = _without_title(headings, lines)
    matter = front_matter(text)
    matter_lines = matter.lines if matter else 0
    about_others = {*range(1, matter_lines + 1), *(heading.line for heading in headings)}
    limit = limit_of(tokens)

    def cut_fact(line: FactLine) -> Iterator[Chunk]:
        words = words_of(line.fact)
        heading = heading_above(sections, line.first) if sections else ""
        if weigh(words) <= limit:
            yield Chunk(line.first, line.last, words, text_hash(words), heading)
            return
        for piece in chunk_text(words, tokens, overlap):
            yield replace(piece, start_line=line.first, end_line=line.last, heading=heading)

    def cut_between(done: int, end: int) -> Iterator[Chunk]:
        part = lines[done:end]
        if not any(line.strip() for at, line in enumerate(part, done + 1) if at not in about_others):
            part = part[: max(0, matter_lines - done)]  # headings alone make no chunk
        if not done:  # only here can the note have front matter
            yield from chunk_note("\n".join(part), tokens, overlap)
            return
        for chunk in chunk_text("\n".join(part), tokens, overlap):
            first, last = chunk.start_line + done, chunk.end_line + done
            yield replace(chunk, start_line=first, end_line=last, heading=heading_above(headings, first))

    chunks: list[Chunk] = []
    done = 0
    for fact in facts_of(text):
        if done < fact.first - 1:
            chunks.extend(cut_between(done, fact.first - 1))
        chunks.extend(cut_fact(fact))
        done = fact.last
    return [*chunks, *cut_between(done, len(lines))]


def words_of(fact: Fact) -> str:
    """Return a fact in the words under which it is indexed."""
    if fact.is_current:
        return fact.text
    since = f" since {fact.until.isoformat()}" if fact.until else ""
    return f"{fact.text}{ENDED}{since})"


_NAMED_SCOPE = re.compile(rf"(?<!\S)scope:({SCOPE.pattern})(?!\S)")


def split_scope(query: str) -> tuple[str | None, str]:
    """Return the scope that a query is limited to, such as `scope:writing`, if any, and the rest of it."""
    found = _NAMED_SCOPE.search(query)
    if found is None:
        return None, query
    rest = f"{query[: found.start()]} {query[found.end() :]}".strip()
    return found[1], rest or found[1]


def is_in_scope(fact: Fact, scope: str) -> bool:
    """Return whether a fact is limited to a scope, or to none if that is empty."""
    return fact.scope.casefold() == scope.casefold()


def held_on(lines: Iterable[FactLine], day: date) -> tuple[FactLine, ...]:
    """Return the facts that held at the end of a day, by their own dates, and as they held then.

    One without a beginning counts from the first day on; one that ended on an unknown day does not count.
    """
    return tuple(
        replace(line, fact=replace(fact, struck=False))
        for line in lines
        if ((fact := line.fact).valid_from or day) <= day
        and (fact.is_current or (fact.until is not None and day < fact.until))
    )


def _without_title(headings: list[Heading], lines: list[str]) -> list[Heading]:
    """Return headings without the title of the note, which is above every fact."""
    if not headings or not lines[headings[0].line - 1].lstrip().startswith(("# ", "#\t")):
        return headings
    title, *others = headings
    above = (title.title,)
    return [replace(one, parents=one.parents[1:]) if one.parents[:1] == above else one for one in others]
