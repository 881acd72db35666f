"""The vector spaces of an index: the one that answers, one that is being filled, one to go back to.

Vectors of different models cannot be compared, so each space has tables of its own. While a new space
is filled the old one goes on answering, and both change places in one transaction.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import astuple
from typing import Literal

from memlines.index.store.sqlite.db import Connection, transaction
from memlines.records import dataclass
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


def begin(connection: Connection, space: Space, note: str = "") -> None:
    """Have a space filled, or let it serve at once if no other does; the caller is the writer.

    One that was declined is not begun: the sync that fills it finds nothing to fill, and ends.
    """
    if connection.execute("SELECT value FROM meta WHERE key = ?", (DECLINED,)).get == _as_json(space):
        return
    with transaction(connection):
        every = entries(connection)
        known = next((entry for entry in every if entry.space == space), None)
        state: State = "filling" if any(entry.state == "serving" for entry in every) else "serving"
        if known is None or known.state == "kept":
            _drop(connection, [entry for entry in every if entry.state == "filling"])
        if known is None:
            # What its vectors were like when it was dropped.
            written = connection.execute("SELECT value FROM meta WHERE key = ?", (_name_of(space),)).get
            answers_as, dims = json.loads(written) if written else ("", None)
            add(connection, space, state, note, answers_as, dims)
        elif known.state == "kept" or known.note != note:
            connection.execute(
                "UPDATE spaces SET state = ?, note = ? WHERE number = ?",
                (state if known.state == "kept" else known.state, note, known.number),
            )


def serve(connection: Connection, space: Space) -> None:
    """Let a space answer from now on; the one that did so far is kept, and no other."""
    with transaction(connection):
        every = entries(connection)
        wanted = next((entry for entry in every if entry.space == space), None)
        if wanted is None or wanted.state == "serving":
            return
        _drop(connection, [entry for entry in every if entry.state != "serving" and entry != wanted])
        connection.execute("UPDATE spaces SET state = 'kept' WHERE state = 'serving'")
        connection.execute("UPDATE spaces SET state = 'serving' WHERE number = ?", (wanted.number,))


def empty(connection: Connection, space: Space) -> None:
    """Remove a space in any state, with its vectors and those in the cache; the caller is the writer."""
    with transaction(connection):
        _drop(connection, [entry for entry in entries(connection) if entry.space == space])
        connection.execute("DELETE FROM meta WHERE key = ?", (_name_of(space),))
        for table in ("embedding_cache", "batches"):
            connection.execute(
                f"DELETE FROM {table} WHERE provider = ? AND model = ? AND provider_key = ?", astuple(space)
            )


def drop_filling(connection: Connection) -> None:
    """Remove the space that is being filled, and its vectors; the caller is the writer."""
    with transaction(connection):
        _drop(connection, [entry for entry in entries(connection) if entry.state == "filling"])


def decline(connection: Connection, space: Space | None) -> None:
    """Note that the vectors of a space are not to be made; nothing takes that back."""
    value = _as_json(space) if space else ""
    connection.execute("INSERT OR REPLACE INTO meta(key, value) VALUES(?, ?)", (DECLINED, value))


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
        (*astuple(space), state, note, answers_as, dims),
    )


def set_answers_as(connection: Connection, number: int, name: str) -> None:
    """Note what the service calls the model of a space; inside the caller's transaction."""
    connection.execute("UPDATE spaces SET answers_as = ? WHERE number = ?", (name, number))


def _drop(connection: Connection, doomed: Iterable[SpaceEntry]) -> None:
    for entry in doomed:
        # The cache may still hold its vectors, so what they are like must not be forgotten with it.
        known = json.dumps([entry.answers_as, entry.dims])
        connection.execute(
            "INSERT OR REPLACE INTO meta(key, value) VALUES(?, ?)", (_name_of(entry.space), known)
        )
        for table in tables_of(entry.number):
            connection.execute(f"DROP TABLE IF EXISTS {table}")
        connection.execute("DELETE FROM spaces WHERE number = ?", (entry.number,))


def _name_of(space: Space) -> str:
    return f"was {space.provider} {space.model} {space.key}"


def _as_json(space: Space) -> str:
    return json.dumps(astuple(space))


def tables_of(number: int) -> tuple[str, str]:
    """Return the names of the tables that hold the vectors of a space and those of its sentences."""
    suffix = "" if number == 1 else f"_{number}"
    return f"chunks_vec{suffix}", f"chunks_sentences{suffix}"
