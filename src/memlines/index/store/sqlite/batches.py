"""What a service was handed to embed and has not returned yet."""

from __future__ import annotations

from memlines.index.store.sqlite.db import Connection, transaction
from memlines.types import Space


def entries(connection: Connection, space: Space) -> list[tuple[str, float, str]]:
    """Return token, time and entry of the batches of a space, oldest first."""
    rows = connection.execute(
        "SELECT token, created_at, entry FROM batches"
        " WHERE provider = ? AND model = ? AND provider_key = ? ORDER BY created_at, token",
        (space.provider, space.model, space.key),
    )
    return [(token, created_at, entry) for token, created_at, entry in rows]


def put(connection: Connection, space: Space, token: str, created_at: float, entry: str) -> None:
    """Note a batch, in the place of what was noted with the same token."""
    connection.execute(
        "INSERT OR REPLACE INTO batches(token, provider, model, provider_key, created_at, entry)"
        " VALUES(?, ?, ?, ?, ?, ?)",
        (token, space.provider, space.model, space.key, created_at, entry),
    )


def drop(connection: Connection, token: str) -> None:
    """Forget a batch."""
    connection.execute("DELETE FROM batches WHERE token = ?", (token,))


def copy(source: Connection, target: Connection) -> None:
    """Take over every batch of another index: a batch that nobody knows of would be paid again."""
    rows = list(source.execute("SELECT token, provider, model, provider_key, created_at, entry FROM batches"))
    with transaction(target):
        target.executemany("INSERT OR REPLACE INTO batches VALUES(?, ?, ?, ?, ?, ?)", rows)
