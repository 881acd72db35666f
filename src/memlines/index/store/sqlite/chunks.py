"""Query the chunks of an index: by their words, of one note, and of conversations."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence, Set
from itertools import islice
from typing import Any

from memlines.index.store.sqlite.db import Connection, rows_in
from memlines.types import Source

_FEW = 5_000
"""Chunks that are looked for one by one; of more than these, the best are found sooner among all."""

LANGUAGE_MARK = "__"
"""What comes before the code of a language in the term that every chunk of it has; no word is like that."""

_TITLE_WEIGHT = 0.5
"""A word in the file's name or a heading counts half: it is about the chunk, but not in the cited lines."""

_WEIGHTS = f"1.0, {_TITLE_WEIGHT}, 0.0"
"""What a word counts in each column: the text, the title, and the language, which only narrows."""


def match_words(
    connection: Connection,
    expression: str,
    limit: int,
    sources: Sequence[Source] = (),
    only: Set[int] | None = None,
) -> list[tuple[int, float]]:
    """Return the chunks that match, all or `only` some, best first, with their BM25 rank (below zero)."""
    if only is not None and len(only) <= _FEW:
        return _match_few(connection, expression, limit, only)
    join, extra = "", ""
    if sources:
        join = "JOIN chunks c ON c.number = chunks_fts.rowid"
        extra = f"AND c.source IN ({','.join('?' * len(sources))})"
    rows = connection.execute(
        f"SELECT chunks_fts.rowid, rank FROM chunks_fts {join} WHERE chunks_fts MATCH ?"
        f" AND rank MATCH 'bm25({_WEIGHTS})' {extra} ORDER BY rank LIMIT ?",
        (expression, *sources, limit if only is None else -1),
    )
    found = ((number, rank) for number, rank in rows if only is None or number in only)
    return list(islice(found, limit))


def _match_few(
    connection: Connection, expression: str, limit: int, only: Set[int]
) -> list[tuple[int, float]]:
    """Do the same for a small part of a large index: only its own ranks are computed."""
    rows = connection.execute(
        f"SELECT rowid, bm25(chunks_fts, {_WEIGHTS}) FROM chunks_fts WHERE chunks_fts MATCH ?"
        " AND rowid BETWEEN ? AND ? AND +rowid IN (SELECT value FROM json_each(?))",
        (expression, min(only, default=0), max(only, default=0), json.dumps(list(only))),
    )
    return sorted(rows, key=lambda row: (row[1], row[0]))[:limit]


def is_matched(connection: Connection, expression: str) -> bool:
    """Return whether any chunk matches."""
    sql = "SELECT 1 FROM chunks_fts WHERE chunks_fts MATCH ? LIMIT 1"
    return connection.execute(sql, (expression,)).get is not None


def document_counts(connection: Connection, terms: Iterable[str]) -> dict[str, int]:
    """Return in how many chunks each term occurs; those that occur nowhere are left out."""
    return dict(rows_in(connection, "SELECT term, doc FROM chunks_terms WHERE term IN ({marks})", terms))


def counts_beginning_with(connection: Connection, prefix: str) -> dict[str, int]:
    """Return the terms that begin like this, and in how many chunks each occurs."""
    sql = "SELECT term, doc FROM chunks_terms WHERE term >= ? AND term < ?"
    return dict(connection.execute(sql, (prefix, prefix + "\U0010ffff")))


def note_state(connection: Connection, path: str) -> tuple[str, int]:
    """Return a value that changes whenever the chunks of a note do, without reading them."""
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


def texts_with(connection: Connection, piece: str) -> Iterator[str]:
    """Yield the texts of the chunks of sessions that hold a piece."""
    sql = "SELECT text FROM chunks WHERE source = 'sessions' AND instr(text, ?)"
    for (text,) in connection.execute(sql, (piece,)):
        yield text


def counts_by_path(connection: Connection) -> dict[str, tuple[int, str]]:
    """Return how many chunks each session has, and the heading above them."""
    sql = "SELECT path, count(*), min(heading) FROM chunks WHERE source = 'sessions' GROUP BY path"
    return {path: (count, heading) for path, count, heading in connection.execute(sql)}
