"""Checks of the vectors in the index and the cache, and of their provider and engines.

The engines store and compare them: SQLite, numpy, sqlite-vec.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from memlines.admin.doctor.findings import Checkup, Finding, RepairJob, list_names, ok, problem, warning
from memlines.embed.builtin.files import cache_folder, changed_files, remove
from memlines.embed.codec import is_sound
from memlines.embed.select import probe
from memlines.index.store.sqlite.db import Connection, in_groups, transaction
from memlines.index.store.sqlite.index import Index
from memlines.index.store.sqlite.vectors import VectorTable
from memlines.index.sync.job import count_to_do, engine_warning

_GROUP = 4096
_AGAIN = "Remove them and run 'memlines sync', which makes them again"


def check_vectors(checkup: Checkup) -> Iterator[Finding]:
    """Look at every vector: as many numbers as the others, and not blank."""
    index = checkup.index
    if index is None:
        return
    bad = [number for table in _vector_tables(index) for number in _find_damaged_vectors(index, table)]
    if bad:
        yield problem(f"vectors that are damaged: {len(bad)}", _AGAIN, "vectors")
    provider = checkup.choice.provider if checkup.choice is not None else None
    waiting = count_to_do(index, provider) if provider is not None else 0
    if waiting:
        yield warning(
            f"chunks that wait for vectors, and are found by words until then: {waiting}",
            "Run 'memlines sync'",
            "sync",
        )
    elif not bad:
        count = index.vectors.count()
        yield ok(f"{count} vectors of {index.vectors.dims()} numbers" if count else "none: search by words")


def check_cache(checkup: Checkup) -> Iterator[Finding]:
    """Look at the cached vectors, from which a rebuilt index would take them."""
    if checkup.index is None or checkup.index.vectors.dims() is None:
        return
    bad = _find_damaged_cached(checkup.index)
    if bad:
        yield problem(f"cached vectors that are damaged: {len(bad)}", _AGAIN, "vectors")
    else:
        yield ok("every cached vector of this model is sound")


def repair_vectors(job: RepairJob) -> str:
    """Remove damaged vectors from the index and the cache; a sync makes them again."""
    removed = 0
    with job.open_index() as index, transaction(index.connection):
        for table in _vector_tables(index):
            chunks = _find_damaged_vectors(index, table)
            table.delete(chunks)
            removed += len(chunks)
        cached = _find_damaged_cached(index)
        index.connection.executemany(
            "DELETE FROM embedding_cache WHERE rowid = ?", [(row,) for row in cached]
        )
    return f"removed damaged vectors: {removed} of chunks, {len(cached)} in the cache"


def _vector_tables(index: Index) -> list[VectorTable]:
    return [index.vectors_in(entry.space) for entry in index.state.spaces]


def _find_damaged_vectors(index: Index, table: VectorTable) -> list[int]:
    """Return the numbers of the chunks whose vectors, or those of their sentences, are damaged."""
    dims = _most_common_dims(table)
    if dims is None:
        return []
    bad: list[int] = []
    for group in in_groups(table.chunks(), _GROUP):
        bad += [number for number, blob in table.packed(group).items() if not _is_sound(blob, dims)]
    sentences = index.connection.execute(
        f"SELECT chunk FROM {table.sentences_table} WHERE typeof(embedding) <> 'blob'"
    )
    return sorted({*bad, *(int(row[0]) for row in sentences)})


def _find_damaged_cached(index: Index) -> list[int]:
    """Return the rows of the cache whose vectors are of this index's model and damaged."""
    dims = _most_common_dims(index.vectors)
    now = index.state.serving
    if dims is None or now is None:
        return []
    rows = index.connection.execute(
        "SELECT rowid, embedding FROM embedding_cache WHERE provider = ? AND model = ? AND provider_key = ?",
        (now.space.provider, now.space.model, now.space.key),
    )
    return [row for row, blob in rows if not _is_sound(blob, dims)]


def _is_sound(blob: Any, dims: int) -> bool:
    return isinstance(blob, bytes) and is_sound(blob, dims)


def _most_common_dims(table: VectorTable) -> int | None:
    """Return how many numbers most vectors have; one of another length is then the damaged one."""
    lengths = Counter(len(blob) for _, blob in table.by_chunk() if isinstance(blob, bytes))
    return max(lengths, key=lengths.__getitem__, default=None)


_SAFE_SQLITE = (3, 51, 3)
"""Before this, two programs that checkpoint at the same instant can damage a database."""


def check_engines(checkup: Checkup) -> Iterator[Finding]:
    """Look for a SQLite that is safe, and for an engine of vectors that the settings ask for."""
    with closing(Connection(":memory:")) as connection:
        sqlite = str(connection.execute("SELECT sqlite_version()").get)
    is_safe = tuple(int(part) for part in sqlite.split(".")) >= _SAFE_SQLITE
    if not is_safe:
        wanted = ".".join(str(part) for part in _SAFE_SQLITE)
        yield problem(
            f"SQLite {sqlite} can damage an index that two programs write; {wanted} and later cannot",
            "Run 'pip install --upgrade apsw'",
        )
    if trouble := engine_warning(checkup.settings):
        yield warning(trouble, "")
    elif is_safe:
        yield ok(f"SQLite {sqlite}, numpy {_version('numpy')}, sqlite-vec {_version('sqlite-vec')}")


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def check_provider(checkup: Checkup) -> Iterator[Finding]:
    """Look at the provider of vectors, why it was chosen, and whether it can embed a word.

    Without `deep` it is asked only if that neither sends nor writes anything.
    """
    if checkup.choice_error is not None:
        raise checkup.choice_error
    if checkup.choice is None:
        return
    provider, requested, reason = checkup.choice.provider, checkup.choice.requested, checkup.choice.reason
    if reason and requested != "auto":
        instead = f"{provider.id} is used instead" if provider else "search goes by words only"
        yield problem(f"{requested} cannot be used, {instead}: {reason}", "Do what it says")
    elif reason and provider is None:
        yield warning(f"search goes by words only: {reason}", "Install it, or leave it so")
    elif reason and provider:
        yield warning(f"{provider.id} is used instead of the first choice: {reason}", "")
    if provider is None:
        if not reason:
            yield ok("search goes by words, as the settings say")
        return
    is_unpacked = provider.id == "builtin" and cache_folder().exists()
    if is_unpacked and (changed := changed_files()):
        yield problem(
            f"the unpacked model in {cache_folder()} was changed: {list_names(changed)}",
            "Delete that folder; the model is unpacked again",
            "model",
        )
        return
    goes = f"text goes to {provider.sends_to}" if provider.sends_to else "no text leaves this machine"
    name = f"{provider.id} ({provider.model}), chosen by embeddings.provider {requested}; {goes}"
    if checkup.deep or is_unpacked:
        yield ok(f"{name}; {probe(provider)}")
    else:
        does = "unpacks it for the first time" if provider.id == "builtin" else "gives it one word"
        yield ok(f"{name}; not tried (--deep {does})")


def check_reranker(checkup: Checkup) -> Iterator[Finding]:
    """Look at the reranker, if the settings name one, and try it with `deep`."""
    wanted = checkup.settings.rerank
    if wanted.provider == "none":
        yield ok("none is set; hits keep the order of search")
        return
    from memlines.embed.rerank.select import BoundedReranker

    bounded = BoundedReranker(checkup.settings)
    reranker = bounded.reranker()
    goes = f"hits go to {reranker.place}" if reranker.place else "no text leaves this machine"
    name = f"{reranker.id} ({reranker.model})" if reranker.model else reranker.id
    probe = bounded.probe() if checkup.deep else None
    if probe is not None and not probe.ok:
        yield problem(probe.reason, probe.todo)
    else:
        yield ok(f"{name}; {goes}; {probe.reason if probe else 'not tried (--deep gives it two words)'}")


def repair_model(job: RepairJob) -> str:
    """Remove the unpacked model."""
    remove(cache_folder())
    return f"removed {cache_folder()}, so the model is unpacked again"
