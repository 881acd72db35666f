"""The notes as resources, such as `memory://MEMORY.md` and `memory://memory/2026-11-16.md`."""

from __future__ import annotations

import base64
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote_to_bytes

from memlines.agent.messages import redactor
from memlines.errors import UsageError
from memlines.files.scan import ROOT_FILES, SUFFIX, discover
from memlines.settings import refuse_if_off, switched_off
from memlines.text.neutral import neutral_line, neutralise

if TYPE_CHECKING:
    from memlines.memory.memory import Memory
    from memlines.types import FoundFile

SCHEME = "memory://"
MIME = "text/markdown"

PAGE = 100
"""How many notes one answer lists."""

MOST_CHARACTERS = 200_000
"""How much of a note is given; what is above that is cut."""

_LINES_AT_ONCE = 2000

TEMPLATES: tuple[dict[str, Any], ...] = (
    {
        "uriTemplate": f"{SCHEME}{{+path}}",
        "name": "note",
        "title": "A note",
        "description": "A Markdown note of this memory, by its path: MEMORY.md, memory/2026-11-16.md.",
        "mimeType": MIME,
    },
)


class NoSuchNote(UsageError):
    """A resource was asked for that does not exist."""


def list_notes(memory: Memory, cursor: str | None) -> dict[str, Any]:
    """Return a page of the notes, the root files first, and where the next page begins."""
    after = _sort_key(_decode_cursor(cursor)) if cursor is not None else None
    notes = sorted(_find_notes(memory), key=lambda note: _sort_key(note.path))
    rest = [note for note in notes if after is None or _sort_key(note.path) > after]
    page = {"resources": [_resource(note) for note in rest[:PAGE]]}
    return {**page, "nextCursor": _encode_cursor(rest[PAGE - 1].path)} if len(rest) > PAGE else page


def read_note(memory: Memory, uri: str) -> dict[str, Any]:
    """Return the text of a note as a model may read it, without secrets."""
    refuse_if_off(memory.loaded)
    path = _parse_uri(uri)
    if path is None or not path.endswith(SUFFIX):
        raise NoSuchNote(f"there is no resource {uri[:200]!r}", todo=f"Notes are {SCHEME} and their path")
    text = _read_all(memory, path)
    if text is None:
        raise NoSuchNote(f"there is no note {path[:200]!r}", todo="resources/list names those that exist")
    return {"contents": [{"uri": uri, "mimeType": MIME, "text": neutralise(redactor(memory)(text))}]}


def uri_of(path: str) -> str:
    """Return the name of a note's resource."""
    return f"{SCHEME}{quote(path, safe='/')}"


def _find_notes(memory: Memory) -> tuple[FoundFile, ...]:
    if switched_off(memory.loaded):
        return ()
    settings = memory.settings
    return discover(memory.workspace, settings.extra_paths, settings.files.max_bytes).files


def _resource(note: FoundFile) -> dict[str, Any]:
    changed = datetime.fromtimestamp(note.fingerprint.mtime_ns // 10**9, UTC)
    return {
        "uri": uri_of(note.path),
        "name": neutral_line(note.path),
        "mimeType": MIME,
        "size": note.fingerprint.size,
        "annotations": {"lastModified": changed.strftime("%Y-%m-%dT%H:%M:%SZ")},
    }


def _sort_key(path: str) -> tuple[bool, str]:
    return path not in ROOT_FILES, path


def _encode_cursor(path: str) -> str:
    return base64.urlsafe_b64encode(path.encode()).decode()


def _decode_cursor(cursor: str) -> str:
    try:
        return base64.b64decode(cursor, altchars=b"-_", validate=True).decode()
    except ValueError:
        raise UsageError("the cursor was not given out here", todo="Leave it out to begin") from None


def _parse_uri(uri: str) -> str | None:
    """Return the path in the name of a resource, if it can be one."""
    if not uri.startswith(SCHEME):
        return None
    try:
        return unquote_to_bytes(uri.removeprefix(SCHEME)).decode()
    except UnicodeError:
        return None


def _read_all(memory: Memory, path: str) -> str | None:
    parts: list[str] = []
    length = 0
    start: int = 1
    column: int | None = None
    while True:
        excerpt = memory.read(path, start, _LINES_AT_ONCE, column, private=False)
        if not excerpt.found:
            return None
        parts.append(excerpt.text)
        length += len(excerpt.text)
        if excerpt.next_start is None:
            return "".join([*parts, "\n" if length else ""])
        parts.append("" if excerpt.next_column else "\n")
        if length >= MOST_CHARACTERS:
            go_on = f"memory_get reads on from line {excerpt.next_start} of {excerpt.total_lines}"
            return "".join([*parts, f"\n[Cut here by Memlines: the note is longer. {go_on}.]\n"])
        start, column = excerpt.next_start, excerpt.next_column
