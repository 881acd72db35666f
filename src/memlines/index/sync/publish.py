"""Copy what this machine indexed to the cluster that `store.uri` names, file by file.

The cluster says what it holds, so nothing has to be kept here: a copy that was cut short, a cluster that was
away or lost its data, and an index that was rebuilt all end with the next one.
"""

from __future__ import annotations

import json
import socket
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple
from functools import partial
from typing import Any

from memlines.errors import ClusterRefused, ClusterUnreachable
from memlines.index.search.passages import days_of
from memlines.index.search.query import EVERY_WORKSPACE, OWN_WORKSPACE
from memlines.index.store.qdrant.cluster import SEARCH_SECONDS, WRITE_SECONDS, Cluster
from memlines.index.store.qdrant.collection import Collection
from memlines.index.store.qdrant.index import ClusterIndex
from memlines.index.store.qdrant.points import Head, Tenant, collection_of, collections_of
from memlines.index.store.qdrant.words import middling_length
from memlines.index.store.qdrant.writer import CollectionWriter, Written
from memlines.index.store.sqlite.files import machine_mark
from memlines.index.store.sqlite.index import Index
from memlines.paths import Workspace
from memlines.settings import Settings
from memlines.text.chunk import text_hash
from memlines.types import Progress, Space

LABEL = "copying to the cluster"

_GROUP_CHUNKS = 1_024
"""Chunks of whole files that are written together."""

_MADE_WITH = ("chunker", "days", "chunk_tokens", "chunk_overlap", "terms", "redaction")
"""What of the identity of an index its chunks depend on; the folders beside them are a machine's own."""


class Publisher:
    """Copies the index of one workspace and agent; it remembers what the cluster holds."""

    def __init__(self, workspace: Workspace, settings: Settings) -> None:
        # A machine may get another name in another network; what it copied would no longer be its own.
        self.origin = text_hash(f"{machine_mark() or socket.gethostname()}:{workspace.root}")[:12]
        name = settings.store.workspace or f"{workspace.root.name}-{self.origin[:6]}"
        self.tenant = Tenant(name, settings.agent)
        self.cluster = Cluster(settings.store.uri)
        self._base = settings.store.collection
        self._collections: dict[str, Collection] = {}
        self._heads: dict[str, Mapping[str, Head]] = {}
        """The files that collections hold, as far as that is known."""

    def close(self) -> None:
        """Close the connections to the cluster for good; a copy that another thread makes fails at once."""
        self.cluster.close()

    def prepare_search(self, index: Index, names: Sequence[str]) -> Callable[[], ClusterIndex]:
        """Return what makes the index that answers a search about some workspaces, or all."""
        wanted = None
        if EVERY_WORKSPACE not in names:
            wanted = [self.tenant.workspace if name == OWN_WORKSPACE else name for name in names]
        collection = self._collection(collection_of(self._base, _space_of(index)))
        known = self.tenant, wanted, index.identity(), index.vectors.background()
        return partial(ClusterIndex, collection, *known)

    def publish(self, index: Index, progress: Progress, most: int | None = None) -> int:
        """Make the cluster hold what an index holds; other machines' files of this workspace stay.

        With `most` a person waits: if more files changed, nothing is copied, and no request takes long.
        Return how many files are left then.
        """
        seconds = WRITE_SECONDS if most is None else SEARCH_SECONDS
        writer = self.writer(index, seconds)
        name = writer.collection.name
        is_first = name not in self._heads
        if is_first:
            serving = index.state.serving
            writer.collection.prepare(serving.dims if serving else None, seconds)
            self._heads[name] = writer.heads()
        known, keys = dict(self._heads[name]), keys_of(index)
        changed = [path for path, key in keys.items() if path not in known or known[path].key != key]
        gone = [path for path, head in known.items() if path not in keys and head.origin == self.origin]
        if most is not None and len(changed) > most:
            return len(changed)
        done = 0
        for group in group_files(index, changed):
            progress(done, len(changed), LABEL)
            known |= writer.put([(path, keys[path], chunks) for path, chunks in group])
            done += len(group)
        progress(done, len(changed), LABEL)
        writer.remove([known.pop(path) for path in gone])
        if most is None:  # what takes longer than a person waits
            if is_first:
                self.leave(but=name)  # the collections of models that no longer answer here
            self._heads[name] = writer.sweep(known)
        else:
            self._heads[name] = known
        return 0

    def leave(self, but: str = "") -> int:
        """Remove this machine's files from all collections `but` one; return how many there were."""
        count = 0
        for writer in self.writers():
            if writer.collection.name != but:
                own = [head for head in writer.heads().values() if head.origin == self.origin]
                writer.remove(own)
                self._heads.pop(writer.collection.name, None)
                count += len(own)
        return count

    @property
    def has_others(self) -> bool:
        """Whether other machines copied files into this workspace, as far as that is known."""
        return any(head.origin != self.origin for known in self._heads.values() for head in known.values())

    def reset(self) -> None:
        """Ask the cluster again what it holds, when something is copied next."""
        self._heads = {}

    def describe(self, writer: CollectionWriter | None) -> dict[str, Any]:
        """Return which nodes answer, what the cluster holds of this workspace, and which others it has."""
        nodes = self.cluster.check()
        described: dict[str, Any] = {"workspace": self.tenant.workspace, "nodes": nodes, "error": ""}
        described |= {"collection": "", "files": 0, "chunks": 0, "workspaces": {}}
        if writer is None or all(nodes.values()):
            return described
        described["collection"] = writer.collection.name
        try:
            heads = writer.heads().values()
            described["workspaces"] = writer.collection.values("workspace", [])
        except (ClusterUnreachable, ClusterRefused) as error:
            return described | {"error": str(error)}
        return described | {"files": len(heads), "chunks": sum([head.chunks for head in heads])}

    def find_missing(self, index: Index, progress: Progress, *, texts: bool = True) -> list[str]:
        """Return the files that the cluster does not hold as an index does; compare all `texts`."""
        writer = self.writer(index)
        heads, keys = writer.heads(), keys_of(index)
        wrong = []
        for done, (path, key) in enumerate(keys.items()):
            progress(done, len(keys), "checking the cluster")
            if path not in heads or heads[path].key != key:
                wrong.append(path)
            elif texts:
                own = sorted(chunk.text for chunk in index.chunks_of(path))
                wrong += [path] if sorted(writer.texts_of(heads[path])) != own else []
        return wrong

    def writer(self, index: Index, seconds: float = WRITE_SECONDS) -> CollectionWriter:
        """Return what writes to the collection of the vectors that answer."""
        collection = self._collection(collection_of(self._base, _space_of(index)))
        mean = middling_length(index.mean_length())
        return CollectionWriter(collection, self.tenant, self.origin, mean, seconds)

    def writers(self) -> list[CollectionWriter]:
        """Return what removes from each collection that there is."""
        found = self.cluster.ask("GET", "/collections")["collections"]
        names = [one["name"] for one in found if one["name"].startswith(collections_of(self._base))]
        return [CollectionWriter(self._collection(name), self.tenant, self.origin) for name in names]

    def _collection(self, name: str) -> Collection:
        return self._collections.setdefault(name, Collection(self.cluster, name))


def keys_of(index: Index) -> dict[str, str]:
    """Return what the chunks and vectors of each file are made of, by path; without chunks it has none."""
    space, identity = _space_of(index), index.identity()
    mean = round(middling_length(index.mean_length()), 3)
    made_with = json.dumps(
        [[identity.get(key) for key in _MADE_WITH], astuple(space) if space else None, mean]
    )
    return {
        path: text_hash(f"{made_with}\0{digest}\0{chunks}\0{vectors}")[:16]
        for path, digest, chunks, vectors in index.counts_by_file()
    }


def _space_of(index: Index) -> Space | None:
    """Return the space of the vectors that answer; nothing as long as there is none of them."""
    serving = index.state.serving
    return serving.space if serving and serving.dims else None


def group_files(index: Index, paths: Iterable[str]) -> Iterator[list[tuple[str, list[Written]]]]:
    """Yield files with their chunks, some at once; a file is never divided."""
    group: list[tuple[str, list[Written]]] = []
    for path in paths:
        group.append((path, _written(index, path)))
        if sum([len(chunks) for _, chunks in group]) >= _GROUP_CHUNKS:
            yield group
            group = []
    if group:
        yield group


def _written(index: Index, path: str) -> list[Written]:
    chunks = index.chunks(index.numbers_of([path]))
    blobs = index.vectors.of(chunks)
    sentences = index.vectors.sentences(blobs)
    # Their lengths do not matter to a cluster that compares cosines, and whole numbers are written sooner.
    vectors = {number: [*array("b", blob)] for number, blob in blobs.items()}
    in_order = sorted(chunks.values(), key=lambda chunk: (chunk.start_line, chunk.number))
    return [
        Written(chunk, vectors.get(chunk.number), sentences.get(chunk.number, b""), days_of(chunk))
        for chunk in in_order
    ]
