"""What is asked of the chunks of conversations only."""

from __future__ import annotations

from collections.abc import Iterator

from memlines.index.store.sqlite.db import Connection


def numbers_of_days(connection: Connection, first: str, last: str, limit: int) -> list[int]:
    """Return the numbers of the chunks of sessions of some days, whose headings begin with the day."""
    rows = connection.execute(
        "SELECT number FROM chunks WHERE source = 'sessions' AND heading >= ? AND heading < ? LIMIT ?",
        (first, last + "\U0010ffff", limit),
    )
    return [number for (number,) in rows]


def texts_with(connection: Connection, piece: str) -> Iterator[str]:
    """Yield the texts of the chunks of sessions that hold a piece."""
    sql = "SELECT text FROM chunks WHERE source = 'sessions' AND instr(text, ?)"
    for (text,) in connection.execute(sql, (piece,)):
        yield text


def counts_by_path(connection: Connection) -> dict[str, tuple[int, str]]:
    """Return how many chunks each session has, and the heading above them."""
    sql = "SELECT path, count(*), min(heading) FROM chunks WHERE source = 'sessions' GROUP BY path"
    return {path: (count, heading) for path, count, heading in connection.execute(sql)}
