"""Answer a query from an open index."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from heapq import nlargest
from itertools import islice

from recollect.embed.base import Provider, embed_query, to_blobs
from recollect.embed.passages import best_sentence
from recollect.search import fuse, lexical
from recollect.search.answer import snippet_of
from recollect.search.decay import decayed
from recollect.search.dense import scaled
from recollect.search.diversity import diversified
from recollect.search.query import filter_of, parse
from recollect.settings import Query
from recollect.store.sqlite.index import Index
from recollect.text.terms import title_of
from recollect.types import Hit, IndexedChunk, Mode, Source, Why

_DEPTH = 200
"""Candidates of each leg. It does not depend on how many results are asked for, so neither
does the order of the first ones."""


_NARROWED_DEPTH = 20_000
"""Candidates of each leg where the query narrows the search: most of them will not fit."""

_LOOKED_INTO = 40
"""Candidates of each leg whose sentences are compared with the query one by one."""


@dataclass(frozen=True, slots=True)
class Request:
    """A question and how it is to be answered."""

    text: str
    query: Query
    profile: str
    mode: Mode
    sources: tuple[Source, ...]
    now: datetime
    strict: bool = False
    """Whether `min_score` was asked for in this call, so that nothing below it may be shown."""


@dataclass(frozen=True, slots=True)
class Legs:
    """What each leg found: word scores, vector scores, and the cosines behind those."""

    lexical: dict[int, float]
    vector: dict[int, float]
    cosine: dict[int, float]


def search(index: Index, provider: Provider | None, request: Request) -> list[Hit]:
    """Return the hits of a query, best first; an empty list is an honest answer.

    The caller holds a snapshot of the index, so that everything below speaks of one state of it.
    """
    if not request.text.strip():
        return []
    # Some keyboards send letter and accent apart, which would end a word in the middle.
    asked = parse(unicodedata.normalize("NFC", request.text))
    request = replace(request, text=asked.text)
    vector = None
    if provider is not None and request.mode != "words":
        vector = to_blobs(embed_query(provider, request.text)[None, :])[0]
    depth = _NARROWED_DEPTH if asked.narrows else _DEPTH
    legs = _legs(index, vector, provider.model if provider else "", request, depth)
    scores = _fused(legs, request)
    if not asked.narrows and not _narrowed(index, request):
        scores = _contenders(scores, legs, request)
    chunks = index.chunks(scores)
    if asked.narrows:
        fits = filter_of(asked, lexical.matcher(index, " ".join(asked.without)))
        chunks = {number: chunk for number, chunk in chunks.items() if fits(chunk)}
    ranking = _ranking(scores, chunks, request)
    kept, relaxed = _cut(ranking, legs, request)
    how = _explained(legs, request, relaxed=relaxed)
    matched = lexical.matcher(index, request.text)
    return [_hit(chunks[number], score, legs, matched, how) for number, score in kept]


def _legs(index: Index, vector: bytes | None, model: str, request: Request, depth: int) -> Legs:
    if request.profile == "openclaw":
        return _openclaw_legs(index, vector, request)
    found: dict[int, float] = {}
    if request.mode != "vectors":
        found = lexical.find(index, request.text, depth, _narrowed(index, request))
    if vector is None:
        return Legs(found, {}, {})
    # Search is exact, so the chunks found by words get their true cosine too.
    cosines = index.vectors.nearest(vector, depth, also=found)
    hopeful = {*nlargest(_LOOKED_INTO, cosines, key=cosines.__getitem__), *islice(found, _LOOKED_INTO)}
    sentences = best_sentence(vector, index.vectors.sentences(hopeful))
    return Legs(found, scaled(cosines, sentences, model), cosines)


def _narrowed(index: Index, request: Request) -> tuple[Source, ...]:
    """Return the sources to look in; nothing if that is all there are, which is quicker."""
    held = index.identity().get("sources", [])
    return () if set(held) <= set(request.sources) else request.sources


def _openclaw_legs(index: Index, vector: bytes | None, request: Request) -> Legs:
    query = request.query
    limit = min(_DEPTH, max(1, int(query.max_results * query.hybrid.candidate_multiplier)))
    sources = _narrowed(index, request)
    found: dict[int, float] = {}
    if request.mode != "vectors":
        found = lexical.find_all(index, request.text, limit, sources)
        if not found and vector is None:
            found = lexical.find_each(index, request.text, limit, sources)
    cosines = index.vectors.nearest(vector, limit) if vector is not None else {}
    return Legs(found, cosines, cosines)


def _fused(legs: Legs, request: Request) -> dict[int, float]:
    """Return one score for each candidate; a leg that stands alone is taken as it is."""
    if not legs.vector:
        return legs.lexical
    if request.mode == "vectors":
        return legs.vector
    if request.query.fusion == "evidence":
        return fuse.evidence(legs.lexical, legs.vector)
    hybrid = request.query.hybrid
    fusion = fuse.rrf if request.query.fusion == "rrf" else fuse.weighted
    return fusion(legs.lexical, legs.vector, hybrid.text_weight, hybrid.vector_weight)


def _ranking(
    scores: dict[int, float], chunks: dict[int, IndexedChunk], request: Request
) -> list[tuple[int, float]]:
    """Return the candidates in the order they are shown in, with decay and diversity if asked for."""
    query = request.query
    allowed = {
        number: score
        for number, score in scores.items()
        if number in chunks and chunks[number].source in request.sources
    }
    if query.temporal_decay.enabled:
        half_life = query.temporal_decay.half_life_days
        allowed = {
            number: decayed(score, chunks[number], half_life, request.now)
            for number, score in allowed.items()
        }
    # Equal scores fall in the order of the files, so that an answer does not change by itself.
    ranking = sorted(
        allowed.items(),
        key=lambda item: (-item[1], chunks[item[0]].path, chunks[item[0]].start_line),
    )
    if not query.mmr.enabled:
        return ranking
    texts = {number: chunks[number].text for number, _ in ranking}
    return [(number, allowed[number]) for number in diversified(ranking, texts, query.mmr.lambda_)]


def _contenders(scores: dict[int, float], legs: Legs, request: Request) -> dict[int, float]:
    """Leave out the candidates that cannot be shown, so that they need not be read."""
    query = request.query
    if query.mmr.enabled or query.temporal_decay.enabled:
        return scores  # these change the order, so any of them may come up
    eligible, _ = _eligible(list(scores.items()), legs, request)
    if len(eligible) <= query.max_results:
        return dict(eligible)
    last = nlargest(query.max_results, [score for _, score in eligible])[-1]
    return {number: score for number, score in eligible if score >= last}


def _cut(
    ranking: list[tuple[int, float]], legs: Legs, request: Request
) -> tuple[list[tuple[int, float]], bool]:
    """Return the first of a ranking that may be shown, and whether the bar was lowered for them."""
    eligible, relaxed = _eligible(ranking, legs, request)
    return eligible[: request.query.max_results], relaxed


def _eligible(
    ranking: list[tuple[int, float]], legs: Legs, request: Request
) -> tuple[list[tuple[int, float]], bool]:
    """Keep what reaches `min_score`; if nothing does, keep what at least holds the words, unless strict."""
    good = [item for item in ranking if item[1] >= request.query.min_score]
    if good or request.strict:
        return good, False
    return [item for item in ranking if legs.lexical.get(item[0], 0.0) > 0], True


def _hit(
    chunk: IndexedChunk, score: float, legs: Legs, matched: Callable[[str, str], tuple[str, ...]], how: str
) -> Hit:
    words = matched(f"{title_of(chunk.path, chunk.heading)}\n{chunk.text}", chunk.language)
    return Hit(
        path=chunk.path,
        start_line=chunk.start_line,
        end_line=chunk.end_line,
        score=min(1.0, max(0.0, score)),
        snippet=snippet_of(chunk.text, lambda text: matched(text, chunk.language)),
        source=chunk.source,
        heading=chunk.heading,
        why=Why(words, legs.lexical.get(chunk.number), legs.cosine.get(chunk.number), how),
    )


def _explained(legs: Legs, request: Request, *, relaxed: bool) -> str:
    """Say in words how the scores came about."""
    query = request.query
    text, vector = query.hybrid.text_weight, query.hybrid.vector_weight
    if not legs.vector:
        how = "words only"
    elif request.mode == "vectors":
        how = "vectors only"
    elif query.fusion == "evidence":
        how = "words and vectors as independent evidence"
    elif query.fusion == "rrf":
        how = f"reciprocal ranks of {text:g} words and {vector:g} vectors"
    else:
        how = f"{text:g} words + {vector:g} vectors"
    if query.temporal_decay.enabled:
        how += ", faded with age"
    if query.mmr.enabled:
        how += ", spread over different texts"
    if relaxed:
        how += f", kept below {query.min_score:g} because it holds the words"
    return how
