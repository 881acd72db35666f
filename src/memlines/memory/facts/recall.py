"""Recall facts: search them like notes, but rank them as the single sentences they are.

Facts that the index does not hold, because they were stored a moment ago or because no index can be written,
are put into an index in memory and asked the same question there, so their scores mean the same. Words are
always compared; vectors as well if they are made on this machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from heapq import nlargest
from typing import Any

from memlines.embed.base import Provider
from memlines.embed.passages import embed_passages, unpack
from memlines.errors import EmbeddingError, StoreError
from memlines.index.search.query import Query, parse_query
from memlines.index.search.retrievers import CandidateSet
from memlines.index.search.run import MOST_WEAK, embed, search
from memlines.index.store.sqlite.index import Index
from memlines.memory.answering import search_fresh
from memlines.memory.facts.note import FactStore, cosines
from memlines.memory.manager import Manager
from memlines.memory.open_index import silent
from memlines.text.chunk import text_hash
from memlines.text.fact_note import words_of
from memlines.text.facts import Fact, FactLine
from memlines.text.terms import telling_words
from memlines.types import Band, Chunk, Document, Fingerprint, Hit, Mode, cite

_MOST = 500
"""Facts that are put into an index for one question: of more, those with most words of the query."""

_EMBEDDED = 64
"""Of how many facts the vectors are made, the latest; there are more only while an index is built."""

_ENDING = 3
"""Letters at the end of a word that may differ in another form of it."""


@dataclass(frozen=True, slots=True)
class FoundFact:
    """A fact that was found."""

    fact: Fact
    score: float
    """How likely it answers the query."""
    similarity: float | None
    """The cosine of both vectors, from 0 to 1; nothing where there is no vector."""
    citation: str
    band: Band = "weak"
    """How sure it is that it answers."""

    def to_json(self) -> dict[str, Any]:
        """Return it with field names that stay."""
        return {
            **self.fact.to_json(),
            "score": round(self.score, 4),
            "band": self.band,
            "similarity": None if self.similarity is None else round(self.similarity, 4),
            "citation": self.citation,
        }


@dataclass(frozen=True, slots=True)
class Recollection:
    """The facts that answer a query, best first, and what should be reported about how they were found."""

    found: tuple[FoundFact, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def confident(self) -> bool:
        """Whether a fact is a strong or likely answer; if not, those that are shown are only the nearest."""
        return any(one.band != "weak" for one in self.found)


def recall(
    manager: Manager,
    query: str,
    limit: int,
    min_score: float | None,
    now: datetime | None,
    mode: Mode,
    *,
    current_only: bool,
    timely: bool,
) -> Recollection:
    """Return the facts that answer a query, best first, after a look at the files."""
    table = manager.fact_table
    lines = table.note.lines()
    if not query.strip() or not lines:
        return Recollection()
    parsed = _parse(manager, query, limit, min_score, now, mode)
    store = FactStore(missing=lines)

    def only_facts(index: Index) -> CandidateSet:
        nonlocal store
        store, nearest = table.look(index, current_only=current_only)
        numbers = store.current if current_only else store.all
        return CandidateSet(numbers, store.days, nearest, timely, brief=True)

    found: dict[str, FoundFact] = {}
    warnings: tuple[str, ...]
    table.prepare()
    try:
        result = search_fresh(manager, parsed, silent, only_facts)
    except StoreError as error:
        warnings = (f"facts were found without the index: {error}",)
        store = FactStore(missing=lines)
    else:
        warnings = result.warnings
        for hit in result:  # of a long fact several pieces may answer
            line = store.by_start[hit.start_line]
            found.setdefault(line.fact.id, _found(hit, line, table.note.path))
    missing = [line for line in store.missing if line.fact.is_current or not current_only]
    if missing:
        provider = manager.chosen().provider
        others = _recall_unindexed(missing, table.note.path, parsed, provider, timely=timely)
        found.update((one.fact.id, one) for one in others)
    ranked = sorted(found.values(), key=lambda one: one.score, reverse=True)
    sure = [one for one in ranked if one.band != "weak"]
    # Unless they were cut off by a score, weak ones are shown only where nothing better is, and only a few.
    shown = ranked[:limit] if min_score is not None else sure[:limit] or ranked[: min(limit, MOST_WEAK)]
    for at, one in enumerate(shown[1:], 1):  # only the best is strong
        shown[at] = replace(one, band="likely") if one.band == "strong" else one
    return Recollection(tuple(shown), (*warnings, *table.take_troubles()))


def _parse(
    manager: Manager, query: str, limit: int, min_score: float | None, now: datetime | None, mode: Mode
) -> Query:
    """Return a query for facts; the scores of facts are probabilities, whatever is set for notes."""
    likely = manager.settings.facts.recall_min_score
    return parse_query(
        query,
        replace(manager.settings.query, max_results=limit, min_score=likely, fusion="evidence"),
        "default",
        mode=mode,
        sources=manager.settings.sources,
        now=now or datetime.now(UTC),
        cut=min_score,
        full=True,
    )


def _found(hit: Hit, line: FactLine, path: str) -> FoundFact:
    place = cite(path, line.first, line.last)
    return FoundFact(line.fact, hit.score, to_similarity(hit.why.vector), place, hit.band)


def to_similarity(cosine: float | None) -> float | None:
    """Return a cosine as a similarity from 0 to 1."""
    return None if cosine is None else min(1.0, max(0.0, cosine))


def _recall_unindexed(
    lines: Sequence[FactLine], path: str, query: Query, provider: Provider | None, *, timely: bool
) -> list[FoundFact]:
    """Return those of some facts that answer a query, although the index does not hold them."""
    lines = _promising(lines, query.said)
    vector, near = None, list[float]()
    if provider is not None and not provider.sends_to:
        try:
            vector = embed(query, provider)
            if vector is not None:
                near = cosines(
                    vector, embed_texts(provider, [words_of(line.fact) for line in lines[-_EMBEDDED:]])
                )
        except EmbeddingError:  # words alone answer; the search of the index says why
            vector = None
    if vector is None:
        query, near = replace(query, mode="words"), []
    chunks = []
    for place, line in enumerate(lines, 1):
        words = words_of(line.fact)
        chunks.append(Chunk(place, place, words, text_hash(words), ""))
    index = Index.in_memory({"facts_file": path, "sources": ["memory"]})
    try:
        index.put(Document(path, "memory", "", "", Fingerprint(0, 0, 0)), chunks)
        held = {chunk.start_line: number for number, chunk in index.chunks(index.numbers_of([path])).items()}
        by_number = {held[len(lines) - at]: cosine for at, cosine in enumerate(reversed(near))}
        days = {
            held[at]: line.fact.created.isoformat() for at, line in enumerate(lines, 1) if line.fact.created
        }
        within = CandidateSet(frozenset(held.values()), days, lambda *_: by_number, timely, brief=True)
        hits = search(index, query, vector, provider.model if provider and vector else "", within).hits
    finally:
        index.close()
    return [_found(hit, lines[hit.start_line - 1], path) for hit in hits]


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


def embed_texts(provider: Provider, texts: Sequence[str]) -> list[bytes]:
    """Return the vectors of texts as the index would hold them."""
    packed = embed_passages(provider, texts)
    dims = provider.dims
    return [unpack(blob, dims)[0] if dims else blob for blob in packed]
