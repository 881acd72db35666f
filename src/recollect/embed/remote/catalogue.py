"""The remote providers, a line each; the modules are imported when one is chosen."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recollect.embed.remote.api import Api


@dataclass(frozen=True, slots=True)
class Entry:
    """Where a provider's shapes are and which variables may hold its key."""

    module: str
    attribute: str
    keys: tuple[str, ...] = ()
    """In the order they are looked at; a provider without any works without a key as well."""

    def load(self) -> Api:
        """Return the provider's shapes."""
        module = importlib.import_module(f"recollect.embed.remote.{self.module}")
        api: Api = getattr(module, self.attribute)()
        return api


REMOTE = {
    "openai": Entry("openai", "OpenAI", ("OPENAI_API_KEY",)),
    "openai-compatible": Entry("compatible", "Compatible"),
    "gemini": Entry("gemini", "Gemini", ("GEMINI_API_KEY", "GOOGLE_API_KEY")),
    "voyage": Entry("voyage", "Voyage", ("VOYAGE_API_KEY",)),
    "mistral": Entry("mistral", "Mistral", ("MISTRAL_API_KEY",)),
    "ollama": Entry("ollama", "Ollama"),
}
