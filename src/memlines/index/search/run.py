"""Answer a query from an open index."""

from __future__ import annotations

from collections.abc import Sequence

from memlines.embed.base import Provider, embed_query, to_blobs
from memlines.embed.passages import sentence_cosines
from memlines.index.search.order import choose
from memlines.index.search.passages import Passage, excerpt_of, passage_of, whole
from memlines.index.search.query import NO_FILTERS, Query, days_evidence, known_days_evidence, make_filter
from memlines.index.search.rank import (
    band_of,
    estimate,
    estimate_brief,
    fuse,
    fuse_evidence,
    probability,
    word_evidence,
)
from memlines.index.search.retrievers import CandidateSet, RetrieverResults, retrieve
from memlines.index.search.words import MatchedChunks, look_up, match_any
from memlines.index.store.sqlite.index import Index
from memlines.types import Hit, IndexedChunk, Why


def embed(query: Query, provider: Provider) -> bytes | None:
    """Return the vector of a query, which may take as long as a service takes to answer."""
    if query.is_empty or not query.text or query.mode == "words":
        return None
    return to_blobs(embed_query(provider, query.text)[None, :])[0]


def search(
    index: Index, query: Query, vector: bytes | None, model: str, within: CandidateSet | None = None
) -> tuple[tuple[Hit, ...], float | None]:
    """Return the hits of a query, best first; if there are none, also how near the nearest candidate came.

    Only the chunks that `within` names may answer, if it is given. Without a likely answer, the nearest
    candidates are weak hits, unless the query cuts them off. No hits are an honest answer.

    The caller holds a snapshot of the index, so that everything below speaks of one state of it.
    """
    if query.is_empty:
        return (), None
    # Naming no source where all of them may answer is quicker.
    sources = () if set(index.identity().get("sources", [])) <= set(query.sources) else query.sources
    words = look_up(index, query.text)
    chunks = MatchedChunks(index, words)
    found = retrieve(index, query, words, vector, model, sources, within)
    scores = fuse(query, found)
    timely: dict[int, float] = {}
    if query.is_calibrated and query.spans:
        if within is None:
            timely = days_evidence(index, query)
        elif within.timely:
            known = known_days_evidence(within.days, query)
            timely = {number: evidence for number, evidence in known.items() if number in within.numbers}
        scores = fuse_evidence(scores, timely) if timely else scores
    if sources or query.filters != NO_FILTERS:
        days = within.days if within else None
        fits = make_filter(query, match_any(index, query.filters.without), days)
        scores = {number: scores[number] for number, chunk in chunks.read(scores).items() if fits(chunk)}
    if query.is_calibrated:
        estimator = estimate_brief if within and within.brief else estimate
        scores = estimator(query, scores, found, timely, chunks)
    shown, weak = choose(query, scores, found, chunks)
    if not shown:
        return (), max(scores.values(), default=None)
    passages = _passages(index, query, [chunks.known[number] for number, _ in shown], chunks, vector)
    best = max([score for _, score in shown])
    how = _explain(query, found, weak=weak)
    hits = [
        _hit(query, chunks.known[number], passage, score, best, found, chunks, how)
        for (number, score), passage in zip(shown, passages, strict=True)
    ]
    return tuple(hits), None


def _passages(
    index: Index,
    query: Query,
    shown: Sequence[IndexedChunk],
    chunks: MatchedChunks,
    vector: bytes | None,
) -> list[Passage]:
    """Return what is shown of each chunk: the passage that answers, unless all of it was asked for."""
    if query.full:
        return [whole(chunk) for chunk in shown]
    if query.profile == "openclaw":  # which cites chunks
        return [excerpt_of(chunk, chunks) for chunk in shown]
    near: dict[int, list[float]] = {}
    if vector is not None:
        near = sentence_cosines(vector, index.vectors.sentences([chunk.number for chunk in shown]))
    return [passage_of(chunk, chunks, near.get(chunk.number, ())) for chunk in shown]


def _hit(
    query: Query,
    chunk: IndexedChunk,
    passage: Passage,
    score: float,
    best: float,
    found: RetrieverResults,
    chunks: MatchedChunks,
    how: str,
) -> Hit:
    by_words = probability(word_evidence(chunk, found, chunks), "words") if query.is_calibrated else None
    return Hit(
        path=chunk.path,
        start_line=passage.start_line,
        end_line=passage.end_line,
        score=min(1.0, max(0.0, score)),
        snippet=passage.text,
        source=chunk.source,
        heading=passage.heading,
        why=Why(
            words=chunks.words_of(chunk),
            lexical=found.words.get(chunk.number),
            vector=found.cosines.get(chunk.number),
            fusion=how,
            by_words=by_words,
        ),
        band=band_of(query, score, best),
        chunk_start_line=chunk.start_line,
        chunk_end_line=chunk.end_line,
    )


def _explain(query: Query, found: RetrieverResults, *, weak: bool) -> str:
    """Say in words how the scores came about."""
    settings = query.settings
    text, vector = settings.hybrid.text_weight, settings.hybrid.vector_weight
    if not found.vectors:
        how = "words only"
    elif query.mode == "vectors":
        how = "vectors only"
    elif settings.fusion == "evidence":
        how = "words and vectors as independent evidence"
    elif settings.fusion == "rrf":
        how = f"reciprocal ranks of {text:g} words and {vector:g} vectors"
    else:
        how = f"{text:g} words + {vector:g} vectors"
    if settings.temporal_decay.enabled:
        how += ", faded with age"
    if settings.mmr.enabled:
        how += ", spread over different texts"
    if weak:
        how += f", shown below {settings.min_score:g} because nothing reaches it"
    return how
