"""Write whole files or none.

A file is written under another name in the same folder, made durable, and only then given its
own name: a reader sees all of it, and a crash leaves what was there before.

Each function accepts the root that the file is below, and follows no link from there on. Without a root, the
folder of the file is where its user put it, and only the file itself may not be a link.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import uuid
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from memlines.folders import CREATE_FLAGS, PRIVATE_FILE, Folder, link_error, open_folder
from memlines.paths import PRIVATE_DIR

TEMPORARY_PREFIX = ".memlines-"
TEMPORARY_SUFFIX = ".tmp"
"""Marks unfinished files; discovery looks at `.md` files only, so it never sees them."""

TEMPORARY_PREFIXES = (TEMPORARY_PREFIX, ".recollect-")
"""What unfinished files begin with, those included that the project left by its first name."""

TEMPORARY_NAME = re.compile(r"\.(?:memlines|recollect)-[0-9a-f]{32}\.tmp")
_APPEND = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_NEW_FILE = 0o666  # less what the umask removes
_ALL_OF_GROUP, _GROUP_MAY_WRITE = 0o070, 0o060
_AT_ONCE = 1 << 20
_UNLIMITED = 1 << 60


class Changed(Exception):
    """The file does not hold what its writer last saw; the change must be made again on what it holds."""


class Unconfirmed(OSError):
    """The file has its new content, but the system would not say that this survives a power cut."""


def create(
    path: Path,
    content: str | bytes | Iterable[bytes],
    mode: int | None = None,
    *,
    root: Path | None = None,
    mtime_ns: int | None = None,
) -> bool:
    """Write a file that does not exist yet; return False, changing nothing, if it does.

    A content that is too large for memory comes in pieces. Without a mode the file gets the usual permissions
    of a new file, and without a time that of now. A group that shares the folder may read and write it.
    """
    data = content.encode() if isinstance(content, str) else content
    with open_folder(path.parent, root) as folder:
        return _create(folder, path, data, mode, mtime_ns)


def replace(
    path: Path,
    content: bytes,
    expected: bytes | None,
    *,
    mode: int | None = None,
    root: Path | None = None,
) -> None:
    """Write a file again if it holds what is expected (`None`: if it does not exist), else raise `Changed`.

    A new file gets the mode, as from `create`; one that exists keeps its permissions.

    The file is looked at again just before it is replaced. Writers that hold the notes' lock can
    therefore never overwrite each other; a program that knows nothing of the lock can only be
    overwritten if it writes within the instant between that look and the replacement.
    """
    with open_folder(path.parent, root) as folder:
        if expected is None:
            if not _create(folder, path, content, mode):
                _refuse_link(folder, path.name)
                raise Changed
            return
        temporary = _write_temporary(folder, content, like=_replaceable(folder, path.name))
        try:
            if _read(folder, path.name, len(expected)) != expected:
                raise Changed
            folder.replace(temporary, path.name)
        finally:
            _discard(folder, temporary)
        _confirm(folder, path)


def append(path: Path, data: bytes, *, root: Path, durable: bool = False) -> int:
    """Add to the end of a private file, which is made if it is missing; return its new size.

    All of the data is added or, if the disk is full, nothing. The caller is the only writer.
    """
    with open_folder(path.parent, root) as folder:
        handle = folder.open_private(path.name, _APPEND)
        try:
            before = os.fstat(handle)
            if not stat.S_ISREG(before.st_mode):
                raise OSError(errno.EINVAL, "not a regular file")
            try:
                rest = data
                while rest:
                    rest = rest[os.write(handle, rest) :]
                if durable:
                    os.fsync(handle)
            except OSError:
                with suppress(OSError):  # a part that stays is one more line that cannot be read
                    os.ftruncate(handle, before.st_size)
                raise
        finally:
            os.close(handle)
        if durable and not before.st_size:
            folder.sync()
    return before.st_size + len(data)


def remove(path: Path, expected: bytes, *, root: Path | None = None) -> None:
    """Remove a file if it holds what is expected, else raise `Changed`."""
    with open_folder(path.parent, root) as folder:
        _refuse_read_only(folder, path.name)
        if _read(folder, path.name, len(expected)) != expected:
            raise Changed
        folder.unlink(path.name)
        _confirm(folder, path)


def unlink(path: Path, *, root: Path | None = None, durable: bool = True) -> None:
    """Remove a file, whatever it holds."""
    with open_folder(path.parent, root) as folder:
        folder.unlink(path.name)
        if durable:
            folder.sync()


def read(path: Path, limit: int = _UNLIMITED, *, root: Path | None = None) -> bytes | None:
    """Return what a file holds, cut one byte above the limit; `None` if there is no such file."""
    try:
        with open_folder(path.parent, root) as folder:
            return _read(folder, path.name, limit)
    except FileNotFoundError:
        return None


def exists(path: Path, *, root: Path | None = None) -> bool:
    """Return whether there is anything of this name; what may not be looked at is not there."""
    try:
        with open_folder(path.parent, root) as folder:
            return folder.has(path.name)
    except OSError:
        return False


def listing(folder: Path, *, root: Path | None = None) -> dict[str, os.stat_result]:
    """Return what is in a folder, in the order of names; a folder that does not exist is empty."""
    found: dict[str, os.stat_result] = {}
    try:
        with open_folder(folder, root) as place, place.scan() as entries:
            for entry in entries:
                with suppress(FileNotFoundError):  # gone since it was listed
                    found[entry.name] = entry.stat(follow_symlinks=False)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    return dict(sorted(found.items()))


def make_folders(folder: Path, root: Path, *, private: bool = False) -> None:
    """Make the folders from a root down to a folder, and make the name of each one durable.

    Those that exist are made durable as well: their maker may have been killed before that.
    """
    current = Folder.at(root)
    is_private = private or PRIVATE_DIR in root.parts
    try:
        for part in folder.relative_to(root).parts:
            is_private = is_private or part == PRIVATE_DIR
            with suppress(FileExistsError):
                current.mkdir(part, private=is_private)
            inner = current.enter(part)
            current.sync()
            current.close()
            current = inner
    finally:
        current.close()


def unfinished(folder: Path, *, root: Path | None = None) -> list[Path]:
    """List the unfinished files that writers left, or are about to finish, in a folder."""
    try:
        with open_folder(folder, root) as place:
            return [folder / name for name in _temporaries(place)]
    except (FileNotFoundError, NotADirectoryError):
        return []


def sweep(folder: Path, *, root: Path | None = None) -> None:
    """Remove what killed writers left unfinished; call it where no other writer can be at work."""
    try:
        with open_folder(folder, root) as place:
            for name in _temporaries(place):
                _discard(place, name)
    except (FileNotFoundError, NotADirectoryError):
        return  # nothing was ever written there


def sync_folder(folder: Path, *, root: Path | None = None) -> None:
    """Make a change of names in a folder durable, where the system can."""
    with open_folder(folder, root) as place:
        place.sync()


def refuse_link(path: Path) -> None:
    """Refuse a path that is a symbolic link: it may point anywhere."""
    if path.is_symlink():
        raise link_error(path)


def _create(
    folder: Folder, path: Path, data: bytes | Iterable[bytes], mode: int | None, mtime_ns: int | None = None
) -> bool:
    temporary = _write_temporary(folder, data, mode, mtime_ns)
    try:
        try:
            folder.link(temporary, path.name)  # unlike a rename, this never replaces a file
        except FileExistsError:
            return False
        except OSError:
            # A file system without links: take the small risk of two programs at the same instant.
            if folder.has(path.name):
                return False
            folder.replace(temporary, path.name)
    finally:
        _discard(folder, temporary)
    _confirm(folder, path)
    return True


def _read(folder: Folder, name: str, limit: int) -> bytes | None:
    try:
        handle = folder.open(name or ".")  # the path of a folder itself has no name
    except FileNotFoundError:
        return None
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", name)
        content = bytearray()
        while piece := os.read(handle, min(_AT_ONCE, limit + 1 - len(content))):
            content += piece
        return bytes(content)
    finally:
        os.close(handle)


def _write_temporary(
    folder: Folder,
    data: bytes | Iterable[bytes],
    mode: int | None = None,
    mtime_ns: int | None = None,
    like: os.stat_result | None = None,
) -> str:
    """Write a file under another name, durable and with its permissions; return that name.

    `like` is the file that it is to replace, whose permissions it gets.
    """
    temporary = f"{TEMPORARY_PREFIX}{uuid.uuid4().hex}{TEMPORARY_SUFFIX}"
    is_usual = mode is None and like is None
    try:
        handle = folder.open(temporary, CREATE_FLAGS, _NEW_FILE if is_usual else PRIVATE_FILE)
        try:
            _set_permissions(folder, temporary, handle, mode, like)
            for piece in (data,) if isinstance(data, bytes) else data:
                rest = memoryview(piece)
                while rest:
                    rest = rest[os.write(handle, rest) :]
            if mtime_ns is not None:
                folder.set_time(temporary, handle, mtime_ns)
            os.fsync(handle)
        finally:
            os.close(handle)
    except BaseException:
        _discard(folder, temporary)
        raise
    return temporary


def _temporaries(folder: Folder) -> list[str]:
    with folder.scan() as entries:
        named = [entry for entry in entries if TEMPORARY_NAME.fullmatch(entry.name)]
        return [entry.name for entry in named if not entry.is_dir(follow_symlinks=False)]


def _discard(folder: Folder, temporary: str) -> None:
    with suppress(OSError):  # gone already, or the next sweep removes it; the write itself is what counts
        folder.unlink(temporary)


def _confirm(folder: Folder, path: Path) -> None:
    try:
        folder.sync()
    except OSError as error:
        raise Unconfirmed(error.errno, error.strerror, str(path)) from error


def _refuse_link(folder: Folder, name: str) -> None:
    if stat.S_ISLNK(folder.look(name).st_mode):
        raise link_error(Path(folder.path, name))


def _set_permissions(
    folder: Folder, name: str, handle: int, mode: int | None, like: os.stat_result | None
) -> None:
    """Give a new file its permissions before anything is written to it."""
    info = os.fstat(handle)
    if like is not None:
        wanted = stat.S_IMODE(like.st_mode) & 0o777
        if info.st_gid != like.st_gid and hasattr(os, "fchown"):
            try:
                os.fchown(handle, -1, like.st_gid)
            except OSError:  # we are not in that group, and another one must not get its rights
                wanted &= ~_ALL_OF_GROUP if not folder.is_shared else 0o777
    else:
        wanted = stat.S_IMODE(info.st_mode) if mode is None else mode
        wanted |= _GROUP_MAY_WRITE if folder.is_shared else 0
    if wanted != stat.S_IMODE(info.st_mode):
        folder.set_mode(name, handle, wanted)


def _replaceable(folder: Folder, name: str) -> os.stat_result:
    """Return what is known of a file that may be replaced."""
    try:
        _refuse_link(folder, name)
        _refuse_read_only(folder, name)
        return folder.look(name)
    except FileNotFoundError:
        raise Changed from None


def _refuse_read_only(folder: Folder, name: str) -> None:
    """Refuse a file that may not be written, though a user who may write its folder could replace it."""
    if folder.has(name) and not folder.may_write(name):
        raise PermissionError(errno.EACCES, "it is read-only", name)
