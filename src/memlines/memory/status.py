"""Describe a memory: where it lives, what is in it, what it uses."""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, field, replace
from datetime import UTC, datetime
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from memlines.embed.base import Provider
from memlines.embed.select import Choice, Probe
from memlines.embed.select import probe_embedding as probe_provider
from memlines.errors import EmbeddingError, StoreError
from memlines.files import atomic
from memlines.files.place import Place, reading
from memlines.index.store.sqlite import cache
from memlines.index.store.sqlite.chunks import document_counts, texts_with
from memlines.index.store.sqlite.index import Index
from memlines.index.store.sqlite.spaces import SpaceEntry
from memlines.index.store.sqlite.vectors import MATRIX, SQLITE_VEC, extension_file
from memlines.index.sync.discovery import is_behind
from memlines.index.sync.job import engine_trouble, engine_warning, reason_to_rebuild, space_of
from memlines.paths import HISTORY_FILE, Workspace
from memlines.records import dataclass
from memlines.settings import Settings, switched_off
from memlines.settings.tree import SERVICES
from memlines.types import Discovery, IndexedFile, Problem, Scope, Source

if TYPE_CHECKING:
    from memlines.memory.manager import Manager

_REDACTED = re.compile(r"\[redacted:([a-z0-9-]+)\]")
_CACHED = "in the cache, because the workspace cannot be written or has too long a path"
_LOCAL = "nowhere: text stays on this machine"


@dataclass(frozen=True, slots=True)
class Status:
    """The state of a memory: where it lives, what is in it, what it uses."""

    backend: str
    """What answers searches: `builtin` or `qmd`."""
    provider: str
    model: str
    requested_provider: str
    """The provider that the settings name."""
    sends_text_to: str
    """Where text goes, in words."""
    files: int
    """How many files are indexed."""
    chunks: int
    pending: int
    dirty: bool
    """Whether files changed since the last sync."""
    workspace: str
    """The folder of the memory."""
    agent: str
    """The agent whose settings and index are used."""
    index_path: str
    """The file of the index."""
    index_bytes: int
    """How large it is."""
    sources: tuple[Source, ...]
    """What is searched."""
    source_counts: tuple[Mapping[str, Any], ...]
    """How many files and chunks each source has."""
    extra_paths: tuple[str, ...]
    """The files and folders that are indexed beside the notes."""
    skipped: tuple[Problem, ...]
    failed: tuple[Problem, ...]
    cache: Mapping[str, Any]
    """The vectors that are kept for texts seen before."""
    fts: Mapping[str, Any]
    """Whether words can be searched, and what is wrong if not."""
    vector: Mapping[str, Any]
    """Whether vectors can be searched, by what, and what is wrong if not."""
    fallback: Mapping[str, Any] | None
    """Which provider was wanted and why another one, or none, serves."""
    last_sync: str | None
    """When the index was last made equal to the files."""
    enabled: bool = True
    """Whether the memory is switched on."""
    warnings: tuple[str, ...] = ()
    spaces: tuple[Mapping[str, Any], ...] = ()
    """Whose vectors the index holds: those that answer, those being made, those to go back to."""
    declined: str = ""
    """The model that the settings ask for although a change to it was stopped or taken back."""
    spending: Mapping[str, Any] = field(default_factory=dict)
    """What was sent to paid providers, today and altogether."""
    redactions: Mapping[str, int] = field(default_factory=dict)
    """How many secrets were taken out of the conversations that are indexed, by their kinds."""
    index_note: str = ""
    """Why the index is not kept in the workspace, if it would be otherwise."""
    probe: Mapping[str, Any] | None = None
    """Whether the provider made a vector when it was asked for one, and what it said, if it was asked."""
    batch: Mapping[str, Any] = field(default_factory=dict)
    """Whether texts are handed in as batches, what waits there, and what failed."""
    rerank: Mapping[str, Any] = field(default_factory=dict)
    """What reranks hits and what is wrong with it, if the settings name a reranker."""
    cluster: Mapping[str, Any] = field(default_factory=dict)
    """The cluster that answers searches: its nodes, what it holds of this workspace, which others it has."""
    scopes: tuple[Scope, ...] = ("project",)
    """Whose memories are asked."""
    personal: Mapping[str, Any] = field(default_factory=dict)
    """The personal memory that is asked too: where it is, what it holds, what is wrong with it."""


def read_status(manager: Manager, *, deep: bool = False) -> Status:
    """Return the state of a memory, without changing anything; `deep` also asks the provider for a vector."""
    status, at_work = _describe(manager)
    if manager.sharing is not None:
        status = replace(status, cluster=manager.sharing.describe())
    if not deep:
        return status
    probe = _probe(manager, status, at_work)
    rerank = dict(status.rerank)
    if rerank:
        tried = manager.reranker.probe()
        rerank["probe"] = {**asdict(tried), "message": tried.message}
    return replace(status, probe={**asdict(probe), "message": probe.message}, rerank=rerank)


def probe_embedding(manager: Manager) -> Probe:
    """Return whether the provider that the settings name makes vectors; it may be sent one word."""
    return _probe(manager, *_describe(manager))


def probe_vectors(manager: Manager) -> Probe:
    """Return whether vectors can be searched by the engine that the settings name."""
    status, _ = _describe(manager)
    vector, choice = manager.settings.store.vector, manager.chosen()
    if choice.requested == "none":
        return Probe(True, "none", "none", "vectors are switched off; search goes by words")
    if choice.provider is None and choice.error is not None:
        return Probe(False, vector.engine, "none", choice.error.what, choice.error.todo, choice.error.code)
    if status.fts["error"]:
        return Probe(
            False, vector.engine, "none", status.fts["error"], "Run 'memlines doctor'", StoreError.code
        )
    if find_spec("numpy") is None:
        return Probe(False, vector.engine, "none", "numpy is not installed", "Install it", StoreError.code)
    trouble = engine_trouble(manager.settings)
    if trouble is not None:
        return Probe(False, vector.engine, MATRIX, trouble.what, trouble.todo, trouble.code)
    engine = SQLITE_VEC if vector.engine == SQLITE_VEC else MATRIX
    return Probe(True, vector.engine, engine, f"{status.vector['vectors']} vectors can be searched")


def _probe(manager: Manager, status: Status, at_work: Provider | None) -> Probe:
    choice = manager.chosen()
    took_over = status.fallback if choice.error is None else None
    substitute, note = (took_over["to"], took_over["reason"]) if took_over else ("", "")
    return probe_provider(choice, at_work, substitute, note)


def _describe(manager: Manager) -> tuple[Status, Provider | None]:
    """Return the state of a memory, and who makes vectors: the chosen one, unless its model was declined."""
    discovery = manager.discover()
    try:
        at_work = manager.provider_at_work()
        with manager.opened() as index:
            if index is not None:
                document_counts(index.connection, ["a"])  # an error if the words cannot be searched
            return _status_of(manager, discovery, index, at_work, None), at_work
    except StoreError as problem:
        at_work = manager.chosen().provider
        return _status_of(manager, discovery, None, at_work, problem), at_work


def _status_of(
    manager: Manager,
    discovery: Discovery,
    index: Index | None,
    at_work: Provider | None,
    problem: StoreError | None,
) -> Status:
    from memlines.embed.spending.ledger import Ledger

    settings, choice, index_file = manager.settings, manager.chosen(), manager.index_file
    ledger = Ledger()
    derived = [index_file.with_name(index_file.name + ending) for ending in ("", "-wal", "-shm")]
    redacted = texts_with(index.connection, "[redacted:") if index and "sessions" in settings.sources else ()
    kinds = Counter(kind for text in redacted for kind in _REDACTED.findall(text))
    state = index.state if index else None
    now = state.serving if state else None
    answering = manager.provider_of(now.space) if now else None
    provider = answering if now and now.note and answering else at_work  # with a note it replaces another
    known: dict[str, IndexedFile] = index.files() if index else {}
    problems = [*discovery.problems, *(file.problem for file in known.values() if file.problem)]
    reasons = (switched_off(manager.loaded), str(problem or ""), engine_warning(settings))
    warnings = [*filter(None, reasons), *manager.loaded.warnings]
    changed = reason_to_rebuild(index, settings) if index else ""
    if changed:
        warnings.append(f"the index will be rebuilt: {changed}")
    declined = state.declined if state else None
    wanted = space_of(choice.provider) if choice.provider else None
    rerank = _rerank(manager)
    return Status(
        backend=settings.backend,
        provider=provider.id if provider else "none",
        model=provider.model if provider else "",
        requested_provider=choice.requested,
        sends_text_to=_goes_to(
            at_work, answering, places=[rerank.get("sends_text_to", ""), _cluster_host(manager)]
        ),
        files=index.count_files() if index else 0,
        chunks=index.count_chunks() if index else 0,
        pending=index.count_pending(space_of(provider)) if index and provider else 0,
        dirty=index is None or bool(changed) or is_behind(discovery, known),
        workspace=str(manager.workspace.root),
        agent=settings.agent,
        index_path=str(index_file),
        index_bytes=sum(file.stat().st_size for file in derived if file.is_file()),
        index_note=_CACHED if index_file.parent == manager.workspace.cached_indexes else "",
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
        fts={"enabled": True, "available": index is not None, "error": str(problem) if problem else None},
        vector=_vector(settings, index, provider),
        fallback=(manager.qmd.describe_fallback() if manager.qmd else None) or fallback_of(choice, now),
        spaces=tuple(_space(index, entry) for entry in index.state.spaces) if index else (),
        declined=str(declined) if declined and declined == wanted else "",
        spending={"today": asdict(ledger.today()), "total": asdict(ledger.total())},
        redactions=dict(sorted(kinds.items())),
        last_sync=index.state.synced_at if index else None,
        enabled=settings.enabled,
        warnings=tuple(warnings),
        batch=_batch(settings, index, at_work),
        rerank=rerank,
        scopes=settings.scopes,
    )


def _vector(settings: Settings, index: Index | None, provider: Provider | None) -> Mapping[str, Any]:
    trouble = engine_trouble(settings)
    extension = None  # its file, if the settings ask for one and it is known where it is
    if settings.store.vector.engine == SQLITE_VEC:
        with suppress(StoreError):
            extension = extension_file(settings.store.vector.extension_path)
    dims = (index.vectors.dims() if index else None) or (provider.dims if provider else None)
    return {
        "enabled": settings.store.vector.enabled,
        "available": provider is not None,
        "engine": index.vectors.engine if index else None,
        "vectors": index.vectors.count() if index else 0,
        "dims": dims,
        "dimensions": dims,
        "extension_path": extension,
        "load_error": trouble.what if trouble else None,
    }


def _batch(settings: Settings, index: Index | None, provider: Provider | None) -> Mapping[str, Any]:
    """Describe the batches of a provider: what is set, what waits, and what failed lately."""
    from memlines.index.sync.batch_journal import MOST_FAILURES, PAUSE_SECONDS, Failures, failures_of

    batch = settings.embeddings.batch
    failures, waiting = Failures(), 0
    if index is not None and provider is not None:
        failures = failures_of(index, space_of(provider))
        waiting = sum(
            len(batch.keys) for batch in cache.submitted_batches(index.connection, space_of(provider))
        )
    until = failures.at + PAUSE_SECONDS
    recent = failures.recent(time.time())
    return {
        "enabled": batch.enabled,
        "wait": batch.wait,
        "waiting": waiting,
        "failures": recent,
        "limit": MOST_FAILURES,
        "last_error": failures.error or None,
        "last_provider": provider.id if provider and failures.error else None,
        "paused_until": datetime.fromtimestamp(until, UTC).isoformat(timespec="seconds")
        if recent >= MOST_FAILURES
        else None,
        "concurrency": batch.concurrency,
        "poll_seconds": batch.poll_seconds,
        "timeout_minutes": batch.timeout_minutes,
    }


def _rerank(manager: Manager) -> Mapping[str, Any]:
    """Describe the reranker of the settings; nothing if they name none."""
    wanted = manager.settings.rerank
    if wanted.provider == "none":
        return {}
    reranker, error = None, None
    try:
        reranker = manager.reranker.reranker()
    except EmbeddingError as problem:
        error = str(problem)
    return {
        "provider": wanted.provider,
        "model": reranker.model if reranker else wanted.model or "",
        "sends_text_to": reranker.place if reranker else "",
        "candidates": wanted.candidates,
        "weight": wanted.weight,
        "timeout_ms": wanted.timeout_ms,
        "error": error,
        "probe": None,
    }


def _cluster_host(manager: Manager) -> str:
    if manager.sharing is None:
        return ""
    return f"the Qdrant cluster at {', '.join(manager.sharing.publisher.cluster.hosts)}"


def _goes_to(*providers: Provider | None, places: Sequence[str]) -> str:
    """Say where text goes: to hosts, to servers on this machine, or nowhere."""
    named: dict[str, None] = {}
    for provider in filter(None, providers):
        place = provider.sends_to
        if not place and provider.id in SERVICES:
            from memlines.embed.remote.provider import RemoteProvider

            if isinstance(provider, RemoteProvider):
                place = f"{provider.http.address.host}, on this machine"
        named[place] = None
    named |= dict.fromkeys(places)
    return " and ".join(filter(None, named)) or _LOCAL


def _space(index: Index, entry: SpaceEntry) -> Mapping[str, Any]:
    """Describe a space: whose vectors, how many of all chunks have one, and what it is for."""
    return {
        "provider": entry.space.provider,
        "model": entry.space.model,
        "state": entry.state,
        "vectors": index.count_vectors(entry.space),
        "chunks": index.count_chunks(),
        "dims": entry.dims,
        "note": entry.note,
        "declined": index.state.declined == entry.space,
    }


def fallback_of(choice: Choice, now: SpaceEntry | None) -> Mapping[str, Any] | None:
    """Return which provider was wanted and why another one is used, if that is so."""
    if choice.error is not None:
        instead = choice.provider.id if choice.provider else "none"
        return {"from": choice.requested, "to": instead, "reason": choice.reason}
    if now is not None and now.note:
        return {"from": choice.requested, "to": now.space.provider, "reason": now.note}
    return None


LARGEST_EVAL_FILE = 10_000_000
MOST_RUNS = 200
"""The runs over the private test set whose figures are kept."""


def eval_place(workspace: Workspace, name: str) -> Place:
    """Return where a file of the private test set is."""
    folder = workspace.eval_folder
    is_cached = folder == workspace.cached_indexes
    return Place(name, folder / name, folder if is_cached else workspace.root)


def read_eval_file(workspace: Workspace, name: str) -> bytes:
    """Return what a file of the private test set holds; nothing if there is none."""
    place = eval_place(workspace, name)
    with reading(f"{str(place.real)!r}"):
        return atomic.read(place.real, LARGEST_EVAL_FILE, root=place.root) or b""


def read_runs(workspace: Workspace, last: int = MOST_RUNS) -> list[dict[str, Any]]:
    """Return the figures of the last runs, oldest first; a line that is not one of ours is left out."""
    found = []
    for line in read_eval_file(workspace, HISTORY_FILE).splitlines()[-last:]:
        try:
            row = json.loads(line)
            at = datetime.fromisoformat(row["at"]).astimezone(UTC).isoformat()
            if {*map(type, (row["questions"], row["top1"], row["top3"]))} == {int} and 0 <= row["mrr"] <= 1:
                texts = {name: str(row[name]) for name in ("mode", "provider", "model", "settings", "set")}
                found.append(row | texts | {"at": at})
        except (ValueError, LookupError, TypeError, OverflowError, RecursionError):
            continue
    return found
