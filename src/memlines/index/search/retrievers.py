"""Ask both retrievers, by words and by vectors, for candidates with scores between 0 and 1."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import field, replace
from heapq import nlargest
from itertools import islice
from typing import NamedTuple

from memlines.embed.codec import sentence_cosines
from memlines.index.search import words as by_words
from memlines.index.search.query import NO_FILTERS, Query
from memlines.index.store.base import SearchedIndex
from memlines.records import dataclass
from memlines.types import Source

_DEPTH = 200
"""Candidates of each retriever, at most. With evidence it does not depend on how many results are asked for,
so neither does the order of the first ones."""

_BRIEF_DEPTH = 40
"""Candidates of each retriever among facts, at least. Few of them are ever looked through, and the cosine of
each is read from somewhere in a large file."""

_NARROWED_DEPTH = 20_000
"""Candidates of each retriever if the query has filters: most of them will not fit."""

_LOOKED_INTO = 40
"""Candidates of each retriever whose sentences are compared with the query one by one."""

_CERTAIN = {"use-multilingual-v3": 0.8}
"""The cosine at which question and text surely belong together, with models it was fitted for. With the
builtin one, answers have between 0.2 and 0.6 and hardly ever more."""

_LEAST_TRUST = 0.2
"""What vectors count at least if the model knows the words of a query only in pieces."""

_MOST_COMMON = 0.95
"""The highest cosine that unrelated texts may have; above it too little is left for the others."""

Nearest = Callable[[bytes, int], dict[int, float] | None]
"""Returns the cosines of so many chunks that are nearest to a vector, or nothing if it cannot; it may be
called in another thread."""


class Scale(NamedTuple):
    """What part of the way a cosine is from texts that have nothing to do with the query to the same text.

    What lies above `nothing` keeps its order, whatever that is: all that is left of the way, which is what
    evidence multiplies, grows by the same factor.
    """

    nothing: float
    certain: float

    def score(self, cosine: float, sentence: float) -> float:
        """Score a text by its cosine and that of its best sentence."""
        nothing, certain = self
        both = (cosine + sentence - 2 * nothing) / (2 * (certain - nothing))
        return 0.0 if both < 0.0 else min(both, 1.0)


PLAIN = Scale(0.0, 1.0)


@dataclass(frozen=True, slots=True)
class CandidateSet:
    """The few chunks that alone may answer, and what is known about them beside the index."""

    numbers: frozenset[int]
    days: dict[int, str] = field(default_factory=dict)
    """The day a chunk belongs to, as `2026-11-16`, if that is known."""
    nearest: Nearest | None = None
    """Returns which of them are nearest to a vector, instead of the index."""
    timely: bool = True
    """Whether their days count as evidence if the query asks for days."""
    brief: bool = False
    """Whether each of them is a sentence or two, for which evidence has other weights than for passages."""


@dataclass(frozen=True, slots=True)
class RetrieverResults:
    """What each retriever found: word scores, vector scores, and the cosines behind those."""

    words: dict[int, float]
    vectors: dict[int, float]
    cosines: dict[int, float]
    sentences: dict[int, list[float]] = field(default_factory=dict)
    """The cosines of the sentences of the chunks that were looked into, in their order."""
    scale: Scale = PLAIN
    is_measured: bool = False
    """Whether vector scores begin at what unrelated texts have with a model, which was measured."""


def retrieve(
    index: SearchedIndex,
    query: Query,
    words: by_words.QueryWords,
    vector: bytes | None,
    model: str,
    sources: tuple[Source, ...],
    within: CandidateSet | None = None,
) -> RetrieverResults:
    """Ask both retrievers, or the one that was asked for; without a vector there are only words."""
    if query.profile == "openclaw":
        return _retrieve_as_openclaw(index, query, vector, sources, within)
    depth = _DEPTH
    if query.filters != NO_FILTERS:
        depth = _NARROWED_DEPTH
    elif query.settings.fusion != "evidence":
        depth = _classic_depth(query)
    elif within is not None and within.brief:
        depth = min(_DEPTH, max(_BRIEF_DEPTH, 2 * query.settings.max_results))
    if within is not None and within.nearest is not None and vector is not None:
        from concurrent.futures import ThreadPoolExecutor

        # What is near is looked for in another thread, while the index looks for words.
        pool = ThreadPoolExecutor(1)
        near = pool.submit(within.nearest, vector, depth)
        pool.shutdown(wait=False)
        within = replace(within, nearest=lambda *_: near.result())
    found: dict[int, float] = {}
    if query.mode != "vectors":
        found = by_words.find(index, words, depth, sources, within.numbers if within else None)
    if vector is None:
        return RetrieverResults(found, {}, {})
    # The chunks found by words get their true cosine too.
    cosines = nearest(index, vector, depth, found, within)
    hopeful = {*nlargest(_LOOKED_INTO, cosines, key=cosines.__getitem__), *islice(found, _LOOKED_INTO)}
    sentences = sentence_cosines(vector, index.vectors.sentences(hopeful & cosines.keys()), cosines)
    common = None if model in _CERTAIN else common_cosine(vector, index.vectors.background())
    scale = scale_of(model, common)
    if query.in_pieces and query.mode == "hybrid":
        # Vectors say less about words that the model does not know, if notes hold these.
        held = [term.word for term in words.terms if term.chunks and term.word in query.in_pieces]
        share = sum([words.weights[word] for word in held]) / sum(words.weights.values())
        way = (scale.certain - scale.nothing) / max(_LEAST_TRUST, 1.0 - share)
        scale = scale._replace(certain=scale.nothing + way)
    # A chunk whose sentences were not looked at counts as if it were one.
    best = cosines | {number: max(own) for number, own in sentences.items()}
    score = scale.score
    scores = {number: score(cosine, best[number]) for number, cosine in cosines.items()}
    return RetrieverResults(found, scores, cosines, sentences, scale, is_measured=common is not None)


def nearest(
    index: SearchedIndex, vector: bytes, limit: int, also: Iterable[int], within: CandidateSet | None
) -> dict[int, float]:
    """Return the cosines of the nearest chunks, and of those in `also`."""
    near = within.nearest(vector, limit) if within and within.nearest else None
    if near is None:
        return index.vectors.nearest(vector, limit, also, within.numbers if within else None)
    return near | index.vectors.cosines(vector, [number for number in also if number not in near])


def common_cosine(query: bytes, background: bytes | None) -> float | None:
    """Return the cosine of a query with the mean of unrelated texts, if that was measured for its model."""
    import numpy as np

    if background is None or len(background) != len(query):
        return None
    cosine = float(np.vecdot(np.frombuffer(query, "<f4"), np.frombuffer(background, "<f4")))
    return min(_MOST_COMMON, max(0.0, cosine))


def scale_of(model: str, common: float | None = None) -> Scale:
    """Return the scale of a model, fitted or beginning at the cosine that is common to unrelated texts."""
    return Scale(0.0, _CERTAIN[model]) if model in _CERTAIN else Scale(common or 0.0, 1.0)


def _classic_depth(query: Query) -> int:
    return min(_DEPTH, query.settings.max_results * query.settings.hybrid.candidate_multiplier)


def _retrieve_as_openclaw(
    index: SearchedIndex,
    query: Query,
    vector: bytes | None,
    sources: tuple[Source, ...],
    within: CandidateSet | None,
) -> RetrieverResults:
    only = within.numbers if within else None
    limit = _classic_depth(query)
    found: dict[int, float] = {}
    if query.mode != "vectors":
        found = by_words.find_all(index, query.text, limit, sources, only)
        if not found and vector is None:
            found = by_words.find_each(index, query.text, limit, sources, only)
    cosines = nearest(index, vector, limit, (), within) if vector is not None else {}
    return RetrieverResults(found, cosines, cosines)
