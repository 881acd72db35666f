"""Which note facts stand in; apart from what reads it, because every command asks."""

from __future__ import annotations

import posixpath


def note_path(file: str) -> str:
    """Return the setting `facts.file` as the index and citations name that note."""
    return posixpath.normpath(file.strip())
