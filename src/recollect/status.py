"""Describe a memory: where it lives, what is in it, what it uses."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from recollect.embed.base import Provider
from recollect.embed.select import Choice
from recollect.errors import StoreError
from recollect.paths import Workspace
from recollect.settings import Loaded, switched_off
from recollect.settings.services import SERVICES
from recollect.store.sqlite import cache, sessions, spaces
from recollect.store.sqlite.index import Index
from recollect.sync.dirty import is_behind
from recollect.sync.identity import engine_trouble, reason_to_rebuild, space_of
from recollect.types import Discovery, IndexedFile, Status

_REDACTED = re.compile(r"\[redacted:([a-z0-9-]+)\]")
_CACHED = "in the cache, because the workspace cannot be written"
_LOCAL = "nowhere: text stays on this machine"


@dataclass(frozen=True, slots=True)
class Found:
    """What a description is made from."""

    workspace: Workspace
    loaded: Loaded
    choice: Choice
    at_work: Provider | None
    """Who makes vectors: the chosen provider, unless its model was declined."""
    index_file: Path
    discovery: Discovery


def status_of(found: Found, index: Index | None, problem: StoreError | None) -> Status:
    """Return the state of a memory from what is on disk, without changing anything."""
    settings, choice, discovery = found.loaded.settings, found.choice, found.discovery
    provider = found.at_work
    now = spaces.serving(index.connection) if index else None
    known: dict[str, IndexedFile] = index.files() if index else {}
    problems = [*discovery.problems, *(file.problem for file in known.values() if file.problem)]
    trouble = engine_trouble(settings)
    warnings = [one for one in (switched_off(found.loaded), str(problem or ""), trouble) if one]
    warnings += found.loaded.warnings
    changed = reason_to_rebuild(index, settings) if index else ""
    if changed:
        warnings.append(f"the index will be built anew: {changed}")
    dims = index.vectors.dims() if index else None
    return Status(
        backend=settings.backend,
        provider=provider.id if provider else "none",
        model=provider.model if provider else "",
        requested_provider=choice.requested,
        sends_text_to=_goes_to(provider),
        files=index.count_files() if index else 0,
        chunks=index.count_chunks() if index else 0,
        pending=index.count_pending(space_of(provider)) if index and provider else 0,
        dirty=index is None or bool(changed) or is_behind(discovery, known),
        workspace=str(found.workspace.root),
        agent=settings.agent,
        index_path=str(found.index_file),
        index_bytes=_bytes_of(found.index_file),
        index_note=_CACHED if found.index_file.parent == found.workspace.cached_indexes else "",
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
        fallback=fallback_of(choice, now),
        spaces=tuple(_space(index, entry) for entry in spaces.entries(index.connection)) if index else (),
        declined=_declined(choice, index),
        spending=_spending(),
        redactions=_redactions(index) if index and "sessions" in settings.sources else {},
        last_sync=index.synced_at if index else None,
        enabled=settings.enabled,
        warnings=tuple(warnings),
    )


def _goes_to(provider: Provider | None) -> str:
    """Say where the text goes that is embedded: to a host, to a server on this machine, or nowhere."""
    if provider is None or provider.id not in SERVICES:
        return _LOCAL
    from recollect.embed.remote.provider import RemoteProvider

    if provider.sends_to or not isinstance(provider, RemoteProvider):
        return provider.sends_to or _LOCAL
    return f"{provider.http.host}, on this machine"


def _space(index: Index, entry: spaces.SpaceEntry) -> Mapping[str, Any]:
    """Describe a space: whose vectors, how many of all chunks have one, and what it is for."""
    return {
        "provider": entry.space.provider,
        "model": entry.space.model,
        "state": entry.state,
        "vectors": index.vectors_in(entry.space).count(),
        "chunks": index.count_chunks(),
        "dims": entry.dims,
        "note": entry.note,
        "declined": spaces.declined(index.connection) == entry.space,
    }


def _declined(choice: Choice, index: Index | None) -> str:
    declined = spaces.declined(index.connection) if index else None
    wanted = space_of(choice.provider) if choice.provider else None
    return str(declined) if declined is not None and declined == wanted else ""


def fallback_of(choice: Choice, now: spaces.SpaceEntry | None) -> Mapping[str, Any] | None:
    """Tell which provider was wanted and why another one is used, if that is so."""
    reason = choice.reason or (now.note if now else "")
    return {"from": choice.requested, "reason": reason} if reason else None


def _redactions(index: Index) -> Mapping[str, int]:
    """Count by their kinds what stands for secrets in the conversations that are indexed."""
    texts = sessions.texts_with(index.connection, "[redacted:")
    return dict(sorted(Counter(kind for text in texts for kind in _REDACTED.findall(text)).items()))


def _spending() -> Mapping[str, Any]:
    """Tell what was spent today and altogether, as far as it is still noted."""
    from recollect.spending.ledger import Ledger

    ledger = Ledger()
    return {"today": asdict(ledger.today()), "total": asdict(ledger.total())}


def _bytes_of(index_file: Path) -> int:
    """Return the size of the index with everything derived that stands beside it."""
    total = 0
    for companion in ("", "-wal", "-shm", ".vectors"):
        beside = index_file.with_name(index_file.name + companion)
        total += beside.stat().st_size if beside.is_file() else 0
    return total
