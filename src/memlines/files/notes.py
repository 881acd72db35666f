"""Add to notes and rewrite lines of them.

A function returns when its change is durable. All of it happens under the workspace's lock for notes, on the
text as it is then: lines that another program moved are found where they are now, lines that it changed are
left alone.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from memlines.errors import PathError, UsageError, WriteError
from memlines.files.atomic import exists, read
from memlines.files.history import change
from memlines.files.place import Place, attempt, check_new_name, place_of, writing
from memlines.files.read import decode
from memlines.paths import Workspace, is_unicode
from memlines.records import dataclass
from memlines.settings.tree import Files
from memlines.text.edits import add, locate, tidy
from memlines.text.entries import title_of

MAX_BYTES = Files().max_bytes
"""The default limit of a note's size. A note above the limit would not be found again."""

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Written:
    """Lines that were written, and where they are now."""

    path: str
    start_line: int
    end_line: int
    created: bool = False


@dataclass(frozen=True, slots=True)
class _Note:
    """What a note holds; `content` is `None` if it does not exist."""

    place: Place
    content: bytes | None
    text: str
    mark: bytes

    def encode(self, text: str, max_bytes: int) -> bytes:
        content = self.mark + text.encode()
        if len(content) > max_bytes:
            raise _too_large(self.place, "would grow", max_bytes)
        return content

    def save(self, workspace: Workspace, text: str, max_bytes: int) -> None:
        change(workspace, self.place, self.content, self.encode(text, max_bytes))


def append(
    workspace: Workspace,
    path: str,
    block: str,
    *,
    under: str | None = None,
    title: str | None = None,
    max_bytes: int = MAX_BYTES,
) -> Written:
    """Add a block at the end of a note, or of the text directly under a heading.

    A note that does not exist is created and begins with the title; a heading that does not exist is added
    at the end.
    """
    place = place_of(workspace, path)
    words = _usable(block)
    heading = None if under is None else _usable_title(under)
    name = None if title is None else _usable_title(title)

    def add_block() -> Written:
        if not exists(place.real, root=place.root):
            check_new_name(place)
        note = _load(place, max_bytes)
        text = note.text
        if name is not None and not text.strip():
            text = add(text, f"# {name}").text
        added = add(text, words, heading)
        note.save(workspace, added.text, max_bytes)
        return Written(place.path, added.first, added.last, created=note.content is None)

    with writing(workspace):
        return attempt(place, add_block)


def rewrite(
    workspace: Workspace,
    path: str,
    change: Callable[[str], tuple[str, Result]],
    *,
    max_bytes: int = MAX_BYTES,
) -> Result:
    """Make several changes of a note at once: all of them are durable, or none.

    `change` gets the text as it is now, and returns the new one and the result of this call; it may be
    called more than once.
    """
    place = place_of(workspace, path)

    def make() -> Result:
        note = _load(place, max_bytes)
        if note.content is None:
            raise PathError(f"there is no note {place.path!r}", todo="Name a note that exists")
        text, result = change(note.text)
        if text != note.text:
            note.save(workspace, text, max_bytes)
        return result

    with writing(workspace):
        return attempt(place, make)


def rewrite_all(
    workspace: Workspace,
    paths: Iterable[str],
    change: Callable[[Mapping[str, str]], tuple[Mapping[str, str], Result]],
    *,
    max_bytes: int = MAX_BYTES,
) -> Result:
    """Change several notes under one lock, one after the other; return the result of `change`.

    `change` gets their texts, empty for a note that does not exist, and returns new ones in the order in
    which they are written. It may be called more than once, when some of that is written already.
    """
    places = {place.path: place for place in (place_of(workspace, path) for path in paths)}
    names = ", ".join(places)

    def make() -> Result:
        notes = {path: _load(place, max_bytes) for path, place in places.items()}
        texts, result = change({path: note.text for path, note in notes.items()})
        changed = [(notes[path], text) for path, text in texts.items() if text != notes[path].text]
        for note, text in changed:  # all of them, before the first is written
            note.encode(text, max_bytes)
            if note.content is None:
                check_new_name(note.place)
        for note, text in changed:
            note.save(workspace, text, max_bytes)
        return result

    with writing(workspace):
        return attempt(Place(names, workspace.root / names, workspace.root), make)


def locate_lines(path: str, text: str, first: int, last: int, expected: str) -> tuple[int, int]:
    """Return where the expected lines are in the text of a note by now; raise if that is not certain."""
    span = locate(text, first, last, expected)
    if span is None:
        raise WriteError(
            f"{path!r} has changed since it was read: the lines that were meant are not in it, "
            "or more than once",
            todo="Read the note again and repeat the change",
        )
    return span


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


def _too_large(place: Place, verb: str, max_bytes: int) -> WriteError:
    return WriteError(
        f"{place.path!r} {verb} above the limit of {max_bytes / 1e6:g} MB",
        todo="Use another note, or raise files.max_bytes",
    )
