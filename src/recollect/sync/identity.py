"""What an index is made with; if any of it changes, the index is built anew."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from recollect.embed.base import Provider
from recollect.settings import Settings
from recollect.store.sqlite.vectors import MATRIX
from recollect.text.chunk import CHUNKER_VERSION
from recollect.text.sentences import SENTENCES_VERSION
from recollect.text.terms import TERMS_VERSION

WORDS_ONLY = "fts-only"
"""The model's name in an index without vectors."""


def identity_of(settings: Settings, provider: Provider | None) -> dict[str, Any]:
    """Return what an index made with these settings would be made with."""
    engine = settings.store.vector.engine
    return {
        "chunker": CHUNKER_VERSION,
        "chunk_tokens": settings.chunking.tokens,
        "chunk_overlap": settings.chunking.overlap,
        "terms": TERMS_VERSION,
        "provider": provider.id if provider else "none",
        "model": provider.model if provider else WORDS_ONLY,
        "provider_key": provider.key if provider else "",
        "sentences": SENTENCES_VERSION if provider and provider.by_sentence else 0,
        "vector_engine": MATRIX if engine == "auto" else engine,
        "sources": sorted(settings.sources),
        "extra_paths": list(settings.extra_paths),
    }


def difference(made_with: Mapping[str, Any], wanted: Mapping[str, Any]) -> str:
    """Say in words what changed since the index was made; nothing if nothing did."""
    changes = [
        f"{key.replace('_', ' ')} was {made_with.get(key)!r} and is now {wanted[key]!r}"
        for key in wanted
        if made_with.get(key) != wanted[key]
    ]
    return "; ".join(changes)


def same_space(made_with: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Tell whether an index holds vectors that can be compared with those now made."""
    return all(made_with.get(key) == wanted[key] for key in ("provider", "model", "provider_key"))
