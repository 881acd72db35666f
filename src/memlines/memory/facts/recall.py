"""Recall facts: search them like notes, but judge them as the single sentences they are."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from heapq import nlargest
from typing import Any

from memlines.embed.base import Provider
from memlines.embed.passages import embed_passages, unpack
from memlines.errors import EmbeddingError, StoreError
from memlines.index.search.order import MOST_WEAK
from memlines.index.search.query import Query, parse_query
from memlines.index.search.retrievers import CandidateSet, Nearest
from memlines.index.search.run import embed, search
from memlines.index.store.sqlite.chunks import chunks_in, note_state, places_in
from memlines.index.store.sqlite.index import Index
from memlines.memory.answering import search_fresh
from memlines.memory.background import silent
from memlines.memory.manager import Manager
from memlines.settings import Loaded, overridden
from memlines.text.chunk import text_hash
from memlines.text.fact_note import words_of
from memlines.text.facts import Fact, FactLine
from memlines.text.words import telling_words
from memlines.types import Band, Chunk, Document, Fingerprint, Hit, Mode, cite


@dataclass(frozen=True, slots=True)
class FactStore:
    """The facts that the index holds as they stand in the note now, by the numbers of their chunks."""

    lines: Mapping[int, FactLine] = field(default_factory=dict)
    by_start: Mapping[int, FactLine] = field(default_factory=dict)
    """The same by the line that a chunk begins with in the index."""
    numbers: Mapping[str, int] = field(default_factory=dict)
    """The numbers by the ids of facts."""
    all: frozenset[int] = frozenset()
    current: frozenset[int] = frozenset()
    days: dict[int, str] = field(default_factory=dict)
    """When they were written down, in the order of the note."""
    missing: Sequence[FactLine] = ()
    """The facts that the index does not hold, in the order of the note."""


class FactStores:
    """The store of the present state, made anew when the note or the index has changed.

    Facts that were added to the end of the note, and chunks to the index, are added to it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._state: Hashable = None
        self._lines: Sequence[FactLine] = ()
        self._rows: list[tuple[int, int]] = []
        self._last = FactStore()

    def of(self, index: Index, path: str, lines: Sequence[FactLine]) -> FactStore:
        """Return where the index holds the facts of a note; the caller holds a snapshot of the index."""
        state = state_of(index, path)
        with self._lock:
            if self._state != state or self._lines is not lines:
                self._last = self._made(index, path, lines, is_same_index=self._state == state)
                self._state, self._lines = state, lines
            return self._last

    def _made(self, index: Index, path: str, lines: Sequence[FactLine], *, is_same_index: bool) -> FactStore:
        known = self._lines
        rows = self._rows if is_same_index else places_in(index.connection, path)
        before, self._rows = self._rows, rows
        has_grown = len(known) <= len(lines) and lines[: len(known)] == known
        if not (known and has_grown and rows[: len(before)] == before):
            return _filled(chunks_in(index.connection, path), lines)
        last = self._last
        waiting = [*last.missing, *lines[len(known) :]]
        if len(rows) == len(before):
            return replace(last, missing=waiting)
        numbers = [number for number, _ in rows[len(before) :]]
        new = _filled(chunks_in(index.connection, path, numbers), waiting)
        return FactStore(
            {**last.lines, **new.lines},
            {**last.by_start, **new.by_start},
            {**last.numbers, **new.numbers},
            last.all | new.all,
            last.current | new.current,
            {**last.days, **new.days},
            new.missing,
        )


def state_of(index: Index, path: str) -> tuple[str, str, int]:
    """Return what changes whenever an index holds a note otherwise than before."""
    return (index.birth, *note_state(index.connection, path))


def _filled(chunks: Iterable[tuple[int, int, str]], lines: Sequence[FactLine]) -> FactStore:
    pieces: dict[int, list[tuple[int, str]]] = {}
    for number, start, text in chunks:
        pieces.setdefault(start, []).append((number, text))
    held: dict[int, FactLine] = {}
    starts: dict[int, FactLine] = {}
    for line in lines:
        own = pieces.get(line.first, ())
        if own and _is_cut_from(words_of(line.fact), [text for _, text in own]):
            held.update((number, line) for number, _ in own)
            starts[line.first] = line
            del pieces[line.first]
    missing: list[FactLine] = []
    if len(starts) < len(lines):  # somebody wrote since the index was made: what says the same is the same
        moved = {text: (start, number) for start, [(number, text), *_] in pieces.items()}
        for line in [line for line in lines if starts.get(line.first) is not line]:
            if words_of(line.fact) in moved:
                start, number = moved.pop(words_of(line.fact))
                held[number] = starts[start] = line
            else:
                missing.append(line)
    return FactStore(
        held,
        starts,
        {line.fact.id: number for number, line in held.items()},
        frozenset(held),
        frozenset(number for number, line in held.items() if line.fact.is_current),
        {number: line.fact.created.isoformat() for number, line in held.items() if line.fact.created},
        missing,
    )


def _is_cut_from(words: str, texts: Sequence[str]) -> bool:
    """Tell whether texts are what a fact says: all of it at once, or in pieces if it is long."""
    return words == texts[0] if len(texts) == 1 else all(text.strip() in words for text in texts)


@dataclass(frozen=True, slots=True)
class Found:
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
    """The facts that answer a query, best first, and what should be told about how they were found."""

    found: tuple[Found, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def confident(self) -> bool:
        """Whether a fact is a strong or likely answer; if not, those that are shown are only the nearest."""
        return any(one.band != "weak" for one in self.found)


@dataclass(frozen=True, slots=True)
class Source:
    """Where the facts of an open index are, and who tells the nearest of them, if not the index."""

    store: FactStore
    nearest: Nearest | None


def parse_facts_query(
    loaded: Loaded, said: str, limit: int, min_score: float | None, now: datetime | None, mode: Mode
) -> Query:
    """Return a query for facts; whatever is set for notes, their scores are probabilities."""
    likely = loaded.settings.facts.recall_min_score
    asked = {"query.max_results": limit, "query.min_score": likely, "query.fusion": "evidence"}
    settings = overridden(loaded, asked)
    return parse_query(
        said,
        settings.query,
        "default",
        mode=mode,
        sources=settings.sources,
        now=now or datetime.now(UTC),
        cut=min_score,
        full=True,
    )


def recall(
    manager: Manager,
    query: Query,
    path: str,
    lines: Sequence[FactLine],
    source_in: Callable[[Index], Source],
    *,
    current_only: bool,
    timely: bool,
) -> tuple[Recollection, Sequence[FactLine]]:
    """Return the facts that answer a query, from the index as it is after a look at the files.

    Return those of the note as well that the index does not hold; one that cannot be used holds none.
    """
    store = FactStore(missing=lines)

    def facts_alone(index: Index) -> CandidateSet:
        nonlocal store
        source = source_in(index)
        store = source.store
        numbers = store.current if current_only else store.all
        return CandidateSet(numbers, store.days, source.nearest, timely, brief=True)

    try:
        result = search_fresh(manager, query, silent, facts_alone)
    except StoreError as error:
        return Recollection((), (f"facts were found without the index: {error}",)), lines
    found: dict[str, Found] = {}
    for hit in result:  # of a long fact several pieces may answer
        line = store.by_start[hit.start_line]
        found.setdefault(line.fact.id, found_as(hit, line, path))
    return Recollection(tuple(found.values()), result.warnings), store.missing


def clipped(cosine: float | None) -> float | None:
    """Return a cosine as a similarity from 0 to 1."""
    return None if cosine is None else min(1.0, max(0.0, cosine))


def found_as(hit: Hit, line: FactLine, path: str) -> Found:
    """Return a fact with how it was found."""
    place = cite(path, line.first, line.last)
    return Found(line.fact, hit.score, clipped(hit.why.vector), place, hit.band)


def best_of(found: Iterable[Found], limit: int, *, cut: bool) -> tuple[Found, ...]:
    """Return the best of what the index and the note told apart, as one search would.

    Unless they were cut off by a score, weak ones are shown only where nothing better is, and only a few.
    """
    ranked = sorted(found, key=lambda one: one.score, reverse=True)
    sure = [one for one in ranked if one.band != "weak"]
    shown = ranked[:limit] if cut else sure[:limit] or ranked[: min(limit, MOST_WEAK)]
    first, others = shown[:1], shown[1:]  # only the best is strong
    return (*first, *(replace(one, band="likely") if one.band == "strong" else one for one in others))


_MOST = 500
"""Facts that are put into an index for one question: of more, those with most words of the query."""

_EMBEDDED = 64
"""Of how many facts the vectors are made, the latest; there are more only while an index is built."""

_ENDING = 3
"""Letters at the end of a word that may differ in another form of it."""

_NOWHERE = Fingerprint(0, 0, 0)


def recall_unindexed(
    lines: Sequence[FactLine], path: str, query: Query, provider: Provider | None, *, timely: bool
) -> list[tuple[FactLine, Hit]]:
    """Return those of some facts that answer a request, with how they do."""
    lines = _promising(lines, query.said)
    if not lines:
        return []
    vector, cosines = None, list[float]()
    if provider is not None and not provider.sends_to:
        try:
            vector = embed(query, provider)
            cosines = _cosines(provider, vector, lines[-_EMBEDDED:]) if vector is not None else []
        except EmbeddingError:  # words alone answer; the search of the index says why
            vector = None
    if vector is None:
        query = replace(query, mode="words")
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
        within = CandidateSet(frozenset(held.values()), days, lambda *_: near, timely, brief=True)
        hits, _ = search(index, query, vector, provider.model if provider and vector else "", within)
    finally:
        index.close()
    return [(lines[hit.start_line - 1], hit) for hit in hits]


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


def vectors_of(provider: Provider, texts: Sequence[str]) -> list[bytes]:
    """Return the vectors of texts as the index would hold them."""
    packed = embed_passages(provider, texts)
    dims = provider.dims
    return [unpack(blob, dims)[0] if dims else blob for blob in packed]
