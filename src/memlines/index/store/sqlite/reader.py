"""Read an index: what it says of itself, its files and its chunks, as plain values."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing
from dataclasses import field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from memlines.index.store.sqlite import db, files, spaces
from memlines.index.store.sqlite.days import find_days, read_days
from memlines.index.store.sqlite.db import Connection
from memlines.index.store.sqlite.schema import MIGRATIONS, version_of
from memlines.index.store.sqlite.spaces import SpaceEntry, State
from memlines.index.store.sqlite.vectors import MATRIX, VectorTable
from memlines.index.store.sqlite.words import WordTable
from memlines.records import dataclass
from memlines.text.chunk import text_hash
from memlines.types import Chunk, Fingerprint, IndexedChunk, IndexedFile, Problem, Space, Turns

IDENTITY = "identity"
BIRTH = "birth"
SYNCED = "synced_at"
LANGUAGES = "languages"


@dataclass(frozen=True)
class IndexState:
    """What an index says of itself as a whole at one moment."""

    version: int
    """A number that changes whenever another connection wrote."""
    meta: Mapping[str, str]
    spaces: tuple[SpaceEntry, ...]
    unread: int = 0
    """How many files could not be read when they were last looked at; writers do not count them."""
    counts: dict[str, int] = field(default_factory=dict)
    """How many rows tables have, if they were counted."""
    terms: dict[str, int] = field(default_factory=dict)
    """How many chunks terms were found in: counting a common one takes time, and it comes again and again."""

    @cached_property
    def birth(self) -> str:
        """A name for this very index: a rebuilt one has another."""
        return self.meta.get(BIRTH, "")

    @cached_property
    def synced_at(self) -> str | None:
        """When the index last equalled the files."""
        return self.meta.get(SYNCED)

    @cached_property
    def identity(self) -> dict[str, Any]:
        """The settings the index was made with."""
        return dict(json.loads(self.meta.get(IDENTITY, "{}")))

    @cached_property
    def languages(self) -> tuple[str, ...]:
        """The languages whose words the index holds as stems."""
        return tuple(self.meta.get(LANGUAGES, "").split())

    @cached_property
    def serving(self) -> SpaceEntry | None:
        """The space that answers; nothing if no vector was ever asked for."""
        return self.entry_in("serving")

    @cached_property
    def declined(self) -> Space | None:
        """The space whose vectors must not be made although the settings ask for them."""
        written = self.meta.get(spaces.DECLINED)
        return Space(*json.loads(written)) if written else None

    def entry_in(self, state: State) -> SpaceEntry | None:
        """Return the space in a state; there is at most one in each."""
        return next((entry for entry in self.spaces if entry.state == state), None)

    def entry_of(self, space: Space) -> SpaceEntry | None:
        """Return what the index knows of a space; nothing if it has none of its vectors."""
        return next((entry for entry in self.spaces if entry.space == space), None)


class IndexReader:
    """The reading half of an open index."""

    def __init__(self, connection: Connection, path: Path) -> None:
        self.connection = connection
        self.path = path
        self.words = WordTable(self)
        """The words of the chunks."""
        self._is_reader = connection.readonly("main")
        self._state: IndexState | None = None
        self._origin: tuple[str, files.Origin] | None = None
        self._tables: dict[int, VectorTable] = {}
        self._held = ExitStack()

    @classmethod
    def reader(cls, path: Path, *, foreign: bool = False) -> Self | None:
        """Open an index for reading, with `foreign` even one made elsewhere; `None` if there is none yet."""
        with db.system_errors(path):
            files.check_file(path)
            # A journal is what the very first writer leaves if it dies; only a writer can roll it back.
            is_cut_off = path.with_name(path.name + "-journal").exists()
            if is_cut_off or not path.exists() or path.stat().st_size == 0:
                return None
        connection = db.open_reader(path)
        with db.closing_on_error(connection), db.store_errors(path), db.system_errors(path):
            files.check_database(connection, path)
            if version_of(connection) == len(MIGRATIONS):
                index = cls(connection, path)
                if not foreign:
                    files.refuse_foreign(index.origin, path)
                return index
            connection.close()  # a new one, or one that the next writer brings to this version
            return None

    def __enter__(self) -> Self:
        """Use the index in a block, which raises SQLite's errors as ours and closes the index at its end."""
        self._held.enter_context(closing(self))
        self._held.enter_context(self.errors())
        return self

    def __exit__(self, *raised: Any) -> None:
        self._held.__exit__(*raised)

    def close(self) -> None:
        """Close the index; a writer leaves no write-ahead log behind if no other program reads."""
        self._tables = {}
        self.connection.close()

    def errors(self) -> AbstractContextManager[None]:
        """Raise SQLite's errors inside the block as ours."""
        return db.store_errors(self.path)

    def snapshot(self) -> AbstractContextManager[None]:
        """Make several reads see one state of the index."""
        return db.snapshot(self.connection)

    @property
    def state(self) -> IndexState:
        """The state of the index now; a reader reads it again only if another connection wrote.

        Inside a snapshot it is the state of the snapshot. The version does not change by what a writer writes
        itself, so a writer reads its state every time.
        """
        with self.errors():
            version = int(self.connection.pragma("data_version"))
            if self._state is None or self._state.version != version or not self._is_reader:
                self._state = self._read_state(version)
        return self._state

    @property
    def languages(self) -> Sequence[str]:
        """The languages whose words the index holds as stems."""
        return self.state.languages

    def _read_state(self, version: int) -> IndexState:
        rows = self.connection.execute("SELECT key, value FROM meta")
        meta = {str(key): str(value) for key, value in rows}
        unread = 0
        if self._is_reader:
            sql = "SELECT count(*) FROM files WHERE problem IS NOT NULL AND (failed OR source = 'memory')"
            unread = int(self.connection.execute(sql).get)
        return IndexState(version, meta, tuple(spaces.entries(self.connection)), unread)

    @property
    def vectors(self) -> VectorTable:
        """The vectors that answer; others once a rebuild or another model was swapped in under a reader."""
        now = self.state.serving
        number = now.number if now else 0
        if number not in self._tables:
            self._tables = {}  # what a space that no longer answers holds in memory goes
        return self._table(number)

    def vectors_in(self, space: Space) -> VectorTable:
        """Return the table of vectors of a space, which holds none if the index does not know it."""
        entry = self.state.entry_of(space)
        return self._table(entry.number if entry else 0)

    def _table(self, number: int) -> VectorTable:
        birth = self.state.birth
        table = self._tables.get(number)
        if table is None or table.birth != birth:
            engine = self.identity().get("vector_engine", MATRIX)
            table = self._tables[number] = VectorTable(self.connection, self.path, birth, engine, number)
        return table

    # What the index was made with

    @property
    def origin(self) -> files.Origin:
        """Where this index was made; looked at again if another was swapped in."""
        birth = self.state.birth
        if self._origin is None or self._origin[0] != birth:
            self._origin = birth, files.origin_of(self.connection, self.path)
        return self._origin[1]

    def identity(self) -> dict[str, Any]:
        """Return the settings the index was made with."""
        try:
            return self.state.identity
        except (ValueError, TypeError):
            raise db.damaged(self.path, "what it was made with cannot be read") from None

    # Files

    def files(self, paths: Iterable[str] | None = None) -> dict[str, IndexedFile]:
        """Return what the index remembers of every file, or of some, by path."""
        sql = "SELECT path, source, hash, size, mtime_ns, inode, settled, problem, failed FROM files"
        if paths is None:
            rows: Iterable[Any] = self.connection.execute(sql)
        else:
            rows = db.rows_in(self.connection, f"{sql} WHERE path IN ({{marks}})", paths)
        return {
            path: IndexedFile(
                path,
                source,
                digest,
                Fingerprint(size, mtime_ns, inode),
                bool(settled),
                Problem(path, problem, bool(failed)) if problem else None,
            )
            for path, source, digest, size, mtime_ns, inode, settled, problem, failed in rows
        }

    def sure_files(self) -> set[tuple[str, int, int, int]]:
        """Return path and fingerprint of the files that are as they were if they still look so.

        As a set of plain rows this takes a third of the time of `files`, which counts at every sync.
        """
        rows: Iterable[Any] = self.connection.execute(
            "SELECT path, size, mtime_ns, inode FROM files WHERE settled AND problem IS NULL"
        )
        return set(rows)

    def paths(self) -> list[str]:
        """Return the paths of all known files, for which nothing else of them need be read."""
        return [path for (path,) in self.connection.execute("SELECT path FROM files")]

    def count_known(self) -> int:
        """Return how many files are known, with those that are left out."""
        return int(self.connection.execute("SELECT count(*) FROM files").get)

    # Chunks

    def chunks(self, numbers: Iterable[int]) -> dict[int, IndexedChunk]:
        """Return chunks by their numbers; those that are gone are left out."""
        sql = (
            "SELECT c.number, c.path, c.source, c.start_line, c.end_line, c.text, c.heading,"
            " coalesce(f.mtime_ns, 0), c.language, c.turns, c.days, c.hash"
            " FROM chunks c LEFT JOIN files f ON f.path = c.path WHERE c.number IN ({marks})"
        )
        found: dict[int, IndexedChunk] = {}
        for *values, turns, days, digest in db.rows_in(self.connection, sql, numbers):
            chunk = IndexedChunk(*values)
            if turns or days:
                chunk = replace(chunk, turns=self._read_turns(turns), days=read_days(days))
            if text_hash(chunk.text) != digest:  # cheap for what is shown, and a wrong line is worse
                raise db.damaged(self.path, "the text of a chunk is not what was written")
            found[chunk.number] = chunk
        return found

    def numbers_of(self, paths: Iterable[str]) -> Iterator[int]:
        """Yield the numbers of the chunks of some files."""
        sql = "SELECT number FROM chunks WHERE path IN ({marks})"
        yield from (number for (number,) in db.rows_in(self.connection, sql, paths))

    def find_days(self, first: str, last: str, limit: int) -> list[int]:
        """Return the chunks with entries of some days: the newest day first, each in its order."""
        from memlines.text.days import log_day  # which takes time to import

        days = [(path, day.isoformat()) for path in self.paths() if (day := log_day(path))]
        logs = [(path, day) for path, day in days if first <= day <= last]
        return find_days(self.connection, first, last, logs, limit)

    def notes_of(self, numbers: Iterable[int]) -> dict[int, str]:
        """Return the paths of the notes that chunks belong to, by the numbers of the chunks."""
        sql = "SELECT number, path FROM chunks WHERE source = 'memory' AND number IN ({marks})"
        return dict(db.rows_in(self.connection, sql, numbers))

    def chunks_of(self, path: str) -> list[Chunk]:
        """Return the chunks of a file, in their order."""
        rows = self.connection.execute(
            "SELECT start_line, end_line, text, hash, heading, turns, days FROM chunks WHERE path = ?"
            " ORDER BY start_line, number",
            (path,),
        )
        return [
            replace(Chunk(*values), turns=self._read_turns(turns), days=read_days(days))
            for *values, turns, days in rows
        ]

    def _read_turns(self, written: str) -> Turns:
        if not written:
            return ()
        try:
            return tuple((int(begin), int(line)) for begin, line in json.loads(written))
        except (ValueError, TypeError):
            why = "the lines of a conversation are not what was written"
            raise db.damaged(self.path, why) from None

    def count_files(self) -> int:
        """Return how many files are indexed, without those that are left out."""
        return int(self.connection.execute("SELECT count(*) FROM files WHERE problem IS NULL").get)

    def count_chunks(self) -> int:
        """Return how many chunks there are."""
        counts = self.state.counts
        if "chunks" not in counts:
            counts["chunks"] = int(self.connection.execute("SELECT count(*) FROM chunks").get)
        return counts["chunks"]

    def count_vectors(self, space: Space | None = None) -> int:
        """Return how many chunks have a vector in a space, or in the one that answers."""
        state = self.state
        entry = state.entry_of(space) if space else state.serving
        table = self._table(entry.number if entry else 0)
        if table.table not in state.counts:
            state.counts[table.table] = table.count()
        return state.counts[table.table]

    def counts_by_source(self) -> list[tuple[str, int, int]]:
        """Return the number of files and chunks of each source."""
        sql = "SELECT source, count(DISTINCT path), count(*) FROM chunks GROUP BY source ORDER BY source"
        return list(self.connection.execute(sql))

    def mean_length(self) -> float:
        """Return how many terms a chunk has on average, as FTS5 counts them in all columns."""
        record: bytes = self.connection.execute("SELECT block FROM chunks_fts_data WHERE id = 1").get or b""
        numbers, number = [], 0
        for byte in record:  # the rows, then the terms of each column, with seven bits a byte
            number = number << 7 | byte & 0x7F
            if byte < 0x80:
                numbers.append(number)
                number = 0
        rows, *terms = numbers or [0]
        return sum(terms) / rows if rows else 1.0

    def counts_by_file(self) -> Iterator[tuple[str, str, int, int]]:
        """Yield the path and hash of each file with chunks, how many, and how many of these have a vector."""
        has_vector = f"number IN ({self.vectors.chunk_numbers_sql})"
        counts = f"SELECT path, count(*) AS chunks, sum({has_vector}) AS vectors FROM chunks GROUP BY path"
        sql = f"SELECT path, files.hash, chunks, vectors FROM files JOIN ({counts}) USING (path)"
        yield from self.connection.execute(sql)

    def pending(self, vectors: VectorTable, after: int, limit: int) -> list[tuple[int, Chunk]]:
        """Return the next chunks that have no vector in a table yet, beyond a chunk number."""
        rows = self.connection.execute(
            "SELECT number, start_line, end_line, text, hash, heading FROM chunks"
            f" WHERE number > ? AND number NOT IN ({vectors.chunk_numbers_sql})"
            " ORDER BY number LIMIT ?",
            (after, limit),
        )
        return [(row[0], Chunk(*row[1:])) for row in rows]

    def numbers_like(self, texts: Mapping[str, tuple[str, str]], vectors: VectorTable) -> dict[str, int]:
        """Return which chunks have a vector of a text, by the keys of the texts.

        A text is named by the hash of its chunk and the heading above it.
        """
        sql = (
            "SELECT hash, heading, number FROM chunks"
            f" WHERE number IN ({vectors.chunk_numbers_sql}) AND substr(digest, 1, 6) IN ({{marks}})"
        )
        starts = {bytes.fromhex(digest[:12]) for digest, _ in texts.values()}
        known = {
            (digest, heading): number for digest, heading, number in db.rows_in(self.connection, sql, starts)
        }
        return {key: known[text] for key, text in texts.items() if text in known}

    def count_pending(self, space: Space) -> int:
        """Return how many chunks have no vector in a space yet."""
        return self.count_chunks() - self.count_vectors(space)
