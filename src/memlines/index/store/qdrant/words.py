"""The words of chunks as sparse vectors: how they are written, and what a search asks of them.

A point holds for each of its words what BM25 gives for how often it occurs there; the cluster multiplies that
with how rare the word is.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Any

from memlines.index.store.base import KnownTerm, SpokenTerm
from memlines.index.store.qdrant.points import WORDS
from memlines.text.terms import is_unspaced, terms_of, title_of
from memlines.types import IndexedChunk, Source

if TYPE_CHECKING:
    from memlines.index.store.qdrant.index import ClusterIndex

_K1, _B, _TITLE_WEIGHT = 1.2, 0.75, 0.5
"""The constants of BM25 in FTS5, and what a word of the title counts there."""

_LENGTH_STEP = 1.2
"""How much the mean length of chunks may change until those that are written count by another one."""

_PREFIX = "^"
"""The language of a term that stands for all that begin with its one character."""

_COMMONEST = 1e-6
"""What a word weighs that most chunks hold, as in FTS5."""

_OF_EVERY_GROUP, _OF_PHRASES, _OF_STEMS = 16, 400, 64
"""Candidates that are looked through: for each result that is wanted, for phrases, and to count stems."""


@lru_cache(maxsize=100_000)
def dimension(term: str, language: str) -> int:
    """Return the place of a term in sparse vectors; that of the same term in another language is another."""
    digest = hashlib.blake2s(f"{language}\0{term}".encode(), digest_size=4).digest()
    return int.from_bytes(digest, "little")


def dimensions(terms: SpokenTerm) -> list[int]:
    """Return the places of a term in each of its languages."""
    term, languages = terms
    return [dimension(term, language) for language in languages or ("",)]


def prefix_dimension(character: str) -> int:
    """Return the place that stands for all terms that begin with a character of a script without blanks."""
    return dimension(character, _PREFIX)


def middling_length(mean: float) -> float:
    """Return the step of a scale that is nearest to the mean length of chunks.

    FTS5 compares with the mean itself; a point is written once, and so stays right while the mean moves.
    """
    return float(_LENGTH_STEP ** round(math.log(max(mean, 1.0), _LENGTH_STEP)))


def sparse_vector(chunk: IndexedChunk, mean: float) -> dict[str, list[Any]]:
    """Return how often each word of a chunk occurs, as BM25 counts; the cluster knows how rare it is.

    `mean` is how many terms a chunk of middling length has.
    """
    text = terms_of(chunk.text, chunk.language)
    title = terms_of(title_of(chunk.path, chunk.heading), chunk.language)
    counts: dict[int, float] = {}
    for terms, weight in ((text, 1.0), (title, _TITLE_WEIGHT)):
        for term, times in Counter(terms).items():
            own = [dimension(term, chunk.language)]
            if is_unspaced(term):
                own.append(prefix_dimension(term[0]))
            for at in own:
                counts[at] = counts.get(at, 0.0) + times * weight
    length = _K1 * (1 - _B + _B * (len(text) + len(title) + 1) / mean)
    values = {count: round(count * (_K1 + 1) / (count + length), 4) for count in {*counts.values()}}
    return {"indices": [*counts], "values": [values[count] for count in counts.values()]}


class ClusterWords:
    """The words of the chunks. The key of a term is JSON: places in sparse vectors and their weights."""

    def __init__(self, index: ClusterIndex) -> None:
        self._index = index
        self._parts: dict[int, tuple[float, float]] = {}
        """In which part of the chunks a term is, and how rare the cluster takes it to be; 0 if in none."""

    def look_up(self, terms: Set[SpokenTerm]) -> dict[SpokenTerm, KnownTerm]:
        """Return those of some terms that chunks of their languages hold."""
        places = {term: dimensions(term) for term in terms}
        self._look_up({place for group in places.values() for place in group})
        found = {term: self._known(group) for term, group in places.items()}
        return {term: known for term, known in found.items() if known is not None}

    def look_up_prefix(self, prefix: str) -> KnownTerm | None:
        """Return what finds all terms that begin like this, if there are any."""
        place = prefix_dimension(prefix)
        self._look_up({place})
        return self._known([place])

    def _look_up(self, places: Set[int]) -> None:
        """Find out how rare terms are: a score is that, times what the point has for the term."""
        new = [place for place in places if place not in self._parts]
        found = self._index.ask_each(
            [{**_by_words({place: 1.0}), "limit": 1, "with_vector": [WORDS]} for place in new]
        )
        for place, points in zip(new, found, strict=True):
            self._parts[place] = (0.0, 0.0)
            for point in points:
                vector = point["vector"][WORDS]
                value = vector["values"][vector["indices"].index(place)]
                if value > 0:
                    rarity = point["score"] / value
                    self._parts[place] = math.exp(-rarity), rarity

    def _known(self, places: Sequence[int]) -> KnownTerm | None:
        """Return what finds a term, with weights that make the cluster's idea of its rarity that of FTS5."""
        total = self._index.count_chunks()
        weights, chunks = {}, 0
        for place in places:
            part, rarity = self._parts[place]
            if part:
                count = min(total, max(1, round(part * (total + 1) - 0.5)))
                wanted = max(math.log((total - count + 0.5) / (count + 0.5)), _COMMONEST)
                weights[place] = wanted / max(rarity, _COMMONEST)
                chunks += count
        return KnownTerm(json.dumps([*weights.items()]), min(total, chunks)) if weights else None

    def match(
        self,
        groups: Sequence[Sequence[str]],
        limit: int,
        sources: Sequence[Source] = (),
        only: Set[int] | None = None,
        *,
        every: bool = False,
    ) -> list[tuple[int, float]]:
        """Return the chunks that hold any key of any group, or of `every` group, best first, with their BM25.

        All chunks may answer, or `only` some.
        """
        held = [dict(chain.from_iterable(map(json.loads, group))) for group in groups]
        if not any(held) or (every and not all(held)):
            return []
        search: dict[str, Any] = _by_words(
            {place: weight for group in held for place, weight in group.items()}
        )
        search["filter"] = self._narrow(sources, only)
        if not every:
            found = self._index.find(search, limit)
        else:  # the best of those that hold any
            search["with_vector"] = [WORDS]
            found = [
                point
                for point in self._index.find(search, limit * _OF_EVERY_GROUP)
                if all(not group.keys().isdisjoint(point["vector"][WORDS]["indices"]) for group in held)
            ][:limit]
        return [(self._index.number_of(point["id"]), point["score"]) for point in found]

    def match_phrases(
        self,
        phrases: Sequence[Sequence[str]],
        limit: int,
        sources: Sequence[Source] = (),
        only: Set[int] | None = None,
    ) -> list[int]:
        """Return the chunks in which the terms of any phrase follow each other, among the best."""
        search = _by_words(dict.fromkeys(self._places(chain.from_iterable(phrases)), 1.0))
        search |= {"filter": self._narrow(sources, only), "with_payload": ["text", "language"]}
        found = []
        for point in self._index.find(search, _OF_PHRASES):
            held = f" {' '.join(terms_of(point['payload']['text'], point['payload']['language']))} "
            if any(f" {' '.join(phrase)} " in held for phrase in phrases):
                found.append(self._index.number_of(point["id"]))
        return found[:limit]

    def count_stems(self, stems: Set[str], prefix: str) -> dict[str, int]:
        """Return in how many of the chunks that were looked through stems occur, whatever their language."""
        places = self._places(stems)
        search = {**_by_words(dict.fromkeys(places, 1.0)), "with_vector": [WORDS]}
        counts = Counter(
            places[place]
            for point in self._index.find(search, _OF_STEMS)
            for place in point["vector"][WORDS]["indices"]
            if place in places
        )
        return dict(counts)

    def holding(self, stem: str, limit: int) -> list[int]:
        """Return some chunks that hold a stem."""
        search = _by_words(dict.fromkeys(self._places([stem]), 1.0))
        return [self._index.number_of(point["id"]) for point in self._index.find(search, limit)]

    def _places(self, terms: Iterable[str]) -> dict[int, str]:
        """Return the places of terms in all languages of the index, each with its term."""
        return {place: term for term in terms for place in dimensions((term, tuple(self._index.languages)))}

    def _narrow(self, sources: Sequence[Source], only: Set[int] | None) -> list[dict[str, Any]]:
        narrowed: list[dict[str, Any]] = []
        if sources:
            narrowed.append({"key": "source", "match": {"any": [*sources]}})
        if only is not None:
            narrowed.append(self._index.has_id(only))
        return narrowed


def _by_words(weights: Mapping[int, float]) -> dict[str, Any]:
    """Return a search for words at some places of sparse vectors."""
    return {"query": {"indices": [*weights], "values": [*weights.values()]}, "using": WORDS}
