"""Where backups are kept: a folder of this machine, or whatever fsspec reaches.

A folder needs no other package, and what is written there survives a crash. The credentials of a service come
from the environment or from the service's and fsspec's own files, never from our settings.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from memlines.admin.backup.manifest import Damaged, read_pieces
from memlines.admin.backup.services import (
    GOOGLE,
    PACKAGES,
    READ_SECONDS,
    S3,
    SSH,
    WITHOUT_FOLDERS,
    options_of,
)
from memlines.errors import BackupError, MemlinesError, UsageError, extra_missing, reason_of
from memlines.files.atomic import create, make_folders
from memlines.folders import PRIVATE_FILE, make_private_folders
from memlines.paths import expand_home
from memlines.text.neutral import harmless_address

_LOCAL = re.compile(r"(?:file|local)://")
_REMOTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+(?:://|::)")

_FULL = (errno.ENOSPC, errno.EDQUOT)
_CREDENTIALS = (
    "Set the credentials of the service in the environment"
    " (S3: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE;"
    " Google Cloud Storage: GOOGLE_APPLICATION_CREDENTIALS; SFTP: a key or an agent of ssh)"
    " and check what they allow"
)
_PERMISSIONS = "Check its permissions"


def open_place(uri: str) -> Place:
    """Return the place of a path or an address.

    A place holds files by name, with slashes; a name is written once and whole.
    """
    if not uri.strip() or "\0" in uri:
        raise UsageError("no place for backups was named", todo="Name a folder, or s3://bucket/folder")
    if _REMOTE.match(uri) and not _LOCAL.match(uri):
        return Remote(uri)
    return Folder(Path(os.path.abspath(expand_home(_LOCAL.sub("", uri)))))  # noqa: PTH100 (keeps links)


class Folder:
    """A folder of this machine, or one that is mounted."""

    def __init__(self, root: Path) -> None:
        """Name the folder; it is made when something is written."""
        self.root = root
        self.shown = str(root)
        self._made: set[Path] = set()

    def exists(self) -> bool:
        """Return whether the folder is there."""
        with _place_errors(self.shown, _PERMISSIONS):
            return self.root.exists()

    def sizes(self, folder: str) -> dict[str, int]:
        """Return the names below a folder and how many bytes each has; none if there is no folder."""
        found: dict[str, int] = {}

        def raise_unless_missing(error: OSError) -> None:
            if not isinstance(error, FileNotFoundError):
                raise error

        with _place_errors(self.shown, _PERMISSIONS):
            for parent, _, names in os.walk(self.root / folder, onerror=raise_unless_missing):
                for name in names:
                    file = Path(parent, name)
                    found[file.relative_to(self.root).as_posix()] = file.lstat().st_size
        return found

    def read(self, names: Sequence[str]) -> dict[str, bytes | str]:
        """Return the content of each name, or in words why it cannot be read."""
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
        for name, content in contents.items():
            self.send(name, [content], len(content))

    def fetch(self, name: str) -> Iterator[bytes]:
        """Yield a content in pieces, or raise `Damaged` if it cannot be read."""
        try:
            with (self.root / name).open("rb") as stream:
                yield from read_pieces(stream)
        except OSError as error:
            raise Damaged(f"{name} cannot be read: {reason_of(error)}", todo=_PERMISSIONS) from error

    def send(self, name: str, pieces: Iterable[bytes], size: int) -> None:
        """Write a file in pieces, whole or not at all; what reading them raises is raised."""
        file = self.root / name
        with _place_errors(self.shown, _PERMISSIONS):
            if file.parent not in self._made:
                make_private_folders(self.root)
                make_folders(file.parent, self.root, private=True)
                self._made.add(file.parent)
            if os.path.lexists(file) and file.lstat().st_size != size:
                file.unlink()  # a name with another content is damaged
            create(file, pieces, PRIVATE_FILE)


@contextmanager
def _place_errors(shown: str, refused: str = _CREDENTIALS) -> Iterator[None]:
    """Raise errors of our own for those of a file system or a service."""
    try:
        yield
    except MemlinesError:
        raise
    except Exception as error:
        raise place_error(shown, error, refused) from error


def place_error(shown: str, error: Exception, refused: str = _CREDENTIALS) -> BackupError:
    """Return an error that says what went wrong with a place, without what may be a secret."""
    kinds = {kind.__name__ for kind in type(error).__mro__}
    words = str(error).lower()
    reason = " ".join(harmless_address(reason_of(error)).split()) or type(error).__name__
    if kinds & {"NoCredentialsError", "PartialCredentialsError"} or "anonymous caller" in words:
        what, todo = "needs credentials, and none were found", _CREDENTIALS
    elif isinstance(error, PermissionError) or "AuthenticationException" in kinds or _is_refused(error):
        what, todo = f"refused access: {reason}", refused
    elif is_unreachable(error):
        what, todo = f"cannot be reached: {reason}", "Check the address and the network, and try again"
    elif isinstance(error, FileNotFoundError):
        what, todo = f"does not exist: {reason}", "Check the name, and create the bucket or folder"
    elif (isinstance(error, OSError) and error.errno in _FULL) or "quota" in words or "storagefull" in words:
        what, todo = f"is full: {reason}", "Make room, and run the same command again"
    else:
        what, todo = f"cannot be used: {reason}", "Check the address and what is at it"
    return BackupError(f"the place of backups {shown!r} {what}", todo=todo)


# Errors of packages are distinguished by name, because importing those takes a second.
_UNREACHABLE = {
    "ClientConnectionError",
    "ConnectionError",
    "FSTimeoutError",
    "HTTPClientError",
    "NoValidConnectionsError",
    "SSHException",
    "TimeoutError",
    "TransportError",
}


def is_unreachable(error: Exception) -> bool:
    """Return whether nothing answered, so that asking for the next file would be no better."""
    return any(kind.__name__ in _UNREACHABLE for kind in type(error).__mro__)


def _is_refused(error: Exception) -> bool:
    """Return whether gcsfs says that credentials are wrong or do not allow this: it has no error for that."""
    return getattr(error, "code", None) in (401, 403) or str(error).startswith("Forbidden:")


_BLOCK_BYTES = 16_000_000
"""How much of a large file is sent at once; S3 accepts at most 10,000 of these for one."""


class Remote:
    """A prefix at a service that fsspec knows."""

    def __init__(self, uri: str) -> None:
        """Open the place; whether it is there shows when it is used."""
        self.shown = harmless_address(uri)
        self._protocol = re.split("::|://", uri, maxsplit=1)[0].lower()
        self._fs, root = self._open(uri)
        self.root = root.rstrip("/")
        self._made: set[str] = set()
        if not self.root and self._protocol in (*S3, *GOOGLE):
            todo = f"Write {self._protocol}://bucket/folder"
            raise UsageError(f"{self.shown!r} names no bucket", todo=todo)

    def exists(self) -> bool:
        """Return whether the folder is there; a service without folders has every one."""
        with _place_errors(self.shown):
            return self._protocol in WITHOUT_FOLDERS or bool(self._fs.exists(self.root or "/"))

    def sizes(self, folder: str) -> dict[str, int]:
        """Return the names below a folder and how many bytes each has."""
        top = f"{self.root}/{folder}"
        with _place_errors(self.shown):
            self._fs.invalidate_cache()
            try:
                found = self._fs.find(top, detail=True)
            except FileNotFoundError as error:
                if self._protocol in GOOGLE:  # which lists nothing if only the folder is missing
                    raise FileNotFoundError("there is no such bucket") from error
                if "bucket" in str(error).lower():
                    raise
                return {}
        start = len(self.root) + 1
        return {path[start:]: info["size"] or 0 for path, info in found.items() if path.startswith(top)}

    def read(self, names: Sequence[str]) -> dict[str, bytes | str]:
        """Return the content of each name, or in words why it cannot be read."""
        paths = [f"{self.root}/{name}" for name in names]
        with _place_errors(self.shown):
            # Unlike `cat`, this uses names as they are, never as patterns.
            contents = self._fs.cat_ranges(paths, None, None, on_error="return")
        return {name: self._content_or_reason(content) for name, content in zip(names, contents, strict=True)}

    def fetch(self, name: str) -> Iterator[bytes]:
        """Yield a content in pieces, or raise `Damaged` if it cannot be read."""
        try:
            with self._fs.open(f"{self.root}/{name}", "rb", block_size=_BLOCK_BYTES) as stream:
                yield from read_pieces(stream)
        except Exception as error:
            problem = place_error(self.shown, error)
            raise Damaged(f"{name} cannot be read: {problem.what}", todo=problem.todo) from error

    def send(self, name: str, pieces: Iterable[bytes], size: int) -> None:
        """Write a file in pieces; what was sent of one that cannot be read to its end is removed."""
        path = f"{self.root}/{name}"
        with _place_errors(self.shown):
            self._make_folders([name])
            stream = self._fs.open(path, "wb", block_size=_BLOCK_BYTES)
            try:
                with stream:
                    for piece in pieces:
                        stream.write(piece)
            except Exception:
                with suppress(Exception):  # it may not be there; its size shows what is left of it
                    self._fs.rm_file(path)
                raise

    def write(self, contents: Mapping[str, bytes]) -> None:
        """Write files, several at a time where the service allows it."""
        with _place_errors(self.shown):
            self._make_folders(contents)
            self._fs.pipe({f"{self.root}/{name}": content for name, content in contents.items()})

    def _make_folders(self, names: Iterable[str]) -> None:
        if self._protocol in WITHOUT_FOLDERS:
            return
        for folder in sorted({name.rpartition("/")[0] for name in names} - self._made):
            self._fs.makedirs(f"{self.root}/{folder}", exist_ok=True)
            self._made.add(folder)

    def _content_or_reason(self, content: bytes | Exception) -> bytes | str:
        if isinstance(content, bytes):
            return content
        if isinstance(content, FileNotFoundError):
            return "is missing"
        if is_unreachable(content):
            raise place_error(self.shown, content) from content
        return f"cannot be read: {place_error(self.shown, content).what}"

    def _open(self, uri: str) -> tuple[Any, str]:
        try:
            import fsspec
        except ImportError as error:
            raise _needs("fsspec") from error
        with _place_errors(self.shown):
            try:
                options = options_of(self._protocol)
                fs, root = fsspec.core.url_to_fs(uri, skip_instance_cache=True, **options)
            except ImportError as error:
                if package := PACKAGES.get(self._protocol):
                    raise _needs(package) from error
                why = f"backups to this place need a package: {str(error).rstrip('.')}"
                raise BackupError(why, todo="Install that package, too") from error
        if self._protocol in S3:
            fs.retries = 1  # botocore tries again by itself; both together would try 25 times
        if self._protocol in SSH:
            fs.ftp.get_channel().settimeout(READ_SECONDS)
        return fs, root


def _needs(package: str) -> BackupError:
    return extra_missing(BackupError, "a backup to this place", "backup", package)


Place = Folder | Remote
