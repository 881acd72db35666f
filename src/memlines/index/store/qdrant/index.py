"""Answer a search from a cluster, with the same questions that a search asks of an index on this machine."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterable, Mapping, Sequence, Set
from contextlib import suppress
from functools import cached_property
from typing import Any

from memlines.embed.codec import sentence_size
from memlines.errors import UsageError
from memlines.index.store.qdrant.collection import Collection
from memlines.index.store.qdrant.points import (
    CHUNK_FIELDS,
    HEAD_FIELDS,
    MEANING,
    Tenant,
    chunk_ids,
    conditions,
    head_id,
    is_id,
    read_chunk,
    read_head,
)
from memlines.index.store.qdrant.words import ClusterWords
from memlines.types import IndexedChunk

_WIDER = 4
_WIDEST = 4_000
"""How many times more candidates are asked for if some do not count, and how many at most."""

_MOST_NAMED = 10
_MOST_DAYS = 2_000

Point = dict[str, Any]


class Changed(Exception):
    """A file got another version during a search, which has to begin again."""


class ClusterIndex:
    """The chunks of some workspaces on a cluster, or of all that the token may see, for one search."""

    def __init__(
        self,
        collection: Collection,
        tenant: Tenant,
        workspaces: Sequence[str] | None,
        identity: Mapping[str, Any],
        background: bytes | None,
    ) -> None:
        """Prepare to search; `identity` and `background` are those of the index on this machine."""
        self._collection = collection
        self._tenant = tenant
        self._workspaces = workspaces
        self._identity = identity
        self.conditions = conditions(workspaces, tenant.agent)
        self.vectors = ClusterVectors(self, background)
        self.words = ClusterWords(self)
        self._ids: list[str] = []
        self._numbers: dict[str, int] = {}
        self._versions: dict[str, str] = {}
        """The version of each file that counts in this search, by its head."""

    def refuse_unknown(self) -> None:
        """Raise if a workspace that is asked is not on the cluster; one that is new here need not be."""
        for name in sorted({*(self._workspaces or ())} - {self._tenant.workspace}):
            if not self._collection.count_chunks(conditions([name], self._tenant.agent)):
                there = sorted(self._collection.values("workspace", conditions(None, self._tenant.agent)))
                more = f" and {len(there) - _MOST_NAMED} more" if len(there) > _MOST_NAMED else ""
                raise UsageError(
                    f"there is no workspace {name!r} on the cluster",
                    todo=f"There are: {', '.join(there[:_MOST_NAMED]) or 'none yet'}{more}",
                )

    @cached_property
    def _chunks(self) -> dict[str, int]:
        return self._collection.count_chunks(self.conditions)

    @cached_property
    def languages(self) -> tuple[str, ...]:
        """The languages whose words the index holds as stems."""
        return tuple(sorted(filter(None, self._chunks)))

    def identity(self) -> Mapping[str, Any]:
        """Return the settings the index was made with; other machines may have copied conversations too."""
        return {**self._identity, "sources": ["memory", "sessions"]}

    def count_chunks(self) -> int:
        """Return how many chunks there are."""
        return sum(self._chunks.values())

    def chunks(self, numbers: Iterable[int]) -> dict[int, IndexedChunk]:
        """Return chunks by their numbers; raise `Changed` if one is gone since it was found."""
        found, wanted = {}, [*numbers]
        points = self.points(wanted, CHUNK_FIELDS)
        if len(points) < len(wanted):
            raise Changed
        for number, payload in points.items():
            workspace, path = str(payload.get("workspace")), str(payload.get("path"))
            shown = path if workspace == self._tenant.workspace else f"{workspace}:{path}"
            chunk = read_chunk(number, payload, shown)
            if chunk is not None:
                found[number] = chunk
        return found

    def points(self, numbers: Sequence[int], fields: Sequence[str]) -> dict[int, Mapping[str, Any]]:
        """Return some fields of points, by their numbers."""
        found = self._collection.points([self._ids[number] for number in numbers], fields)
        held = {self._numbers[point["id"]]: point["payload"] for point in found}
        return {number: held[number] for number in numbers if number in held}

    def numbers_of(self, paths: Iterable[str], workspace: str = "") -> list[int]:
        """Return the numbers of the chunks of some files of this workspace, or of another."""
        tenant = Tenant(workspace or self._tenant.workspace, self._tenant.agent)
        heads = [head_id(tenant, path) for path in paths]
        found = self._collection.points(heads, HEAD_FIELDS)
        current = [head for point in found if (head := read_head(point["payload"])) is not None]
        return [self.number_of(one) for head in current for one in chunk_ids(head.version, head.chunks)]

    def find_days(self, first: str, last: str, limit: int) -> list[int]:
        """Return the chunks with entries of some days: the newest day first, each in its order."""
        span = {"gte": int(first.replace("-", "")), "lte": int(last.replace("-", ""))}
        body = {
            "filter": {"must": [*self.conditions, {"key": "day", "range": span}]},
            "with_payload": ["file", "version", "day", "source", "path", "heading", "start"],
            "limit": min(limit, _MOST_DAYS),
            "order_by": {"key": "day", "direction": "desc"},
        }
        found = self._collection.ask("points/scroll", body)["points"]
        places = []
        for point in {point["id"]: point for point in self.keep_current(found)}.values():
            held = point["payload"]
            source, days = str(held.get("source")), held.get("day")
            by = str(held.get("heading") if source == "sessions" else held.get("path"))
            fitting = [
                day
                for day in (days if isinstance(days, list) else [days])
                if isinstance(day, int) and span["gte"] <= day <= span["lte"]
            ]
            if fitting:
                start = _start_of(point)
                places.append((-max(fitting), source, by, start, self.number_of(point["id"])))
        return [number for *_, number in sorted(places)]

    # What its words and vectors ask

    def number_of(self, point: str) -> int:
        """Return the number by which a search knows a point."""
        if point not in self._numbers:
            self._numbers[point] = len(self._ids)
            self._ids.append(point)
        return self._numbers[point]

    def has_id(self, numbers: Iterable[int]) -> dict[str, Any]:
        """Return the condition that a point is one of some."""
        return {"has_id": [self._ids[number] for number in numbers]}

    def ask_each(self, searches: Sequence[Mapping[str, Any]]) -> list[list[Point]]:
        """Return the points that each of some searches finds, with one request."""
        if not searches:
            return []
        every = [
            {**search, "filter": {"must": [*self.conditions, *search.get("filter", ())]}}
            for search in searches
        ]
        answers = self._collection.ask("points/query/batch", {"searches": every})
        return [found["points"] for found in answers]

    def find(self, search: Mapping[str, Any], limit: int) -> list[Point]:
        """Return the best points of a search that count; more are looked through if some do not."""
        fields = ["file", "version", "path", "start", *search.get("with_payload", ())]
        wanted = limit = min(limit, _WIDEST)
        while True:
            (found,) = self.ask_each([{**search, "limit": wanted, "with_payload": fields}])
            current = self.keep_current(found)
            if len(current) >= limit or len(found) < wanted or wanted >= _WIDEST:
                return sorted(current, key=_place)[:limit]
            wanted = min(_WIDEST, wanted * _WIDER)

    def keep_current(self, points: Sequence[Point]) -> list[Point]:
        """Return the points that are of the version of their file that counts."""
        points = [point for point in points if is_id(point["payload"].get("file"))]
        heads = {point["payload"]["file"] for point in points}
        self._read_versions(heads - self._versions.keys())
        others = {point["payload"]["file"] for point in points if not self._is_current(point)}
        if others:  # being written, left by a machine that died, or the file changed since this search began
            before = {head: self._versions.get(head) for head in others}
            self._read_versions(others)
            if any(self._versions.get(head) != version for head, version in before.items()):
                raise Changed
        return [point for point in points if self._is_current(point)]

    def _is_current(self, point: Point) -> bool:
        version = point["payload"].get("version")
        return is_id(version) and self._versions.get(point["payload"]["file"]) == version

    def _read_versions(self, heads: Set[str]) -> None:
        for head in heads:
            self._versions[head] = ""
        for point in self._collection.points([*heads], ["version"]) if heads else ():
            self._versions[point["id"]] = str(point["payload"].get("version"))


class ClusterVectors:
    """The vectors of the chunks on a cluster."""

    def __init__(self, index: ClusterIndex, background: bytes | None) -> None:
        self._index = index
        self._background = background
        self._dims = 0
        """How many numbers the vector of the query has."""

    def background(self) -> bytes | None:
        """Return the mean vector of texts that have nothing to do with anything here, if it is known."""
        return self._background

    def nearest(
        self, query: bytes, limit: int, also: Iterable[int] = (), only: frozenset[int] | None = None
    ) -> dict[int, float]:
        """Return the cosine of the nearest chunks, of all or of `only` some, and of those in `also`."""
        self._dims = len(query) // 4
        search = {"query": _numbers_in(query), "using": MEANING}
        if only is not None:
            search["filter"] = [self._index.has_id(only)]
        found = self._index.find(search, limit)
        cosines = {self._index.number_of(point["id"]): point["score"] for point in found}
        return cosines | self.cosines(query, [number for number in also if number not in cosines])

    def cosines(self, query: bytes, chunks: Iterable[int]) -> dict[int, float]:
        """Return the cosines of those chunks that have a vector."""
        wanted = [*chunks]
        if not wanted:
            return {}
        search = {"query": _numbers_in(query), "using": MEANING, "filter": [self._index.has_id(wanted)]}
        (found,) = self._index.ask_each([{**search, "limit": len(wanted), "with_payload": False}])
        return {self._index.number_of(point["id"]): point["score"] for point in found}

    def sentences(self, chunks: Iterable[int]) -> dict[int, bytes]:
        """Return the vectors of the sentences of those chunks that have any."""
        found = {}
        for number, held in self._index.points([*chunks], ["sentences"]).items():
            with suppress(ValueError, TypeError):
                blob = b64decode(held.get("sentences") or b"", validate=True)
                if blob and len(blob) % sentence_size(self._dims) == 0:
                    found[number] = blob
        return found


def _place(point: Point) -> tuple[float, str, int]:
    """Return where a point is among those that were found; equal ones are in the order of the files."""
    return -point["score"], str(point["payload"].get("path")), _start_of(point)


def _start_of(point: Point) -> int:
    start = point["payload"].get("start")
    return start if isinstance(start, int) else 0


def _numbers_in(vector: bytes) -> list[float]:
    import numpy as np

    return [round(number, 6) for number in np.frombuffer(vector, "<f4").tolist()]
