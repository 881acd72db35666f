"""Look up the words of a query in an index and match them, as a search asks."""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import TYPE_CHECKING

from memlines.index.store.base import KnownTerm, SpokenTerm
from memlines.index.store.sqlite.chunks import (
    LANGUAGE_MARK,
    counts_beginning_with,
    document_counts,
    is_matched,
    match_words,
)
from memlines.index.store.sqlite.db import damaged
from memlines.types import Source

if TYPE_CHECKING:
    from memlines.index.store.sqlite.reader import IndexReader, IndexState

_QUOTED = str.maketrans({'"': '""'})
"""How a term is written between quotes, so that FTS5 reads it as one word, whatever it contains."""

_MOST_COUNTED = 50_000
"""Terms whose counts are kept, until the index changes."""

_FEW = 50
"""Stems up to which each is looked up by itself."""


class WordTable:
    """The words of an index in one state. The key of a term is what FTS5 is asked for."""

    def __init__(self, index: IndexReader) -> None:
        self._index = index
        self._connection = index.connection

    def look_up(self, terms: Set[SpokenTerm]) -> dict[SpokenTerm, KnownTerm]:
        """Return those of some terms that chunks of their languages hold."""
        state = self._index.state
        every = {term for term, _ in terms}
        every.update([LANGUAGE_MARK + language for language in state.languages])
        if len(state.terms) > _MOST_COUNTED:
            state.terms.clear()
        # A difference of sets would walk over all counts.
        new = [term for term in every if term not in state.terms]
        counts = document_counts(self._connection, new)
        if counts and max(counts.values()) > self._index.count_chunks():
            raise damaged(self._index.path, "a word is said to be in more chunks than there are")
        state.terms.update(dict.fromkeys(new, 0) | counts)
        found = {}
        for term, spoken in terms:
            if not state.terms[term]:
                continue
            known = self._within_languages(term, spoken, state)
            if known is not None:
                found[term, spoken] = known
        return found

    def _within_languages(self, term: str, spoken: Sequence[str], state: IndexState) -> KnownTerm | None:
        """Return what finds a term only in chunks of some languages, and in how many at most, if it does.

        Stems of different languages may be the same: German cuts `bother` to `both`, which English notes hold
        as another word.
        """
        expression, counts = f'"{term.translate(_QUOTED)}"', state.terms
        held = {f"{LANGUAGE_MARK}{one}": one in spoken for one in state.languages}
        own = [mark for mark, is_own in held.items() if is_own and counts[mark]]
        others = [mark for mark, is_own in held.items() if not is_own and counts[mark]]
        if not others:
            return KnownTerm(expression, counts[term])
        is_in = []
        for marks in (own, others):
            both = f"{expression} AND ({' OR '.join(marks)})"
            if marks and both not in counts:
                counts[both] = int(is_matched(self._connection, both))
            is_in.append(marks and counts[both])
        if not is_in[0]:
            return None
        chunks = sum([counts[mark] for mark in own])
        # Few terms are in chunks of other languages; leaving these out takes as long as all the rest.
        if is_in[1]:
            # Whichever has fewer chunks is looked through sooner.
            has_most = chunks > sum([counts[mark] for mark in others])
            narrow = f"NOT ({' OR '.join(others)})" if has_most else f"AND ({' OR '.join(own)})"
            expression = f"({expression} {narrow})"
        return KnownTerm(expression, min(counts[term], chunks))

    def look_up_prefix(self, prefix: str) -> KnownTerm | None:
        """Return what finds all terms that begin like this, if there are any."""
        counts = counts_beginning_with(self._connection, prefix)
        return KnownTerm(f'"{prefix.translate(_QUOTED)}" *', sum(counts.values())) if counts else None

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
        held = [f"({' OR '.join(group)})" for group in groups if group]
        if not held or (every and len(held) < len(groups)):
            return []
        expression = (" AND " if every else " OR ").join(held)
        found = match_words(self._connection, expression, limit, sources, only)
        return [(number, -rank) for number, rank in found]

    def match_phrases(
        self,
        phrases: Sequence[Sequence[str]],
        limit: int,
        sources: Sequence[Source] = (),
        only: Set[int] | None = None,
    ) -> list[int]:
        """Return the chunks in which the terms of any phrase follow each other."""
        quoted = [[f'"{term.translate(_QUOTED)}"' for term in terms] for terms in phrases]
        expression = " OR ".join([f"({' + '.join(terms)})" for terms in quoted])
        return [number for number, _ in match_words(self._connection, expression, limit, sources, only)]

    def count_stems(self, stems: Set[str], prefix: str) -> dict[str, int]:
        """Return in how many chunks stems occur; most begin alike, and are read at once."""
        alike = {stem for stem in stems if stem.startswith(prefix)}
        if len(alike) <= _FEW:
            return document_counts(self._connection, stems)
        counts = counts_beginning_with(self._connection, prefix)
        return document_counts(self._connection, stems - alike) | {
            stem: counts[stem] for stem in alike & counts.keys()
        }

    def holding(self, stem: str, limit: int) -> list[int]:
        """Return some chunks that hold a stem."""
        return [number for number, _ in match_words(self._connection, f'"{stem.translate(_QUOTED)}"', limit)]
