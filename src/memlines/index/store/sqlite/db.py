"""Open SQLite, and turn its errors into ours. Nothing else opens a database.

`apsw` carries a current SQLite: the one in most Python builds still has the race that can
damage a database when two connections checkpoint at once.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

import apsw

from memlines.errors import (
    PathError,
    StoreBusy,
    StoreDamaged,
    StoreError,
    StoreFull,
    StoreReadOnly,
    reason_of,
)
from memlines.folders import make_private

Connection = apsw.Connection

APPLICATION_ID = 0x5265_636C  # "Recl"; distinguishes our databases from any other

_BUSY_MS = 5_000
"""Writers queue at the writer lock, so SQLite's own lock is only ever held for a moment."""

_CACHE_KIB = 32_000
_LONG_LOG = 64_000_000
"""Bytes after which the log of what is not in the database yet is too long. SQLite uses it again from 16 MB
on, but only at a moment without readers, and leaves the file as long as it ever was."""

PAGE_BYTES = 16_384
"""Chunks have about a thousand bytes: in pages of four thousand, a fifth of the room would stay empty."""

_LIST_SIZE = 400
"""How many values one `IN (…)` holds."""

_Item = TypeVar("_Item")

_FULL = (errno.ENOSPC, errno.EDQUOT)
_DAMAGE = (
    apsw.CorruptError,
    apsw.NotADBError,
    apsw.SQLError,
    apsw.ConstraintError,
    apsw.MismatchError,
)
"""What SQLite raises when the file is not the index we made. Our statements are fixed and keep their
own constraints, so one that makes no sense to SQLite means that the tables are others."""

_BAD_EXPRESSION = "fts5: syntax error"
"""The one statement that is not fixed: an expression of words that was put together wrongly."""


IN_MEMORY = Path(":memory:")
"""What SQLite calls a database that is on no disk."""


def open_writer(path: Path) -> Connection:
    """Open (or create) a database for writing; the caller holds the writer lock."""
    with store_errors(path):
        if path != IN_MEMORY:
            with suppress(OSError, PathError):  # SQLite says why
                make_private(path)  # before anything is in it; its log gets the same permissions
        connection = apsw.Connection(str(path))
        with closing_on_error(connection):
            # Of a new one; an old one keeps what it has. It comes first, because the size of the cache is
            # counted in pages from the moment when that is set.
            connection.pragma("page_size", PAGE_BYTES)
            _prepare(connection)
            # It has no table yet, and is no other program's.
            if connection.pragma("page_count") <= 1 and not connection.pragma("application_id"):
                # Before there is a log, so that a power cut leaves no index that is not known as ours.
                connection.pragma("application_id", APPLICATION_ID)
            connection.pragma("journal_mode", "wal")
            _cut_long_log(connection, path)
            # Durable enough for a cache: a power cut may lose the last commits, never the file,
            # and what is lost is read again from the notes.
            connection.pragma("synchronous", "normal")
            # What is deleted is overwritten, so that a forgotten text does not live on in free pages.
            connection.pragma("secure_delete", True)
        return connection


def _cut_long_log(connection: Connection, path: Path) -> None:
    """Move a long log into the database and cut it to nothing; this waits for those who read it."""
    log = path.with_name(path.name + "-wal")
    with system_errors(path), suppress(FileNotFoundError):
        if log.stat().st_size > _LONG_LOG:
            connection.pragma("wal_checkpoint", "truncate")


def open_reader(path: Path) -> Connection:
    """Open a database for reading; readers never wait for a writer."""
    with store_errors(path):
        try:
            return open_read_only(path, "mode=ro")
        except (apsw.CantOpenError, apsw.ReadOnlyError):
            wal = path.with_name(path.name + "-wal")
            has_log = wal.exists() and wal.stat().st_size > 0
            if has_log or not path.exists() or os.access(path.parent, os.W_OK):
                raise
            # In a folder that cannot be written, SQLite cannot make its shared-memory file. A database
            # without a write-ahead log is complete in itself, so it may be read as it is.
            return open_read_only(path, "mode=ro&immutable=1")


def open_read_only(path: Path | str, options: str, busy_ms: int | None = None) -> Connection:
    """Open a database that cannot be written to through this connection; raise SQLite's own errors."""
    uri = f"file:{quote(str(path))}?{options}"
    connection = apsw.Connection(uri, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
    with closing_on_error(connection):
        _prepare(connection, busy_ms)
        connection.pragma("query_only", True)
        connection.pragma("user_version")  # the first read is what fails, not the opening
    return connection


def _prepare(connection: Connection, busy_ms: int | None = None) -> None:
    connection.set_busy_timeout(busy_ms or _BUSY_MS)
    # The file may come from anywhere: its schema may not call functions or write its own pages.
    connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
    connection.config(apsw.SQLITE_DBCONFIG_DQS_DML, 0)
    connection.config(apsw.SQLITE_DBCONFIG_DQS_DDL, 0)
    connection.pragma("cell_size_check", True)
    connection.pragma("cache_size", -_CACHE_KIB)
    connection.pragma("temp_store", "memory")


@contextmanager
def closing_on_error(connection: Connection) -> Iterator[None]:
    """Close a connection when the block that prepares it fails."""
    try:
        yield
    except BaseException:
        connection.close()
        raise


def rows_in(
    connection: Connection, sql: str, values: Iterable[Any], before: tuple[Any, ...] = ()
) -> Iterator[Any]:
    """Yield the rows of a query whose `IN (…)` holds any number of values, asked for in groups.

    The values replace `{marks}` in the query, which has to be its last parameter; `before` are the others.
    """
    for group in in_groups(values, _LIST_SIZE):
        yield from connection.execute(sql.replace("{marks}", ",".join("?" * len(group))), (*before, *group))


def in_groups(values: Iterable[_Item], size: int) -> Iterator[list[_Item]]:
    """Yield values in lists of this size, the last one shorter."""
    rest = iter(values)
    while group := list(islice(rest, size)):
        yield group


@contextmanager
def transaction(connection: Connection) -> Iterator[None]:
    """Run a block in one write transaction: all of it happens, or none of it."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


@contextmanager
def snapshot(connection: Connection) -> Iterator[None]:
    """Run several reads against one state of the database."""
    connection.execute("BEGIN")
    try:
        yield
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


@contextmanager
def store_errors(path: Path) -> Iterator[None]:
    """Raise SQLite's errors as ours, saying which index and what to do."""
    try:
        yield
    except apsw.Error as error:
        raise _as_ours(error, path) from error
    except UnicodeDecodeError as error:  # only valid text was ever written
        raise damaged(path, str(error)) from error


@contextmanager
def system_errors(path: Path) -> Iterator[None]:
    """Raise what the system refuses around an index as our errors."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise StoreFull(
                f"no room left to write the index {str(path)!r}", todo="Free some disk space and sync again"
            ) from error
        raise StoreReadOnly(
            f"{str(error.filename or path)!r} cannot be used: {reason_of(error)}",
            todo="Check its permissions, and the disk",
        ) from error


def damaged(path: Path, why: str) -> StoreDamaged:
    """Return the error for an index whose content is not what was written."""
    return StoreDamaged(
        f"the index {str(path)!r} is damaged: {why}", todo="Run 'memlines sync --force' to rebuild it"
    )


def _as_ours(error: apsw.Error, path: Path) -> StoreError:
    index = f"the index {str(path)!r}"
    text = str(error)
    if isinstance(error, _DAMAGE) and not text.startswith(_BAD_EXPRESSION):
        return damaged(path, text)
    if isinstance(error, apsw.BusyError | apsw.LockedError):
        return StoreBusy(f"{index} is locked by another program", todo="Close it and try again")
    if isinstance(error, apsw.FullError):
        return StoreFull(f"no room left to write {index}", todo="Free some disk space and sync again")
    if isinstance(error, apsw.ReadOnlyError | apsw.PermissionsError):
        return StoreReadOnly(f"{index} cannot be written", todo="Check the permissions of its folder")
    if isinstance(error, apsw.IOError):
        return StoreError(
            f"{index} cannot be read or written ({text})",
            todo="Check the disk: the space and the quota left on it, and its health",
        )
    if isinstance(error, apsw.CantOpenError):
        return StoreError(f"{index} cannot be opened", todo="Check that its folder exists and may be used")
    return StoreError(f"{index} cannot be used ({text})", todo="Run 'memlines status' to see its state")
