"""Choose the lines of a chunk that answer a query: what a hit quotes, and what it cites.

A chunk is cut for ranking and holds about 1,600 characters. Of those a hit shows the best entry (a list item,
a paragraph, a block of code, a turn of a conversation) with the entries beside it, as far as they fit. The
best entry is the one that holds the most of the query's words and the sentence nearest to it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from memlines.index.search.matches import MatchedChunks
from memlines.text.chunk import sentences_of
from memlines.text.days import log_day
from memlines.text.entries import entries_of
from memlines.types import Days, Hit, IndexedChunk, Lines, Turns

MAX_SNIPPET = 700
"""Characters of a chunk that are shown where chunks are cited."""

MOST_LINES = 12
_MOST_CHARACTERS = 1_000
"""How long a passage is at most."""

_SENTENCE = 0.5
"""What the cosine of an entry's best sentence counts beside the share of the query's words that it holds."""

HEADING = 0.5
"""What words count that are only in a heading above an entry, as in the index."""

BELOW = " > "
_KEPT = 2_048
"""Texts whose parts are kept: the same chunks answer again and again."""

_WORD = re.compile(r"\w+")
_SESSION_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


class Passage(NamedTuple):
    """Lines of a file, what is shown of their text, and the headings above them."""

    start_line: int
    end_line: int
    text: str
    heading: str


class Unit(NamedTuple):
    """Lines that belong together, counted from 0 in the chunk: their text, and what is above it."""

    first: int
    last: int
    text: str
    section: int = 0
    heading: str = ""
    level: int = 0


def whole(chunk: IndexedChunk, left_out: Sequence[Lines] = ()) -> Passage:
    """Return all of a chunk, but for lines that are left out."""
    text = chunk.text
    if left_out:
        lines = text.split("\n")
        numbers = _numbers(chunk, len(lines))
        text = "\n".join(
            [
                line
                for line, (first, last) in zip(lines, numbers, strict=True)
                if not _is_left_out(left_out, chunk.path, first, last)
            ]
        )
    return Passage(chunk.start_line, chunk.end_line, text.strip("\n"), chunk.heading)


def excerpt_of(chunk: IndexedChunk, chunks: MatchedChunks, left_out: Sequence[Lines] = ()) -> Passage:
    """Return a chunk with as much of its text as a snippet holds, for profiles that cite chunks."""
    passage = whole(chunk, left_out)
    return passage._replace(text=snippet_of(passage.text, lambda part: chunks.match(part, chunk.language)))


def may_answer(chunk: IndexedChunk, left_out: Sequence[Lines]) -> list[bool]:
    """Say of each unit of a chunk whether none of its lines is left out; nothing if that is another file."""
    if all(path != chunk.path for path, _, _ in left_out):
        return []
    places = [lines_of(chunk, unit) for unit in range(len(units_of(chunk)))]
    return [not _is_left_out(left_out, chunk.path, *place) for place in places]


def _is_left_out(left_out: Sequence[Lines], path: str, first: int, last: int) -> bool:
    return any(name == path and begin <= last and first <= end for name, begin, end in left_out)


def units_of(chunk: IndexedChunk) -> tuple[Unit, ...]:
    """Return the turns in a chunk, or its entries without headings, or all of it if there are none."""
    return _units(chunk.text, chunk.turns)


def text_of(chunk: IndexedChunk, unit: int) -> str:
    """Return the text of a unit of a chunk; all of it if there is no such unit."""
    return units_of(chunk)[unit].text if unit >= 0 else chunk.text


def lines_of(chunk: IndexedChunk, unit: int) -> tuple[int, int]:
    """Return the first and the last line of the file that a unit is on, or the chunk if there is no unit."""
    if unit < 0:
        return chunk.start_line, chunk.end_line
    found = units_of(chunk)[unit]
    numbers = _numbers(chunk, chunk.text.count("\n") + 1)
    return numbers[found.first][0], numbers[found.last][1]


def best_sentences(chunk: IndexedChunk, cosines: Sequence[float], own: float) -> list[float]:
    """Return for each unit of a chunk the cosine of its best sentence, or the chunk's `own` if it has none.

    `cosines` are those of the chunk's sentences. A title or heading that is nearer counts half; in a chunk
    with one unit it belongs to that.
    """
    units = units_of(chunk)
    if len(units) == 1:
        return [max(cosines, default=own)]
    if not cosines:
        return [own] * len(units)
    above, near = _near(chunk, cosines, units)
    title = max(above, default=-1.0)
    best = [max(one, default=own) for one in near]
    return [max(one, (one + title) / 2) for one in best]


def days_of(chunk: IndexedChunk) -> Days:
    """Return the day of each unit of a chunk, or one if all have the same; it is empty if it is not known."""
    if chunk.days:
        return chunk.days
    day = log_day(chunk.path)
    if day is not None:
        return (day.isoformat(),)
    session = _SESSION_DAY.match(chunk.heading) if chunk.source == "sessions" else None
    return (session[0] if session else "",)


def days_of_units(chunk: IndexedChunk) -> Days:
    """Return the day of each unit of a chunk."""
    days, count = days_of(chunk), len(units_of(chunk))
    return days if len(days) == count else days[:1] * count


def passage_of(
    chunk: IndexedChunk,
    chunks: MatchedChunks,
    cosines: Sequence[float] = (),
    at: int = -1,
    among: Sequence[bool] = (),
) -> Passage:
    """Return the passage of a chunk that answers a query, around one of its units or around the best.

    `cosines` are those of the chunk's sentences. `among` says which units may be shown together, if not all.
    """
    units: Sequence[Unit] = units_of(chunk)
    if among:  # a passage ends where a section does
        marked = zip(units, among, strict=True)
        units = [unit if may else unit._replace(section=-1 - unit.section) for unit, may in marked]
    if len(units) > 1:
        units = _best_run(units, _score(chunk, chunks, cosines, units), at)
    count = units[-1].last - units[0].first + 1
    if count > MOST_LINES or sum([len(unit.text) for unit in units]) > _MOST_CHARACTERS:  # one long entry
        lines_of_it = enumerate(units[0].text.split("\n"), units[0].first)
        units = [units[0]._replace(first=at, last=at, text=line) for at, line in lines_of_it if line.strip()]
        units = _best_run(units, _score(chunk, chunks, cosines, units))
    lines = chunk.text.split("\n")
    first, last = units[0].first, units[-1].last
    numbers = _numbers(chunk, len(lines))
    text = "\n".join(lines[first : last + 1])
    heading = chunk.heading
    if units[0].heading:  # below those above the chunk that it does not end
        above = heading.split(BELOW)[: units[0].level - 1] if heading else []
        heading = BELOW.join([*above, units[0].heading])
    snippet = snippet_of(text, lambda part: chunks.match(part, chunk.language), _MOST_CHARACTERS)
    return Passage(numbers[first][0], numbers[last][1], snippet, heading)


def _score(
    chunk: IndexedChunk, chunks: MatchedChunks, cosines: Sequence[float], units: Sequence[Unit]
) -> list[float]:
    """Return for each of some units how likely it is the answer."""
    near = _near(chunk, cosines, units)[1] if cosines else [()] * len(units)
    scores = []
    for unit, one in zip(units, near, strict=True):
        words, above = chunks.words_in(chunk, unit.text), chunks.words_in(chunk, unit.heading)
        score = chunks.share(words) + (HEADING * chunks.share(above - words) if above else 0.0)
        scores.append(score + _SENTENCE * max(one, default=0.0) if unit.section >= 0 else -1.0)
    return scores


def _near(
    chunk: IndexedChunk, cosines: Sequence[float], units: Sequence[Unit]
) -> tuple[Sequence[float], Sequence[Sequence[float]]]:
    """Return the cosines of the sentences above some units of a chunk, and of those in each of them."""
    count, above, places = _sentence_places(chunk.embedded_text, tuple([unit.text for unit in units]))
    if count != len(cosines):  # the vectors are not of sentences
        return (), [()] * len(units)
    return [cosines[at] for at in above], [[cosines[at] for at in one] for one in places]


@lru_cache(maxsize=_KEPT)
def _sentence_places(
    embedded: str, texts: Sequence[str]
) -> tuple[int, Collection[int], Sequence[Sequence[int]]]:
    """Return how many sentences of a chunk were embedded, which are in none of some texts, which in each."""
    sentences = sentences_of(embedded)
    above: list[int] = []
    inside: list[list[int]] = [[] for _ in texts]
    begin, end = 0, len(texts)
    for at, sentence in enumerate(sentences):
        # They follow each other as the texts do, so most are in the same one as the last, or in the next.
        place = next((place for place in range(begin, end) if sentence in texts[place]), end)
        begin = place if place < end else begin
        (inside[place] if place < end else above).append(at)
    for text, own in zip(texts, inside, strict=True):
        if not own:  # each sentence is embedded once, and may be in several texts
            own += [at for at, sentence in enumerate(sentences) if sentence in text]
    return len(sentences), above, inside


@lru_cache(maxsize=_KEPT)
def _units(text: str, turns: Turns) -> tuple[Unit, ...]:
    lines = text.split("\n")
    if turns:
        pairs = pairwise([*(begin for begin, _ in turns), len(lines)])
        return tuple([Unit(first, end - 1, "\n".join(lines[first:end])) for first, end in pairs])
    units: list[Unit] = []
    section = level = 0
    # A blank line first: only a file begins with front matter, a chunk may begin with a rule.
    for entry in entries_of(f"\n{text}"):
        if entry.kind == "heading":
            section += 1
            marks = entry.text.strip().partition(" ")[0]
            level = level if entry.heading else len(marks)
            continue
        first = entry.first - 2
        units.append(Unit(first, entry.last - 2, entry.text, section, entry.heading, level))
    return tuple(units) or (Unit(0, len(lines) - 1, text),)


def _best_run(units: Sequence[Unit], scores: Sequence[float], at: int = -1) -> Sequence[Unit]:
    """Return a unit, or the best, with those beside it in its section: the run that has the most to say."""
    if len(units) == 1:
        return units
    best = at if at >= 0 else scores.index(max(scores))
    run, most = units[best : best + 1], -1.0
    for first in range(best + 1):
        end, size, score = first, 0, 0.0
        while end < len(units) and units[end].section == units[best].section:
            size += len(units[end].text) + 1
            lines = units[end].last - units[first].first + 1
            if end > first and (lines > MOST_LINES or size > _MOST_CHARACTERS):
                break
            score += scores[end]
            end += 1
        if end > best and score >= most:  # what follows rather than what comes before
            run, most = units[first:end], score
    return run


def _numbers(chunk: IndexedChunk, count: int) -> list[tuple[int, int]]:
    """Return for each line of a chunk's text the first and last line of the file that it is on."""
    start, end = chunk.start_line, chunk.end_line
    if chunk.turns:
        ends = [*(begin for begin, _ in chunk.turns[1:]), count]
        turns = zip(chunk.turns, ends, strict=True)
        return [(line, line) for (begin, line), after in turns for _ in range(begin, after)]
    more = count - (end - start + 1)
    if more < 0:  # a fact on several lines is indexed as one
        return [(start, end)] * count
    # A chunk may begin with several pieces of one line that was too long.
    return [(at, at) for at in (*[start] * more, *range(start, end + 1))]


def snippet_of(text: str, match: Callable[[str], Collection[str]], most: int = MAX_SNIPPET) -> str:
    """Return at most so many characters of a text: whole lines, where `match` finds the most of the query."""
    body = text.strip("\n")
    if len(body) <= most:
        return body
    lines = body.split("\n")
    held = [frozenset(match(line)) for line in lines]
    matching = [number for number, words in enumerate(held) if words]
    if matching:  # the line that holds words and is followed by the most others
        start = max(
            matching, key=lambda start: len(set().union(*held[start : _end_of_window(lines, start, most)]))
        )
    else:
        start = next(number for number, line in enumerate(lines) if line.strip())
    if len(lines[start]) > most:  # the part of it around the first word that matched
        line = lines[start]
        places = (word.start() for word in _WORD.finditer(line) if match(word[0]))
        first = max(0, next(places, 0) - most // 4)
        return line[first : first + most]
    end = _end_of_window(lines, start, most)
    room = most - len("\n".join(lines[start:end]))
    while start and len(lines[start - 1]) < room:
        start -= 1
        room -= len(lines[start]) + 1
    return "\n".join(lines[start:end]).strip("\n")


def part_of(hit: Hit, text: str) -> Hit:
    """Return a hit that quotes only a part of its snippet, and cites only the lines of that part."""
    before, found, _ = hit.snippet.partition(text)
    if not found or hit.snippet.count("\n") != hit.end_line - hit.start_line:
        return replace(hit, snippet=text)  # the lines of the snippet are not those of the file
    first = hit.start_line + before.count("\n")
    return replace(hit, snippet=text, start_line=first, end_line=first + text.count("\n"))


def _end_of_window(lines: Sequence[str], start: int, most: int) -> int:
    """Return the line after the last that still fits; the first one is always in, if only a part of it."""
    end, size = start + 1, len(lines[start])
    while end < len(lines) and size + 1 + len(lines[end]) <= most:
        size += 1 + len(lines[end])
        end += 1
    return end
