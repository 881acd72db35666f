"""Read labelled sets (questions, and the lines that answer them), and measure hits against them.

A set is a folder with `queries.jsonl` and the workspaces its questions name, or one file of
questions about one workspace. Everything is checked before anything is measured, because a
label that cannot be met would only look like a bad search.

What is measured, of the gold lines of a query and the hits it got:

any@k    1 if a gold file is among the first k distinct files, else 0
all@k    1 if every gold file is
rec@k    the share of the gold files that are
mrr      1 / the place of the first gold file among the distinct files, 0 without one
ndcg@10  discounted gain of the first 10 distinct files over the best that is possible
line@k   the share of the gold passages that one of the first k hits overlaps, by the lines of its chunk
passage@5  the same, by the lines that the hit shows
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from memlines.errors import UsageError, reason_of
from memlines.files.scan import NOTES_DIR, ROOT_FILES, SESSIONS_DIR
from memlines.paths import Workspace
from memlines.records import dataclass
from memlines.types import Hit

_FILE_CUTS = (1, 5, 10)
_LINE_CUTS = (5, 10)
_GAIN_CUT = 10
_PASSAGE_CUT = 5

METRICS = (
    *(f"{name}@{cut}" for cut in _FILE_CUTS for name in ("any", "all", "rec")),
    "mrr",
    f"ndcg@{_GAIN_CUT}",
    *(f"line@{cut}" for cut in _LINE_CUTS),
    f"passage@{_PASSAGE_CUT}",
)
"""The names of the metrics, in the order they are shown in."""


class Gold(NamedTuple):
    """Lines that answer a query; both ends belong to them."""

    path: str
    start: int
    end: int
    relevance: float = 1.0


class HitLines(NamedTuple):
    """The lines of a hit's chunk, and those of it that are shown; both ends belong to them."""

    path: str
    start: int
    end: int
    score: float
    shown_start: int
    shown_end: int

    @classmethod
    def of(cls, hit: Hit) -> HitLines:
        """Return the lines of a hit."""
        chunk = hit.chunk_start_line, hit.chunk_end_line
        return cls(hit.path, *chunk, hit.score, hit.start_line, hit.end_line)


def scores(gold: Collection[Gold], found: Sequence[HitLines]) -> dict[str, float]:
    """Return every metric of one query; there has to be gold, and the best hit comes first."""
    files = list(dict.fromkeys(hit.path for hit in found))
    relevance: dict[str, float] = {}
    for lines in gold:
        relevance[lines.path] = max(lines.relevance, relevance.get(lines.path, 0.0))
    values: dict[str, float] = {}
    for cut in _FILE_CUTS:
        hit = len(relevance.keys() & set(files[:cut]))
        values[f"any@{cut}"] = 1.0 if hit else 0.0
        values[f"all@{cut}"] = 1.0 if hit == len(relevance) else 0.0
        values[f"rec@{cut}"] = hit / len(relevance)
    places = [place for place, file in enumerate(files, start=1) if file in relevance]
    values["mrr"] = 1 / places[0] if places else 0.0
    best = _discount(sorted(relevance.values(), reverse=True))
    values[f"ndcg@{_GAIN_CUT}"] = _discount(relevance.get(file, 0.0) for file in files) / best
    for cut in _LINE_CUTS:
        values[f"line@{cut}"] = _share_reached(gold, [(hit.path, hit.start, hit.end) for hit in found[:cut]])
    shown = [(hit.path, hit.shown_start, hit.shown_end) for hit in found[:_PASSAGE_CUT]]
    values[f"passage@{_PASSAGE_CUT}"] = _share_reached(gold, shown)
    return values


def means(rows: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the mean of every metric over the queries."""
    return {name: sum(row[name] for row in rows) / len(rows) for name in METRICS}


def percentile(values: Iterable[float], part: float) -> float:
    """Return the smallest value that a part (0 to 1) of all values does not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(part * len(ordered)) - 1)]


def _discount(gains: Iterable[float]) -> float:
    """Add up gains, each worth less the later it comes."""
    first = zip(range(2, _GAIN_CUT + 2), gains, strict=False)
    return sum(gain / math.log2(divisor) for divisor, gain in first)


def _share_reached(gold: Collection[Gold], found: Sequence[tuple[str, int, int]]) -> float:
    """Return the share of the gold passages that overlap some lines."""
    return sum(
        any(lines.path == path and lines.start <= end and start <= lines.end for path, start, end in found)
        for lines in gold
    ) / len(gold)


QUERIES_FILE = "queries.jsonl"
PARTS = (*ROOT_FILES, NOTES_DIR, SESSIONS_DIR)
"""The parts of a workspace that are measured."""

_WEEKDAY = re.compile(r"^(\d{4})/(\d{2})/(\d{2}) \(\w+\) (\d{2}:\d{2})$")
"""Such as `2023/06/28 (Wed) 20:07`; the day's name says nothing new."""


@dataclass(frozen=True, slots=True)
class Query:
    """A question, when it was asked, and the lines that answer it."""

    id: str
    text: str
    gold: tuple[Gold, ...]
    workspace: str
    kind: str | None
    now: datetime | None


@dataclass(frozen=True, slots=True)
class LabelledSet:
    """Questions and the workspaces they are asked of, by name."""

    name: str
    queries: tuple[Query, ...]
    workspaces: Mapping[str, Path]


def read_folder(folder: Path) -> LabelledSet:
    """Read a set that brings its workspaces."""
    return _Reader(folder / QUERIES_FILE, folder, one=False).read(folder.resolve().name)


def read_file(file: Path, workspace: Path) -> LabelledSet:
    """Read queries about one workspace."""
    return _Reader(file, Workspace.at(workspace).root, one=True).read(file.stem)


class _Reader:
    """Reads the questions of one file; `root` holds the workspaces, or is the only one."""

    def __init__(self, file: Path, root: Path, *, one: bool) -> None:
        self._file = file
        self._root = root
        self._one = one
        self._where = str(file)
        self._workspaces: dict[str, Path] = {}

    def read(self, name: str) -> LabelledSet:
        try:
            content = self._file.read_bytes().removeprefix(b"\xef\xbb\xbf")
        except OSError as error:
            raise UsageError(
                f"the set {str(self._file)!r} cannot be read: {reason_of(error)}",
                todo=f"Name a folder with {QUERIES_FILE}, or a .jsonl file of queries",
            ) from error
        queries: dict[str, Query] = {}
        for number, line in enumerate(content.split(b"\n"), start=1):
            if line.strip():
                self._where = f"line {number} of {str(self._file)!r}"
                query = self._query(self._object(line), number)
                if query.id in queries:
                    raise self._wrong(f"repeats the id {query.id!r}", "Give every query its own id")
                queries[query.id] = query
        if not queries:
            raise UsageError(f"{str(self._file)!r} holds no queries", todo="Write one JSON object a line")
        return LabelledSet(name, tuple(queries.values()), self._workspaces)

    def _object(self, line: bytes) -> dict[str, Any]:
        try:
            value = json.loads(line.decode("utf-8"))
        except (ValueError, RecursionError) as error:
            raise self._wrong(f"is not JSON: {error}", "Write one JSON object a line") from None
        if not isinstance(value, dict):
            raise self._wrong("is not a JSON object", 'Write {"query": …, "gold": […]}')
        return value

    def _query(self, row: dict[str, Any], number: int) -> Query:
        workspace = self._workspace(row.get("ws"))
        golds = row.get("gold")
        if not isinstance(golds, list) or not golds:
            raise self._wrong("has no gold lines", 'Write "gold": [{"path": …, "start": 1, "end": 1}]')
        return Query(
            id=self._text(row, "id") if "id" in row else str(number),
            text=self._text(row, "query"),
            gold=tuple(self._gold(each, self._workspaces[workspace]) for each in golds),
            workspace=workspace,
            kind=self._text(row, "type") if row.get("type") is not None else None,
            now=self._time(row.get("now")),
        )

    def _workspace(self, name: Any) -> str:
        """Return the name of a query's workspace, after checking that it is there."""
        if self._one:
            if name is not None:
                raise self._wrong(
                    "names a workspace, but a file of queries is about one only",
                    "Leave 'ws' out, or name the folder of the set",
                )
            self._workspaces[self._root.name] = self._root
            return self._root.name
        if not isinstance(name, str) or not _is_inside(name) or not (self._root / name).is_dir():
            raise self._wrong(
                f"names the workspace {name!r}, which is not in {str(self._root)!r}",
                "Put the folder that 'ws' names beside the queries",
            )
        self._workspaces[name] = self._root / name
        return name

    def _gold(self, value: Any, workspace: Path) -> Gold:
        if not isinstance(value, dict):
            raise self._wrong("has gold that is not a JSON object", 'Write {"path": …, "start": 1, "end": 1}')
        start: Any = value.get("start")
        end: Any = value.get("end")
        relevance: Any = value.get("rel", 1)
        if not (_is_number(start, int) and _is_number(end, int) and 1 <= start <= end):
            raise self._wrong(
                f"has gold from line {start!r} to {end!r}", "Lines count from 1, and both ends belong to them"
            )
        if not (_is_number(relevance, int | float) and 0 < relevance < float("inf")):
            raise self._wrong(f"has gold of relevance {relevance!r}", "Write a number above 0")
        path = self._text(value, "path")
        if not _is_inside(path) or PurePosixPath(path).parts[0] not in PARTS:
            raise self._wrong(f"has gold in {path!r}", f"Gold must be in one of: {', '.join(PARTS)}")
        if not (workspace / path).is_file():
            raise self._wrong(
                f"has gold in {path!r}, which is not in the workspace {str(workspace)!r}",
                "Correct the path, or bring the file back",
            )
        return Gold(PurePosixPath(path).as_posix(), start, end, relevance)

    def _text(self, row: dict[str, Any], field: str) -> str:
        value = row.get(field)
        if not isinstance(value, str) or not value.strip():
            raise self._wrong(f"has no usable {field!r}", f"Write {field!r} as text that is not empty")
        return value

    def _time(self, value: Any) -> datetime | None:
        """Read the time a query was asked; without a zone it is taken as UTC."""
        if value is None:
            return None
        try:
            moment = datetime.fromisoformat(_WEEKDAY.sub(r"\1-\2-\3T\4", value))
        except (TypeError, ValueError):
            raise self._wrong(
                f"has the time {value!r}", "Write 'now' as 2023-06-28T20:07 or 2023/06/28 (Wed) 20:07"
            ) from None
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)

    def _wrong(self, problem: str, todo: str) -> UsageError:
        return UsageError(f"{self._where} {problem}", todo=todo)


def _is_inside(path: str) -> bool:
    """Return whether a path, by its text alone, stays below where it starts."""
    pure = PurePosixPath(path)
    return bool(pure.parts) and not pure.is_absolute() and ".." not in pure.parts and "\0" not in path


def _is_number(value: Any, kind: Any) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)
