"""Ask both retrievers, by words and by vectors, for candidates with scores between 0 and 1."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from heapq import nlargest
from itertools import islice

from memlines.embed.passages import best_sentence
from memlines.index.search import words as lexical
from memlines.index.store.sqlite.index import Index
from memlines.settings import Query
from memlines.types import Mode, Source

_CERTAIN = {"use-multilingual-v3": 0.8}
"""The cosine at which question and text surely belong together, with models it was fitted for.

With the builtin one, answers lie between 0.2 and 0.6 and hardly ever higher.
"""

_MOST_COMMON = 0.95
"""What unrelated texts may have at most; above it too little is left to tell others apart by."""


def is_fitted(model: str) -> bool:
    """Tell whether the scale of a model is known, so that nothing need be measured."""
    return model in _CERTAIN


def common_cosine(query: bytes, background: bytes | None) -> float | None:
    """Return the mean cosine of a query with unrelated texts, whose mean vector is the background.

    Nothing is known where nobody measured that, or with vectors of another length.
    """
    import numpy as np

    if background is None or len(background) != len(query):
        return None
    cosine = float(np.vecdot(np.frombuffer(query, "<f4"), np.frombuffer(background, "<f4")))
    return min(_MOST_COMMON, max(0.0, cosine))


def scaled(
    cosines: Mapping[int, float], sentences: Mapping[int, float], model: str, common: float | None = None
) -> dict[int, float]:
    """Score chunks by their own cosine and that of their best sentence, on a scale for every model.

    A chunk whose sentences were not looked at counts as if it were one. With a model nothing was fitted
    for, the score is the part of the way from what is `common` to the query and unrelated texts to the
    same text. What lies above keeps its order, whatever is common: all that is left of the way, which is what
    evidence multiplies, grows by the same factor.
    """
    nothing, certain = (0.0, _CERTAIN[model]) if is_fitted(model) else (common or 0.0, 1.0)
    way = 2 * (certain - nothing)
    return {
        number: min(1.0, max(0.0, (cosine + sentences.get(number, cosine) - 2 * nothing) / way))
        for number, cosine in cosines.items()
    }


_DEPTH = 200
"""Candidates of each leg, at most. With evidence it does not depend on how many results are asked for, so
neither does the order of the first ones."""

_BRIEF_DEPTH = 40
"""Candidates of each leg among facts, at least. Nobody looks through many of them, and the cosine of each is
read from somewhere in a large file."""

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
    cut: float | None = None
    """The score below which nothing may be shown. Without it, the nearest are shown as weak hits where
    nothing reaches `query.min_score`."""
    full: bool = False
    """Whether a hit is the whole chunk instead of the passage in it that answers."""


Nearest = Callable[[bytes, int], dict[int, float] | None]
"""Returns the cosines of so many chunks that are nearest to a vector, or nothing if it cannot; it may be
called in another thread."""


@dataclass(frozen=True, slots=True)
class Within:
    """The few chunks that alone may answer, and what is known about them beside the index."""

    numbers: frozenset[int]
    days: dict[int, str] = field(default_factory=dict)
    """The day a chunk belongs to, as `2026-11-16`, where that is known."""
    nearest: Nearest | None = None
    """Who else than the index can tell which of them are nearest to a vector."""
    timely: bool = True
    """Whether their days speak for them where the query asks for days."""
    brief: bool = False
    """Whether each of them is a sentence or two, for which evidence weighs otherwise than for passages."""


@dataclass(frozen=True, slots=True)
class Legs:
    """What each leg found: word scores, vector scores, and the cosines behind those."""

    lexical: dict[int, float]
    vector: dict[int, float]
    cosine: dict[int, float]
    measured: bool = False
    """Whether vector scores begin at what unrelated texts have with a model, which was measured."""


def find(
    index: Index,
    wanted: lexical.Wanted,
    vector: bytes | None,
    model: str,
    request: Request,
    *,
    narrowed: bool,
    within: Within | None = None,
) -> Legs:
    """Ask both legs, or the one that was asked for; without a vector there are only words."""
    if request.profile == "openclaw":
        return _openclaw(index, vector, request, within)
    depth = _NARROWED_DEPTH if narrowed else _depth(request, within)
    only = within.numbers if within else None
    if within is not None and vector is not None:
        within = _begun(within, vector, depth)
    found: dict[int, float] = {}
    if request.mode != "vectors":
        found = lexical.find(index, wanted, depth, sources_to_ask(index, request), only)
    if vector is None:
        return Legs(found, {}, {})
    # Search is exact, so the chunks found by words get their true cosine too.
    cosines = nearest(index, vector, depth, found, within)
    hopeful = {*nlargest(_LOOKED_INTO, cosines, key=cosines.__getitem__), *islice(found, _LOOKED_INTO)}
    sentences = best_sentence(vector, index.vectors.sentences(hopeful))
    common = None if is_fitted(model) else common_cosine(vector, index.vectors.background())
    return Legs(found, scaled(cosines, sentences, model, common), cosines, measured=common is not None)


def _depth(request: Request, within: Within | None) -> int:
    if request.query.fusion != "evidence":
        return _candidates(request)
    if within is None or not within.brief:
        return _DEPTH
    return min(_DEPTH, max(_BRIEF_DEPTH, 2 * request.query.max_results))


def _candidates(request: Request) -> int:
    """Return how many candidates each leg gives to a classic fusion."""
    query = request.query
    return min(_DEPTH, query.max_results * query.hybrid.candidate_multiplier)


def nearest(
    index: Index, vector: bytes, limit: int, also: Iterable[int], within: Within | None
) -> dict[int, float]:
    """Return the cosines of the nearest chunks, and of some others whatever theirs is."""
    near = within.nearest(vector, limit) if within and within.nearest else None
    if near is None:
        return index.vectors.nearest(vector, limit, also, within.numbers if within else None)
    return near | index.vectors.cosines(vector, [number for number in also if number not in near])


def _begun(within: Within, vector: bytes, limit: int) -> Within:
    """Have somebody else look for what is near while the index looks for words."""
    if within.nearest is None:
        return within
    from concurrent.futures import ThreadPoolExecutor

    pool = ThreadPoolExecutor(1)
    near = pool.submit(within.nearest, vector, limit)
    pool.shutdown(wait=False)
    return replace(within, nearest=lambda *_: near.result())


def sources_to_ask(index: Index, request: Request) -> tuple[Source, ...]:
    """Return the sources to look in; nothing if that is all there are, which is quicker."""
    held = index.identity().get("sources", [])
    return () if set(held) <= set(request.sources) else request.sources


def _openclaw(index: Index, vector: bytes | None, request: Request, within: Within | None) -> Legs:
    only = within.numbers if within else None
    limit = _candidates(request)
    sources = sources_to_ask(index, request)
    found: dict[int, float] = {}
    if request.mode != "vectors":
        found = lexical.find_all(index, request.text, limit, sources, only)
        if not found and vector is None:
            found = lexical.find_each(index, request.text, limit, sources, only)
    cosines = nearest(index, vector, limit, (), within) if vector is not None else {}
    return Legs(found, cosines, cosines)
