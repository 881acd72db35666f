"""Checks of the vectors: in the index, in its mapped copy, and in the cache."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from itertools import islice
from typing import Any

from recollect.doctor.finding import Finding, ok, problem, warning
from recollect.doctor.patient import Patient
from recollect.embed.passages import is_packed, unpacked
from recollect.errors import StoreDamaged
from recollect.store.sqlite.index import Index
from recollect.store.sqlite.vectors import MATRIX

_FLOAT_BYTES = 4
_TOLERANCE = 1e-3
"""How far from 1 the length of a vector may be: rounding to float32 stays far below."""

_GROUP = 4096
_AGAIN = "Remove them and run 'recollect sync', which makes them again"


def check_vectors(patient: Patient) -> Iterator[Finding]:
    """Look at every vector: as many numbers as the others, finite, of unit length."""
    index = patient.index
    if index is None or not _has_numpy():
        return
    bad = damaged_vectors(index)
    if bad:
        yield problem(f"vectors that are damaged: {len(bad)}", _AGAIN, "vectors")
    waiting = index.connection.execute(
        f"SELECT count(*) FROM chunks WHERE number NOT IN ({index.vectors.chunk_numbers_sql})"
    ).get
    if waiting and patient.choice is not None and patient.choice.provider is not None:
        yield warning(
            f"chunks that wait for vectors, and are found by words until then: {waiting}",
            "Run 'recollect sync'",
            "sync",
        )
    elif not bad:
        count = index.vectors.count()
        yield ok(f"{count} vectors of {index.vectors.dims()} numbers" if count else "none: search by words")


def check_cache(patient: Patient) -> Iterator[Finding]:
    """Look at the cached vectors, from which a rebuilt index would take them."""
    if patient.index is None or not _has_numpy() or patient.index.vectors.dims() is None:
        return
    bad = damaged_cached(patient.index)
    if bad:
        yield problem(f"cached vectors that are damaged: {len(bad)}", _AGAIN, "vectors")
    else:
        yield ok("every cached vector of this model is sound")


def check_copy(patient: Patient) -> Iterator[Finding]:
    """Compare the mapped copy of the vectors with the index."""
    index = patient.index
    if index is None or not _has_numpy() or index.vectors.engine != MATRIX:
        return
    copy = index.path.with_name(index.path.name + ".vectors")
    if not copy.exists():
        yield ok("there is none, which few vectors do not need")
        return
    try:
        with index.snapshot():
            used, wrong = _compared(index)
    except StoreDamaged:
        return  # the vectors are not of one length, which their own check tells
    if wrong:
        yield problem(f"{copy.name} differs from the index in {wrong} rows", "Delete it", "copy")
    elif used:
        yield ok(f"{used} vectors, the same as in the index")
    else:
        yield warning(
            f"{copy.name} is cut off or belongs to another index; it is not used", "Delete it", "copy"
        )


def damaged_vectors(index: Index) -> list[int]:
    """Return the numbers of the chunks whose vectors, or those of their sentences, cannot be right."""
    dims = _usual_dims(index)
    if dims is None:
        return []
    bad = _damaged(index.vectors.by_chunk(), dims)
    sentences = index.connection.execute(
        "SELECT chunk FROM chunks_sentences WHERE typeof(embedding) <> 'blob' OR length(embedding) % ?",
        (dims,),
    )
    return sorted({*bad, *(int(row[0]) for row in sentences)})


def damaged_cached(index: Index) -> list[int]:
    """Return the rows of the cache whose vectors are of this index's model and cannot be right."""
    dims = _usual_dims(index)
    if dims is None:
        return []
    made_with = index.identity()
    rows = index.connection.execute(
        "SELECT rowid, embedding FROM embedding_cache WHERE provider = ? AND model = ? AND provider_key = ?",
        tuple(made_with.get(key) for key in ("provider", "model", "provider_key")),
    )
    return _damaged(((row, _vector_of(blob, dims)) for row, blob in rows), dims)


def _vector_of(blob: Any, dims: int) -> bytes:
    return unpacked(blob, dims)[0] if isinstance(blob, bytes) and is_packed(blob, dims) else b""


def _usual_dims(index: Index) -> int | None:
    """Return how many numbers most vectors have; one of another length is then the damaged one."""
    if index.vectors.dims() is None:
        return None
    size = index.connection.execute(
        "SELECT length(embedding) FROM chunks_vec GROUP BY 1 ORDER BY count(*) DESC LIMIT 1"
    ).get
    return int(size or 0) // _FLOAT_BYTES or None


def _damaged(rows: Iterable[tuple[int, Any]], dims: int) -> list[int]:
    import numpy as np

    bad: list[int] = []
    rest = iter(rows)
    while group := list(islice(rest, _GROUP)):
        whole = [row for row in group if isinstance(row[1], bytes) and len(row[1]) == _FLOAT_BYTES * dims]
        bad.extend({row[0] for row in group} - {row[0] for row in whole})
        matrix = np.frombuffer(b"".join(row[1] for row in whole), "<f4").reshape(-1, dims)
        with np.errstate(all="ignore"):  # what is not finite is what we look for
            lengths = np.linalg.norm(matrix.astype(np.float64), axis=1)
            sound = np.abs(lengths - 1.0) <= _TOLERANCE  # false for what is no number
        bad.extend(row[0] for row, is_sound in zip(whole, sound, strict=True) if not is_sound)
    return bad


def _compared(index: Index) -> tuple[int, int]:
    """Return how many rows the copy serves, and how many of them differ from the table."""
    import numpy as np

    matrix = index.vectors.matrix()
    place = {int(matrix.rows[at]): at for at in range(matrix.copied) if not matrix.dead[at]}
    wrong = 0
    for number, chunk, blob in index.connection.execute("SELECT number, chunk, embedding FROM chunks_vec"):
        at = place.get(number)
        if at is not None:
            row = np.asarray(matrix.parts[0][at], "<f4").tobytes()
            wrong += row != blob or int(matrix.chunks[at]) != chunk
    return len(place), wrong


def _has_numpy() -> bool:
    """Tell whether vectors can be looked at; where not, the check of the engines tells."""
    return find_spec("numpy") is not None
