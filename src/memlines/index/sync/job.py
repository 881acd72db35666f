"""What a sync is to do, and the ways to the index that its steps share."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from memlines.embed.base import Provider
from memlines.errors import StoreBusy, StoreDamaged
from memlines.index.store.sqlite.index import Index
from memlines.locks import WriterLock
from memlines.paths import Workspace
from memlines.settings import Settings
from memlines.types import Progress

if TYPE_CHECKING:
    from memlines.transcripts.finding import Known

_WRITE_WAIT = 5.0
_WRITE_TRY = 1.0
"""Seconds for which a writer waits at least, and after which `progress` is called while it waits."""


@dataclass(frozen=True, slots=True)
class Job:
    """What to bring up to date, and how.

    An error that `progress` raises ends the work where it stands; everything done until then is kept.
    """

    workspace: Workspace
    settings: Settings
    provider: Provider | None
    index_file: Path
    progress: Progress
    force: bool = False
    embed_limit: int | None = None
    deadline: float | None = None
    """The moment of `time.monotonic` after which no other file is read and no other chunk is embedded."""
    damaged_inode: int | None = None
    """The index file that a reader found damaged; another process may have replaced it since."""
    group: int | None = None
    """How many chunks are embedded between two calls of `progress`, if not as many as usual."""
    heads: Known = field(default_factory=dict)
    """What is known of transcripts of clients: whether they belong to the workspace."""
    fallback: str = ""
    """The name of the provider that embeds if the first one cannot; empty for none."""
    wait_seconds: float = 10.0
    """How long to wait for other processes that write the index."""

    @property
    def is_limited(self) -> bool:
        """Whether a person waits for the end, so that some of the vectors may be left for later."""
        return self.deadline is not None or self.embed_limit is not None

    def is_late(self) -> bool:
        """Tell whether the deadline has passed."""
        return self.deadline is not None and time.monotonic() >= self.deadline

    def lock(self, kind: str = "") -> WriterLock:
        """Return the lock that writers of the index hold, or the one of another kind of work on it."""
        return WriterLock(self.index_file.with_name(f"{self.index_file.name}{kind}.lock"))

    def reader(self) -> AbstractContextManager[Index]:
        """Open the index, which exists, for reading."""
        return reader_of(self.index_file)

    @contextmanager
    def writer(self) -> Iterator[Index]:
        """Open the index, which exists, for writing, and hold the writer lock meanwhile.

        `progress` is called while it waits for the lock, so that a person can stop it.
        """
        lock = self.lock()
        give_up = time.monotonic() + max(self.wait_seconds, _WRITE_WAIT)
        with ExitStack() as held:
            while True:
                try:
                    held.enter_context(lock.held(_WRITE_TRY))
                    break
                except StoreBusy:
                    if time.monotonic() > give_up:
                        raise
                    self.progress(0, 1, f"waiting for {lock.holder()}")
            yield held.enter_context(writer_of(self.index_file, {}))


@contextmanager
def reader_of(path: Path) -> Iterator[Index]:
    """Open an index that exists for reading."""
    index = Index.reader(path)
    if index is None:
        raise StoreDamaged(f"the index {str(path)!r} has gone")
    try:
        with index.errors():
            yield index
    finally:
        index.close()


@contextmanager
def writer_of(path: Path, identity: dict[str, object]) -> Iterator[Index]:
    """Open an index for writing, which is made with this identity if it is new."""
    index = Index.writer(path, identity)
    try:
        with index.errors():
            yield index
    finally:
        index.close()
