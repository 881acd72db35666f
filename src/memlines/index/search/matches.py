"""Find the words of a query in texts: which of them a chunk, its title and each of its entries hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from memlines.index.search.words import COMMON_PART, QueryWords
from memlines.index.store.base import SearchedIndex
from memlines.text.terms import MOST_SEEN, Vocabulary, is_unspaced, query_terms, title_of
from memlines.types import IndexedChunk

_NONE: frozenset[str] = frozenset()

_vocabularies: dict[str, Vocabulary] = {}
"""The words of each language that were seen in this process."""

_GUESSED = 0.5
"""What finding a corrected word is worth: the rest is missing, so no chunk covers all of the query."""

Words = dict[str, frozenset[str]]
"""Words of a query by what they are found by."""


class Matcher:
    """Finds some words in texts of a language, each in any of its forms, by their terms in that language."""

    def __init__(self, forms: Mapping[str, Sequence[str]]) -> None:
        """Prepare to look for words."""
        self._forms = forms
        self._by_term: dict[str, tuple[Words, Words]] = {}

    def runs(self, text: str, language: str) -> Words:
        """Return the runs of characters in a text that are words that are looked for, and which these are."""
        if language not in self._by_term:
            every: Words = {}
            for word, form in ((word, form) for word, group in self._forms.items() for form in group):
                for term in query_terms(form, (language,)):
                    every[term] = every.get(term, _NONE) | {word}
            by_pair = {term: words for term, words in every.items() if term and is_unspaced(term)}
            by_term = {term: words for term, words in every.items() if term not in by_pair}
            self._by_term[language] = by_term, by_pair
        by_term, by_pair = self._by_term[language]
        vocabulary = _vocabularies.get(language)
        if vocabulary is None or len(vocabulary.seen) > MOST_SEEN:
            vocabulary = _vocabularies[language] = Vocabulary(language)
        runs = vocabulary.runs_of(text)
        found = {pair: words for pair, words in by_pair.items() if pair in text}
        for term, words in by_term.items():
            for run in vocabulary.by_term.get(term, ()):
                if run in runs:
                    found[run] = found.get(run, _NONE) | words
        return found

    def __call__(self, text: str, language: str) -> frozenset[str]:
        """Return the words that a text holds."""
        return _NONE.union(*self.runs(text, language).values())


class Held(NamedTuple):
    """The words of a query in a chunk: by the runs of characters in its text, in its title, and all."""

    runs: Words
    title: frozenset[str]
    every: frozenset[str]


class MatchedChunks:
    """Chunks that may answer, read once and only if they are needed, with the query's words in them."""

    def __init__(self, index: SearchedIndex, words: QueryWords) -> None:
        """Prepare to read chunks and to look for the words of a query in them."""
        self._index = index
        # A word that may be meant is not one that was written.
        self._weights = {
            word: weight * (_GUESSED if word in words.corrections else 1.0)
            for word, weight in words.weights.items()
        }
        self._complete = sum(words.weights.values())
        self.known: dict[int, IndexedChunk] = {}
        """The chunks that were read, by number."""
        self._held: dict[int, Held] = {}
        self._parts: dict[tuple[str, str], frozenset[str]] = {}
        self._shares: dict[frozenset[str], float] = {}
        self.total = words.total
        self.asked = tuple([term.word for term in words.terms])
        """The words of the query."""
        self.corrections = words.corrections
        self.common = frozenset(
            [
                term.word
                for term in words.terms
                if term not in words.searched and 0 < term.chunks <= COMMON_PART * words.total
            ]
        )
        """Those that were not looked for, because too many chunks have them, and still say something."""
        self.match = Matcher({term.word: term.forms for term in words.terms})

    def read(self, numbers: Iterable[int]) -> dict[int, IndexedChunk]:
        """Return chunks by their numbers; those that are gone are left out."""
        wanted = list(numbers)
        new = [number for number in wanted if number not in self.known]
        if new:
            self.known |= self._index.chunks(new)
        return {number: self.known[number] for number in wanted if number in self.known}

    def held(self, chunk: IndexedChunk) -> Held:
        """Return the words of the query that a chunk holds."""
        if chunk.number not in self._held:
            title = self.match.runs(title_of(chunk.path, chunk.heading), chunk.language).values()
            runs = self.match.runs(chunk.text, chunk.language)
            self._held[chunk.number] = Held(runs, _NONE.union(*title), _NONE.union(*title, *runs.values()))
        return self._held[chunk.number]

    def words_in(self, chunk: IndexedChunk, text: str) -> frozenset[str]:
        """Return the words of the query in a part of a chunk's text, which holds whole lines."""
        key = chunk.language, text
        if key not in self._parts:
            runs = self.held(chunk).runs
            found = [run for run in runs if run in text]
            written = _vocabularies[chunk.language].runs_of(text) if found else ()
            self._parts[key] = _NONE.union(
                *[runs[run] for run in found if is_unspaced(run) or run in written]
            )
        return self._parts[key]

    def share(self, words: frozenset[str]) -> float:
        """Return how much of the query some of its words are, from 0 to 1; rare ones count more."""
        if words not in self._shares:  # many units hold the same words, or none
            # In the order of the query, because sums of the same numbers in another order differ a little.
            held = sum([weight for word, weight in self._weights.items() if word in words])
            self._shares[words] = held / self._complete if self._complete else 0.0
        return self._shares[words]
