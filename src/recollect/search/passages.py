"""Choose the lines of a chunk that answer a query: what a hit quotes, and what it cites.

A chunk is cut for ranking and holds about 1,600 characters. Of those a hit shows the best entry (a list item,
a paragraph, a block of code, a turn of a conversation) with the entries beside it, as far as they fit. The
best entry is the one that holds the most of the query's words and the sentence nearest to it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

from recollect.search.answer import MAX_SNIPPET, snippet_of
from recollect.search.candidates import Candidates
from recollect.text.entries import entries_of
from recollect.text.sentences import sentences_of
from recollect.types import IndexedChunk

MOST_LINES = 8

_SENTENCE = 0.5
"""What the cosine of an entry's best sentence counts beside the share of the query's words that it holds."""

_HEADING = 0.5
"""What words count that stand only in a heading above an entry, as in the index."""


@dataclass(frozen=True, slots=True)
class Passage:
    """Lines of a file, their text as far as it is shown, and the headings above them."""

    start_line: int
    end_line: int
    text: str
    heading: str


@dataclass(frozen=True, slots=True)
class _Unit:
    """Lines that belong together, counted from 0 in the chunk; and their section and heading."""

    first: int
    last: int
    section: int = 0
    heading: str = ""
    level: int = 0


_BELOW = " > "

Speaks = Callable[[str, str], float]
"""Tells how much a text below a heading speaks for being the answer."""


def whole(chunk: IndexedChunk) -> Passage:
    """Return all of a chunk."""
    return Passage(chunk.start_line, chunk.end_line, chunk.text.strip("\n"), chunk.heading)


def excerpt_of(chunk: IndexedChunk, candidates: Candidates) -> Passage:
    """Return a chunk with as much of its text as a snippet holds, for profiles that cite chunks."""
    return replace(whole(chunk), text=_cut(chunk.text, chunk, candidates))


def passage_of(chunk: IndexedChunk, candidates: Candidates, cosines: Sequence[float] = ()) -> Passage:
    """Return the passage of a chunk that answers a query; `cosines` are those of the chunk's sentences."""
    lines = chunk.text.split("\n")
    numbers = _numbers(chunk, lines)
    speaks = _evidence(chunk, candidates, cosines)
    units = _entries(chunk, lines)
    run = _best_run(lines, units, speaks)
    if not _fits(lines, run[0], run[-1]):  # one entry that is too long: the best of its lines
        entry = run[0]
        inside = [replace(entry, first=at, last=at) for at in range(entry.first, entry.last + 1)]
        run = _best_run(lines, [unit for unit in inside if lines[unit.first].strip()], speaks)
    first, last = run[0].first, run[-1].last
    text = _cut("\n".join(lines[first : last + 1]), chunk, candidates)
    return Passage(numbers[first][0], numbers[last][1], text, _heading(chunk, run[0]))


def _cut(text: str, chunk: IndexedChunk, candidates: Candidates) -> str:
    return snippet_of(text, lambda part: candidates.matched(part, chunk.language))


def _evidence(chunk: IndexedChunk, candidates: Candidates, cosines: Sequence[float]) -> Speaks:
    sentences = sentences_of(chunk.embedded_text)
    near: Mapping[str, float] = {}
    if len(sentences) == len(cosines):  # else the vectors are not of sentences
        near = dict(zip(sentences, cosines, strict=True))

    def speaks(text: str, heading: str) -> float:
        said = candidates.share(text, chunk.language)
        above = candidates.share(f"{heading}\n{text}", chunk.language) - said if heading else 0.0
        nearest = (
            max((near.get(sentence, 0.0) for sentence in sentences_of(text)), default=0.0) if near else 0.0
        )
        return said + _HEADING * above + _SENTENCE * nearest

    return speaks


def _entries(chunk: IndexedChunk, lines: Sequence[str]) -> list[_Unit]:
    """Return the entries of a chunk without its headings, or all of it if there is nothing else."""
    if chunk.turns:
        begins = [begin for begin, _ in chunk.turns]
        return [_Unit(begin, end - 1) for begin, end in pairwise([*begins, len(lines)])]
    units: list[_Unit] = []
    section = level = 0
    # A blank line first: only a file begins with front matter, a chunk may begin with a rule.
    for entry in entries_of(f"\n{chunk.text}"):
        if entry.kind == "heading":
            section += 1
            marks = entry.text.strip().partition(" ")[0]
            level = level if entry.heading else len(marks)
            continue
        units.append(_Unit(entry.first - 2, entry.last - 2, section, entry.heading, level))
    return units or [_Unit(0, len(lines) - 1)]


def _best_run(lines: Sequence[str], units: Sequence[_Unit], speaks: Speaks) -> Sequence[_Unit]:
    """Return the best unit with those beside it in its section: the run that fits and has the most to say."""
    scores = [speaks("\n".join(lines[unit.first : unit.last + 1]), unit.heading) for unit in units]
    best = scores.index(max(scores))
    sums = [0.0, *accumulate(scores)]
    run, most = units[best : best + 1], -1.0
    for first in range(best + 1):
        end = first
        while end < len(units) and units[end].section == units[best].section == units[first].section:
            if end > first and not _fits(lines, units[first], units[end]):
                break
            end += 1
        if end > best and sums[end] - sums[first] >= most:  # what follows rather than what stands before
            run, most = units[first:end], sums[end] - sums[first]
    return run


def _fits(lines: Sequence[str], first: _Unit, last: _Unit) -> bool:
    count = last.last - first.first + 1
    return count <= MOST_LINES and len("\n".join(lines[first.first : last.last + 1])) <= MAX_SNIPPET


def _numbers(chunk: IndexedChunk, lines: Sequence[str]) -> list[tuple[int, int]]:
    """Return for each line of a chunk's text the first and last line of the file that it stands on."""
    start, end = chunk.start_line, chunk.end_line
    if chunk.turns:
        ends = [begin for begin, _ in chunk.turns[1:]] + [len(lines)]
        return [
            (line, line)
            for (begin, line), after in zip(chunk.turns, ends, strict=True)
            for _ in range(begin, after)
        ]
    more = len(lines) - (end - start + 1)
    if more < 0:  # a fact that stands on several lines is indexed as one
        return [(start, end)] * len(lines)
    # A chunk may begin with several pieces of one line that was too long.
    return [(at, at) for at in (*[start] * more, *range(start, end + 1))]


def _heading(chunk: IndexedChunk, unit: _Unit) -> str:
    """Return the headings above a passage: those in the chunk, below those above it that they do not end."""
    if not unit.heading:
        return chunk.heading
    above = chunk.heading.split(_BELOW)[: unit.level - 1] if chunk.heading else []
    return _BELOW.join([*above, unit.heading])
