"""Build an index of texts that are given, instead of the files of a workspace.

Their vectors are taken from an index that knows the same texts. Others are made by a provider on this
machine only: nothing is sent for it. Such an index says when it is complete; that of a killed builder does
not.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from memlines.embed.base import Provider
from memlines.errors import StoreError
from memlines.files.tombstones import Forgotten
from memlines.index.store.sqlite import cache, spaces
from memlines.index.store.sqlite.db import transaction
from memlines.index.store.sqlite.index import Index
from memlines.index.store.sqlite.reader import SYNCED
from memlines.index.sync.job import Job, identity_of, reason_to_rebuild, space_of
from memlines.index.sync.pending import put_known
from memlines.index.sync.vectors import add_vectors
from memlines.index.sync.words import LABEL, Writer, cut_document
from memlines.text.chunk import text_hash
from memlines.types import Cut, Document, FoundFile, Report

_ALL = -1


def is_complete(job: Job) -> bool:
    """Return whether the index of a job was built to its end, here and with these settings."""
    try:
        index = Index.reader(job.index_file)
        if index is None:
            return False
        with index:
            return index.state.synced_at is not None and not reason_to_rebuild(index, job.settings)
    except StoreError:
        return False


def build_index(job: Job, documents: Iterable[Document], known: Index | None) -> tuple[str, ...]:
    """Build the index of a job from texts, with the vectors that another one knows; return warnings.

    The file must not be there, and the caller ensures that no other process writes it.
    """
    nothing = Forgotten(())  # it is about transcripts only
    with Index.writer(job.index_file, identity_of(job.settings)) as index:
        with Writer(index) as writer:
            for done, document in enumerate(documents):
                job.progress(done, done + 1, LABEL)
                file = FoundFile(document.path, "", document.source, document.fingerprint)
                cut = cut_document(document, file, job.settings, nothing)
                if isinstance(cut, Cut):
                    writer.add(document, cut, is_known=False)
        if job.provider is not None and known is not None:
            _take_known(index, known, job.provider)
    warnings: tuple[str, ...] = ()
    if job.provider is not None and not job.provider.sends_to:
        warnings = add_vectors(job, Report(pending=1)).warnings
    with Index.writer(job.index_file, {}) as index:
        index.note(SYNCED, datetime.now(UTC).isoformat(timespec="seconds"))
    return warnings


def _take_known(index: Index, old: Index, provider: Provider) -> None:
    """Give the chunks of an index the vectors that another one has of the same texts."""
    space = space_of(provider)
    entry = old.state.entry_of(space)
    if entry is None:
        return
    chunks = index.pending(index.vectors_in(space), 0, _ALL)
    texts = {text_hash(chunk.embedded_text): (chunk.hash, chunk.heading) for _, chunk in chunks}
    vectors = old.vectors_in(space)
    alike = old.numbers_like(texts, vectors)
    dims = entry.dims or vectors.dims() or 0
    with transaction(index.connection):
        spaces.add(index.connection, space, "serving", "", entry.answers_as, entry.dims)
        index.cache_vectors(old, alike.values(), [entry])
        cached = cache.cached(old.connection, space, [*texts.keys() - alike.keys()], dims)
        cache.remember(index.connection, space, cached, dims)
    if not put_known(index, space):
        spaces.empty(index.connection, space)  # then a query need not be embedded either
    elif (background := vectors.background()) is not None:
        index.vectors_in(space).set_background(background)
