"""Write files to a collection that others write to and read at the same time.

The chunks of a new version come first, then the head that names it, then the chunks of the version before go.
A machine that dies in between leaves chunks that no head names: no search shows them, and its next copy
removes them with `sweep`. Of two machines that write one file at the same time, the one that names its
version last wins; the other finds that out and removes its own.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from typing import Any, NamedTuple

from memlines.errors import ClusterRefused, ClusterUnreachable
from memlines.index.store.qdrant.cluster import WRITE_SECONDS, Cluster, CollectionMissing
from memlines.index.store.qdrant.points import (
    HEAD,
    HEAD_FIELDS,
    MEANING,
    WORDS,
    Head,
    Tenant,
    chunk_ids,
    head_id,
    is_id,
    payload_of,
    read_head,
    sparse_vector,
)
from memlines.index.store.sqlite.db import in_groups
from memlines.text.chunk import text_hash
from memlines.types import IndexedChunk

_AT_ONCE = 256
"""Points in one request: about a megabyte."""

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
_IS_HEAD = {"key": HEAD, "match": {"value": True}}


class Written(NamedTuple):
    """A chunk with its vector, the vectors of its sentences, and the days of its entries."""

    chunk: IndexedChunk
    vector: Sequence[float] | None
    sentences: bytes
    days: Sequence[str]


class CollectionWriter:
    """Writes the files of one tenant to one collection."""

    def __init__(
        self,
        cluster: Cluster,
        collection: str,
        tenant: Tenant,
        origin: str,
        mean: float = 1.0,
        seconds: float = WRITE_SECONDS,
    ) -> None:
        """Prepare to write chunks, of which those of middling length have `mean` terms.

        A request may take so many seconds.
        """
        self._cluster = cluster
        self.collection = collection
        self._path = f"/collections/{collection}"
        self._tenant = tenant
        self._origin = origin
        self._mean = mean
        self._seconds = seconds

    def prepare(self, dims: int | None) -> None:
        """Make the collection if it is not there; several machines may do that at once."""
        try:
            info = self._cluster.ask("GET", self._path)
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
                info = self._cluster.ask("GET", self._path)
            except ClusterRefused as error:
                try:  # another machine may have been quicker
                    info = self._cluster.ask("GET", self._path)
                except CollectionMissing:
                    raise error from None
        for field, kind in _SCHEMA.items():
            if field not in info["payload_schema"]:
                body = {"field_name": field, "field_schema": kind}
                self._cluster.ask("PUT", f"{self._path}/index?wait=true", body, seconds=WRITE_SECONDS)

    def _count_nodes(self) -> int:
        try:
            return max(1, len(self._cluster.ask("GET", "/cluster").get("peers", ())))
        except ClusterRefused:  # a token for one collection may not ask
            return len(self._cluster.nodes)

    def heads(self, paths: Iterable[str] | None = None) -> dict[str, Head]:
        """Return the heads of all files of the tenant, or of some, by path."""
        if paths is None:
            must = [*self._tenant.conditions(), _IS_HEAD]
            points: Iterable[Any] = self._cluster.scroll(self.collection, must, HEAD_FIELDS, self._seconds)
        else:
            ids = [head_id(self._tenant, path) for path in paths]
            points = self._cluster.points(self.collection, ids, HEAD_FIELDS)
        heads = [head for point in points if (head := read_head(point["payload"])) is not None]
        return {head.path: head for head in heads}

    def put(self, files: Sequence[tuple[str, str, Sequence[Written]]]) -> dict[str, Head]:
        """Write files, each with its path, its key and its chunks; return their heads as they are then."""
        before = self.heads([path for path, _, _ in files])
        keys = {path: key for path, key, _ in files if path not in before or before[path].key != key}
        chunks = {path: chunks for path, _, chunks in files}
        new = {path: self.new_head(path, key, len(chunks[path])) for path, key in keys.items()}
        points = chain.from_iterable(self.points_of(head, chunks[path]) for path, head in new.items())
        with ThreadPoolExecutor(1) as sender:  # the next points are made while some are sent
            sent = [
                sender.submit(self._write, "PUT", "points", {"points": some})
                for some in in_groups(points, _AT_ONCE)
            ]
            try:
                for one in sent:
                    one.result()
            except BaseException:
                sender.shutdown(cancel_futures=True)
                raise
        if not new:
            return before
        replaced = self.heads(new)
        self._name_versions(new.values())
        now = self.heads(new)
        # A node that was away may still name the version before; another one is of another machine.
        lost = {path: head for path, head in now.items() if head not in (new[path], replaced.get(path))}
        self._delete_chunks([new[path] for path in lost])
        self._delete_chunks([head for path, head in replaced.items() if path not in lost])
        self._delete_others([head for path, head in new.items() if path not in lost])
        return before | new | lost

    def remove(self, heads: Sequence[Head]) -> None:
        """Remove files as far as they are still of these versions; another machine may have written its own.

        Heads go first, so that no search shows a part of a file.
        """
        for some in in_groups(heads, _AT_ONCE):
            files = [head_id(self._tenant, head.path) for head in some]
            versions = {"key": "version", "match": {"any": [head.version for head in some]}}
            chunks = {"key": "file", "match": {"any": files}}
            for where in ({"has_id": files}, chunks):
                self._write("POST", "points/delete", {"filter": {"must": [where, versions]}})

    def erase(self, files: Sequence[str]) -> None:
        """Remove every trace of files by their heads, whichever machine wrote them."""
        self._delete(files)
        for some in in_groups(files, _AT_ONCE):  # with chunks that a machine that died left behind
            chunks = {"key": "file", "match": {"any": some}}
            self._write("POST", "points/delete", {"filter": {"must": [chunks]}})

    def sweep(self) -> None:
        """Remove chunks of this machine that no head names; the caller is the only one that writes here."""
        versions = {head.version for head in self.heads().values()}
        own = {"key": "origin", "match": {"value": self._origin}}
        points = self._cluster.scroll(self.collection, [*self._tenant.conditions(), own], ["version", HEAD])
        self._delete(
            [
                point["id"]
                for point in points
                if HEAD not in point["payload"] and point["payload"].get("version") not in versions
            ]
        )

    def texts(self) -> Iterator[tuple[str, str, str]]:
        """Yield the file, the path and the text of every chunk of the workspace, whatever its agent.

        Those that no head names are among them: nothing shows them, but they are there.
        """
        must = [{"key": "workspace", "match": {"value": self._tenant.workspace}}]
        for point in self._cluster.scroll(self.collection, must, ["file", "path", "text"]):
            held = point["payload"]
            file, text = held.get("file"), held.get("text")
            if is_id(file) and isinstance(text, str):
                yield file, str(held.get("path")), text

    def texts_of(self, head: Head) -> list[str]:
        """Return the texts of a file's chunks that the collection holds as they were written, in no order."""
        points = self._cluster.points(self.collection, chunk_ids(head.version, head.chunks), ["hash", "text"])
        texts = [(point["payload"].get("text"), point["payload"].get("hash")) for point in points]
        return [text for text, digest in texts if isinstance(text, str) and text_hash(text) == digest]

    def new_head(self, path: str, key: str, chunks: int) -> Head:
        """Return the head of a new version of a file."""
        return Head(path, key, str(uuid.uuid4()), chunks, self._origin)

    def points_of(self, head: Head, chunks: Sequence[Written]) -> Iterator[dict[str, Any]]:
        """Yield the chunks of a version of a file as points."""
        file = head_id(self._tenant, head.path)
        for one, written in zip(chunk_ids(head.version, len(chunks)), chunks, strict=True):
            vector: dict[str, Any] = {WORDS: sparse_vector(written.chunk, self._mean)}
            if written.vector is not None:
                vector[MEANING] = written.vector
            held = payload_of(
                written.chunk, self._tenant, file, head.version, written.days, written.sentences
            )
            yield {"id": one, "vector": vector, "payload": held | {"origin": self._origin}}

    def _name_versions(self, heads: Iterable[Head]) -> None:
        """Let versions count, on every copy of a shard, also on one that missed what was before."""
        owner = {"workspace": self._tenant.workspace, "agent": self._tenant.agent, HEAD: True}
        points = [
            {"id": head_id(self._tenant, head.path), "vector": {}, "payload": owner | head._asdict()}
            for head in heads
        ]
        for some in in_groups(points, _AT_ONCE):
            self._write("PUT", "points", {"points": some})

    def _delete_others(self, heads: Sequence[Head]) -> None:
        """Remove the chunks that this machine wrote of other versions of files."""
        own = {"key": "origin", "match": {"value": self._origin}}
        for some in in_groups(heads, _AT_ONCE):
            files = {"key": "file", "match": {"any": [head_id(self._tenant, head.path) for head in some]}}
            current = {"key": "version", "match": {"any": [head.version for head in some]}}
            body = {"filter": {"must": [files, own], "must_not": [current, _IS_HEAD]}}
            self._write("POST", "points/delete", body)

    def _delete_chunks(self, heads: Iterable[Head]) -> None:
        self._delete([one for head in heads for one in chunk_ids(head.version, head.chunks)])

    def _delete(self, points: Sequence[str]) -> None:
        for some in in_groups(points, _AT_ONCE):
            self._write("POST", "points/delete", {"points": some})

    def _write(self, method: str, what: str, body: dict[str, Any]) -> None:
        """Write through the one node that orders the writes of a shard, or past it if it does not answer."""
        path = f"{self._path}/{what}?wait=true&ordering="
        self._cluster.recent.clear()
        try:
            self._cluster.ask(method, f"{path}medium", body, seconds=self._seconds)
        except ClusterUnreachable:
            if self._seconds < WRITE_SECONDS:
                raise
            # The first write past a node that hangs makes the cluster order writes by another one.
            self._cluster.ask(method, f"{path}weak", body, seconds=self._seconds)
