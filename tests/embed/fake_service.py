"""Local servers that speak the protocols of embedding services, with faults on demand.

    with provider_server("openai", dims=8) as server:
        server.faults[2] = "reset"          # what the second request meets; requests count from 1
        server.always = Status(503)         # what every other request meets
        provider = remote(server)           # a RemoteProvider that talks to it
        ...
        assert len(server.requests) == 3    # every request that came, with its headers, body and texts

Vectors are made from the text and the model by hashing: `vector_of(text, dims, model)`. The server
refuses a wrong key (401), another model (404, if `server.model` is set), too many texts and too long
ones (400) the way the service does. `impatient(monkeypatch)` makes waits short: nothing sleeps between
attempts (the waits are returned in a list) and a call ends after a second.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

import pytest

from memlines.embed.base import Meter
from memlines.embed.remote import http, provider
from memlines.embed.remote.provider import RemoteProvider
from memlines.embed.remote.services import REMOTE
from memlines.settings.tree import Embeddings
from tests.waiting import eventually

Protocol = Literal["openai", "openai-compatible", "mistral", "voyage", "gemini", "ollama"]
PROTOCOLS: tuple[Protocol, ...] = ("openai", "openai-compatible", "mistral", "voyage", "gemini", "ollama")
KEY = "sk-test-0123456789abcdef"


@dataclass(frozen=True)
class Status:
    """A refusal: its status, the message and code of its body, and headers such as `retry-after`."""

    code: int
    message: str = "no"
    kind: str = "error"
    headers: Mapping[str, str] = field(default_factory=dict)


Fault = (
    Status
    | Literal[
        "silent",  # the request is read and never answered
        "drip-headers",  # a byte of the headers now and then, for ever
        "stall-body",  # the headers and half of the body, then nothing
        "drip-body",  # a byte of the body now and then, for ever
        "reset",  # the connection is cut before the answer
        "cut",  # the connection is cut in the middle of the body
        "html",  # a page instead of JSON, status 200
        "truncated",  # half of the JSON, as if it were all
        "empty",  # status 200 and no body
        "shape",  # JSON of another kind
        "count",  # one vector too few
        "shuffled",  # the vectors in another order, with their index
        "duplicate",  # the same index twice
        "dims",  # a number too many in every vector
        "nan",
        "infinity",
        "zero",
        "text",  # words instead of numbers
        "nested",  # lists of unequal length instead of numbers
        "huge",  # 10 MB
        "bomb",  # 100 MB of JSON, packed
        "model",  # vectors that another model is said to have made
        "redirect",  # to another host
    ]
)


@dataclass(frozen=True)
class Seen:
    """A request as it came."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]
    texts: list[str]


@dataclass
class ProviderServer:
    """One service: what it was asked, and how it is to behave."""

    protocol: Protocol
    dims: int
    url: str = ""
    key: str | None = KEY
    """The key it wants; `None` lets everybody in."""
    model: str | None = None
    """The only model it knows; `None` means all."""
    max_texts: int = 2048
    max_text_bytes: int = 100_000
    packs: bool = False
    """Whether replies are packed with gzip."""
    faults: dict[int, Fault] = field(default_factory=dict)
    always: Fault | None = None
    requests: list[Seen] = field(default_factory=list)
    opened: int = 0
    """How many connections were made."""
    hang_up: Callable[[], None] = lambda: None
    """Closes all connections."""
    settle: Callable[[], None] = lambda: None
    """Reads what clients that left had sent, and closes all connections."""
    stopping: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def texts(self) -> list[str]:
        """Return all texts that came, in their order."""
        return [text for seen in self.requests for text in seen.texts]


def vector_of(text: str, dims: int, model: str = "") -> list[float]:
    """Return the numbers that a server gives for a text."""
    numbers: list[float] = []
    while len(numbers) < dims:
        seed = f"{model}\0{len(numbers)}\0{text}".encode("utf-8", "replace")
        numbers.extend((byte - 127.5) / 127.5 for byte in hashlib.sha256(seed).digest())
    return numbers[:dims]


@contextmanager
def provider_server(protocol: Protocol, *, dims: int = 8) -> Iterator[ProviderServer]:
    """Run a server on this machine for as long as the block lasts."""
    state = ProviderServer(protocol, dims, key=None if protocol == "ollama" else KEY)
    with _Listener(state) as listener:
        path = {"gemini": "/v1beta", "ollama": ""}.get(protocol, "/v1")
        state.url = f"http://127.0.0.1:{listener.server_port}{path}"
        state.hang_up, state.settle = listener.hang_up, listener.settle
        thread = threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield state
        finally:
            state.stopping.set()
            listener.shutdown()
            thread.join()
            listener.hang_up()


def settings_for(server: ProviderServer, **changes: Any) -> Embeddings:
    """Return settings that lead to a server."""
    values: dict[str, Any] = {"provider": server.protocol, "base_url": server.url, "api_key": server.key}
    if server.protocol == "openai-compatible":
        values["model"] = "some-model"
    if server.protocol not in ("openai-compatible", "ollama", "mistral"):
        values["dimensions"] = server.dims
    if server.protocol == "mistral":
        values |= {"model": "codestral-embed", "dimensions": server.dims}
    return Embeddings(**{**values, **changes})


def remote(server: ProviderServer, meter: Meter | None = None, **changes: Any) -> RemoteProvider:
    """Return a provider that talks to a server."""
    return RemoteProvider(REMOTE[server.protocol], settings_for(server, **changes), meter, {})


def impatient(
    monkeypatch: pytest.MonkeyPatch, *, total: float = 30, retries: int | None = None
) -> list[float]:
    """Let no call sleep or take longer than `total` seconds; return the list of waits it would have made."""
    waits: list[float] = []
    monkeypatch.setattr(http, "pause", waits.append)

    def patience(_address: object, *, is_query: bool) -> http.Patience:
        usual = http.QUERY.retries if is_query else http.DOCUMENTS.retries
        return http.Patience(total, total, usual if retries is None else retries)

    monkeypatch.setattr(provider, "patience_for", patience)
    return waits


class _Listener(ThreadingHTTPServer):
    """Knows its connections, so that none outlives it."""

    daemon_threads = True

    def __init__(self, state: ProviderServer) -> None:
        self.state = state
        self.connections: set[socket.socket] = set()
        self.unread: set[socket.socket] = set()
        """Those on which a request is waited for or being read."""
        self.addresses: set[Any] = set()
        super().__init__(("127.0.0.1", 0), _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        self.state.opened += 1
        self.connections.add(request)
        self.unread.add(request)
        self.addresses.add(client_address)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self.connections.discard(request)
        self.unread.discard(request)
        super().shutdown_request(request)

    def hang_up(self) -> None:
        for connection in list(self.connections):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def settle(self) -> None:
        with socket.create_connection(("127.0.0.1", self.server_port)) as last:
            own = last.getsockname()
            eventually(lambda: own in self.addresses)  # all that came before it are accepted
        self.hang_up()  # what they sent is still read
        eventually(lambda: not self.unread)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: clients that go away are what the tests are about."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Listener

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Say nothing."""

    def do_GET(self) -> None:
        self._refuse(Status(405, "method not allowed"))

    def handle_one_request(self) -> None:
        self.server.unread.add(self.connection)
        super().handle_one_request()

    def do_POST(self) -> None:
        state = self.server.state
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        texts = _texts(state.protocol, body)
        headers = {name.lower(): value for name, value in self.headers.items()}
        with state.lock:
            state.requests.append(Seen(self.path, headers, body, texts))
            fault = state.faults.get(len(state.requests), state.always)
        self.server.unread.discard(self.connection)
        refusal = fault if isinstance(fault, Status) else self._problem(body, texts)
        if refusal is not None:
            self._refuse(refusal)
        elif fault in _ON_THE_WIRE:
            self._break(str(fault), _reply(state, body, texts, None))
        else:
            self._send(_reply(state, body, texts, fault if isinstance(fault, str) else None))

    def _problem(self, body: dict[str, Any], texts: list[str]) -> Status | None:
        state = self.server.state
        header, start = ("x-goog-api-key", "") if state.protocol == "gemini" else ("authorization", "Bearer ")
        if state.key is not None and self.headers.get(header) != start + state.key:
            return Status(401, "Incorrect API key provided", "invalid_api_key")
        if not self.path.endswith(_PATHS[state.protocol]):
            return Status(404, "no such path")
        if state.model is not None and _model(state.protocol, body) != state.model:
            return Status(404, "the model does not exist", "model_not_found")
        if len(texts) > state.max_texts:
            return Status(400, "too many inputs in the request")
        if any(len(text.encode()) > state.max_text_bytes for text in texts):
            return Status(400, "the input is too long for the context length of the model")
        return None

    def _refuse(self, status: Status) -> None:
        error = {"message": status.message, "type": status.kind, "code": status.kind}
        shapes: dict[str, dict[str, Any]] = {
            "ollama": {"error": status.message},
            "voyage": {"detail": status.message},
            "mistral": {"object": "error", "message": status.message, "type": status.kind},
            "gemini": {"error": {"message": status.message, "status": status.kind, "code": status.code}},
        }
        shape = shapes.get(self.server.state.protocol, {"error": error})
        self._send(json.dumps(shape).encode(), code=status.code, headers=status.headers)

    def _send(
        self,
        content: bytes,
        *,
        code: int = 200,
        headers: Mapping[str, str] | None = None,
        packs: bool = False,
    ) -> None:
        headers = {"content-type": "application/json", **(headers or {})}
        if packs or self.server.state.packs:
            content, headers["content-encoding"] = gzip.compress(content), "gzip"
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _break(self, fault: str, content: bytes) -> None:
        """Answer in one of the ways that hold no vector."""
        pages: dict[str, bytes] = {
            "html": b"<html><body>Bad gateway</body></html>",
            "truncated": content[: len(content) // 2],
            "empty": b"",
            "huge": b'{"data": "' + b"x" * 10_000_000 + b'"}' if fault == "huge" else b"",
        }
        if fault in pages:
            self._send(pages[fault])
        elif fault == "redirect":
            self._send(b"{}", code=307, headers={"location": "http://localhost:1/v1/embeddings"})
        elif fault == "bomb":
            self._send(b" " * 100_000_000, packs=True)
        else:
            self._fall_silent(fault, content)

    def _fall_silent(self, fault: str, content: bytes) -> None:
        self.close_connection = True
        head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
        half = content[: len(content) // 2]
        sized = head + f"content-length: {len(content)}\r\n\r\n".encode()
        beginning = {
            "drip-headers": head + b"x-filler: ",
            "drip-body": head + b"content-length: 1000000\r\n\r\n",
            "stall-body": sized + half,
            "cut": sized + half,
        }.get(fault, b"")
        self.wfile.write(beginning)
        if fault in ("reset", "cut"):
            self._cut()
            return
        while not self.server.state.stopping.wait(0.02):
            self.wfile.write(b"1" if fault.startswith("drip") else b"")

    def _cut(self) -> None:
        """Close the connection with a reset instead of an end."""
        self.wfile.flush()
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()


_ON_THE_WIRE = (
    *("silent", "drip-headers", "stall-body", "drip-body", "reset", "cut"),
    *("html", "truncated", "empty", "huge", "bomb", "redirect"),
)
_PATHS: dict[str, tuple[str, ...]] = {
    "gemini": (":embedContent", ":batchEmbedContents"),
    "ollama": ("/api/embed",),
    **dict.fromkeys(("openai", "openai-compatible", "mistral", "voyage"), ("/v1/embeddings",)),
}


def _texts(protocol: Protocol, body: dict[str, Any]) -> list[str]:
    if protocol != "gemini":
        return [body["input"]] if isinstance(body["input"], str) else list(body["input"])
    return [request["content"]["parts"][0]["text"] for request in body.get("requests", [body])]


def _model(protocol: Protocol, body: dict[str, Any]) -> str:
    if protocol != "gemini":
        return str(body["model"])
    return str(body.get("requests", [body])[0]["model"]).removeprefix("models/")


def _reply(state: ProviderServer, body: dict[str, Any], texts: list[str], fault: str | None) -> bytes:
    model = _model(state.protocol, body)
    vectors: list[Any] = [vector_of(text, state.dims, model) for text in texts]
    tokens = sum(len(text.split()) for text in texts)
    if fault in _VECTOR_FAULTS:
        vectors = [_VECTOR_FAULTS[fault](vector) for vector in vectors]
    if fault == "count":
        vectors.pop()
    if fault == "model":
        model += "-other"
    if fault == "shape":
        return b'[{"message": "hello"}]'
    if state.protocol == "gemini":
        items = [{"values": vector} for vector in vectors]
        shaped: dict[str, Any] = {"embeddings": items}
        if "requests" not in body:
            shaped = {"embedding": items[0] if items else {}}
    elif state.protocol == "ollama":
        shaped = {"model": model, "embeddings": vectors, "prompt_eval_count": tokens}
    else:
        items = [
            {"object": "embedding", "index": place, "embedding": vector}
            for place, vector in enumerate(vectors)
        ]
        if fault == "shuffled":
            items.reverse()
        if fault == "duplicate":
            items[-1]["index"] = 0 if len(items) > 1 else 1
        usage = {"prompt_tokens": tokens, "total_tokens": tokens}
        shaped = {"object": "list", "data": items, "model": model, "usage": usage}
    return json.dumps(shaped).encode()


_VECTOR_FAULTS: dict[str | None, Any] = {
    "dims": lambda vector: [*vector, 0.5],
    "nan": lambda vector: [float("nan"), *vector[1:]],
    "infinity": lambda vector: [float("inf"), *vector[1:]],
    "zero": lambda vector: [0.0] * len(vector),
    "text": lambda vector: ["0.5"] * len(vector),
    "nested": lambda vector: [[0.5], [0.5, 0.5], *vector[2:]],
}
