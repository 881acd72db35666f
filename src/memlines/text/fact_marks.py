"""What stands around the words of a fact: a marker, marks that strike them through, details, a name.

Details stand in braces behind the words: `{importance: 0.9, from: capture codex 01ab, reviewed}`.
"""

from __future__ import annotations

import hashlib
import re
from base64 import b32encode
from collections.abc import Callable, Mapping
from datetime import date
from functools import lru_cache
from textwrap import dedent

from memlines.text.entries import entries_of

STRUCK = "struck"
"""Written behind a fact that is struck through where the marks alone could be mistaken."""

ID_LENGTH = 10
ID = re.compile(rf"[a-z2-7]{{{ID_LENGTH}}}")
"""The name of a fact."""

NAME = re.compile(rf"(?:^|[ \t]+)\^({ID.pattern})$")
"""Such a name at the end of a line."""

DETAILS = re.compile(r"(?:^|[ \t]+)\{([^{}]*)\}$")
"""Braces at the end of a line, ours or not."""

STRIKE = "~~"
_MARKER = re.compile(r" {0,3}(?:[-+*]|\d{1,9}[.)])(?:[ \t]+|$)(?:\[[ xX]\](?:[ \t]+|$))?")
_STRUCK = re.compile(r"~~(.*)~~", re.DOTALL)


def behind_marker(line: str) -> tuple[str, str]:
    """Return the marker of an item with the blank behind it, and the words of its line."""
    marker = _MARKER.match(line)
    end = marker.end() if marker else 0
    lead = line[:end]
    return lead if not lead or lead[-1] in " \t" else f"{lead} ", " ".join(line[end:].split())


def unstruck(text: str, was: bool = False, *, whatever_is_inside: bool = False) -> tuple[str, bool]:
    """Return a text without the marks that strike all of it through, and whether it is or was struck.

    A text in which several parts are struck through begins and ends like that as well.
    """
    struck = _STRUCK.fullmatch(text) if text.startswith(STRIKE) else None
    if struck and (whatever_is_inside or STRIKE not in struck[1]):
        return struck[1].strip(), True
    return text, was


def without_end(text: str, name: str = "") -> str:
    """Return a text without the name at its end (a given one, or any) and what we write in front of it."""
    mark = NAME.search(text)
    if mark is None or name not in ("", mark[1]):
        return text
    rest = text[: mark.start()]
    more = DETAILS.search(rest)
    return rest[: more.start()] if more and details_in(more[1]) is not None else rest


def holds_prose(below: str) -> bool:
    """Tell whether there are words below the first line of an item that are no list and no code."""
    return any(entry.kind == "paragraph" for entry in entries_of("\n" + dedent(below)))


def id_of(text: str) -> str:
    """Return the name of a fact that was given none: always the same for the same text."""
    digest = hashlib.sha256(text.encode(errors="surrogatepass")).digest()
    return b32encode(digest).decode("ascii").lower()[:ID_LENGTH]


def details_in(inside: str) -> dict[str, str] | None:
    """Return what stands in braces by its names, or nothing if it is not ours."""
    known: dict[str, str] = {}
    for part in inside.split(",") if inside.strip() else ():
        key, _, value = part.partition(":")
        name, word = key.strip(), value.strip()
        if name not in _MEANT or not _MEANT[name](word):
            return None
        known[name] = word
    return known


def number_of(value: float) -> str:
    """Return an importance as it is written."""
    short = f"{value:g}"
    return short if float(short) == value else repr(value)


def importance_in(written: str) -> float | None:
    """Return the importance that a word says, from 0 to 1; nothing if it says none."""
    try:
        value = float(written)
    except ValueError:
        return None
    return min(1.0, max(0.0, value)) if value == value else None


@lru_cache(maxsize=4_096)  # most facts of a note share their day with others
def day_in(written: str) -> date | None:
    """Return the day that a word says, if it says one."""
    try:
        return date.fromisoformat(written) if written else None
    except ValueError:
        return None


_MEANT: Mapping[str, Callable[[str], object]] = {
    "importance": lambda word: importance_in(word) is not None,
    "from": lambda word: word,
    "since": day_in,
    "until": day_in,
    "now": ID.fullmatch,
    "reviewed": lambda word: not word,
    STRUCK: lambda word: not word,
}
"""What may stand in braces behind a fact, and when it makes sense; anything else there is text."""
