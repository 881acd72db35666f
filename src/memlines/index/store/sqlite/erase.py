"""Take texts out of an index so that not even its free pages hold them.

A deleted row leaves its bytes in several places: in pages that are free or half empty, in the write-ahead
log, and in segments of the word index that were not merged since. All of these are cleaned here. The cache
keeps vectors of earlier versions of chunks, and it is no longer known what they held, so only those of chunks
that are still there stay.

The caller holds the writer lock of the index.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

from memlines.errors import StoreDamaged
from memlines.index.store.sqlite import cache, files
from memlines.index.store.sqlite.index import Index, Staying

_NO_INDEX = re.compile(r"\.(?:damaged|rebuild)-[^.]*$")
"""The ends of names of indexes set aside or not finished; an agent's name may hold such words."""


def indexes_in(folder: Path) -> list[Path]:
    """List the indexes in a folder, without unfinished ones and those that were set aside."""
    if not folder.is_dir():
        return []
    return [
        path
        for path in sorted(folder.iterdir())
        if not path.is_symlink()
        and path.is_file()
        and not _NO_INDEX.search(path.name)
        and not path.name.endswith(files.NO_TEXT)
        and files.is_marked(path)
    ]


def erase(
    path: Path,
    paths: Collection[str],
    holds: Callable[[str], bool],
    staying: Mapping[str, Staying] | None = None,
) -> dict[str, int]:
    """Take some files out of an index, and every transcript with a chunk that holds what is forgotten.

    Return how much of each kind went. The next sync reads files that still exist again. What is `staying` of
    a file keeps its vectors. An index that cannot be used is removed.
    """
    try:
        with Index.writer(path, {}) as index:
            chunks, vectors = index.count_chunks(), index.vectors.count()
            rows = index.connection.execute("SELECT path, text FROM chunks WHERE source = 'sessions'")
            transcripts = {path for path, text in rows if holds(text)}
            for file in sorted({*paths, *transcripts}):
                index.remove(file, (staying or {}).get(file))
            erased = {
                "chunks": chunks - index.count_chunks(),
                "vectors": vectors - index.vectors.count(),
                "cached": cache.keep_indexed(index.connection),
            }
            # The terms of deleted chunks stay in their segment until it is merged with all others.
            index.connection.execute("INSERT INTO chunks_fts(chunks_fts) VALUES('optimize')")
            # Move the log into the database and cut it to nothing, unless it is being read.
            index.connection.pragma("wal_checkpoint", "truncate")
            return erased
    except StoreDamaged:
        files.require_ours(path)
        files.remove_database(path)
        return {}


def remove_copies(path: Path) -> int:
    """Remove what is beside an index and may hold anything it ever held; return how many files went.

    These are indexes that were set aside or not finished.
    """
    files.sweep(path)
    asides = [file for file in path.parent.glob(f"{path.name}{files.ASIDE}*") if files.is_ours(file)]
    there = [file for file in asides if file.is_file() and not file.is_symlink()]
    for file in there:
        file.unlink()
    return len(there)


def rewrite(path: Path) -> None:
    """Write every page of an index again, which leaves out all free room and what it held."""
    with Index.writer(path, {}) as index:
        index.connection.execute("VACUUM")
        index.connection.pragma("wal_checkpoint", "truncate")


def is_live(path: Path, piece: str) -> bool:
    """Return whether a chunk of an index holds a piece of text."""
    with Index.writer(path, {}) as index:
        sql = "SELECT 1 FROM chunks WHERE instr(text, ?) OR instr(heading, ?) LIMIT 1"
        return index.connection.execute(sql, (piece, piece)).get is not None
