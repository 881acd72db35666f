"""The Markdown headings a line stands under."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass

_LONGEST_TITLE = 120
"""Characters kept of a heading, so that context never outweighs the text it belongs to."""

# One pass finds headings and code fences alike; everything else is skipped by the regex engine. Nothing
# here can match in two ways, so a hostile line cannot make it try them all.
_MARK = re.compile(
    r"^ {0,3}(?:(?P<hashes>\#{1,6})[ \t]+(?P<title>\S.*)$|(?P<fence>```+|~~~+)(?P<info>.*)$)",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading, the line it stands on, and the headings above it."""

    line: int
    parents: tuple[str, ...]
    title: str


def outline(text: str) -> list[Heading]:
    """List the ATX headings of a Markdown text, without those inside fenced code."""
    if "#" not in text:
        return []
    headings: list[Heading] = []
    open_levels: list[tuple[int, str]] = []
    fence = ""
    line, counted = 1, 0
    for mark in _MARK.finditer(text):
        if mark["fence"]:
            fence = _after_fence(fence, mark["fence"], mark["info"])
            continue
        if fence:
            continue
        title = _title(mark["title"])
        if not title:
            continue
        line += text.count("\n", counted, mark.start())
        counted = mark.start()
        level = len(mark["hashes"])
        while open_levels and open_levels[-1][0] >= level:
            open_levels.pop()
        headings.append(Heading(line, tuple(name for _, name in open_levels), title))
        open_levels.append((level, title))
    return headings


def heading_above(headings: list[Heading], line: int) -> str:
    """Return the path of headings a line stands under, as `Decisions > Billing`.

    A line that is itself a heading stands under its parents only.
    """
    at = bisect_left(headings, line, key=lambda heading: heading.line)
    if at < len(headings) and headings[at].line == line:
        return " > ".join(headings[at].parents)
    if at == 0:
        return ""
    nearest = headings[at - 1]
    return " > ".join((*nearest.parents, nearest.title))


def _title(written: str) -> str:
    """Return a heading's text without the hashes that may close it."""
    title = written.rstrip()
    before = title.rstrip("#")
    closed = len(before) < len(title) and (not before or before[-1] in " \t")
    return (before.rstrip() if closed else title)[:_LONGEST_TITLE]


def _after_fence(current: str, marker: str, info: str) -> str:
    """Return the fence that is open after a fence line, or nothing."""
    if not current:
        # A backtick in the rest of the line means inline code, not a fence.
        return "" if marker[0] == "`" and "`" in info else marker
    closes = marker[0] == current[0] and len(marker) >= len(current) and not info.strip()
    return "" if closes else current
