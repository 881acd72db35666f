"""Change notes: add to them, edit and delete lines, move lines elsewhere, remove whole notes.

This is the only code that writes the user's Markdown. A function returns when its change is durable. All
of it happens under the workspace's lock for notes, on the text as it is then: lines that were moved by
another program are found where they are now, lines that were changed are left alone.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from memlines.errors import PathError, UsageError, WriteError
from memlines.files import trash
from memlines.files.atomic import exists, read
from memlines.files.history import change
from memlines.files.place import Place, attempt, check_new_name, place_of, writing
from memlines.files.read import decode
from memlines.paths import Workspace, is_unicode
from memlines.settings.tree import Files
from memlines.text.edits import add, cut, lines_at, locate, put, tidy
from memlines.text.entries import title_of

MAX_BYTES = Files().max_bytes
"""The default limit of a note's size. A note above the limit would not be found again."""

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Written:
    """Lines that were written, as they now stand."""

    path: str
    start_line: int
    end_line: int
    created: bool = False


@dataclass(frozen=True, slots=True)
class Removed:
    """Lines that were taken out of a note, and where they stood."""

    path: str
    text: str
    start_line: int


@dataclass(frozen=True, slots=True)
class _Note:
    """What a note holds; `content` is `None` if it does not exist."""

    place: Place
    content: bytes | None
    text: str
    mark: bytes

    def save(self, workspace: Workspace, text: str, max_bytes: int) -> None:
        content = self.mark + text.encode()
        if len(content) > max_bytes:
            raise _too_large(self.place, "would grow", max_bytes)
        change(workspace, self.place, self.content, content)


def append(
    workspace: Workspace,
    path: str,
    block: str,
    *,
    under: str | None = None,
    title: str | None = None,
    max_bytes: int = MAX_BYTES,
) -> Written:
    """Add a block at the end of a note, or of what stands directly under a heading.

    A note that does not exist is made, and begins with the title; a heading that does not exist is made
    at the end.
    """
    place = place_of(workspace, path)
    words = _usable(block)
    heading = None if under is None else _usable_title(under)
    name = None if title is None else _usable_title(title)
    with writing(workspace):
        return attempt(place, lambda: _append(workspace, place, words, heading, name, max_bytes))


def edit(
    workspace: Workspace,
    path: str,
    first: int,
    last: int,
    new_text: str,
    expected: str,
    *,
    max_bytes: int = MAX_BYTES,
) -> Written:
    """Put other text in the place of lines that hold the expected text, wherever they stand by now."""
    place = place_of(workspace, path)
    words = _usable(new_text)

    def replace_lines() -> Written:
        note = _existing(place, max_bytes)
        edited = put(note.text, *locate_lines(note.place.path, note.text, first, last, expected), words)
        if edited.text != note.text:
            note.save(workspace, edited.text, max_bytes)
        return Written(place.path, edited.first, edited.last)

    with writing(workspace):
        return attempt(place, replace_lines)


def rewrite(
    workspace: Workspace,
    path: str,
    change: Callable[[str], tuple[str, Result]],
    *,
    max_bytes: int = MAX_BYTES,
) -> Result:
    """Make several changes of a note at once: all of them are durable, or none.

    `change` is given the text as it is now, and returns the new one and what is returned here; it may be
    called more than once.
    """
    place = place_of(workspace, path)

    def make() -> Result:
        note = _existing(place, max_bytes)
        text, result = change(note.text)
        if text != note.text:
            note.save(workspace, text, max_bytes)
        return result

    with writing(workspace):
        return attempt(place, make)


def delete(
    workspace: Workspace, path: str, first: int, last: int, expected: str, *, max_bytes: int = MAX_BYTES
) -> Removed:
    """Take out lines that hold the expected text, wherever they stand by now."""
    place = place_of(workspace, path)
    with writing(workspace):
        return attempt(place, lambda: _delete(workspace, place, first, last, expected, max_bytes))


def move(
    workspace: Workspace,
    path: str,
    first: int,
    last: int,
    expected: str,
    to_path: str,
    under: str | None = None,
    *,
    title: str | None = None,
    max_bytes: int = MAX_BYTES,
) -> Written:
    """Move lines to the end of another note or section, and return where they are.

    They are durable there before they are deleted here: a crash leaves them twice, never nowhere.
    """
    source, target = place_of(workspace, path), place_of(workspace, to_path)
    heading = None if under is None else _usable_title(under)
    name = None if title is None else _usable_title(title)

    def within() -> Written:
        note = _existing(source, max_bytes)
        start, end = locate_lines(note.place.path, note.text, first, last, expected)
        block = _usable(_unindented(lines_at(note.text, start, end)))
        moved = add(cut(note.text, start, end), block, heading)
        note.save(workspace, moved.text, max_bytes)
        return Written(source.path, moved.first, moved.last)

    def present() -> str:
        note = _existing(source, max_bytes)
        return lines_at(note.text, *locate_lines(note.place.path, note.text, first, last, expected))

    with writing(workspace):
        if source == target:
            return attempt(source, within)
        block = _usable(_unindented(attempt(source, present)))
        written = attempt(target, lambda: _append(workspace, target, block, heading, name, max_bytes))
        try:
            attempt(source, lambda: _delete(workspace, source, first, last, expected, max_bytes))
        except WriteError as error:
            raise WriteError(
                f"the text now stands in {target.path!r}, and still in {source.path!r}: {error.what}",
                todo="Delete it in one of them",
            ) from error
        return written


def remove_note(workspace: Workspace, path: str, *, max_bytes: int = MAX_BYTES) -> trash.Item:
    """Move a whole note to the trash."""
    place = place_of(workspace, path)

    def to_trash() -> trash.Item:
        content = _existing(place, max_bytes).content
        return trash.put(workspace, place, content or b"")

    with writing(workspace):
        return attempt(place, to_trash)


def _append(
    workspace: Workspace, place: Place, block: str, under: str | None, title: str | None, max_bytes: int
) -> Written:
    if not exists(place.real, root=place.root):
        check_new_name(place)
    note = _load(place, max_bytes)
    text = note.text
    if title is not None and not text.strip():
        text = add(text, f"# {title}").text
    added = add(text, block, under)
    note.save(workspace, added.text, max_bytes)
    return Written(place.path, added.first, added.last, created=note.content is None)


def _delete(
    workspace: Workspace, place: Place, first: int, last: int, expected: str, max_bytes: int
) -> Removed:
    note = _existing(place, max_bytes)
    start, end = locate_lines(note.place.path, note.text, first, last, expected)
    note.save(workspace, cut(note.text, start, end), max_bytes)
    return Removed(place.path, lines_at(note.text, start, end), start)


def _load(place: Place, max_bytes: int) -> _Note:
    content = read(place.real, max_bytes, root=place.root)
    if content is None:
        return _Note(place, None, "", b"")
    if len(content) > max_bytes:
        raise _too_large(place, "is", max_bytes)
    try:
        decode(content)
    except ValueError as error:
        raise WriteError(f"{place.path!r} {error}", todo="Only UTF-8 text can be changed") from None
    mark = codecs.BOM_UTF8 if content.startswith(codecs.BOM_UTF8) else b""
    return _Note(place, content, content.removeprefix(mark).decode("utf-8"), mark)


def _existing(place: Place, max_bytes: int) -> _Note:
    note = _load(place, max_bytes)
    if note.content is None:
        raise PathError(f"there is no note {place.path!r}", todo="Name a note that exists")
    return note


def locate_lines(path: str, text: str, first: int, last: int, expected: str) -> tuple[int, int]:
    """Return where the expected lines stand in the text of a note by now, or say that they do not."""
    span = locate(text, first, last, expected)
    if span is None:
        raise WriteError(
            f"{path!r} has changed since it was read: the lines that were meant are not in it, "
            "or more than once",
            todo="Read the note again and repeat the change",
        )
    return span


def _usable(block: str) -> str:
    words = tidy(block)
    if not words:
        raise UsageError("there is no text to write", todo="Give some text")
    if "\0" in words or not is_unicode(words):
        raise UsageError("the text holds characters that no note can hold", todo="Leave them out")
    return words


def _usable_title(words: str) -> str:
    title = title_of(words)
    if not title or "\0" in title or not is_unicode(title):
        raise UsageError(f"{words!r} cannot be a heading", todo="Use some words")
    return title


def _unindented(block: str) -> str:
    """Return a block without the indent of its first line, so that a nested item stands for itself."""
    indent = block[: len(block) - len(block.lstrip(" \t"))]
    return "\n".join(line.removeprefix(indent) for line in block.split("\n"))


def _too_large(place: Place, verb: str, max_bytes: int) -> WriteError:
    return WriteError(
        f"{place.path!r} {verb} above the limit of {max_bytes / 1e6:g} MB",
        todo="Use another note, or raise files.max_bytes",
    )
