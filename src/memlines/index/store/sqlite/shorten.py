"""Bring the vectors of an older index into the form of today, so that none has to be made again.

Until version 7 a vector had four bytes a number and that of a sentence one, and the cache held a second copy
of all of them. In version 8 that of a sentence had one bit, of which no other form can be made.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from memlines.embed.base import validated
from memlines.embed.codec import encode, encode_sentences, sentence_size, unpack
from memlines.errors import BadVectors, StoreError
from memlines.index.store.sqlite.db import Connection, in_groups
from memlines.index.store.sqlite.spaces import tables_of
from memlines.index.store.sqlite.vectors import load_extension

_FLOAT_BYTES = 4
_GROUP = 1_000


def shorten_vectors(connection: Connection) -> None:
    """Rewrite every vector; one that is damaged goes, and is made again. Inside a transaction."""
    function: Any = _shorten
    connection.create_scalar_function("shorten", function, 2, deterministic=True)
    connection.execute("UPDATE embedding_cache SET embedding = shorten(embedding, dims)")
    connection.execute("DELETE FROM embedding_cache WHERE length(embedding) = 0")
    every: list[Any] = connection.execute("SELECT number, dims FROM spaces").fetchall()
    for number, dims in every:
        table, sentences = tables_of(number)
        made_by = connection.execute("SELECT sql FROM sqlite_schema WHERE name = ?", (table,)).get
        if made_by is not None and dims:
            _shorten_tables(connection, table, sentences, dims, is_plain="vec0" not in str(made_by))


def _shorten_tables(connection: Connection, table: str, sentences: str, dims: int, *, is_plain: bool) -> None:
    columns = "(chunk INTEGER PRIMARY KEY, embedding BLOB NOT NULL)"
    connection.execute(f"ALTER TABLE {sentences} RENAME TO long_sentences")
    connection.execute(f"CREATE TABLE {sentences}{columns}")
    rows: Any = ()
    if is_plain:
        connection.execute(f"ALTER TABLE {table} RENAME TO long_vectors")
        connection.execute(f"CREATE TABLE {table}{columns}")
        rows = connection.execute(
            "SELECT chunk, v.embedding, s.embedding"
            " FROM long_vectors v LEFT JOIN long_sentences s USING(chunk)"
        )
    else:  # a table of sqlite-vec, which keeps its numbers; if it cannot be read, its sentences go
        with suppress(StoreError):
            load_extension(connection, None)
            rows = connection.execute(
                "SELECT chunk, v.embedding, s.embedding"
                f" FROM long_sentences s JOIN {table} v ON v.rowid = chunk"
            )
    for group in in_groups(rows, _GROUP):
        short = {
            chunk: unpack(packed, dims)
            for chunk, vector, parts in group
            if isinstance(vector, bytes) and (packed := _shorten(vector + (parts or b""), dims))
        }
        if is_plain:
            vectors = [(chunk, vector) for chunk, (vector, _) in short.items()]
            connection.executemany(f"INSERT INTO {table} VALUES(?, ?)", vectors)
        signs = [(chunk, parts) for chunk, (_, parts) in short.items() if parts]
        connection.executemany(f"INSERT INTO {sentences} VALUES(?, ?)", signs)
    connection.execute("DROP TABLE IF EXISTS long_vectors; DROP TABLE long_sentences")


def drop_one_bit_vectors(connection: Connection) -> None:
    """Remove the vectors whose sentences have one bit a number, which are made again; in a transaction."""
    every: list[Any] = connection.execute("SELECT number, dims FROM spaces WHERE dims").fetchall()
    for number, dims in every:
        table, sentences = tables_of(number)
        made_by = connection.execute("SELECT sql FROM sqlite_schema WHERE name = ?", (table,)).get
        if made_by is None:
            continue
        find = f"SELECT chunk FROM {sentences} WHERE length(embedding) % ?"
        if connection.execute(f"{find} LIMIT 1", (sentence_size(dims),)).get is None:
            continue
        if "vec0" not in str(made_by):  # a table of sqlite-vec stays, and answers without sentences
            connection.execute(f"DELETE FROM {table}")
        connection.execute(f"DELETE FROM {sentences}")


def _shorten(blob: Any, dims: Any) -> bytes:
    """Return what is kept of a passage today; nothing if it is damaged."""
    import numpy as np

    end = _FLOAT_BYTES * dims
    if not isinstance(blob, bytes) or len(blob) < end or (len(blob) - end) % dims:
        return b""
    sentences = np.frombuffer(blob[end:], np.int8).reshape(-1, dims)
    try:
        whole = validated([np.frombuffer(blob[:end], "<f4")], 1, dims)
        parts = validated([*sentences], len(sentences), dims)
    except BadVectors:
        return b""
    return b"".join([*encode(whole), *encode_sentences(parts, whole)])
