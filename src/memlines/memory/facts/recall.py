"""Recall facts: search them like notes, but judge them as the single sentences they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from memlines.errors import StoreError
from memlines.index.search.engine import MOST_WEAK
from memlines.index.search.legs import Nearest, Request, Within
from memlines.index.store.sqlite.index import Index
from memlines.memory.facts.shelf import Shelf
from memlines.memory.upkeep.answering import fresh_answer
from memlines.memory.upkeep.upkeep import Upkeep, silent
from memlines.settings import Loaded, overridden
from memlines.text.facts import Fact, FactLine
from memlines.types import Band, Hit, Mode, cite


@dataclass(frozen=True, slots=True)
class Found:
    """A fact that was found."""

    fact: Fact
    score: float
    """How likely it answers the query."""
    similarity: float | None
    """The cosine of both vectors, from 0 to 1; nothing where there is no vector."""
    citation: str
    band: Band = "weak"
    """How sure it is that it answers."""

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
    """The facts that answer a query, best first, and what should be told about how they were found."""

    found: tuple[Found, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def confident(self) -> bool:
        """Whether a fact is a strong or likely answer; if not, those that are shown are only the nearest."""
        return any(one.band != "weak" for one in self.found)


@dataclass(frozen=True, slots=True)
class Source:
    """Where the facts of an open index are, and who tells the nearest of them, if not the index."""

    shelf: Shelf
    nearest: Nearest | None


def request_of(
    loaded: Loaded, query: str, limit: int, min_score: float | None, now: datetime | None, mode: Mode
) -> Request:
    """Return a query for facts; whatever is set for notes, their scores are probabilities."""
    likely = loaded.settings.facts.recall_min_score
    asked = {"query.max_results": limit, "query.min_score": likely, "query.fusion": "evidence"}
    settings = overridden(loaded, asked)
    return Request(
        text=query,
        query=settings.query,
        profile="default",
        mode=mode,
        sources=settings.sources,
        now=now or datetime.now(UTC),
        cut=min_score,
        full=True,
    )


def recall(
    upkeep: Upkeep,
    request: Request,
    path: str,
    lines: Sequence[FactLine],
    source_in: Callable[[Index], Source],
    *,
    current_only: bool,
    timely: bool,
) -> tuple[Recollection, Sequence[FactLine]]:
    """Return the facts that answer a query, from the index as it is after a look at the files.

    Return those of the note as well that the index does not hold; one that cannot be used holds none.
    """
    shelf = Shelf(missing=lines)

    def facts_alone(index: Index) -> Within:
        nonlocal shelf
        source = source_in(index)
        shelf = source.shelf
        numbers = shelf.current if current_only else shelf.all
        return Within(numbers, shelf.days, source.nearest, timely, brief=True)

    try:
        result = fresh_answer(upkeep, request, silent, facts_alone)
    except StoreError as error:
        return Recollection((), (f"facts were found without the index: {error}",)), lines
    found: dict[str, Found] = {}
    for hit in result:  # of a long fact several pieces may answer
        line = shelf.by_start[hit.start_line]
        found.setdefault(line.fact.id, found_as(hit, line, path))
    return Recollection(tuple(found.values()), result.warnings), shelf.missing


def clipped(cosine: float | None) -> float | None:
    """Return a cosine as a similarity from 0 to 1."""
    return None if cosine is None else min(1.0, max(0.0, cosine))


def found_as(hit: Hit, line: FactLine, path: str) -> Found:
    """Return a fact with how it was found."""
    place = cite(path, line.first, line.last)
    return Found(line.fact, hit.score, clipped(hit.why.vector), place, hit.band)


def best_of(found: Iterable[Found], limit: int, *, cut: bool) -> tuple[Found, ...]:
    """Return the best of what the index and the note told apart, as one search would.

    Unless they were cut off by a score, weak ones are shown only where nothing better is, and only a few.
    """
    ranked = sorted(found, key=lambda one: one.score, reverse=True)
    sure = [one for one in ranked if one.band != "weak"]
    shown = ranked[:limit] if cut else sure[:limit] or ranked[: min(limit, MOST_WEAK)]
    first, others = shown[:1], shown[1:]  # only the best is strong
    return (*first, *(replace(one, band="likely") if one.band == "strong" else one for one in others))
