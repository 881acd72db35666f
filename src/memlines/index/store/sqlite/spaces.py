"""The vector spaces of an index: the one that answers, one that is being filled, one to go back to.

Vectors of different models cannot be compared, so each space has tables of its own. While a new space
is filled the old one goes on answering, and both change places in one transaction.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from memlines.index.store.sqlite.db import Connection, transaction
from memlines.types import Space

State = Literal["serving", "filling", "kept"]

DECLINED = "declined"
_COLUMNS = "number, provider, model, provider_key, state, dims, answers_as, note"


@dataclass(frozen=True, slots=True)
class SpaceEntry:
    """A space as the index knows it."""

    number: int
    space: Space
    state: State
    dims: int | None
    answers_as: str
    """What the service called the model when it made the first vectors; empty if it did not say."""
    note: str
    """Why it is not the space that the settings ask for; empty if it is."""


def entries(connection: Connection) -> list[SpaceEntry]:
    """Return every space of an index, the oldest first."""
    rows = connection.execute(f"SELECT {_COLUMNS} FROM spaces ORDER BY number")
    return [
        SpaceEntry(number, Space(provider, model, key), *others)
        for number, provider, model, key, *others in rows
    ]


def entry_of(connection: Connection, space: Space) -> SpaceEntry | None:
    """Return what the index knows of a space; nothing if it has none of its vectors."""
    return next((entry for entry in entries(connection) if entry.space == space), None)


def serving(connection: Connection) -> SpaceEntry | None:
    """Return the space that answers; nothing if no vector was ever asked for."""
    return next((entry for entry in entries(connection) if entry.state == "serving"), None)


def begin(connection: Connection, space: Space, note: str = "") -> None:
    """Have a space filled, or let it serve at once if no other does; the caller is the writer.

    One that was declined is not begun: the sync that fills it finds nothing to fill, and ends.
    """
    if declined(connection) == space:
        return
    with transaction(connection):
        state: State = "serving" if serving(connection) is None else "filling"
        known = entry_of(connection, space)
        if known is None:
            _drop_where(connection, lambda entry: entry.state == "filling")
            # What its vectors were like when it was dropped.
            written = connection.execute("SELECT value FROM meta WHERE key = ?", (_name_of(space),)).get
            answers_as, dims = json.loads(written) if written else ("", None)
            add(connection, space, state, note, answers_as, dims)
        elif known.state == "kept":
            _drop_where(connection, lambda entry: entry.state == "filling")
            _set(connection, known.number, state, note)
        elif known.note != note:
            _set(connection, known.number, known.state, note)


def serve(connection: Connection, space: Space) -> None:
    """Let a space answer from now on; the one that did so far is kept, and no other."""
    with transaction(connection):
        wanted, now = entry_of(connection, space), serving(connection)
        if wanted is None or wanted == now:
            return
        kept = {wanted.number} | ({now.number} if now else set())
        _drop_where(connection, lambda entry: entry.number not in kept)
        if now is not None:
            _set(connection, now.number, "kept", now.note)
        _set(connection, wanted.number, "serving", wanted.note)


def empty(connection: Connection, space: Space) -> None:
    """Remove a space with its vectors and those in the cache, whatever it does; the caller is the writer."""
    with transaction(connection):
        _drop_where(connection, lambda entry: entry.space == space)
        connection.execute("DELETE FROM meta WHERE key = ?", (_name_of(space),))
        for table in ("embedding_cache", "batches"):
            connection.execute(
                f"DELETE FROM {table} WHERE provider = ? AND model = ? AND provider_key = ?",
                (space.provider, space.model, space.key),
            )


def drop(connection: Connection, space: Space) -> None:
    """Remove a space that does not serve, and its vectors; the caller is the writer."""
    with transaction(connection):
        _drop_where(connection, lambda entry: entry.space == space and entry.state != "serving")


def declined(connection: Connection) -> Space | None:
    """Return the space whose vectors are not to be made although the settings ask for them."""
    written = connection.execute("SELECT value FROM meta WHERE key = ?", (DECLINED,)).get
    return Space(*json.loads(written)) if written else None


def decline(connection: Connection, space: Space | None) -> None:
    """Note that the vectors of a space are not to be made; nothing takes that back."""
    written = json.dumps([space.provider, space.model, space.key]) if space else ""
    connection.execute("INSERT OR REPLACE INTO meta(key, value) VALUES(?, ?)", (DECLINED, written))


def add(
    connection: Connection,
    space: Space,
    state: State,
    note: str = "",
    answers_as: str = "",
    dims: int | None = None,
) -> None:
    """Note a new space; inside the caller's transaction."""
    connection.execute(
        "INSERT INTO spaces(provider, model, provider_key, state, note, answers_as, dims)"
        " VALUES(?, ?, ?, ?, ?, ?, ?)",
        (space.provider, space.model, space.key, state, note, answers_as, dims),
    )


def has_unfinished(connection: Connection, wanted: Space) -> bool:
    """Return whether the index has unfinished spaces besides the wanted one."""
    return any(_is_left(entry, wanted) for entry in entries(connection))


def drop_unfinished(connection: Connection, wanted: Space) -> None:
    """Give up spaces that are no longer wanted; one that replaces another for a reason is left to it."""
    with transaction(connection):
        _drop_where(connection, lambda entry: _is_left(entry, wanted))


def _is_left(entry: SpaceEntry, wanted: Space) -> bool:
    return entry.state == "filling" and entry.space != wanted and not entry.note


def set_answers_as(connection: Connection, number: int, name: str) -> None:
    """Note what the service calls the model of a space; inside the caller's transaction."""
    connection.execute("UPDATE spaces SET answers_as = ? WHERE number = ?", (name, number))


def _set(connection: Connection, number: int, state: State, note: str) -> None:
    connection.execute("UPDATE spaces SET state = ?, note = ? WHERE number = ?", (state, note, number))


def _drop_where(connection: Connection, doomed: Callable[[SpaceEntry], bool]) -> None:
    for entry in filter(doomed, entries(connection)):
        # The cache may still hold its vectors, so what they are like must not be forgotten with it.
        known = json.dumps([entry.answers_as, entry.dims])
        connection.execute(
            "INSERT OR REPLACE INTO meta(key, value) VALUES(?, ?)", (_name_of(entry.space), known)
        )
        for table in (vectors_table(entry.number), sentences_table(entry.number)):
            connection.execute(f"DROP TABLE IF EXISTS {table}")
        connection.execute("DELETE FROM spaces WHERE number = ?", (entry.number,))


def _name_of(space: Space) -> str:
    return f"was {space.provider} {space.model} {space.key}"


def vectors_table(number: int) -> str:
    """Return the name of the table that holds the vectors of a space."""
    return "chunks_vec" if number == 1 else f"chunks_vec_{number}"


def sentences_table(number: int) -> str:
    """Return the name of the table that holds the vectors of the sentences of a space."""
    return "chunks_sentences" if number == 1 else f"chunks_sentences_{number}"
