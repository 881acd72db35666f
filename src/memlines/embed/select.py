"""Decides which provider turns text into vectors, and what may be sent where.

Text leaves this machine only for a provider that the settings name, as the first or as the fallback, or
that they allow `auto` to take. Choosing loads neither numpy nor a model, so that status and words-only
search stay quick.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

from memlines.embed.automatic import AUTOMATIC, is_pinned, resolved
from memlines.embed.base import Provider
from memlines.errors import EmbeddingError, ProviderUnusable
from memlines.settings import Embeddings, Settings
from memlines.types import Space

_AVAILABLE = {"builtin": ("memlines.embed.builtin.provider", "BuiltinProvider")}
"""Where the embedded provider is; it is imported when it is chosen."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The provider to use; none means search by words only."""

    requested: str
    """The name in the settings."""
    provider: Provider | None
    error: EmbeddingError | None = None
    """Why it is not the provider that was wanted, if it is not."""
    fallback: Callable[[], Provider] | None = None
    """Makes the provider that takes over if this one fails at work."""

    @property
    def reason(self) -> str:
        """The same in a sentence; empty when all is as requested."""
        return str(self.error or "")


def choose(settings: Settings, environ: Mapping[str, str] = os.environ) -> Choice:
    """Return the provider that the settings ask for.

    This never fails: where a provider cannot work, its fallback takes its place, and without one search
    goes by words; `reason` says why.
    """
    wanted = settings.embeddings
    requested = wanted.provider if settings.store.vector.enabled else "none"
    if requested == "none":
        return Choice(requested, None)
    passed_over = None
    try:
        if requested == "auto":
            wanted, passed_over = resolved(wanted, environ)
            settings = replace(settings, embeddings=wanted)
        provider = made(wanted.provider, settings, environ)
    except EmbeddingError as error:
        return _instead(requested, settings, environ, error)
    has_other = wanted.fallback not in ("none", "auto", wanted.provider)
    return Choice(
        requested,
        provider,
        passed_over,
        fallback=(lambda: made(wanted.fallback, settings, environ)) if has_other else None,
    )


def former(space: Space, settings: Settings, environ: Mapping[str, str] = os.environ) -> Provider | None:
    """Return the provider of vectors that an index still answers with, if the settings still allow it."""
    wanted = settings.embeddings
    may_choose = wanted.provider == "auto" and wanted.remote_ok and not is_pinned(wanted)
    try:
        if wanted.provider == "auto":
            wanted, _ = resolved(wanted, environ)
            settings = replace(settings, embeddings=wanted)
        allowed = {"builtin", "local", wanted.provider, wanted.fallback}
        if space.provider not in allowed and not (may_choose and space.provider in AUTOMATIC):
            return None
        return made(space.provider, settings, environ, model=space.model)
    except EmbeddingError:
        return None


def made(
    name: str, settings: Settings, environ: Mapping[str, str] = os.environ, model: str | None = None
) -> Provider:
    """Make a provider by its name; one that cannot work is an error."""
    wanted = settings.embeddings
    if name != wanted.provider:  # address, key and model in the settings belong to the one they name
        wanted = Embeddings(local=wanted.local, batch=wanted.batch, batch_size=wanted.batch_size)
    wanted = replace(wanted, model=model or wanted.model)
    if name in _AVAILABLE:
        module, attribute = _AVAILABLE[name]
        provider: Provider = getattr(importlib.import_module(module), attribute)()
        return provider
    if name == "local":
        from memlines.embed.local.provider import LocalProvider

        return LocalProvider(wanted)
    from memlines.embed.remote.catalogue import REMOTE
    from memlines.embed.remote.provider import RemoteProvider, model_name
    from memlines.embed.spending.budget import Budget
    from memlines.embed.spending.ledger import Ledger
    from memlines.text.redaction import rules_of

    api = REMOTE[name].load()
    budget = Budget(settings.spend, name, model_name(api, wanted), Ledger())
    return RemoteProvider(api, wanted, budget, environ, rules_of(settings.redaction.rules))


def hurried(provider: Provider) -> Provider:
    """Return a provider that gives up early, for work that somebody waits for."""
    return provider.hurried() if isinstance(provider, _Patient) else provider


@runtime_checkable
class _Patient(Protocol):
    def hurried(self) -> Provider: ...


def _instead(requested: str, settings: Settings, environ: Mapping[str, str], error: EmbeddingError) -> Choice:
    """Return the fallback of a provider that cannot work, or search by words."""
    fallback = "builtin" if requested == "auto" else settings.embeddings.fallback
    if fallback in ("none", "auto"):
        return Choice(requested, None, error)
    try:
        return Choice(requested, made(fallback, settings, environ), error)
    except EmbeddingError as second:
        both = ProviderUnusable(f"{error} The fallback cannot help either: {second.what}", todo=second.todo)
        return Choice(requested, None, both)
