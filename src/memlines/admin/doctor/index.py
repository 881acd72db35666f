"""Checks of the index itself. Doctor's queries to SQLite are all here and in `vectors.py`."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from memlines.admin.doctor.files import index_locks
from memlines.admin.doctor.findings import (
    WAIT_SECONDS,
    Checkup,
    Finding,
    RepairJob,
    list_names,
    ok,
    problem,
    warning,
)
from memlines.errors import QmdFailed
from memlines.index.store.sqlite import spaces
from memlines.index.store.sqlite.db import transaction
from memlines.index.store.sqlite.index import Index
from memlines.index.store.sqlite.schema import MIGRATIONS, version_of
from memlines.index.sync.job import reason_to_rebuild
from memlines.locks import WriterLock
from memlines.memory.memory import Memory
from memlines.memory.open_index import silent

_MOST_REASONS = 3
_MOST_TEXTS = 20_000
"""How many chunks are compared with their hashes without `deep`."""

_GROUP = 400
_QMD_SECONDS = 10.0
_REBUILD = "Run 'memlines sync --force' to rebuild it"

_PATHS_WITHOUT_FILE = "SELECT DISTINCT path FROM chunks WHERE path NOT IN (SELECT path FROM files)"
"""Paths of chunks whose file is unknown: no sync would ever remove them."""
_WORDS_WITHOUT_CHUNK = "SELECT rowid FROM chunks_fts WHERE rowid NOT IN (SELECT number FROM chunks)"
_CHUNKS_WITHOUT_WORDS = "SELECT number FROM chunks WHERE number NOT IN (SELECT rowid FROM chunks_fts)"


def check_index(checkup: Checkup) -> Iterator[Finding]:
    """Look whether the index is there, can be used, and is whole."""
    if checkup.index_error is not None:
        raise checkup.index_error
    index = checkup.index
    if index is None:
        if checkup.loaded is None:
            pass  # the settings say where it is, and cannot be read
        elif checkup.discovery.files:
            yield checkup.behind("there is no index yet: every note is new")
        else:
            yield ok("there are no notes yet, and no index")
        return
    version = version_of(index.connection)
    index.vectors.count()  # loads what its table needs, or says that it is missing
    faults = [str(row[0]) for row in index.connection.execute("PRAGMA integrity_check")]
    if faults != ["ok"]:
        reasons = "; ".join(" ".join(fault.split()) for fault in faults[:_MOST_REASONS])
        yield problem(f"{index.path} is damaged: {reasons}", _REBUILD, "rebuild")
    elif index.state.synced_at is None:
        yield warning("the first sync was never finished", "Run 'memlines sync'", "sync")
    elif version < len(MIGRATIONS):
        yield warning(
            f"its tables have version {version} of {len(MIGRATIONS)}", "Run 'memlines sync'", "sync"
        )
    else:
        yield ok(
            f"whole; files {index.count_files()}, chunks {index.count_chunks()}, tables of version {version}"
        )


def check_texts(checkup: Checkup) -> Iterator[Finding]:
    """Compare chunks with the hashes they were written with; an index can be whole and hold other text."""
    if checkup.index is None:
        return
    numbers = _column(checkup.index, "SELECT number FROM chunks")
    chosen = numbers if checkup.deep else random.sample(numbers, min(_MOST_TEXTS, len(numbers)))
    for start in range(0, len(chosen), _GROUP):
        checkup.index.chunks(chosen[start : start + _GROUP])  # raises if one is not what was written
    rest = "" if len(chosen) == len(numbers) else f"; {len(numbers)} in all (--deep compares all)"
    yield ok(f"{len(chosen)} chunks are unchanged since they were written{rest}")


def check_words(checkup: Checkup) -> Iterator[Finding]:
    """Compare the rows of the word index with the chunks."""
    if checkup.index is None:
        return
    missing = len(_column(checkup.index, _CHUNKS_WITHOUT_WORDS))
    extra = len(_column(checkup.index, _WORDS_WITHOUT_CHUNK))
    if missing:
        yield problem(f"chunks that cannot be found by their words: {missing}", _REBUILD, "rebuild")
    if extra:
        yield problem(f"words of chunks that are gone: {extra} rows", _REBUILD, "orphans")
    if not (missing or extra):
        yield ok("every chunk can be found by its words")


def check_orphans(checkup: Checkup) -> Iterator[Finding]:
    """Look for rows that belong to nothing any more."""
    if checkup.index is None:
        return
    paths = _column(checkup.index, _PATHS_WITHOUT_FILE)
    vectors = len(_vectors_without_chunk(checkup.index))
    if paths:
        yield problem(f"chunks of files the index does not know: {list_names(paths)}", _REBUILD, "orphans")
    if vectors:
        yield problem(f"vectors of chunks that are gone: {vectors}", _REBUILD, "orphans")
    if not (paths or vectors):
        yield ok("every row belongs to a file")


def repair_orphans(job: RepairJob) -> str:
    """Remove rows that belong to nothing."""
    with job.open_index() as index:
        paths = _column(index, _PATHS_WITHOUT_FILE)
        for path in paths:
            index.remove(path)
        words, vectors = _column(index, _WORDS_WITHOUT_CHUNK), _vectors_without_chunk(index)
        with transaction(index.connection):
            index.connection.executemany(
                "DELETE FROM chunks_fts WHERE rowid = ?", [(number,) for number in words]
            )
            for entry in spaces.entries(index.connection):
                index.vectors_in(entry.space).delete(vectors)
    return (
        f"removed rows that belong to nothing: {len(paths)} files, {len(words)} words, {len(vectors)} vectors"
    )


def check_cluster(checkup: Checkup) -> Iterator[Finding]:
    """Ask every node of the cluster, and look whether it holds what the index here holds."""
    if checkup.settings.store.driver != "qdrant":
        yield ok("none is set; the index on this machine answers")
        return
    from memlines.index.sync.publish import Publisher

    with closing(Publisher(checkup.workspace, checkup.settings)) as publisher:
        nodes = publisher.cluster.check()
        for node, trouble in nodes.items():
            if trouble:
                yield warning(f"the node {node} does not answer: {trouble}", "Start it, or correct store.uri")
        if checkup.index is None or all(nodes.values()):
            return
        wrong = publisher.find_missing(checkup.index, silent, texts=checkup.deep)
    if wrong:
        yield warning(f"not on the cluster as here: {list_names(wrong)}", "Run 'memlines sync'", "sync")
    else:
        yield ok(f"all that is here is on the cluster, as {publisher.tenant.workspace!r}")


def check_qmd(checkup: Checkup) -> Iterator[Finding]:
    """Look whether the program qmd is there and starts, if it should answer searches."""
    wanted = checkup.settings
    if wanted.backend != "qmd":
        yield ok("it is not asked; Memlines itself answers")
        return
    from memlines.index.qmd import find_qmd, run_program

    try:
        folder = Path(checkup.workspace.root.anchor)  # not where a project may have settings for it
        said = run_program([wanted.qmd.command, "--version"], folder, os.environ, _QMD_SECONDS, silent)
    except QmdFailed as error:
        yield warning(f"Memlines itself answers searches: {error.what}", error.todo or "Repair qmd")
    else:
        yield ok(f"{said.strip().splitlines()[0]} in {find_qmd(wanted.qmd.command)}")


def repair_by_sync(job: RepairJob, *, force: bool = False) -> str:
    """Bring the index up to date; with `force`, rebuild it."""
    for lock in index_locks(job.index_file):
        with WriterLock(lock).held(WAIT_SECONDS):
            pass  # a sync would wait far longer than is right for a repair
    with Memory(job.workspace.root, job.overrides) as memory:
        report = memory.sync(force=force, progress=job.progress)
    counts = f"{len(report.indexed)} indexed, {len(report.removed)} removed, {len(report.failed)} failed"
    done = "rebuilt the index" if force else "synced"
    return f"{done}: {'; '.join([counts, *report.warnings])}"


def _vectors_without_chunk(index: Index) -> list[int]:
    """Return the chunk numbers of vectors, and of sentence vectors, whose chunk is gone."""
    numbers: set[int] = set()
    for entry in spaces.entries(index.connection):
        table = index.vectors_in(entry.space)
        queries = [table.chunk_numbers_sql]
        if table.dims() is not None:
            queries.append(f"SELECT chunk FROM {table.sentences_table}")
        for query in queries:
            numbers.update(_column(index, f"SELECT * FROM ({query}) EXCEPT SELECT number FROM chunks"))
    return sorted(numbers)


def _column(index: Index, sql: str) -> list[Any]:
    return [row[0] for row in index.connection.execute(sql)]


def check_identity(checkup: Checkup) -> Iterator[Finding]:
    """Compare the settings that the index was made with to those of now."""
    if checkup.index is None:
        return
    changed = reason_to_rebuild(checkup.index, checkup.settings)
    if changed:
        yield warning(f"the index must be rebuilt: {changed}", "Run 'memlines sync'", "sync")
    else:
        yield ok("chunks and sources are those of the settings")
