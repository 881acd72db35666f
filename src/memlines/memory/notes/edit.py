"""Open a whole note for a person to edit, and save what came of it.

Lines that the person did not change keep their bytes. A note that someone else saved meanwhile is not
overwritten: `version` says which bytes the person saw.
"""

from __future__ import annotations

import codecs
from difflib import SequenceMatcher
from io import StringIO
from itertools import pairwise
from typing import TYPE_CHECKING

from memlines.errors import EditConflict, PathError, UsageError, WriteError
from memlines.files import atomic, history, journal
from memlines.files.place import Place, attempt, check_new_name, place_of, reading, writing
from memlines.files.read import decode
from memlines.files.tombstones import Forgotten
from memlines.memory.notes.undo import NoteChange, change_of
from memlines.paths import is_unicode
from memlines.records import dataclass
from memlines.text.edits import line_end_of, split

if TYPE_CHECKING:
    from memlines.memory.manager import Manager

MOST_BYTES = 1_000_000
"""A larger note is slow to edit as one text."""

_MANY_LINES = 2_000
"""Above this, lines that are there very often, such as blank ones, are matched only beside others."""


@dataclass(frozen=True, slots=True)
class OpenNote:
    """The whole text of a note with plain line ends, and the version that was read.

    The version is empty if there is no such note yet. What cannot be edited has a reason, and no text.
    """

    path: str
    text: str
    version: str
    """What `Memory.edit_note` compares; empty for a new note."""
    editable: bool
    """Whether it can be edited."""
    reason: str = ""


def open_note(manager: Manager, path: str) -> OpenNote:
    """Return a note as a person edits it; see `Memory.open_note`."""
    try:
        place = place_of(manager.workspace, path)
        with reading(f"{place.path!r}"):
            content, text, version = _load(place)
        if content is None:
            check_new_name(place)
    except (PathError, WriteError) as error:
        return OpenNote(path, "", "", editable=False, reason=str(error))
    return OpenNote(place.path, _plain_ends(text), version, editable=True)


def edit_note(manager: Manager, path: str, text: str, version: str) -> NoteChange:
    """Make a text the whole of a note; see `Memory.edit_note`."""
    workspace, limit = manager.workspace, manager.settings.files.max_bytes
    place = place_of(workspace, path)
    if "\0" in text or not is_unicode(text):
        raise UsageError("the text holds characters that no note can hold", todo="Leave them out")
    forgotten = Forgotten.load(workspace)

    def save() -> tuple[bytes | None, bytes | None, str]:
        now, before, current = _load(place)
        if current != version:
            what = f"someone else {'removed' if now is None else 'saved'} {place.path!r} since it was opened"
            raise EditConflict(what, todo="Nothing was written; open it again and repeat your changes there")
        mark = codecs.BOM_UTF8 if now is not None and now.startswith(codecs.BOM_UTF8) else b""
        after, typed = _keep_lines(before, _plain_ends(text if mark else text.removeprefix("\ufeff")))
        if after == before:
            return now, now, ""
        new = mark + after.encode()
        if len(new) > limit:
            what = f"{place.path!r} would grow above the limit of {limit / 1e6:g} MB"
            raise WriteError(what, todo="Move a part of it to another note, or raise files.max_bytes")
        if now is None:
            check_new_name(place)
        history.change(workspace, place, now, new)
        return now, new, typed

    with writing(workspace), journal.operation("edit"):
        now, new, typed = attempt(place, save)
    if new != now:
        manager.look_again(place.path)
        forgotten.lift(typed)  # a person wrote it again, so it is wanted again
    return change_of(place, now, new)


def _load(place: Place) -> tuple[bytes | None, str, str]:
    """Return what a note holds, its text without a mark, and its version; or say why it cannot be edited."""
    content = atomic.read(place.real, MOST_BYTES, root=place.root)
    if content is None:
        return None, "", ""
    if len(content) > MOST_BYTES:
        raise WriteError(
            f"{place.path!r} is larger than {MOST_BYTES / 1e6:g} MB", todo="Open it in an editor"
        )
    try:
        decode(content)
    except ValueError as error:
        raise WriteError(f"{place.path!r} {error}", todo="Only UTF-8 text can be edited here") from None
    return content, content.decode("utf-8-sig"), journal.digest(content)


def _plain_ends(text: str) -> str:
    """Return a text as a browser shows it: a carriage return alone ends a line there as well."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _keep_lines(old: str, new: str) -> tuple[str, str]:
    """Return a new text with the lines that are as in the old one to the byte, and the other lines of it.

    The new text has plain line ends; lines that are new get those that most lines of the old text have.
    """
    kept, before, after = StringIO(old, newline="").readlines(), split(_plain_ends(old)), split(new)
    # What is alike at both ends is most of a note, and comparing the rest may take its square.
    most = min(len(before), len(after))
    head = next((at for at in range(most) if before[at] != after[at]), most)
    tail = next((at for at in range(most - head) if before[-1 - at] != after[-1 - at]), most - head)
    old_rest, new_rest = before[head : len(before) - tail], after[head : len(after) - tail]
    end, lines, typed = line_end_of(old), kept[:head], []
    matcher = SequenceMatcher(None, old_rest, new_rest, autojunk=len(new_rest) > _MANY_LINES)
    for tag, first, last, new_first, new_last in matcher.get_opcodes():
        if tag == "equal":
            lines += kept[head + first : head + last]
        else:
            typed += new_rest[new_first:new_last]
            lines += [line.replace("\n", end) for line in new_rest[new_first:new_last]]
    lines += kept[len(kept) - tail :]
    for at, (line, following) in enumerate(pairwise(lines)):
        if line.endswith("\r") and following.startswith("\n"):  # these would become the end of one line
            lines[at] = f"{line}\n"
    return "".join(lines), "".join(typed)
