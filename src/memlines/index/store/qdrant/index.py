"""Answer a search from a cluster, with the same questions that a search asks of an index on this machine."""

from __future__ import annotations

import json
import math
from base64 import b64decode
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from contextlib import suppress
from functools import cached_property
from itertools import chain
from typing import Any

from memlines.embed.codec import sentence_size
from memlines.errors import UsageError
from memlines.index.store.base import KnownTerm, SpokenTerm
from memlines.index.store.qdrant.cluster import Cluster
from memlines.index.store.qdrant.points import (
    CHUNK_FIELDS,
    HEAD,
    HEAD_FIELDS,
    MEANING,
    WORDS,
    Tenant,
    chunk_ids,
    conditions,
    dimension,
    dimensions,
    head_id,
    is_id,
    prefix_dimension,
    read_chunk,
    read_head,
)
from memlines.text.terms import terms_of
from memlines.types import IndexedChunk, Source

_WIDER = 4
_WIDEST = 4_000
"""How many times more candidates are asked for if some do not count, and how many at most."""

_COMMONEST = 1e-6
"""What a word weighs that most chunks hold, as in FTS5."""

_MOST_NAMED = 10
_LOOKED_THROUGH = 64
_PHRASE_CANDIDATES = 400
_MOST_DAYS = 2_000

Point = dict[str, Any]


class Changed(Exception):
    """A file got another version during a search, which has to begin again."""


class ClusterIndex:
    """The chunks of some workspaces on a cluster, or of all that the token may see, for one search."""

    def __init__(
        self,
        cluster: Cluster,
        collection: str,
        tenant: Tenant,
        workspaces: Sequence[str] | None,
        identity: Mapping[str, Any],
        background: bytes | None,
    ) -> None:
        """Prepare to search; `identity` and `background` are those of the index on this machine."""
        self._cluster = cluster
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
            body = {"filter": {"must": conditions([name], self._tenant.agent)}, "exact": True}
            if not self._cluster.ask("POST", f"/collections/{self._collection}/points/count", body)["count"]:
                there = sorted(self._cluster.values(self._collection, "workspace", self.conditions[-1:]))
                more = f" and {len(there) - _MOST_NAMED} more" if len(there) > _MOST_NAMED else ""
                raise UsageError(
                    f"there is no workspace {name!r} on the cluster",
                    todo=f"There are: {', '.join(there[:_MOST_NAMED]) or 'none yet'}{more}",
                )

    @property
    def state(self) -> ClusterIndex:
        """What the index says of itself now."""
        return self

    @cached_property
    def languages(self) -> tuple[str, ...]:
        """The languages whose words the index holds as stems."""
        found = self._cluster.values(self._collection, "language", self.conditions)
        return tuple(sorted(filter(None, found)))

    @cached_property
    def _chunks(self) -> int:
        heads = {"key": HEAD, "match": {"value": True}}
        body = {"filter": {"must": self.conditions, "must_not": [heads]}, "exact": True}
        counted = self._cluster.ask_about_all(f"/collections/{self._collection}/points/count", body)
        return int(counted["count"])

    def identity(self) -> Mapping[str, Any]:
        """Return the settings the index was made with; other machines may have copied conversations too."""
        return {**self._identity, "sources": ["memory", "sessions"]}

    def count_chunks(self) -> int:
        """Return how many chunks there are."""
        return self._chunks

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
        found = self._cluster.points(self._collection, [self._ids[number] for number in numbers], fields)
        held = {self._numbers[point["id"]]: point["payload"] for point in found}
        return {number: held[number] for number in numbers if number in held}

    def numbers_of(self, paths: Iterable[str], workspace: str = "") -> list[int]:
        """Return the numbers of the chunks of some files of this workspace, or of another."""
        tenant = Tenant(workspace or self._tenant.workspace, self._tenant.agent)
        heads = [head_id(tenant, path) for path in paths]
        found = self._cluster.points(self._collection, heads, HEAD_FIELDS)
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
        found = self._cluster.ask("POST", f"/collections/{self._collection}/points/scroll", body)["points"]
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
        path = f"/collections/{self._collection}/points/query/batch"
        return [found["points"] for found in self._cluster.ask("POST", path, {"searches": every})]

    def find(self, search: Mapping[str, Any], limit: int) -> list[Point]:
        """Return the best points of a search that count; more are looked through if some do not."""
        fields = ["file", "version", "path", "start", *search.get("with_payload", ())]
        wanted = limit
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
        for point in self._cluster.points(self._collection, [*heads], ["version"]) if heads else ():
            self._versions[point["id"]] = str(point["payload"].get("version"))


class ClusterWords:
    """The words of the chunks. The key of a term is JSON: places in sparse vectors and their weights."""

    def __init__(self, index: ClusterIndex) -> None:
        self._index = index
        self._parts: dict[int, tuple[float, float]] = {}
        """In which part of the chunks a term is, and how rare the cluster takes it to be; 0 if in none."""

    def look_up(self, terms: Set[SpokenTerm]) -> dict[SpokenTerm, KnownTerm]:
        """Return those of some terms that chunks of their languages hold."""
        places = {term: dimensions(term) for term in terms}
        self._look_up({place for group in places.values() for place in group})
        found = {term: self._known(group) for term, group in places.items()}
        return {term: known for term, known in found.items() if known is not None}

    def look_up_prefix(self, prefix: str) -> KnownTerm | None:
        """Return what finds all terms that begin like this, if there are any."""
        place = prefix_dimension(prefix)
        self._look_up({place})
        return self._known([place])

    def _look_up(self, places: Set[int]) -> None:
        """Find out how rare terms are: a score is that, times what the point has for the term."""
        new = [place for place in places if place not in self._parts]
        found = self._index.ask_each(
            [{**_by_words({place: 1.0}), "limit": 1, "with_vector": [WORDS]} for place in new]
        )
        for place, points in zip(new, found, strict=True):
            self._parts[place] = (0.0, 0.0)
            for point in points:
                vector = point["vector"][WORDS]
                value = vector["values"][vector["indices"].index(place)]
                if value > 0:
                    rarity = point["score"] / value
                    self._parts[place] = math.exp(-rarity), rarity

    def _known(self, places: Sequence[int]) -> KnownTerm | None:
        """Return what finds a term, with weights that make the cluster's idea of its rarity that of FTS5."""
        total = self._index.count_chunks()
        weights, chunks = {}, 0
        for place in places:
            part, rarity = self._parts[place]
            if part:
                count = min(total, max(1, round(part * (total + 1) - 0.5)))
                wanted = max(math.log((total - count + 0.5) / (count + 0.5)), _COMMONEST)
                weights[place] = wanted / max(rarity, _COMMONEST)
                chunks += count
        return KnownTerm(json.dumps([*weights.items()]), min(total, chunks)) if weights else None

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
        held = [dict(chain.from_iterable(map(json.loads, group))) for group in groups]
        if not any(held) or (every and not all(held)):
            return []
        search: dict[str, Any] = _by_words(
            {place: weight for group in held for place, weight in group.items()}
        )
        search["filter"] = self._narrow(sources, only)
        if not every:
            found = self._index.find(search, limit)
        else:  # the best of those that hold any
            search["with_vector"] = [WORDS]
            found = [
                point
                for point in self._index.find(search, min(_WIDEST, limit * _WIDER * _WIDER))
                if all(not group.keys().isdisjoint(point["vector"][WORDS]["indices"]) for group in held)
            ][:limit]
        return [(self._index.number_of(point["id"]), point["score"]) for point in found]

    def match_phrases(
        self,
        phrases: Sequence[Sequence[str]],
        limit: int,
        sources: Sequence[Source] = (),
        only: Set[int] | None = None,
    ) -> list[int]:
        """Return the chunks in which the terms of any phrase follow each other, among the best."""
        languages = self._index.languages or ("",)
        terms = {term for phrase in phrases for term in phrase}
        search = _by_words({dimension(term, language): 1.0 for term in terms for language in languages})
        search |= {"filter": self._narrow(sources, only), "with_payload": ["text", "language"]}
        found = []
        for point in self._index.find(search, _PHRASE_CANDIDATES):
            held = f" {' '.join(terms_of(point['payload']['text'], point['payload']['language']))} "
            if any(f" {' '.join(phrase)} " in held for phrase in phrases):
                found.append(self._index.number_of(point["id"]))
        return found[:limit]

    def count_stems(self, stems: Set[str], prefix: str) -> dict[str, int]:
        """Return in how many of the chunks that were looked through stems occur, whatever their language."""
        languages = self._index.languages or ("",)
        places = {dimension(stem, language): stem for stem in stems for language in languages}
        search = {**_by_words(dict.fromkeys(places, 1.0)), "with_vector": [WORDS]}
        counts = Counter(
            places[place]
            for point in self._index.find(search, _LOOKED_THROUGH)
            for place in point["vector"][WORDS]["indices"]
            if place in places
        )
        return dict(counts)

    def holding(self, stem: str, limit: int) -> list[int]:
        """Return some chunks that hold a stem."""
        places = {dimension(stem, language): 1.0 for language in self._index.languages or ("",)}
        return [self._index.number_of(point["id"]) for point in self._index.find(_by_words(places), limit)]

    def _narrow(self, sources: Sequence[Source], only: Set[int] | None) -> list[dict[str, Any]]:
        narrowed: list[dict[str, Any]] = []
        if sources:
            narrowed.append({"key": "source", "match": {"any": [*sources]}})
        if only is not None:
            narrowed.append(self._index.has_id(only))
        return narrowed


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


def _by_words(weights: Mapping[int, float]) -> dict[str, Any]:
    """Return a search for words at some places of sparse vectors."""
    return {"query": {"indices": [*weights], "values": [*weights.values()]}, "using": WORDS}


def _numbers_in(vector: bytes) -> list[float]:
    import numpy as np

    return [round(number, 6) for number in np.frombuffer(vector, "<f4").tolist()]
