"""Take texts out of an index so that not even its free pages hold them.

A deleted row leaves its bytes in several places: in pages that are free or half empty, in the write-ahead
log, in segments of the word index that were not merged since, and in the copy of the vectors. All of these
are cleaned here. The cache of vectors keeps earlier versions of chunks, and it is no longer known
what they held, so only the vectors of chunks that are still there stay.

The caller holds the writer lock of the index.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from memlines.errors import StoreDamaged, StoreError
from memlines.index.store.sqlite import cache
from memlines.index.store.sqlite.db import Connection
from memlines.index.store.sqlite.files import ASIDE, NO_TEXT, is_marked, is_ours, remove_database, sweep
from memlines.index.store.sqlite.index import Index, Staying

_NO_INDEX = re.compile(r"\.(?:damaged|rebuild)-[^.]*$")
"""What ends the names of indexes that were set aside or not finished; an agent's name may hold such words."""
_NOTHING: Mapping[str, Staying] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Erased:
    """How much of each kind was taken out of an index."""

    chunks: int = 0
    vectors: int = 0
    cached: int = 0


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
        and not path.name.endswith(NO_TEXT)
        and is_marked(path)
    ]


def erase(
    path: Path,
    files: Collection[str],
    holds: Callable[[str], bool],
    staying: Mapping[str, Staying] = _NOTHING,
) -> Erased:
    """Take some files out of an index, and every transcript with a chunk that holds what is forgotten.

    The next sync reads those that still exist again. What is to stay of a file stays with its vectors. An
    index that cannot be used is removed.
    """
    try:
        with closing(Index.writer(path, {})) as index, index.errors():
            before = index.count_chunks(), index.vectors.count()
            rows = index.connection.execute("SELECT path, text FROM chunks WHERE source = 'sessions'")
            transcripts = {path for path, text in rows if holds(text)}
            for file in sorted({*files, *transcripts}):
                index.remove(file, staying.get(file))
            cached = cache.keep_indexed(index.connection)
            erased = Erased(before[0] - index.count_chunks(), before[1] - index.vectors.count(), cached)
            # The terms of deleted chunks stay in their segment until it is merged with all others.
            index.connection.execute("INSERT INTO chunks_fts(chunks_fts) VALUES('optimize')")
            _empty_log(index.connection)
            return erased
    except StoreDamaged:
        if not is_ours(path):
            raise StoreError(
                f"{str(path)!r} is not an index of Memlines, so it is left alone",
                todo="Set store.path to a file of its own",
            ) from None
        remove_database(path)
        return Erased()


def remove_copies(path: Path) -> int:
    """Remove what lies beside an index and may hold anything it ever held; return how many files went.

    That is the copy of its vectors, which is made again, and indexes that were set aside or not finished.
    """
    sweep(path)
    asides = [file for file in path.parent.glob(f"{path.name}{ASIDE}*") if is_ours(file)]
    copies = [path.with_name(path.name + ".vectors"), *asides]
    there = [file for file in copies if file.is_file() and not file.is_symlink()]
    for file in there:
        file.unlink()
    return len(there)


def rewrite(path: Path) -> None:
    """Write every page of an index again, which leaves out all free room and what it held."""
    with closing(Index.writer(path, {})) as index, index.errors():
        index.connection.execute("VACUUM")
        _empty_log(index.connection)


def is_live(path: Path, piece: str) -> bool:
    """Return whether a chunk of an index holds a piece of text."""
    with closing(Index.writer(path, {})) as index, index.errors():
        sql = "SELECT 1 FROM chunks WHERE instr(text, ?) OR instr(heading, ?) LIMIT 1"
        return index.connection.execute(sql, (piece, piece)).get is not None


def _empty_log(connection: Connection) -> None:
    """Move the write-ahead log into the database and cut it to nothing, unless it is being read."""
    connection.pragma("wal_checkpoint", "truncate")
