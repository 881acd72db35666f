"""The services that make vectors over the network, a line each, and the model that needs none."""

from __future__ import annotations

BUILTIN_MODEL = "use-multilingual-v3"
"""The only model of the provider `builtin`."""

SERVICES: dict[str, tuple[str, tuple[str, ...]]] = {
    "openai": ("OpenAI", ("OPENAI_API_KEY",)),
    "openai-compatible": ("Compatible", ()),
    "gemini": ("Gemini", ("GEMINI_API_KEY", "GOOGLE_API_KEY")),
    "voyage": ("Voyage", ("VOYAGE_API_KEY",)),
    "mistral": ("Mistral", ("MISTRAL_API_KEY",)),
    "ollama": ("Ollama", ()),
}
"""By their names in the settings: the class in `embed/remote/services.py`, and the variables that may hold a
key, in the order they are looked at. A service without any works without a key as well."""
