"""Describe a memory: where it lives, what is in it, what it uses."""

from __future__ import annotations

from pathlib import Path

from recollect.embed.select import Choice
from recollect.errors import StoreError
from recollect.paths import Workspace
from recollect.settings import Loaded, switched_off
from recollect.store.sqlite import cache
from recollect.store.sqlite.index import Index
from recollect.sync.dirty import is_behind
from recollect.sync.identity import difference, identity_of
from recollect.types import Discovery, IndexedFile, Status

_LOCAL = "nowhere: text stays on this machine"


def status_of(
    workspace: Workspace,
    loaded: Loaded,
    choice: Choice,
    index_file: Path,
    index: Index | None,
    discovery: Discovery,
    problem: StoreError | None,
) -> Status:
    """Return the state of a memory from what is on disk, without changing anything."""
    settings = loaded.settings
    provider = choice.provider
    known: dict[str, IndexedFile] = index.files() if index else {}
    problems = [*discovery.problems, *(file.problem for file in known.values() if file.problem)]
    warnings = [sentence for sentence in (switched_off(loaded), str(problem or "")) if sentence]
    changed = difference(index.identity(), identity_of(settings, provider)) if index else ""
    if changed:
        warnings.append(f"the index will be built anew: {changed}")
    dims = index.vectors.dims() if index else None
    return Status(
        backend=settings.backend,
        provider=provider.id if provider else "none",
        model=provider.model if provider else "",
        requested_provider=choice.requested,
        sends_text_to=_LOCAL,
        files=index.count_files() if index else 0,
        chunks=index.count_chunks() if index else 0,
        pending=index.count_pending() if index and provider else 0,
        dirty=index is None or bool(changed) or is_behind(discovery, known),
        workspace=str(workspace.root),
        index_path=str(index_file),
        index_bytes=_bytes_of(index_file),
        sources=settings.sources,
        source_counts=tuple(
            {"source": source, "files": files, "chunks": chunks}
            for source, files, chunks in (index.counts_by_source() if index else ())
        ),
        extra_paths=settings.extra_paths,
        skipped=tuple(item for item in problems if not item.failed),
        failed=tuple(item for item in problems if item.failed),
        cache={
            "enabled": settings.cache.enabled,
            "entries": cache.count(index.connection) if index else 0,
            "max_entries": settings.cache.max_entries,
        },
        fts={"enabled": True, "available": index is not None},
        vector={
            "enabled": settings.store.vector.enabled,
            "available": provider is not None,
            "engine": index.vectors.engine if index else None,
            "vectors": index.vectors.count() if index else 0,
            "dims": dims or (provider.dims if provider else None),
        },
        fallback={"from": choice.requested, "reason": choice.reason} if choice.reason else None,
        last_sync=index.synced_at if index else None,
        enabled=settings.enabled,
        warnings=tuple(warnings),
    )


def _bytes_of(index_file: Path) -> int:
    """Return the size of the index with everything derived that stands beside it."""
    total = 0
    for companion in ("", "-wal", "-shm", ".vectors"):
        beside = index_file.with_name(index_file.name + companion)
        total += beside.stat().st_size if beside.is_file() else 0
    return total
