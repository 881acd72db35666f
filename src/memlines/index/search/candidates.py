"""The chunks a query may be answered with, read once and only if they are needed."""

from __future__ import annotations

from collections.abc import Iterable

from memlines.index.search import lexical
from memlines.index.store.sqlite.index import Index
from memlines.text.terms import title_of
from memlines.types import IndexedChunk


class Candidates:
    """Chunks of an index, with the words of a query that each of them holds."""

    def __init__(self, index: Index, wanted: lexical.Wanted) -> None:
        """Prepare to read chunks and to look for the words of a query in them."""
        self._index = index
        self._weights = wanted.weights()
        self.total = wanted.total
        """How many chunks the index holds."""
        self._chunks: dict[int, IndexedChunk] = {}
        self._words: dict[int, tuple[str, ...]] = {}
        self.matched = lexical.matcher(index, self._weights)
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
