"""Ask the databases of other programs, which are only ever read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

import apsw

from memlines.errors import StoreError

_BUSY_MS = 1_000


def rows(path: str, sql: str, values: tuple[Any, ...]) -> Iterable[tuple[Any, ...]]:
    """Return what a query finds in a database of another program."""
    try:
        connection = apsw.Connection(
            f"file:{quote(path)}?mode=ro", flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        )
        try:
            connection.set_busy_timeout(_BUSY_MS)
            connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
            connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
            connection.pragma("query_only", True)
            return list(connection.execute(sql, values))
        finally:
            connection.close()
    except (apsw.Error, UnicodeDecodeError) as error:
        raise StoreError(
            f"{path!r} cannot be read as the database of another program ({error})",
            todo="See whether that program is of a version that Memlines knows",
        ) from error
