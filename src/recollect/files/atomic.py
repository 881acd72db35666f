"""Write whole files or none.

A file is written under another name in the same folder, made durable, and only then given its
own name: whoever reads it sees all of it, and a crash leaves what was there before.
"""
# The tests make the n-th call into `os` fail, so these calls stand in plain sight instead of in pathlib.
# ruff: noqa: PTH101, PTH102, PTH104, PTH105, PTH108, PTH114

from __future__ import annotations

import errno
import os
import re
import stat
import uuid
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from recollect.errors import PathError

TEMPORARY_PREFIX = ".recollect-"
TEMPORARY_SUFFIX = ".tmp"
"""Marks unfinished files; discovery takes `.md` files only, so it never sees them."""

_TEMPORARY = re.compile(rf"{re.escape(TEMPORARY_PREFIX)}[0-9a-f]{{32}}{re.escape(TEMPORARY_SUFFIX)}")
_NEW_FILE = 0o644
_UNFINISHED = 0o600  # until it has its name, nobody else needs to read it
_CREATE_FLAGS = (
    os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
)
_READ_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)  # a pipe does not block us
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
_AT_ONCE = 1 << 20
_UNLIMITED = 1 << 60
_CANNOT_SYNC_FOLDERS = (errno.EINVAL, errno.ENOTSUP)


class Changed(Exception):
    """The file does not hold what its writer last saw; the change must be made again on what it holds."""


class Unconfirmed(OSError):
    """The file has its new content, but the system would not say that this survives a power cut."""


def create(path: Path, content: str | bytes | Iterable[bytes], mode: int | None = None) -> bool:
    """Write a file that does not exist yet; return False, changing nothing, if it does.

    A content that is too large for memory comes in pieces. Without a mode the file gets the usual permissions
    of a new file.
    """
    data = content.encode() if isinstance(content, str) else content
    temporary = _write_temporary(path, data, mode)
    try:
        try:
            os.link(temporary, path)  # unlike a rename, this never replaces a file
        except FileExistsError:
            return False
        except OSError:
            # A file system without links: take the small risk of two programs at the same instant.
            if os.path.lexists(path):
                return False
            os.rename(temporary, path)
    finally:
        _discard(temporary)
    _confirm(path)
    return True


def replace(path: Path, content: bytes, expected: bytes | None) -> None:
    """Write a file anew if it holds what is expected (`None`: if it does not exist), else raise `Changed`.

    The file is looked at again just before it is replaced. Writers that hold the notes' lock can
    therefore never overwrite each other; a program that knows nothing of the lock can only be
    overwritten if it writes within the instant between that look and the replacement.
    """
    if expected is None:
        if not create(path, content):
            refuse_link(path)
            raise Changed
        return
    temporary = _write_temporary(path, content, _mode_of(path))
    try:
        if read(path, len(expected)) != expected:
            raise Changed
        os.replace(temporary, path)
    finally:
        _discard(temporary)
    _confirm(path)


def remove(path: Path, expected: bytes) -> None:
    """Remove a file if it holds what is expected, else raise `Changed`."""
    _refuse_read_only(path)
    if read(path, len(expected)) != expected:
        raise Changed
    os.unlink(path)
    _confirm(path)


def read(path: Path, limit: int = _UNLIMITED) -> bytes | None:
    """Return what a file holds, cut one byte above the limit; `None` if there is no such file."""
    refuse_link(path)
    try:
        handle = os.open(path, _READ_FLAGS)
    except FileNotFoundError:
        return None
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        content = bytearray()
        while piece := os.read(handle, min(_AT_ONCE, limit + 1 - len(content))):
            content += piece
        return bytes(content)
    finally:
        os.close(handle)


def make_folders(folder: Path, root: Path) -> None:
    """Make the folders from a root down to a folder, and make the name of each one durable.

    Those that exist are made durable as well: whoever made them may have been killed before that.
    """
    current = root
    for part in folder.relative_to(root).parts:
        current = current / part
        try:
            os.mkdir(current)
        except FileExistsError:
            refuse_link(current)
            if not current.is_dir():
                raise NotADirectoryError(errno.ENOTDIR, "not a directory", str(current)) from None
        sync_folder(current.parent)


def unfinished(folder: Path) -> list[str]:
    """List the unfinished files that writers left, or are about to finish, in a folder."""
    try:
        with os.scandir(folder) as listing:
            return [entry.path for entry in listing if _TEMPORARY.fullmatch(entry.name)]
    except (FileNotFoundError, NotADirectoryError):
        return []


def sweep(folder: Path) -> None:
    """Remove what killed writers left unfinished; call it where no other writer can be at work."""
    for path in unfinished(folder):
        with suppress(OSError):  # the next sweep takes it
            os.unlink(path)


def folders_below(top: Path) -> Iterator[Path]:
    """Yield a folder and those below it, the deepest first; one that cannot be looked into is an error.

    Links are not followed.
    """

    def fail(error: OSError) -> None:
        if not isinstance(error, FileNotFoundError):
            raise error

    for above, _, _ in os.walk(top, topdown=False, onerror=fail):
        yield Path(above)


def sync_folder(folder: Path) -> None:
    """Make a change of names in a folder durable, where the system can."""
    if os.name == "nt":
        return  # Windows has no way to do this, and makes names durable by itself
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in _CANNOT_SYNC_FOLDERS:  # some network file systems have no such thing
            raise
    finally:
        os.close(handle)


def refuse_link(path: Path) -> None:
    """Refuse a path that is a symbolic link: it may point anywhere."""
    if os.path.islink(path):
        raise PathError(f"{str(path)!r} is a symbolic link", todo="Name the file itself")


def _write_temporary(path: Path, data: bytes | Iterable[bytes], mode: int | None) -> Path:
    """Write a file under another name in the same folder, durable and with its permissions."""
    temporary = path.with_name(f"{TEMPORARY_PREFIX}{uuid.uuid4().hex}{TEMPORARY_SUFFIX}")
    try:
        handle = os.open(temporary, _CREATE_FLAGS, _NEW_FILE if mode is None else _UNFINISHED)
        try:
            for piece in (data,) if isinstance(data, bytes) else data:
                rest = memoryview(piece)
                while rest:
                    rest = rest[os.write(handle, rest) :]
            if mode is not None:
                os.chmod(temporary, mode)
            os.fsync(handle)
        finally:
            os.close(handle)
    except BaseException:
        _discard(temporary)
        raise
    return temporary


def _discard(temporary: Path) -> None:
    with suppress(OSError):  # gone already, or the next sweep takes it; the write itself is what counts
        os.unlink(temporary)


def _confirm(path: Path) -> None:
    try:
        sync_folder(path.parent)
    except OSError as error:
        raise Unconfirmed(error.errno, error.strerror, str(path)) from error


def _mode_of(path: Path) -> int:
    refuse_link(path)
    _refuse_read_only(path)
    try:
        return stat.S_IMODE(os.lstat(path).st_mode) & 0o777
    except FileNotFoundError:
        raise Changed from None


def _refuse_read_only(path: Path) -> None:
    """Refuse a file that may not be written, though whoever may write its folder could replace it."""
    if os.path.lexists(path) and not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, "it is read-only", str(path))
