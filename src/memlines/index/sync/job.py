"""What a sync has to do, how its steps open the index, and which settings an index is made with.

If that changes, all of it is rebuilt but its vectors. Vectors belong to a space, which is named by the
provider and the model; an index can hold several spaces.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memlines.embed.base import Provider
from memlines.errors import StoreBusy, StoreDamaged, StoreError
from memlines.index.store.sqlite.index import Index
from memlines.index.store.sqlite.vectors import MATRIX, SQLITE_VEC, extension_trouble
from memlines.locks import WriterLock
from memlines.paths import Workspace, note_path
from memlines.records import dataclass
from memlines.settings import Settings
from memlines.text.chunk import text_hash
from memlines.text.versions import CHUNKER_VERSION, DAYS_VERSION, SENTENCES_VERSION, TERMS_VERSION
from memlines.types import Progress, Space

if TYPE_CHECKING:
    from memlines.transcripts.finding import Known

_WRITE_WAIT = 5.0
_WRITE_TRY = 1.0
"""Seconds for which a writer waits at least, and after which `progress` is called while it waits."""


@dataclass(frozen=True, slots=True)
class Job:
    """What to bring up to date, and how.

    An error that `progress` raises ends the work at that point; everything done until then is kept.
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
        """Return whether the deadline has passed."""
        return self.deadline is not None and time.monotonic() >= self.deadline

    def lock(self, kind: str = "") -> WriterLock:
        """Return the lock that writers of the index hold, or the one of another kind of work on it."""
        return WriterLock(self.index_file.with_name(f"{self.index_file.name}{kind}.lock"))

    def reader(self) -> Index:
        """Open the index, which exists, for reading."""
        return open_existing(self.index_file)

    @contextmanager
    def writer(self) -> Iterator[Index]:
        """Open the index for writing under the writer lock; `progress` can stop the wait for that."""
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
            yield held.enter_context(Index.writer(self.index_file, {}))


def open_existing(path: Path) -> Index:
    """Open an index that exists for reading."""
    index = Index.reader(path)
    if index is None:
        raise StoreDamaged(f"the index {str(path)!r} has gone")
    return index


REDACTION_VERSION = "3"
"""Goes up when more is taken out of texts than before, so that what is indexed loses it too."""


def identity_of(settings: Settings) -> dict[str, Any]:
    """Return the part of the settings that an index depends on."""
    rules = settings.redaction.rules if "sessions" in settings.sources else ()
    # A hash, because a rule itself may hold what it has to hide.
    redaction = REDACTION_VERSION + (f"-{text_hash(json.dumps(rules))[:12]}" if rules else "")
    return {
        "chunker": CHUNKER_VERSION,
        "days": DAYS_VERSION,
        "chunk_tokens": settings.chunking.tokens,
        "chunk_overlap": settings.chunking.overlap,
        "terms": TERMS_VERSION,
        "vector_engine": SQLITE_VEC
        if settings.store.vector.engine == SQLITE_VEC and not engine_trouble(settings)
        else MATRIX,
        "sources": sorted(settings.sources),
        "extra_paths": list(settings.extra_paths),
        "redaction": redaction,
        "facts_file": note_path(settings.facts.file),
    }


def engine_trouble(settings: Settings) -> StoreError | None:
    """Return why vectors are not searched by the engine that the settings name; nothing if they are."""
    vector = settings.store.vector
    return extension_trouble(vector.extension_path) if vector.engine == SQLITE_VEC else None


def engine_warning(settings: Settings) -> str:
    """Say that another engine searches vectors than the settings name; nothing if it does not."""
    trouble = engine_trouble(settings)
    return f"vectors are searched by {MATRIX} instead of {SQLITE_VEC}: {trouble}" if trouble else ""


def reason_to_rebuild(index: Index, settings: Settings, *, force: bool = False) -> str:
    """Say in words why an index has to be rebuilt; empty if it need not be."""
    if index.origin == "moved":
        return "the index was made in another place, from which its folder was moved or copied"
    if index.origin == "elsewhere":
        return "the index was not made by this user on this machine"
    made_with = index.identity()
    changes = [
        f"{key.replace('_', ' ')} was {made_with.get(key)!r} and is now {wanted!r}"
        for key, wanted in identity_of(settings).items()
        if made_with.get(key) != wanted
    ]
    return "; ".join(changes) or ("forced" if force and index.state.synced_at else "")


def covers_same_files(before: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    """Return whether two indexes are of the same folders; otherwise files may well be in one only."""
    return all(before.get(key) == now[key] for key in ("sources", "extra_paths"))


def space_of(provider: Provider) -> Space:
    """Return the space of a provider's vectors; how sentences are cut is part of it."""
    sentences = f"+sentences{SENTENCES_VERSION}" if provider.by_sentence else ""
    return Space(provider.id, provider.model, provider.key + sentences)


def count_to_do(index: Index, provider: Provider) -> int:
    """Return how many chunks wait for a vector; at least 1 if the provider's vectors do not answer yet."""
    space = space_of(provider)
    now = index.state.serving
    waiting = index.count_pending(space)
    return waiting or int(bool(index.count_chunks()) and (now is None or now.space != space))
