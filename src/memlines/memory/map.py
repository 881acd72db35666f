"""Lay the chunks of a memory out in two dimensions: what is alike in meaning is near each other.

The vectors that answer are projected on their first two principal components. Each point may be marked:

- duplicate: the cosine with a chunk that shares no line with it is at least 0.95;
- orphan: its nearest chunk in another file is unusually far. Models have scales of their own, so that is a
  cosine below the lower quartile by more than one and a half times the distance of the quartiles;
- contradiction: it holds an entry that cannot be true beside another one, as the last `memlines tidy` found.

A map is kept in the process until the index changes, and not on disk: 15,000 vectors of 256 numbers take less
than a second. Reading the notes for contradictions takes longer than that where they hold many entries.
"""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isqrt
from typing import TYPE_CHECKING, Any, Literal
from weakref import WeakKeyDictionary

from memlines.embed.codec import decode
from memlines.errors import UsageError
from memlines.files.scan import ROOT_FILES, SUFFIX
from memlines.index.store.sqlite.db import damaged
from memlines.index.store.sqlite.reader import IndexState
from memlines.index.store.sqlite.vectors import SQLITE_VEC, extension_trouble
from memlines.memory.manager import Manager
from memlines.memory.tidy import proposal
from memlines.paths import Workspace
from memlines.records import dataclass
from memlines.text.days import log_day
from memlines.types import IndexedChunk, Source, cite

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from memlines.embed.base import Vectors

MapMark = Literal["duplicate", "contradiction", "orphan"]
"""What a chunk on the map can be marked as."""

DUPLICATE_COSINE = 0.95
MOST_POINTS = 20_000
"""Of more chunks with a vector, the notes are shown first, and those that were indexed last."""

_MOST_PRODUCTS = 200_000_000_000
_BLOCK = 512
_WIDE, _STEPS, _KEPT = 512, 40, 32
"""Components of vectors with more numbers are approached in steps: all of them at once take many seconds."""

_ROUNDING = 1e-6
"""What is nearer than this to all others is at one place with them."""

_LONGEST_TITLE = 80
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True, slots=True)
class MapPoint:
    """A chunk on the map: its lines, where it is from 0 to 1, and what it is marked as."""

    path: str
    start_line: int
    end_line: int
    source: Source
    topic: str
    """The name of its note; in the main note and daily logs the heading below the title, if there is one."""
    day: str
    """The latest day of its entries as `2026-11-16`; empty if none is known."""
    x: float
    """From 0 to 1."""
    y: float
    """From 0 to 1."""
    title: str
    """What to call it."""
    marks: tuple[MapMark, ...] = ()
    """What it is marked as."""

    @property
    def citation(self) -> str:
        """The lines as `path#L3` or `path#L3-L9`."""
        return cite(self.path, self.start_line, self.end_line)


@dataclass(frozen=True, slots=True)
class MemoryMap:
    """The chunks of a memory that have a vector, in two dimensions."""

    points: tuple[MapPoint, ...] = ()
    """The chunks."""
    total_chunks: int = 0
    """How many chunks are indexed."""
    without_vector: int = 0
    """How many of them have no vector, and no point."""
    model: str = ""
    made_for: str = ""
    """A stamp of what was laid out: it stays the same as long as the chunks and their vectors do."""
    reason: str = ""
    """Why there are no points."""
    warnings: tuple[str, ...] = ()
    """What was left out, and why."""


_MADE: WeakKeyDictionary[Manager, tuple[IndexState, MemoryMap]] = WeakKeyDictionary()
_MAKING = threading.Lock()


def make_map(manager: Manager) -> MemoryMap:
    """Lay out what the open index holds now; the same map is returned until the index changes."""
    with _MAKING:
        with manager.opened() as index:
            if index is None or not index.count_chunks():
                return MemoryMap(reason="Nothing is indexed yet. Run 'memlines sync'.")
            with index.snapshot():
                state = index.state
                known = _MADE.get(manager)
                if known is not None and known[0] is state:
                    return _mark_contradictions(manager.workspace, known[1])
                total, table = index.count_chunks(), index.vectors
                numbers = [*table.chunks()]
                if len(numbers) > MOST_POINTS:
                    notes = index.notes_of(numbers)
                    numbers = sorted(numbers, key=lambda number: (number not in notes, -number))[:MOST_POINTS]
                blobs, chunks = table.of(numbers), index.chunks(numbers)
                with_vector = index.count_vectors()
        ordered = sorted(
            (chunk for chunk in chunks.values() if chunk.number in blobs),
            key=lambda chunk: (chunk.source, chunk.path, chunk.start_line, chunk.number),
        )
        if not ordered:
            return MemoryMap((), total, total, reason=_explain(manager, table.engine))
        points, warnings, stamp = _lay_out(manager, ordered, blobs)
        if with_vector > len(points):
            warnings.append(f"{len(points):,} of {with_vector:,} chunks are shown, notes first")
        model = str(state.serving.space) if state.serving else ""
        made = MemoryMap(points, total, total - with_vector, model, stamp, warnings=tuple(warnings))
        _MADE[manager] = state, made
        return _mark_contradictions(manager.workspace, made)


def _mark_contradictions(workspace: Workspace, made: MemoryMap) -> MemoryMap:
    """Mark what the last proposal to tidy says; to look at every entry takes longer than to draw the map."""
    try:
        items = proposal.load(workspace).items
    except UsageError:  # there is none that can be used
        return made
    declined = proposal.read_decisions(workspace)["declined"]
    lines: dict[str, list[int]] = {}
    for item in items:
        if item.kind == "contradiction" and item.id not in declined:
            for one in item.cited:
                lines.setdefault(one.path, []).append(one.first)

    def mark(point: MapPoint) -> MapPoint:
        held = any(point.start_line <= line <= point.end_line for line in lines.get(point.path, ()))
        return replace(point, marks=(*point.marks, "contradiction")) if held else point

    return replace(made, points=tuple(map(mark, made.points))) if lines else made


def _explain(manager: Manager, engine: str) -> str:
    """Say why no chunk has a vector that can be read."""
    extension = manager.settings.store.vector.extension_path
    if engine == SQLITE_VEC and (trouble := extension_trouble(extension)) is not None:
        return f"The vectors cannot be read: {trouble}"
    if manager.provider_at_work() is not None:
        return "No chunk has a vector yet. 'memlines sync' makes them."
    why = manager.chosen().reason or "embeddings.provider is none"
    return f"The map is drawn from vectors, and none are made: {why}"


def _lay_out(
    manager: Manager, chunks: Sequence[IndexedChunk], blobs: Mapping[int, bytes]
) -> tuple[tuple[MapPoint, ...], list[str], str]:
    """Return the points of chunks, what was left out, and the stamp of all that."""
    rows = [blobs[chunk.number] for chunk in chunks]
    if any(not isinstance(row, bytes) or len(row) < 2 or len(row) != len(rows[0]) for row in rows):
        raise damaged(manager.index_file, "its vectors are not of one length")
    stamp = hashlib.sha256(b"".join(rows))
    stamp.update("\n".join(f"{one.path}:{one.start_line}-{one.end_line}" for one in chunks).encode())
    vectors = decode(rows)
    compared = min(len(rows), isqrt(_MOST_PRODUCTS // len(rows[0])))
    duplicates, orphans = map(set, compare(vectors[:compared], chunks))
    points = []
    for at, (one, (x, y)) in enumerate(zip(chunks, project(vectors).tolist(), strict=True)):
        marks: list[MapMark] = ["duplicate"] if at in duplicates else []
        marks += ["orphan"] if at in orphans else []
        points.append(_make_point(one, x, y, tuple(marks)))
    warnings = []
    if compared < len(rows):
        warnings.append(f"duplicates and orphans were looked for among {compared:,} of {len(rows):,} chunks")
    return tuple(points), warnings, stamp.hexdigest()[:16]


def _make_point(chunk: IndexedChunk, x: float, y: float, marks: tuple[MapMark, ...]) -> MapPoint:
    log = log_day(chunk.path)
    topic, day = chunk.path.rpartition("/")[2].removesuffix(SUFFIX), log.isoformat() if log else ""
    if chunk.source == "sessions":
        topic, day = "", chunk.heading[:10] if _DAY.match(chunk.heading) else ""
    elif log or chunk.path in ROOT_FILES:
        topic = chunk.heading.partition(" > ")[2].partition(" > ")[0]
    title = " ".join(chunk.text[: 4 * _LONGEST_TITLE].split()).lstrip("#*+-> ")
    if len(title) > _LONGEST_TITLE:
        title = f"{title[: _LONGEST_TITLE - 1]}…"
    place = chunk.path, chunk.start_line, chunk.end_line, chunk.source
    return MapPoint(*place, topic, max(chunk.days, default="") or day, x, y, title, marks)


def project(vectors: Vectors) -> NDArray[Any]:
    """Return the places of vectors on their first two principal components, each from 0 to 1.

    The outermost hundredth on each side takes a twentieth of the room at most, however far out it is.
    """
    import numpy as np

    centred = vectors - vectors.mean(axis=0)
    spread = (centred.T @ centred).astype(np.float64)
    basis = np.eye(len(spread))
    if len(spread) > _WIDE:
        basis = np.random.default_rng(0).normal(size=(len(spread), _KEPT))
        for _ in range(_STEPS):
            basis = np.linalg.qr(spread @ basis)[0]
    axes = basis @ np.linalg.eigh(basis.T @ spread @ basis)[1][:, :-3:-1]
    # An axis may point either way: its largest number is made the positive one.
    axes *= np.where(np.take_along_axis(axes, np.abs(axes).argmax(axis=0)[None], axis=0) < 0, -1.0, 1.0)
    found = centred @ axes
    low, high = np.percentile(found, [1, 99], axis=0)
    places: NDArray[Any] = np.clip((found - low) / np.maximum(high - low, _ROUNDING) * 0.9 + 0.05, 0.0, 1.0)
    places[:, high - low < _ROUNDING] = 0.5
    return places.round(4)


def compare(vectors: Vectors, chunks: Sequence[IndexedChunk]) -> tuple[list[int], list[int]]:
    """Return the places of duplicates and those of orphans; the chunks must be sorted by path and line.

    Every block of vectors is multiplied with itself and those behind it. Chunks of one file are next to each
    other, so only a few blocks need a look at the files.
    """
    import numpy as np

    count = len(vectors)
    names = {path: at for at, path in enumerate(dict.fromkeys(one.path for one in chunks[:count]))}
    known = [(names[one.path], one.start_line, one.end_line) for one in chunks[:count]]
    file, first, last = np.array(known).T
    inside, best = np.full((2, count), -1.0, np.float32)

    def keep_best(into: NDArray[Any], cosines: NDArray[Any], row: slice, column: slice) -> None:
        np.maximum(into[row], cosines.max(axis=1), out=into[row])
        np.maximum(into[column], cosines.max(axis=0), out=into[column])

    for start in range(0, count, _BLOCK):
        row = slice(start, min(start + _BLOCK, count))
        for other in range(start, count, _BLOCK):
            column = slice(other, min(other + _BLOCK, count))
            cosines = vectors[row] @ vectors[column].T
            if file[row][-1] >= file[column][0]:
                same = file[row, None] == file[column]
                # Neighbouring chunks of a note overlap on purpose.
                shared = same & (first[row, None] <= last[column]) & (first[column] <= last[row, None])
                cosines[shared] = -1.0
                keep_best(inside, cosines, row, column)
                cosines[same] = -1.0
            keep_best(best, cosines, row, column)
    duplicates = np.flatnonzero(np.maximum(inside, best) >= DUPLICATE_COSINE)
    if len(names) < 2:  # there is no other file to be near to
        return duplicates.tolist(), []
    lower, upper = np.percentile(best, [25, 75])
    return duplicates.tolist(), np.flatnonzero(best < lower - 1.5 * (upper - lower)).tolist()
