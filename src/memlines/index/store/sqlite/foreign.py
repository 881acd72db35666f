"""Read the databases of other programs: their conversations, and the vectors that OpenClaw keeps.

Newer versions of OpenClaw call their table `memory_embedding_cache` and keep 64-bit numbers; older ones call
it `embedding_cache` and keep JSON. Both name a vector by the SHA-256 of the text it was made of.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Iterator
from contextlib import closing
from typing import Any

import apsw

from memlines.errors import StoreError
from memlines.index.store.sqlite.db import in_groups, open_read_only
from memlines.records import dataclass

_BUSY_MS = 1_000


def rows(path: str, sql: str, values: tuple[Any, ...]) -> Iterable[tuple[Any, ...]]:
    """Return what a query finds in a database of another program."""
    try:
        with closing(open_read_only(path, "mode=ro", _BUSY_MS)) as connection:
            return list(connection.execute(sql, values))
    except (apsw.Error, UnicodeDecodeError) as error:
        raise StoreError(
            f"{path!r} cannot be read as the database of another program ({error})",
            todo="See whether that program is of a version that Memlines knows",
        ) from error


_TABLES = ("memory_embedding_cache", "embedding_cache")
_AT_ONCE = 200
_WIDTHS = {8: "d", 4: "f"}


@dataclass(frozen=True, slots=True)
class Kept:
    """The vectors of one model from one place, and how many there are."""

    table: str
    provider: str
    model: str
    key: str
    count: int


def kept(database: str) -> list[Kept]:
    """Return whose vectors a database holds, those used last first."""
    marks = ",".join("?" * len(_TABLES))
    names = rows(
        database, f"SELECT name FROM sqlite_master WHERE type = 'table' AND name IN ({marks})", _TABLES
    )
    sql = (
        "SELECT provider, model, provider_key, count(*) FROM {}"
        " GROUP BY provider, model, provider_key ORDER BY max(updated_at) DESC"
    )
    return [
        Kept(str(name), str(provider), str(model), str(key), int(count))
        for (name,) in names
        for provider, model, key, count in rows(database, sql.format(name), ())
    ]


def hashes(database: str, which: Kept) -> set[str]:
    """Return the hashes of the texts whose vectors are there."""
    sql = f"SELECT hash FROM {which.table} WHERE provider = ? AND model = ? AND provider_key = ?"
    return {str(digest) for (digest,) in rows(database, sql, (which.provider, which.model, which.key))}


def vectors(database: str, which: Kept, wanted: Iterable[str]) -> Iterator[tuple[str, list[float]]]:
    """Yield the vectors of some texts by their hashes; what cannot be read as numbers is left out."""
    for some in in_groups(wanted, _AT_ONCE):
        sql = (
            f"SELECT hash, embedding, dims FROM {which.table} WHERE provider = ? AND model = ?"
            f" AND provider_key = ? AND hash IN ({','.join('?' * len(some))})"
        )
        found = rows(database, sql, (which.provider, which.model, which.key, *some))
        for digest, embedding, dims in found:
            vector = _numbers(embedding, dims)
            if vector:
                yield str(digest), vector


def _numbers(embedding: Any, dims: Any) -> list[float]:
    """Return the numbers of a vector however they are kept; none if they are not what they should be."""
    if isinstance(embedding, str):
        try:
            value = json.loads(embedding)
        except (ValueError, RecursionError):
            return []
        plain = isinstance(value, list) and set(map(type, value)) <= {int, float}
        return [float(number) for number in value] if plain else []
    if not isinstance(embedding, bytes) or not isinstance(dims, int) or dims < 1:
        return []
    width = _WIDTHS.get(len(embedding) // dims)
    if width is None or len(embedding) % dims:
        return []
    return list(struct.unpack(f"<{dims}{width}", embedding))
