"""Decides which provider turns text into vectors.

Choosing loads neither numpy nor a model, so that status and words-only search stay quick.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass

from recollect.embed.base import Provider
from recollect.errors import EmbeddingError, SettingsError

_AVAILABLE = {
    "builtin": ("recollect.embed.builtin.provider", "BuiltinProvider"),
}
"""Where each provider's class is; it is imported when it is chosen."""

_ANNOUNCED = ("local", "openai", "openai-compatible", "gemini", "voyage", "mistral", "ollama")


@dataclass(frozen=True, slots=True)
class Choice:
    """The provider to use; none means search by words only."""

    requested: str
    """The name in the settings."""
    provider: Provider | None
    reason: str = ""
    """Why there is no provider although one was wanted; empty when all is as requested."""


def choose(requested: str) -> Choice:
    """Return the provider for the setting `embeddings.provider`.

    `auto` never fails: where no provider works, search goes by words and `reason` says why.
    A provider asked for by name that does not work is an error.
    """
    if requested == "none":
        return Choice(requested, None)
    if requested == "auto":
        try:
            return Choice(requested, _made("builtin"))
        except EmbeddingError as error:
            return Choice(requested, None, str(error))
    if requested in _AVAILABLE:
        return Choice(requested, _made(requested))
    problem = "is not available in this version" if requested in _ANNOUNCED else "is unknown"
    raise SettingsError(
        f"embeddings.provider {requested!r} {problem}", todo="Set it to auto, builtin or none"
    )


def _made(name: str) -> Provider:
    module, attribute = _AVAILABLE[name]
    provider: Provider = getattr(importlib.import_module(module), attribute)()
    return provider
