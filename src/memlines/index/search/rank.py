"""Make one score of what both retrievers found: the probability that lines answer the query.

What is ranked is a unit of a chunk: an entry, a paragraph, a turn of a conversation. The numbers were fitted
on questions whose answers are known, and on questions of other people that have none: docs/ranking.md says
how, and how well they hold on data that was left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from heapq import nlargest
from typing import Literal, NamedTuple

from memlines.index.search.matches import MatchedChunks
from memlines.index.search.passages import HEADING, best_sentences, days_of_units, may_answer, units_of
from memlines.index.search.query import Query, date_evidence
from memlines.index.search.retrievers import RetrieverResults
from memlines.index.search.words import COVERED, STEEPNESS
from memlines.text.language import is_foreign, is_unlearned
from memlines.types import Band, IndexedChunk

Scores = Mapping[int, float]
"""Scores between 0 and 1 by chunk number."""


class Candidate(NamedTuple):
    """What may be shown: one unit of a chunk, by its place in it, or the whole chunk."""

    number: int
    unit: int = -1


Estimates = Mapping[Candidate, float]
"""Evidence or probabilities of candidates, from 0 to 1."""

Curve = Literal["words", "vectors", "both", "meaning", "measured meaning"]
"""What evidence is based on: one retriever alone; both; or both if words can hardly count, because the
best candidate holds none of the query's or is in another language. What vectors say alone depends the
most on their model, so a model that was measured and not fitted has a curve of its own there."""

_CURVES: dict[Curve, tuple[float, float]] = {
    "words": (-1.79, 4.83),
    "vectors": (-1.41, 3.12),
    "both": (-3.95, 6.36),
    "meaning": (-3.98, 10.72),
    "measured meaning": (-3.98, 13.4),
}
"""Shift and slope of how likely the notes answer at all, from the evidence for the best candidate."""

_LINE_CURVES: dict[Curve, tuple[float, float, float]] = {
    "words": (-1.57, 1.21, 10.89),
    "vectors": (-1.31, 0.26, 15.35),
    "both": (-2.82, 2.65, 11.99),
    "meaning": (-2.37, 3.40, 10.40),
    "measured meaning": (-2.37, 4.25, 13.00),
}
"""The shift of how likely just these lines answer, and the slopes of the evidence for them and their lead."""

_MOST_LEAD = 0.3
"""The lead that counts, ahead or behind; beyond it the case is as clear as it can be."""

_AS_GOOD = 0.001
"""A difference of evidence that is none."""

_BRIEF = (-2.1, 4.5, 2.8)
"""For texts of a sentence or two: the shift, and the slopes of what vectors and words say. Such a text shares
a word or a topic with many queries, so neither may vouch for it alone as it may for a passage."""

_MEASURED = 1.25
"""How much more the vectors of a model say that was measured and not fitted: they are scaled lower."""

_UNLEARNED = 0.6
"""What is left of what the builtin model says in a language that it did not learn, if no word is shared."""

_FEW_WORDS = 6
"""Words up to which covering the query counts as much as the rank; of twice as many it counts half that."""

_READ = 30
"""Candidates whose text is read before they are ranked. Not depending on how many results are
asked for, it leaves the order of the first ones alone."""

_SPARE = 2
"""Chunks that are cut into units beyond those that are asked for: some only repeat a better one."""

BESIDE_THE_BEST = 0.5
"""The part of the evidence for the best hit that another one needs; docs/ranking.md says what that costs."""

_STRONG, _LIKELY = 0.85, 0.5
"""The scores from which a hit is strong or likely. docs/ranking.md says how often such a hit is right."""

_NEAR_BY_WORDS = 0.1
_NEAR_BY_MEANING, _NEAR_AMONG_MORE = 0.12, 0.006
"""What makes a candidate near although it is not a likely answer: the share of the query that its words are,
rare ones counting more; or its vector score, which is higher by chance the more chunks there are, by so much
for the logarithm of their number. docs/ranking.md says how these were chosen."""

_RRF_K = 60
"""The usual constant of reciprocal rank fusion: how flat the top of a ranking is."""


def fuse(query: Query, found: RetrieverResults) -> dict[int, float]:
    """Return one score for each candidate; the scores of a retriever that answers alone stay as they are."""
    if not found.vectors:
        return found.words
    if query.mode == "vectors":
        return found.vectors
    settings = query.settings
    if settings.fusion == "evidence":
        return fuse_evidence(found.words, found.vectors)
    fusion = fuse_ranks if settings.fusion == "rrf" else fuse_weighted
    return fusion(found.words, found.vectors, settings.hybrid.text_weight, settings.hybrid.vector_weight)


def fuse_evidence(words: Scores, vectors: Scores) -> dict[int, float]:
    """Take both scores as independent evidence: either can vouch for a chunk, both together more.

    A chunk that one retriever alone found is judged on the same scale as one that both did. That is
    what keeps a question in one language and its answer in another together: the few words they
    happen to share do not drown what the vectors know.
    """
    return {
        number: combine(words.get(number, 0.0), vectors.get(number, 0.0))
        for number in words.keys() | vectors.keys()
    }


def combine(one: float, other: float) -> float:
    """Return how much two independent pieces of evidence say together."""
    return 1.0 - (1.0 - one) * (1.0 - other)


def fuse_weighted(
    words: Scores, vectors: Scores, text_weight: float, vector_weight: float
) -> dict[int, float]:
    """Add both scores with their weights; what a retriever did not find counts as 0 there."""
    return {
        number: text_weight * words.get(number, 0.0) + vector_weight * vectors.get(number, 0.0)
        for number in words.keys() | vectors.keys()
    }


def fuse_ranks(words: Scores, vectors: Scores, text_weight: float, vector_weight: float) -> dict[int, float]:
    """Add the reciprocal ranks, scaled so that the first of both rankings scores 1."""
    fused: dict[int, float] = {}
    for scores, weight in ((words, text_weight), (vectors, vector_weight)):
        ranking = sorted(scores, key=lambda number: (-scores[number], number))
        for place, number in enumerate(ranking, 1):
            share = weight * (_RRF_K + 1) / (_RRF_K + place)
            fused[number] = fused.get(number, 0.0) + share
    return fused


def count_common(found: RetrieverResults, scores: Scores, chunks: MatchedChunks) -> RetrieverResults:
    """Return what was found, with ranks of the best as if common words had been looked for too."""
    words = dict(found.words)
    for number, chunk in chunks.read(_first(scores)).items():
        if held := chunks.common & chunks.held(chunk).every:
            words[number] = combine(words.get(number, 0.0), 1.0 - math.exp(-STEEPNESS * chunks.share(held)))
    return replace(found, words=words)


def weigh(
    query: Query,
    scores: Scores,
    found: RetrieverResults,
    timely: Scores,
    chunks: MatchedChunks,
    *,
    every: bool = False,
) -> dict[Candidate, float]:
    """Return the evidence for each unit of the best chunks, and for each other chunk that may be shown.

    A rank also counts how often a word occurs in a chunk and how short that is, while a question is answered
    where its words come together, in one unit. A chunk whose units will hardly be shown is not cut into them,
    unless `every` one is: then its evidence is the most that any of them may have.
    """
    read = chunks.read(_first(scores))
    dated = {number: date_evidence(chunk) if query.asks_when else 0.0 for number, chunk in read.items()}
    most = {}
    for number, chunk in read.items():
        cosine = found.cosines.get(number, -1.0)
        sentence = max([cosine, *found.sentences.get(number, ())])
        vectors = found.scale.score(cosine, sentence) if number in found.cosines else 0.0
        share = chunks.share(chunks.held(chunk).every) if number in found.words else 0.0
        words = word_evidence(found.words.get(number, 0.0), share, chunks)
        most[number] = combine(combine(words, vectors), timely.get(number, 0.0) or dated[number])
    settings = query.settings
    changes_order = settings.temporal_decay.enabled or settings.mmr.enabled or bool(query.spans)
    may_skip = query.cut is None and not changes_order
    evidence: dict[Candidate, float] = {}
    best: list[float] = []
    uncut: list[float] = []
    for number in sorted(most, key=most.__getitem__, reverse=True):
        if may_skip and most[number] < BESIDE_THE_BEST * max(best, default=0.0):
            return evidence  # what is left says even less, and is not shown
        better = len([amount for amount in best if amount > most[number]])
        if may_skip and not every and better > settings.max_results + _SPARE:
            evidence[Candidate(number)] = most[number]
            uncut.append(most[number])
            continue
        units = _weigh_units(query, read[number], found, timely.get(number, 0.0), dated[number], chunks)
        evidence |= units
        best += [max(units.values())] if units else []
    # The units of the others were not weighed one by one: they are not better than those that were.
    least = min([*best, *uncut], default=1.0)
    shown = BESIDE_THE_BEST * max(best, default=0.0) if may_skip else 0.0
    others = [number for number, score in scores.items() if score >= shown and number not in read]
    return evidence | {Candidate(number): min(scores[number], least) for number in others}


def _weigh_units(
    query: Query,
    chunk: IndexedChunk,
    found: RetrieverResults,
    timely: float,
    dated: float,
    chunks: MatchedChunks,
) -> dict[Candidate, float]:
    """Return the evidence for each unit of a chunk for which there is any.

    The words of the chunk's title count for every unit, those of a heading in the chunk a half.
    """
    evidence = {}
    number, days = chunk.number, days_of_units(chunk) if query.names_days else ()
    ranked, cosine = found.words.get(number, 0.0), found.cosines.get(number)
    near = best_sentences(chunk, found.sentences.get(number, ()), cosine or 0.0)
    may = may_answer(chunk, query.left_out) if query.left_out else []
    for at, (unit, sentence) in enumerate(zip(units_of(chunk), near, strict=True)):
        if (days and not query.filters.allow(days[at])) or (may and not may[at]):
            continue
        words = vectors = 0.0
        if ranked:
            held = chunks.words_in(chunk, unit.text) | chunks.held(chunk).title
            above = chunks.words_in(chunk, unit.heading)
            share = chunks.share(held) + (HEADING * chunks.share(above - held) if above else 0.0)
            words = word_evidence(ranked, share, chunks) if share else 0.0
        if cosine is not None:
            vectors = found.scale.score(cosine, sentence)
        beside = (timely if days and query.is_about(days[at]) else 0.0) or dated
        amount = combine(combine(words, vectors), beside)
        if amount:
            evidence[Candidate(number, at)] = amount
    return evidence


def make_score(
    query: Query, evidence: Estimates, found: RetrieverResults, chunks: MatchedChunks
) -> tuple[float, Callable[[Candidate], float]]:
    """Return how likely the notes answer the query, and a function that says how likely a candidate does.

    What counts beside its own evidence is the lead: how far the best is ahead of the other chunks, and how
    far any other is behind the best.
    """
    first = max(evidence, key=evidence.__getitem__)
    most = evidence[first]
    # Lines that say as much are no rivals: each of them answers.
    others = [amount for one, amount in evidence.items() if one.number != first.number]
    second = max([amount for amount in others if amount < most - _AS_GOOD], default=0.0)
    curve: Curve = "measured meaning" if found.is_measured else "meaning"
    if query.mode == "vectors":
        curve = "vectors"
    elif not found.vectors:
        curve = "words"
    elif first.number in found.words:
        best = chunks.read([first.number]).get(first.number)
        curve = "both" if best and not is_foreign(query.text, best.text) else curve
    shift, slope, by_lead = _LINE_CURVES[curve]

    def score(one: Candidate) -> float:
        amount = evidence[one]
        lead = amount - (most if amount < most - _AS_GOOD else second)
        # Being ahead of nothing says little.
        lead = max(-_MOST_LEAD, min(_MOST_LEAD, amount / 2, lead))
        return _logistic(shift + slope * amount + by_lead * lead)

    return probability(most, curve), score


def estimate_brief(
    query: Query, scores: Scores, found: RetrieverResults, timely: Scores, chunks: MatchedChunks
) -> dict[Candidate, float]:
    """Return the same for candidates of a sentence or two, whose evidence weighs otherwise."""
    words = {number: found.words.get(number, 0.0) for number in scores}
    beside = {number: timely.get(number, 0.0) for number in scores}
    for number, chunk in chunks.read(_first(scores)).items():
        share = chunks.share(chunks.held(chunk).every)
        words[number] = word_evidence(found.words.get(number, 0.0), share, chunks)
        if query.asks_when and not beside[number]:
            beside[number] = date_evidence(chunk)
    shift, by_vectors, by_words = _BRIEF
    by_vectors *= _MEASURED if found.is_measured else 1.0
    by_vectors_alone = by_vectors
    if not found.is_measured and is_unlearned(query.text):
        by_vectors_alone *= _UNLEARNED
    return {
        Candidate(number): _logistic(
            shift
            + by_words * words[number]
            + (by_vectors if words[number] else by_vectors_alone)
            * combine(found.vectors.get(number, 0.0), beside[number])
        )
        # What was stored a moment ago may have no vector yet, which says nothing against it.
        if found.vectors and (number in found.vectors or not words[number])
        else probability(combine(words[number], beside[number]), "words")
        for number in scores
    }


def word_evidence(ranked: float, share: float, chunks: MatchedChunks) -> float:
    """Return what words say: their rank, and the share of the query that they are; nothing without a rank.

    A long text holds some of many words by chance, so of a long query the share says less.
    """
    covering = 0.5 * min(1.0, _FEW_WORDS / max(1, len(chunks.asked)))
    return (1.0 - covering) * ranked + covering * COVERED * share if ranked else 0.0


def probability(evidence: float, curve: Curve) -> float:
    """Return how likely notes answer a query, from the evidence for the best and what that is based on."""
    shift, slope = _CURVES[curve]
    return _logistic(shift + slope * evidence)


def band_of(query: Query, score: float) -> Band:
    """Return how sure it is that a hit answers; only probabilities can be strong."""
    if not query.is_calibrated:
        return "weak" if score < query.settings.min_score else "likely"
    return "strong" if score >= _STRONG else "likely" if score >= _LIKELY else "weak"


def is_near(chunk: IndexedChunk, found: RetrieverResults, chunks: MatchedChunks) -> bool:
    """Return whether a chunk shares something with the query although it is not a likely answer.

    One that holds no telling word of the query and is not nearer to it in meaning than one of so many is by
    chance is noise.
    """
    number = chunk.number
    if number in found.words and chunks.share(chunks.held(chunk).every) >= _NEAR_BY_WORDS:
        return True
    least = _NEAR_BY_MEANING + _NEAR_AMONG_MORE * math.log(max(1, chunks.total))
    return found.vectors.get(number, 0.0) >= least / (_MEASURED if found.is_measured else 1.0)


def _first(scores: Scores) -> list[int]:
    return [-number for _, number in nlargest(_READ, [(score, -number) for number, score in scores.items()])]


def _logistic(log_odds: float) -> float:
    return 1.0 / (1.0 + math.exp(-log_odds))
