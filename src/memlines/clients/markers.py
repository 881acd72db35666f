"""A block of ours in a Markdown file of the user's, between two markers that no reader sees."""

from __future__ import annotations

import re
from pathlib import Path

from memlines.clients.edits import Edit, Insertion
from memlines.errors import WriteError

BEGIN = "<!-- memlines: begin. 'memlines install' writes what is between these markers. -->"
END = "<!-- memlines: end -->"

_BEGINS = re.compile(rb"^[ \t]*<!-- memlines: begin\b[^\n]*?-->[ \t]*\r?$", re.MULTILINE)
_ENDS = re.compile(rb"^[ \t]*<!-- memlines: end\b[^\n]*?-->[ \t]*(?:\r?\n|\Z)", re.MULTILINE)
_LINE_BREAK = re.compile(rb"\r?\n")
_BOM = b"\xef\xbb\xbf"


def marked(path: str, file: Path, text: str) -> Edit:
    """Return the edit that keeps a text between markers at the end of a file; `file` is for messages."""
    return Edit(
        path, put=lambda content: put(content, text, file), take_out=lambda content: take_out(content, file)
    )


def put(content: bytes, text: str, file: Path) -> list[Insertion]:
    """Tell what to insert: the block as the last paragraph, with the line breaks that the file has."""
    try:
        content.decode()
    except UnicodeDecodeError as error:
        raise WriteError(
            f"{str(file)!r} is not UTF-8, so nothing can be added to it; nothing was changed",
            todo="Save it as UTF-8, and install again",
        ) from error
    newline = newline_of(content)
    block = newline.join(line.encode() for line in (BEGIN, *text.strip().splitlines(), END)) + newline
    return [Insertion(len(content), gap_after(content, newline) + block)]


def take_out(content: bytes, file: Path) -> bytes:
    """Return a file without the block; refuse damaged markers, because nobody knows then what is ours."""
    begins, ends = list(_BEGINS.finditer(content)), list(_ENDS.finditer(content))
    if not begins and not ends:
        return content
    if len(begins) != 1 or len(ends) != 1 or ends[0].start() < begins[0].end():
        raise WriteError(
            f"the markers of Memlines's part of {str(file)!r} are damaged; nothing was changed",
            todo="Delete what is left of that part and its markers by hand, and try again",
        )
    before, after = content[: begins[0].start()], content[ends[0].end() :]
    return _without_gap(before) + after


def newline_of(content: bytes) -> bytes:
    """Return how the lines of a file end, by its first one."""
    found = _LINE_BREAK.search(content)
    return found.group() if found else b"\n"


def gap_after(content: bytes, newline: bytes) -> bytes:
    """Return what has to come between a file's content and a paragraph after it."""
    if not content.removeprefix(_BOM):
        return b""
    return newline if content.endswith(b"\n") else newline * 2


def _without_gap(before: bytes) -> bytes:
    """Return what stands before a block without the empty line that came with it."""
    for newline in (b"\r\n", b"\n"):
        if before.endswith(newline * 2):
            return before.removesuffix(newline)
    return before
