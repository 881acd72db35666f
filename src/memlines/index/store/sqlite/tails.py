"""Where the last stretch of each transcript begins, from which it is read on when it grows."""

from __future__ import annotations

import json

from memlines.index.store.sqlite.db import Connection
from memlines.types import Spot, Tail


def tail_of(connection: Connection, path: str) -> Tail | None:
    """Return where to read a transcript on; nothing if it has to be read whole."""
    sql = "SELECT line, position, mark, heading, secrets FROM tails WHERE path = ?"
    for line, position, mark, heading, secrets in connection.execute(sql, (path,)):
        spots = tuple(Spot(*spot) for spot in json.loads(secrets))
        return Tail(line, position, mark, heading, spots)
    return None


def put(connection: Connection, path: str, tail: Tail | None) -> None:
    """Note where to read a transcript on, or that it has to be read whole; in the caller's transaction."""
    if tail is None:
        connection.execute("DELETE FROM tails WHERE path = ?", (path,))
    else:
        row = (path, *tail[:-1], json.dumps(tail.secrets))
        connection.execute("INSERT OR REPLACE INTO tails VALUES(?, ?, ?, ?, ?, ?)", row)
