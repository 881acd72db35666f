"""Notice a file that cannot be used as an index, and set it aside.

The index is a cache: it is never repaired in place. What cannot be used is renamed, so that
nothing is destroyed, and built again from the notes.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from recollect.errors import StoreDamaged, StoreReadOnly
from recollect.store.sqlite.db import Connection
from recollect.store.sqlite.schema import check_ours

_MAGIC = b"SQLite format 3\0"
_ASIDE = ".damaged-"
_KEPT_ASIDE = 1
"""One set-aside index is kept to look at; more would grow without bound."""

_COMPANIONS = ("", "-wal", "-shm")


def check_file(path: Path) -> None:
    """Raise `StoreDamaged` if what stands at the path is plainly no index, without opening it."""
    if not os.path.lexists(path):
        return
    if path.is_symlink() or not path.is_file():
        raise _damaged(path, "it is not a regular file")
    try:
        size = path.stat().st_size
        with path.open("rb") as stream:
            start = stream.read(len(_MAGIC))
    except OSError as error:
        raise StoreReadOnly(
            f"the index {str(path)!r} cannot be read: {(error.strerror or '').lower()}",
            todo="Check its permissions",
        ) from error
    if size and start != _MAGIC:
        raise _damaged(path, "it does not start like a SQLite database")


def check_database(connection: Connection, path: Path) -> None:
    """Raise `StoreDamaged` if an open database is foreign, newer, or shorter than it says."""
    check_ours(connection, path)
    if connection.filename and path.stat().st_size:
        wal = path.with_name(path.name + "-wal")
        pages = int(connection.pragma("page_count")) * int(connection.pragma("page_size"))
        has_log = wal.exists() and wal.stat().st_size > 0
        if not has_log and path.stat().st_size < pages:
            raise _damaged(path, "it is cut off")


def set_aside(path: Path) -> Path:
    """Rename an unusable index and its companions; the caller holds the writer lock."""
    stamp = f"{_ASIDE}{time.strftime('%Y%m%d-%H%M%S')}-{time.time_ns() % 1000:03d}"
    aside = path.with_name(path.name + stamp)
    for companion in _COMPANIONS:
        source = path.with_name(path.name + companion)
        if os.path.lexists(source):
            source.rename(path.with_name(path.name + stamp + companion))
    _forget_older(path, aside)
    return aside


def remove_database(path: Path) -> None:
    """Delete a database file and its companions."""
    for companion in _COMPANIONS:
        path.with_name(path.name + companion).unlink(missing_ok=True)


def _forget_older(path: Path, newest: Path) -> None:
    mains = sorted(
        entry
        for entry in path.parent.glob(f"{path.name}{_ASIDE}*")
        if entry != newest and not entry.name.endswith(_COMPANIONS[1:])
    )
    for old in mains[: max(0, len(mains) - _KEPT_ASIDE + 1)]:
        if old.is_dir() and not old.is_symlink():
            continue  # a folder somebody made is not ours to delete
        remove_database(old)


def _damaged(path: Path, why: str) -> StoreDamaged:
    return StoreDamaged(
        f"{str(path)!r} is not a usable index: {why}",
        todo="Run 'recollect sync' to set it aside and build the index",
    )
