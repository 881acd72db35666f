"""Read what qmd prints: hits in JSON, with whatever else is around them."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from typing import Any, NamedTuple

from memlines.errors import QmdFailed
from memlines.paths import is_unicode

_MOST_TRIES = 50
"""Brackets at which an array is tried; one that is never closed takes as long as reading all the rest."""

_ARRAY = re.compile(r"\[(?=\s*[{\]])")
_HEADER = re.compile(r"\s*@@ -(\d{1,9}),(\d{1,9})")
_FILE = re.compile(r"qmd://([^/]+)/(.+?)(?:\?index=[^?]*)?", re.DOTALL)
_LARGEST_LINE = 10**9


class QmdHit(NamedTuple):
    """A file that qmd found, by its path below the folder of a collection, and lines in it."""

    collection: str
    path: str
    first: int
    last: int
    score: float


def parse_hits(output: str) -> list[QmdHit]:
    """Return the first array with hits in what was printed; raise `QmdFailed` if it is no answer."""
    decoder, position, is_answer = json.JSONDecoder(), 0, False
    for _ in range(_MOST_TRIES):
        bracket = _ARRAY.search(output, position)
        if bracket is None:
            break
        position = bracket.end()
        with suppress(ValueError, RecursionError):  # a bracket that begins no array
            rows, position = decoder.raw_decode(output, bracket.start())
            if all(isinstance(row, dict) for row in rows):
                is_answer = True
                if hits := [hit for row in rows if (hit := _read_hit(row)) is not None]:
                    return hits
    if is_answer or any(line.strip().lower().startswith("no results found") for line in output.splitlines()):
        return []
    raise QmdFailed(f"qmd printed something else than hits: {output.strip()[:80]!r}")


def _read_hit(row: dict[str, Any]) -> QmdHit | None:
    """Return a hit; nothing if it names no file of a collection, or one that no file can have as its name.

    Its lines are those that it names, else those above its snippet, else as many as that has.
    """
    named = _FILE.fullmatch(str(row.get("file")))
    if named is None or "\0" in named[2] or not is_unicode(named[2]):
        return None
    score, snippet = row.get("score"), str(row.get("snippet", ""))
    header = _HEADER.match(snippet)
    begin, count = map(int, header.groups()) if header else (1, snippet.count("\n") + 1)
    first = _read_line(row, "start_line", "startLine", "line")
    last = _read_line(row, "end_line", "endLine")
    if not first:
        first, last = max(1, begin), begin + count - 1
    likely = max(0.0, min(score, 1.0)) if isinstance(score, int | float) else 0.0  # NaN too
    return QmdHit(named[1], named[2], first, max(first, last), likely)


def _read_line(row: dict[str, Any], *names: str) -> int:
    """Return the first of these fields that is the number of a line, or 0."""
    numbers = [row.get(name) for name in names]
    return next((one for one in numbers if type(one) is int and 0 < one < _LARGEST_LINE), 0)
