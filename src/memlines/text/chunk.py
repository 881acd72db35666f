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
from collections.abc import Iterator, Sequence
from dataclasses import replace

from memlines.text.entries import without_session_comments
from memlines.text.outline import front_matter, heading_above, outline
from memlines.types import Chunk

CHUNKER_VERSION = 4
"""Part of the index's identity: a change of the rules below, of those for front matter (`outline.py`), for
facts (`facts.py`, `fact_note.py`), or for transcripts (`turns.py` and the parsers), makes a rebuild."""

_CHARACTERS_PER_TOKEN = 4
_SMALLEST_LIMIT = 32
_WIDE = re.compile("[\u2e80-\u9fff\ua000-\ua4ff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0002fa1f]")
_WIDE_EXTRA = 3

Segment = tuple[str, int, int]
"""A line or a piece of one: its text, its line number, its weight with the line break."""


def weigh(text: str) -> int:
    """Return the weight of a text: its length, with wide characters counted four times."""
    if text.isascii():
        return len(text)
    return len(text) + _WIDE_EXTRA * len(_WIDE.findall(text))


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
    for segments in _runs(text, tokens, overlap):
        body = "\n".join([segment[0] for segment in segments])
        if not body.strip():
            continue
        start, end = segments[0][1], segments[-1][1]
        heading = heading_above(headings, start) if headings else ""
        chunks.append(Chunk(start, end, body, text_hash(body), heading))
    return chunks


def text_hash(text: str) -> str:
    """Return the SHA-256 of a text in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


def chunk_id(source: str, path: str, chunk: Chunk) -> str:
    """Return the stable name of a chunk in the index."""
    return text_hash(f"{source}:{path}:{chunk.start_line}:{chunk.end_line}:{chunk.hash}")


def _runs(text: str, tokens: int, overlap: int) -> Iterator[list[Segment]]:
    """Group the segments of a text into runs that fit the limit, each starting with what is carried."""
    limit = limit_of(tokens)
    carried = overlap_of(tokens, overlap)
    current: list[Segment] = []
    weight = 0
    for segment in _segments(text, limit):
        size = segment[2]
        if current and weight + size > limit:
            yield current
            current = _carry(current, min(carried, limit - size))
            weight = sum([kept[2] for kept in current])
        current.append(segment)
        weight += size
    yield current


def _segments(text: str, limit: int) -> Iterator[Segment]:
    weight_of = len if text.isascii() else weigh
    lines = text.split("\n")
    if len(lines) > 1 and not lines[-1]:
        lines.pop()  # a final line break ends the last line; it does not start another
    for number, line in enumerate(lines, 1):
        weight = weight_of(line)
        if weight <= limit:
            yield line, number, weight + 1
        else:
            for piece in _pieces(line, limit):
                yield piece, number, weight_of(piece) + 1


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


def _carry(segments: list[Segment], window: int) -> list[Segment]:
    """Return the end of a full chunk that fits the window, to start the next chunk with."""
    kept: list[Segment] = []
    for segment in reversed(segments):
        if segment[2] > window:
            if not kept:
                tail = _tail(segment[0], window - 1)
                return [(tail, segment[1], weigh(tail) + 1)] if tail else []
            break
        kept.append(segment)
        window -= segment[2]
    kept.reverse()
    return kept


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


SENTENCES_VERSION = 1
"""Part of the index's identity: a change of the rules below makes a rebuild."""

_MOST = 32
"""Sentences of a chunk that are looked at; 1,600 characters hardly ever hold more."""

BORDER = re.compile("\n+|(?<=[.!?])\\s+|(?<=[\u3002\uff01\uff1f])")
_ASCII_BORDER = re.compile("\\s(?:(?<=\n)\n*|(?<=[.!?]\\s)\\s*)")
"""The same for a text in ASCII, which takes half of the time because it only looks at white space."""

_MARKUP = " \t-#*|>+`"
_SHORTEST = 9
_SHORTEST_WIDE = 4
"""Characters below which a piece says too little by itself, in Latin and in denser scripts."""


def sentences_of(text: str) -> list[str]:
    """Return the sentences, list items and lines of a text that say something by themselves."""
    border = _ASCII_BORDER if text.isascii() else BORDER
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
