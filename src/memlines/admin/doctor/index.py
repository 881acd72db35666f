"""Checks of the index itself. All that doctor asks SQLite stands here and in `vectors.py`."""

from __future__ import annotations

import random
from collections.abc import Iterator

from memlines.admin.doctor.checkup import Finding, Patient, listed, ok, problem, warning
from memlines.index.store.sqlite import spaces
from memlines.index.store.sqlite.index import Index
from memlines.index.store.sqlite.schema import MIGRATIONS, version_of
from memlines.index.sync.identity import reason_to_rebuild

_MOST_REASONS = 3
_MOST_TEXTS = 20_000
"""How many chunks are compared with their hashes without being asked to compare all."""

_GROUP = 400
_REBUILD = "Run 'memlines sync --force' to build it anew"

_WITHOUT_FILE = "SELECT DISTINCT path FROM chunks WHERE path NOT IN (SELECT path FROM files)"
_WORDS_WITHOUT_CHUNK = "SELECT rowid FROM chunks_fts WHERE rowid NOT IN (SELECT number FROM chunks)"
_CHUNKS_WITHOUT_WORDS = "SELECT number FROM chunks WHERE number NOT IN (SELECT rowid FROM chunks_fts)"


def check_index(patient: Patient) -> Iterator[Finding]:
    """Tell whether the index is there, can be used, and is whole."""
    if patient.index_trouble is not None:
        raise patient.index_trouble
    if patient.index is None:
        yield from _no_index(patient)
        return
    index = patient.index
    version = version_of(index.connection)
    index.vectors.count()  # loads what its table needs, or says that it is missing
    faults = [str(row[0]) for row in index.connection.execute("PRAGMA integrity_check")]
    if faults != ["ok"]:
        reasons = "; ".join(" ".join(fault.split()) for fault in faults[:_MOST_REASONS])
        yield problem(f"{index.path} is damaged: {reasons}", _REBUILD, "rebuild")
    elif index.synced_at is None:
        yield warning("the first sync was never finished", "Run 'memlines sync'", "sync")
    elif version < len(MIGRATIONS):
        yield warning(
            f"its tables are of version {version}, of {len(MIGRATIONS)}", "Run 'memlines sync'", "sync"
        )
    else:
        yield ok(
            f"whole; files {index.count_files()}, chunks {index.count_chunks()}, tables of version {version}"
        )


def _no_index(patient: Patient) -> Iterator[Finding]:
    if patient.loaded is None:
        return  # who knows where it is
    if patient.discovery.files:
        yield warning("there is no index yet", "Run 'memlines sync'; a search makes it as well", "sync")
    else:
        yield ok("there are no notes yet, and no index")


def check_texts(patient: Patient) -> Iterator[Finding]:
    """Compare chunks with the hashes they were written with; an index can be whole and hold other text."""
    if patient.index is None:
        return
    numbers = [row[0] for row in patient.index.connection.execute("SELECT number FROM chunks")]
    chosen = numbers if patient.deep else random.sample(numbers, min(_MOST_TEXTS, len(numbers)))
    for start in range(0, len(chosen), _GROUP):
        patient.index.chunks(chosen[start : start + _GROUP])  # raises if one is not what was written
    rest = "" if len(chosen) == len(numbers) else f"; {len(numbers)} in all (--deep compares all)"
    yield ok(f"{len(chosen)} chunks are what was written{rest}")


def check_words(patient: Patient) -> Iterator[Finding]:
    """Compare the rows of the word index with the chunks."""
    if patient.index is None:
        return
    missing = len(_numbers(patient.index, _CHUNKS_WITHOUT_WORDS))
    extra = len(words_without_chunk(patient.index))
    if missing:
        yield problem(f"chunks that cannot be found by their words: {missing}", _REBUILD, "rebuild")
    if extra:
        yield problem(f"words of chunks that are gone: {extra} rows", _REBUILD, "orphans")
    if not (missing or extra):
        yield ok("every chunk can be found by its words")


def check_orphans(patient: Patient) -> Iterator[Finding]:
    """Look for rows that belong to nothing any more."""
    if patient.index is None:
        return
    paths = paths_without_file(patient.index)
    vectors = len(vectors_without_chunk(patient.index))
    if paths:
        yield problem(f"chunks of files the index does not know: {listed(paths)}", _REBUILD, "orphans")
    if vectors:
        yield problem(f"vectors of chunks that are gone: {vectors}", _REBUILD, "orphans")
    if not (paths or vectors):
        yield ok("every row belongs to a file")


def paths_without_file(index: Index) -> list[str]:
    """Return the paths of chunks whose file is unknown: no sync would ever remove them."""
    return [str(row[0]) for row in index.connection.execute(_WITHOUT_FILE)]


def words_without_chunk(index: Index) -> list[int]:
    """Return the numbers in the word index that are no chunks."""
    return _numbers(index, _WORDS_WITHOUT_CHUNK)


def vectors_without_chunk(index: Index) -> list[int]:
    """Return the numbers of vectors, and of vectors of sentences, that are no chunks."""
    numbers: set[int] = set()
    for entry in spaces.entries(index.connection):
        table = index.vectors_in(entry.space)
        queries = [table.chunk_numbers_sql]
        if table.dims() is not None:
            queries.append(f"SELECT chunk FROM {table.sentences_table}")
        for query in queries:
            numbers.update(_numbers(index, f"SELECT * FROM ({query}) EXCEPT SELECT number FROM chunks"))
    return sorted(numbers)


def _numbers(index: Index, sql: str) -> list[int]:
    return [int(row[0]) for row in index.connection.execute(sql)]


def check_identity(patient: Patient) -> Iterator[Finding]:
    """Compare what the index was made with to what the settings say now."""
    if patient.index is None:
        return
    changed = reason_to_rebuild(patient.index, patient.settings)
    if changed:
        yield warning(
            f"the index was made otherwise: {changed}", "Run 'memlines sync' to build it anew", "sync"
        )
    else:
        yield ok("chunks and sources are those of the settings")
