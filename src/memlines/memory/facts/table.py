"""The table of the facts in LanceDB: derived from the note and from the index's own vectors.

Nothing is lost with it. What it answers is the cosine of vectors, which is 1 for the same meaning, about 0
for none in common. Up to some twenty thousand rows every vector is compared; above that, an index of short
codes finds candidates (one bit a number, all partitions looked at), which are compared by their vectors.
"""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memlines.errors import StoreDamaged
from memlines.files.atomic import refuse_link
from memlines.memory.facts.lance import connected, is_missing, lance_errors
from memlines.memory.facts.record import is_remote
from memlines.text.facts import Fact, is_id

if TYPE_CHECKING:
    import pyarrow as pa
    from lancedb.table import Table as LanceTable

NAME = "memories"

_TOKEN = b"memlines.token"
"""Under which name the schema of a table has what tells it from any other of its name."""

_EXACT_UP_TO = 20_000
"""Rows that are all compared; that takes about 30 ms at 512 numbers, and 150 ms with five times as many."""

_PARTITION = 4_000
_CANDIDATES = 100
"""Rows in a partition of the index, and how many candidates are compared by their vectors at least. With so
many, all but one in a thousand of the ten nearest are among them (real sentences, 512 numbers)."""

_CODE_BYTES = 8
"""Codes have whole bytes: vectors whose length is no multiple of this are always compared all."""

_AT_ONCE = 8_192
_IDS_AT_ONCE = 500
_FLOAT_BYTES = 4
_OLD = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True)
class Row:
    """A fact with its vector, and a mark that tells whether a row is up to date."""

    fact: Fact
    vector: bytes
    mark: str


class Table:
    """A table as it was when it was opened or last changed through here."""

    def __init__(self, uri: str, inner: LanceTable) -> None:
        self.uri = uri
        self.made_of: tuple[str, str, int] = ("", "", 0)
        """The state of the note in the index that it was made of, if it is known."""
        self.space_number = 0
        """The number of the space in that index, which is another one once its vectors were made anew."""
        self.lacking: frozenset[str] | None = frozenset()
        """The ids of the facts that it lacks; nothing if they are too many to be compared beside it."""
        self._inner = inner
        with lance_errors(uri):
            self.token = (inner.schema.metadata or {}).get(_TOKEN, b"").decode(errors="replace")
            self._dims = int(inner.schema.field("vector").type.list_size)
            self._is_indexed = any(True for _ in inner.list_indices())
            self._partitions = _partitions(inner.count_rows())

    @classmethod
    def open(cls, uri: str) -> Table | None:
        """Open a table; nothing if there is none."""
        refuse_link(Path(uri, f"{NAME}.lance"))
        database = connected(uri)
        with lance_errors(uri):
            try:
                inner = database.open_table(NAME)
            except ValueError as error:
                if is_missing(error):
                    return None
                raise
        return cls(uri, inner)

    @classmethod
    def create(cls, uri: str, rows: Iterable[Row]) -> Table:
        """Make a table of rows, of which there is at least one; there must be no table."""
        database = connected(uri)
        batches = _batches(rows)
        with lance_errors(uri):
            first = next(batches)
            named = first.replace_schema_metadata({_TOKEN: secrets.token_hex(16).encode()})
            inner = database.create_table(NAME, named)
            table, is_whole = cls(uri, inner), True
            for batch in batches:
                inner.add(batch)
                is_whole = False
        if not is_whole:
            table.tidy()
        return table

    @property
    def version(self) -> int:
        """A number that changes with every change."""
        with lance_errors(self.uri):
            return int(self._inner.version)

    def count(self) -> int:
        """Return how many facts it holds."""
        with lance_errors(self.uri):
            return int(self._inner.count_rows())

    def marks(self) -> dict[str, str]:
        """Return the mark of every fact by its id."""
        with lance_errors(self.uri):
            held = self._inner.search().select(["id", "mark"]).to_arrow()
        marks = dict(zip(held["id"].to_pylist(), held["mark"].to_pylist(), strict=True))
        if len(marks) != held.num_rows or not all(map(is_id, marks)):
            raise StoreDamaged(f"the table {self.uri!r} is damaged", todo="The next sync makes it anew")
        return marks

    def nearest(self, vector: bytes, limit: int, *, current_only: bool = False) -> dict[str, float]:
        """Return the cosines of the facts that are nearest to a vector, the nearest first."""
        import numpy as np
        from lancedb.expr import col, lit

        if limit < 1 or len(vector) != self._dims * _FLOAT_BYTES:
            return {}
        with lance_errors(self.uri):
            search: Any = self._inner.search(np.frombuffer(vector, "<f4"), "vector", "vector")
            search = search.distance_type("cosine").select(["id", "_distance"]).limit(limit)
            if current_only:
                search = search.where(col("current") == lit(True))
            if self._is_indexed:
                search = search.nprobes(self._partitions).refine_factor(-(-_CANDIDATES // limit))
            found = search.to_arrow()
        distances = found["_distance"].to_pylist()
        return {name: 1.0 - far for name, far in zip(found["id"].to_pylist(), distances, strict=True)}

    def put(self, rows: Iterable[Row]) -> None:
        """Write rows in the place of those with the same ids, or beside the others."""
        with lance_errors(self.uri):
            for batch in _batches(rows):
                merge = self._inner.merge_insert("id")
                merge.when_matched_update_all().when_not_matched_insert_all().execute(batch)

    def remove(self, ids: Iterable[str]) -> None:
        """Remove the rows of facts."""
        from lancedb.expr import col, lit

        names = iter(ids)
        while some := list(islice(names, _IDS_AT_ONCE)):
            if not all(map(is_id, some)):
                raise StoreDamaged(f"the table {self.uri!r} is damaged", todo="The next sync makes it anew")
            with lance_errors(self.uri):
                self._inner.delete(col("id").isin([lit(name) for name in some]))

    def index_if_large(self) -> bool:
        """Make the index of a table that has outgrown comparing all; tell whether it was made now."""
        from lancedb.index import IvfRq

        rows = self.count()
        if self._is_indexed or rows <= _EXACT_UP_TO or self._dims % _CODE_BYTES:
            return False
        with lance_errors(self.uri):
            config = IvfRq(distance_type="cosine", num_partitions=_partitions(rows))
            self._inner.create_index("vector", config=config)
        self._is_indexed, self._partitions = True, _partitions(rows)
        return True

    def tidy(self) -> None:
        """Put small files together, take new rows into the index, and remove what former versions held.

        What killed writers left is removed only where nobody else can be writing: in a locked folder.
        """
        with lance_errors(self.uri):
            self._inner.optimize(cleanup_older_than=_OLD, delete_unverified=not is_remote(self.uri))


def drop(uri: str) -> None:
    """Remove a table, whatever its state, with all that it ever held."""
    if is_remote(uri):
        database = connected(uri)
        with lance_errors(uri):
            try:
                database.drop_table(NAME)
            except ValueError as error:
                if not is_missing(error):
                    raise
        return
    folder = Path(uri, f"{NAME}.lance")
    refuse_link(folder)
    with lance_errors(uri):
        if folder.is_dir():
            shutil.rmtree(folder)
        else:
            folder.unlink(missing_ok=True)


def _partitions(rows: int) -> int:
    return max(1, rows // _PARTITION)


def _batches(rows: Iterable[Row]) -> Iterator[pa.Table]:
    """Yield rows as Arrow has them, not so many at once that their vectors fill the memory."""
    every = iter(rows)
    while some := list(islice(every, _AT_ONCE)):
        yield _arrow(some)


def _arrow(rows: Sequence[Row]) -> pa.Table:
    import pyarrow as pa

    dims = len(rows[0].vector) // _FLOAT_BYTES
    facts = [row.fact for row in rows]
    numbers = pa.py_buffer(b"".join(row.vector for row in rows))
    floats = pa.Array.from_buffers(pa.float32(), len(rows) * dims, [None, numbers])
    columns: dict[str, tuple[pa.DataType, Any]] = {
        "id": (pa.string(), [fact.id for fact in facts]),
        "text": (pa.string(), [fact.text for fact in facts]),
        "vector": (pa.list_(pa.float32(), dims), pa.FixedSizeListArray.from_arrays(floats, dims)),
        "importance": (pa.float32(), [fact.importance for fact in facts]),
        "category": (pa.string(), [fact.category for fact in facts]),
        "created_at": (pa.date32(), [fact.created for fact in facts]),
        "source": (pa.string(), [fact.source for fact in facts]),
        "valid_from": (pa.date32(), [fact.valid_from for fact in facts]),
        "superseded_by": (pa.string(), [fact.superseded_by or None for fact in facts]),
        "current": (pa.bool_(), [fact.is_current for fact in facts]),
        "mark": (pa.string(), [row.mark for row in rows]),
    }
    schema = pa.schema([(name, kind) for name, (kind, _) in columns.items()])
    arrays = [
        value if isinstance(value, pa.Array) else pa.array(value, kind) for kind, value in columns.values()
    ]
    return pa.Table.from_arrays(arrays, schema=schema)
