"""Tell from fingerprints alone whether the index lags behind the files."""

from __future__ import annotations

from collections.abc import Mapping

from recollect.types import Discovery, FoundFile, IndexedFile


def is_unchanged(file: FoundFile, known: Mapping[str, IndexedFile]) -> bool:
    """Tell whether a file is as the index knows it."""
    entry = known.get(file.path)
    return entry is not None and entry.fingerprint == file.fingerprint


def missing_paths(discovery: Discovery, known: Mapping[str, IndexedFile]) -> list[str]:
    """Return the indexed paths that are gone; where nobody could look, nothing is gone."""
    found = {file.path for file in discovery.files}
    # The workspace itself is called "."; its files have no folder in their names.
    below = tuple("" if folder == "." else folder.rstrip("/") + "/" for folder in discovery.blind)
    return [
        path
        for path in known
        if path not in found and not path.startswith(below) and path not in discovery.blind
    ]


def is_dirty(discovery: Discovery, known: Mapping[str, IndexedFile]) -> bool:
    """Tell whether any file was added, changed or removed since it was indexed."""
    if not all(is_unchanged(file, known) for file in discovery.files):
        return True
    # Every file found is known, so the numbers tell whether one that is known was not found.
    return len(known) > len(discovery.files) and bool(missing_paths(discovery, known))
