"""Reach LanceDB: its package, the options of services, and its errors told as ours."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from memlines.errors import StoreDamaged, StoreError, StoreFull, StoreReadOnly
from memlines.files.atomic import refuse_link
from memlines.locks import start_daemon
from memlines.memory.facts.places import is_remote
from memlines.text.facts import Fact, is_id
from memlines.text.neutral import harmless_address

if TYPE_CHECKING:
    import pyarrow as pa
    from lancedb.db import DBConnection
    from lancedb.table import Table as LanceTable

_ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT")
_REGIONS = ("AWS_REGION", "AWS_DEFAULT_REGION")
_BOUNDS = {"connect_timeout": "5s", "timeout": "30s", "client_max_retries": "2", "client_retry_timeout": "20"}
"""How long a dead network is waited for; without these it would be minutes."""

_Told = TypeVar("_Told")

_REACHED_WITHIN = 10.0
_REST = 60.0
"""Seconds that a service may take to answer at all, and until one that did not is asked again."""

_resting: dict[str, tuple[float, str]] = {}

# LanceDB tells all troubles by two or three kinds of errors; what happened stands only in their text.
_NO_ROOM = re.compile(r"no space left|os error 28\b|quota exceeded|os error 122\b", re.IGNORECASE)
_NOT_WRITABLE = re.compile(r"permission denied|read-only file system|os error (?:13|30)\b", re.IGNORECASE)
_NO_BUCKET = re.compile(r"NoSuchBucket|status: 404|bucket does not exist", re.IGNORECASE)
_NO_CREDENTIALS = re.compile(r"CredentialsNotLoaded|TokenRequest|get AWS credentials", re.IGNORECASE)
_REFUSED = re.compile(r"status: 40[13]|AccessDenied|InvalidAccessKeyId|SignatureDoesNotMatch|Forbidden")
_UNREACHABLE = re.compile(
    r"RetryError|HttpError|timed? ?out|resolve region|status: (?:429|5\d\d)|error sending request",
    re.IGNORECASE,
)
_CREDENTIALS = (
    "Set the credentials of the service in the environment (S3: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY;"
    " Google: GOOGLE_APPLICATION_CREDENTIALS) and check what they allow"
)


INSTALL = "Run 'pip install memlines[facts]', or set facts.store to index"


def is_installed() -> bool:
    """Tell whether LanceDB could be imported, without the two seconds that it takes."""
    return find_spec("lancedb") is not None


def load() -> None:
    """Import LanceDB, quietly: its warnings would go to the terminal of whoever asked."""
    os.environ.setdefault("LANCEDB_LOG", "error")
    try:
        import lancedb  # noqa: F401
    except ImportError as error:
        raise StoreError(f"the package lancedb cannot be loaded: {error}", todo=INSTALL) from error


def connected(uri: str) -> DBConnection:
    """Return the database at a place; the folder is made if it is one of this machine."""
    load()
    import lancedb

    with lance_errors(uri):
        return lancedb.connect(uri, storage_options=_options(uri) if is_remote(uri) else None)


@contextmanager
def lance_errors(uri: str) -> Iterator[None]:
    """Raise LanceDB's errors inside the block as ours; a service that was not reached is let rest."""
    until, told = _resting.get(uri, (0.0, ""))
    if time.monotonic() < until:
        raise _unreachable(told)
    try:
        yield
    except (RuntimeError, ValueError, OSError) as error:
        if is_remote(uri):  # what services say may hold credentials
            raise _remote_trouble(uri, str(error)) from None
        raise _local_trouble(uri, str(error)) from error


def answered(uri: str, work: Callable[[], _Told], seconds: float) -> _Told:
    """Return what a table answers; a service that takes longer is let rest, and the work goes on alone."""
    if not is_remote(uri):
        return work()
    told = start_daemon(work, "memlines-lancedb")
    try:
        return told.result(seconds)
    except TimeoutError:
        shown = harmless_address(uri)
        _resting[uri] = (time.monotonic() + _REST, shown)
        raise _unreachable(shown) from None


def reach(uri: str) -> None:
    """Make sure that a service answers at all, before a long piece of work that would hang for minutes."""

    def look() -> None:
        database = connected(uri)
        with lance_errors(uri):
            database.list_tables(limit=1)

    if is_remote(uri):
        answered(uri, look, _REACHED_WITHIN)


def ask_again(uri: str) -> None:
    """End the rest of a service, because somebody asks for something that must not be left undone."""
    _resting.pop(uri, None)


def is_missing(error: ValueError) -> bool:
    """Tell whether LanceDB's error says that there is no such table."""
    return "was not found" in str(error)


def _options(uri: str) -> dict[str, str]:
    """Return what LanceDB does not take from the environment by itself."""
    options = dict(_BOUNDS)
    endpoint = next((os.environ[name] for name in _ENDPOINTS if os.environ.get(name)), "")
    region = next((os.environ[name] for name in _REGIONS if os.environ.get(name)), "")
    if uri.startswith("s3://"):
        if endpoint:
            options["endpoint"] = endpoint
        if endpoint.startswith("http://"):
            options["allow_http"] = "true"
        if region:
            options["region"] = region
    return options


def _local_trouble(uri: str, told: str) -> StoreError:
    if _NO_ROOM.search(told):
        return StoreFull(f"there is no room for the table {uri!r}", todo="Make room on the disk")
    if _NOT_WRITABLE.search(told):
        return StoreReadOnly(f"the table {uri!r} may not be read or written", todo="Check its permissions")
    return StoreDamaged(f"the table {uri!r} is damaged", todo="The next sync makes it anew")


def _remote_trouble(uri: str, told: str) -> StoreError:
    shown = harmless_address(uri)
    if _NO_CREDENTIALS.search(told):
        return StoreError(f"{shown!r} needs credentials, and none were found", todo=_CREDENTIALS)
    if _REFUSED.search(told):
        return StoreError(f"{shown!r} refused access", todo=_CREDENTIALS)
    if "was not found" not in told and _NO_BUCKET.search(told):
        return StoreError(
            f"the bucket of {shown!r} does not exist", todo="Make it, or set facts.uri to another"
        )
    if "contains dots" in told:
        return StoreError(f"the region of {shown!r} is not known", todo="Set AWS_REGION")
    if _UNREACHABLE.search(told):
        _resting[uri] = (time.monotonic() + _REST, shown)
        return _unreachable(shown)
    return StoreDamaged(f"the table {shown!r} is damaged", todo="The next sync makes it anew")


def _unreachable(shown: str) -> StoreError:
    return StoreError(
        f"{shown!r} cannot be reached", todo="Check the network and AWS_ENDPOINT_URL, if it is set"
    )


NAME = "memories"

_TOKEN = b"recollect.token"
"""Under which name the schema of a table has what tells it from any other of its name. It is a part of the
format, and has the project's first name."""

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
