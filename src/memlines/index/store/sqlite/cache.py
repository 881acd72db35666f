"""Vectors by what was embedded, so that no text is embedded twice, and batches not returned yet."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from memlines.index.store.sqlite.db import Connection, rows_in, store_errors, transaction
from memlines.text.chunk import text_hash
from memlines.types import Chunk, Space


def cached(connection: Connection, space: Space, hashes: Sequence[str], dims: int) -> dict[str, bytes]:
    """Return the vectors of so many numbers that are known, by the hash of their text."""
    sql = (
        "SELECT hash, embedding FROM embedding_cache"
        " WHERE provider = ? AND model = ? AND provider_key = ? AND dims = ? AND hash IN ({marks})"
    )
    return dict(rows_in(connection, sql, hashes, (space.provider, space.model, space.key, dims)))


def dims_of(connection: Connection, space: Space) -> int | None:
    """Return how many numbers the cached vectors of a space have, if there are any."""
    dims = connection.execute(
        "SELECT dims FROM embedding_cache WHERE provider = ? AND model = ? AND provider_key = ? LIMIT 1",
        (space.provider, space.model, space.key),
    ).get
    return None if dims is None else int(dims)


def remember(connection: Connection, space: Space, vectors: Mapping[str, bytes], dims: int) -> None:
    """Keep vectors of so many numbers by the hash of their text; inside the caller's transaction."""
    now = time.time_ns()
    connection.executemany(
        "INSERT OR REPLACE INTO embedding_cache"
        "(provider, model, provider_key, hash, embedding, dims, updated_at) VALUES(?,?,?,?,?,?,?)",
        [
            (space.provider, space.model, space.key, digest, vector, dims, now)
            for digest, vector in vectors.items()
        ],
    )


def touch(connection: Connection, space: Space, hashes: Iterable[str]) -> None:
    """Note that vectors were used, so that they are the last to go; inside the caller's transaction."""
    now = time.time_ns()
    connection.executemany(
        "UPDATE embedding_cache SET updated_at = ?"
        " WHERE provider = ? AND model = ? AND provider_key = ? AND hash = ?",
        [(now, space.provider, space.model, space.key, digest) for digest in hashes],
    )


def count(connection: Connection) -> int:
    """Return how many vectors are cached."""
    return int(connection.execute("SELECT count(*) FROM embedding_cache").get)


def prune(connection: Connection, max_entries: int) -> None:
    """Forget the least recently used vectors beyond the limit."""
    excess = count(connection) - max_entries
    if excess > 0:
        with transaction(connection):
            connection.execute(
                "DELETE FROM embedding_cache WHERE rowid IN"
                " (SELECT rowid FROM embedding_cache ORDER BY updated_at LIMIT ?)",
                (excess,),
            )


def keep_indexed(connection: Connection) -> int:
    """Forget every vector but those of the chunks in the index; return how many went."""
    # Without a heading the text is all that is embedded, and its hash is known.
    plain = {digest for (digest,) in connection.execute("SELECT hash FROM chunks WHERE heading = ''")}
    vectors = connection.execute("SELECT rowid, hash FROM embedding_cache")
    rows = [(number, digest) for number, digest in vectors if digest not in plain]
    headed = connection.execute(
        "SELECT start_line, end_line, text, hash, heading FROM chunks WHERE heading != ''"
    )
    known = {text_hash(Chunk(*row).embedded_text) for row in headed} if rows else set()
    doomed = [(number,) for number, digest in rows if digest not in known]
    with transaction(connection):
        connection.executemany("DELETE FROM embedding_cache WHERE rowid = ?", doomed)
    return len(doomed)


def copy_from(connection: Connection, other: Path) -> None:
    """Take over the cache of another index."""
    with store_errors(other):
        connection.execute("ATTACH ? AS other", (str(other),))
        try:
            with transaction(connection):
                connection.execute(
                    "INSERT OR IGNORE INTO embedding_cache SELECT * FROM other.embedding_cache"
                )
        finally:
            connection.execute("DETACH other")


def waiting_batches(connection: Connection, space: Space) -> list[tuple[str, float, str]]:
    """Return token, time and entry of the batches of a space, oldest first."""
    rows = connection.execute(
        "SELECT token, created_at, entry FROM batches"
        " WHERE provider = ? AND model = ? AND provider_key = ? ORDER BY created_at, token",
        (space.provider, space.model, space.key),
    )
    return [(token, created_at, entry) for token, created_at, entry in rows]


def put_batch(connection: Connection, space: Space, token: str, created_at: float, entry: str) -> None:
    """Note a batch, in the place of what was noted with the same token."""
    connection.execute(
        "INSERT OR REPLACE INTO batches(token, provider, model, provider_key, created_at, entry)"
        " VALUES(?, ?, ?, ?, ?, ?)",
        (token, space.provider, space.model, space.key, created_at, entry),
    )


def drop_batch(connection: Connection, token: str) -> None:
    """Forget a batch."""
    connection.execute("DELETE FROM batches WHERE token = ?", (token,))


def copy_batches(source: Connection, target: Connection) -> None:
    """Take over every batch of another index: an unknown batch would be paid again."""
    rows = list(source.execute("SELECT token, provider, model, provider_key, created_at, entry FROM batches"))
    with transaction(target):
        target.executemany("INSERT OR REPLACE INTO batches VALUES(?, ?, ?, ?, ?, ?)", rows)
