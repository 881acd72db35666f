"""What can be repaired: everything that is derived, and nothing else.

Each repair holds the lock of what it changes, looks again at what it is to change, and says what it did.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Set
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memlines.admin.doctor.checkup import Repair, listed
from memlines.admin.doctor.index import paths_without_file, vectors_without_chunk, words_without_chunk
from memlines.admin.doctor.leftovers import holder_of, index_locks, is_held, locks, note_leftovers, set_aside
from memlines.admin.doctor.old_name import move_old_folders
from memlines.admin.doctor.vectors import remove_damaged
from memlines.embed.builtin.files import cache_folder, discard
from memlines.errors import MemlinesError, reason_of
from memlines.files.atomic import unlink
from memlines.files.place import LOCK_NAME, ensure_folder, ensure_private, tighten
from memlines.index.store.sqlite import spaces
from memlines.index.store.sqlite.db import store_errors, transaction
from memlines.index.store.sqlite.files import is_ours, remove_database, sweep
from memlines.index.store.sqlite.index import Index
from memlines.locks import WriterLock
from memlines.memory.memory import Memory
from memlines.paths import Workspace
from memlines.types import Progress

_WAIT_SECONDS = 2.0
"""How long a repair waits for another writer before it is left undone."""


@dataclass(frozen=True, slots=True)
class Case:
    """The memory to repair."""

    workspace: Workspace
    overrides: Mapping[str, Any] | None
    index_file: Path
    progress: Progress


@dataclass(frozen=True, slots=True)
class Done:
    """A repair, whether it was done, and what it did or what prevented it."""

    repair: Repair
    done: bool
    message: str


def carry_out(wanted: Set[Repair], case: Case) -> tuple[Done, ...]:
    """Do the repairs that are wanted, in the order that makes sense; what fails does not stop the rest."""
    needed = set(wanted)
    if "vectors" in needed:
        needed.add("sync")  # which makes the vectors again
    if "rebuild" in needed:
        needed -= {"orphans", "sync"}  # a new index has neither
    return tuple(_done(name, action, case) for name, action in _ACTIONS if name in needed)


def _done(name: Repair, action: Callable[[Case], str], case: Case) -> Done:
    try:
        ensure_private(case.workspace)  # refuses a link, through which nothing may be written
        with store_errors(case.index_file):
            return Done(name, True, action(case))
    except MemlinesError as error:
        return Done(name, False, str(error))
    except OSError as error:
        return Done(name, False, f"{error.filename or case.workspace.private}: {reason_of(error)}")


def _make_private(case: Case) -> str:
    return f"made {case.workspace.private / '.gitignore'}"


def _close_to_others(case: Case) -> str:
    tighten(case.workspace)
    return f"closed {case.workspace.private} and all in it to other users"


def _forget_holders(case: Case) -> str:
    """Take each free lock for a moment: whoever lets go of one removes its note."""
    left = [lock for lock in locks(case.workspace, case.index_file) if holder_of(lock).exists()]
    free = [lock for lock in left if not is_held(lock)]
    for lock in free:
        with WriterLock(lock).held(_WAIT_SECONDS):
            pass
    return f"removed what killed programs left of {listed(lock.name for lock in free)}"


def _sweep(case: Case) -> str:
    lock = case.workspace.private / LOCK_NAME
    with WriterLock(lock, "a note of this workspace").held(_WAIT_SECONDS):
        for path in note_leftovers(case.workspace, lock):
            with suppress(FileNotFoundError):
                unlink(path, root=case.workspace.root, durable=False)
    with _writing(case):
        sweep(case.index_file)
    return "removed unfinished files"


def _unpack_model(case: Case) -> str:
    discard()
    return f"removed {cache_folder()}, so the model is unpacked again"


def _remove_damaged_vectors(case: Case) -> str:
    with _index(case) as index:
        chunks, cached = remove_damaged(index)
    return f"removed damaged vectors: {chunks} of chunks, {cached} in the cache"


def _remove_orphans(case: Case) -> str:
    with _index(case) as index:
        paths = paths_without_file(index)
        for path in paths:
            index.remove(path)
        words, vectors = words_without_chunk(index), vectors_without_chunk(index)
        with transaction(index.connection):
            index.connection.executemany(
                "DELETE FROM chunks_fts WHERE rowid = ?", [(number,) for number in words]
            )
            for entry in spaces.entries(index.connection):
                index.vectors_in(entry.space).delete(vectors)
    return (
        f"removed rows that belong to nothing: {len(paths)} files, {len(words)} words, {len(vectors)} vectors"
    )


def _rebuild(case: Case) -> str:
    return f"built the index anew: {_synced(case, force=True)}"


def _sync(case: Case) -> str:
    return f"synced: {_synced(case, force=False)}"


def _synced(case: Case, *, force: bool) -> str:
    for lock in index_locks(case.index_file):
        with WriterLock(lock).held(_WAIT_SECONDS):
            pass  # a sync would wait far longer than anybody does who asked for a repair
    with Memory(case.workspace.root, case.overrides) as memory:
        report = memory.sync(force=force, progress=case.progress)
    counts = f"{len(report.indexed)} indexed, {len(report.removed)} removed, {len(report.failed)} failed"
    return "; ".join([counts, *report.warnings])


def _rewrite_copy(case: Case) -> str:
    copy = case.index_file.with_name(case.index_file.name + ".vectors")
    with _index(case) as index:
        copy.unlink(missing_ok=True)
        index.vectors.save_matrix()
    return f"wrote {copy.name} again" if copy.exists() else f"deleted {copy.name}; so few vectors need none"


def _clean(case: Case) -> str:
    removed = []
    with _writing(case):
        for main in set_aside(case.index_file):
            if main.is_file() and not main.is_symlink() and is_ours(main):
                remove_database(main)
                removed.append(main.name)
    return f"deleted {listed(removed)}" if removed else "deleted nothing"


@contextmanager
def _writing(case: Case) -> Iterator[None]:
    ensure_folder(case.index_file.parent)
    lock = WriterLock(case.index_file.with_name(case.index_file.name + ".lock"))
    with lock.held(_WAIT_SECONDS):
        yield


@contextmanager
def _index(case: Case) -> Iterator[Index]:
    """Open the index for writing; only what is an index already is asked to be repaired."""
    with _writing(case):
        index = Index.writer(case.index_file, {})
        try:
            yield index
        finally:
            index.close()


_ACTIONS: tuple[tuple[Repair, Callable[[Case], str]], ...] = (
    ("old-name", lambda _: move_old_folders()),
    ("private", _make_private),
    ("permissions", _close_to_others),
    ("locks", _forget_holders),
    ("sweep", _sweep),
    ("model", _unpack_model),
    ("vectors", _remove_damaged_vectors),
    ("orphans", _remove_orphans),
    ("rebuild", _rebuild),
    ("sync", _sync),
    ("copy", _rewrite_copy),
    ("clean", _clean),
)
