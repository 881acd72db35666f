"""Print the answer to a query: wrapped and with found words highlighted on a terminal, plain in a pipe."""

from __future__ import annotations

import re
import shutil
import sys
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise

import click

from memlines.cli.output import harmless, harmless_name, is_terminal, warn
from memlines.serve.wire import say_changes, say_day
from memlines.text.highlight import Span, make_word_finder
from memlines.types import Hit, SearchResult

UNSURE = "No confident match. Nearest lines:"
_WORTH_A_LOOK = 0.1
"""Below this score or likelihood a line is nonsense, and is not mentioned."""

_INDENT = 6
_NARROWEST = 20
"""Columns; a narrower terminal is treated as this wide."""

_MARGIN = re.compile(r" *(?:(?:[-*+>]|\d{1,3}[.)]) +)?")
"""What comes before the text of a line: blanks and the sign of a list or a quote."""

_ROOM_FOR_A_PART = 12
"""Columns that must be left in a row for the beginning of a word that fits into none."""

_PIECE = re.compile(r" +|[^ ]+")


def print_changes(corrections: Mapping[str, str], aliases: Mapping[str, str]) -> None:
    """Print what was searched instead of words of a query, and beside them."""
    if changes := say_changes(corrections, aliases):
        click.echo(harmless(changes), err=True)


def print_answer(
    result: SearchResult,
    under: Callable[[Hit], str],
    *,
    citations: bool,
    reasons: Callable[[Hit], str] | None = None,
) -> None:
    """Print the hits of a query with the heading of each, or that there are none."""
    warn(*result.warnings)
    print_changes(result.corrections, result.aliases)
    if result.as_of:
        click.echo(f"{say_day(result.as_of)}.", err=True)
    if result and not result.confident:
        _print(UNSURE)
        click.echo()
    for hit in result:
        place = hit.citation if citations else hit.path
        _print_hit(hit, place, under(hit), reasons(hit) if reasons else "")
    if not result:
        _print("Nothing in memory answers this. Try other words.")
    if result.unfinished:
        click.echo(result.unfinished, err=True)
    if result.nearest is not None and min(result.nearest, result.likelihood) >= _WORTH_A_LOOK:
        hint = f"--min-score {_WORTH_A_LOOK:g} shows what is uncertain"
        click.echo(f"The nearest scored {result.nearest:.2f}; {hint}.", err=True)


def _print_hit(hit: Hit, place: str, under: str, reasons: str) -> None:
    """Print a hit: score, band and citation, its heading, the reasons if wanted, and its text."""
    sure = f"{hit.score:.2f} {hit.band:<6}  "
    head, about, reasons = sure + harmless_name(place), harmless_name(under), harmless(reasons)
    lines = harmless(hit.snippet).split("\n")
    if not is_terminal(sys.stdout):
        _print(f"{head}  {about}" if about else head)
        for line in [*filter(None, [reasons]), *lines]:
            _print(line, indent=_INDENT)
        click.echo()
        return
    _print(head, [(len(sure), len(head))], partial(click.style, fg="cyan", bold=True), hanging=_INDENT)
    for line in filter(None, [about, reasons]):
        _print(line, [(0, len(line))], partial(click.style, dim=True), _INDENT)
    spans_in = make_word_finder(hit.snippet, hit.why.words)
    for line in [line.expandtabs(4) for line in lines]:
        margin = _MARGIN.match(line)
        found = partial(click.style, fg="yellow", bold=True)
        _print(line, spans_in(line), found, _INDENT, len(margin[0]) if margin else 0)
    click.echo()


def _print(
    text: str,
    spans: Sequence[Span] = (),
    style: Callable[[str], str] = str,
    indent: int = 0,
    hanging: int = 0,
) -> None:
    """Print a text with some parts styled; on a terminal in rows that fit, all but the first further in."""
    if not is_terminal(sys.stdout):
        click.echo(f"{' ' * indent}{text}".rstrip())
        return
    if not text.strip():
        click.echo()
        return
    width = max(_NARROWEST, shutil.get_terminal_size().columns) - indent
    hanging = min(hanging, width // 2)
    for at, (begin, end) in enumerate(_wrap(text.rstrip(), width, hanging)):
        margin = " " * (indent + hanging if at else indent)
        click.echo(f"{margin}{_style_spans(text, begin, end, spans, style)}")


def _style_spans(text: str, begin: int, end: int, spans: Sequence[Span], style: Callable[[str], str]) -> str:
    """Return a part of a text, with the spans that reach into it styled."""
    inside = [(max(begin, first), min(end, last)) for first, last in spans if first < end and begin < last]
    edges = [begin, *(edge for span in inside for edge in span), end]
    parts = [text[first:last] for first, last in pairwise(edges)]
    return "".join(style(part) if at % 2 else part for at, part in enumerate(parts))


# How a text is wrapped


def _wrap(text: str, width: int, hanging: int) -> list[Span]:
    """Cut a text into rows that fit, between words where that is possible; all but the first are shorter."""
    rows: list[Span] = []
    start = end = taken = 0
    for first, last in _pieces(text):
        room = width - hanging if rows else width
        cells = _cells(text[first:last])
        if taken + cells > room:
            if text[first] == " ":  # blanks where a row ends are not shown
                first = last
            if first == last or cells <= width - hanging or room - taken < _ROOM_FOR_A_PART:
                if taken:
                    rows.append((start, start + len(text[start:end].rstrip(" "))))
                start, taken, room = first, 0, width - hanging
            while taken + (cells := _cells(text[first:last])) > room:
                first += _count_fitting(text[first:last], room - taken)
                rows.append((start, first))
                start, taken, room = first, 0, width - hanging
        end, taken = last, taken + cells
    return [*rows, (start, end)] if end > start or not rows else rows


def _pieces(text: str) -> Iterator[Span]:
    """Yield what stays together in a row: blanks, words, and single characters of scripts without blanks."""
    for piece in _PIECE.finditer(text):
        begin = piece.start()
        if not piece[0].isascii():
            for at in range(piece.start() + 1, piece.end()):
                if _cells(text[at]) and (_is_wide(text[at]) or _is_wide(text[at - 1])):
                    yield begin, at
                    begin = at
        yield begin, piece.end()


def _count_fitting(word: str, width: int) -> int:
    """Return how many characters of a long word fit, at least one; if that is far enough, up to a slash."""
    taken, fits = 0, len(word)
    for at, character in enumerate(word):
        taken += _cells(character)
        if taken > width:
            fits = max(1, at)
            break
    slash = word.rfind("/", fits // 2, fits)
    return slash + 1 if 0 < slash < len(word) - 1 else fits


def _cells(text: str) -> int:
    """Return how many columns a text takes on a terminal."""
    if text.isascii():
        return len(text)
    return sum(
        2 if _is_wide(character) else 0 if unicodedata.category(character) in ("Mn", "Me", "Cf") else 1
        for character in text
    )


def _is_wide(character: str) -> bool:
    return unicodedata.east_asian_width(character) in ("W", "F")
