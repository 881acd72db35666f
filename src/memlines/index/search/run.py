"""Answer a query from an open index: find candidates, score them, choose which are shown, and quote them.

If the settings ask for it, old daily logs fade, and results are spread over different texts (maximal marginal
relevance). A chunk that only repeats what a better one says is never shown.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from heapq import nlargest
from types import MappingProxyType
from typing import NamedTuple

from memlines.embed.base import Provider, embed_query, to_blobs
from memlines.embed.passages import sentence_cosines
from memlines.index.search import rank
from memlines.index.search.passages import excerpt_of, passage_of, whole
from memlines.index.search.query import (
    NO_FILTERS,
    Query,
    days_evidence,
    known_days_evidence,
    log_day,
    make_filter,
)
from memlines.index.search.rank import Ranking
from memlines.index.search.retrievers import CandidateSet, RetrieverResults, retrieve
from memlines.index.search.words import MatchedChunks, look_up, make_match
from memlines.index.store.sqlite.index import Index
from memlines.text.terms import query_terms
from memlines.types import Hit, IndexedChunk, Why

MOST_WEAK = 3
"""Weak hits that are shown if nothing better is found."""

_SPREAD = 60
"""Candidates that diversity orders again: each is compared with each, which takes the square of this."""

_SECONDS_PER_DAY = 86_400
_EVERGREEN = re.compile(r"^(?:MEMORY\.md|memory\.md|memory/.*)$")
_LATIN = re.compile(r"[a-z0-9_]+")
_WIDE = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]+")


def choose(
    query: Query, scores: dict[int, float], found: RetrieverResults, chunks: MatchedChunks
) -> tuple[Ranking, bool]:
    """Return the candidates that are shown, best first, and whether these are only the nearest."""
    settings = query.settings
    ranking = list(scores.items())
    is_reordered = settings.mmr.enabled or settings.temporal_decay.enabled
    if is_reordered:  # any may come up
        ranking = _rank(query, scores, chunks)
    least = settings.min_score if query.cut is None else query.cut
    eligible = [item for item in ranking if item[1] >= least]
    weak = not eligible and query.cut is None
    most = settings.max_results
    if weak and query.profile == "openclaw":  # which shows as many weak ones as others
        eligible = [item for item in ranking if found.words.get(item[0], 0.0) > 0]
    elif weak:
        eligible, most = rank.nearest_of(ranking, found, chunks), min(most, MOST_WEAK)
    if is_reordered:
        return _without_repeats(eligible, chunks)[:most], weak
    # Those that cannot be shown need not be read, unless repetition makes room for them.
    few = dict(eligible)
    if len(few) > 2 * most:  # with all that are as good as the last of these
        last = nlargest(2 * most, few.values())[-1]
        few = {number: score for number, score in eligible if score >= last}
    shown = _without_repeats(_rank(query, few, chunks), chunks)
    if len(shown) < most and len(few) < len(eligible):
        shown = _without_repeats(_rank(query, dict(eligible), chunks), chunks)
    return shown[:most], weak


def _rank(query: Query, scores: Mapping[int, float], chunks: MatchedChunks) -> Ranking:
    """Return candidates in the order they are shown in, with decay and diversity if asked for."""
    settings = query.settings
    read = chunks.read(scores)
    ranked = {number: scores[number] for number in read}
    if settings.temporal_decay.enabled:
        half_life = settings.temporal_decay.half_life_days
        for number, chunk in read.items():
            ranked[number] = decay(ranked[number], age_in_days(chunk, query.now), half_life)
    # Equal scores fall in the order of the files, so that an answer does not change by itself.
    ranking = sorted(
        ranked.items(), key=lambda item: (-item[1], read[item[0]].path, read[item[0]].start_line)
    )
    if not settings.mmr.enabled:
        return ranking
    spread, rest = ranking[:_SPREAD], ranking[_SPREAD:]
    texts = {number: read[number].text for number, _ in spread}
    return [(number, ranked[number]) for number in diversify(spread, texts, settings.mmr.lambda_)] + rest


def decay(score: float, age_days: float, half_life_days: float) -> float:
    """Return what is left of a score after so many days: a half after each half-life."""
    return score * math.exp(-math.log(2) / half_life_days * max(0.0, age_days))


def age_in_days(chunk: IndexedChunk, now: datetime) -> float:
    """Return the age of a chunk: by the date in its name; evergreen notes have none."""
    day = log_day(chunk.path)
    if day is not None:
        midnight = datetime(day.year, day.month, day.day, tzinfo=UTC)
        return (now - midnight).total_seconds() / _SECONDS_PER_DAY
    if _EVERGREEN.match(chunk.path) or chunk.mtime_ns <= 0:
        return 0.0
    return now.timestamp() / _SECONDS_PER_DAY - chunk.mtime_ns / 1e9 / _SECONDS_PER_DAY


def diversify(ranking: Sequence[tuple[int, float]], texts: Mapping[int, str], weight: float) -> list[int]:
    """Return the numbers of a ranking in an order that weighs relevance against repetition.

    `weight` 1 is the order of the scores, 0 looks at difference alone. Scores stay as they are.
    """
    weight = min(1.0, max(0.0, weight))
    by_score = sorted(ranking, key=lambda item: -item[1])  # equal scores keep the order they come in
    if weight == 1.0 or len(by_score) < 2:
        return [number for number, _ in by_score]
    scores = dict(by_score)
    low, high = min(scores.values()), max(scores.values())
    spread = high - low
    tokens = {number: tokens_of(texts.get(number, "")) for number in scores}
    closest = dict.fromkeys(scores, 0.0)
    order: list[int] = []
    left = [number for number, _ in by_score]
    while left:

        def value(number: int) -> tuple[float, float]:
            relevance = (scores[number] - low) / spread if spread else 1.0
            return weight * relevance - (1 - weight) * closest[number], scores[number]

        chosen = max(left, key=value)
        left.remove(chosen)
        order.append(chosen)
        for number in left:
            closest[number] = max(closest[number], jaccard(tokens[number], tokens[chosen]))
    return order


def tokens_of(text: str) -> frozenset[str]:
    """Return what two texts are compared by: Latin words, and single and paired wide characters."""
    lowered = text.lower()
    tokens = set(_LATIN.findall(lowered))
    for run in _WIDE.findall(lowered):
        tokens.update(run)
        tokens.update(run[at : at + 2] for at in range(len(run) - 1))
    return frozenset(tokens)


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    """Return how much two sets overlap, from 0 to 1; two empty ones are the same."""
    if not one and not other:
        return 1.0
    if not one or not other:
        return 0.0
    common = len(one & other)
    return common / (len(one) + len(other) - common)


def _without_repeats(ranking: Ranking, chunks: MatchedChunks) -> Ranking:
    """Leave out chunks that only say again what a better one says.

    That is a neighbour that holds the query's words nowhere but in the lines both share.
    """
    kept: Ranking = []
    seen: dict[str, list[IndexedChunk]] = {}
    for number, score in ranking:
        chunk = chunks.known[number]
        others = seen.setdefault(chunk.path, [])
        said = {
            line
            for other in others
            if chunk.start_line <= other.end_line and other.start_line <= chunk.end_line
            for line in other.text.split("\n")
        }
        lines = chunk.text.split("\n")
        own = [line for line in lines if line not in said]
        shares_all = len(own) < len(lines) and not chunks.match("\n".join(own), chunk.language)
        if not (shares_all and chunks.match(chunk.text, chunk.language)):
            kept.append((number, score))
            others.append(chunk)
    return kept


def embed(query: Query, provider: Provider) -> bytes | None:
    """Return the vector of a query, which may take as long as a service takes to answer."""
    if query.is_empty or not query.text or query.mode == "words":
        return None
    return to_blobs(embed_query(provider, query.text)[None, :])[0]


class Found(NamedTuple):
    """The hits of a query, best first."""

    hits: tuple[Hit, ...] = ()
    nearest: float | None = None
    """How near the nearest candidate came, if there are no hits."""
    corrections: Mapping[str, str] = MappingProxyType({})
    """Words of the query that the index does not hold, and those that were searched instead."""


def search(
    index: Index, query: Query, vector: bytes | None, model: str, within: CandidateSet | None = None
) -> Found:
    """Answer a query from one state of the index, of which the caller holds a snapshot.

    Only the chunks that `within` names may answer, if it is given. Without a likely answer, the nearest
    candidates are weak hits, unless the query cuts them off.
    """
    if query.is_empty:
        return Found()
    # Naming no source where all of them may answer is quicker.
    sources = () if set(index.identity().get("sources", [])) <= set(query.sources) else query.sources
    words = look_up(index, query.text, corrects=query.corrects)
    chunks = MatchedChunks(index, words)
    found = retrieve(index, query, words, vector, model, sources, within)
    scores = rank.fuse(query, found)
    timely: dict[int, float] = {}
    if query.is_calibrated and query.spans:
        if within is None:
            timely = days_evidence(index, query)
        elif within.timely:
            known = known_days_evidence(within.days, query)
            timely = {number: evidence for number, evidence in known.items() if number in within.numbers}
        scores = rank.fuse_evidence(scores, timely) if timely else scores
    if sources or query.filters != NO_FILTERS:
        days = within.days if within else None
        languages = index.state.languages
        match = make_match({word: query_terms(word, languages) for word in query.filters.without})
        fits = make_filter(query, match, days)
        scores = {number: scores[number] for number, chunk in chunks.read(scores).items() if fits(chunk)}
    if query.is_calibrated:
        estimator = rank.estimate_brief if within and within.brief else rank.estimate
        scores = estimator(query, scores, found, timely, chunks)
    shown, weak = choose(query, scores, found, chunks)
    if not shown:
        return Found((), max(scores.values(), default=None), words.corrections)
    how = _explain(query, found, weak=weak)
    hits = tuple(_quote(index, query, vector, shown, found, chunks, how))
    return Found(hits, None, words.corrections)


def _quote(
    index: Index,
    query: Query,
    vector: bytes | None,
    shown: Ranking,
    found: RetrieverResults,
    chunks: MatchedChunks,
    how: str,
) -> Iterator[Hit]:
    """Yield what is shown of each chunk: the passage that answers, unless all of it was asked for."""
    near: dict[int, list[float]] = {}
    if vector is not None and not query.full and query.profile != "openclaw":
        near = sentence_cosines(vector, index.vectors.sentences([number for number, _ in shown]))
    best = max([score for _, score in shown])
    for number, score in shown:
        chunk = chunks.known[number]
        if query.full:
            passage = whole(chunk)
        elif query.profile == "openclaw":  # which cites chunks
            passage = excerpt_of(chunk, chunks)
        else:
            passage = passage_of(chunk, chunks, near.get(number, ()))
        evidence = rank.word_evidence(chunk, found, chunks)
        yield Hit(
            path=chunk.path,
            start_line=passage.start_line,
            end_line=passage.end_line,
            score=min(1.0, max(0.0, score)),
            snippet=passage.text,
            source=chunk.source,
            heading=passage.heading,
            why=Why(
                words=chunks.words_of(chunk),
                lexical=found.words.get(number),
                vector=found.cosines.get(number),
                fusion=how,
                by_words=rank.probability(evidence, "words") if query.is_calibrated else None,
            ),
            band=rank.band_of(query, score, best),
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
