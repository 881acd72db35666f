"""Write the LanceDB table of the facts again from the index, and open one that can be trusted.

A table is dropped and written whole. Its stamp is removed before and written after that, so whatever is
killed, damaged or written by another machine leaves a table that is not trusted, and the index answers.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Literal

from memlines.embed.base import to_blobs
from memlines.embed.codec import decode
from memlines.errors import StoreBusy, StoreDamaged
from memlines.files.atomic import sync_folder
from memlines.folders import Folder, open_private
from memlines.index.store.sqlite.index import Index
from memlines.memory.facts.lance import NAME, LanceTable, Row, drop, is_installed, lance_errors, reach
from memlines.memory.facts.note import FactNote, FactStores, state_of
from memlines.memory.facts.places import (
    Stamp,
    folder_of,
    is_remote,
    lock_of,
    make_folder,
    remove_stamp,
    stamp_of,
    write_stamp,
)
from memlines.text.facts import FactLine

LARGE = 20_000
"""From this many facts on, the table saves more time than it takes to load LanceDB; with fewer, there is a
table only if the settings ask for one."""

Outcome = Literal["unchanged", "rebuilt", "put off", "busy"]
"""What came of a table: it is as it should be, was written, has to wait, or is being written elsewhere."""

_SHARE = 20
"""A large table rests this many times as long as writing it took, so that a program that stores one fact
after the other spends at most a twentieth of its time on it."""

_WAIT = 10.0
_DROP_WAIT = 60.0
"""Seconds to wait for another process that writes the same table, and for one whose table must go."""

_MOST_LACKING = 1_000
"""Facts without a vector up to which a table is worth writing: they are compared beside it every time."""

_ROWS_AT_ONCE = 4_096


def state_in(index: Index, path: str) -> str:
    """Return what changes whenever an index holds other facts or other vectors of them."""
    entry = index.state.serving
    held = (state_of(index, path), entry.number if entry else 0, entry.space if entry else None)
    return hashlib.sha256(repr(held).encode(errors="surrogatepass")).hexdigest()[:32]


def rebuild(index: Index, note: FactNote, uri: str, stores: FactStores) -> Outcome:
    """Write a table from an index, a reader that is not shared, if the table is of another state.

    Where nothing changed, LanceDB is not imported.
    """
    with index.errors(), index.snapshot():
        lines = note.lines_of(state_of(index, note.path)[1])
        if lines is None:
            return "put off"  # the note is ahead of the index, and a sync will follow
        state = state_in(index, note.path)
        if _is_current(index, uri, state):
            return "unchanged"
        store = stores.of(index, note.path, lines)
        lacking = _without_vectors(index, store.all)
        rows = [(number, line) for number, line in store.lines.items() if number not in lacking]
        if not rows and not folder_of(uri).is_dir():
            return "unchanged"
        stamp = stamp_of(uri)
        is_large = stamp is not None and stamp.count >= LARGE
        is_too_soon = stamp and is_large and 0 <= time.time() - stamp.time < _SHARE * stamp.seconds
        if len(lacking) > _MOST_LACKING or is_too_soon:
            return "put off"
        make_folder(uri)
        try:
            with lock_of(uri).held(_WAIT):
                if _is_current(index, uri, state):
                    return "unchanged"  # another process was quicker
                _write(index, uri, state, rows, lacking)
        except StoreBusy:
            return "busy"
    return "rebuilt"


def _is_current(index: Index, uri: str, state: str) -> bool:
    """Return whether a table is of a state, as far as that can be seen without LanceDB."""
    stamp = stamp_of(uri)
    if stamp is None or stamp.state != state or index.vectors.of(stamp.lacking):
        return False  # or a vector that was lacking came since
    return is_remote(uri) or not stamp.count or Path(uri, f"{NAME}.lance").is_dir()


def _without_vectors(index: Index, numbers: frozenset[int]) -> tuple[int, ...]:
    if not numbers:
        return ()
    first, last = min(numbers), max(numbers)
    pending = index.pending(index.vectors, first - 1, last - first + 1)
    return tuple(number for number, _ in pending if number in numbers)


def _write(
    index: Index, uri: str, state: str, facts: Sequence[tuple[int, FactLine]], lacking: tuple[int, ...]
) -> None:
    """Drop a table and write it again; its stamp is there only while it is whole."""
    started = time.perf_counter()
    reach(uri)
    remove_stamp(uri)
    drop(uri)
    table = LanceTable.create(uri, _rows(index, facts)) if facts else None
    if table is not None:
        with lance_errors(uri):
            _make_durable(uri)
    version, token = (table.version, table.token) if table else (0, "")
    seconds = time.perf_counter() - started
    write_stamp(uri, Stamp(state, len(facts), lacking, version, token, time.time(), seconds))


def _rows(index: Index, facts: Sequence[tuple[int, FactLine]]) -> Iterator[Row]:
    """Yield the rows of facts; their vectors are read some at a time."""
    for start in range(0, len(facts), _ROWS_AT_ONCE):
        some = facts[start : start + _ROWS_AT_ONCE]
        encoded = index.vectors.of(number for number, _ in some)
        vectors = dict(zip(encoded, to_blobs(decode([*encoded.values()])), strict=True))
        yield from (Row(number, line.fact, vectors[number]) for number, line in some)


def _make_durable(uri: str) -> None:
    """Sync to disk what LanceDB wrote, and close it to others: LanceDB does neither."""
    if is_remote(uri):
        return
    with closing(Folder.at(folder_of(uri))) as place:
        is_shared = place.is_shared
    for above, _, names in os.walk(folder_of(uri) / f"{NAME}.lance"):
        with closing(Folder.at(above)) as place:
            place.tighten(shared=is_shared)
        for name in names:
            handle = open_private(Path(above, name), os.O_RDWR)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)
        sync_folder(Path(above))


@contextmanager
def absent(uri: str) -> Iterator[None]:
    """Remove a table with all that it ever held; no other process writes it inside the block."""
    if not is_remote(uri) and not os.path.lexists(uri):
        yield
        return
    make_folder(uri)
    with lock_of(uri).held(_DROP_WAIT):
        remove_stamp(uri)
        reach(uri)
        drop(uri)
        yield


def open_table(uri: str) -> tuple[Stamp, LanceTable] | None:
    """Open a table and return it with its stamp; one that cannot be trusted is not returned and loses it."""
    stamp = stamp_of(uri)
    if stamp is None or not stamp.count or not is_installed():
        return None
    try:
        table = LanceTable.open(uri)
    except StoreDamaged:
        table = None
    if table is not None and (table.version, table.token) == (stamp.version, stamp.token):
        return stamp, table
    distrust(uri, stamp)
    return None


def distrust(uri: str, stamp: Stamp) -> None:
    """Have the next sync write a table again that is not what its stamp says."""
    with suppress(StoreBusy), lock_of(uri).held(0):  # if it is busy, it is just being written
        if stamp_of(uri) == stamp:
            remove_stamp(uri)
