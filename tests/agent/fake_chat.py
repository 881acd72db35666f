"""A local server that speaks the protocols of chat models, with faults on demand.

    with chat_server("openai") as server:
        server.entries = [{"kind": "decision", "text": "We use tea."}]   # what the model replies
        server.fault = "silent"                                          # or how it fails
        ...
        assert server.requests[0].body["model"] == "some-model"

Like the true services it refuses a request without its key, without a model or with a missing field, and
its replies have all the fields theirs have.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from memlines.agent.chat import ChatModel, Provider
from memlines.embed.remote.http import Patience
from tests.programs import listening

KEY = "sk-test-0123456789abcdef"
_PATHS = {"openai": "/v1/chat/completions", "anthropic": "/v1/messages"}


@dataclass(frozen=True)
class Seen:
    """A request as it came."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]


@dataclass
class ChatServer:
    """One service: what it was asked, and how it is to behave."""

    provider: Provider
    url: str = ""
    entries: Any = field(default_factory=list)
    reply: str | None = None
    """What the model says instead of the entries, word for word."""
    knows_shapes: bool = True
    fault: str | int | None = None
    """A status, or: silent, html, shape, cut, tool."""
    requests: list[Seen] = field(default_factory=list)
    stopping: threading.Event = field(default_factory=threading.Event)

    def model(self, *, seconds: float = 10, key: str | None = KEY) -> ChatModel:
        """Return a model that this server is."""
        return ChatModel(self.provider, "some-model", self.url, key, Patience(seconds, seconds, retries=0))

    def sent(self) -> str:
        """Return everything that came, as one text."""
        return json.dumps([seen.body for seen in self.requests], ensure_ascii=False)


@contextmanager
def chat_server(provider: Provider) -> Iterator[ChatServer]:
    """Run a server on this machine for as long as the block lasts."""
    state = ChatServer(provider)

    class Handler(_Handler):
        server_state = state

    with listening(Handler) as address:
        state.url = f"{address}/v1" if provider == "openai" else address
        try:
            yield state
        finally:
            state.stopping.set()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_state: ChatServer

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Say nothing."""

    def do_POST(self) -> None:
        state = self.server_state
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        headers = {name.lower(): value for name, value in self.headers.items()}
        state.requests.append(Seen(self.path, headers, body))
        refused = self._refusal(headers, body)
        if refused is not None:
            code, message = refused
            self._send({"type": "error", "error": {"type": "error", "message": message}}, code)
        elif state.fault == "silent":
            state.stopping.wait()
            self.close_connection = True
        elif state.fault == "html":
            self._send("<html>")
        elif state.fault == "shape":
            self._send({"hello": ["world"]})
        else:
            said = state.reply if state.reply is not None else json.dumps({"entries": state.entries})
            self._send(
                _openai(body, said, state) if state.provider == "openai" else _anthropic(body, said, state)
            )

    def _refusal(self, headers: Mapping[str, str], body: dict[str, Any]) -> tuple[int, str] | None:
        state = self.server_state
        if isinstance(state.fault, int):
            return state.fault, f"no: {json.dumps(body)[:300]}"
        key = headers.get("authorization") if state.provider == "openai" else headers.get("x-api-key")
        if key != (f"Bearer {KEY}" if state.provider == "openai" else KEY):
            return 401, "invalid key"
        if self.path != _PATHS[state.provider]:
            return 404, "not found"
        if state.provider == "anthropic" and ("anthropic-version" not in headers or "max_tokens" not in body):
            return 400, "anthropic-version and max_tokens are required"
        if "response_format" in body and not state.knows_shapes:
            return 400, "unknown field response_format"
        return None

    def _send(self, told: Any, code: int = 200) -> None:
        content = (told if isinstance(told, str) else json.dumps(told)).encode()
        self.send_response(code)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


def _openai(body: dict[str, Any], said: str, state: ChatServer) -> dict[str, Any]:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_794_000_000,
        "model": body["model"],
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": said, "refusal": None},
                "logprobs": None,
                "finish_reason": "length" if state.fault == "cut" else "stop",
            }
        ],
        "usage": {"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18},
    }


def _anthropic(body: dict[str, Any], said: str, state: ChatServer) -> dict[str, Any]:
    tool = body["tool_choice"]["name"]
    block: dict[str, Any] = {"type": "tool_use", "id": "toolu_1", "name": tool}
    try:
        block["input"] = json.loads(said)
    except ValueError:
        block = {"type": "text", "text": said}
    if state.fault == "tool":
        block = {"type": "text", "text": "I would rather talk."}
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": [block],
        "stop_reason": "max_tokens" if state.fault == "cut" else "tool_use",
        "stop_sequence": None,
        "usage": {"input_tokens": 9, "output_tokens": 9},
    }
