"""Know a text again by its words, wherever it stands: the pieces it is found by, and what is left without it.

A text is compared word by word, whatever its case, white space, punctuation and list markers; the time at the
beginning of an entry does not count.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator
from typing import NamedTuple

from memlines.text.chunk import weigh
from memlines.text.entries import Kind, entries_of
from memlines.text.facts import CATEGORIES
from memlines.text.terms import RUN, is_unspaced

TELLING = 20
"""What a text weighs at least to be found inside a longer one; a shorter entry has to be a whole line."""

_LEAD = re.compile(
    r"\s*(?:(?:[-+*]|\d{1,9}[.)])\s+)*(?:\[[ xX]\]\s+)?"
    r"(?:[*_`(\[]*(?:\d{4}-\d{2}-\d{2}:?|\d{1,2}:\d{2}(?::\d{2})?)[*_`)\]]*(?=\s|$)\s*"
    r"(?:[-\u2013\u2014]\s+)?)?"
)
_SESSION_MARK = re.compile(r"\s*\[session [^\]\n]*\]")
_CATEGORY = re.compile(rf"\[(?:{'|'.join(CATEGORIES)})\]\s+")
_AFTER_FACT = re.compile(r"\s*(?:\{[^{}]*\}\s*)?\^[a-z2-7]{10}\s*$")
"""What stands around the words of a fact in its note: its category before, its origin and its name after."""

_BORDER = re.compile("\n+|(?<=[.!?])\\s+|(?<=[\u3002\uff01\uff1f])")
_AFTER = re.compile(r"[.,;:!?)\]\"'*_`\u2026\u3002\uff01\uff1f\uff0c]*")
_ASCII_WORD = re.compile(r"[a-z0-9](?:[a-z0-9_]*[a-z0-9])?")
_GAP = "\0"
_GAPS = re.compile(rf"\s*{_GAP}[\s{_GAP}]*")


class Token(NamedTuple):
    """A word as it is compared, and where it stands."""

    word: str
    start: int
    end: int


def pieces_of(text: str) -> tuple[list[str], bool]:
    """Return what a text is known again by, and whether that has to stand on lines of its own.

    That is the text itself and each of its lines and sentences, as far as they say something. Lines of code
    are the same everywhere, and so are headings: they do not count unless they are all there is.
    """
    entries = entries_of(text)
    telling = [entry for entry in entries if entry.kind != "heading"] or list(entries)
    pieces: dict[str, None] = {}
    for entry in telling:
        for piece in _pieces(entry.text, entry.kind):
            pieces.setdefault(piece)
    long = [piece for piece in pieces if weigh(" ".join(words_in(compose(piece)))) >= TELLING]
    return (long, False) if long else (list(pieces)[:1], True)


def bare(text: str) -> str:
    """Return an entry or a line without its list marker, its time and the mark of its session.

    Of a fact only its words are left.
    """
    rest = _SESSION_MARK.sub("", text)
    lead = _LEAD.match(rest)
    rest = rest[lead.end() :] if lead else rest
    category = _CATEGORY.match(rest)
    rest = rest[category.end() :] if category else rest
    fact = _AFTER_FACT.search(rest)
    if not (category or fact):
        return rest.strip()
    return (rest[: fact.start()] if fact else rest).strip().removeprefix("~~").removesuffix("~~").strip()


def _pieces(text: str, kind: Kind) -> Iterator[str]:
    yield bare(text)
    if kind != "code":
        lines = [bare(line) for line in text.split("\n")]
        yield from lines
        for line in lines:
            yield from _BORDER.split(line)


def compose(text: str) -> str:
    """Return a text in which letters with accents are one character each."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def words_in(text: str) -> list[str]:
    """Return the words of a text; in scripts without blanks every character is one."""
    if text.isascii():
        return _ASCII_WORD.findall(text.lower())
    return [token.word for token in tokens_in(text)]


def tokens_in(text: str) -> Iterator[Token]:
    """Yield the words of a text with their places."""
    for run in RUN.finditer(text):
        if is_unspaced(run[0]):
            for at, character in enumerate(run[0], run.start()):
                yield Token(character, at, at + 1)
        elif word := run[0].strip("_").casefold():
            yield Token(word, run.start(), run.end())


def goes_on(text: str, tokens: list[Token], at: int, count: int) -> bool:
    """Return whether lines hold more than the words that were found in them; marks and times do not count."""
    start = text.rfind("\n", 0, tokens[at].start) + 1
    end = text.find("\n", tokens[at + count - 1].end)
    return len(words_in(bare(text[start : len(text) if end < 0 else end]))) > count


def cut_spans(text: str, spans: Collection[tuple[int, int]]) -> str:
    """Return a text without some spans, which may overlap; lines of which no word is left go with them."""
    for start, end in _join(sorted(spans, reverse=True)):
        text = text[:start] + _GAP + text[end:]
    lines = [_close_gaps(line) for line in text.split("\n")]
    return "\n".join([line for line in lines if line is not None]).strip()


def _join(spans: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Join spans that overlap; they come, and are given, the last of them first."""
    start, end = spans[0]
    for earlier, its_end in spans[1:]:
        if its_end >= start:
            start, end = earlier, max(end, its_end)
        else:
            yield start, end
            start, end = earlier, its_end
    yield start, end


def _close_gaps(line: str) -> str | None:
    """Return a line with its gaps closed; nothing if no word is left in it."""
    if _GAP not in line:
        return line
    parts = line.split(_GAP)
    trimmed = [parts[0], *(part[len((_AFTER.match(part) or [""])[0]) :] for part in parts[1:])]
    rest = _GAPS.sub(" ", _GAP.join(trimmed)).rstrip()
    return rest if RUN.search(rest) else None
