"""Machines that share a cluster: each a folder of its own with a memory that copies to one collection."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import httpx2

from memlines import Memory
from memlines.embed.select import Choice
from memlines.types import SearchResult
from tests.cluster import Nodes
from tests.indexes import silent, write
from tests.memories import WORDS_ONLY
from tests.programs import listening
from tests.providers import FakeProvider

Settings = Mapping[str, Any]


class Machine:
    """A folder with notes whose memory is on the cluster, under the name of its folder."""

    def __init__(self, folder: Path, nodes: Nodes, collection: str, **settings: Any) -> None:
        self.folder = folder
        self.nodes = nodes
        self.settings = {
            **WORDS_ONLY,
            "store.driver": "qdrant",
            "store.uri": nodes.uri,
            "store.collection": collection,
            "store.workspace": folder.name,
            **{key.replace("__", "."): value for key, value in settings.items()},
        }

    def write(self, notes: Mapping[str, str]) -> Machine:
        write(self.folder, notes)
        return self

    def open(self, **settings: Any) -> Memory:
        return Memory(
            self.folder, {**self.settings, **{k.replace("__", "."): v for k, v in settings.items()}}
        )

    def sync(self, **settings: Any) -> tuple[str, ...]:
        with self.open(**settings) as memory:
            return memory.sync().warnings

    def search(self, query: str, *workspaces: str, **settings: Any) -> SearchResult:
        with self.open(**settings) as memory:
            return memory.search(query, workspaces=workspaces, min_score=0)

    def found(self, query: str, *workspaces: str, **settings: Any) -> list[str]:
        return [hit.path for hit in self.search(query, *workspaces, **settings)]

    def missing(self) -> list[str]:
        """Return the files that the cluster does not hold as they are here."""
        with self.open() as memory, memory._manager.opened() as index:
            assert index is not None
            assert memory._manager.sharing is not None
            return memory._manager.sharing.publisher.find_missing(index, silent)


class Relay(BaseHTTPRequestHandler):
    """Hands requests on to a node, and its answers back; keeps back those that write points, if it stalls."""

    protocol_version = "HTTP/1.1"
    node: str
    stalls = False
    asked: list[str]
    """The method and path of every request."""
    stalled: threading.Semaphore
    """Free when a request was kept back."""

    def do_GET(self) -> None:
        self.asked.append(f"{self.command} {self.path.partition('?')[0]}")
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        if self.stalls and self.command == "PUT" and "/points" in self.path:
            self.stalled.release()
            self.rfile.read(1)  # which comes when the other side ends the connection
            return
        headers = {name: self.headers[name] for name in ("api-key", "content-type") if name in self.headers}
        reply = httpx2.request(self.command, self.node + self.path, content=body, headers=headers, timeout=60)
        self.send_response(reply.status_code)
        self.send_header("content-length", str(len(reply.content)))
        self.end_headers()
        self.wfile.write(reply.content)

    def do_PUT(self) -> None:
        self.do_GET()

    def do_POST(self) -> None:
        self.do_GET()

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def relayed(nodes: Nodes) -> Iterator[tuple[str, type[Relay]]]:
    """Yield the address of a relay to a node, and the relay."""
    fields = {"node": nodes.nodes[0].address, "asked": [], "stalled": threading.Semaphore(0)}
    own: type[Relay] = type("OwnRelay", (Relay,), fields)
    with listening(own) as address:
        yield address, own


def embedding(memory: Memory, model: str) -> Memory:
    """Return a memory whose vectors are made by a provider that needs no model."""
    memory._manager.choice = Choice("fake", FakeProvider(model))
    return memory


def chunks_on(nodes: Nodes, machine: Machine | None = None) -> list[str]:
    """Return the texts on the cluster, of all or of one machine's workspace, in use or not."""
    return sorted(
        point["payload"]["text"]
        for name in nodes.collections()
        for point in nodes.points(name)
        if "text" in point["payload"]
        and (machine is None or point["payload"]["workspace"] == machine.settings["store.workspace"])
    )


def token(key: str, claims: Mapping[str, Any]) -> str:
    """Return a token that Qdrant checks with its key (JWT, HS256)."""
    parts = [{"alg": "HS256", "typ": "JWT"}, claims]
    signed = ".".join(_encode(json.dumps(part).encode()) for part in parts)
    return f"{signed}.{_encode(hmac.new(key.encode(), signed.encode(), hashlib.sha256).digest())}"


def _encode(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


Machines = Callable[..., Machine]
