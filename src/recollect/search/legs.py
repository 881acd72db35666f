"""What each leg finds: by words, and by meaning."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from heapq import nlargest
from itertools import islice

from recollect.embed.passages import best_sentence
from recollect.search import lexical
from recollect.search.dense import common_cosine, is_fitted, scaled
from recollect.settings import Query
from recollect.store.sqlite.index import Index
from recollect.types import Mode, Source

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
) -> Legs:
    """Ask both legs, or the one that was asked for; without a vector there are only words."""
    if request.profile == "openclaw":
        return _openclaw(index, vector, request)
    depth = _NARROWED_DEPTH if narrowed else _DEPTH
    found: dict[int, float] = {}
    if request.mode != "vectors":
        found = lexical.find(index, wanted, depth, sources_to_ask(index, request))
    if vector is None:
        return Legs(found, {}, {})
    # Search is exact, so the chunks found by words get their true cosine too.
    cosines = index.vectors.nearest(vector, depth, also=found)
    hopeful = {*nlargest(_LOOKED_INTO, cosines, key=cosines.__getitem__), *islice(found, _LOOKED_INTO)}
    sentences = best_sentence(vector, index.vectors.sentences(hopeful))
    common = None if is_fitted(model) else common_cosine(vector, index.vectors.background())
    return Legs(found, scaled(cosines, sentences, model, common), cosines, measured=common is not None)


def sources_to_ask(index: Index, request: Request) -> tuple[Source, ...]:
    """Return the sources to look in; nothing if that is all there are, which is quicker."""
    held = index.identity().get("sources", [])
    return () if set(held) <= set(request.sources) else request.sources


def _openclaw(index: Index, vector: bytes | None, request: Request) -> Legs:
    query = request.query
    limit = min(_DEPTH, max(1, int(query.max_results * query.hybrid.candidate_multiplier)))
    sources = sources_to_ask(index, request)
    found: dict[int, float] = {}
    if request.mode != "vectors":
        found = lexical.find_all(index, request.text, limit, sources)
        if not found and vector is None:
            found = lexical.find_each(index, request.text, limit, sources)
    cosines = index.vectors.nearest(vector, limit) if vector is not None else {}
    return Legs(found, cosines, cosines)
