"""Where the last stretch of each transcript begins, from which it is read on when it grows."""

from __future__ import annotations

from recollect.store.sqlite.db import Connection
from recollect.types import Tail


def tail_of(connection: Connection, path: str) -> Tail | None:
    """Return where to read a transcript on; nothing if it has to be read whole."""
    sql = "SELECT line, position, mark, heading FROM tails WHERE path = ?"
    for row in connection.execute(sql, (path,)):
        return Tail(*row)
    return None


def put(connection: Connection, path: str, tail: Tail | None) -> None:
    """Note where to read a transcript on, or that it has to be read whole; in the caller's transaction."""
    if tail is None:
        connection.execute("DELETE FROM tails WHERE path = ?", (path,))
    else:
        connection.execute("INSERT OR REPLACE INTO tails VALUES(?, ?, ?, ?, ?)", (path, *tail))
