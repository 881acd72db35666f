"""Keep the days of the entries in chunks, and find the chunks of some days.

A chunk of a daily log or a session whose entries are all of its day needs no row: its path or its heading
says that day. Of any other chunk with dated entries, `chunk_days` holds every day.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from memlines.index.store.sqlite.db import Connection, rows_in
from memlines.types import Days

_NO_DAY = "-"
_PLACE = "number, source, iif(source = 'sessions', heading, path), start_line"
"""The number of a chunk, and what it is sorted by within a day: notes by path, then sessions by time."""

_GROUP = 100
"""Daily logs that are read at once."""


def write_days(days: Days) -> str:
    """Return the days of a chunk as a column holds them."""
    return " ".join([day or _NO_DAY for day in days])


def read_days(written: str) -> Days:
    """Return the days of a chunk from their column."""
    return tuple(["" if day == _NO_DAY else day for day in written.split()])


def add_days(connection: Connection, dated: Iterable[tuple[int, Days]]) -> None:
    """Note the days of new or changed chunks; in the caller's transaction."""
    rows = [(day, number) for number, days in dated for day in {*days} if day]
    connection.executemany("INSERT INTO chunk_days(day, chunk) VALUES(?, ?)", rows)


def drop_days(connection: Connection, numbers: Iterable[int]) -> None:
    """Remove the days of chunks that still have their column; in the caller's transaction."""
    sql = "SELECT number, days FROM chunks WHERE days <> '' AND number IN ({marks})"
    rows = [(day, number) for number, days in rows_in(connection, sql, numbers) for day in {*days.split()}]
    connection.executemany("DELETE FROM chunk_days WHERE day = ? AND chunk = ?", rows)


def find_days(
    connection: Connection, first: str, last: str, logs: Sequence[tuple[str, str]], limit: int
) -> list[int]:
    """Return the numbers of the chunks with entries of some days: the newest day first, each in its order.

    `logs` are the daily logs of these days, each with its day. Of more chunks than the limit, those of the
    newest days are returned.
    """
    sessions = connection.execute(
        f"SELECT substr(heading, 1, 10), {_PLACE} FROM chunks WHERE source = 'sessions' AND days = ''"
        " AND heading >= ? AND heading < ? ORDER BY heading DESC LIMIT ?",
        (first, last + "\U0010ffff", limit),
    )
    dated = connection.execute(
        f"SELECT day, {_PLACE} FROM chunk_days JOIN chunks ON number = chunk WHERE day BETWEEN ? AND ?"
        " ORDER BY day DESC, chunk LIMIT ?",
        (first, last, limit),
    )
    rows = [*sessions, *dated, *_in_logs(connection, logs, limit)]
    rows.sort(key=lambda row: row[2:])
    rows.sort(key=lambda row: row[0], reverse=True)
    return list(dict.fromkeys(row[1] for row in rows))[:limit]


def _in_logs(connection: Connection, logs: Sequence[tuple[str, str]], limit: int) -> Iterator[Any]:
    """Yield the chunks of daily logs whose entries are of the log's day, until there are enough."""
    newest_first = sorted(logs, key=lambda log: log[1], reverse=True)
    sql = f"SELECT path, {_PLACE} FROM chunks WHERE days = '' AND path IN ({{marks}})"
    found = 0
    for start in range(0, len(newest_first), _GROUP):
        days = dict(newest_first[start : start + _GROUP])
        rows = list(rows_in(connection, sql, days))
        yield from ((days[path], *place) for path, *place in rows)
        found += len(rows)
        if found >= limit:
            return
