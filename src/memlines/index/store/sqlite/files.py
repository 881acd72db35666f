"""The file of an index: read its bytes, check whether it can be used, set it aside, and swap in a new one.

An index that came with a cloned or copied folder may hold other text than the notes beside it. So every
index has two marks, made with a secret that only this user on this machine has: one says that it was made
by this user, the other that it was made in this very file. A copy has the first at most.

The index is a cache: it is never repaired in place. What cannot be used is renamed, so that nothing is
destroyed, and built again from the notes. Only what is surely an index, or is in the workspace's private
folder, is ever moved: `store.path` may name anything by mistake.

Opening and closing a database by the system's own calls drops the locks that SQLite holds on it in the same
process, and another program could then remove its log. SQLite's own way to open a file knows of them.

A rebuilt index is copied over the old one by SQLite's backup, in one transaction: readers see the old content
until the commit and the new content after it, no open file is pulled away from under another program, and a
crash leaves the old index. (Renaming files would leave readers with a write-ahead log of another database.)
"""

from __future__ import annotations

import errno
import hashlib
import hmac
import os
import stat
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Literal

import apsw

from memlines.errors import PathError, StoreDamaged, StoreError, StoreForeign, StoreReadOnly, reason_of
from memlines.files.atomic import create, read
from memlines.folders import PRIVATE_FILE, make_own_folder
from memlines.index.store.sqlite.db import APPLICATION_ID, Connection, open_writer, store_errors
from memlines.index.store.sqlite.schema import check_ours
from memlines.paths import PRIVATE_DIR, user_state_dir

NO_TEXT = ("-shm",)
"""The ends of the names of files that hold locks and no text: these are never opened."""

_MAGIC = b"SQLite format 3\0"
_MARK_AT = 68
"""Where SQLite keeps the application id in the header of a file."""

_PAGE_SIZE = slice(16, 18)
"""Where the size of a page is: a database that was made a moment ago has one, and holds nothing yet."""

_HEADER_BYTES = 100

ASIDE = ".damaged-"
_KEPT_ASIDE = 1
"""One set-aside index is kept to look at; more would grow without bound."""

_COMPANIONS = ("", "-wal", "-shm", "-journal")
_TEMPORARY = ".rebuild-"
_BLOCK = 1 << 20
_PLAIN_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)  # a pipe does not block us
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
_FLAGS = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_MAIN_DB


def blocks(path: Path, size: int = _BLOCK) -> Iterator[bytes]:
    """Yield the content of a file, in pieces of that size; raise `OSError` if it cannot be read."""
    path.stat()  # says why, if there is no such file
    if not os.access(path, os.R_OK):
        raise PermissionError(f"{path} may not be read")
    try:
        file = apsw.VFSFile("", str(path), [_FLAGS, 0])
    except apsw.Error as error:
        raise OSError(f"{path} cannot be opened: {error}") from error
    try:
        end = file.xFileSize()
        for at in range(0, end, size):
            yield file.xRead(min(size, end - at), at)  # a longer read would lose zeros at its end
    except apsw.Error as error:
        raise OSError(f"{path} cannot be read: {error}") from error
    finally:
        file.xClose()


def open_regular(path: Path) -> BinaryIO:
    """Open a file that is not a database; raise `OSError` for a link, a pipe or a folder in its place."""
    handle = os.open(path, _PLAIN_FLAGS)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    return os.fdopen(handle, "rb")


def check_file(path: Path) -> None:
    """Raise `StoreDamaged` if what is at the path is plainly not an index, without opening it."""
    for companion in _COMPANIONS[::-1]:  # SQLite would follow a link, and wait for a pipe
        beside = path.with_name(path.name + companion)
        with suppress(OSError):  # SQLite removes its files at any time
            if not stat.S_ISREG(beside.lstat().st_mode):
                raise _damaged(path, f"{beside.name} is not a regular file")
    if not os.path.lexists(path):
        return
    try:
        size = path.stat().st_size
        begin = next(blocks(path, _HEADER_BYTES), b"")
    except OSError as error:
        what = f"the index {str(path)!r} cannot be read: {reason_of(error)}"
        raise StoreReadOnly(what, todo="Check its permissions") from error
    if size and not begin.startswith(_MAGIC):
        raise _damaged(path, "it does not start like a SQLite database")
    if size > int.from_bytes(begin[_PAGE_SIZE]) and not _is_marked(begin):
        # Checked before it is opened: opening alone would change the file of another program.
        raise _damaged(path, "it is a database of another program")


def check_database(connection: Connection, path: Path) -> None:
    """Raise `StoreDamaged` if an open database is foreign, newer, or shorter than it says."""
    check_ours(connection, path)
    if connection.filename and path.stat().st_size:
        wal = path.with_name(path.name + "-wal")
        pages = int(connection.pragma("page_count")) * int(connection.pragma("page_size"))
        has_log = wal.exists() and wal.stat().st_size > 0
        if not has_log and path.stat().st_size < pages:
            raise _damaged(path, "it is cut off")


def is_ours(path: Path) -> bool:
    """Return whether a file is an index of ours, by its place or by the mark in its header."""
    if path.parent.name == PRIVATE_DIR:
        return True
    try:
        return is_marked(path)
    except OSError:
        return False


def is_marked(path: Path) -> bool:
    """Return whether a file has the mark of an index of ours."""
    return _is_marked(next(blocks(path, _HEADER_BYTES), b""))


def _is_marked(begin: bytes) -> bool:
    return begin.startswith(_MAGIC) and begin[_MARK_AT:].startswith(APPLICATION_ID.to_bytes(4, "big"))


def require_ours(path: Path) -> None:
    """Raise if a file that has to make room is not surely an index."""
    if not is_ours(path):
        raise StoreError(
            f"{str(path)!r} is not an index of Memlines, so it is left alone",
            todo="Set store.path to a file of its own",
        )


def set_aside(path: Path) -> Path:
    """Rename an unusable index and its companions; the caller holds the writer lock."""
    require_ours(path)
    stamp = f"{ASIDE}{time.strftime('%Y%m%d-%H%M%S')}-{time.time_ns() % 1000:03d}"
    aside = path.with_name(path.name + stamp)
    for companion in _COMPANIONS:
        source = path.with_name(path.name + companion)
        if os.path.lexists(source):
            source.rename(path.with_name(path.name + stamp + companion))
    others = sorted(
        entry
        for entry in path.parent.glob(f"{path.name}{ASIDE}*")
        if entry != aside and not entry.name.endswith(_COMPANIONS[1:])
    )
    for old in others[: max(0, len(others) - _KEPT_ASIDE + 1)]:
        if old.is_file() and not old.is_symlink() and is_ours(old):
            remove_database(old)
    return aside


def remove_database(path: Path) -> None:
    """Delete a database file and its companions, but never a folder with such a name."""
    for companion in _COMPANIONS:
        file = path.with_name(path.name + companion)
        if file.is_symlink() or not file.is_dir():
            file.unlink(missing_ok=True)


def _damaged(path: Path, why: str) -> StoreDamaged:
    return StoreDamaged(
        f"{str(path)!r} is not a usable index: {why}",
        todo="Run 'memlines sync' to set it aside and build the index",
    )


@contextmanager
def temporary_index(path: Path) -> Iterator[Path]:
    """Name a temporary index beside the real one, and remove it afterwards.

    The caller holds the writer lock, so any other temporary index was left by a killed process.
    """
    sweep(path)
    temporary = path.with_name(f"{path.name}{_TEMPORARY}{os.getpid()}")
    try:
        yield temporary
    finally:
        remove_database(temporary)


def swap_in(temporary: Path, path: Path) -> None:
    """Replace the content of an index by that of a finished temporary one."""
    with (
        store_errors(path),
        closing(open_writer(temporary)) as source,
        closing(open_writer(path)) as target,
    ):
        with target.backup("main", source, "main") as backup:
            backup.step(-1)
        target.pragma("wal_checkpoint", "truncate")


def sweep(path: Path) -> None:
    """Remove temporary indexes that killed processes left behind."""
    for pattern in (f"{path.name}{_TEMPORARY}*", f"{path.name}.vectors.tmp-*"):
        for left in path.parent.glob(pattern):
            left.unlink(missing_ok=True)


Origin = Literal["new", "here", "shared", "moved", "elsewhere", "unknown"]
"""Where an index was made: nowhere yet, it holds nothing; in this file; by another member of the group whose
folder this is; by this user in another file; by another user; or unknown, because the secret can be
neither read nor written."""

_KEYS = ("origin", "origin_user", "origin_file")
"""What `meta` holds of it: a random token, and the marks of the user and the file, which are made with it."""
SECRET_FILE = "index-secret"
_SECRET_BYTES = 32

_secrets: dict[Path, bytes] = {}


def origin_of(connection: Connection, path: Path) -> Origin:
    """Return where an index was made."""
    secret = _secret()
    if secret is None:
        return "unknown"
    # Asked before the marks are read: another process may fill a new index in between, and marks it first.
    tables = ("files", "chunks", "chunks_fts", "embedding_cache")
    holds_anything = any(connection.execute(f"SELECT 1 FROM {table} LIMIT 1").get for table in tables)
    marks = dict(connection.execute("SELECT key, value FROM meta WHERE key IN (?, ?, ?)", _KEYS))
    token, by_user, in_file = (str(marks.get(key, "")) for key in _KEYS)
    our_user, our_file = _marks(secret, token, path)
    if token and hmac.compare_digest(in_file.encode(), our_file.encode()):
        return "here"
    if _is_shared(path):
        return "shared"
    if token and hmac.compare_digest(by_user.encode(), our_user.encode()):
        return "moved"
    return "elsewhere" if holds_anything else "new"


def mark_origin(connection: Connection, path: Path) -> None:
    """Mark an index as made here, in the file that has this path or will have it."""
    secret = _secret()
    if secret is None:
        return
    token = os.urandom(16).hex()
    rows = list(zip(_KEYS, (token, *_marks(secret, token, path)), strict=True))
    connection.executemany("INSERT OR REPLACE INTO meta(key, value) VALUES(?, ?)", rows)


def take_over_marks(old: Connection, new: Connection) -> None:
    """Give a new index the marks of the one that it replaces in the same file."""
    rows = list(old.execute("SELECT key, value FROM meta WHERE key IN (?, ?, ?)", _KEYS))
    new.execute("DELETE FROM meta WHERE key IN (?, ?, ?)", _KEYS)
    new.executemany("INSERT INTO meta(key, value) VALUES(?, ?)", rows)


def refuse_foreign(origin: Origin, path: Path) -> None:
    """Raise if an index was made elsewhere."""
    if origin == "elsewhere":
        raise StoreForeign(
            f"the index {str(path)!r} was not made by this user on this machine",
            todo="Run 'memlines sync' to set it aside and build the index from the notes",
        )


def _secret() -> bytes | None:
    """Return the secret, made if there is none yet; nothing if it can be neither read nor written."""
    file = user_state_dir() / SECRET_FILE
    if file not in _secrets:
        try:
            content = read(file, _SECRET_BYTES)
            if content is None:
                make_own_folder(file.parent)
                create(file, os.urandom(_SECRET_BYTES), PRIVATE_FILE)
                content = read(file, _SECRET_BYTES)
        except (OSError, PathError):
            return None
        if content is None or len(content) != _SECRET_BYTES:
            return None
        _secrets[file] = content
    return _secrets[file]


def machine_mark() -> str:
    """Return a mark of this user on this machine, which says nothing of either; empty if there is none."""
    secret = _secret()
    return hmac.new(secret, b"machine", hashlib.sha256).hexdigest() if secret else ""


def _marks(secret: bytes, token: str, path: Path) -> list[str]:
    """Return the marks of user and file: a copy has another number, and a moved folder another path."""
    of_file = ("file", token, os.path.realpath(path), str(path.stat().st_ino))
    texts = ["\0".join(parts).encode("utf-8", "surrogateescape") for parts in (("user", token), of_file)]
    return [hmac.new(secret, text, hashlib.sha256).hexdigest() for text in texts]


def _is_shared(path: Path) -> bool:
    """Return whether another member of one of our groups made the file, in a folder that the group writes to.

    Cloning, copying and unpacking make files of one's own, so what came that way never counts as shared.
    """
    if os.name != "posix":
        return False
    folder, file = path.parent.stat(), path.stat()
    in_group = folder.st_gid in {os.getegid(), *os.getgroups()}
    return file.st_uid != os.geteuid() and in_group and bool(folder.st_mode & stat.S_IWGRP)
