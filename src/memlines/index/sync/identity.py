"""What an index is made with: if that changes, all of it is rebuilt but its vectors.

Vectors belong to a space, which is named by the provider and the model. An index can hold several spaces.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from memlines.embed.base import Provider
from memlines.errors import StoreError
from memlines.index.store.sqlite.index import Index
from memlines.index.store.sqlite.vectors import MATRIX, SQLITE_VEC, extension_trouble
from memlines.paths import note_path
from memlines.settings import Settings
from memlines.text.chunk import CHUNKER_VERSION, text_hash
from memlines.text.sentences import SENTENCES_VERSION
from memlines.text.terms import TERMS_VERSION
from memlines.types import Space

REDACTION_VERSION = "3"
"""Goes up when more is taken out of texts than before, so that what is indexed loses it too."""


def identity_of(settings: Settings) -> dict[str, Any]:
    """Return what an index made with these settings would be made with."""
    return {
        "chunker": CHUNKER_VERSION,
        "chunk_tokens": settings.chunking.tokens,
        "chunk_overlap": settings.chunking.overlap,
        "terms": TERMS_VERSION,
        "vector_engine": SQLITE_VEC
        if settings.store.vector.engine == SQLITE_VEC and not engine_trouble(settings)
        else MATRIX,
        "sources": sorted(settings.sources),
        "extra_paths": list(settings.extra_paths),
        "redaction": _redaction(settings),
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


def _redaction(settings: Settings) -> str:
    """Return what tells one set of rules from another; a rule itself may hold what it is to hide."""
    rules = settings.redaction.rules if "sessions" in settings.sources else ()
    return f"{REDACTION_VERSION}-{text_hash(json.dumps(rules))[:12]}" if rules else REDACTION_VERSION


def reason_to_rebuild(index: Index, settings: Settings, *, force: bool = False) -> str:
    """Say in words why an index has to be rebuilt; empty if it need not be."""
    if index.origin == "moved":
        return "the index was made in another place, from which its folder was moved or copied"
    if index.origin == "elsewhere":
        return "the index was not made by this user on this machine"
    changed = difference(index.identity(), identity_of(settings))
    return changed or ("forced" if force and index.synced_at else "")


def difference(made_with: Mapping[str, Any], wanted: Mapping[str, Any]) -> str:
    """Say in words what changed since the index was made; nothing if nothing did."""
    changes = [
        f"{key.replace('_', ' ')} was {made_with.get(key)!r} and is now {wanted[key]!r}"
        for key in wanted
        if made_with.get(key) != wanted[key]
    ]
    return "; ".join(changes)


def covers_same_files(before: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    """Tell whether two indexes are of the same folders; otherwise files may well be in one only."""
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
