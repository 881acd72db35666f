"""Where backups are kept: a folder of this machine, or whatever fsspec reaches.

A folder needs nothing but the system, and what is written there survives a crash.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from memlines.admin.backup.pieces import Damaged, read_pieces
from memlines.beneath import PRIVATE_FILE, make_private_folders
from memlines.errors import BackupError, UsageError, reason_of
from memlines.files.atomic import create, make_folders
from memlines.paths import expand_home
from memlines.text.neutral import harmless_address

_LOCAL = re.compile(r"(?:file|local)://")
_REMOTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+(?:://|::)")

_FULL = (errno.ENOSPC, errno.EDQUOT)
_CREDENTIALS = (
    "Set the credentials of the service in the environment"
    " (S3: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE) and check what they allow"
)
_PERMISSIONS = "Check its permissions"


class Place(Protocol):
    """A place that holds files by name, with slashes; a name is written once and whole."""

    shown: str

    def sizes(self, folder: str) -> dict[str, int]:
        """Return the names below a folder and how many bytes each has; none if there is no folder."""

    def read(self, names: Sequence[str]) -> dict[str, bytes | str]:
        """Return the content of each name, or in words why it cannot be had."""

    def write(self, contents: Mapping[str, bytes]) -> None:
        """Write files; if that fails, some of them may be there."""

    def fetch(self, name: str) -> Iterator[bytes]:
        """Yield a content in pieces, or raise `Damaged` if it cannot be had."""

    def send(self, name: str, pieces: Iterable[bytes], size: int) -> None:
        """Write a file in pieces; what reading them raises is raised, and nothing is written."""


def open_place(uri: str) -> Place:
    """Return the place that a path or an address names."""
    if not uri.strip() or "\0" in uri:
        raise UsageError("no place for backups was named", todo="Name a folder, or s3://bucket/folder")
    if _REMOTE.match(uri) and not _LOCAL.match(uri):
        from memlines.admin.backup.remote import Remote

        return Remote(uri)
    return Folder(Path(os.path.abspath(expand_home(_LOCAL.sub("", uri)))))  # noqa: PTH100 (keeps links)


class Folder:
    """A folder of this machine, or one that is mounted."""

    def __init__(self, root: Path) -> None:
        """Name the folder; it is made when something is written."""
        self.root = root
        self.shown = str(root)
        self._made: set[Path] = set()

    def sizes(self, folder: str) -> dict[str, int]:
        """Return the names below a folder and how many bytes each has."""
        found: dict[str, int] = {}
        try:
            for parent, _, names in os.walk(self.root / folder, onerror=_raise_unless_missing):
                for name in names:
                    file = Path(parent, name)
                    found[file.relative_to(self.root).as_posix()] = file.lstat().st_size
        except OSError as error:
            raise trouble(self.shown, error, refused=_PERMISSIONS) from error
        return found

    def read(self, names: Sequence[str]) -> dict[str, bytes | str]:
        """Return the content of each name, or in words why it cannot be had."""
        read: dict[str, bytes | str] = {}
        for name in names:
            try:
                read[name] = (self.root / name).read_bytes()
            except FileNotFoundError:
                read[name] = "is missing"
            except OSError as error:
                read[name] = f"cannot be read: {reason_of(error)}"
        return read

    def write(self, contents: Mapping[str, bytes]) -> None:
        """Write files, each of them whole or not at all."""
        try:
            make_private_folders(self.root)
            for name, content in contents.items():
                self._write(self.root / name, content, len(content))
        except OSError as error:
            raise trouble(self.shown, error, refused=_PERMISSIONS) from error

    def fetch(self, name: str) -> Iterator[bytes]:
        """Yield a content in pieces, or raise `Damaged` if it cannot be had."""
        try:
            with (self.root / name).open("rb") as stream:
                yield from read_pieces(stream)
        except OSError as error:
            raise Damaged(f"{name} cannot be read: {reason_of(error)}", todo=_PERMISSIONS) from error

    def send(self, name: str, pieces: Iterable[bytes], size: int) -> None:
        """Write a file in pieces, whole or not at all."""
        try:
            make_private_folders(self.root)
            self._write(self.root / name, pieces, size)
        except OSError as error:
            raise trouble(self.shown, error, refused=_PERMISSIONS) from error

    def _write(self, file: Path, content: bytes | Iterable[bytes], size: int) -> None:
        if file.parent not in self._made:
            make_folders(file.parent, self.root, private=True)
            self._made.add(file.parent)
        if os.path.lexists(file) and file.lstat().st_size != size:
            file.unlink()  # a name that stands for another content is damaged
        create(file, content, PRIVATE_FILE)


def trouble(shown: str, error: Exception, refused: str = _CREDENTIALS) -> BackupError:
    """Say what went wrong with a place, as far as its error tells; what may be a secret is left out."""
    kinds = {kind.__name__ for kind in type(error).__mro__}
    words = str(error).lower()
    if kinds & {"NoCredentialsError", "PartialCredentialsError", "DefaultCredentialsError"}:
        what, todo = "needs credentials, and none were found", _CREDENTIALS
    elif isinstance(error, PermissionError):
        what, todo = f"refused access: {_reason(error)}", refused
    elif is_unreachable(error):
        what, todo = (
            f"cannot be reached: {_reason(error)}",
            "Check the address and the network, and try again",
        )
    elif isinstance(error, FileNotFoundError):
        what, todo = f"does not exist: {_reason(error)}", "Check the name, and create the bucket or folder"
    elif (isinstance(error, OSError) and error.errno in _FULL) or "quota" in words or "storagefull" in words:
        what, todo = f"is full: {_reason(error)}", "Make room; the same command then goes on"
    else:
        what, todo = f"cannot be used: {_reason(error)}", "Check the address and what is at it"
    return BackupError(f"the place of backups {shown!r} {what}", todo=todo)


def is_unreachable(error: Exception) -> bool:
    """Tell whether nothing answered, so that asking for the next file would be no better."""
    kinds = {kind.__name__ for kind in type(error).__mro__}
    # By name, because importing the libraries that raise them takes a second.
    return bool(
        kinds
        & {"ConnectionError", "TimeoutError", "HTTPClientError", "ClientConnectionError", "FSTimeoutError"}
    )


def _reason(error: Exception) -> str:
    words = " ".join(harmless_address(reason_of(error)).split())
    return words or type(error).__name__


def _raise_unless_missing(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError):
        raise error
