"""Find chunks by the words of a query, scored between 0 and 1."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache

from memlines.errors import StoreDamaged
from memlines.index.store.sqlite.chunks import document_counts, match_words, prefix_count
from memlines.index.store.sqlite.index import Index
from memlines.text.terms import (
    RUN,
    is_one_word,
    is_unspaced,
    parts_of,
    query_terms,
    terms_of,
    terms_of_run,
    title_of,
)
from memlines.text.words import is_small_talk, telling_words, words_of
from memlines.types import IndexedChunk, Source

_MOST_WORDS = 64
"""A pasted page is searched by its rarest words; more of them only cost time."""

_LOOKED_UP = 2_000
_COMMON_PART = 0.25
_COMMON_FROM = 1_000
"""In an index of this many chunks, a word that this part of them holds is left out as long as a
rarer one remains: it costs the most time and tells the least."""


@dataclass(frozen=True, slots=True)
class Term:
    """A word of the query: as written, as the index may hold it, and in how many chunks it is."""

    word: str
    variants: tuple[str, ...]
    chunks: int

    @property
    def expression(self) -> str:
        """What FTS5 is asked for: any of the forms the word may have there."""
        if _is_prefix(self.word):
            return f"{_quoted(self.word)} *"
        return "(" + " OR ".join(map(_quoted, self.variants)) + ")"


@dataclass(frozen=True, slots=True)
class Wanted:
    """The telling words of a query, and how much each of them tells in this index."""

    terms: tuple[Term, ...]
    total: int
    phrase: str = ""
    """What is searched instead of single words, if the query is made of small words only."""

    def weights(self) -> dict[str, float]:
        """Return what finding each word is worth: rare ones tell more.

        A word nobody ever wrote down says nothing about how rare it is; it counts like the rarest.
        """
        known = {term.word: _rarity(term.chunks, self.total) for term in self.terms if term.chunks}
        rarest = max(known.values(), default=1.0)
        return {term.word: known.get(term.word, rarest) for term in self.terms}


def look_up(index: Index, query: str) -> Wanted:
    """Look up the words of a query in the index."""
    phrase = _phrase(index, query) if is_small_talk(query) else ""
    return Wanted(tuple(_terms(index, query)), index.count_chunks(), phrase)


def find(
    index: Index, wanted: Wanted, limit: int, sources: Sequence[Source], only: Set[int] | None = None
) -> dict[int, float]:
    """Return the chunks that hold any telling word of the query, best first; none but those among `only`.

    The score is the chunk's BM25 as a part of what a chunk of average length would get that
    holds every word once. It says how much of the query a chunk covers, rare words counting
    more, and means the same in a small workspace and a large one.
    """
    if wanted.phrase:
        found = match_words(index.connection, wanted.phrase, limit, sources, only)
        return {number: COVERED for number, _ in found}
    present = [term for term in wanted.terms if term.chunks]
    if not present:
        return {}
    complete = sum(wanted.weights().values())
    expression = " OR ".join(term.expression for term in _affordable(present, wanted.total))
    found = match_words(index.connection, expression, limit, sources, only)
    return {number: 1.0 - math.exp(-_STEEPNESS * -rank / complete) for number, rank in found}


_STEEPNESS = 1.2
COVERED = 1.0 - math.exp(-_STEEPNESS)
"""What a chunk scores that covers the whole query once; repeating its words brings it nearer to 1."""


def _phrase(index: Index, query: str) -> str:
    """Return what finds small words only where they stand together: "to be or not to be"."""
    every = [terms_of(query, language) for language in ("", *index.languages())]
    # Of a script without blanks only the pairs follow each other in the index.
    joined = [[term for term in terms if len(term) > 1 or term.isascii()] or terms for terms in every]
    return " OR ".join(dict.fromkeys("(" + " + ".join(map(_quoted, terms)) + ")" for terms in joined))


def find_all(
    index: Index, query: str, limit: int, sources: Sequence[Source], only: Set[int] | None = None
) -> dict[int, float]:
    """Return the chunks that hold every word of the query, scored as OpenClaw does."""
    terms = _looked_up(index, list(dict.fromkeys(words_of(query)))[:_MOST_WORDS])
    if not terms:
        return {}
    expression = " AND ".join(term.expression for term in terms)
    found = match_words(index.connection, expression, limit, sources, only)
    return {number: openclaw_score(rank) for number, rank in found}


def find_each(
    index: Index, query: str, limit: int, sources: Sequence[Source], only: Set[int] | None = None
) -> dict[int, float]:
    """Search every keyword by itself, as OpenClaw does without vectors when all together find nothing."""
    best: dict[int, float] = {}
    for term in _looked_up(index, telling_words(query)[:_MOST_WORDS]):
        for number, rank in match_words(index.connection, term.expression, limit, sources, only):
            best[number] = max(best.get(number, 0.0), openclaw_score(rank))
    return dict(sorted(best.items(), key=lambda item: -item[1])[:limit])


def openclaw_score(rank: float) -> float:
    """Map an FTS5 rank (negative, lower is better) to OpenClaw's score between 0 and 1."""
    if not math.isfinite(rank):
        return 0.001
    if rank < 0:
        return -rank / (1 - rank)
    return 1 / (1 + rank)


def matcher(index: Index, query_words: Iterable[str]) -> Callable[[str, str], tuple[str, ...]]:
    """Return a function that tells which of some words a text in a language holds."""
    languages = index.languages()
    wanted = {word: query_terms(word, languages) for word in query_words}
    meant: dict[str, list[str]] = {}
    for word, variants in wanted.items():
        for variant in variants:
            meant.setdefault(variant, []).append(word)
    beginnings = {variant[:2] for variant in meant}
    seen: dict[str, dict[str, set[str]]] = {}
    dull: dict[str, set[str]] = {}

    def matched_words(text: str, language: str) -> tuple[str, ...]:
        known, ignored = seen.setdefault(language, {}), dull.setdefault(language, set())
        # Most words of a text match nothing and come again and again: they are looked at once.
        runs = _runs(text) - ignored
        new = runs - known.keys()
        plain = {run for run in new if run[:2].lower() not in beginnings and is_plain(run)}
        ignored |= plain
        for run in new - plain:
            known[run] = {word for term in terms_of_run(run, language) for word in meant.get(term, ())}
        found = {word for run in runs - plain for word in known[run]}
        return tuple([word for word in wanted if word in found])

    def is_plain(run: str) -> bool:
        # Stemming changes the end of a word; one that begins otherwise need not be stemmed.
        return run.isalpha() and run.isascii() and is_one_word(run)

    return matched_words


@lru_cache(maxsize=4_096)
def _runs(text: str) -> frozenset[str]:
    """Return the runs of characters in a text; the same texts are candidates again and again."""
    return frozenset(RUN.findall(text))


def _terms(index: Index, query: str) -> list[Term]:
    """Look up the query's words, and keep the rarest if there are too many."""
    terms = _looked_up(index, telling_words(query)[:_LOOKED_UP])
    unknown = [term.word for term in terms if not term.chunks]
    parts = [part for word in unknown for part in parts_of(word)]
    if parts:  # an identifier that nobody wrote down is searched by its parts
        terms = [term for term in terms if term.chunks or not parts_of(term.word)]
        said = {term.word for term in terms}
        terms += _looked_up(index, [part for part in dict.fromkeys(parts) if part not in said])
    if len(terms) <= _MOST_WORDS:
        return terms
    rarest_first = sorted(terms, key=lambda term: (term.chunks == 0, term.chunks))
    return rarest_first[:_MOST_WORDS]


def _looked_up(index: Index, query_words: list[str]) -> list[Term]:
    languages = index.languages()
    variants = {word: query_terms(word, languages) for word in query_words}
    every = list({variant for group in variants.values() for variant in group})
    counts = document_counts(index.connection, every)
    counts |= {word: prefix_count(index.connection, word) for word in query_words if _is_prefix(word)}
    return [
        # Only the forms that occur are searched for; a word without any stays as it was written.
        Term(
            word,
            tuple(variant for variant in group if counts.get(variant)) or group[:1],
            max(counts.get(variant, 0) for variant in group),
        )
        for word, group in variants.items()
        if group
    ]


def _is_prefix(word: str) -> bool:
    """Tell whether a word is one character of a script whose characters the index keeps in pairs."""
    return len(word) == 1 and is_unspaced(word)


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
            todo="Run 'memlines sync --force' to rebuild it",
        )
    weight = math.log((total - chunks + 0.5) / (chunks + 0.5))
    return weight if weight > 0 else 1e-6


def _quoted(word: str) -> str:
    """Write a word so that FTS5 takes it as a word whatever it contains."""
    return '"' + word.replace('"', '""') + '"'


class Candidates:
    """Chunks of an index, with the words of a query that each of them holds."""

    def __init__(self, index: Index, wanted: Wanted) -> None:
        """Prepare to read chunks and to look for the words of a query in them."""
        self._index = index
        self._weights = wanted.weights()
        self.total = wanted.total
        """How many chunks the index holds."""
        self._chunks: dict[int, IndexedChunk] = {}
        self._words: dict[int, tuple[str, ...]] = {}
        self.matched = matcher(index, self._weights)
        """Tells which words of the query a text in a language holds."""

    def read(self, numbers: Iterable[int]) -> dict[int, IndexedChunk]:
        """Return chunks by their numbers; those that are gone are left out."""
        wanted = list(numbers)
        self._chunks |= self._index.chunks(number for number in wanted if number not in self._chunks)
        return {number: self._chunks[number] for number in wanted if number in self._chunks}

    def chunk(self, number: int) -> IndexedChunk:
        """Return a chunk that was read."""
        return self._chunks[number]

    def words_of(self, chunk: IndexedChunk) -> tuple[str, ...]:
        """Return the words of the query that a chunk or its title holds."""
        if chunk.number not in self._words:
            text = f"{title_of(chunk.path, chunk.heading)}\n{chunk.text}"
            self._words[chunk.number] = self.matched(text, chunk.language)
        return self._words[chunk.number]

    def coverage(self, chunk: IndexedChunk) -> float:
        """Return how much of the query a chunk covers, from 0 to 1; rare words count more."""
        return self.share(self.words_of(chunk))

    def share(self, words: Iterable[str]) -> float:
        """Return how much of the query some of its words are, from 0 to 1; rare ones count more."""
        complete = sum(self._weights.values())
        return sum(self._weights[word] for word in words) / complete if complete else 0.0
