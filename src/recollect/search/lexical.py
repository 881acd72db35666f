"""The word leg: chunks that hold the query's words, scored between 0 and 1."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from recollect.errors import StoreDamaged
from recollect.store.sqlite import words
from recollect.store.sqlite.index import Index
from recollect.text.words import telling_words, words_of
from recollect.types import Source

_MOST_WORDS = 64
"""A pasted page is searched by its rarest words; more of them only cost time."""

_LOOKED_UP = 2_000
_COMMON_PART = 0.25
_COMMON_FROM = 1_000
"""In an index of this many chunks, a word that this part of them holds is left out as long as a
rarer one remains: it costs the most time and tells the least."""


@dataclass(frozen=True, slots=True)
class Term:
    """A word of the query: as written, as the index keeps it, and in how many chunks it is."""

    word: str
    stems: tuple[str, ...]
    chunks: int


def find(index: Index, query: str, limit: int, sources: Sequence[Source]) -> dict[int, float]:
    """Return the chunks that hold any telling word of the query, best first.

    The score is the chunk's BM25 as a part of what a chunk of average length would get that
    holds every word once. It says how much of the query a chunk covers, rare words counting
    more, and means the same in a small workspace and a large one.
    """
    total = index.count_chunks()
    terms = _terms(index, query)
    present = [term for term in terms if term.chunks]
    if not present:
        return {}
    weights = [_rarity(term.chunks, total) for term in present]
    absent = sum(1 for term in terms if not term.chunks and term.stems)
    # A word nobody ever wrote down says nothing about how rare it is; it counts like the rarest.
    complete = sum(weights) + absent * max(weights)
    expression = " OR ".join(_quoted(term.word) for term in _affordable(present, total))
    found = words.match(index.connection, expression, limit, sources)
    return {number: 1.0 - math.exp(-_STEEPNESS * -rank / complete) for number, rank in found}


_STEEPNESS = 1.2
"""A chunk that covers the whole query once scores 0.7; repeating its words brings it nearer to 1."""


def find_all(index: Index, query: str, limit: int, sources: Sequence[Source]) -> dict[int, float]:
    """Return the chunks that hold every word of the query, scored as OpenClaw does."""
    tokens = words_of(query)[:_MOST_WORDS]
    if not tokens:
        return {}
    found = words.match(index.connection, " AND ".join(map(_quoted, tokens)), limit, sources)
    return {number: openclaw_score(rank) for number, rank in found}


def find_each(index: Index, query: str, limit: int, sources: Sequence[Source]) -> dict[int, float]:
    """Search every keyword by itself, as OpenClaw does without vectors when all together find nothing."""
    best: dict[int, float] = {}
    for word in telling_words(query)[:_MOST_WORDS]:
        for number, rank in words.match(index.connection, _quoted(word), limit, sources):
            best[number] = max(best.get(number, 0.0), openclaw_score(rank))
    return dict(sorted(best.items(), key=lambda item: -item[1])[:limit])


def openclaw_score(rank: float) -> float:
    """Map an FTS5 rank (negative, lower is better) to OpenClaw's score between 0 and 1."""
    if not math.isfinite(rank):
        return 0.001
    if rank < 0:
        return -rank / (1 - rank)
    return 1 / (1 + rank)


def matcher(index: Index, query: str) -> Callable[[str], tuple[str, ...]]:
    """Return a function that tells which telling words of the query a text holds, as the index sees it."""
    wanted = {word: stems for word, stems in _stems(index, query).items() if stems}

    def matched_words(text: str) -> tuple[str, ...]:
        held = set(words.stems(index.connection, text))
        return tuple([word for word, stems in wanted.items() if held.issuperset(stems)])

    return matched_words


def _stems(index: Index, query: str) -> dict[str, tuple[str, ...]]:
    """Return the telling words of the query, each in the form the index keeps it."""
    return {word: tuple(words.stems(index.connection, word)) for word in telling_words(query)[:_LOOKED_UP]}


def _terms(index: Index, query: str) -> list[Term]:
    """Look up the query's words, and keep the rarest if there are too many."""
    stems = _stems(index, query)
    counts = words.document_counts(
        index.connection, list({stem for group in stems.values() for stem in group})
    )
    terms = [
        Term(word, group, min((counts.get(stem, 0) for stem in group), default=0))
        for word, group in stems.items()
    ]
    if len(terms) <= _MOST_WORDS:
        return terms
    rarest_first = sorted(terms, key=lambda term: (term.chunks == 0, term.chunks))
    return rarest_first[:_MOST_WORDS]


def _affordable(present: list[Term], total: int) -> list[Term]:
    if total < _COMMON_FROM:
        return present
    rare = [term for term in present if term.chunks <= _COMMON_PART * total]
    return rare or present


def _rarity(chunks: int, total: int) -> float:
    """Return the weight FTS5's BM25 gives to a word (its inverse document frequency)."""
    if chunks > total:
        raise StoreDamaged(
            "the index is damaged: a word is said to be in more chunks than there are",
            todo="Run 'recollect sync --force' to rebuild it",
        )
    weight = math.log((total - chunks + 0.5) / (chunks + 0.5))
    return weight if weight > 0 else 1e-6


def _quoted(word: str) -> str:
    """Write a word so that FTS5 takes it as a word whatever it contains."""
    return '"' + word.replace('"', '""') + '"'
