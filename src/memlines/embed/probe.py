"""Try a provider with one call, and tell whether it is the one that the settings ask for."""

from __future__ import annotations

from memlines.embed.base import Provider, embed_query
from memlines.embed.select import Choice
from memlines.errors import EmbeddingError
from memlines.types import Probe

_WORD = "memory"


def probed(provider: Provider) -> str:
    """Have one word embedded and say what came of it; a provider that does not work is an error."""
    vector = embed_query(provider, _WORD)
    given = f"; {provider.sends_to} was given the word {_WORD!r}" if provider.sends_to else ""
    return f"it works and returns {len(vector)} numbers a text{given}"


def probe_embedding(choice: Choice, at_work: Provider | None, stand_in: str, note: str) -> Probe:
    """Tell whether the provider that the settings ask for makes vectors.

    `stand_in` is the provider that took its place while it did not work, if one did, for the reason `note`.
    """
    requested = choice.requested
    serving = stand_in or (at_work.id if at_work else "none")
    if choice.error is not None:
        return Probe(False, requested, serving, choice.error.what, choice.error.todo, choice.error.code)
    if at_work is None:
        return Probe(True, requested, "none", "there is no provider to ask; search goes by words")
    try:
        works = probed(at_work)
    except EmbeddingError as error:
        return Probe(False, requested, stand_in or "none", error.what, error.todo, error.code)
    if stand_in:
        reason = f"{at_work.id} works again, but {stand_in} still answers, because of this: {note}"
        return Probe(False, requested, serving, reason, "Run 'memlines sync'", EmbeddingError.code)
    return Probe(True, requested, serving, works)
