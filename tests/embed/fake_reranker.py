"""Local servers that speak the protocols of rerankers, with faults on demand.

    with rerank_server("cohere") as server:
        server.fault = Status(429, "slow down")   # what every request meets from now on
        reranker = remote(server)                 # a RemoteReranker that talks to it
        ...
        assert server.requests[0].path == "/v2/rerank"

A text gets `score_of(query, text)`, the share of the query's words that it holds, unless `server.score` is
another function. Results come best first, as the services send them.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any, Literal

from memlines.embed.base import Meter
from memlines.embed.rerank.remote import RemoteReranker
from memlines.settings.rerank import Rerank
from tests.embed.fake_service import KEY, Seen, Status
from tests.programs import listening

Protocol = Literal["voyage", "cohere", "jina", "llama.cpp", "vllm", "infinity", "tei"]
PROTOCOLS: tuple[Protocol, ...] = ("voyage", "cohere", "jina", "llama.cpp", "vllm", "infinity", "tei")
PATHS = {"voyage": "/v1", "cohere": "/v2", "jina": "/v1", "llama.cpp": "/v1"}
"""What comes before `/rerank`; nothing for those that serve it at their root."""

Fault = (
    Status
    | Literal[
        "silent",  # the request is read and never answered
        "html",  # a page instead of JSON
        "shape",  # JSON of another kind
        "count",  # a score too few
        "duplicate",  # the same number twice
        "text",  # words instead of scores
        "infinite",
        "digits",  # a number with a thousand digits
    ]
)


@dataclass
class RerankServer:
    """One service: what it was asked, and how it is to behave."""

    protocol: Protocol
    url: str = ""
    key: str | None = KEY
    fault: Fault | None = None
    score: Callable[[str, str], float] = field(default_factory=lambda: score_of)
    requests: list[Seen] = field(default_factory=list)
    stopping: threading.Event = field(default_factory=threading.Event)

    @property
    def provider(self) -> str:
        """Its name in the settings."""
        return self.protocol if self.protocol in ("voyage", "cohere", "jina") else "openai-compatible"

    def settings(self, **more: Any) -> dict[str, Any]:
        """Return the settings that lead to it."""
        return {
            "rerank.provider": self.provider,
            "rerank.base_url": self.url,
            "rerank.api_key": self.key,
            "rerank.timeout_ms": 30_000,  # which no busy machine needs
            **{f"rerank.{name}": value for name, value in more.items()},
        }


def score_of(query: str, text: str) -> float:
    """Return what a server gives a text."""
    words = query.lower().split()
    return sum(word in text.lower() for word in words) / len(words)


def remote(server: RerankServer, meter: Meter | None = None, **changes: Any) -> RemoteReranker:
    """Return a reranker that talks to a server."""
    values = {"provider": server.provider, "base_url": server.url, "api_key": server.key, **changes}
    return RemoteReranker(Rerank(**values), meter, {})


def ask(reranker: RemoteReranker, query: str, texts: list[str], seconds: float = 10) -> list[float]:
    """Return the scores that come within so many seconds."""
    try:
        return reranker.score(query, texts, time.monotonic() + seconds)
    finally:
        reranker.http.close()


@contextmanager
def rerank_server(protocol: Protocol) -> Iterator[RerankServer]:
    """Run a server on this machine for as long as the block lasts."""
    state = RerankServer(protocol, key=None if protocol == "tei" else KEY)

    class Handler(_Handler):
        service = state

    with listening(Handler) as address:
        state.url = f"{address}{PATHS.get(protocol, '')}"
        try:
            yield state
        finally:
            state.stopping.set()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    service: RerankServer

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Say nothing."""

    def do_POST(self) -> None:
        state = self.service
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        name = "texts" if state.protocol == "tei" else "documents"
        texts = body.get(name, [])
        headers = {name.lower(): value for name, value in self.headers.items()}
        state.requests.append(Seen(self.path, headers, body, texts))
        if state.fault == "silent":
            state.stopping.wait()
            self.close_connection = True
        elif isinstance(state.fault, Status):
            self._send(state.fault.code, {"message": state.fault.message}, state.fault.headers)
        elif self.path != f"{PATHS.get(state.protocol, '')}/rerank":
            self._send(404, {"message": "no such path"})
        elif state.key is not None and headers.get("authorization") != f"Bearer {state.key}":
            self._send(401, {"message": "invalid api token"})
        elif not texts and state.protocol == "tei":  # as its framework refuses what it cannot read
            self._send(422, "Failed to deserialize the JSON body into the target type: missing field `texts`")
        elif not texts:
            self._send(400, {"error": {"message": '"documents" must be a non-empty string array'}})
        else:
            self._send(200, _reply(state, body, texts))

    def _send(self, code: int, reply: Any, headers: Mapping[str, str] | None = None) -> None:
        content = (reply if isinstance(reply, str) else json.dumps(reply)).encode()
        self.send_response(code)
        for name, value in {"content-length": str(len(content)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)


def _reply(state: RerankServer, body: dict[str, Any], texts: list[str]) -> Any:
    given: list[Any] = [state.score(body["query"], text) for text in texts]
    if state.fault == "html":
        return "<html><body>Bad gateway</body></html>"
    if state.fault == "shape":
        return {"results": {"0": 0.5}}
    changed = {"text": "0.5", "infinite": float("inf"), "digits": 10**1000}
    if state.fault in changed:
        given[0] = changed[str(state.fault)]
    rows = sorted(enumerate(given), key=lambda row: -row[1] if isinstance(row[1], float) else 0.0)
    if state.fault == "count":
        rows.pop()
    if state.fault == "duplicate":
        rows[-1] = rows[0]
    label = "score" if state.protocol == "tei" else "relevance_score"
    items: list[dict[str, Any]] = [{"index": place, label: score} for place, score in rows]
    if state.protocol == "vllm":
        for item in items:
            item["document"] = {"text": texts[item["index"]], "multi_modal": None}
    tokens = sum(len(text.split()) for text in texts)
    usage = {"prompt_tokens": tokens, "total_tokens": tokens}
    shapes: dict[str, Any] = {
        "voyage": {
            "object": "list",
            "data": items,
            "model": body.get("model"),
            "usage": {"total_tokens": tokens},
        },
        "cohere": {"id": "07734bd2", "results": items, "meta": {"billed_units": {"search_units": 1}}},
        "jina": {"model": body.get("model"), "usage": {"total_tokens": tokens}, "results": items},
        "tei": items,
    }
    return shapes.get(state.protocol, {"model": "m", "object": "list", "usage": usage, "results": items})
