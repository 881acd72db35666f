"""Vectors of chunks, and search over them.

Two engines keep them: `matrix` (a plain table with one byte a number, which is searched in memory) and
`sqlite-vec` (a table of that extension, loaded from the file that the settings name or from the installed
package, with four bytes a number).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from memlines.embed.base import to_blobs
from memlines.embed.codec import cosines, decode, encode
from memlines.errors import StoreDamaged, StoreError, extra_missing
from memlines.index.store.sqlite.db import Connection, in_groups, rows_in, transaction
from memlines.index.store.sqlite.spaces import tables_of
from memlines.paths import expand_home

if TYPE_CHECKING:
    from memlines.index.store.sqlite.matrix import Matrix

_ENTRY = "sqlite3_vec_init"
"""The function that SQLite calls, whatever the file is named."""

_FILES: dict[Path, str] = {}
"""The extension's file by the folder of the indexes that use it. It is never read from an index: an index may
come from elsewhere, and whatever it names would run in this process."""


_LOADABLE: set[str] = set()
"""Files that were loaded in this process already, and need not be tried again."""


def use_extension(index_file: Path, extension: str | None) -> None:
    """Have the indexes beside a file use this extension; nothing means the installed package."""
    if extension:
        _FILES[index_file.parent] = extension
    else:
        _FILES.pop(index_file.parent, None)


def extension_trouble(extension: str | None) -> StoreError | None:
    """Return why the extension of the settings cannot be loaded; nothing if it can be."""
    try:
        file = extension_file(extension)
        if file not in _LOADABLE:
            with closing(Connection(":memory:")) as connection:
                load_extension(connection, extension)
            _LOADABLE.add(file)
    except StoreError as error:
        return error
    return None


def load_extension(connection: Connection, extension: str | None) -> None:
    """Load the extension from a file or the installed package, or raise an error that says how to get it."""
    file = extension_file(extension)
    if not hasattr(connection, "enable_load_extension"):
        raise StoreError(
            "this build of SQLite loads no extensions, so sqlite-vec cannot be used",
            todo="Install apsw from PyPI, or set store.vector.engine to auto",
        )
    connection.enable_load_extension(True)
    try:
        connection.load_extension(file, _ENTRY)
    except apsw.ExtensionLoadingError as error:
        raise StoreError(
            f"the sqlite-vec extension {file!r} cannot be loaded: {error}",
            todo="Set store.vector.extension_path to the right file, or store.vector.engine to auto",
        ) from error
    finally:
        connection.enable_load_extension(False)


def extension_file(extension: str | None) -> str:
    """Return where the extension is; raise if that is not known."""
    if extension:
        return str(expand_home(extension).absolute())
    try:
        import sqlite_vec
    except ImportError:
        otherwise = "set store.vector.engine to auto"
        raise extra_missing(StoreError, "this vector engine", SQLITE_VEC, SQLITE_VEC, otherwise) from None
    return str(sqlite_vec.loadable_path())


MATRIX = "matrix"
SQLITE_VEC = "sqlite-vec"
_FLOAT_BYTES = 4
_BACKGROUND = "background_"
_GROUP = 4_096
_MOST_NEIGHBOURS = 4096
"""The highest `k` that sqlite-vec accepts."""


class VectorTable:
    """The vectors of one space of an open index; `number` 0 means none, which has no vectors."""

    def __init__(self, connection: Connection, path: Path, birth: str, engine: str, number: int) -> None:
        self.connection = connection
        self.path = path
        self.birth = birth
        self.engine = engine
        self.number = number
        self.table, self.sentences_table = tables_of(number)
        self._matrix: Matrix | None = None
        self._loaded = engine != SQLITE_VEC
        self._unreadable = ""
        self._key = "rowid" if engine == SQLITE_VEC else "chunk"
        self._background = f"{_BACKGROUND}{number}"

    @property
    def chunk_numbers_sql(self) -> str:
        """A query for the numbers of the chunks that have a vector."""
        return f"SELECT {self._key} FROM {self.table}" if self._exists() else "SELECT NULL WHERE 0"

    def put(self, chunk: int, vector: bytes, sentences: bytes = b"") -> None:
        """Store the vector of a chunk and those of its sentences, as encoded; in the caller's transaction."""
        if not self._exists(to_write=True):
            self._create(len(vector))
        if self.engine == SQLITE_VEC:
            (vector,) = to_blobs(decode([vector]))
        self.connection.execute(
            f"INSERT INTO {self.table}({self._key}, embedding) VALUES(?, ?)", (chunk, vector)
        )
        if sentences:
            self.connection.execute(f"INSERT INTO {self.sentences_table} VALUES(?, ?)", (chunk, sentences))

    def delete(self, chunks: Sequence[int]) -> None:
        """Remove the vectors of chunks; inside the caller's transaction."""
        if self._exists(to_write=True):
            rows = [(number,) for number in chunks]
            self.connection.executemany(f"DELETE FROM {self.table} WHERE {self._key} = ?", rows)
            self.connection.executemany(f"DELETE FROM {self.sentences_table} WHERE chunk = ?", rows)

    def sentences(self, chunks: Iterable[int]) -> dict[int, bytes]:
        """Return the vectors of the sentences of those chunks that have any."""
        return self._read(self.sentences_table, "chunk", chunks)

    def of(self, chunks: Iterable[int]) -> dict[int, bytes]:
        """Return the encoded vectors of those chunks that have one."""
        return self._encoded(self._read(self.table, self._key, chunks))

    def packed(self, chunks: Iterable[int]) -> dict[int, bytes]:
        """Return the vectors of those chunks that have one, with those of their sentences."""
        vectors = self.of(chunks)
        sentences = self.sentences(vectors)
        return {number: blob + sentences.get(number, b"") for number, blob in vectors.items()}

    def by_chunk(self) -> Iterator[tuple[int, bytes]]:
        """Yield every chunk's number and encoded vector."""
        if self._exists():
            rows = self.connection.execute(f"SELECT {self._key}, embedding FROM {self.table}")
            for group in in_groups(rows, _GROUP):
                yield from self._encoded(dict(group)).items()

    def _read(self, table: str, key: str, chunks: Iterable[int]) -> dict[int, bytes]:
        sql = f"SELECT {key}, embedding FROM {table} WHERE {key} IN ({{marks}})"
        return dict(rows_in(self.connection, sql, chunks)) if self._exists() else {}

    def _encoded(self, vectors: dict[int, bytes]) -> dict[int, bytes]:
        """Return vectors with one byte a number, which those of sqlite-vec are not."""
        if self.engine != SQLITE_VEC or not vectors:
            return vectors
        import numpy as np

        rows = np.frombuffer(b"".join(vectors.values()), "<f4").reshape(len(vectors), -1)
        return dict(zip(vectors, encode(rows), strict=True))

    def chunks(self) -> Iterator[int]:
        """Yield the numbers of the chunks that have a vector."""
        yield from (number for (number,) in self.connection.execute(self.chunk_numbers_sql))

    def count(self) -> int:
        """Return how many chunks have a vector."""
        if not self._exists():
            return 0
        return int(self.connection.execute(f"SELECT count(*) FROM {self.table}").get)

    def dims(self) -> int | None:
        """Return the length of the vectors, if there are any."""
        if not self._exists():
            return None
        size = self.connection.execute(f"SELECT length(embedding) FROM {self.table} LIMIT 1").get
        return None if size is None else int(size) // (_FLOAT_BYTES if self.engine == SQLITE_VEC else 1)

    def background(self) -> bytes | None:
        """Return the mean vector of texts that have nothing to do with anything here, if it is known."""
        value = self.connection.execute("SELECT value FROM meta WHERE key = ?", (self._background,)).get
        try:
            return None if value is None else bytes.fromhex(str(value))
        except ValueError:  # damaged; what is measured again replaces it
            return None

    def set_background(self, vector: bytes) -> None:
        """Note that mean vector, and forget those of spaces that are gone; the caller is the writer."""
        with transaction(self.connection):
            self.connection.execute(
                "DELETE FROM meta WHERE key GLOB ?"
                " AND CAST(substr(key, ?) AS INTEGER) NOT IN (SELECT number FROM spaces)",
                (f"{_BACKGROUND}*", len(_BACKGROUND) + 1),
            )
            self.connection.execute(
                "INSERT OR REPLACE INTO meta(key, value) VALUES(?, ?)", (self._background, vector.hex())
            )

    def nearest(
        self, query: bytes, limit: int, also: Iterable[int] = (), only: frozenset[int] | None = None
    ) -> dict[int, float]:
        """Return the cosine of the nearest chunks, of all or of `only` some, and of those in `also`."""
        if not self._exists():
            return {}
        if self.engine == SQLITE_VEC:
            return self._nearest_by_extension(query, limit, list(also), only)
        from memlines.index.store.sqlite.matrix import Matrix

        self._matrix = Matrix.load(self.connection, self.table, self.path, self._matrix)
        return self._matrix.nearest(query, limit, also, only)

    def cosines(self, query: bytes, chunks: Iterable[int]) -> dict[int, float]:
        """Return the cosines of those chunks that have a vector."""
        dims = len(query) // _FLOAT_BYTES
        held = {number: blob for number, blob in self.of(chunks).items() if len(blob) == dims}
        return dict(zip(held, cosines(query, [*held.values()]), strict=True)) if held else {}

    def _exists(self, *, to_write: bool = False) -> bool:
        """Return whether there are vectors that can be read.

        Without its extension a table looks empty, for words to answer, until a sync rebuilds the index. It
        cannot be written to: a vector would outlive its chunk.
        """
        sql = "SELECT 1 FROM sqlite_schema WHERE name = ?"
        if self.connection.execute(sql, (self.table,)).get is None:
            return False
        if not self._loaded and not self._unreadable:
            try:
                self._load_extension()
            except StoreError as error:
                self._unreadable = str(error)
        if self._unreadable and to_write:
            raise StoreDamaged(
                f"the vectors of the index {str(self.path)!r} cannot be changed: {self._unreadable}",
                todo="Run 'memlines sync' to rebuild the index",
            )
        return not self._unreadable

    def _load_extension(self) -> None:
        """Load what the table needs, only when it is used: an index can be replaced without it."""
        load_extension(self.connection, _FILES.get(self.path.parent))
        self._loaded = True

    def _create(self, dims: int) -> None:
        self.connection.execute(
            f"CREATE TABLE {self.sentences_table}(chunk INTEGER PRIMARY KEY, embedding BLOB NOT NULL)"
        )
        self.connection.execute("UPDATE spaces SET dims = ? WHERE number = ?", (dims, self.number))
        if self.engine == SQLITE_VEC:
            if not self._loaded:
                self._load_extension()
            self.connection.execute(
                f"CREATE VIRTUAL TABLE {self.table} USING"
                f" vec0(embedding float[{dims}] distance_metric=cosine)"
            )
        else:
            self.connection.execute(
                f"CREATE TABLE {self.table}(chunk INTEGER PRIMARY KEY, embedding BLOB NOT NULL)"
            )

    def _nearest_by_extension(
        self, query: bytes, limit: int, also: list[int], only: frozenset[int] | None
    ) -> dict[int, float]:
        narrowed = "" if only is None else "AND rowid IN (SELECT value FROM json_each(?))"
        rows = self.connection.execute(
            f"SELECT rowid, distance FROM {self.table} WHERE embedding MATCH ? AND k = ? {narrowed}",
            (query, min(limit, _MOST_NEIGHBOURS), *([] if only is None else [json.dumps(list(only))])),
        )
        sql = f"SELECT rowid, vec_distance_cosine(embedding, ?) FROM {self.table} WHERE rowid IN ({{marks}})"
        every = chain(rows, rows_in(self.connection, sql, also, (query,)))
        return {number: 1.0 - distance for number, distance in every}
