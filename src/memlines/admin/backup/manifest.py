"""The list of what an archive or a backup holds, written as JSON, and the contents that it lists.

A content is an iterable of pieces that can be read again from the start: a list of one piece for a small
file, an object that opens the file or the member of an archive for a large one. So a large file never has to
fit into memory.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

from memlines.errors import BackupError, PathError, reason_of
from memlines.files.scan import fingerprint_of
from memlines.folders import open_file
from memlines.records import dataclass
from memlines.types import Problem

FORMAT = "recollect-backup"
"""The format has the name under which the first backups were written."""
VERSION = 1

SETTINGS_NAME = "settings.yaml"
"""What the settings are called beside the files; no file of a workspace that is kept has this name."""

MAX_MANIFEST_BYTES = 100_000_000
"""About half a million files. A longer list would be read into memory before anything can be checked."""

_HASH = re.compile(r"[0-9a-f]{64}")
_LARGEST = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Entry:
    """A file as it was when it was copied."""

    path: str
    size: int
    sha256: str
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class Manifest:
    """Everything one copy of a workspace holds; `workspace` is the name of its folder."""

    created: str
    workspace: str
    entries: tuple[Entry, ...]
    settings: Entry | None = None

    @property
    def size(self) -> int:
        """How many bytes the files have together."""
        return sum(entry.size for entry in self.entries)

    @property
    def every_entry(self) -> tuple[Entry, ...]:
        """The entries of the files, and that of the settings if there are some."""
        return self.entries if self.settings is None else (*self.entries, self.settings)


def entry_for(path: str, content: bytes, mtime_ns: int) -> Entry:
    """Return the entry that describes a content."""
    return Entry(path, len(content), digest(content), mtime_ns)


def digest(content: bytes) -> str:
    """Return the SHA-256 of a content."""
    return hashlib.sha256(content).hexdigest()


def encode(manifest: Manifest) -> bytes:
    """Write a manifest as JSON that any version recognizes."""
    data = {
        "format": FORMAT,
        "version": VERSION,
        "created": manifest.created,
        "workspace": manifest.workspace,
        "settings": None if manifest.settings is None else asdict(manifest.settings),
        "files": [asdict(entry) for entry in manifest.entries],
    }
    content = (json.dumps(data, indent=1, ensure_ascii=False) + "\n").encode()
    if len(content) > MAX_MANIFEST_BYTES:
        raise BackupError(
            f"{len(manifest.entries)} files are more than one backup can list", todo="Split the workspace"
        )
    return content


def decode(content: bytes, origin: str) -> Manifest:
    """Read a manifest that may be damaged or written to do harm; `origin` names it in the error."""
    try:
        data = json.loads(content)
        if data["format"] != FORMAT:
            raise ValueError("it is of another format")
        if data["version"] != VERSION:
            raise BackupError(
                f"{origin} has version {data['version']!r}, and this Memlines reads version {VERSION}",
                todo="Update Memlines",
            )
        entries = tuple(_entry(value) for value in data["files"])
        if len({entry.path for entry in entries}) != len(entries):
            raise ValueError("it lists a file twice")
        settings = None if data["settings"] is None else _entry(data["settings"])
        return Manifest(_text(data["created"]), _text(data["workspace"]), entries, settings)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        reason = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise BackupError(f"{origin} is damaged: {reason}", todo="Use another copy") from error


def _entry(value: Any) -> Entry:
    entry = Entry(
        _text(value["path"]), _number(value["size"]), _text(value["sha256"]), _number(value["mtime_ns"])
    )
    if not _HASH.fullmatch(entry.sha256):
        raise ValueError("a SHA-256 is malformed")
    return entry


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("a text is missing")
    return value


def _number(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= _LARGEST:
        raise ValueError("a number is missing or out of range")
    return value


AT_ONCE = 1 << 20

_READ_ATTEMPTS = 3
WHOLE_BYTES = 16_000_000
"""Up to this size a file is read whole, and read again if it changed meanwhile; larger ones go in pieces."""

Content = Iterable[bytes]


class Damaged(BackupError):
    """A content in a copy is not what was put there, or cannot be read; other contents may be whole."""


@dataclass(slots=True)
class SourceFile:
    """A file to copy: its name in the copy, where it is, and the root below which no link is followed.

    It is read in pieces. When it was read to its end, `entry` says what was read, and `changed` whether
    the file changed meanwhile.
    """

    path: str
    real: str | Path
    root: str | Path
    entry: Entry | None = None
    changed: bool = False

    def __iter__(self) -> Iterator[bytes]:
        with os.fdopen(open_file(self.real, self.root), "rb") as stream:
            before = os.fstat(stream.fileno())
            if not stat.S_ISREG(before.st_mode):
                raise OSError(0, "not a regular file")
            size, hashed = 0, hashlib.sha256()
            for piece in read_pieces(stream):
                size += len(piece)
                hashed.update(piece)
                yield piece
            after = os.fstat(stream.fileno())
        fingerprint = fingerprint_of(after)
        self.changed = fingerprint_of(before) != fingerprint
        self.entry = Entry(self.path, size, hashed.hexdigest(), max(0, fingerprint.mtime_ns))

    @property
    def is_large(self) -> bool:
        """Whether the file must be read in pieces."""
        try:
            return os.lstat(self.real).st_size > WHOLE_BYTES
        except OSError:
            return False  # gone or closed; reading it says why

    def read(self) -> tuple[Entry, bytes] | Problem | None:
        """Read the whole file, again if it changed meanwhile; return `None` if it is gone."""
        try:
            for _ in range(_READ_ATTEMPTS):
                content = b"".join(self)
                if not self.changed:
                    break
        except FileNotFoundError:
            return None
        except (OSError, PathError) as error:
            return self.unreadable(error)
        assert self.entry is not None
        return self.entry, content

    def unreadable(self, error: OSError | PathError) -> Problem:
        """Return why the file is not in a copy."""
        return Problem(self.path, f"cannot be read: {reason_of(error)}", failed=True)

    def changed_while_read(self) -> Problem:
        """Return that a large file, which is read only once, may be half old and half new in a copy."""
        return Problem(self.path, "changed while it was copied; make the copy again", failed=True)


def read_pieces(stream: IO[bytes]) -> Iterator[bytes]:
    """Yield the rest of a stream."""
    while piece := stream.read(AT_ONCE):
        yield piece


def verify(entry: Entry, pieces: Iterable[bytes], wrong: str) -> Iterator[bytes]:
    """Yield pieces, never more than an entry says, and raise at the end if they are not its content."""
    size, hashed = 0, hashlib.sha256()
    for piece in pieces:
        size += len(piece)
        if size > entry.size:
            break
        hashed.update(piece)
        yield piece
    if (size, hashed.hexdigest()) != (entry.size, entry.sha256):
        raise Damaged(wrong, todo="Use another copy")


def read_through(content: Content) -> None:
    """Read a content to its end, for what that may raise or find out."""
    for _ in content:
        pass
