"""Notes as they stand, for whoever looks into several of them."""

from __future__ import annotations

from recollect.errors import PathError
from recollect.files.atomic import read
from recollect.files.read import decode, read_document, resolve_note
from recollect.files.scan import discover
from recollect.paths import Workspace
from recollect.settings.tree import Settings
from recollect.text.entries import Entry, entries_of
from recollect.types import Document, FoundFile


def notes_in(workspace: Workspace, settings: Settings) -> tuple[FoundFile, ...]:
    """List the notes of a memory."""
    return discover(workspace, settings.extra_paths, settings.files.max_bytes).files


def text_of(workspace: Workspace, settings: Settings, path: str) -> str:
    """Return the text of a note; one that is not there, or is no text, has none.

    Whoever writes to such a note is told why that cannot be; a look has nothing to say about it.
    """
    limit = settings.files.max_bytes
    try:
        real, root = resolve_note(workspace, settings.extra_paths, path)
        content = read(real, limit, root=root)
        return decode(content) if content is not None and len(content) <= limit else ""
    except (PathError, OSError, ValueError):
        return ""


def text_in(file: FoundFile, settings: Settings) -> str:
    """Return the text of a note that was listed; one that is gone meanwhile, or is no text, has none."""
    document = read_document(file, settings.files.max_bytes)
    return document.text if isinstance(document, Document) else ""


def entries_in(workspace: Workspace, settings: Settings, path: str) -> tuple[Entry, ...]:
    """Return the entries of a note."""
    return entries_of(text_of(workspace, settings, path))
