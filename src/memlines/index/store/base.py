"""What a search reads of an index, whatever keeps it: a file of SQLite or a Qdrant cluster."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any, NamedTuple, Protocol

from memlines.types import IndexedChunk, Source

SpokenTerm = tuple[str, tuple[str, ...]]
"""A term, and the languages whose chunks may hold it."""


class KnownTerm(NamedTuple):
    """What a store is asked for to find a term, and in how many chunks that is at most."""

    key: str
    chunks: int


class Words(Protocol):
    """The words of the chunks."""

    def look_up(self, terms: Set[SpokenTerm]) -> dict[SpokenTerm, KnownTerm]:
        """Return those of some terms that chunks of their languages hold."""
        ...

    def look_up_prefix(self, prefix: str) -> KnownTerm | None:
        """Return what finds all terms that begin like this, if there are any."""
        ...

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
        ...

    def match_phrases(
        self,
        phrases: Sequence[Sequence[str]],
        limit: int,
        sources: Sequence[Source] = (),
        only: Set[int] | None = None,
    ) -> list[int]:
        """Return the chunks in which the terms of any phrase follow each other."""
        ...

    def count_stems(self, stems: Set[str], prefix: str) -> dict[str, int]:
        """Return in how many chunks stems occur, whatever their language; most of them begin alike."""
        ...

    def holding(self, stem: str, limit: int) -> list[int]:
        """Return some chunks that hold a stem."""
        ...


class Vectors(Protocol):
    """The vectors of the chunks in the space that answers."""

    def nearest(
        self, query: bytes, limit: int, also: Iterable[int] = (), only: frozenset[int] | None = None
    ) -> dict[int, float]:
        """Return the cosine of the nearest chunks, of all or of `only` some, and of those in `also`."""
        ...

    def cosines(self, query: bytes, chunks: Iterable[int]) -> dict[int, float]:
        """Return the cosines of those chunks that have a vector."""
        ...

    def sentences(self, chunks: Iterable[int]) -> dict[int, bytes]:
        """Return the vectors of the sentences of those chunks that have any."""
        ...

    def background(self) -> bytes | None:
        """Return the mean vector of texts that have nothing to do with anything here, if it is known."""
        ...


class SearchedIndex(Protocol):
    """An open index that answers a search from one state."""

    @property
    def languages(self) -> Sequence[str]:
        """The languages whose words the index holds as stems."""
        ...

    @property
    def words(self) -> Words:
        """The words of the chunks."""
        ...

    @property
    def vectors(self) -> Vectors:
        """The vectors that answer."""
        ...

    def identity(self) -> Mapping[str, Any]:
        """Return the settings the index was made with."""
        ...

    def count_chunks(self) -> int:
        """Return how many chunks there are."""
        ...

    def chunks(self, numbers: Iterable[int]) -> dict[int, IndexedChunk]:
        """Return chunks by their numbers; those that are gone are left out."""
        ...

    def numbers_of(self, paths: Iterable[str]) -> Iterable[int]:
        """Return the numbers of the chunks of some files."""
        ...

    def find_days(self, first: str, last: str, limit: int) -> Sequence[int]:
        """Return the chunks with entries of some days: the newest day first, each in its order."""
        ...
