"""Comments of a Markdown text that stand on lines of their own: nobody sees what is in them.

Two of them stand around what one session wrote at once:

    <!-- session ses_1 -->
    - 14:32 We chose Postgres 17
    <!-- /session -->
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memlines.text.entries import entries_of, entry_at, session_in, unclosed_fence

_OPENS = "<!--"
_CLOSES = "-->"
_SESSIONS = ("<!-- session ", "<!-- /session ")
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


def session_comments(text: str) -> dict[int, str]:
    """Return the lines that are comments around what a session wrote, counted from 1.

    Each comes with the name of the session that it opens; the name is empty if it closes one.
    """
    if not any(mark in text for mark in _SESSIONS):
        return {}
    entries = entries_of(text)
    names = ((number, session_in(line)) for number, line in enumerate(text.split("\n"), 1))
    # What stands in code is an example.
    return {number: name for number, name in names if name is not None and not entry_at(entries, number)}


def without_session_comments(text: str) -> str:
    """Return a text with blank lines in the place of the comments around what a session wrote."""
    comments = session_comments(text)
    if not comments:
        return text
    lines = text.split("\n")
    return "\n".join("" if number in comments else line for number, line in enumerate(lines, 1))


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
