"""Cut a text or a note into chunks of bounded weight that keep their line numbers.

A chunk is a run of whole lines. A line that is too heavy is cut into pieces first. When a chunk is full, its
end is carried into the next one, so that a sentence on a border is found whole in one of the two. Chinese,
Japanese and Korean characters weigh four, because a model spends about as many tokens on one of them as on
four Latin letters.

The front matter of a note becomes part of the headings: title, aliases and tags above every chunk, and the
other values above the first one. Only where they do not fit there, or the note has no other text, its lines
are kept like others. Comments that name a session become blank lines.

A chunk is cut further into the sentences that are compared with a question one by one.
"""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import accumulate

from memlines.text.entries import without_session_comments
from memlines.text.outline import front_matter, heading_above, outline
from memlines.types import Chunk

_CHARACTERS_PER_TOKEN = 4
_SMALLEST_LIMIT = 32
_WIDE_EXTRA = 3

Run = tuple[list[str], int, int]
"""Lines or pieces of lines that make a chunk, and the numbers of the first and the last line."""


def weigh(text: str) -> int:
    """Return the weight of a text: its length, with wide characters counted four times."""
    if text.isascii():
        return len(text)
    return len(text) + _WIDE_EXTRA * len(_wide().findall(text))


@cache
def _wide() -> re.Pattern[str]:
    """Return what finds wide characters; compiling it takes longer than some commands need for all else."""
    return re.compile("[\u2e80-\u9fff\ua000-\ua4ff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0002fa1f]")


def limit_of(tokens: int) -> int:
    """Return the greatest weight of a chunk."""
    return max(_SMALLEST_LIMIT, tokens * _CHARACTERS_PER_TOKEN)


def overlap_of(tokens: int, overlap: int) -> int:
    """Return the greatest weight that is carried from one chunk into the next."""
    return max(0, min(overlap, tokens - 1) * _CHARACTERS_PER_TOKEN)


def chunk_text(text: str, tokens: int, overlap: int) -> list[Chunk]:
    """Cut a text into chunks; a text without a visible character gives none."""
    headings = outline(text)
    chunks: list[Chunk] = []
    for segments, start, end in _runs(text, tokens, overlap):
        body = "\n".join(segments)
        if not body.strip():
            continue
        heading = heading_above(headings, start) if headings else ""
        chunks.append(Chunk(start, end, body, text_hash(body), heading))
    return chunks


def text_hash(text: str) -> str:
    """Return the SHA-256 of a text in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


def _runs(text: str, tokens: int, overlap: int) -> Iterator[Run]:
    """Group the segments of a text into runs that fit the limit, each starting with what is carried.

    Sums of weights are looked up instead of added up line by line: a first index cuts every line there is.
    """
    limit = limit_of(tokens)
    carried = overlap_of(tokens, overlap)
    # Where nothing is wide, a length is enough.
    weight_of: Callable[[str], int] = weigh if not text.isascii() and _wide().search(text) else len
    segments, numbers = _segments(text, limit, weight_of)
    weights = [weight + 1 for weight in map(weight_of, segments)]  # with the line break
    sums = [0, *accumulate(weights)]
    tail: list[str] = []  # the end of a segment that is too heavy to be carried whole
    tail_weight = start = end = 0
    while True:
        fitting = bisect_right(sums, sums[start] + limit - tail_weight) - 1
        end = max(end + 1, fitting)  # at least one more, even if it alone is too heavy with its line break
        first = numbers[start - 1 if tail else start]
        yield tail + segments[start:end], first, numbers[end - 1]
        if end == len(segments):
            return
        window = min(carried, limit - weights[end])
        kept = max(start, bisect_left(sums, sums[end] - window))
        if kept > start or sums[end] - sums[start] + tail_weight > window:
            tail, tail_weight = [], 0
        start = min(kept, end)
        if kept >= end and (rest := _tail(segments[end - 1], window - 1)):
            tail, tail_weight = [rest], weigh(rest) + 1


def _segments(text: str, limit: int, weight_of: Callable[[str], int]) -> tuple[list[str], Sequence[int]]:
    """Return the lines of a text, those that are too heavy in pieces, and the line number of each."""
    lines = text.split("\n")
    if len(lines) > 1 and not lines[-1]:
        lines.pop()  # a final line break ends the last line; it does not start another
    if max(map(weight_of, lines)) <= limit:
        return lines, range(1, len(lines) + 1)
    cut = [[line] if weight_of(line) <= limit else [*_pieces(line, limit)] for line in lines]
    numbers = [number for number, pieces in enumerate(cut, 1) for _ in pieces]
    return [piece for pieces in cut for piece in pieces], numbers


def _pieces(line: str, limit: int) -> Iterator[str]:
    """Cut a line into pieces that each weigh at most the limit."""
    start = 0
    while start < len(line):
        end = start + limit
        piece = line[start:end]
        excess = weigh(piece) - limit
        while excess > 0:
            # Dropping one character saves at most four, so this never drops too many.
            end = min(end, len(line)) - max(1, excess // (1 + _WIDE_EXTRA))
            piece = line[start:end]
            excess = weigh(piece) - limit
        blank = max(piece.rfind(" "), piece.rfind("\t"))
        if start + len(piece) < len(line) and blank >= len(piece) * 3 // 4:
            piece = piece[: blank + 1]  # no word is cut, if that costs at most a quarter of the piece
        yield piece
        start += len(piece)


def _tail(text: str, weight: int) -> str:
    """Return the longest end of a text that weighs at most so much."""
    tail = text[-weight:] if weight > 0 else ""
    while (excess := weigh(tail) - weight) > 0 and tail:
        tail = tail[max(1, excess // (1 + _WIDE_EXTRA)) :]
    return tail


_LONGEST_CONTEXT = 160
_LONGEST_OTHERS = 320
"""Characters above a chunk, so that they never outweigh its text."""

_BELOW = " > "


def chunk_note(text: str, tokens: int, overlap: int) -> list[Chunk]:
    """Cut a note into chunks, with their lines as they are in the note."""
    text = without_session_comments(text)
    matter = front_matter(text)
    if matter is None:
        return chunk_text(text, tokens, overlap)
    lines = text.split("\n")
    body = chunk_text("\n".join(lines[matter.lines :]), tokens, overlap)
    aliases = f"({', '.join(matter.aliases)})" if matter.aliases else ""
    context = " ".join(filter(None, [matter.title, aliases, *(f"#{tag}" for tag in matter.tags)]))
    others = "; ".join(f"{key}: {value}" for key, value in matter.others)
    chunks: list[Chunk] = []
    for chunk in body:
        first, _, rest = chunk.heading.partition(_BELOW)
        is_title = matter.title and first.casefold() == matter.title.casefold()  # most notes repeat it
        above = [context[:_LONGEST_CONTEXT], "" if chunks else others[:_LONGEST_OTHERS]]
        heading = _BELOW.join(filter(None, [*above, rest if is_title else chunk.heading]))
        start, end = chunk.start_line + matter.lines, chunk.end_line + matter.lines
        chunks.append(replace(chunk, start_line=start, end_line=end, heading=heading))
    if body and len(context) <= _LONGEST_CONTEXT and len(others) <= _LONGEST_OTHERS:
        return chunks
    return chunk_text("\n".join(lines[: matter.lines]), tokens, overlap) + chunks


_MOST = 32
"""Sentences of a chunk that are looked at; 1,600 characters hardly ever hold more."""

BORDER = re.compile("\n+|(?<=[.!?])\\s+|(?<=[\u3002\uff01\uff1f])")
_WIDE_ENDS = "\u3002\uff01\uff1f"
_BLANK_BORDER = re.compile("\\s(?:(?<=\n)\n*|(?<=[.!?]\\s)\\s*)")
"""The same where no sentence ends without a blank: half of the time, because it only looks at white space."""

_MARKUP = " \t-#*|>+`"
_SHORTEST = 9
_SHORTEST_WIDE = 4
"""Characters below which a piece says too little by itself, in Latin and in denser scripts."""


def sentences_of(text: str) -> list[str]:
    """Return the sentences, list items and lines of a text that say something by themselves."""
    border = BORDER if any(end in text for end in _WIDE_ENDS) else _BLANK_BORDER
    pieces = [piece.strip(_MARKUP) for piece in border.split(text)]
    long = [piece for piece in pieces if len(piece) >= (_SHORTEST if piece.isascii() else _SHORTEST_WIDE)]
    return list(dict.fromkeys(long))[:_MOST]


def pieces_of(text: str, most_bytes: int) -> list[str]:
    """Cut a text into pieces of at most so many bytes, after a line, a sentence or a word if it can be.

    Nothing is left out but white space between pieces. A text that fits is its own only piece.
    """
    pieces, start, left = [], 0, len(text.encode())
    while left > most_bytes:
        ahead = text[start : start + most_bytes]
        fits = len(ahead.encode()[:most_bytes].decode(errors="ignore"))
        pieces.append(ahead[: best_end(ahead[: max(1, fits)], ("\n", ". ", " "))])
        start += len(pieces[-1])
        left -= len(pieces[-1].encode())
    pieces.append(text[start:])
    return [piece for piece in pieces if piece.strip()] or pieces[-1:]


def best_end(piece: str, borders: Sequence[str]) -> int:
    """Return where to end a piece: behind the first border that is in its second half, or at its end."""
    for border in borders:
        place = piece.rfind(border)
        if place >= len(piece) // 2:
            return place + len(border)
    return len(piece)
