"""Try a provider with one call."""

from __future__ import annotations

from recollect.embed.base import Provider, embed_query

_WORD = "memory"


def probed(provider: Provider) -> str:
    """Have one word embedded and say what came of it; a provider that does not work is an error."""
    vector = embed_query(provider, _WORD)
    given = f"; {provider.sends_to} was given the word {_WORD!r}" if provider.sends_to else ""
    return f"it works and returns {len(vector)} numbers a text{given}"
