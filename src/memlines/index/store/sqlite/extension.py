"""Load the sqlite-vec extension, from the file that the settings name or from the installed package."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import apsw

from memlines.errors import StoreError
from memlines.index.store.sqlite.db import Connection
from memlines.paths import expand_home

_ENTRY = "sqlite3_vec_init"
"""The function that SQLite calls, whatever the file is named."""

_FILES: dict[Path, str] = {}
"""The extension's file by the folder of the indexes that use it. It is never read from an index: an index may
come from elsewhere, and whatever it names would run in this process."""


_LOADABLE: set[str] = set()
"""Files that were loaded in this process already, and need not be tried again."""


def use_extension(index_file: Path, extension: str | None) -> None:
    """Have the indexes beside a file use this extension; nothing means the installed package."""
    if extension:
        _FILES[index_file.parent] = extension
    else:
        _FILES.pop(index_file.parent, None)


def extension_trouble(extension: str | None) -> StoreError | None:
    """Return why the extension of the settings cannot be loaded; nothing if it can be."""
    try:
        file = extension_file(extension)
        if file not in _LOADABLE:
            with closing(Connection(":memory:")) as connection:
                load_from(connection, extension)
            _LOADABLE.add(file)
    except StoreError as error:
        return error
    return None


def load_extension(connection: Connection, index_file: Path) -> None:
    """Load the extension for an index, or raise a `StoreError` that says how to get it."""
    load_from(connection, _FILES.get(index_file.parent))


def load_from(connection: Connection, extension: str | None) -> None:
    """Load the extension from a file, or from the installed package."""
    file = extension_file(extension)
    connection.enable_load_extension(True)
    try:
        connection.load_extension(file, _ENTRY)
    except apsw.ExtensionLoadingError as error:
        raise StoreError(
            f"the sqlite-vec extension {file!r} cannot be loaded: {error}",
            todo="Set store.vector.extension_path to the right file, or store.vector.engine to auto",
        ) from error
    finally:
        connection.enable_load_extension(False)


def extension_file(extension: str | None) -> str:
    """Return where the extension is; an error where it is not known."""
    if extension:
        return str(expand_home(extension).absolute())
    try:
        import sqlite_vec
    except ImportError:
        raise StoreError(
            "the vector engine 'sqlite-vec' is set, but its package is not installed",
            todo="Run 'pip install memlines[sqlite-vec]', or set store.vector.engine to auto",
        ) from None
    return str(sqlite_vec.loadable_path())
