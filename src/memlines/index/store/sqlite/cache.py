"""Vectors of texts that no chunk has any more, or not yet, and batches that were not returned yet.

A chunk whose text is known gets its vector from here, or from another chunk. So no text is embedded twice.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple
from pathlib import Path

from memlines.index.store.sqlite.db import Connection, rows_in, store_errors, transaction
from memlines.records import dataclass
from memlines.text.chunk import text_hash
from memlines.types import Chunk, Space

_OF_SPACE = "provider = ? AND model = ? AND provider_key = ?"


def cached(connection: Connection, space: Space, hashes: Sequence[str], dims: int) -> dict[str, bytes]:
    """Return the vectors of so many numbers that are known, by the hash of their text."""
    sql = (
        f"SELECT hash, embedding FROM embedding_cache WHERE {_OF_SPACE} AND dims = ? AND hash IN ({{marks}})"
    )
    return dict(rows_in(connection, sql, hashes, (*astuple(space), dims)))


def dims_of(connection: Connection, space: Space) -> int | None:
    """Return how many numbers the cached vectors of a space have, if there are any."""
    sql = f"SELECT dims FROM embedding_cache WHERE {_OF_SPACE} LIMIT 1"
    dims = connection.execute(sql, astuple(space)).get
    return None if dims is None else int(dims)


def remember(connection: Connection, space: Space, vectors: Mapping[str, bytes], dims: int) -> None:
    """Keep vectors of so many numbers by the hash of their text; inside the caller's transaction."""
    of, now = astuple(space), time.time_ns()
    connection.executemany(
        "INSERT OR REPLACE INTO embedding_cache"
        "(provider, model, provider_key, hash, embedding, dims, updated_at) VALUES(?,?,?,?,?,?,?)",
        [(*of, digest, vector, dims, now) for digest, vector in vectors.items()],
    )


def drop(connection: Connection, space: Space, hashes: Iterable[str]) -> None:
    """Forget vectors, which chunks have got; inside the caller's transaction."""
    sql = f"DELETE FROM embedding_cache WHERE {_OF_SPACE} AND hash = ?"
    connection.executemany(sql, [(*astuple(space), digest) for digest in hashes])


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


@dataclass(frozen=True, slots=True)
class Submitted:
    """A batch that was submitted; without an `id` it is only certain that it was about to be."""

    token: str
    keys: frozenset[str]
    """The hashes of its texts."""
    created_at: float
    """Seconds since 1970."""
    reserved: int = 0
    """The tokens that a meter counted for it."""
    id: str = ""


def submitted_batches(connection: Connection, space: Space) -> list[Submitted]:
    """Return the batches of a space that have not come back yet, oldest first."""
    sql = f"SELECT token, created_at, entry FROM batches WHERE {_OF_SPACE} ORDER BY created_at, token"
    found = []
    for token, created_at, written in connection.execute(sql, astuple(space)):
        entry = json.loads(written)
        keys = frozenset(entry["keys"])
        found.append(Submitted(token, keys, created_at, entry["reserved"], entry["id"]))
    return found


def put_batch(connection: Connection, space: Space, batch: Submitted) -> None:
    """Note a batch, replacing what was noted with the same token."""
    entry = {"id": batch.id, "reserved": batch.reserved, "keys": sorted(batch.keys)}
    connection.execute(
        "INSERT OR REPLACE INTO batches(token, provider, model, provider_key, created_at, entry)"
        " VALUES(?, ?, ?, ?, ?, ?)",
        (batch.token, *astuple(space), batch.created_at, json.dumps(entry)),
    )


def drop_batch(connection: Connection, token: str) -> None:
    """Forget a batch."""
    connection.execute("DELETE FROM batches WHERE token = ?", (token,))


def copy_batches(source: Connection, target: Connection) -> None:
    """Take over every batch of another index: an unknown batch would be paid again."""
    rows = list(source.execute("SELECT token, provider, model, provider_key, created_at, entry FROM batches"))
    with transaction(target):
        target.executemany("INSERT OR REPLACE INTO batches VALUES(?, ?, ?, ?, ?, ?)", rows)
