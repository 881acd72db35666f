"""Clients of the Model Context Protocol: over lines and HTTP, of this process and of a program."""

from __future__ import annotations

import http.client
import json
import os
import re
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Literal

import pytest

from memlines.serve.http.listener import Listener, serve_http
from memlines.serve.mcp.endpoint import Clients, Endpoint, OneClient
from memlines.serve.mcp.server import DIALECT, HANDSHAKE, STATELESS, Server
from memlines.serve.rpc.server import Event, Events, serve
from memlines.serve.rpc.workplace import Workplace
from memlines.serve.tools import TOOLS, Call, Output, Tool
from tests.programs import MAIN
from tests.serve.rpc import DEADLINE, Client, Engine

NEWEST = HANDSHAKE[0]
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": STATELESS[0],
    "io.modelcontextprotocol/clientCapabilities": {},
}
TOKEN = "a-token-that-only-the-tests-know-0123456789"
WORDS_ONLY = {"MEMLINES_EMBEDDINGS__PROVIDER": "none"}


class McpClient(Client):
    """Speaks the protocol over lines."""

    def shake_hands(self, version: str = NEWEST) -> Any:
        """Begin as clients do that know of `initialize`."""
        told = {
            "protocolVersion": version,
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        }
        answer = self.ask("initialize", **told)
        self.notify("notifications/initialized")
        return answer

    def stateless(self, method: str, **params: Any) -> Any:
        """Ask as clients do that name the version in every request."""
        return self.ask(method, **{**params, "_meta": ENVELOPE})

    def call(self, tool: str, **arguments: Any) -> Any:
        """Call a tool."""
        return self.ask("tools/call", name=tool, arguments=arguments)

    def said(self, tool: str, **arguments: Any) -> str:
        """Call a tool and return the text that a model gets."""
        (content,) = self.call(tool, **arguments)["content"]
        text: str = content["text"]
        return text


class Lines(McpClient):
    """A client of a server in this process."""

    def __init__(self, server: Server) -> None:
        self.server = server
        (from_client, requests), (answers, to_client) = os.pipe(), os.pipe()

        def run() -> None:
            with os.fdopen(from_client, "rb") as reader, os.fdopen(to_client, "wb", buffering=0) as writer:
                serve(server.methods(), reader, writer, on_end=server.close, dialect=DIALECT)

        self.thread = threading.Thread(target=run)
        self.thread.start()
        super().__init__(os.fdopen(requests, "wb", buffering=0), os.fdopen(answers, "rb"))


@contextmanager
def lines(folder: Path, session: str | None = "a-session") -> Iterator[Lines]:
    """Serve a memory over lines in this process; no handshake yet."""
    client = Lines(Server(Workplace(folder), session))
    try:
        yield client
    finally:
        client.end_input()
        client.thread.join(DEADLINE)
        assert not client.thread.is_alive()


class Process(Engine, McpClient):
    """A client of `memlines mcp` as a program."""


@contextmanager
def process(
    *arguments: str | Path, env: Mapping[str, str | None] | None = None, cwd: Path | None = None
) -> Iterator[Process]:
    """Start `memlines mcp`; no handshake yet."""
    command = [sys.executable, "-c", MAIN, "mcp", *map(str, arguments)]
    client = Process(command, env or {}, cwd)
    try:
        yield client
    finally:
        client.kill()
        client.rest()


@dataclass(frozen=True, slots=True)
class Answered:
    """What came back over HTTP."""

    status: int
    headers: http.client.HTTPMessage
    body: bytes

    @property
    def json(self) -> Any:
        """The body read as JSON."""
        return json.loads(self.body)


class Http:
    """Sends requests to a server that listens on a port, with the right token unless told otherwise."""

    def __init__(self, port: int, token: str = TOKEN) -> None:
        self.port = port
        self.url = f"http://127.0.0.1:{port}/mcp"
        self.token = token

    def post(self, message: Any, **headers: str | None) -> Answered:
        """Send a message; underscores in the names of headers stand for dashes."""
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        return self.request("POST", "/mcp", body, **headers)

    def ask(self, method: str, params: Mapping[str, Any] | None = None, **headers: str | None) -> Answered:
        """Send a request."""
        return self.post({"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}}, **headers)

    def stateless(
        self, method: str, params: Mapping[str, Any] | None = None, **headers: str | None
    ) -> Answered:
        """Send a request as clients do that name the version in every one."""
        named = dict(params or {})
        told: dict[str, str | None] = {"MCP_Protocol_Version": STATELESS[0], "Mcp_Method": method}
        name = named.get("name", named.get("uri"))
        if name is not None:
            told["Mcp_Name"] = name
        return self.ask(method, {**named, "_meta": ENVELOPE}, **{**told, **headers})

    def request(self, method: str, path: str, body: bytes = b"", **headers: str | None) -> Answered:
        """Send any request; a header that is None is left out."""
        usual = {
            "Host": f"127.0.0.1:{self.port}",
            "Authorization": f"Bearer {self.token}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=DEADLINE)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in {**usual, "Content-Length": str(len(body)), **given}.items():
                if value is not None:
                    connection.putheader(name, value)
            connection.endheaders(body)
            response = connection.getresponse()
            return Answered(response.status, response.headers, response.read())
        finally:
            connection.close()

    def connect(self) -> socket.socket:
        """Open a connection and send nothing."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=DEADLINE)


class Listening(Http):
    """A client of a server in this process."""

    def __init__(self, listener: Listener, token: str) -> None:
        super().__init__(listener.port, token)
        self.listener = listener
        self.events: Events = SimpleQueue()
        self.thread = threading.Thread(target=serve_http, args=(listener, self.events))
        self.thread.start()

    def end(self) -> None:
        """End the server."""
        self.events.put(Event.END)
        self.thread.join(DEADLINE)
        assert not self.thread.is_alive()


@contextmanager
def listening(
    folder: Path, clients: Clients | None = None, token: str = TOKEN, behind: tuple[str, ...] = ()
) -> Iterator[Listening]:
    """Serve a memory over HTTP in this process, to one client unless others are named."""
    known = clients or OneClient(token, Server(Workplace(folder)))
    client = Listening(Listener("127.0.0.1", 0, Endpoint(known), behind), token)
    try:
        yield client
    finally:
        client.end()


class HttpProcess(Engine):
    """`memlines mcp --http`, or `serve --http`, as a program, and a client of it."""

    def __init__(self, arguments: list[str], env: Mapping[str, str | None], token: Callable[[], str]) -> None:
        self._line = re.compile(rb"at http://[\d.]+:(\d+)/mcp")
        self.printed: list[bytes] = []
        self._ready = threading.Event()
        command = [sys.executable, "-u", "-c", MAIN, *arguments, "--http", "--port", "0"]
        Engine.__init__(self, command, {**WORDS_ONLY, **env}, None)
        assert self._ready.wait(DEADLINE), self.told
        (port,) = self._line.findall(b"".join(self.printed))
        self.http = Http(int(port), token())

    def _read(self) -> None:
        with self._answers as answers:
            for line in answers:
                self.printed.append(line)
                if len(self.printed) == 2:
                    self._ready.set()
        self._complete = True


@contextmanager
def http_process(
    *arguments: str | Path, token_file: Path, env: Mapping[str, str | None] | None = None
) -> Iterator[HttpProcess]:
    """Start `memlines mcp --http` on a free port."""
    given = ["mcp", *map(str, arguments), "--token-file", str(token_file)]
    with _running(
        HttpProcess(given, env or {}, lambda: token_file.read_text(encoding="ascii").strip())
    ) as one:
        yield one


@contextmanager
def team_process(
    *arguments: str | Path, token_file: Path, token: str, env: Mapping[str, str | None] | None = None
) -> Iterator[HttpProcess]:
    """Start `memlines serve --http` on a free port."""
    given = ["serve", *map(str, arguments), "--token-file", str(token_file)]
    with _running(HttpProcess(given, env or {}, lambda: token)) as one:
        yield one


@contextmanager
def _running(client: HttpProcess) -> Iterator[HttpProcess]:
    try:
        yield client
    finally:
        client.kill()
        client.rest()


def add_tool(
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    run: Callable[[Call], Output],
    seconds: float = DEADLINE,
    effect: Literal["reads", "writes"] = "reads",
) -> None:
    """Have one more tool that can be called, for what no real tool does."""
    assert isinstance(TOOLS, dict)
    monkeypatch.setitem(TOOLS, name, Tool(name, "", effect, "", {}, run, seconds=seconds))


def write_notes(folder: Path, notes: Mapping[str, str]) -> None:
    """Write notes by their paths."""
    for path, text in notes.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
