"""Answer a query from an open index."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import nlargest

from memlines.embed.base import Provider, embed_query, to_blobs
from memlines.embed.passages import sentence_cosines
from memlines.index.search import rank as fuse
from memlines.index.search import retrievers as legs
from memlines.index.search import words as lexical
from memlines.index.search.order import decayed, diversified, without_repeats
from memlines.index.search.passages import Passage, excerpt_of, passage_of, whole
from memlines.index.search.query import (
    Asked,
    When,
    evidence_by_days,
    evidence_by_known_days,
    filter_of,
    parse,
    understood,
)
from memlines.index.search.rank import Ranking, band_of, by_words, is_judged, judged, judged_brief, nearest_of
from memlines.index.search.retrievers import Legs, Request, Within
from memlines.index.search.words import Candidates
from memlines.index.store.sqlite.index import Index
from memlines.text.words import words_of
from memlines.types import Hit, IndexedChunk, Why

_SPREAD = 60
"""Candidates that diversity orders anew: each is compared with each, which takes the square of this."""

MOST_WEAK = 3
"""Weak hits that are shown where nothing better is found."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The hits of a query, best first; if there are none, how near the nearest candidate came."""

    hits: tuple[Hit, ...] = ()
    nearest: float | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """A query as it is understood: what to look for, where, and in which days."""

    request: Request
    """What was asked for; its text is what words and vectors are compared with."""
    asked: Asked
    when: When
    is_empty: bool

    def by_words(self) -> Question:
        """Return the same question, to be answered by words alone."""
        return replace(self, request=replace(self.request, mode="words"))


def understand(request: Request) -> Question:
    """Read a query, for which no index is needed."""
    # Some keyboards send letter and accent apart, which would end a word in the middle.
    asked = parse(unicodedata.normalize("NFC", request.text))
    when = understood(asked.text, request.now)
    text = when.text if is_judged(request) else asked.text
    return Question(replace(request, text=text), asked, when, not words_of(request.text))


def vector_of(question: Question, provider: Provider) -> bytes | None:
    """Return the vector of a question, which may take as long as a service takes to answer."""
    if question.is_empty or not question.request.text or question.request.mode == "words":
        return None
    return to_blobs(embed_query(provider, question.request.text)[None, :])[0]


def search(
    index: Index, question: Question, vector: bytes | None, model: str, within: Within | None = None
) -> Answer:
    """Answer a question, with a few chunks only if `within` names them.

    Without a likely answer, the nearest candidates are weak hits, unless the request cuts them off. No hits
    are an honest answer.

    The caller holds a snapshot of the index, so that everything below speaks of one state of it.
    """
    request, asked, when = question.request, question.asked, question.when
    if question.is_empty:
        return Answer()
    wanted = lexical.look_up(index, request.text)
    found = legs.find(index, wanted, vector, model, request, narrowed=asked.narrows, within=within)
    candidates = Candidates(index, wanted)
    scores = _fused(found, request)
    timely = _timely(index, when, within) if is_judged(request) else {}
    scores = fuse.evidence(scores, timely) if timely else scores
    if asked.narrows or legs.sources_to_ask(index, request):
        fits = filter_of(asked, lexical.matcher(index, asked.without), within.days if within else None)
        chunks = candidates.read(scores)
        scores = {
            number: scores[number]
            for number, chunk in chunks.items()
            if chunk.source in request.sources and fits(chunk)
        }
    if is_judged(request):
        judge = judged_brief if within and within.brief else judged
        scores = judge(scores, found, timely, candidates, request, when)
    shown, weak = _shown(scores, found, candidates, request)
    how = _explained(found, request, weak=weak)
    passages = _passages(
        index, [candidates.chunk(number) for number, _ in shown], candidates, vector, request
    )
    best = max((score for _, score in shown), default=0.0)
    hits = tuple(
        _hit(candidates.chunk(number), passage, score, best, found, candidates, how, request)
        for (number, score), passage in zip(shown, passages, strict=True)
    )
    return Answer(hits, None if hits else max(scores.values(), default=None))


def _timely(index: Index, when: When, within: Within | None) -> dict[int, float]:
    if within is None:
        return evidence_by_days(index, when)
    told = evidence_by_known_days(within.days, when) if within.timely else {}
    return {number: evidence for number, evidence in told.items() if number in within.numbers}


def _fused(found: Legs, request: Request) -> dict[int, float]:
    """Return one score for each candidate; a leg that stands alone is taken as it is."""
    if not found.vector:
        return found.lexical
    if request.mode == "vectors":
        return found.vector
    if request.query.fusion == "evidence":
        return fuse.evidence(found.lexical, found.vector)
    hybrid = request.query.hybrid
    fusion = fuse.rrf if request.query.fusion == "rrf" else fuse.weighted
    return fusion(found.lexical, found.vector, hybrid.text_weight, hybrid.vector_weight)


def _shown(
    scores: dict[int, float], found: Legs, candidates: Candidates, request: Request
) -> tuple[Ranking, bool]:
    """Return what is shown of the candidates, and whether these are only the nearest."""
    query = request.query
    if query.mmr.enabled or query.temporal_decay.enabled:  # these change the order, so any may come up
        ranking, weak = _eligible(_ranking(scores, candidates, request), found, candidates, request)
        return _without_repeats(ranking, candidates)[: _most(request, weak=weak)], weak
    eligible, weak = _eligible(list(scores.items()), found, candidates, request)
    most = _most(request, weak=weak)
    # Those that cannot be shown need not be read, unless repetition makes room for them.
    few = _best(eligible, 2 * most)
    shown = _without_repeats(_ranking(few, candidates, request), candidates)
    if len(shown) < most and len(few) < len(eligible):
        shown = _without_repeats(_ranking(dict(eligible), candidates, request), candidates)
    return shown[:most], weak


def _most(request: Request, *, weak: bool) -> int:
    """Return how many hits are shown at most; OpenClaw shows as many weak ones as others."""
    most = request.query.max_results
    return min(most, MOST_WEAK) if weak and request.profile != "openclaw" else most


def _best(ranking: Ranking, count: int) -> dict[int, float]:
    """Return the best of a ranking, with all that are as good as the last of them."""
    if len(ranking) <= count:
        return dict(ranking)
    last = nlargest(count, [score for _, score in ranking])[-1]
    return {number: score for number, score in ranking if score >= last}


def _ranking(scores: Mapping[int, float], candidates: Candidates, request: Request) -> Ranking:
    """Return the candidates in the order they are shown in, with decay and diversity if asked for."""
    query = request.query
    chunks = candidates.read(scores)
    ranked = {number: scores[number] for number in chunks}
    if query.temporal_decay.enabled:
        half_life = query.temporal_decay.half_life_days
        ranked = {
            number: decayed(score, chunks[number], half_life, request.now) for number, score in ranked.items()
        }
    # Equal scores fall in the order of the files, so that an answer does not change by itself.
    ranking = sorted(
        ranked.items(),
        key=lambda item: (-item[1], chunks[item[0]].path, chunks[item[0]].start_line),
    )
    if not query.mmr.enabled:
        return ranking
    spread, rest = ranking[:_SPREAD], ranking[_SPREAD:]
    texts = {number: chunks[number].text for number, _ in spread}
    return [(number, ranked[number]) for number in diversified(spread, texts, query.mmr.lambda_)] + rest


def _without_repeats(ranking: Ranking, candidates: Candidates) -> Ranking:
    kept = set(without_repeats([candidates.chunk(number) for number, _ in ranking], candidates.matched))
    return [item for item in ranking if item[0] in kept]


def _eligible(
    ranking: Ranking, found: Legs, candidates: Candidates, request: Request
) -> tuple[Ranking, bool]:
    """Keep what scores enough; if nothing does, keep the nearest, unless the request cuts them off."""
    least = request.query.min_score if request.cut is None else request.cut
    good = [item for item in ranking if item[1] >= least]
    if good or request.cut is not None:
        return good, False
    if request.profile == "openclaw":
        return [item for item in ranking if found.lexical.get(item[0], 0.0) > 0], True
    return nearest_of(ranking, found, candidates), True


def _passages(
    index: Index,
    chunks: Sequence[IndexedChunk],
    candidates: Candidates,
    vector: bytes | None,
    request: Request,
) -> list[Passage]:
    """Return what is shown of each chunk: the passage that answers, unless all of it was asked for."""
    if request.full:
        return [whole(chunk) for chunk in chunks]
    if request.profile == "openclaw":
        return [excerpt_of(chunk, candidates) for chunk in chunks]
    near: dict[int, list[float]] = {}
    if vector is not None:
        near = sentence_cosines(vector, index.vectors.sentences([chunk.number for chunk in chunks]))
    return [passage_of(chunk, candidates, near.get(chunk.number, ())) for chunk in chunks]


def _hit(
    chunk: IndexedChunk,
    passage: Passage,
    score: float,
    best: float,
    found: Legs,
    candidates: Candidates,
    how: str,
    request: Request,
) -> Hit:
    return Hit(
        path=chunk.path,
        start_line=passage.start_line,
        end_line=passage.end_line,
        score=min(1.0, max(0.0, score)),
        snippet=passage.text,
        source=chunk.source,
        heading=passage.heading,
        why=Why(
            words=candidates.words_of(chunk),
            lexical=found.lexical.get(chunk.number),
            vector=found.cosine.get(chunk.number),
            fusion=how,
            by_words=by_words(chunk, found, candidates) if is_judged(request) else None,
        ),
        band=band_of(score, best, request),
        chunk_start_line=chunk.start_line,
        chunk_end_line=chunk.end_line,
    )


def _explained(found: Legs, request: Request, *, weak: bool) -> str:
    """Say in words how the scores came about."""
    query = request.query
    text, vector = query.hybrid.text_weight, query.hybrid.vector_weight
    if not found.vector:
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
    if weak:
        how += f", shown below {query.min_score:g} because nothing reaches it"
    return how
