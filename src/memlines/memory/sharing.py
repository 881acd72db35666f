"""Share a memory with other machines through a cluster: when it is copied there, and who answers a search.

The index on this machine is complete for its own notes, so it answers whenever the cluster cannot: nothing is
waited for, and the answer says whose notes were left out.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from memlines.errors import ClusterRefused, ClusterUnreachable, StoreBusy, StoreError
from memlines.index.search.query import EVERY_WORKSPACE, OWN_WORKSPACE, Query
from memlines.index.search.run import Found, search
from memlines.index.store.qdrant.cluster import CollectionMissing
from memlines.index.store.qdrant.index import Changed, ClusterIndex
from memlines.index.store.sqlite.reader import IndexState
from memlines.index.sync.job import open_existing
from memlines.index.sync.publish import Publisher, keys_of
from memlines.locks import WriterLock
from memlines.memory.open_index import silent
from memlines.types import Progress

if TYPE_CHECKING:
    from memlines.memory.manager import Manager

_COPIED_BY_SEARCH = 50
"""Changed files that a search copies before it asks the cluster; more are copied in the background."""

_TRIES = 3
_REST_SECONDS = 10.0
"""For how long this machine's own index answers after no node did, before one is asked again."""

_REFUSED_SECONDS = 300.0
"""For how long nothing is copied after that was refused, as to a token that may only read."""

SYNC_WAIT, _BACKGROUND_WAIT = 600.0, 1.0
"""Seconds to wait for another program that copies: where someone waits for the copy, and in the background,
which must be able to end."""

_NOT_YET = "what is new is not on the cluster yet, the next sync copies it: {}"
_OTHERS_LEFT_OUT = (
    "what other machines copied into this workspace was not searched: what changed here is copied first"
)
_LOCK = ".cluster"


class ClusterAnswer(NamedTuple):
    """What the cluster found, in how many chunks, and what to warn of; without `found`, it did not answer."""

    found: Found | None
    chunks: int = 0
    warnings: tuple[str, ...] = ()


class Sharing:
    """Copies the index of one open memory to a cluster, and asks that; safe in several threads."""

    def __init__(self, manager: Manager) -> None:
        self._manager = manager
        self.publisher = Publisher(manager.workspace, manager.settings)
        self._copied: IndexState | None = None
        """The state of the index that the cluster holds."""
        self._away: tuple[float, ClusterUnreachable] | None = None
        """Until when no node is asked, and why."""
        self._refused: tuple[float, ClusterRefused] | None = None
        """Until when nothing is copied, and why."""

    def copy(self, progress: Progress = silent, *, most: int | None = None, wait: float = 0.0) -> int:
        """Copy what was indexed since the last time; return how many files are left, if that is too many.

        Without `most`, all are copied.
        """
        manager = self._manager
        if most is None and wait > _BACKGROUND_WAIT:  # someone asked for it: the cluster may have lost it
            self._look_again()
        state = manager.read_state()
        if self.is_copied(state):
            return 0
        if self._refused and time.monotonic() < self._refused[0]:
            raise self._refused[1]
        with self._lock().held(wait), open_existing(manager.index_file) as index:
            try:
                left = self.publisher.publish(index, progress, most)
            except BaseException as error:
                self.publisher.reset()  # what the cluster holds now is not known
                if isinstance(error, ClusterRefused) and not isinstance(error, CollectionMissing):
                    self._refused = time.monotonic() + _REFUSED_SECONDS, error
                raise
        self._copied = state if not left else None
        return left

    def _look_again(self) -> None:
        """Ask the cluster what it holds and takes, when something is copied or searched next."""
        self._copied = self._refused = None
        self.publisher.reset()

    def is_copied(self, state: IndexState | None) -> bool:
        """Return whether the cluster has what the index held in a state."""
        return state is None or state is self._copied

    def copy_all(self, progress: Progress, wait: float = _BACKGROUND_WAIT) -> tuple[str, ...]:
        """Copy everything, and return as a warning why that could not be done.

        If another program is copying, this waits so long for it; in the background the next look does it.
        """
        try:
            self.copy(progress, wait=wait)
        except StoreBusy as error:
            return () if wait == _BACKGROUND_WAIT else (_NOT_YET.format(error),)
        except (StoreError, OSError) as error:
            return (_NOT_YET.format(error),)
        return ()

    def forget(self, holds: Callable[[str], bool]) -> tuple[int, list[str]]:
        """Remove every file from the cluster that `holds` what must go; what else it says is copied again.

        Return how many chunks held it, and the places that still do, which are looked through once more.
        """
        count, left = 0, []
        try:
            with self._lock().held(SYNC_WAIT):
                self._look_again()
                for writer in self.publisher.writers():
                    found = [file for file, _, text in writer.texts() if holds(text)]
                    writer.erase(dict.fromkeys(found))
                    count += len(found)
                    left += [path for _, path, text in writer.texts() if holds(text)]
        except (StoreError, OSError) as error:
            return 0, [f"the Qdrant cluster, until the next sync that reaches it ({error})"]
        return count, [f"{path} on the Qdrant cluster" for path in dict.fromkeys(left)]

    def verify(self, progress: Progress) -> tuple[int, int]:
        """Copy everything, and read it again; raise if a file is missing there or differs.

        Return how many files and chunks the cluster has as they are here.
        """
        self.copy(progress, wait=SYNC_WAIT)
        with open_existing(self._manager.index_file) as index:
            wrong = self.publisher.find_missing(index, progress)
            files, chunks = len(keys_of(index)), index.count_chunks()
        if wrong:
            raise StoreError(
                f"{len(wrong)} of {files} files are not on the cluster as here, such as {wrong[0]!r}",
                todo="Nothing was removed and no setting changed; run the command again to continue",
            )
        return files, chunks

    def leave(self) -> int:
        """Remove what this machine copied from the cluster; return how many files that were."""
        with self._lock().held(SYNC_WAIT):
            self._copied = None
            return self.publisher.leave()

    def describe(self) -> Mapping[str, Any]:
        """Return the state of the cluster, and what it holds of this workspace."""
        with self._manager.opened() as index:
            writer = self.publisher.writer(index) if index else None
        return self.publisher.describe(writer)  # while nothing is held

    def _lock(self) -> WriterLock:
        return self._manager.job(silent, words_only=True).lock(_LOCK)

    def read(self, workspace: str, path: str) -> str | None:
        """Return a note of another workspace as its chunks on the cluster have it; nothing without any."""
        with self._manager.opened() as index:
            asked = self.publisher.prepare_search(index, [workspace]) if index else None
        if asked is None:
            return None
        lines: dict[int, str] = {}
        for _ in range(_TRIES):
            with suppress(Changed):
                there = asked()
                for chunk in there.chunks(there.numbers_of([path], workspace)).values():
                    if chunk.source == "memory":
                        lines |= enumerate(chunk.text.split("\n"), chunk.start_line)
                break
        return "\n".join([lines.get(line, "") for line in range(1, max(lines) + 1)]) if lines else None

    def search(
        self, asked: Callable[[], ClusterIndex], query: Query, vector: bytes | None, model: str
    ) -> ClusterAnswer:
        """Answer a query from the cluster."""
        if self._away and time.monotonic() < self._away[0]:
            return _without_cluster(query, self._away[1])
        only_own = query.workspaces == (OWN_WORKSPACE,)
        try:
            warnings = self._copy_what_changed(only_own=only_own)
            if warnings and only_own:  # the index here has all of this machine
                return ClusterAnswer(None, 0, (_OTHERS_LEFT_OUT,) if self.publisher.has_others else ())
            if query.workspaces != self._manager.settings.store.searches:
                asked().refuse_unknown()
            for _ in range(_TRIES):
                with suppress(Changed):
                    index = asked()
                    found = search(index, query, vector, model)
                    return ClusterAnswer(found, index.count_chunks(), warnings)
        except ClusterUnreachable as error:
            self._away = time.monotonic() + _REST_SECONDS, error
            return _without_cluster(query, error)
        except ClusterRefused as error:
            if isinstance(error, CollectionMissing):  # it was emptied: the next copy makes all of it again
                self._look_again()
            return _without_cluster(query, error)
        return _without_cluster(query, "files on the cluster changed again and again meanwhile")

    def _copy_what_changed(self, *, only_own: bool) -> tuple[str, ...]:
        """Copy it while a person waits; return as a warning what is left to the background."""
        try:
            left = self.copy(most=_COPIED_BY_SEARCH)
        except StoreBusy:  # another program copies
            left = 1
        except (StoreError, OSError) as error:
            if only_own and isinstance(error, ClusterUnreachable | ClusterRefused):
                raise
            if not isinstance(error, ClusterUnreachable):  # such as a token that may only read
                return (f"what changed here is not copied to the cluster: {error}",)
            left = 1  # no node takes it, but one may answer
        if not left:
            return ()
        self._manager.background.ask("cluster", self.copy_all)
        return ("what changed here is being copied to the cluster; this answer may lack it",)


def _without_cluster(query: Query, error: Exception | str) -> ClusterAnswer:
    """Leave the answer to this machine's own index, if its workspace is asked."""
    if {OWN_WORKSPACE, EVERY_WORKSPACE}.isdisjoint(query.workspaces):
        return ClusterAnswer(Found(), 0, (f"other workspaces could not be searched: {error}",))
    return ClusterAnswer(None, 0, (f"only the notes on this machine were searched: {error}",))
