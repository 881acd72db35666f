"""How hits are printed: on a terminal wrapped, with the words that were found; into a pipe as they are."""

from __future__ import annotations

import shutil
import sys
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import replace

import click

from recollect.cli.common import harmless, harmless_name, is_terminal
from recollect.search.answer import part_of
from recollect.text.language import language_of
from recollect.text.terms import RUN, is_unspaced, query_terms, terms_of_run
from recollect.types import Hit, SearchResult

_MOST_ROWS = 8
_INDENT = "      "
_NARROWEST = 20
"""Columns below which a terminal is not believed to be one."""

_Marked = Callable[[str], str]


def print_hit(hit: Hit, under: str, *, citations: bool, full: bool, reasons: str = "") -> None:
    """Print a hit: its score and citation, what it stands under, the reasons if wanted, and its text."""
    hit = replace(hit, snippet=harmless(hit.snippet))
    lines = hit.snippet.split("\n")
    rows = lines
    if is_terminal(sys.stdout):
        marked = _marker(hit)
        width = max(_NARROWEST, shutil.get_terminal_size().columns) - len(_INDENT)
        shown, rows = _rows(lines, width, None if full else _MOST_ROWS, marked)
        hit = part_of(hit, "\n".join(lines[shown.start : shown.stop]))
        rows = [marked(row) for row in rows]
    place = hit.citation if citations else hit.path
    head = f"{hit.score:.2f}  {click.style(harmless_name(place), fg='cyan', bold=True)}"
    about = click.style(harmless_name(under), dim=True)
    if not is_terminal(sys.stdout):
        click.echo(f"{head}  {about}" if under else head)
    else:
        click.echo(head)
        if under:
            click.echo(f"{_INDENT}{about}")
    if reasons:
        click.secho(f"{_INDENT}{harmless(reasons)}", dim=True)
    for row in rows:
        click.echo(f"{_INDENT}{row}".rstrip())
    click.echo()


def print_end(result: SearchResult) -> None:
    """Say what is to be said below the hits: that there are none, and what cannot be found yet."""
    if not result:
        click.echo("Nothing in memory answers this. Try other words.")
    if result.unfinished:
        click.echo(result.unfinished, err=True)


def _marker(hit: Hit) -> _Marked:
    """Return what highlights the words that a hit was found by, in whatever form they stand in a text."""
    language = language_of(hit.snippet)
    wide = [word for word in hit.why.words if is_unspaced(word)]
    terms = {term for word in hit.why.words for term in query_terms(word, (language,))}

    def marked(text: str) -> str:
        parts: list[str] = []
        end = 0
        for run in RUN.finditer(text):
            parts.append(text[end : run.start()])
            parts.append(_marked_run(run[0], wide, terms, language))
            end = run.end()
        return "".join([*parts, text[end:]])

    return marked


def _marked_run(run: str, wide: Sequence[str], terms: set[str], language: str) -> str:
    if is_unspaced(run):
        for word in wide:
            run = run.replace(word, _highlighted(word))
        return run
    found = {*terms_of_run(run, language), *terms_of_run(run, "")}
    return run if found.isdisjoint(terms) else _highlighted(run)


def _highlighted(word: str) -> str:
    return click.style(word, fg="yellow", bold=True)


def _rows(lines: Sequence[str], width: int, most: int | None, marked: _Marked) -> tuple[range, list[str]]:
    """Return which lines are shown and as which rows: all, or those with the most marks that fit."""
    wrapped = [_wrapped(line, width) for line in lines]
    if most is None or sum(map(len, wrapped)) <= most:
        return range(len(lines)), [row for rows in wrapped for row in rows]
    marks = [_marks(line, marked) for line in lines]
    best = marks.index(max(marks))
    first, end = best, best + 1
    room = most - len(wrapped[best])
    while end < len(lines) and len(wrapped[end]) <= room:
        room -= len(wrapped[end])
        end += 1
    while first and len(wrapped[first - 1]) <= room:
        first -= 1
        room -= len(wrapped[first])
    if room < 0:
        return range(best, best + 1), _cut(wrapped[best], most, marked)
    return range(first, end), [row for rows in wrapped[first:end] for row in rows]


def _cut(rows: Sequence[str], most: int, marked: _Marked) -> list[str]:
    """Return so many rows of one long line around the first that is marked; `…` says what was left out."""
    first = next((at for at, row in enumerate(rows) if _marks(row, marked)), 0)
    first = max(0, min(first - 1, len(rows) - most))
    shown = list(rows[first : first + most])
    if first:
        shown[0] = f"…{shown[0][1:]}"
    if first + most < len(rows):
        shown[-1] = f"{shown[-1][:-1]}…"
    return shown


def _marks(text: str, marked: _Marked) -> int:
    return len(marked(text)) - len(text)


def _wrapped(line: str, width: int) -> list[str]:
    """Cut a line into rows of so many columns, between words where that is possible."""
    rows: list[str] = []
    row, taken = "", 0
    for word in line.expandtabs(4).rstrip().split(" "):
        cells = _cells(word)
        if row and taken + 1 + cells <= width:
            row, taken = f"{row} {word}", taken + 1 + cells
            continue
        if row or rows:
            rows.append(row)
        row, taken = word, cells
        while taken > width:
            fits = _fitting(row, width)
            rows.append(row[:fits])
            row, taken = row[fits:], _cells(row[fits:])
    return [*rows, row]


def _fitting(text: str, width: int) -> int:
    """Return how many characters of a text fit, at least one."""
    taken = 0
    for at, character in enumerate(text):
        taken += _cells(character)
        if taken > width:
            return max(1, at)
    return len(text)


def _cells(text: str) -> int:
    """Return how many columns a text takes on a terminal."""
    if text.isascii():
        return len(text)
    return sum(
        2 if unicodedata.east_asian_width(character) in "WF" else 0 if unicodedata.combining(character) else 1
        for character in text
    )
