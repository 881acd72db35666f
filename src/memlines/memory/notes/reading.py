"""Notes as they stand, for whoever looks into several of them."""

from __future__ import annotations

from pathlib import Path

from memlines.errors import PathError
from memlines.files.atomic import read
from memlines.files.read import decode, resolve_note
from memlines.files.scan import discover
from memlines.paths import Workspace
from memlines.settings.tree import Settings
from memlines.text.entries import Entry, entries_of
from memlines.types import FoundFile


def notes_in(workspace: Workspace, settings: Settings) -> tuple[FoundFile, ...]:
    """List the notes of a memory."""
    return discover(workspace, settings.extra_paths, settings.files.max_bytes).files


def text_of(workspace: Workspace, settings: Settings, path: str) -> str:
    """Return the text of a note; one that is not there, or is no text, has none.

    Whoever writes to such a note is told why that cannot be; a look has nothing to say about it.
    """
    try:
        real, root = resolve_note(workspace, settings.extra_paths, path)
    except PathError:
        return ""
    return _decoded(real, root, settings.files.max_bytes)


def text_in(file: FoundFile, settings: Settings) -> str:
    """Return the text of a note that was listed; one that is gone meanwhile, or is no text, has none."""
    return _decoded(Path(file.real), Path(file.root) if file.root else None, settings.files.max_bytes)


def entries_in(workspace: Workspace, settings: Settings, path: str) -> tuple[Entry, ...]:
    """Return the entries of a note."""
    return entries_of(text_of(workspace, settings, path))


def _decoded(real: Path, root: Path | None, limit: int) -> str:
    try:
        content = read(real, limit, root=root)
        return decode(content) if content is not None and len(content) <= limit else ""
    except (PathError, OSError, ValueError):
        return ""
