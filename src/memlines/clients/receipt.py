"""The receipt of what was written into a client's folder, by which it can be taken out again.

It is written before the files are, with what they are going to hold: whenever an installation is
stopped, the receipt knows every file and folder that may be there because of it.

The manifest beside it is committed with the files, unlike the receipt: by it, another version of Memlines
knows in a clone which files are Memlines's, and may replace them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from pathlib import Path, PurePosixPath
from typing import Any

from memlines import old_name
from memlines.clients.edits import Edited, hash_of
from memlines.errors import PathError, WriteError, reason_of
from memlines.files.atomic import read
from memlines.records import dataclass
from memlines.version import __version__

OWN = "."
"""Who needs a file that belongs to the installation in its own folder; others give their folder."""

HOME = "memlines"
"""The folder for what is Memlines's alone, in the folder of a client."""

NAME = "receipt.json"

_FORMAT = 1
_MOST_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class Entry:
    """A file: what we wrote, what we are replacing, whether it was there before, and who needs it.

    Of a file that is the user's and holds a part of ours, `edited` says what that part is.
    """

    sha256: str
    before: str | None = None
    found: bool = False
    needed_by: tuple[str, ...] = (OWN,)
    edited: Edited | None = None

    def finished(self) -> Entry:
        """Return it as it is when the file holds what we wrote."""
        return replace(self, before=None, edited=self.edited and replace(self.edited, former=()))

    def is_ours(self, content: bytes) -> bool:
        """Return whether a file holds what we wrote."""
        return hash_of(content) in (self.sha256, self.before)


@dataclass(frozen=True, slots=True)
class Receipt:
    """What was written into a folder: files in their order, and the folders that were made for them."""

    host: str
    version: str
    files: Mapping[str, Entry]
    folders: tuple[str, ...] = ()

    def to_bytes(self) -> bytes:
        """Return it as the file holds it."""
        data = {"format": _FORMAT, **asdict(self)}
        for entry in data["files"].values():
            if entry["edited"] is None:
                del entry["edited"]
        return (json.dumps(data, indent=2, ensure_ascii=False) + "\n").encode()

    def finished(self) -> Receipt:
        """Return it as it is when every file holds what it should."""
        return replace(self, files={path: entry.finished() for path, entry in self.files.items()})

    def is_installed(self) -> bool:
        """Return whether the client was set up in this folder, not only prepared for another one."""
        return any(OWN in entry.needed_by for entry in self.files.values())


def receipt_file(folder: Path, home: str = HOME) -> Path:
    """Return where the receipt of a client's folder is: by the project's old name if only that left one."""
    new, old = folder / home / NAME, old_receipt_file(folder, home)
    return old if os.path.lexists(old) and not os.path.lexists(new) else new


def old_home(home: str = HOME) -> str:
    """Return what the folder for our own files was called by the project's old name."""
    return PurePosixPath(home).with_name(old_name.NAME).as_posix()


def old_receipt_file(folder: Path, home: str = HOME) -> Path:
    """Return where the receipt was by the project's old name."""
    return folder / old_home(home) / NAME


def read_receipt(folder: Path, home: str = HOME) -> Receipt | None:
    """Return the receipt of a folder, or nothing if nothing was installed there."""
    file = receipt_file(folder, home)
    try:
        content = read(file, _MOST_BYTES)
        return None if content is None else _parse(json.loads(content))
    except NotADirectoryError:
        return None
    except OSError as error:
        raise _unreadable(file, reason_of(error)) from error
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise _unreadable(file, "it is not a receipt of this version") from error


def is_plain(path: str) -> bool:
    """Return whether a path goes down from its folder and nowhere else."""
    parts = PurePosixPath(path).parts
    return bool(parts) and not path.startswith("/") and ".." not in parts and not set(path) & {"\\", "\0"}


def _parse(data: Any) -> Receipt:
    if data["format"] != _FORMAT:
        raise ValueError(data["format"])
    files = {path: _entry(entry) for path, entry in dict(data["files"]).items()}
    folders = tuple(str(folder) for folder in data["folders"])
    # A receipt may come with a cloned project: what it names must lie where we could have written.
    inside = [folder for folder in folders if folder != OWN and set(PurePosixPath(folder).parts) != {".."}]
    if not all(map(is_plain, (*files, *inside))):
        raise ValueError("paths")
    return Receipt(str(data["host"]), str(data["version"]), files, folders)


def _entry(data: Any) -> Entry:
    edited = None
    if "edited" in data:
        part = data["edited"]
        cuts, former = (
            tuple((int(begin), int(end)) for begin, end in part[name]) for name in ("cuts", "former")
        )
        edited = Edited(None if part["original"] is None else str(part["original"]), cuts, former)
    return Entry(
        str(data["sha256"]),
        None if data["before"] is None else str(data["before"]),
        bool(data["found"]),
        tuple(str(owner) for owner in data["needed_by"]),
        edited,
    )


def _unreadable(file: Path, why: str) -> WriteError:
    return WriteError(
        f"the receipt {str(file)!r} cannot be read: {why}",
        todo="Delete it, and what Memlines put beside it, then install again",
    )


MANIFEST_NAME = "manifest.json"
MANIFEST = f"{HOME}/{MANIFEST_NAME}"


@dataclass(frozen=True, slots=True)
class Manifest:
    """Which version brought which files, by their checksums."""

    version: str
    files: Mapping[str, str]

    def holds(self, path: str, content: bytes) -> bool:
        """Return whether a file is as it was brought."""
        return self.files.get(path) == hash_of(content)


def manifest_of(files: Iterable[tuple[str, bytes]]) -> bytes:
    """Return the manifest of these files as its file holds it."""
    hashes = {path: hash_of(content) for path, content in files}
    data = {"format": _FORMAT, "version": __version__, "files": hashes}
    return (json.dumps(data, indent=2) + "\n").encode()


def read_manifest(folder: Path, home: str = HOME) -> Manifest | None:
    """Return the manifest of a client's folder, itself included; nothing if there is none to go by."""
    path = f"{home}/{MANIFEST_NAME}"
    try:
        content = read(folder / path, _MOST_BYTES)
        data = json.loads(content or b"{}")
        files = {str(path): str(sha256) for path, sha256 in dict(data["files"]).items()}
        if content is None or data["format"] != _FORMAT or not all(map(is_plain, files)):
            return None
        return Manifest(str(data["version"]), {**files, path: hash_of(content)})
    except (PathError, OSError, ValueError, LookupError, TypeError, RecursionError):
        return None  # it came with a project: what is in it proves nothing, and may be anything
