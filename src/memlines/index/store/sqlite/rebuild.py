"""Build an index anew beside the one that serves, and swap it in whole.

The new index is copied over the old one by SQLite's backup, in one transaction: readers see
the old content until the commit and the new content after it, no open file is pulled away
from under another program, and a crash leaves the old index. (Renaming files would leave
readers with a write-ahead log that belongs to another database.)
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memlines.index.store.sqlite.db import open_writer, store_errors
from memlines.index.store.sqlite.health import remove_database

_MARK = ".rebuild-"


@contextmanager
def temporary_index(path: Path) -> Iterator[Path]:
    """Name a temporary index beside the real one, and remove it afterwards.

    The caller holds the writer lock, so any other temporary index was left by a killed process.
    """
    sweep(path)
    temporary = path.with_name(f"{path.name}{_MARK}{os.getpid()}")
    try:
        yield temporary
    finally:
        remove_database(temporary)


def swap_in(temporary: Path, path: Path) -> None:
    """Replace the content of an index by that of a finished temporary one."""
    with store_errors(path):
        source = open_writer(temporary)
        try:
            target = open_writer(path)
            try:
                with target.backup("main", source, "main") as backup:
                    backup.step(-1)
                target.pragma("wal_checkpoint", "truncate")
            finally:
                target.close()
        finally:
            source.close()


def sweep(path: Path) -> None:
    """Remove temporary indexes that killed processes left behind."""
    for left in path.parent.glob(f"{path.name}{_MARK}*"):
        left.unlink(missing_ok=True)
    for left in path.parent.glob(f"{path.name}.vectors.tmp-*"):
        left.unlink(missing_ok=True)
