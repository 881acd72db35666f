"""The index: files, chunks and their words, read and written as plain values.

A file is written in one transaction, so a reader sees all of it or what was there before.
Its vectors come later (`vectors.py`); until then it is found by its words.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from memlines.errors import StoreDamaged
from memlines.index.store.sqlite import changes, spaces
from memlines.index.store.sqlite.changes import put_tail
from memlines.index.store.sqlite.db import (
    IN_MEMORY,
    Connection,
    closing_on_error,
    open_reader,
    open_writer,
    rows_in,
    snapshot,
    store_errors,
    system_errors,
    transaction,
)
from memlines.index.store.sqlite.files import check_database, check_file
from memlines.index.store.sqlite.origin import Origin, mark, origin_of, refuse_foreign
from memlines.index.store.sqlite.schema import MIGRATIONS, migrate, version_of
from memlines.index.store.sqlite.spaces import SpaceEntry
from memlines.index.store.sqlite.vectors import MATRIX, VectorTable
from memlines.text.chunk import text_hash
from memlines.text.language import language_of
from memlines.text.terms import terms_of, title_of
from memlines.types import (
    Chunk,
    Document,
    Fingerprint,
    IndexedChunk,
    IndexedFile,
    Problem,
    Space,
    Tail,
    Turns,
)

_IDENTITY = "identity"
_BIRTH = "birth"
_SYNCED = "synced_at"
_LANGUAGES = "languages"

_FILE_COLUMNS = "path, source, hash, size, mtime_ns, inode, settled, problem, failed"


@dataclass(frozen=True)
class IndexState:
    """What an index says of itself as a whole at one moment."""

    version: int
    """A number that changes whenever another connection wrote."""
    meta: Mapping[str, str]
    spaces: tuple[SpaceEntry, ...]
    counts: dict[str, int] = field(default_factory=dict)
    """How many rows tables have, as far as they were counted."""

    @cached_property
    def birth(self) -> str:
        """A name for this very index: a rebuilt one has another."""
        return self.meta.get(_BIRTH, "")

    @cached_property
    def synced_at(self) -> str | None:
        """When the index last equalled the files."""
        return self.meta.get(_SYNCED)

    @cached_property
    def identity(self) -> dict[str, Any]:
        """The settings the index was made with."""
        return dict(json.loads(self.meta.get(_IDENTITY, "{}")))

    @cached_property
    def languages(self) -> tuple[str, ...]:
        """The languages whose words the index holds as stems."""
        return tuple(self.meta.get(_LANGUAGES, "").split())

    @cached_property
    def serving(self) -> SpaceEntry | None:
        """The space that answers; nothing if no vector was ever asked for."""
        return next((entry for entry in self.spaces if entry.state == "serving"), None)

    @cached_property
    def declined(self) -> Space | None:
        """The space whose vectors must not be made although the settings ask for them."""
        written = self.meta.get(spaces.DECLINED)
        return Space(*json.loads(written)) if written else None


class Index:
    """An open index: a reader, or the one writer, which holds the writer lock."""

    def __init__(self, connection: Connection, path: Path) -> None:
        self.connection = connection
        self.path = path
        self._is_reader = connection.readonly("main")
        self._state: IndexState | None = None
        self._origin: tuple[str, Origin] | None = None
        self._tables: dict[int, VectorTable] = {}

    @classmethod
    def reader(cls, path: Path, *, foreign: bool = False) -> Index | None:
        """Open an index for reading, with `foreign` even one made elsewhere; `None` if there is none yet."""
        with system_errors(path):
            check_file(path)
            # A journal is what the very first writer leaves if it dies; only a writer can roll it back.
            is_cut_off = path.with_name(path.name + "-journal").exists()
            if is_cut_off or not path.exists() or path.stat().st_size == 0:
                return None
        connection = open_reader(path)
        with closing_on_error(connection), store_errors(path), system_errors(path):
            check_database(connection, path)
            if version_of(connection) == len(MIGRATIONS):
                index = cls(connection, path)
                if not foreign:
                    refuse_foreign(index.origin, path)
                return index
            connection.close()  # a new one, or one that the next writer brings to this version
            return None

    @classmethod
    def writer(cls, path: Path, new_identity: Mapping[str, Any]) -> Index:
        """Open an index for writing, making it with this identity if it is new."""
        with system_errors(path):
            check_file(path)
        connection = open_writer(path)
        with closing_on_error(connection), store_errors(path), system_errors(path):
            check_database(connection, path)
            origin = origin_of(connection, path) if version_of(connection) else "new"
            refuse_foreign(origin, path)
            migrate(connection)
            with transaction(connection):
                connection.executemany(
                    "INSERT OR IGNORE INTO meta(key, value) VALUES(?, ?)",
                    [(_BIRTH, uuid.uuid4().hex), (_IDENTITY, json.dumps(new_identity, sort_keys=True))],
                )
                if origin == "new":
                    mark(connection, path)
            return cls(connection, path)

    @classmethod
    def in_memory(cls, identity: Mapping[str, Any]) -> Index:
        """Make an index that is on no disk and ends with this object."""
        connection = open_writer(IN_MEMORY)
        with closing_on_error(connection), store_errors(IN_MEMORY):
            migrate(connection)
            index = cls(connection, IN_MEMORY)
            index.note(_BIRTH, uuid.uuid4().hex)
            index.note(_IDENTITY, json.dumps(identity, sort_keys=True))
            return index

    def close(self) -> None:
        """Close the index; a writer leaves no write-ahead log behind if nobody reads."""
        self._tables = {}  # lets go of the memory-mapped copy
        self.connection.close()

    def errors(self) -> AbstractContextManager[None]:
        """Raise SQLite's errors inside the block as ours."""
        return store_errors(self.path)

    def snapshot(self) -> AbstractContextManager[None]:
        """Make several reads see one state of the index."""
        return snapshot(self.connection)

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

    def _read_state(self, version: int) -> IndexState:
        rows = self.connection.execute("SELECT key, value FROM meta")
        meta = {str(key): str(value) for key, value in rows}
        return IndexState(version, meta, tuple(spaces.entries(self.connection)))

    @property
    def vectors(self) -> VectorTable:
        """The vectors that answer; others once a rebuild or another model was swapped in under a reader."""
        now = self.state.serving
        number = now.number if now else 0
        if number not in self._tables:
            self._tables = {}  # a space that no longer answers lets go of what it mapped
        return self._table(number)

    def vectors_in(self, space: Space) -> VectorTable:
        """Return the table of vectors of a space, which holds none if the index does not know it."""
        entry = spaces.entry_of(self.connection, space)
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
    def birth(self) -> str:
        """A name for this very index: a rebuilt one has another."""
        return self.state.birth

    @property
    def origin(self) -> Origin:
        """Where this index was made; looked at again if another was swapped in."""
        birth = self.state.birth
        if self._origin is None or self._origin[0] != birth:
            self._origin = birth, origin_of(self.connection, self.path)
        return self._origin[1]

    def identity(self) -> dict[str, Any]:
        """Return the settings the index was made with."""
        try:
            return self.state.identity
        except (ValueError, TypeError):
            raise _damaged(self.path, "what it was made with cannot be read") from None

    @property
    def synced_at(self) -> str | None:
        """When the index last equalled the files."""
        return self.state.synced_at

    def mark_synced(self, when: str) -> None:
        """Note that the index equals the files now."""
        self.note(_SYNCED, when)

    def noted(self, key: str) -> str | None:
        """Return what was noted under a key; nothing if nothing was."""
        return self.state.meta.get(key)

    def note(self, key: str, value: str) -> None:
        """Note something about the index as a whole."""
        self.connection.execute("INSERT OR REPLACE INTO meta(key, value) VALUES(?, ?)", (key, value))

    # Files

    def files(self) -> dict[str, IndexedFile]:
        """Return what the index remembers of every file, by path."""
        return self._files(self.connection.execute(f"SELECT {_FILE_COLUMNS} FROM files"))

    def files_at(self, paths: Iterable[str]) -> dict[str, IndexedFile]:
        """Return what the index remembers of some files, by path."""
        sql = f"SELECT {_FILE_COLUMNS} FROM files WHERE path IN ({{marks}})"
        return self._files(rows_in(self.connection, sql, paths))

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

    @staticmethod
    def _files(rows: Iterable[Any]) -> dict[str, IndexedFile]:
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

    def put(
        self, document: Document, chunks: Sequence[Chunk], tail: Tail | None = None, since: int = 0
    ) -> None:
        """Replace everything the index holds of a file, in one transaction.

        Of a transcript that grew, only what stands in the lines `since` its tail is replaced. Chunks that
        are the same as before keep their words and vectors.
        """
        language = self._language_for(document, since)
        with transaction(self.connection):
            changed = changes.compare(self.connection, document, chunks, language, since)
            new = changed.new
            spoken = {name: language or language_of(chunk.text) for name, chunk in new.items()}
            self._delete(changed.gone)
            changes.move(self.connection, changed.moved)
            self._note_languages(spoken.values())
            put_tail(self.connection, document.path, tail)
            self._put_file(
                IndexedFile(
                    document.path, document.source, document.hash, document.fingerprint, document.settled
                )
            )
            numbers = [self._put_chunk(name, document, chunk, spoken[name]) for name, chunk in new.items()]
            # Words come last: any other insert would make FTS5 write out what it gathered so far.
            self.connection.executemany(
                "INSERT INTO chunks_fts(rowid, words, title) VALUES(?, ?, ?)",
                [
                    (
                        number,
                        " ".join(terms_of(chunk.text, spoken[name])),
                        " ".join(terms_of(title_of(document.path, chunk.heading), spoken[name])),
                    )
                    for number, (name, chunk) in zip(numbers, new.items(), strict=True)
                ],
            )

    def leaving(self, document: Document, chunks: Sequence[Chunk], since: int = 0) -> list[int]:
        """Return the numbers of the chunks that go if a document is put with these ones."""
        language = self._language_for(document, since)
        return changes.compare(self.connection, document, chunks, language, since).gone

    def _language_for(self, document: Document, since: int) -> str | None:
        """Return the language of a document; nothing for facts, each of which is in its own."""
        if document.path == self.identity().get("facts_file"):
            return None
        return (since and self._language_of(document.path)) or language_of(document.text)

    def _language_of(self, path: str) -> str:
        sql = "SELECT language FROM chunks WHERE path = ? LIMIT 1"
        return str(self.connection.execute(sql, (path,)).get or "")

    def languages(self) -> tuple[str, ...]:
        """Return the languages whose words the index holds as stems."""
        return self.state.languages

    def _note_languages(self, languages: Iterable[str]) -> None:
        known = self.languages()
        every = dict.fromkeys([*known, *(language for language in languages if language)])
        if len(every) > len(known):
            self.note(_LANGUAGES, " ".join(every))

    def _put_chunk(self, name: str, document: Document, chunk: Chunk, language: str) -> int:
        row = (
            name,
            document.path,
            document.source,
            chunk.start_line,
            chunk.end_line,
            chunk.hash,
            chunk.heading,
            language,
            chunk.text,
            changes.turns_text(chunk.turns),
            time.time_ns() // 1_000_000,
        )
        number = self.connection.execute(
            "INSERT INTO chunks(id, path, source, start_line, end_line, hash, heading, language,"
            " text, turns, updated_at) VALUES(?,?,?,?,?,?,?,?,?,?,?) RETURNING number",
            row,
        ).get
        return int(number)

    def touch(self, file: IndexedFile) -> None:
        """Note a new fingerprint of a file whose content is the same."""
        self._put_file(file)

    def put_problem(self, file: IndexedFile) -> None:
        """Note why a file is not indexed.

        One that is left out on purpose loses what the index held of it. One that could not be read
        keeps it, and is tried again at the next sync.
        """
        with transaction(self.connection):
            if file.problem is not None and not file.problem.failed:
                self._delete_chunks(file.path)
            self._put_file(file)

    def remove(self, path: str, staying: changes.Staying | None = None) -> None:
        """Remove every trace of a file, but for what is to stay; it is read again then."""
        with transaction(self.connection):
            if staying:
                self._delete(changes.not_staying(self.connection, path, staying))
                self.connection.execute("UPDATE files SET hash = '', settled = 0 WHERE path = ?", (path,))
            else:
                self._delete_chunks(path)
                self.connection.execute("DELETE FROM files WHERE path = ?", (path,))

    def _put_file(self, file: IndexedFile) -> None:
        self.connection.execute(
            "INSERT OR REPLACE INTO files"
            "(path, source, hash, size, mtime_ns, inode, settled, problem, failed)"
            " VALUES(?,?,?,?,?,?,?,?,?)",
            (
                file.path,
                file.source,
                file.hash,
                *file.fingerprint,
                int(file.settled),
                file.problem.reason if file.problem else None,
                int(file.problem.failed) if file.problem else 0,
            ),
        )

    def _delete_chunks(self, path: str) -> None:
        put_tail(self.connection, path, None)
        self._delete(list(self.numbers_of([path])))

    def _delete(self, numbers: Sequence[int]) -> None:
        if not numbers:
            return
        rows = [(number,) for number in numbers]
        for entry in spaces.entries(self.connection):
            self._table(entry.number).delete(numbers)
        self.connection.executemany("DELETE FROM chunks_fts WHERE rowid = ?", rows)
        self.connection.executemany("DELETE FROM chunks WHERE number = ?", rows)

    # Chunks

    def chunks(self, numbers: Iterable[int]) -> dict[int, IndexedChunk]:
        """Return chunks by their numbers; those that are gone are left out."""
        sql = (
            "SELECT c.number, c.path, c.source, c.start_line, c.end_line, c.text, c.heading,"
            " coalesce(f.mtime_ns, 0), c.language, c.turns, c.hash"
            " FROM chunks c LEFT JOIN files f ON f.path = c.path WHERE c.number IN ({marks})"
        )
        found: dict[int, IndexedChunk] = {}
        for *values, turns, digest in rows_in(self.connection, sql, numbers):
            chunk = IndexedChunk(*values)
            if turns:
                chunk = replace(chunk, turns=self._turns(turns))
            if text_hash(chunk.text) != digest:  # cheap for what is shown, and a wrong line is worse
                raise _damaged(self.path, "the text of a chunk is not what was written")
            found[chunk.number] = chunk
        return found

    def _turns(self, written: str) -> Turns:
        try:
            return tuple((int(begin), int(line)) for begin, line in json.loads(written))
        except (ValueError, TypeError):
            raise _damaged(self.path, "the lines of a conversation are not what was written") from None

    def numbers_of(self, paths: Iterable[str]) -> Iterator[int]:
        """Yield the numbers of the chunks of some files."""
        sql = "SELECT number FROM chunks WHERE path IN ({marks})"
        yield from (number for (number,) in rows_in(self.connection, sql, paths))

    def notes_of(self, numbers: Iterable[int]) -> dict[int, str]:
        """Return the paths of the notes that chunks belong to, by the numbers of the chunks."""
        sql = "SELECT number, path FROM chunks WHERE source = 'memory' AND number IN ({marks})"
        return dict(rows_in(self.connection, sql, numbers))

    def chunks_of(self, path: str) -> list[Chunk]:
        """Return the chunks of a file, in their order."""
        rows = self.connection.execute(
            "SELECT start_line, end_line, text, hash, heading FROM chunks WHERE path = ?"
            " ORDER BY start_line, number",
            (path,),
        )
        return [Chunk(*row) for row in rows]

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
        entry = next((one for one in state.spaces if one.space == space), None) if space else state.serving
        table = self._table(entry.number if entry else 0)
        if table.table not in state.counts:
            state.counts[table.table] = table.count()
        return state.counts[table.table]

    def counts_by_source(self) -> list[tuple[str, int, int]]:
        """Return the number of files and chunks of each source."""
        return list(
            self.connection.execute(
                "SELECT source, count(DISTINCT path), count(*) FROM chunks GROUP BY source ORDER BY source"
            )
        )

    def pending(self, vectors: VectorTable, after: int, limit: int) -> list[tuple[int, Chunk]]:
        """Return the next chunks that have no vector in a table yet, beyond a chunk number."""
        rows = self.connection.execute(
            "SELECT number, start_line, end_line, text, hash, heading FROM chunks"
            f" WHERE number > ? AND number NOT IN ({vectors.chunk_numbers_sql})"
            " ORDER BY number LIMIT ?",
            (after, limit),
        )
        return [(row[0], Chunk(*row[1:])) for row in rows]

    def count_pending(self, space: Space) -> int:
        """Return how many chunks have no vector in a space yet."""
        return self.count_chunks() - self.count_vectors(space)


def _damaged(path: Path, why: str) -> StoreDamaged:
    return StoreDamaged(
        f"the index {str(path)!r} is damaged: {why}", todo="Run 'memlines sync --force' to rebuild it"
    )
