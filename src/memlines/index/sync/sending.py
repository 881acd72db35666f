"""Prepare the texts of chunks for a provider: what one part of a note tells as a secret is hidden in all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from memlines.embed.base import Provider
from memlines.index.store.sqlite.index import Index
from memlines.text.chunk import text_hash
from memlines.types import Chunk

if TYPE_CHECKING:
    from memlines.text.redaction import Rules


def texts_for(index: Index, provider: Provider, chunks: Sequence[tuple[int, Chunk]]) -> dict[str, str]:
    """Return what a provider may be given of numbered chunks, by the hashes of their texts.

    A provider on this machine reads notes as they are. The secrets of a chunk itself are taken out by the
    provider that sends it; here are hidden the copies of those that another chunk of the note tells.
    """
    if not provider.sends_to:
        return {text_hash(chunk.embedded_text): chunk.embedded_text for _, chunk in chunks}
    from memlines.text.redaction import redact, without_copies  # which takes time to import

    notes = index.notes_of(number for number, _ in chunks)
    rules: Rules | None = getattr(provider, "rules", None)
    told: Mapping[str, Mapping[str, str]] = {
        path: redact("\n".join([chunk.text for chunk in index.chunks_of(path)]), rules).values
        for path in sorted(set(notes.values()))
    }
    texts = {}
    for number, chunk in chunks:
        values = told.get(notes.get(number, ""), {})
        texts[text_hash(chunk.embedded_text)] = without_copies(chunk.embedded_text, values)[0]
    return texts
