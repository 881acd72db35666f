"""Change a Markdown text by whole lines: add a block, replace lines, cut lines out.

Everything that is not changed stays as it is, down to its line ends; new lines get those of the text.
Only line feeds separate lines. Lines are counted from 1, and both ends of a range are included.
"""

from __future__ import annotations

from io import StringIO

from memlines.records import dataclass
from memlines.text.entries import (
    entries_of,
    last_kind,
    own_text_of,
    session_comments,
    title_of,
    unclosed_fence,
)


@dataclass(frozen=True, slots=True)
class Edited:
    """A changed text, and the lines that are new in it."""

    text: str
    first: int
    last: int


def tidy(block: str) -> str:
    """Return a block with plain line ends, without blank lines around it, and with its code closed.

    Code that is left open would take in everything that is added later.
    """
    lines = block.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    while lines and not lines[-1].strip():
        lines.pop()
    while lines and not lines[0].strip():
        lines.pop(0)
    closing = unclosed_fence("\n".join(lines))
    return "\n".join([*lines, closing] if closing else lines)


def add(text: str, block: str, under: str | None = None) -> Edited:
    """Add a block at the end of a text, or at the end of the text directly under a heading.

    A heading that is missing is added at the end. What is added at the end only adds: the old text is the
    beginning of the new one.
    """
    end = line_end_of(text)
    if under is None:
        return _append(text, block, end)
    place = own_text_of(text, under)
    if place is None:
        if closing := unclosed_fence(text):  # a heading in code is none, and would be added every time
            separator = "" if text.endswith("\n") else end
            text = f"{text}{separator}{closing}{end}"
        return _append(_append(text, f"## {title_of(under)}", end).text, block, end)
    lines = split(text)
    first, last = place
    if last < len(lines):  # another heading follows: the blank lines before it stay before it
        while last > first and not lines[last - 1].strip():
            last -= 1
    added = _append("".join(lines[:last]), block, end)
    gap = end if last < len(lines) and lines[last].strip() else ""
    return Edited("".join([added.text, gap, *lines[last:]]), added.first, added.last)


def locate(text: str, first: int, last: int, expected: str) -> tuple[int, int] | None:
    """Return where the expected lines are: at the place that is named, or the only other one."""
    wanted = tidy_end(expected).split("\n")
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    named = [
        _bare(line) for line in lines[first - 1 : last]
    ]  # usually they are there: no need to look further
    if named == wanted and 1 <= first <= last <= len(lines):
        return first, last
    lines = [_bare(line) for line in lines]
    size = len(wanted)
    starts = [at for at, line in enumerate(lines) if line == wanted[0] and lines[at : at + size] == wanted]
    return (starts[0] + 1, starts[0] + size) if len(starts) == 1 else None


def put(text: str, first: int, last: int, block: str) -> Edited:
    """Put a block in the place of some lines."""
    lines = split(text)
    new = _with_ends(block, line_end_of(text))
    if not lines[last - 1].endswith("\n"):
        new = _bare(new)
    lines[first - 1 : last] = [new]
    return Edited("".join(lines), first, first + block.count("\n"))


def cut(text: str, first: int, last: int) -> str:
    """Take some lines out, with the blank line that would be doubled or left over at an end.

    Comments around what a session wrote go as well when nothing is left between them.
    """
    lines = split(text)
    comments = session_comments(text)
    if comments.get(first - 1) and comments.get(last + 1) == "":
        first, last = first - 1, last + 1
    before, after = lines[: first - 1], lines[last:]
    blank_before = not before or not before[-1].strip()
    blank_after = not after or not after[0].strip()
    if blank_before and blank_after:
        if after:
            after.pop(0)
        elif before:
            before.pop()
    return "".join(before + after)


def split(text: str) -> list[str]:
    """Return the lines of a text with their ends; the last one may have none."""
    return StringIO(text, newline="\n").readlines()


def line_end_of(text: str) -> str:
    """Return how most lines of a text end."""
    return "\r\n" if 2 * text.count("\r\n") > text.count("\n") else "\n"


def tidy_end(text: str) -> str:
    """Return a text with plain line ends and without the last of them."""
    return text.replace("\r\n", "\n").removesuffix("\n")


def _append(text: str, block: str, end: str) -> Edited:
    """Put a block below the last line, and a blank line between them unless both are items of one list."""
    above = text if not text or text.endswith("\n") else text + end
    if above[above.rfind("\n", 0, -1) + 1 :].strip():
        new = entries_of(block)
        goes_on = bool(new) and last_kind(above) == new[0].kind == "item"
        above += "" if goes_on else end
    first = above.count("\n") + 1
    return Edited(above + _with_ends(block, end), first, first + block.count("\n"))


def _with_ends(block: str, end: str) -> str:
    return block.replace("\n", end) + end


def _bare(line: str) -> str:
    return line.removesuffix("\n").removesuffix("\r")
