"""Cut a Markdown text into the entries a person would point at.

An entry is a list item with everything indented below it, a paragraph, a fenced code block, or the line
of a heading. Blank lines, rules, the front matter and the comments around what a session wrote belong to
none. The rules are those of CommonMark where people follow them, and lenient where they do not: an entry
that is one line too long is shown before it is changed, one that is cut in the middle of code is damage.

Headings are those of `outline`. A fence that begins on the line of its list item is followed here, while
`outline` ignores it.

Comments on lines of their own are text that readers of the note do not see. Two of them surround what one
session wrote at once:

    <!-- session ses_1 -->
    - 14:32 We chose Postgres 17
    <!-- /session ses_1 -->
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal

from memlines.records import dataclass
from memlines.text.outline import CODE_FENCE, closes, fence_in, heading_above, outline

Kind = Literal["heading", "item", "paragraph", "code"]

_ITEM = re.compile(r"(?:[-+*]|(?P<number>\d{1,9})[.)])(?=[ \t]|$)")
_MARKERS = re.compile(r"(?:(?:[-+*]|\d{1,9}[.)])(?:[ \t]++|$))*+")
_RULE = re.compile(r" {0,3}([-*_])[ \t]*+(?:\1[ \t]*+){2,}+\s*")
_PLAIN = re.compile(r" *[^\W\d_]")
"""The beginning of a line that can only be prose; most are, and need no further check."""

_COMMENT = "<!--"
_COMMENT_ENDS = "-->"
_SESSIONS = ("<!-- session ", "<!-- /session ")
_SESSION_NAME = r"(?:(?!--)[^<>\[\]])+"
_SESSION_COMMENT = re.compile(
    rf"<!-- (?:session (?P<id>{_SESSION_NAME})|/session(?: {_SESSION_NAME})?) -->\s*"
)

_FENCES = ("```", "~~~")
_TAIL = 20_000
"""Characters at the end of a text in which its last item is looked for."""

_FRONT_MATTER = "---"
_FRONT_MATTER_ENDS = ("---", "...")
_CODE_INDENT = 4
_INDENTED = ("  ", "\t", " \t")
_AS_RULE = "***"
_NESTED = 2
"""Columns behind an item's marker that people use for nesting, also where CommonMark requires more."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry: its lines, counted from 1 and both included, and the headings above it."""

    kind: Kind
    first: int
    last: int
    text: str
    heading: str


def last_kind(text: str) -> Kind | None:
    """Return the kind of the last entry of a text; of a long list only the last item is read."""
    start = 0
    if not any(mark in text for mark in _FENCES) and not text.startswith(_FRONT_MATTER):
        # Outside of code, a line that begins with a dash and words begins an entry.
        found = re.match(r"(?s:.*)^- \S", text[-_TAIL:], re.MULTILINE)
        start = max(0, len(text) - _TAIL) + found.end() - len("- x") if found else 0
    entries = entries_of(text[start:])
    return entries[-1].kind if entries else None


def entries_of(text: str) -> tuple[Entry, ...]:
    """List the entries of a text in order; none overlaps another, and nested items are part of theirs."""
    lines = _lines_of(text)
    spans = _Walk(lines).spans()
    is_heading = {first for kind, first, _ in spans if kind == "heading"}
    headings = outline("\n".join([line if at in is_heading else "" for at, line in enumerate(lines, 1)]))
    return tuple(
        Entry(kind, first, last, "\n".join(lines[first - 1 : last]), heading_above(headings, first))
        for kind, first, last in spans
    )


def session_in(line: str) -> str | None:
    """Return the session that a line opens as a comment, or an empty name if it closes one."""
    comment = _SESSION_COMMENT.fullmatch(line) if line.startswith(_COMMENT) else None
    return (comment["id"] or "") if comment else None


def own_text_of(text: str, title: str) -> tuple[int, int] | None:
    """Return the lines from a heading up to the next one, or nothing if there is no such heading.

    Case and white space do not count; of several headings with the same title the first is taken.
    """
    wanted = " ".join(title_of(title).casefold().split())
    lines = _lines_of(text)
    first = 0
    for kind, line, _ in _Walk(lines).spans():
        if kind != "heading":
            continue
        if first:
            return first, line - 1
        if wanted and " ".join(_title(lines[line - 1]).casefold().split()) == wanted:
            first = line
    return (first, len(lines)) if first else None


def title_of(words: str) -> str:
    """Return words the way a heading shows them: on one line, without marks; empty if nothing is left."""
    plain = " ".join(words.split())
    return _title(plain) or _title(f"# {plain}")


def unclosed_fence(text: str) -> str:
    """Return the line that would close the code a text ends with, or nothing if it ends outside of code."""
    fence = closing = ""
    for line in _lines_of(text):
        if fence:
            fence = "" if closes(line, fence) else fence
            continue
        words = _behind_markers(line.lstrip(" \t"))
        fence = fence_in(words)
        closing = " " * (len(line) - len(words)) + fence
    return closing if fence else ""


def _lines_of(text: str) -> list[str]:
    """Return the lines of a text without their ends; a final line break starts no other line."""
    lines = text.removeprefix("\ufeff").split("\n")
    if not lines[-1]:
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def _title(line: str) -> str:
    """Return the title of a line that is a heading, or nothing."""
    headings = outline(line) if line.lstrip(" ").startswith("#") else []
    return headings[0].title if headings else ""


def _indent(line: str) -> int:
    """Return the column a line begins at; a tab goes on to the next multiple of four."""
    if not line.startswith((" ", "\t")):
        return 0
    white = line[: len(line) - len(line.lstrip(" \t"))]
    return len(white.expandtabs(_CODE_INDENT))


def _is_rule(line: str) -> bool:
    return _RULE.fullmatch(line) is not None


def _item_marker(line: str) -> re.Match[str] | None:
    if _indent(line) >= _CODE_INDENT or _is_rule(line):
        return None
    return _ITEM.match(line.lstrip(" "))


def _interrupts(line: str) -> bool:
    """Return whether a line ends the paragraph directly above it."""
    if _PLAIN.match(line):
        return False
    words = line.lstrip(" ")
    if _title(line) or (_indent(line) < _CODE_INDENT and (words.startswith(_COMMENT) or fence_in(words))):
        return True
    if _is_rule(line):
        return line.strip().strip("-") != ""  # dashes alone underline the paragraph
    marker = _item_marker(line)
    if marker is None:
        return False
    # "in\n1986. Then" is prose: only a list that starts at one, and with words, begins inside a paragraph.
    return words[marker.end() :].strip() != "" and marker["number"] in (None, "1")


class _Walk:
    """One pass over the lines; `at` is the line that is looked at, counted from 0."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.at = _front_matter(lines)
        self._never_closed: dict[str, int] = {}

    def spans(self) -> list[tuple[Kind, int, int]]:
        found: list[tuple[Kind, int, int]] = []
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if not line.strip() or _is_rule(line) or session_in(line) is not None:
                self.at += 1
                continue
            start = self.at
            kind = self._take(line)
            found.append((kind, start + 1, self.at))
        return found

    def _take(self, line: str) -> Kind:
        """Move past the entry that begins here, and return its kind."""
        if _PLAIN.match(line):
            self._paragraph()
            return "paragraph"
        if _title(line):
            self.at += 1
            return "heading"
        if _indent(line) < _CODE_INDENT:
            fence = fence_in(line.lstrip(" "))
            if fence:
                end = self._closing(fence, in_item=False)
                self.at = len(self.lines) if end is None else end + 1  # one that is not closed lasts
                return "code"
            marker = _item_marker(line)
            if marker is not None:
                self._item(line, marker.end())
                return "item"
        self._paragraph()
        return "paragraph"

    def _closing(self, fence: str, *, in_item: bool) -> int | None:
        """Return the line that closes a fence, if one does."""
        if len(fence) >= self._never_closed.get(fence[0], len(fence) + 1):
            return None  # looked for before: many open fences must not mean many passes
        for at in range(self.at + 1, len(self.lines)):
            if closes(self.lines[at], fence) and (in_item or _indent(self.lines[at]) < _CODE_INDENT):
                return at
        self._never_closed[fence[0]] = len(fence)
        return None

    def _paragraph(self) -> None:
        self.at += 1
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if not line.strip() or _interrupts(line):
                return
            self.at += 1

    def _item(self, line: str, marker_width: int) -> None:
        """Move past an item: its own lines, what is indented below it, and lines that run on from it."""
        indent = _indent(line)
        below = indent + _NESTED
        words = line.lstrip(" ")[marker_width:].lstrip(" \t")
        self._past(words)
        prose = _is_prose(words)
        end = self.at
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if not line.strip():
                prose = False
                self.at += 1
                continue
            nested = _indent(line) >= below and not _title(line)
            runs_on = prose and not (_interrupts(line) or _is_rule(line) or _item_marker(line))
            if not nested and not runs_on:
                break
            words = line.lstrip(" \t")
            self._past(words)
            prose = _is_prose(words)
            end = self.at
        self.at = end

    def _past(self, words: str) -> None:
        """Move past a line of an item, with all of the code that it opens if that is closed somewhere."""
        fence = fence_in(_behind_markers(words))
        end = self._closing(fence, in_item=True) if fence else None
        self.at = self.at + 1 if end is None else end + 1


def _behind_markers(words: str) -> str:
    """Return the words of a line behind the markers of nested items."""
    markers = _MARKERS.match(words)
    return words[markers.end() :] if markers else words


def _is_prose(words: str) -> bool:
    """Return whether the line after this one may run on from it without an indent."""
    bare = _behind_markers(words)
    return bool(bare) and not CODE_FENCE.match(bare) and not _title(bare)


def _front_matter(lines: Sequence[str]) -> int:
    """Return how many lines the front matter takes."""
    if not lines or lines[0].rstrip() != _FRONT_MATTER:
        return 0
    ends = (at for at in range(1, len(lines)) if lines[at].rstrip() in _FRONT_MATTER_ENDS)
    return next(ends, -1) + 1


def without_comments(lines: Sequence[str]) -> list[str]:
    """Return the lines of a text with others in the place of comments, so that all keep their numbers.

    A comment begins on a line of its own, at any indent and outside of code, and ends with the line that
    closes it. Of one that is never closed only the first line counts: all that follows would be lost. One at
    the margin ends the item above it, as a rule does; one that is indented is a gap in its item.
    """
    shown = list(lines)
    if any(_COMMENT in line for line in lines):
        for first, last in _comments_in(lines):
            is_nested = lines[first].startswith(_INDENTED)
            shown[first : last + 1] = ["" if is_nested else _AS_RULE] * (last + 1 - first)
    return shown


def session_comments(text: str) -> dict[int, str]:
    """Return the lines that are comments around what a session wrote, counted from 1.

    Each comes with the name of the session that it opens; the name is empty if it closes one.
    """
    if not any(mark in text for mark in _SESSIONS):
        return {}
    # A comment that is part of an entry is an example in code.
    examples = {number for entry in entries_of(text) for number in range(entry.first, entry.last + 1)}
    names = ((number, session_in(line)) for number, line in enumerate(text.split("\n"), 1))
    return {number: name for number, name in names if name is not None and number not in examples}


def without_session_comments(text: str) -> str:
    """Return a text with blank lines in the place of the comments around what a session wrote."""
    comments = session_comments(text)
    if not comments:
        return text
    lines = text.split("\n")
    return "\n".join("" if number in comments else line for number, line in enumerate(lines, 1))


def conflicts_in(text: str) -> list[tuple[int, ...]]:
    """Return the lines of the marks of each conflict that a merge left in a note, counted from 1.

    They begin where git writes them, at the margin and in their order; an example in code is none.
    """
    if "\n>>>>>>>" not in text:
        return []
    found: list[tuple[int, ...]] = []
    marks: tuple[int, ...] = ()
    for number, line in enumerate(text.split("\n"), 1):
        kind = line[:7] if not line[7:8].strip() else ""
        if kind == "<<<<<<<":
            marks = (number,)
        elif marks and kind in ("|||||||", "======="):
            marks = (*marks, number)
        elif len(marks) > 1 and kind == ">>>>>>>":
            found.append((*marks, number))
            marks = ()
    code = [entry for entry in entries_of(text) if entry.kind == "code"] if found else []
    return [one for one in found if not any(each.first <= one[0] and one[-1] <= each.last for each in code)]


def without_conflict_marks(text: str) -> str:
    """Return a note with blank lines in the place of the marks of conflicts; both sides stay."""
    marks = {number for conflict in conflicts_in(text) for number in conflict}
    if not marks:
        return text
    lines = enumerate(text.split("\n"), 1)
    return "\n".join(["" if number in marks else line for number, line in lines])


def _comments_in(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the first and the last line of every comment, counted from 0."""
    last_close = max((at for at, line in enumerate(lines) if _COMMENT_ENDS in line), default=-1)
    fence = ""
    at = _front_matter(lines)
    while at < len(lines):
        line = lines[at].strip()
        if fence:
            fence = "" if closes(line, fence) else fence
        elif line.startswith(_COMMENT):
            first = at
            if _COMMENT_ENDS not in line[2:] and at < last_close:
                at = next(end for end in range(at + 1, len(lines)) if _COMMENT_ENDS in lines[end])
            yield first, at
        elif any(mark in line for mark in _FENCES):
            fence = unclosed_fence(line).strip()
        at += 1
