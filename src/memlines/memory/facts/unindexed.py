"""Recall facts that the index does not hold: those stored a moment ago, or where no index can be written.

They are put into an index in memory and asked the same question there, so their scores mean the same. Words
are always compared; vectors as well if they are made on this machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import nlargest

from memlines.embed.base import Provider
from memlines.errors import EmbeddingError
from memlines.index.search.engine import search, understand, vector_of
from memlines.index.search.legs import Request, Within
from memlines.index.store.sqlite.index import Index
from memlines.memory.facts.near import vectors_of
from memlines.text.chunk import text_hash
from memlines.text.fact_chunks import words_of
from memlines.text.facts import FactLine
from memlines.text.words import telling_words
from memlines.types import Chunk, Document, Fingerprint, Hit

_MOST = 500
"""Facts that are put into an index for one question: of more, those with most words of the query."""

_EMBEDDED = 64
"""Of how many facts the vectors are made, the latest; there are more only while an index is built."""

_ENDING = 3
"""Letters at the end of a word that may differ in another form of it."""

_NOWHERE = Fingerprint(0, 0, 0)


def recall_unindexed(
    lines: Sequence[FactLine], path: str, request: Request, provider: Provider | None, *, timely: bool
) -> list[tuple[FactLine, Hit]]:
    """Return those of some facts that answer a request, with how they do."""
    lines = _promising(lines, request.text)
    if not lines:
        return []
    question = understand(request)
    vector, cosines = None, list[float]()
    if provider is not None and not provider.sends_to:
        try:
            vector = vector_of(question, provider)
            cosines = _cosines(provider, vector, lines[-_EMBEDDED:]) if vector is not None else []
        except EmbeddingError:  # words alone answer; the search of the index says why
            vector = None
    if vector is None:
        question = question.by_words()
    index = Index.in_memory({"facts_file": path, "sources": ["memory"]})
    try:
        index.put(
            Document(path, "memory", "", "", _NOWHERE), list(map(_chunk, lines, range(1, len(lines) + 1)))
        )
        held = {chunk.start_line: number for number, chunk in index.chunks(index.numbers_of([path])).items()}
        near = {held[len(lines) - at]: cosine for at, cosine in enumerate(reversed(cosines))}
        days = {
            held[at]: line.fact.created.isoformat() for at, line in enumerate(lines, 1) if line.fact.created
        }
        within = Within(frozenset(held.values()), days, lambda *_: near, timely, brief=True)
        found = search(index, question, vector, provider.model if provider and vector else "", within)
    finally:
        index.close()
    return [(lines[hit.start_line - 1], hit) for hit in found.hits]


def _promising(lines: Sequence[FactLine], query: str) -> Sequence[FactLine]:
    """Return the facts that may answer, in their order: all, or of many those with words of a query."""
    if len(lines) <= _MOST:
        return lines
    words = [word.casefold() for word in telling_words(query)]
    beginnings = [word[: max(_ENDING, len(word) - _ENDING)] for word in words]
    held = {
        at: sum(beginning in text for beginning in beginnings)
        for at, line in enumerate(lines)
        if (text := line.fact.text.casefold())
    }
    best = nlargest(_MOST, held, key=lambda at: (held[at], at))
    return [lines[at] for at in sorted(best)]


def _cosines(provider: Provider, vector: bytes, lines: Sequence[FactLine]) -> list[float]:
    import numpy as np

    blobs = vectors_of(provider, [words_of(line.fact) for line in lines])
    rows = np.frombuffer(b"".join(blobs), "<f4").reshape(len(blobs), -1)
    return list(map(float, np.vecdot(rows, np.frombuffer(vector, "<f4"))))


def _chunk(line: FactLine, place: int) -> Chunk:
    words = words_of(line.fact)
    return Chunk(place, place, words, text_hash(words), "")
