"""Which chunk of the index holds which fact.

That is worked out once for every state of the note, in the index and on disk: with many facts it takes longer
than a question may.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from memlines.index.store.sqlite.chunks import chunks_in, note_state, places_in
from memlines.index.store.sqlite.index import Index
from memlines.text.fact_note import words_of
from memlines.text.facts import FactLine


@dataclass(frozen=True, slots=True)
class FactStore:
    """The facts that the index holds as they stand in the note now, by the numbers of their chunks."""

    lines: Mapping[int, FactLine] = field(default_factory=dict)
    by_start: Mapping[int, FactLine] = field(default_factory=dict)
    """The same by the line that a chunk begins with in the index."""
    numbers: Mapping[str, int] = field(default_factory=dict)
    """The numbers by the ids of facts."""
    all: frozenset[int] = frozenset()
    current: frozenset[int] = frozenset()
    days: dict[int, str] = field(default_factory=dict)
    """When they were written down, in the order of the note."""
    missing: Sequence[FactLine] = ()
    """The facts that the index does not hold, in the order of the note."""


class FactStores:
    """The store of the present state, worked out again when the note or the index has changed.

    Facts that were added to the end of the note, and chunks to the index, are added to it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._state: Hashable = None
        self._lines: Sequence[FactLine] = ()
        self._rows: list[tuple[int, int]] = []
        self._last = FactStore()

    def of(self, index: Index, path: str, lines: Sequence[FactLine]) -> FactStore:
        """Return where the index holds the facts of a note; the caller holds a snapshot of the index."""
        state = state_of(index, path)
        with self._lock:
            if self._state != state or self._lines is not lines:
                self._last = self._made(index, path, lines, is_same_index=self._state == state)
                self._state, self._lines = state, lines
            return self._last

    def _made(self, index: Index, path: str, lines: Sequence[FactLine], *, is_same_index: bool) -> FactStore:
        known = self._lines
        rows = self._rows if is_same_index else places_in(index.connection, path)
        before, self._rows = self._rows, rows
        has_grown = len(known) <= len(lines) and lines[: len(known)] == known
        if not (known and has_grown and rows[: len(before)] == before):
            return _fill(chunks_in(index.connection, path), lines)
        last = self._last
        waiting = [*last.missing, *lines[len(known) :]]
        if len(rows) == len(before):
            return replace(last, missing=waiting)
        numbers = [number for number, _ in rows[len(before) :]]
        new = _fill(chunks_in(index.connection, path, numbers), waiting)
        return FactStore(
            {**last.lines, **new.lines},
            {**last.by_start, **new.by_start},
            {**last.numbers, **new.numbers},
            last.all | new.all,
            last.current | new.current,
            {**last.days, **new.days},
            new.missing,
        )


def state_of(index: Index, path: str) -> tuple[str, str, int]:
    """Return what changes whenever an index holds a note otherwise than before."""
    return (index.birth, *note_state(index.connection, path))


def _fill(chunks: Iterable[tuple[int, int, str]], lines: Sequence[FactLine]) -> FactStore:
    pieces: dict[int, list[tuple[int, str]]] = {}
    for number, start, text in chunks:
        pieces.setdefault(start, []).append((number, text))
    held: dict[int, FactLine] = {}
    starts: dict[int, FactLine] = {}
    for line in lines:
        own = pieces.get(line.first, ())
        if own and _is_cut_from(words_of(line.fact), [text for _, text in own]):
            held.update((number, line) for number, _ in own)
            starts[line.first] = line
            del pieces[line.first]
    missing: list[FactLine] = []
    if len(starts) < len(lines):  # the note was changed since: what says the same is the same
        moved = {text: (start, number) for start, [(number, text), *_] in pieces.items()}
        for line in [line for line in lines if starts.get(line.first) is not line]:
            if words_of(line.fact) in moved:
                start, number = moved.pop(words_of(line.fact))
                held[number] = starts[start] = line
            else:
                missing.append(line)
    return FactStore(
        held,
        starts,
        {line.fact.id: number for number, line in held.items()},
        frozenset(held),
        frozenset(number for number, line in held.items() if line.fact.is_current),
        {number: line.fact.created.isoformat() for number, line in held.items() if line.fact.created},
        missing,
    )


def _is_cut_from(words: str, texts: Sequence[str]) -> bool:
    """Tell whether texts are what a fact says: all of it at once, or in pieces if it is long."""
    return words == texts[0] if len(texts) == 1 else all(text.strip() in words for text in texts)


def cosines(vector: bytes, vectors: Sequence[bytes]) -> list[float]:
    """Return the cosines of a vector with others; all of them have the length one."""
    import numpy as np

    rows = np.frombuffer(b"".join(vectors), "<f4").reshape(len(vectors), -1)
    return list(map(float, np.vecdot(rows, np.frombuffer(vector, "<f4"))))
