"""Cut the snippet a hit is shown with, and cite what is left of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from memlines.types import Hit

MAX_SNIPPET = 700

_WORD = re.compile(r"\w+")


def snippet_of(text: str, matched: Callable[[str], Collection[str]], most: int = MAX_SNIPPET) -> str:
    """Return at most so many characters of a text: whole lines, where they hold the most of the query.

    `matched` tells which of the query's words a text holds.
    """
    body = text.strip("\n")
    if len(body) <= most:
        return body
    lines = body.split("\n")
    start = _best_start(lines, [frozenset(matched(line)) for line in lines], most)
    if len(lines[start]) > most:
        return _inside_line(lines[start], matched, most)
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


def _best_start(lines: Sequence[str], held: Sequence[frozenset[str]], most: int) -> int:
    """Return the line that holds words and is followed by the most others, or the first with any text."""
    matching = [number for number, words in enumerate(held) if words]
    if not matching:
        return next(number for number, line in enumerate(lines) if line.strip())
    return max(
        matching, key=lambda start: len(set().union(*held[start : _end_of_window(lines, start, most)]))
    )


def _end_of_window(lines: Sequence[str], start: int, most: int) -> int:
    """Return the line after the last that still fits; the first one is always in, if only a part of it."""
    end, size = start + 1, len(lines[start])
    while end < len(lines) and size + 1 + len(lines[end]) <= most:
        size += 1 + len(lines[end])
        end += 1
    return end


def _inside_line(line: str, matched: Callable[[str], Collection[str]], most: int) -> str:
    """Return the part of one over-long line around the first word that matched."""
    places = (word.start() for word in _WORD.finditer(line) if matched(word[0]))
    start = max(0, next(places, 0) - most // 4)
    return line[start : start + most]
