"""Comments of a Markdown text that stand on lines of their own: nobody sees what is in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from recollect.text.entries import unclosed_fence

_OPENS = "<!--"
_CLOSES = "-->"
_INDENTED = ("  ", "\t", " \t")
_RULE = "***"
_FENCES = ("```", "~~~")
_FRONT_MATTER = "---"
_FRONT_MATTER_ENDS = ("---", "...")


def without_comments(lines: Sequence[str]) -> list[str]:
    """Return the lines of a text with others in the place of comments, so that all keep their numbers.

    A comment begins on a line of its own, at any indent and outside of code, and ends with the line that
    closes it. Of one that is never closed only the first line counts: all that follows would be lost. One at
    the margin ends the item above it, as a rule does; one that is indented is a gap in its item.
    """
    shown = list(lines)
    if any(_OPENS in line for line in lines):
        for first, last in _comments_in(lines):
            is_nested = lines[first].startswith(_INDENTED)
            shown[first : last + 1] = ["" if is_nested else _RULE] * (last + 1 - first)
    return shown


def _comments_in(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the first and the last line of every comment, counted from 0."""
    last_close = max((at for at, line in enumerate(lines) if _CLOSES in line), default=-1)
    fence = ""
    at = _front_matter(lines)
    while at < len(lines):
        line = lines[at].strip()
        if fence:
            is_closed = len(line) >= len(fence) and line == fence[0] * len(line)
            fence = "" if is_closed else fence
        elif line.startswith(_OPENS):
            first = at
            if _CLOSES not in line[2:] and at < last_close:
                at = next(end for end in range(at + 1, len(lines)) if _CLOSES in lines[end])
            yield first, at
        elif any(mark in line for mark in _FENCES):
            fence = unclosed_fence(line).strip()
        at += 1


def _front_matter(lines: Sequence[str]) -> int:
    """Return how many lines the front matter takes."""
    if not lines or lines[0].rstrip() != _FRONT_MATTER:
        return 0
    ends = (at for at in range(1, len(lines)) if lines[at].rstrip() in _FRONT_MATTER_ENDS)
    return next(ends, -1) + 1
