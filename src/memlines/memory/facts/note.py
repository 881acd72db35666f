"""The note of the facts: read it, write it, and find which chunk of the index holds which fact.

The latter is worked out once for every state of the note, in the index and on disk: with many facts it takes
longer than a question may.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
from datetime import date
from operator import attrgetter

from memlines.errors import MemlinesError, PathError, WriteError
from memlines.files.notes import append, locate_lines, rewrite
from memlines.files.place import Place, place_of, reading
from memlines.files.read import read_document
from memlines.files.scan import fingerprint_of
from memlines.index.store.sqlite.chunks import chunks_in, note_state, places_in
from memlines.index.store.sqlite.index import Index
from memlines.paths import Workspace, note_path
from memlines.records import dataclass
from memlines.settings import Settings
from memlines.text.edits import add as add_block
from memlines.text.edits import cut, put
from memlines.text.entries import unclosed_fence
from memlines.text.fact_note import describe_conflicts, doubles_in, facts_in, facts_of, words_of
from memlines.text.facts import Fact, FactLine, is_id, line_of, new_id, plain, rewrite_line, source_of
from memlines.text.merges import describe_marks
from memlines.types import Fingerprint, FoundFile, Problem

TITLE = "Facts"
"""The heading of a note that is begun for facts."""

_FENCES = ("```", "~~~")


@dataclass(frozen=True, slots=True)
class _Read:
    """The note as it was read: what identifies this state of it, and what it held."""

    fingerprint: Fingerprint | None
    is_settled: bool
    hash: str
    facts: Mapping[str, FactLine]
    lines: tuple[FactLine, ...]
    ends_in_code: bool
    lost: tuple[FactLine, ...] = ()
    """The lines that do not count because another one of their id does."""
    conflicts: tuple[str, ...] = ()
    """What a merge left for a person to decide."""


_ABSENT = _Read(None, False, "", {}, (), False)


class FactNote:
    """The facts of a workspace, read from their note and written to it; threads may share one."""

    def __init__(self, workspace: Workspace, settings: Settings) -> None:
        self.path = note_path(settings.facts.file)
        self._workspace = workspace
        self._max_bytes = settings.files.max_bytes
        self._lock = threading.Lock()
        self._last = _ABSENT

    def lines(self) -> tuple[FactLine, ...]:
        """Return the facts in the order of the note; there are none if there is no note."""
        return self._now().lines

    def lines_of(self, digest: str) -> tuple[FactLine, ...] | None:
        """Return the same if the bytes of the note have this hash, which is empty if there is no note."""
        now = self._now()
        return now.lines if now.hash == digest else None

    def find(self, name: str) -> FactLine | None:
        """Return the fact with this id, if there is one."""
        return self._now().facts.get(name)

    def conflicts(self) -> tuple[str, ...]:
        """Return a sentence about each conflict that a merge left in the note."""
        return self._now().conflicts

    def lost(self) -> tuple[FactLine, ...]:
        """Return the lines that do not count since a merge; the next change of the note takes them out."""
        return self._now().lost

    def add(self, facts: Sequence[Fact]) -> list[FactLine]:
        """Write facts to the end of the note, durably and all at once, and return where they are.

        A fact whose id is taken or is not valid gets another id.
        """
        named = self._with_ids(facts)
        if not named:
            return []
        if self.lost():
            rewrite(
                self._workspace,
                self.path,
                lambda text: (_without_lost(text), None),
                max_bytes=self._max_bytes,
            )
        lines = [line_of(fact) for fact in named]
        written = append(self._workspace, self.path, "\n".join(lines), title=TITLE, max_bytes=self._max_bytes)
        places = range(written.start_line, written.end_line + 1)
        return [FactLine(*line) for line in zip(named, places, places, lines, strict=True)]

    def supersede(self, old: FactLine, new: Fact, on: date) -> tuple[FactLine, FactLine | None, str]:
        """Write a fact to the end of the note and mark another as no longer true, both at once or neither.

        Return both. If the old one cannot be marked, the new one is written all the same, and the text says
        why.
        """
        (fact,) = self._with_ids([new])

        def both(text: str) -> tuple[str, tuple[FactLine, FactLine | None, str]]:
            struck, trouble = None, ""
            try:
                text, struck = self.put_fact(text, old, old.fact.supersede(fact.id, on))
            except MemlinesError as error:
                trouble = str(error)
            line = line_of(fact)
            added = add_block(text, line)
            return added.text, (FactLine(fact, added.first, added.last, line), struck, trouble)

        return rewrite(self._workspace, self.path, both, max_bytes=self._max_bytes)

    def change(self, old: FactLine, new: Fact) -> FactLine:
        """Put a fact in the place of another one, under the same id, and return where it is.

        Only the first line of its item is changed.
        """
        return rewrite(
            self._workspace, self.path, lambda text: self.put_fact(text, old, new), max_bytes=self._max_bytes
        )

    def decide(self, old: FactLine, new: Fact) -> FactLine:
        """Put a fact in the place of another one, and take out the lines of its id that contradict it."""

        def put_alone(text: str) -> tuple[str, FactLine]:
            text = _without_lost(text)
            rivals = [line for line in _rivals_in(text, old.fact.id) if line.raw != old.raw]
            return self.put_fact(_without(text, rivals), old, new)

        return rewrite(self._workspace, self.path, put_alone, max_bytes=self._max_bytes)

    def _with_ids(self, facts: Sequence[Fact]) -> list[Fact]:
        """Return facts as they can be added to the note as it is now, each with a name of its own."""
        now = self._now()
        if now.ends_in_code:
            raise WriteError(
                f"{self.path!r} ends in code that is not closed, where nothing is a fact",
                todo="Close the code in the note, and store the fact again",
            )
        taken = set(now.facts)
        named: list[Fact] = []
        for fact in facts:
            name = fact.id if is_id(fact.id) and fact.id not in taken else new_id(taken)
            taken.add(name)
            named.append(replace(fact, id=name, text=plain(fact.text), source=source_of(fact.source)))
        return named

    def put_fact(self, text: str, old: FactLine, new: Fact) -> tuple[str, FactLine]:
        """Return a text with a fact in the place of another one, and where it is in it.

        The way of writing that changes least is taken of those that leave all other facts as they are.
        """
        text = _without_lost(text)
        first, _ = locate_lines(self.path, text, old.first, old.last, old.raw)
        before = facts_in(text)
        # Other lines of its id that contradict it may count no more: this decides the conflict.
        rivals = {line.first for line in _rivals_in(text, old.fact.id)} - {first}
        below = old.raw.split("\n")
        for way in rewrite_line(old, new):
            if unclosed_fence(way.line) != unclosed_fence(below[0]):
                continue  # marks would begin or end code there
            changed = put(text, first, first + way.replaces - 1, way.line).text
            raw = "\n".join([way.line, *below[way.replaces :]])
            line = FactLine(way.fact, first, first + raw.count("\n"), raw)
            after = facts_in(changed)
            wanted = [
                way.fact if one.first == first else one.fact for one in before if one.first not in rivals
            ]
            if line in after and [one.fact for one in after if one.first not in rivals] == wanted:
                return changed, line
        raise WriteError(
            f"the fact {old.fact.id} in {self.path!r} is written in a way that cannot be changed without "
            "changing what is around it",
            todo="Edit the note by hand",
        )

    def _now(self) -> _Read:
        place = place_of(self._workspace, self.path)
        fingerprint = None
        with reading(f"{place.path!r}"), suppress(FileNotFoundError, NotADirectoryError):
            fingerprint = fingerprint_of(os.lstat(place.real))
        with self._lock:
            if self._last.is_settled and self._last.fingerprint == fingerprint:
                return self._last
            self._last = self._read(place, fingerprint) if fingerprint else _ABSENT
            return self._last

    def _read(self, place: Place, fingerprint: Fingerprint) -> _Read:
        file = FoundFile(place.path, str(place.real), "memory", fingerprint, root=str(place.root))
        document = read_document(file, self._max_bytes)
        if document is None:  # gone since it was looked at
            return _ABSENT
        if isinstance(document, Problem):
            todo = "Make it a UTF-8 text of less than files.max_bytes"
            if document.failed:
                todo = "Check that it is a file, and its permissions"
            raise PathError(f"the facts in {place.path!r} cannot be used: it {document.reason}", todo=todo)
        if self._last.hash == document.hash:
            return replace(self._last, fingerprint=document.fingerprint, is_settled=document.settled)
        lines = facts_of(document.text)
        facts = {line.fact.id: line for line in lines}
        has_code = any(fence in document.text for fence in _FENCES)
        ends_in_code = has_code and unclosed_fence(document.text) != ""
        doubles = doubles_in(document.text)
        return _Read(
            document.fingerprint,
            document.settled,
            document.hash,
            facts,
            lines,
            ends_in_code,
            lost=doubles.lost,
            conflicts=(
                *describe_marks(document.text, self.path),
                *describe_conflicts(doubles, self.path),
            ),
        )


def _without_lost(text: str) -> str:
    """Return the text of the note without the lines that do not count since a merge; history keeps them."""
    return _without(text, doubles_in(text).lost)


def _without(text: str, lines: Iterable[FactLine]) -> str:
    for line in sorted(lines, key=attrgetter("first"), reverse=True):
        text = cut(text, line.first, line.last)
    return text


def _rivals_in(text: str, name: str) -> list[FactLine]:
    """Return the lines with an id that contradict each other."""
    return [line for conflict in doubles_in(text).conflicts for line in conflict if line.fact.id == name]


@dataclass(frozen=True, slots=True)
class FactStore:
    """The facts that the index holds as they are in the note now, by the numbers of their chunks."""

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
    """Return a value that changes whenever what an index holds of a note changes."""
    return (index.state.birth, *note_state(index.connection, path))


def _fill(chunks: Iterable[tuple[int, int, str]], lines: Sequence[FactLine]) -> FactStore:
    pieces: dict[int, list[tuple[int, str]]] = {}
    for number, start, text in chunks:
        pieces.setdefault(start, []).append((number, text))
    held: dict[int, FactLine] = {}
    starts: dict[int, FactLine] = {}
    for line in lines:
        own = pieces.get(line.first, ())
        words = words_of(line.fact)
        # All of the fact is in one chunk, or in pieces if it is long.
        if (len(own) == 1 and own[0][1] == words) or (
            len(own) > 1 and all(text.strip() in words for _, text in own)
        ):
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
