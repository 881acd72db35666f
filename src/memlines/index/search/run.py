"""Answer a query from an open index: find candidates, score them, choose which are shown, and quote them.

A chunk that only repeats what a better one says is never shown. `reorder` has what the settings may ask for
beside that: age and diversity.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from heapq import nlargest
from operator import and_
from types import MappingProxyType
from typing import NamedTuple

from memlines.embed.base import Provider, embed_query, to_blobs
from memlines.index.search import rank
from memlines.index.search.days import (
    days_evidence,
    known_days_evidence,
    rank_days,
    shown_together,
    without_notes_of,
)
from memlines.index.search.matches import MatchedChunks, Matcher
from memlines.index.search.passages import (
    Passage,
    excerpt_of,
    lines_of,
    may_answer,
    passage_of,
    text_of,
    whole,
)
from memlines.index.search.query import NO_FILTERS, Query, make_filter, relax_phrases
from memlines.index.search.rank import Candidate, Estimates
from memlines.index.search.reorder import diversify, fade
from memlines.index.search.retrievers import CandidateSet, RetrieverResults, retrieve
from memlines.index.search.words import look_up
from memlines.index.store.base import SearchedIndex
from memlines.text.aliases import PATH as ALIASES
from memlines.types import Hit, IndexedChunk, Why

MOST_WEAK = 3
"""Hits that are shown if none is likely."""

_BESIDE_A_STRONG_ONE = 0.65
"""What `rank.BESIDE_THE_BEST` is if the best hit is strong."""

_NEAREST = 30
"""Candidates that are looked at if none is likely."""

_SPREAD = 60
"""Candidates that diversity orders again: each is compared with each, which takes the square of this."""


def choose(
    query: Query,
    evidence: Estimates,
    score_of: Callable[[Candidate], float],
    found: RetrieverResults,
    chunks: MatchedChunks,
    least: float,
    *,
    weak: bool,
) -> list[Shown]:
    """Return what has the least evidence, best first; if an answer is not likely, only the nearest."""
    settings = query.settings
    most = settings.max_results
    eligible = evidence
    if query.cut is not None:
        eligible = {one: amount for one, amount in evidence.items() if score_of(one) >= query.cut}
    elif weak and query.strict:
        return []
    elif weak and query.profile == "openclaw":  # which shows as many weak ones as others
        eligible = {one: amount for one, amount in evidence.items() if one.number in found.words}
    else:
        if weak:
            most = min(most, MOST_WEAK)
            best = nlargest(_NEAREST, evidence, key=evidence.__getitem__)
            read = chunks.read({one.number for one in best})
            near = {number for number, chunk in read.items() if rank.is_near(chunk, found, chunks)}
            eligible = {one: amount for one, amount in evidence.items() if one.number in near}
        eligible = {one: amount for one, amount in eligible.items() if amount >= least}
    # Those that cannot be shown need not be read, unless repetition makes room for them or any may come up.
    few = eligible
    if len(few) > 2 * most and not settings.mmr.enabled:  # with all that are as good as the last of these
        last = nlargest(2 * most, few.values())[-1]
        few = {one: amount for one, amount in few.items() if amount >= last}
    shown = _without_repeats(query, _rank(query, few, chunks), found, chunks, most)
    if len(shown) < most and len(few) < len(eligible):
        shown = _without_repeats(query, _rank(query, eligible, chunks), found, chunks, most)
    return shown


def _rank(query: Query, evidence: Estimates, chunks: MatchedChunks) -> list[Candidate]:
    """Return candidates in the order they are shown in, with diversity if asked for."""
    settings = query.settings
    read = chunks.read({one.number for one in evidence})

    # Equal evidence falls in the order of the files, so that an answer does not change by itself.
    places = [
        (-amount, read[one.number].path, read[one.number].start_line, one)
        for one, amount in evidence.items()
        if one.number in read
    ]
    ranking = [one for *_, one in sorted(places)]
    if not settings.mmr.enabled:
        return ranking
    spread = [(one, evidence[one]) for one in ranking[:_SPREAD]]
    texts = {one: text_of(read[one.number], one.unit) for one, _ in spread}
    return diversify(spread, texts, settings.mmr.lambda_) + ranking[_SPREAD:]


def _without_repeats(
    query: Query, ranking: Sequence[Candidate], found: RetrieverResults, chunks: MatchedChunks, most: int
) -> list[Shown]:
    """Return the first candidates of a ranking with their passages, without what only repeats a better one.

    That is a unit whose lines are shown with a better one, and a chunk that holds the query's words nowhere
    but in the lines that it shares with a better one.
    """
    shown: list[Shown] = []
    for one in ranking:
        if len(shown) == most:
            break
        chunk = chunks.known[one.number]
        first, last = lines_of(chunk, one.unit)
        beside = [
            other.chunk
            for other in shown
            if other.chunk.path == chunk.path
            and first <= other.passage.end_line
            and other.passage.start_line <= last
        ]
        if beside and _is_repeated(chunk, one.unit, beside, chunks):
            continue
        if query.full:
            passage = whole(chunk, query.left_out)
        elif query.profile == "openclaw":  # which cites chunks
            passage = excerpt_of(chunk, chunks, query.left_out)
        else:
            near = found.sentences.get(one.number, ())
            among = shown_together(query, chunk, one.unit) if query.names_days else []
            if query.left_out and (may := may_answer(chunk, query.left_out)):
                among = [*map(and_, may, among)] if among else may
            passage = passage_of(chunk, chunks, near, one.unit, among)
        shown.append(Shown(one, chunk, passage))
    return shown


def _is_repeated(
    chunk: IndexedChunk, unit: int, beside: Sequence[IndexedChunk], chunks: MatchedChunks
) -> bool:
    """Return whether chunks that are shown, on the same lines, say what a unit or a chunk says."""
    if unit >= 0:
        return any(text_of(chunk, unit) in other.text for other in beside)
    said = {line for other in beside for line in other.text.split("\n")}
    lines = chunk.text.split("\n")
    own = [line for line in lines if line not in said]
    if len(own) == len(lines) or chunks.match("\n".join(own), chunk.language):
        return False
    return bool(chunks.match(chunk.text, chunk.language))


def embed(query: Query, provider: Provider) -> bytes | None:
    """Return the vector of a query, which may take as long as a service takes to answer."""
    if query.is_empty or not query.text or query.mode == "words":
        return None
    return to_blobs(embed_query(provider, query.text)[None, :])[0]


class Shown(NamedTuple):
    """A candidate, its chunk, and the lines of it that are shown."""

    candidate: Candidate
    chunk: IndexedChunk
    passage: Passage


class Found(NamedTuple):
    """The hits of a query, best first."""

    hits: tuple[Hit, ...] = ()
    likelihood: float = 0.0
    """How likely the notes answer at all."""
    confident: bool = False
    """Whether that is likely enough; if not, the hits are only the nearest."""
    nearest: float | None = None
    """The best score of what was left out, if there are no hits."""
    corrections: Mapping[str, str] = MappingProxyType({})
    """Words and quoted phrases that the index does not hold, and what was searched instead."""
    warnings: tuple[str, ...] = ()
    """What should be said about the hits."""


def search(
    index: SearchedIndex, query: Query, vector: bytes | None, model: str, within: CandidateSet | None = None
) -> Found:
    """Answer a query from one state of the index, of which the caller holds a snapshot.

    Only the chunks that `within` names may answer, if it is given. Without a likely answer, the nearest
    candidates are weak hits, unless the query cuts them off.
    """
    if query.is_empty:
        return Found()
    # Naming no source where all of them may answer is quicker.
    sources = () if set(index.identity().get("sources", [])) <= set(query.sources) else query.sources
    words = look_up(index, query.text, corrects=query.corrects, expansion=query.expansion)
    corrections = dict(words.corrections)
    chunks = MatchedChunks(index, words)
    found = retrieve(index, query, words, vector, model, sources, within)
    scores = rank.fuse(query, found)
    timely: dict[int, float] = {}
    if query.is_calibrated and query.spans:
        if within is None:
            timely = days_evidence(index, query, scores, chunks)
        elif within.timely:
            known = known_days_evidence(within.days, query)
            timely = {number: evidence for number, evidence in known.items() if number in within.numbers}
        scores = rank.fuse_evidence(scores, timely) if timely else scores
    if sources or query.filters != NO_FILTERS:
        fitting, missing = _narrow(query, [*chunks.read(scores).values()], within.days if within else None)
        corrections |= missing
        scores = {chunk.number: scores[chunk.number] for chunk in fitting}
    if query.expansion.shown:  # the line of aliases holds every name that was added, and answers nothing
        names = {*index.numbers_of([ALIASES])}
        scores = {number: score for number, score in scores.items() if number not in names}
    if query.left_out:  # chunks of which nothing else is left
        held = {*index.numbers_of([path for path, _, _ in query.left_out])} & scores.keys()
        read = chunks.read(held).items()
        gone = {number for number, chunk in read if not any(may_answer(chunk, query.left_out))}
        scores = {number: score for number, score in scores.items() if number not in gone}
    found = rank.count_common(found, scores, chunks) if query.is_calibrated and chunks.common else found
    answer = _answer(query, scores, found, timely, chunks, within)
    return answer._replace(corrections=corrections)


def _answer(
    query: Query,
    scores: Mapping[int, float],
    found: RetrieverResults,
    timely: Mapping[int, float],
    chunks: MatchedChunks,
    within: CandidateSet | None,
    *,
    every: bool = False,
) -> Found:
    """Weigh candidates, choose those that are shown, and quote them; `every` one is cut into its units."""
    is_brief = within is not None and within.brief
    evidence: Estimates
    if not query.is_calibrated:
        evidence = {Candidate(number): score for number, score in scores.items()}
    elif is_brief:
        evidence = rank.estimate_brief(query, scores, found, timely, chunks)
    else:
        evidence = rank.weigh(query, scores, found, timely, chunks, every=every)
    if query.settings.temporal_decay.enabled:
        evidence = fade(query, evidence, chunks)
    is_scored = is_brief or not query.is_calibrated
    warnings: tuple[str, ...] = ()
    if query.spans and within is None:
        of_days = [number for number in timely if number in scores]
        evidence, is_scored = rank_days(query, evidence, of_days, found, chunks)
        if query.is_only_days and not of_days:
            warnings = (without_notes_of(query.spans),)
    if not evidence:
        return Found(warnings=warnings)
    first = max(evidence, key=evidence.__getitem__)
    if is_scored:
        likelihood, score_of = evidence[first], evidence.__getitem__
    else:
        likelihood, score_of = rank.make_score(query, evidence, found, chunks)
    band = "weak" if is_scored else rank.band_of(query, score_of(first))
    confident = likelihood >= query.settings.min_score or (band != "weak" and not query.strict)
    least = (_BESIDE_A_STRONG_ONE if band == "strong" else rank.BESIDE_THE_BEST) * evidence[first]
    if confident and not query.is_calibrated:
        least = query.settings.min_score
    shown = choose(query, evidence, score_of, found, chunks, least, weak=not confident)
    if not (every or is_scored) and any(one.candidate.unit < 0 for one in shown):
        # What repeats a better one made room for chunks that were not cut.
        return _answer(query, scores, found, timely, chunks, within, every=True)
    how = _explain(query, found, weak=not confident)
    hits = tuple([_quote(query, one, score_of(one.candidate), found, timely, chunks, how) for one in shown])
    nearest = None if hits else score_of(first)
    return Found(hits, likelihood, confident and bool(hits), nearest, warnings=warnings)


def _narrow(
    query: Query, chunks: Sequence[IndexedChunk], days: Mapping[int, str] | None
) -> tuple[list[IndexedChunk], dict[str, str]]:
    """Return the chunks that a query narrows to, and what is searched instead of phrases that none has."""
    match = Matcher({word: (word,) for word in query.filters.without})
    fitting = [*filter(make_filter(query, match, days), chunks)]
    if fitting or not (query.corrects and query.filters.phrases):
        return fitting, {}
    relaxed, missing = relax_phrases(query, chunks)
    return [*filter(make_filter(relaxed, match, days), chunks)], missing


def _quote(
    query: Query,
    shown: Shown,
    score: float,
    found: RetrieverResults,
    timely: Mapping[int, float],
    chunks: MatchedChunks,
    how: str,
) -> Hit:
    """Return what is shown as a hit, with its score and the reasons for it."""
    chunk, passage = shown.chunk, shown.passage
    number = chunk.number
    held = chunks.held(chunk).every
    evidence = rank.word_evidence(found.words.get(number, 0.0), chunks.share(held), chunks)
    return Hit(
        path=chunk.path,
        start_line=passage.start_line,
        end_line=passage.end_line,
        score=min(1.0, max(0.0, score)),
        snippet=passage.text,
        source=chunk.source,
        heading=passage.heading,
        why=Why(
            words=tuple([chunks.corrections.get(word, word) for word in chunks.asked if word in held]),
            lexical=found.words.get(number),
            vector=found.cosines.get(number),
            fusion=how,
            by_words=rank.probability(evidence, "words") if query.is_calibrated else None,
            days=timely.get(number),
        ),
        band=rank.band_of(query, score),
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
    if weak and query.is_calibrated:
        how += ", the nearest because an answer is not likely"
    elif weak:
        how += f", shown below {settings.min_score:g} because nothing reaches it"
    return how
