"""LanceDB: its package, the table of the facts in it, and its errors in our words.

A table answers with the cosine of vectors, which is 1 for the same meaning and about 0 for none in common. Up
to some twenty thousand rows every vector is compared; above that, an index of short codes finds candidates
(one bit a number, all partitions looked at), which are compared by their vectors.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from memlines.errors import (
    StoreDamaged,
    StoreError,
    StoreFull,
    StoreReadOnly,
    extra_missing,
    install_extra,
)
from memlines.files.atomic import refuse_link
from memlines.locks import start_daemon
from memlines.memory.facts.places import is_remote
from memlines.text.facts import Fact
from memlines.text.neutral import harmless_address

if TYPE_CHECKING:
    import pyarrow as pa
    from lancedb.db import DBConnection
    from lancedb.table import Table

NAME = "memories"
_OTHERWISE = "set facts.store to index"

_TOKEN = b"memlines.token"
"""The name in a table's schema of what distinguishes it from any other table."""

_EXACT_UP_TO = 20_000
"""Rows that are all compared; that takes about 30 ms at 512 numbers, and 150 ms with five times as many."""

_PARTITION = 4_000
_CANDIDATES = 100
"""Rows in a partition of the index, and how many candidates are compared by their vectors at least. With so
many, all but one in a thousand of the ten nearest are among them (real sentences, 512 numbers)."""

_CODE_BYTES = 8
"""Codes have whole bytes: vectors whose length is not a multiple of this are always compared all."""

_AT_ONCE = 8_192
_FLOAT_BYTES = 4

_ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT")
_REGIONS = ("AWS_REGION", "AWS_DEFAULT_REGION")
_BOUNDS = {"connect_timeout": "5s", "timeout": "30s", "client_max_retries": "2", "client_retry_timeout": "20"}
"""How long a dead network is waited for; without these it would be minutes."""

_REACHED_WITHIN = 10.0
_REST = 60.0
"""Seconds that a service may take to answer at all, and until one that did not is asked again."""

_resting: dict[str, tuple[float, str]] = {}

# LanceDB reports all troubles by two or three kinds of errors; what happened is only in their text.
_NO_TABLE = "was not found"
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

_Result = TypeVar("_Result")


class Row(NamedTuple):
    """A fact, the chunk of the index that holds it or a piece of it, and the vector of that chunk."""

    number: int
    fact: Fact
    vector: bytes


class LanceTable:
    """A table as it was when it was opened or written."""

    def __init__(self, uri: str, inner: Table) -> None:
        self.uri = uri
        self._inner = inner
        with lance_errors(uri):
            self.token = (inner.schema.metadata or {}).get(_TOKEN, b"").decode(errors="replace")
            self.version = int(inner.version)
            self.count = int(inner.count_rows())
            self._dims = int(inner.schema.field("vector").type.list_size)
            self._is_indexed = any(True for _ in inner.list_indices())

    @classmethod
    def open(cls, uri: str) -> LanceTable | None:
        """Open a table; return nothing if there is none."""
        refuse_link(Path(uri, f"{NAME}.lance"))
        database = connect(uri)
        with lance_errors(uri):
            try:
                inner = database.open_table(NAME)
            except ValueError as error:
                if _NO_TABLE in str(error):
                    return None
                raise
        return cls(uri, inner)

    @classmethod
    def create(cls, uri: str, rows: Iterable[Row]) -> LanceTable:
        """Write a table of one or more rows, all at once; there must be no table.

        One that is too large to compare all of its vectors gets an index.
        """
        database = connect(uri)
        import pyarrow as pa

        every = iter(rows)
        first = next(every)
        dims = len(first.vector) // _FLOAT_BYTES
        with lance_errors(uri):
            schema = _schema(dims)
            reader = pa.RecordBatchReader.from_batches(schema, _batches(chain([first], every), schema))
            inner = database.create_table(NAME, reader)
            count = int(inner.count_rows())
            if count > _EXACT_UP_TO and not dims % _CODE_BYTES:
                from lancedb.index import IvfRq

                config = IvfRq(distance_type="cosine", num_partitions=_partitions(count))
                inner.create_index("vector", config=config)
        return cls(uri, inner)

    def nearest(self, vector: bytes, limit: int, *, current_only: bool = False) -> dict[int, float]:
        """Return the cosines of the chunks that are nearest to a vector, the nearest first."""
        import numpy as np
        from lancedb.expr import col, lit

        if limit < 1 or len(vector) != self._dims * _FLOAT_BYTES:
            return {}
        with lance_errors(self.uri):
            search: Any = self._inner.search(np.frombuffer(vector, "<f4"), "vector", "vector")
            search = search.distance_type("cosine").select(["number", "_distance"]).limit(limit)
            if current_only:
                search = search.where(col("current") == lit(True))
            if self._is_indexed:
                search = search.nprobes(_partitions(self.count)).refine_factor(-(-_CANDIDATES // limit))
            found = search.to_arrow()
        distances = found["_distance"].to_pylist()
        return {number: 1.0 - far for number, far in zip(found["number"].to_pylist(), distances, strict=True)}


def drop(uri: str) -> None:
    """Remove a table, whatever its state, with all that it ever held."""
    if is_remote(uri):
        database = connect(uri)
        with lance_errors(uri):
            try:
                database.drop_table(NAME)
            except ValueError as error:
                if _NO_TABLE not in str(error):
                    raise
        return
    folder = Path(uri, f"{NAME}.lance")
    refuse_link(folder)
    with lance_errors(uri):
        if folder.is_dir():
            shutil.rmtree(folder)
        else:
            folder.unlink(missing_ok=True)


def is_installed() -> bool:
    """Return whether LanceDB could be imported, without the two seconds that it takes."""
    return find_spec("lancedb") is not None


def not_installed() -> StoreError:
    """Return the error of settings that ask for LanceDB where it is not installed."""
    return extra_missing(StoreError, "facts.store 'lancedb'", "facts", "lancedb", _OTHERWISE)


def load() -> None:
    """Import LanceDB, quietly: its warnings would go to the user's terminal."""
    os.environ.setdefault("LANCEDB_LOG", "error")
    try:
        import lancedb  # noqa: F401
    except ImportError as error:
        todo = install_extra("facts", _OTHERWISE)
        raise StoreError(f"the package lancedb cannot be loaded: {error}", todo=todo) from error


def connect(uri: str) -> DBConnection:
    """Return the database at a place; the folder is made if it is one of this machine."""
    load()
    import lancedb

    options = dict(_BOUNDS) if is_remote(uri) else None
    if options is not None and uri.startswith("s3://"):  # which LanceDB does not read from the environment
        endpoint = next((os.environ[name] for name in _ENDPOINTS if os.environ.get(name)), "")
        region = next((os.environ[name] for name in _REGIONS if os.environ.get(name)), "")
        allow_http = "true" if endpoint.startswith("http://") else ""
        given = {"endpoint": endpoint, "allow_http": allow_http, "region": region}
        options.update({name: value for name, value in given.items() if value})
    with lance_errors(uri):
        return lancedb.connect(uri, storage_options=options)


@contextmanager
def lance_errors(uri: str) -> Iterator[None]:
    """Raise LanceDB's errors inside the block as ours; an unreachable service is not asked for a while."""
    until, shown = _resting.get(uri, (0.0, ""))
    if time.monotonic() < until:
        raise _unreachable(shown)
    try:
        yield
    except (RuntimeError, ValueError, OSError) as error:
        if is_remote(uri):  # what services say may hold credentials
            raise _remote_error(uri, str(error)) from None
        raise _local_error(uri, str(error)) from error


def with_deadline(uri: str, work: Callable[[], _Result], seconds: float) -> _Result:
    """Return what a table answers; a service that takes longer is not asked for a while; the work goes on."""
    if not is_remote(uri):
        return work()
    answer = start_daemon(work, "memlines-lancedb")
    try:
        return answer.result(seconds)
    except TimeoutError:
        shown = harmless_address(uri)
        _resting[uri] = (time.monotonic() + _REST, shown)
        raise _unreachable(shown) from None


def reach(uri: str) -> None:
    """Make sure that a service answers at all, before a long piece of work that would hang for minutes."""

    def look() -> None:
        database = connect(uri)
        with lance_errors(uri):
            database.list_tables(limit=1)

    if is_remote(uri):
        with_deadline(uri, look, _REACHED_WITHIN)


def ask_again(uri: str) -> None:
    """Ask a service again at once, for something that must not be left undone."""
    _resting.pop(uri, None)


def _partitions(rows: int) -> int:
    return max(1, rows // _PARTITION)


def _schema(dims: int) -> pa.Schema:
    import pyarrow as pa

    columns = [
        ("number", pa.int64()),
        ("id", pa.string()),
        ("text", pa.string()),
        ("vector", pa.list_(pa.float32(), dims)),
        ("importance", pa.float32()),
        ("category", pa.string()),
        ("created_at", pa.date32()),
        ("source", pa.string()),
        ("valid_from", pa.date32()),
        ("superseded_by", pa.string()),
        ("current", pa.bool_()),
    ]
    return pa.schema(columns, metadata={_TOKEN: secrets.token_hex(16).encode()})


def _batches(rows: Iterator[Row], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Yield rows as Arrow has them, not so many at once that their vectors fill the memory."""
    import pyarrow as pa

    kind = schema.field("vector").type
    while some := list(islice(rows, _AT_ONCE)):
        facts = [row.fact for row in some]
        buffer = pa.py_buffer(b"".join(row.vector for row in some))
        floats = pa.Array.from_buffers(pa.float32(), len(some) * kind.list_size, [None, buffer])
        columns = {
            "number": [row.number for row in some],
            "id": [fact.id for fact in facts],
            "text": [fact.text for fact in facts],
            "vector": pa.FixedSizeListArray.from_arrays(floats, kind.list_size),
            "importance": [fact.importance for fact in facts],
            "category": [fact.category for fact in facts],
            "created_at": [fact.created for fact in facts],
            "source": [fact.source for fact in facts],
            "valid_from": [fact.valid_from for fact in facts],
            "superseded_by": [fact.superseded_by or None for fact in facts],
            "current": [fact.is_current for fact in facts],
        }
        yield pa.RecordBatch.from_pydict(columns, schema=schema)


def _local_error(uri: str, said: str) -> StoreError:
    if _NO_ROOM.search(said):
        return StoreFull(f"there is no room for the table {uri!r}", todo="Make room on the disk")
    if _NOT_WRITABLE.search(said):
        return StoreReadOnly(f"the table {uri!r} may not be read or written", todo="Check its permissions")
    return StoreDamaged(f"the table {uri!r} is damaged", todo="The next sync writes it again")


def _remote_error(uri: str, said: str) -> StoreError:
    shown = harmless_address(uri)
    if _NO_CREDENTIALS.search(said):
        return StoreError(f"{shown!r} needs credentials, and none were found", todo=_CREDENTIALS)
    if _REFUSED.search(said):
        return StoreError(f"{shown!r} refused access", todo=_CREDENTIALS)
    if _NO_TABLE not in said and _NO_BUCKET.search(said):
        return StoreError(
            f"the bucket of {shown!r} does not exist", todo="Make it, or set facts.uri to another"
        )
    if "contains dots" in said:
        return StoreError(f"the region of {shown!r} is not known", todo="Set AWS_REGION")
    if _UNREACHABLE.search(said):
        _resting[uri] = (time.monotonic() + _REST, shown)
        return _unreachable(shown)
    return StoreDamaged(f"the table {shown!r} is damaged", todo="The next sync writes it again")


def _unreachable(shown: str) -> StoreError:
    endpoint = " and AWS_ENDPOINT_URL, if it is set" if shown.startswith("s3://") else ""
    return StoreError(f"{shown!r} cannot be reached", todo=f"Check the network{endpoint}")
