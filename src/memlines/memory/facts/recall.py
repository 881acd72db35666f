"""Recall facts: search them like notes, but rank them as the single sentences they are.

Facts that the index does not hold, because they were stored a moment ago or because no index can be written,
are put into an index in memory and asked the same question there, so their scores mean the same. Words are
always compared; vectors as well if they are made on this machine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from datetime import UTC, datetime
from heapq import nlargest
from typing import TYPE_CHECKING, Any

from memlines.embed.base import Provider
from memlines.embed.codec import cosines, unpack
from memlines.embed.passages import embed_passages
from memlines.errors import EmbeddingError, StoreError
from memlines.index.search.query import Query, parse_query
from memlines.index.search.retrievers import CandidateSet
from memlines.index.search.run import MOST_WEAK, embed, search
from memlines.index.store.sqlite.index import Index
from memlines.memory.answering import search_fresh
from memlines.memory.facts.entities import Meant, find_meant, names_in
from memlines.memory.facts.note import FactStore
from memlines.memory.manager import Manager
from memlines.memory.open_index import silent
from memlines.memory.scopes import MOST_NEAREST, first_of, has_facts, list_scopes, merge_warnings
from memlines.records import dataclass
from memlines.text.aliases import Expansion
from memlines.text.chunk import text_hash
from memlines.text.fact_note import is_in_scope, split_scope
from memlines.text.fact_note import words_of as indexed_words
from memlines.text.facts import Fact, FactLine
from memlines.text.terms import telling_words, words_of
from memlines.types import Band, Chunk, Document, Fingerprint, Hit, Mode, cite

if TYPE_CHECKING:
    from memlines.memory.memory import Memory

_MOST_FURTHER = 2
"""Facts that are shown because the best one leads to them."""

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
    words: tuple[str, ...] = ()
    """The words of the query that it holds, in any form or by another name."""

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
    """The facts, best first."""
    warnings: tuple[str, ...] = ()
    corrections: Mapping[str, str] = field(default_factory=dict)
    """Words of the query that nothing holds, and those that were searched instead."""
    aliases: Mapping[str, str] = field(default_factory=dict)
    """Names and descriptions in the query, and others for the same that were searched too."""

    @property
    def confident(self) -> bool:
        """Whether a fact is a strong or likely answer; if not, those that are shown are only the nearest."""
        return any(one.band != "weak" for one in self.found)


@dataclass(frozen=True, slots=True)
class _Limits:
    """Which facts may answer, and whether a person or an agent asks for them."""

    current_only: bool
    scope: str | None
    asked: bool

    def allow(self, fact: Fact) -> bool:
        is_in = self.scope is None or is_in_scope(fact, self.scope)
        return is_in and (fact.is_current or not self.current_only)


def recall_facts(memory: Memory, query: str, *, limit: int = 5, **options: Any) -> Recollection:
    """Return the facts of both memories that answer a query, best first; `options` are those of `Facts`."""
    warnings: list[str] = []
    answers = [
        one.facts.recall(query, limit, **options)
        for one in list_scopes(memory, warnings)
        if one is memory or has_facts(one)
    ]
    confident = [one for one in answers if one.confident]
    by_score = options.get("min_score") is not None  # of the caller: everything above it is wanted
    chosen = confident if confident and not by_score else answers
    most = limit if confident or by_score else min(limit, MOST_NEAREST)
    found = sorted((one for answer in chosen for one in answer.found), key=lambda one: -one.score)
    return Recollection(
        tuple(found[:most]),
        merge_warnings(*(answer.warnings for answer in answers), warnings),
        first_of([answer.corrections for answer in chosen]),
        first_of([answer.aliases for answer in chosen]),
    )


def recall(
    manager: Manager,
    query: str,
    limit: int,
    min_score: float | None,
    now: datetime | None,
    mode: Mode,
    *,
    current_only: bool,
    asked: bool,
) -> Recollection:
    """Return the facts that answer a query, best first, after a look at the files.

    Only what is `asked` for is corrected, limited to a scope, answered by its days, or by a second step.
    """
    lines = manager.fact_table.note.lines()
    scope, query = split_scope(query) if asked else (None, query)
    if not query.strip() or not lines:
        return Recollection()
    limits = _Limits(current_only, scope, asked)
    parsed = _parse(manager, query, limit, min_score, now, mode)
    aliases = manager.aliases.read().expand(parsed.text)
    meant = find_meant(aliases.replaced(parsed.text), lines)
    more = aliases | meant.expansion
    also = (word for word, others in more.same.items() if not meant.words.isdisjoint(others))
    meant = replace(meant, words=meant.words.union(also))
    settings = replace(parsed.settings, max_results=limit + len(meant.lines))
    # What is said about somebody who is meant need not be likely by itself.
    cut = 0.0 if meant.lines and min_score is None else min_score
    parsed = replace(parsed, corrects=asked, settings=settings, cut=cut).expand(more)
    result = _find(manager, parsed, limits)
    ranked = _put_answers_first(result.found, parsed, meant)
    if min_score is not None:
        shown = ranked[:limit]
    else:  # weak ones are shown only where nothing better is, and only a few
        shown = [one for one in ranked if one.band != "weak"] or ranked[:MOST_WEAK]
        if asked and shown and shown[0].band != "weak":
            shown[1:1] = _step_on(manager, parsed, limits, shown, ranked, meant)
        shown = shown[:limit]
    for at, one in enumerate(shown[1:], 1):  # only the best is strong
        shown[at] = replace(one, band="likely") if one.band == "strong" else one
    return replace(result, found=tuple(shown), aliases=more.shown)


def _find(manager: Manager, query: Query, limits: _Limits) -> Recollection:
    """Return the facts that a parsed query finds in the index, and among those that it does not hold."""
    table = manager.fact_table
    lines = table.note.lines()
    store = FactStore(missing=lines)

    def only_facts(index: Index) -> CandidateSet:
        nonlocal store
        store, nearest = table.look(index, current_only=limits.current_only)
        numbers = store.current if limits.current_only else store.all
        if limits.scope is not None:  # what is nearest in the table may be in other scopes
            numbers = frozenset(one for one in numbers if limits.allow(store.lines[one].fact))
            nearest = None
        return CandidateSet(numbers, store.days, nearest, limits.asked, brief=True)

    path = manager.prefix + table.note.path
    found: dict[str, FoundFact] = {}
    warnings: tuple[str, ...]
    corrections: Mapping[str, str] = {}
    table.prepare()
    try:
        result = search_fresh(manager, query, silent, only_facts)
    except StoreError as error:
        warnings = (f"facts were found without the index: {error}",)
        store = FactStore(missing=lines)
    else:
        warnings, corrections = result.warnings, result.corrections
        for hit in result:  # of a long fact several pieces may answer
            line = store.by_start[hit.start_line]
            found.setdefault(line.fact.id, _found(hit, line, path))
    missing = [line for line in store.missing if limits.allow(line.fact)]
    if missing:
        provider = manager.chosen().provider
        others = _recall_unindexed(missing, path, query, provider, timely=limits.asked)
        found.update((one.fact.id, one) for one in others)
    ranked = sorted(found.values(), key=lambda one: one.score, reverse=True)
    return Recollection(tuple(ranked), (*warnings, *table.take_troubles()), corrections)


def _put_answers_first(ranked: Sequence[FoundFact], query: Query, meant: Meant) -> list[FoundFact]:
    """Put facts that only say who is who behind the best one that says more about them, if more is asked."""
    order = list(ranked)
    if meant.words.issuperset(telling_words(query.text)):
        return order
    names = {line.fact.id for line in meant.lines}
    about = [one for one in order if one.band != "weak" and _is_about(one, meant)]
    for one in [one for one in order if one.fact.id in names and meant.words.issuperset(one.words)]:
        if about and order.index(about[0]) > order.index(one):
            order.remove(one)
            order.insert(order.index(about[0]) + 1, one)
    return order


def _is_about(one: FoundFact, meant: Meant) -> bool:
    """Return whether a fact says something about who or what is meant, beside who it is."""
    is_name = any(line.fact.id == one.fact.id for line in meant.lines)
    return not is_name and not meant.words.isdisjoint(one.words)


def _step_on(
    manager: Manager,
    query: Query,
    limits: _Limits,
    shown: Sequence[FoundFact],
    ranked: Sequence[FoundFact],
    meant: Meant,
) -> list[FoundFact]:
    """Return facts that the best one leads to, if it does not answer all: "Coral" of "Coral starts at 02:15".

    These are about a name in it that the query does not have. If the best only says who is meant, they
    are about that one.
    """
    best = shown[0]
    if any(line.fact.id == best.fact.id for line in meant.lines):
        about = [one for one in ranked if _is_about(one, meant)]
        return [one for one in about if one not in shown][: 0 if any(one in shown for one in about) else 1]
    rest = {*telling_words(query.text)} - {*best.words} - meant.words
    names = names_in(best.fact.text) - {word.casefold() for word in words_of(query.text)}
    if not rest or not names or meant.lines:
        return []
    provider = manager.chosen().provider
    mode = query.mode if provider is not None and not provider.sends_to else "words"
    further = query.expand(Expansion((" ".join(names),)))
    found = _find(manager, replace(further, mode=mode, corrects=False), limits).found
    return [
        one
        for one in found
        if one.band != "weak"
        and not names.isdisjoint(word.casefold() for word in words_of(one.fact.text))
        and one.fact.id not in {known.fact.id for known in shown}
    ][:_MOST_FURTHER]


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
    return FoundFact(line.fact, hit.score, to_similarity(hit.why.vector), place, hit.band, hit.why.words)


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
                    vector, embed_texts(provider, [indexed_words(line.fact) for line in lines[-_EMBEDDED:]])
                )
        except EmbeddingError:  # words alone answer; the search of the index says why
            vector = None
    if vector is None:
        query, near = replace(query, mode="words"), []
    chunks = []
    for place, line in enumerate(lines, 1):
        words = indexed_words(line.fact)
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
    """Return the vectors of texts as the index holds them."""
    packed = embed_passages(provider, texts, by_sentence=False)
    dims = provider.dims
    return [unpack(blob, dims)[0] if dims else blob for blob in packed]
