"""Reach what lies below a root without ever following a link.

A path that is checked first and opened by its name afterwards may be another one by then: a program that may
write to a folder can put a link in its place between the two. So a folder is opened from the folder above it
and is refused if it is a link, and everything in a folder is done through its descriptor: whatever happens
to its name meanwhile, nothing outside is reached. The root itself may be reached through links; that is its
user's choice. Systems without descriptors of folders (Windows) look again after each step instead.

Files and folders are created private where that is asked for, whatever the umask: for their owner alone, or
for the group as well where a group shares the folder (it may write there, and gets what is created there).
"""
# The tests make the n-th call into `os` fail, so these calls are here in plain sight instead of in pathlib.
# ruff: noqa: PTH101, PTH116, PTH118

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from memlines.errors import PathError

HAS_DESCRIPTORS = {os.open, os.stat, os.unlink, os.mkdir, os.rename} <= os.supports_dir_fd and (
    os.scandir in os.supports_fd
)
READ_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
"""Non-blocking, so that a pipe does not hold us up."""

CREATE_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)

_ALWAYS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_FOLDER_FLAGS = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
_INNER_FLAGS = _FOLDER_FLAGS | _ALWAYS
_THROUGH_ONLY = getattr(os, "O_PATH", 0)
"""Opens a folder that may not be listed, but whose files may be opened, where the system has that."""

PRIVATE_FILE = 0o600
"""The permissions of a private file, but for the group that shares its folder."""

_GROUP_FILE, _GROUP_FOLDER, _OTHERS = 0o060, 0o2070, 0o007
_MAY_BE_LINK = (errno.ELOOP, errno.ENOTDIR, errno.EMLINK)
_CANNOT_SYNC_FOLDERS = (errno.EINVAL, errno.ENOTSUP)
_MOST_OPEN = 64
_STANDS_FOR_ANOTHER = 0x20000000
"""The bit of a reparse tag that symbolic links and junctions of Windows have."""

_IN_USE = (5, 32, 33)
"""What Windows answers where another program has the file open: denied, shared or locked."""

_PAUSES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8)


class Folder:
    """An open folder; every name given to its methods is the plain name of something in it."""

    __slots__ = ("_is_listable", "handle", "path")

    def __init__(self, path: str, handle: int | None, *, is_listable: bool = True) -> None:
        self.path = path
        self.handle = handle
        self._is_listable = is_listable

    @classmethod
    def at(cls, root: str | Path) -> Folder:
        """Open a root; links on the way to it are followed."""
        if HAS_DESCRIPTORS:
            return cls._open(str(root), root, None, _FOLDER_FLAGS)
        real = os.path.realpath(root)
        os.stat(real)  # says why, if there is no such folder
        return cls(real, None)

    def enter(self, name: str) -> Folder:
        """Open a folder in this one."""
        if name in ("", ".", "..") or "/" in name:
            raise PathError(f"{name!r} is not the name of a folder", todo="Name a path without '..'")
        path = f"{self.path}{os.sep}{name}"
        if self.handle is not None:
            try:
                return self._open(path, name, self.handle, _INNER_FLAGS)
            except OSError as error:
                self._explain(name, error)
                raise
        info = os.lstat(self._name(name))
        if _is_link(info):
            raise link_error(path)
        if not stat.S_ISDIR(info.st_mode):
            raise NotADirectoryError(errno.ENOTDIR, "not a directory", path)
        return Folder(path, None)

    @classmethod
    def _open(cls, path: str, name: str | Path, above: int | None, flags: int) -> Folder:
        try:
            return cls(path, os.open(name, flags, dir_fd=above))
        except PermissionError:
            if not _THROUGH_ONLY:
                raise
        return cls(path, os.open(name, flags | _THROUGH_ONLY, dir_fd=above), is_listable=False)

    def open(self, name: str, flags: int = READ_FLAGS, mode: int = 0o600) -> int:
        """Open a file and return its descriptor."""
        try:
            handle = os.open(self._name(name), flags | _ALWAYS, mode, dir_fd=self.handle)
        except OSError as error:
            self._explain(name, error)
            raise
        if self.handle is None:  # look again whether the open file is still the one of this name
            info = os.lstat(self._name(name))
            if _is_link(info) or not os.path.samestat(info, os.fstat(handle)):
                os.close(handle)
                raise link_error(os.path.join(self.path, name))
        return handle

    def look(self, name: str) -> os.stat_result:
        """Return what is known of a file or folder without opening it; of a link, not of what it leads to."""
        return os.stat(self._name(name), dir_fd=self.handle, follow_symlinks=False)

    def has(self, name: str) -> bool:
        """Return whether there is anything of this name."""
        try:
            self.look(name)
        except FileNotFoundError:
            return False
        return True

    def may_write(self, name: str) -> bool:
        """Return whether the permissions of a file let it be written."""
        return os.access(self._name(name), os.W_OK, dir_fd=self.handle)

    def scan(self) -> os.ScandirIterator[str]:  # type: ignore[name-defined]  # a type that only stubs know
        """Return the entries; they may only be asked for more while this folder is open."""
        self._need_list()
        return os.scandir(self.path if self.handle is None else self.handle)

    def set_mode(self, name: str, handle: int, mode: int) -> None:
        """Set the permissions of an open file."""
        os.chmod(self._name(name) if self.handle is None else handle, mode)

    def set_time(self, name: str, handle: int, mtime_ns: int) -> None:
        """Set when an open file was modified."""
        os.utime(self._name(name) if self.handle is None else handle, ns=(mtime_ns, mtime_ns))

    def link(self, name: str, new: str) -> None:
        """Give a file a second name, which must not exist yet."""
        options = {} if self.handle is None else {"src_dir_fd": self.handle, "dst_dir_fd": self.handle}
        os.link(self._name(name), self._name(new), **options, follow_symlinks=self.handle is None)

    def replace(self, name: str, target: str) -> None:
        """Rename a file; one that has the new name is replaced."""
        old, new = self._name(name), self._name(target)
        _when_free(lambda: os.replace(old, new, src_dir_fd=self.handle, dst_dir_fd=self.handle))

    def unlink(self, name: str) -> None:
        """Remove a file or a link."""
        file = self._name(name)
        _when_free(lambda: os.unlink(file, dir_fd=self.handle))

    def mkdir(self, name: str, *, private: bool = False) -> None:
        """Make a folder."""
        os.mkdir(self._name(name), 0o700 if private else 0o777, dir_fd=self.handle)
        if self.is_shared:  # the group shares the new folder as well
            inner = self.enter(name)
            try:
                if inner.handle is not None:
                    os.chmod(inner.handle, stat.S_IMODE(os.fstat(inner.handle).st_mode) | _GROUP_FOLDER)
            finally:
                inner.close()

    def rmdir(self, name: str) -> None:
        """Remove an empty folder."""
        os.rmdir(self._name(name), dir_fd=self.handle)

    @property
    def is_shared(self) -> bool:
        """Whether a group shares this folder: it may write here, and gets what is created here."""
        if self.handle is None:
            return False
        mode = os.fstat(self.handle).st_mode
        return bool(mode & stat.S_ISGID and mode & stat.S_IWGRP)

    def tighten(self, *, shared: bool, dry_run: bool = False) -> bool:
        """Close this folder to others if it is open to them, and to its group unless that shares it.

        Return whether that had to be done; with `dry_run`, whether it has to be.
        """
        if self.handle is None:
            return False
        return _tighten(self.handle, _GROUP_FOLDER, shared=shared, dry_run=dry_run)

    def tighten_file(self, name: str, *, shared: bool, dry_run: bool = False) -> bool:
        """Do the same with a file, without opening it.

        It may be a database: closing a descriptor of it drops the locks that SQLite holds in this process.
        """
        if self.handle is None:
            return False
        info = self.look(name)
        wanted = _tighter(info, _GROUP_FILE, shared=shared)
        if wanted is None or not stat.S_ISREG(info.st_mode):
            return False
        if not dry_run:
            try:
                os.chmod(name, wanted, dir_fd=self.handle, follow_symlinks=False)
            except NotImplementedError:  # an older C library; a moment ago it was no link
                os.chmod(name, wanted, dir_fd=self.handle)
        return True

    def open_private(self, name: str, flags: int) -> int:
        """Open a file, making it if the flags say so, and close it to others; return its descriptor."""
        handle = self.open(name, flags, PRIVATE_FILE)
        if self.handle is not None:
            try:
                _tighten(handle, _GROUP_FILE, shared=self.is_shared)
            except BaseException:
                os.close(handle)
                raise
        return handle

    def sync(self) -> None:
        """Make a change of names in this folder durable, where the system can."""
        if self.handle is None:
            return  # Windows has no way to do this, and makes names durable by itself
        self._need_list()
        try:
            os.fsync(self.handle)
        except OSError as error:
            if error.errno not in _CANNOT_SYNC_FOLDERS:  # some network file systems have no such thing
                raise

    def close(self) -> None:
        """Let go of it."""
        if self.handle is not None:
            os.close(self.handle)
            self.handle = None

    def _need_list(self) -> None:
        if not self._is_listable:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), self.path)

    def _name(self, name: str) -> str:
        """Return the name by which the system knows something in here."""
        if self.handle is not None:
            return name
        if os.path.normcase(os.path.realpath(self.path)) != os.path.normcase(self.path):
            raise link_error(self.path)
        return os.path.join(self.path, name)

    def _explain(self, name: str, error: OSError) -> None:
        """Raise an error of our own if a link is the reason for another."""
        if error.errno in _MAY_BE_LINK:
            with suppress(OSError):
                if _is_link(self.look(name)):
                    raise link_error(os.path.join(self.path, name)) from None


class Tree:
    """The folders below a root, for a walk over many of them: the way to the last one stays open.

    A folder that `enter` returned is closed by the next call.
    """

    def __init__(self, root: str | Path) -> None:
        self.root = str(root)
        self._prefix = self.root if self.root.endswith(os.sep) else self.root + os.sep
        self._parts: list[str] = []
        self._way: list[Folder | None] = []
        """The root and a folder for each part; those far above the last one are closed again."""

    def __enter__(self) -> Tree:
        return self

    def __exit__(self, *_: object) -> None:
        self._back_to(-1)

    def enter(self, relative: str) -> Folder:
        """Open a folder by its path below the root, with forward slashes; an empty one is the root."""
        parts = relative.split("/") if relative else []
        shared = len(self._parts)
        while self._parts[:shared] != parts[:shared]:
            shared -= 1
        self._back_to(shared)
        current = self._way[-1] if self._way else None
        if current is None:
            self._back_to(-1)
            current = Folder.at(self.root)
            self._way.append(current)
        for part in parts[len(self._parts) :]:
            current = current.enter(part)
            self._parts.append(part)
            self._way.append(current)
            if len(self._way) > _MOST_OPEN and (above := self._way[-_MOST_OPEN - 1]):
                above.close()
                self._way[-_MOST_OPEN - 1] = None
        return current

    def open(self, path: str) -> int:
        """Open a file below the root for reading and return its descriptor."""
        below = path.removeprefix(self._prefix)
        folder, _, name = (below if os.sep == "/" else below.replace(os.sep, "/")).rpartition("/")
        return self.enter(folder).open(name)

    def path_of(self, relative: str) -> str:
        """Return the whole path of something below the root."""
        if not relative:
            return self.root
        return self._prefix + (relative if os.sep == "/" else relative.replace("/", os.sep))

    def _back_to(self, count: int) -> None:
        while len(self._way) > count + 1:
            if folder := self._way.pop():
                folder.close()
        del self._parts[max(0, count) :]


@contextmanager
def open_folder(folder: Path, root: Path | None = None) -> Iterator[Folder]:
    """Open a folder that lies below a root; without one, the folder is where its user put it."""
    current = Folder.at(root or folder)
    try:
        for part in folder.relative_to(root).parts if root else ():
            inner = current.enter(part)
            current.close()
            current = inner
        yield current
    finally:
        current.close()


def open_file(path: str | Path, root: str | Path | None = None) -> int:
    """Open a file for reading and return its descriptor; no link below the root is followed."""
    place = Path(path)
    with open_folder(place.parent, Path(root) if root else None) as folder:
        return folder.open(place.name)


def open_private(path: Path, flags: int = os.O_RDWR | os.O_CREAT) -> int:
    """Open a file that is private, and made if it is missing, in a folder that its user chose.

    Its permissions are set before anything is written to it. Return its descriptor.
    """
    with open_folder(path.parent) as folder:
        return folder.open_private(path.name, flags)


def make_private(path: Path) -> None:
    """Make a private file if it is missing; one that is there is closed to others without opening it."""
    with open_folder(path.parent) as folder:
        try:
            os.close(folder.open_private(path.name, CREATE_FLAGS))
        except FileExistsError:
            folder.tighten_file(path.name, shared=folder.is_shared)


def make_private_folders(folder: Path) -> None:
    """Make a folder, and those above it that are missing, closed to others."""
    missing: list[Path] = []
    while not os.path.lexists(folder):
        missing.append(folder)
        folder = folder.parent
    for each in reversed(missing):
        with open_folder(each.parent) as above, suppress(FileExistsError):
            above.mkdir(each.name, private=True)
    if not missing and not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, "not a directory", str(folder))


def make_own_folder(folder: Path) -> None:
    """Make a folder that holds nothing but our own files, and close it to others."""
    make_private_folders(folder)
    with open_folder(folder) as place:
        place.tighten(shared=False)


def link_error(path: str | Path) -> PathError:
    """Return the error for a path that is a symbolic link: it may point anywhere."""
    return PathError(f"{str(path)!r} is a symbolic link", todo="Name the file itself")


def _tighten(handle: int, group: int, *, shared: bool, dry_run: bool = False) -> bool:
    wanted = _tighter(os.fstat(handle), group, shared=shared)
    if wanted is not None and not dry_run:
        os.chmod(handle, wanted)
    return wanted is not None


def _tighter(info: os.stat_result, group: int, *, shared: bool) -> int | None:
    """Return the permissions something should have, or None if it has them or belongs to another user."""
    mode = stat.S_IMODE(info.st_mode)
    wanted = (mode | group) & ~_OTHERS if shared else mode & 0o700
    return None if wanted == mode or info.st_uid != os.geteuid() else wanted


def _is_link(info: os.stat_result) -> bool:
    """Return whether something is a link, or what Windows has like it, such as a junction.

    Other files that Windows marks are what they seem, such as those that a cloud keeps until they are read.
    """
    return stat.S_ISLNK(info.st_mode) or bool(getattr(info, "st_reparse_tag", 0) & _STANDS_FOR_ANOTHER)


def _when_free(change: Callable[[], None]) -> None:
    """Rename or remove a file, waiting a moment for programs that have it open.

    Windows refuses both while a reader, an indexer or a virus scanner looks at the file.
    """
    for pause in _PAUSES:
        try:
            return change()
        except PermissionError as error:
            if getattr(error, "winerror", None) not in _IN_USE:
                raise
        time.sleep(pause)
    return change()
