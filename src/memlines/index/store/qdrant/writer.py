"""Write files to a collection that others write to and read at the same time.

The chunks of a new version come first, then the head that names it, then the chunks of the version before go.
What is cut off in between, and what the first of two machines wrote that replace one file at the same time,
are chunks that no head names: no search shows them, and `sweep` removes them.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from typing import Any, NamedTuple

from memlines.errors import ClusterUnreachable
from memlines.index.store.qdrant.cluster import WRITE_SECONDS
from memlines.index.store.qdrant.collection import Collection
from memlines.index.store.qdrant.points import (
    HEAD,
    HEAD_FIELDS,
    MEANING,
    WORDS,
    Head,
    Tenant,
    chunk_ids,
    conditions,
    head_id,
    is_id,
    payload_of,
    read_head,
)
from memlines.index.store.qdrant.words import sparse_vector
from memlines.index.store.sqlite.db import in_groups
from memlines.text.chunk import text_hash
from memlines.types import IndexedChunk

_AT_ONCE = 256
"""Points in one request: about a megabyte."""

_ABANDONED_SECONDS = 86_400
"""How old chunks of another machine are that it will not name any more: it does so seconds after it wrote
them, and the clocks of two machines do not differ by as much."""


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
        collection: Collection,
        tenant: Tenant,
        origin: str,
        mean: float = 1.0,
        seconds: float = WRITE_SECONDS,
    ) -> None:
        """Prepare to write chunks, of which those of middling length have `mean` terms.

        A request may take so many seconds.
        """
        self.collection = collection
        self._tenant = tenant
        self._conditions = conditions([tenant.workspace], tenant.agent)
        self._origin = origin
        self._mean = mean
        self._seconds = seconds

    def heads(self, paths: Iterable[str] | None = None) -> dict[str, Head]:
        """Return the heads of all files of the tenant, or of some, by path."""
        if paths is None:
            must = [*self._conditions, {"key": HEAD, "match": {"value": True}}]
            points: Iterable[Any] = self.collection.scroll(must, HEAD_FIELDS, self._seconds)
        else:
            ids = [head_id(self._tenant, path) for path in paths]
            points = self.collection.points(ids, HEAD_FIELDS, self._seconds)
        heads = [head for point in points if (head := read_head(point["payload"])) is not None]
        return {head.path: head for head in heads}

    def put(self, files: Sequence[tuple[str, str, Sequence[Written]]]) -> dict[str, Head]:
        """Write files, each with its path, its key and its chunks; return their heads."""
        begin = time.time()
        replaced = self.heads([path for path, _, _ in files])
        same = {path for path, key, _ in files if path in replaced and replaced[path].key == key}
        new = {
            path: (Head(path, key, str(uuid.uuid4()), len(chunks), self._origin), chunks)
            for path, key, chunks in files
            if path not in same
        }
        points = chain.from_iterable(self.points_of(head, chunks) for head, chunks in new.values())
        with ThreadPoolExecutor(1) as sender:  # the next points are made while some are sent
            sent = [
                sender.submit(self.collection.put, some, self._seconds)
                for some in in_groups(points, _AT_ONCE)
            ]
            try:
                for one in sent:
                    one.result()
            except BaseException:
                sender.shutdown(cancel_futures=True)
                raise
        if time.time() > begin + _ABANDONED_SECONDS / 2:  # this machine slept; another one may have swept
            raise ClusterUnreachable(
                "copying took too long to go on with it", todo="Run 'memlines sync' again"
            )
        heads = {path: head for path, (head, _) in new.items()}
        self._name_versions([*heads.values()])
        self._remove_others([*heads.values()], replaced)
        return replaced | heads

    def _name_versions(self, heads: Sequence[Head]) -> None:
        """Let versions count, on every copy of a shard, also on one that missed what was before."""
        owner = {"workspace": self._tenant.workspace, "agent": self._tenant.agent, HEAD: True}
        points = [
            {"id": head_id(self._tenant, head.path), "vector": {}, "payload": owner | head._asdict()}
            for head in heads
        ]
        for some in in_groups(points, _AT_ONCE):
            self.collection.put(some, self._seconds)

    def _remove_others(self, heads: Sequence[Head], replaced: Mapping[str, Head]) -> None:
        """Remove the chunks of versions that were replaced, and what this machine wrote of any other one.

        Those that another machine is writing now stay.
        """
        for some in in_groups(heads, _AT_ONCE):
            before = [replaced[head.path].version for head in some if head.path in replaced]
            may_go = [{"key": "origin", "match": {"value": self._origin}}, _any("version", before)]
            files = _any("file", [head_id(self._tenant, head.path) for head in some])
            current = _any("version", [head.version for head in some])
            found = {"must": [files], "must_not": [current], "should": may_go}
            self.collection.delete(found, self._seconds)

    def remove(self, heads: Sequence[Head]) -> None:
        """Remove files as far as they are still of these versions: another machine may have written one."""
        for some in in_groups(heads, _AT_ONCE):
            versions = _any("version", [head.version for head in some])
            self._remove_files([head_id(self._tenant, head.path) for head in some], versions)

    def erase(self, files: Iterable[str]) -> None:
        """Remove every trace of files by their heads, whichever machine wrote them."""
        for some in in_groups(files, _AT_ONCE):  # with chunks that a machine that died left behind
            self._remove_files(some)

    def _remove_files(self, files: Sequence[str], *only: Mapping[str, Any]) -> None:
        """Remove heads first, so that no search shows a part of a file."""
        for where in ({"has_id": files}, _any("file", files)):
            self.collection.delete({"must": [where, *only]}, self._seconds)

    def sweep(self, known: Mapping[str, Head]) -> Mapping[str, Head]:
        """Remove chunks that no head names: of this machine at once, of another one if they are old.

        The caller is the only one that writes for this machine. Nothing is looked through as long as there
        are as many chunks as the `known` heads name. Return the heads as they are now.
        """
        if self._has_all(known):
            return known
        heads = self.heads()
        if not self._has_all(heads):
            # A node that hung may know the heads of before: what this machine named stays in any case.
            named = {head.version for head in (*known.values(), *heads.values())}
            for some in in_groups(self._find_unnamed(named), _AT_ONCE):
                self.collection.delete({"must": [{"has_id": some}]}, self._seconds)
        return heads

    def _has_all(self, heads: Mapping[str, Head]) -> bool:
        """Return whether there are as many chunks as heads name."""
        there = self.collection.values("language", self._conditions, self._seconds)
        return sum(there.values()) == sum([head.chunks for head in heads.values()])

    def _find_unnamed(self, named: set[str]) -> Iterator[str]:
        """Yield the chunks of versions that are not named and that no machine is writing."""
        old = time.time() - _ABANDONED_SECONDS
        fields = ["version", "origin", "written", HEAD]
        for point in self.collection.scroll(self._conditions, fields):
            held = point["payload"]
            written = held.get("written")
            is_left = held.get("origin") == self._origin or (isinstance(written, int) and written < old)
            if is_left and HEAD not in held and str(held.get("version")) not in named:
                yield point["id"]

    def texts(self) -> Iterator[tuple[str, str, str]]:
        """Yield the file, the path and the text of every chunk of the workspace, whatever its agent.

        Those that no head names are among them: nothing shows them, but they are there.
        """
        must = _any("workspace", [self._tenant.workspace])
        for point in self.collection.scroll([must], ["file", "path", "text"]):
            held = point["payload"]
            file, text = held.get("file"), held.get("text")
            if is_id(file) and isinstance(text, str):
                yield file, str(held.get("path")), text

    def texts_of(self, head: Head) -> list[str]:
        """Return the texts of a file's chunks that the collection holds as they were written, in no order."""
        ids = chunk_ids(head.version, head.chunks)
        points = self.collection.points(ids, ["hash", "text"], self._seconds)
        texts = [(point["payload"].get("text"), point["payload"].get("hash")) for point in points]
        return [text for text, digest in texts if isinstance(text, str) and text_hash(text) == digest]

    def points_of(self, head: Head, chunks: Sequence[Written]) -> Iterator[dict[str, Any]]:
        """Yield the chunks of a version of a file as points."""
        file, now = head_id(self._tenant, head.path), int(time.time())
        for one, written in zip(chunk_ids(head.version, len(chunks)), chunks, strict=True):
            vector: dict[str, Any] = {WORDS: sparse_vector(written.chunk, self._mean)}
            if written.vector is not None:
                vector[MEANING] = written.vector
            held = payload_of(
                written.chunk, self._tenant, file, head.version, written.days, written.sentences
            )
            yield {"id": one, "vector": vector, "payload": held | {"origin": self._origin, "written": now}}


def _any(key: str, values: Sequence[str]) -> dict[str, Any]:
    return {"key": key, "match": {"any": values}}
