"""Compare a file with what the index holds of it: most chunks of a long note are the same as before.

A chunk that is the same on other lines stays where it is, with its words and vectors, and only gets the new
lines and the name that is made of them. Of a transcript it is noted where its last stretch begins, so that
reading goes on there when it grows.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from memlines.index.store.sqlite.db import Connection
from memlines.text.chunk import chunk_id
from memlines.types import Chunk, Document, Spot, Tail, Turns


@dataclass(frozen=True, slots=True)
class Move:
    """A chunk that stays: its number, its name so far, and its name and lines now."""

    number: int
    before: str
    name: str
    chunk: Chunk


@dataclass(frozen=True, slots=True)
class Staying:
    """What stays of a file from which lines are taken.

    If the index holds the file as it has this `hash`, only the chunks on the lines in `gone` go. Otherwise
    all go that are none of its `chunks` as they will be, which takes long to find out for a long note.
    """

    hash: str
    gone: Sequence[tuple[int, int]]
    chunks: Callable[[], Sequence[Chunk]]


@dataclass(frozen=True, slots=True)
class Changes:
    """The numbers of the chunks that go, those that are on other lines, and the new ones by name."""

    gone: list[int] = field(default_factory=list)
    moved: list[Move] = field(default_factory=list)
    new: dict[str, Chunk] = field(default_factory=dict)


def compare(
    connection: Connection,
    document: Document,
    chunks: Sequence[Chunk],
    language: str | None,
    since: int,
) -> Changes:
    """Tell what changes in the lines `since` one if a document is cut into these chunks.

    Text, headings and language make the words and vectors of a chunk: if all are the same, so are they. It
    is the language of the document; without one, each chunk is in that of its text, which is the same then.
    """
    named: dict[str, Chunk] = {}
    for chunk in chunks:
        # Equal pieces of one long line have one name: they are one answer, not two.
        named.setdefault(chunk_id(document.source, document.path, chunk), chunk)
    rows = connection.execute(
        "SELECT number, id, hash, heading, source, language FROM chunks"
        " WHERE path = ? AND start_line >= ? ORDER BY start_line, number",
        (document.path, since),
    )
    known: dict[tuple[str, ...], deque[tuple[int, str]]] = {}
    for number, name, digest, heading, source, spoken in rows:
        same = (digest, heading, source, spoken if language is not None else "")
        known.setdefault(same, deque()).append((number, name))
    changes = Changes()
    for name, chunk in named.items():
        held = known.get((chunk.hash, chunk.heading, document.source, language or ""))
        if not held:
            changes.new[name] = chunk
            continue
        number, before = held.popleft()
        if before != name:
            changes.moved.append(Move(number, before, name, chunk))
    changes.gone.extend(number for held in known.values() for number, _ in held)
    return changes


def turns_text(turns: Turns) -> str:
    """Return the lines of the turns of a chunk as JSON; an empty text for a chunk of a note."""
    return json.dumps(turns, separators=(",", ":")) if turns else ""


def not_staying(connection: Connection, path: str, staying: Staying) -> list[int]:
    """Return the numbers of the chunks of a file that go if some of it stays."""
    known = connection.execute("SELECT hash FROM files WHERE path = ? AND problem IS NULL", (path,)).get
    if staying.gone and known == staying.hash:
        sql = "SELECT number FROM chunks WHERE path = ? AND start_line <= ? AND end_line >= ?"
        found: set[int] = set()
        for first, last in staying.gone:
            found.update(number for (number,) in connection.execute(sql, (path, last, first)))
        return sorted(found)
    kept = {(chunk.hash, chunk.heading) for chunk in staying.chunks()}
    rows = connection.execute("SELECT number, hash, heading FROM chunks WHERE path = ?", (path,))
    return [number for number, digest, heading in rows if (digest, heading) not in kept]


def move(connection: Connection, moves: Sequence[Move]) -> None:
    """Give chunks their new lines and names; inside the caller's transaction."""
    names = {move.name for move in moves}
    # Where one text is on several lines, one chunk may be about to take the name of another.
    connection.executemany(
        "UPDATE chunks SET id = ? WHERE number = ?",
        [(f"moving {move.number}", move.number) for move in moves if move.before in names],
    )
    connection.executemany(
        "UPDATE chunks SET id = ?, start_line = ?, end_line = ?, turns = ? WHERE number = ?",
        [
            (move.name, move.chunk.start_line, move.chunk.end_line, turns_text(move.chunk.turns), move.number)
            for move in moves
        ],
    )


def tail_of(connection: Connection, path: str) -> Tail | None:
    """Return where to read a transcript on; nothing if it has to be read whole."""
    sql = "SELECT line, position, mark, heading, secrets FROM tails WHERE path = ?"
    for line, position, mark, heading, secrets in connection.execute(sql, (path,)):
        spots = tuple(Spot(*spot) for spot in json.loads(secrets))
        return Tail(line, position, mark, heading, spots)
    return None


def put_tail(connection: Connection, path: str, tail: Tail | None) -> None:
    """Note where to read a transcript on, or that it has to be read whole; in the caller's transaction."""
    if tail is None:
        connection.execute("DELETE FROM tails WHERE path = ?", (path,))
    else:
        row = (path, *tail[:-1], json.dumps(tail.secrets))
        connection.execute("INSERT OR REPLACE INTO tails VALUES(?, ?, ?, ?, ?, ?)", row)
