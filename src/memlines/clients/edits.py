"""Put something into a file of the user's, and take exactly that out again.

An edit only ever inserts. The receipt notes where, and a checksum of what was there before: as long as no
one else writes to the file, cutting the insertions out gives the former bytes, and the checksum proves it. A
file that was changed since is left as it is but for our part, which its edit knows how to find.

In a Markdown file, our part is a block between two markers that no reader sees.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import AnyStr

from memlines.errors import WriteError
from memlines.records import dataclass


def hash_of(content: bytes) -> str:
    """Return the SHA-256 of what a file holds."""
    return hashlib.sha256(content).hexdigest()


@dataclass(frozen=True, slots=True)
class Insertion:
    """Bytes to put in, and before which byte of what is there now."""

    offset: int
    text: bytes


@dataclass(frozen=True, slots=True)
class Edit:
    """Our part of a file that is the user's.

    `put` returns what to insert into a file without our part (`b""` if there is no file), or raises
    `WriteError` if that cannot be done. `take_out` returns a file without our part, and the very same bytes
    if there is none in it. `is_empty` says whether what is left is not worth a file, if we made it.
    """

    path: str
    put: Callable[[bytes], Sequence[Insertion]]
    take_out: Callable[[bytes], bytes]
    is_empty: Callable[[bytes], bool] = lambda content: not content.strip()


Cuts = tuple[tuple[int, int], ...]
"""From which byte to which a part goes."""


@dataclass(frozen=True, slots=True)
class Edited:
    """What the receipt notes of an edit: the former checksum (None: there was no file), and our part."""

    original: str | None
    cuts: Cuts
    former: Cuts = ()
    """Our former part, while it is being replaced."""


def apply_edit(base: bytes | None, edit: Edit) -> tuple[bytes, Edited]:
    """Return a file with our part in it, and what to note about that."""
    former = base or b""
    pieces: list[bytes] = []
    cuts: list[tuple[int, int]] = []
    taken = length = 0
    for insertion in sorted(edit.put(former), key=lambda insertion: insertion.offset):
        pieces += [former[taken : insertion.offset], insertion.text]
        length += insertion.offset - taken + len(insertion.text)
        cuts.append((length - len(insertion.text), length))
        taken = insertion.offset
    content = b"".join([*pieces, former[taken:]])
    return content, Edited(None if base is None else hash_of(base), tuple(cuts))


def undo_edit(
    content: bytes, sha256: str, noted: Edited, edit: Edit | None, before: str | None = None
) -> bytes | None:
    """Return a file without our part; None if there would be no file then.

    `sha256` and `before` are the checksums of what we wrote, and of what we were replacing. Without an edit
    that knows our part, a file that was changed since stays as it is.
    """
    for known, cuts in ((sha256, noted.cuts), (before, noted.former)):
        if cuts and hash_of(content) == known:
            left = cut(content, cuts)
            if noted.original is None and not left:
                return None
            if hash_of(left) == noted.original:
                return left
    if edit is None:
        return content
    left = edit.take_out(content)
    is_nothing = left != content and noted.original is None and edit.is_empty(left)
    return None if is_nothing else left


def cut(content: AnyStr, spans: Iterable[tuple[int, int]]) -> AnyStr:
    """Return a content without some spans of it, which come in order and may overlap."""
    kept: list[AnyStr] = []
    at = 0
    for start, end in spans:
        kept.append(content[at:start])
        at = max(at, end)
    kept.append(content[at:])
    return content[:0].join(kept)


BEGIN = "<!-- memlines: begin. 'memlines install' writes what is between these markers. -->"
END = "<!-- memlines: end -->"

_BEGINS = re.compile(rb"^[ \t]*<!-- (?:memlines|recollect): begin\b[^\n]*?-->[ \t]*\r?$", re.MULTILINE)
_ENDS = re.compile(rb"^[ \t]*<!-- (?:memlines|recollect): end\b[^\n]*?-->[ \t]*(?:\r?\n|\Z)", re.MULTILINE)
_LINE_BREAK = re.compile(rb"\r?\n")
_BOM = b"\xef\xbb\xbf"


def markdown_block(path: str, file: Path, text: str) -> Edit:
    """Return the edit that keeps a text between markers at the end of a file; `file` is for messages."""

    def put(content: bytes) -> list[Insertion]:
        """Insert the block as the last paragraph, with the line breaks that the file has."""
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

    def take_out(content: bytes) -> bytes:
        """Take out the block and the empty line before it; damaged markers do not say what is ours."""
        begins, ends = list(_BEGINS.finditer(content)), list(_ENDS.finditer(content))
        if not begins and not ends:
            return content
        if len(begins) != 1 or len(ends) != 1 or ends[0].start() < begins[0].end():
            raise WriteError(
                f"the markers of Memlines's part of {str(file)!r} are damaged; nothing was changed",
                todo="Delete what is left of that part and its markers by hand, and try again",
            )
        before, after = content[: begins[0].start()], content[ends[0].end() :]
        gap = next((newline for newline in (b"\r\n", b"\n") if before.endswith(newline * 2)), b"")
        return before.removesuffix(gap) + after

    return Edit(path, put, take_out)


def newline_of(content: bytes) -> bytes:
    """Return how the lines of a file end, by its first one."""
    found = _LINE_BREAK.search(content)
    return found.group() if found else b"\n"


def gap_after(content: bytes, newline: bytes) -> bytes:
    """Return what has to come between a file's content and a paragraph after it."""
    if not content.removeprefix(_BOM):
        return b""
    return newline if content.endswith(b"\n") else newline * 2
