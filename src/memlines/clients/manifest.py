"""The manifest of what an installation brings: it is committed with the files, unlike the receipt.

By it, another version of Memlines knows in a clone which files are Memlines's, and may replace them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from memlines.clients.edits import hash_of
from memlines.clients.receipt import HOME, is_plain
from memlines.errors import PathError
from memlines.files.atomic import read
from memlines.version import __version__

MANIFEST = f"{HOME}/manifest.json"

_FORMAT = 1
_MOST_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class Manifest:
    """Which version brought which files, by their checksums."""

    version: str
    files: Mapping[str, str]

    def holds(self, path: str, content: bytes) -> bool:
        """Tell whether a file is as it was brought."""
        return self.files.get(path) == hash_of(content)


def manifest_of(files: Iterable[tuple[str, bytes]]) -> bytes:
    """Return the manifest of these files as its file holds it."""
    told = {
        "format": _FORMAT,
        "version": __version__,
        "files": {path: hash_of(content) for path, content in files},
    }
    return (json.dumps(told, indent=2) + "\n").encode()


def read_manifest(folder: Path) -> Manifest | None:
    """Return the manifest of a client's folder, itself included; nothing if there is none to go by."""
    try:
        content = read(folder / MANIFEST, _MOST_BYTES)
        told = json.loads(content or b"{}")
        files = {str(path): str(sha256) for path, sha256 in dict(told["files"]).items()}
        if content is None or told["format"] != _FORMAT or not all(map(is_plain, files)):
            return None
        return Manifest(str(told["version"]), {**files, MANIFEST: hash_of(content)})
    except (PathError, OSError, ValueError, LookupError, TypeError, RecursionError):
        return None  # it came with a project: what is in it proves nothing, and may be anything
