"""What a query asks for: words to rank by, and what narrows the search.

`"a phrase"` must stand there, `-word` must not; `path:people`, `source:sessions`, `after:2026-05`
and `before:2026-06-01` say where to look. Whatever does not read like one of these is text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from recollect.search.when import day_of
from recollect.types import IndexedChunk

_MARK = re.compile(
    r"(?<!\S)(?:"
    r'(?P<key>path|source|after|before):(?P<value>"[^"]+"|\S+)'
    r"|-(?P<without>\w+)"
    r'|"(?P<phrase>[^"]*\w[^"]*)"'
    r")(?!\S)"
)
_DAY = re.compile(r"\d{4}(?:-\d{2}(?:-\d{2})?)?")
_BLANKS = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Asked:
    """A query taken apart."""

    text: str
    phrases: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    after: str = ""
    before: str = ""

    @property
    def narrows(self) -> bool:
        """Whether anything but text was asked for."""
        return self != Asked(self.text)


def parse(query: str) -> Asked:
    """Take a query apart; one that only narrows is searched by the words it narrows with."""
    found: dict[str, list[str]] = {
        key: [] for key in ("phrase", "without", "path", "source", "after", "before")
    }

    def take(mark: re.Match[str]) -> str:
        if mark["phrase"]:
            found["phrase"].append(_plain(mark["phrase"]))
            return mark["phrase"]
        if mark["without"]:
            found["without"].append(mark["without"])
            return ""
        key, value = mark["key"], mark["value"].strip('"')
        if not _is_meant(key, value):
            return mark[0]
        found[key].append(value)
        return ""

    text = _MARK.sub(take, query).strip()
    if not text:
        return Asked(query)
    return Asked(
        text,
        tuple(found["phrase"]),
        tuple(found["without"]),
        tuple(found["path"]),
        tuple(found["source"]),
        max(found["after"], default=""),
        min(found["before"], default=""),
    )


def filter_of(asked: Asked, matched: Callable[[str, str], tuple[str, ...]]) -> Callable[[IndexedChunk], bool]:
    """Return a function that tells whether a chunk is what a query narrows to.

    `matched` tells which of the words that must not occur a text in a language holds.
    """

    def fits(chunk: IndexedChunk) -> bool:
        day = day_of(chunk)
        return (
            (not asked.sources or chunk.source in asked.sources)
            and all(_is_below(path, chunk.path) for path in asked.paths)
            and (not asked.after or (bool(day) and day >= asked.after))
            and (not asked.before or (bool(day) and day < asked.before))
            and all(phrase in _plain(f"{chunk.heading} {chunk.text}") for phrase in asked.phrases)
            and not (asked.without and matched(f"{chunk.heading} {chunk.text}", chunk.language))
        )

    return fits


def _is_meant(key: str, value: str) -> bool:
    if key in ("after", "before"):
        return _DAY.fullmatch(value) is not None
    return key == "path" or value in ("memory", "sessions")


def _is_below(wanted: str, path: str) -> bool:
    return fnmatchcase(path, wanted) if "*" in wanted else wanted.casefold() in path.casefold()


def _plain(text: str) -> str:
    return _BLANKS.sub(" ", text.casefold()).strip()
