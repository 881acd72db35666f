"""What an index holds of one note."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from memlines.index.store.sqlite.db import Connection, rows_in


def state_of(connection: Connection, path: str) -> tuple[str, int]:
    """Return what changes whenever other chunks are put in the place of a note's; reading none of them."""
    digest = connection.execute("SELECT hash FROM files WHERE path = ?", (path,)).get
    last = connection.execute("SELECT max(number) FROM chunks WHERE path = ?", (path,)).get
    return str(digest or ""), int(last or 0)


def chunks_in(
    connection: Connection, path: str, numbers: Iterable[int] | None = None
) -> Iterator[tuple[int, int, str]]:
    """Yield the number, the first line and the text of every chunk of a note, or of some of them."""
    sql = "SELECT number, start_line, text FROM chunks WHERE "
    rows = (
        connection.execute(f"{sql} path = ?", (path,))
        if numbers is None
        else rows_in(connection, f"{sql} number IN ({{marks}})", numbers)
    )
    yield from ((int(number), int(line), str(text)) for number, line, text in rows)


def places_in(connection: Connection, path: str) -> list[tuple[int, int]]:
    """Return the number and the first line of every chunk of a note, in the order of the numbers."""
    sql = "SELECT number, start_line FROM chunks WHERE path = ? ORDER BY number"
    rows: list[Any] = connection.execute(sql, (path,)).fetchall()
    return rows
