"""The points of one collection: ask for some of them or all, and write on every copy of a shard."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from memlines.errors import ClusterRefused, ClusterUnreachable
from memlines.index.store.qdrant.cluster import (
    SEARCH_SECONDS,
    WRITE_SECONDS,
    Cluster,
    CollectionMissing,
)
from memlines.index.store.qdrant.points import HEAD, MEANING, WORDS

_PAGE = 1_000
"""Points that are listed with one request."""

_RECENT_SECONDS = 5.0
_MOST_RECENT = 100
"""For how long counts hold, and how many are kept."""

_PAUSES = (0.1, 0.2, 0.4, 0.8)
"""Seconds between looks whether all parts of a new collection are there."""

_SCHEMA: dict[str, Any] = {
    "workspace": {"type": "keyword", "is_tenant": True},
    "agent": "keyword",
    "source": "keyword",
    "language": "keyword",
    "day": {"type": "integer", "lookup": False, "range": True},
    "file": {"type": "keyword", "on_disk": True},
    HEAD: "bool",
}
"""The fields of points that are searched by."""


class Collection:
    """One collection of a cluster. All threads share it."""

    def __init__(self, cluster: Cluster, name: str) -> None:
        self.name = name
        self._cluster = cluster
        self._path = f"/collections/{name}"
        self._recent: dict[str, tuple[float, dict[str, int]]] = {}
        """Counts of chunks, and until when they hold, by their conditions."""

    def prepare(self, dims: int | None, seconds: float = WRITE_SECONDS) -> None:
        """Make the collection if it is not there; several machines may do that at once."""
        try:
            info = self._cluster.ask("GET", self._path, seconds=seconds)
        except CollectionMissing:
            nodes = self._count_nodes()
            body = {
                "vectors": {MEANING: {"size": dims, "distance": "Cosine"}} if dims else {},
                "sparse_vectors": {WORDS: {"modifier": "idf"}},
                "shard_number": nodes,
                "replication_factor": min(2, nodes),
                "write_consistency_factor": 1,
                "on_disk_payload": True,
            }
            try:
                self._cluster.ask("PUT", self._path, body, seconds=WRITE_SECONDS)
                info = self._cluster.ask("GET", self._path, seconds=seconds)
            except ClusterRefused as error:
                try:  # another machine may have been quicker
                    info = self._cluster.ask("GET", self._path, seconds=seconds)
                except CollectionMissing:
                    raise error from None
        for field, kind in _SCHEMA.items():
            if field not in info["payload_schema"]:
                body = {"field_name": field, "field_schema": kind}
                self._cluster.ask("PUT", f"{self._path}/index?wait=true", body, seconds=WRITE_SECONDS)
        self._wait_for_shards(seconds)

    def _wait_for_shards(self, seconds: float) -> None:
        """Wait a moment for a new collection: nodes know it before all of its parts are ready."""
        for pause in _PAUSES:
            try:
                self.ask("points/count", {"exact": False}, seconds=seconds)
                return
            except ClusterUnreachable:
                time.sleep(pause)

    def _count_nodes(self) -> int:
        try:
            return max(1, len(self._cluster.ask("GET", "/cluster").get("peers", ())))
        except ClusterRefused:  # a token for one collection may not ask
            return len(self._cluster.nodes)

    def ask(self, what: str, body: Any, *, seconds: float = SEARCH_SECONDS) -> Any:
        """Return the result of a question about the collection."""
        return self._cluster.ask("POST", f"{self._path}/{what}", body, seconds=seconds)

    def points(
        self, ids: Sequence[str], fields: Sequence[str], seconds: float = SEARCH_SECONDS
    ) -> list[dict[str, Any]]:
        """Return those of some points that exist, with some fields of their payload."""
        found: list[dict[str, Any]] = []
        for start in range(0, len(ids), _PAGE):
            body = {"ids": ids[start : start + _PAGE], "with_payload": fields, "with_vector": False}
            found += self.ask("points", body, seconds=seconds)
        return found

    def scroll(
        self, must: Sequence[Mapping[str, Any]], fields: Sequence[str], seconds: float = WRITE_SECONDS
    ) -> Iterator[dict[str, Any]]:
        """Yield every point that fits some conditions, with some fields of its payload."""
        body: dict[str, Any] = {"filter": {"must": must}, "with_payload": fields, "limit": _PAGE}
        while True:
            result = self.ask("points/scroll", body, seconds=seconds)
            yield from result["points"]
            if result.get("next_page_offset") is None:
                return
            body["offset"] = result["next_page_offset"]

    def values(
        self, field: str, must: Sequence[Mapping[str, Any]], seconds: float = SEARCH_SECONDS
    ) -> dict[str, int]:
        """Return the values that a field has in points that fit some conditions, and in how many."""
        body = {"key": field, "filter": {"must": must}, "limit": _PAGE, "exact": True}
        hits = self.ask("facet", body, seconds=seconds)["hits"]
        return {str(hit["value"]): int(hit["count"]) for hit in hits}

    def count_chunks(self, must: Sequence[Mapping[str, Any]]) -> dict[str, int]:
        """Return how many chunks of each language fit some conditions; a head has no language.

        The answer may be some seconds old, unless there were none or this program wrote since.
        """
        key = json.dumps(must)
        until, counts = self._recent.get(key, (0.0, {}))
        if time.monotonic() >= until:
            counts = self.values("language", must)
            if len(self._recent) >= _MOST_RECENT:
                self._recent.clear()
            if counts:
                self._recent[key] = time.monotonic() + _RECENT_SECONDS, counts
        return counts

    def put(self, points: Sequence[Mapping[str, Any]], seconds: float) -> None:
        """Write points, over those of the same ids."""
        self._write("PUT", "points", {"points": points}, seconds)

    def delete(self, conditions: Mapping[str, Any], seconds: float) -> None:
        """Delete the points that fit some conditions."""
        self._write("POST", "points/delete", {"filter": conditions}, seconds)

    def _write(self, method: str, what: str, body: Mapping[str, Any], seconds: float) -> None:
        """Write through the one node that orders the writes of a shard, or past it if it does not answer."""
        path = f"{self._path}/{what}?wait=true&ordering="
        self._recent.clear()
        try:
            self._cluster.ask(method, f"{path}medium", body, seconds=seconds)
        except ClusterUnreachable:
            if seconds < WRITE_SECONDS:
                raise
            # The first write past a node that hangs makes the cluster order writes by another one.
            self._cluster.ask(method, f"{path}weak", body, seconds=seconds)
