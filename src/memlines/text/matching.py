"""Recognise a text by its words, wherever it appears: the pieces it is found by, and what is left without it.

A text is compared word by word, whatever its case, white space, punctuation and list markers; the time at the
beginning of an entry does not count.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Collection, Iterator
from typing import NamedTuple

from memlines.text.chunk import BORDER, weigh
from memlines.text.entries import entries_of
from memlines.text.facts import CATEGORIES
from memlines.text.terms import RUN, is_unspaced

TELLING = 20
"""The least weight of a text that is found inside a longer one; a shorter entry has to be a whole line."""

_LEAD = re.compile(
    r"\s*(?:(?:[-+*]|\d{1,9}[.)])\s+)*(?:\[[ xX]\]\s+)?"
    r"(?:[*_`(\[]*(?:\d{4}-\d{2}-\d{2}:?|\d{1,2}:\d{2}(?::\d{2})?)[*_`)\]]*(?=\s|$)\s*"
    r"(?:[-\u2013\u2014]\s+)?)?"
)
_SESSION_MARK = re.compile(r"\s*\[session [^\]\n]*\]")
_CATEGORY = re.compile(rf"\[(?:{'|'.join(CATEGORIES)})\]\s+")
_AFTER_FACT = re.compile(r"\s*(?:\{[^{}]*\}\s*)?\^[a-z2-7]{10}\s*$")
"""What is around the words of a fact in its note: its category before, its origin and its name after."""

_ASCII_WORD = re.compile(r"[a-z0-9](?:[a-z0-9_]*[a-z0-9])?")
_GAP = "\0"
_GAPS = re.compile(rf"\s*{_GAP}[\s{_GAP}]*")
_SIGNS_BEHIND = re.compile(rf"{_GAP}[.,;:!?)\]\"'*_`\u2026\u3002\uff01\uff1f\uff0c]*")


class Token(NamedTuple):
    """A word as it is compared, and its place in the text."""

    word: str
    start: int
    end: int


def pieces_of(text: str) -> tuple[list[str], bool]:
    """Return the pieces that a text is recognised by, and whether each has to fill lines of its own.

    The pieces are the text itself and each of its lines and sentences, if long enough. Lines of code
    are the same everywhere, and so are headings: they do not count unless there is nothing else.
    """
    entries = entries_of(text)
    pieces: list[str] = []
    for entry in [entry for entry in entries if entry.kind != "heading"] or entries:
        pieces.append(bare(entry.text))
        if entry.kind != "code":
            lines = [bare(line) for line in entry.text.split("\n")]
            pieces += lines
            pieces += [sentence for line in lines for sentence in BORDER.split(line)]
    distinct = list(dict.fromkeys(pieces))
    long = [piece for piece in distinct if weigh(" ".join(words_in(compose(piece)))) >= TELLING]
    return (long, False) if long else (distinct[:1], True)


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


def compose(text: str) -> str:
    """Return a text in which letters with accents are one character each."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def entry_id(text: str) -> str:
    """Return what an entry is known by wherever it is: a hash of its words."""
    words = " ".join(words_in(compose(bare(text))))
    return hashlib.sha256(words.encode(errors="surrogatepass")).hexdigest()[:16]


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


def cut_spans(text: str, spans: Collection[tuple[int, int]], *, keep_lines: bool = False) -> str:
    """Return a text without some spans, which may overlap; lines of which no word is left go with them.

    With `keep_lines` these are left empty, so that all others keep their numbers.
    """
    characters = list(text)
    for start, end in spans:
        kept = [f"{_GAP}\n{_GAP}" if keep_lines and one == "\n" else "" for one in text[start + 1 : end]]
        characters[start:end] = [_GAP, *kept]
    lines = []
    for line in "".join(characters).split("\n"):
        if _GAP not in line:
            lines.append(line)
        elif RUN.search(rest := _GAPS.sub(" ", _SIGNS_BEHIND.sub(_GAP, line)).rstrip()):
            lines.append(rest)
        elif keep_lines:
            lines.append("")
    return "\n".join(lines) if keep_lines else "\n".join(lines).strip()
