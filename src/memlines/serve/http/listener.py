"""Listen for HTTP on this machine or behind a proxy; no slow or large client can hold the server up.

The server of the standard library does the work. It is simple and well known, and what it lacks for this
purpose is here: limits for the time a request may take to arrive, and for how many are served at once. When
all places are taken, the client that has kept us waiting longest gives its place to the next one.
"""

from __future__ import annotations

import io
import socket
import sys
import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import field
from email.message import Message
from http.server import BaseHTTPRequestHandler
from ipaddress import ip_address
from socketserver import BaseServer, ThreadingTCPServer
from time import monotonic
from typing import Any, Protocol, cast

from memlines.errors import UsageError, reason_of
from memlines.records import dataclass
from memlines.serve.http.guard import Guard, Refusal, check_public_name
from memlines.serve.rpc.messages import log_traceback
from memlines.serve.rpc.server import SECONDS_FOR_CALLS, SECONDS_TO_END, Event, Events

MOST_CONNECTIONS = 32
"""How many clients are served at once."""

SECONDS_FOR_HEADERS = 10.0
SECONDS_FOR_BODY = 30.0
_SECONDS_IDLE = 60.0
_SECONDS_FOR_ANSWER = 30.0
_SECONDS_TO_LEAVE = 1.0
_SECONDS_FOR_ROOM = 1.0
"""How long the next client waits for the place of one that was sent away."""
_AT_ONCE = 64 * 1024
_FULL = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nRetry-After: 1\r\nConnection: close\r\n\r\n"
)


@dataclass(frozen=True, slots=True)
class Reply:
    """A status of HTTP, a body or a stream of parts, and headers."""

    status: int
    body: bytes = b""
    kind: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    stream: Iterator[bytes] | None = None
    """Parts that are sent as they come, until the client leaves."""


Handler = Callable[[bytes], Reply]
"""Answers a request with this body."""


class Application(Protocol):
    """What answers requests that the guard let pass."""

    path: str
    """What follows host and port in its address."""

    def find(self, method: str, target: str, headers: Message) -> Refusal | Handler:
        """Return what answers a request, or why nothing does; its body is not needed for that."""
        ...

    def refuse(self, refusal: Refusal) -> Reply:
        """Return the reply that says why a request is refused."""
        ...

    def close(self) -> None:
        """Let calls end, and stop background work."""
        ...


class Listener(ThreadingTCPServer):
    """A port of this machine, and the clients that are connected to it."""

    daemon_threads = True
    block_on_close = False
    allow_reuse_address = sys.platform != "win32"  # there it would let others listen on the same port
    request_queue_size = MOST_CONNECTIONS

    def __init__(self, host: str, port: int, application: Application, behind: Collection[str] = ()) -> None:
        """Listen; port 0 takes one that is free, and `behind` has the public names of proxies."""
        address = check_address(host, is_behind=bool(behind))
        names = [check_public_name(name) for name in behind]
        self.address_family = socket.AF_INET6 if ":" in address else socket.AF_INET
        self.application = application
        self._slots = threading.BoundedSemaphore(MOST_CONNECTIONS)
        self._lock = threading.Lock()
        self._waiting: dict[socket.socket, tuple[bool, float]] = {}
        """The connections whose clients we wait for: whether they showed the token, and since when."""
        try:
            super().__init__((address, port), _Connection)
        except OSError as error:
            raise UsageError(
                f"port {port} of {address} cannot be used: {reason_of(error)}",
                todo="Name another one with --port",
            ) from error
        shown = f"[{address}]" if ":" in address else address
        self.port: int = self.server_address[1]
        self.url = f"http://{shown}:{self.port}{application.path}"
        self.guard = Guard(self.port, names)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Serve a client in a thread of its own, or send it away if all others are being answered."""
        has_room = self._slots.acquire(blocking=False)
        if not has_room and self._drop_slowest():
            has_room = self._slots.acquire(timeout=_SECONDS_FOR_ROOM)
        if not has_room:
            _send_full(request)
            self.shutdown_request(request)
            return
        self.wait_for(request, is_known=False)
        try:
            super().process_request(request, client_address)
        except RuntimeError:  # no room for another thread
            self.stop_waiting_for(request)
            self._slots.release()
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Serve a client until it leaves."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.stop_waiting_for(request)
            self._slots.release()

    def wait_for(self, connection: socket.socket, *, is_known: bool) -> None:
        """Note that it is the client's turn, from now on; of one that is not known, since it came."""
        with self._lock:
            if is_known or connection not in self._waiting:
                self._waiting[connection] = (is_known, monotonic())

    def stop_waiting_for(self, connection: socket.socket) -> None:
        """Note that the client has sent its request, or left: until it is answered it keeps its place."""
        with self._lock:
            self._waiting.pop(connection, None)

    def _drop_slowest(self) -> bool:
        """End the connection that was waited for longest, first one of those that did not show the token."""
        with self._lock:
            if not self._waiting:
                return False
            slowest = min(self._waiting, key=self._waiting.__getitem__)
            del self._waiting[slowest]
        _send_full(slowest)
        with suppress(OSError):  # it may have left by itself
            slowest.shutdown(socket.SHUT_RDWR)
        return True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Pass over clients that left; anything else is a mistake of ours."""
        if not isinstance(sys.exc_info()[1], ConnectionError | TimeoutError):
            log_traceback()


def _send_full(connection: socket.socket) -> None:
    """Ask a client to come again, in a few bytes, if it can receive them at once."""
    with suppress(OSError):
        connection.send(_FULL, socket.MSG_DONTWAIT if hasattr(socket, "MSG_DONTWAIT") else 0)


class _Timed(io.RawIOBase):
    """What a client sends, with a deadline for all of it."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self.until = 0.0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        left = self.until - monotonic()
        if left <= 0:
            raise TimeoutError
        self._connection.settimeout(left)
        return self._connection.recv_into(buffer)


class _Connection(BaseHTTPRequestHandler):
    """One client."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: BaseServer
    headers: Message
    _is_known = False
    _unread = False

    @property
    def _listener(self) -> Listener:
        return cast("Listener", self.server)

    def setup(self) -> None:
        super().setup()
        self.rfile.close()
        self._timed = _Timed(self.connection)
        self.rfile = io.BufferedReader(self._timed, _AT_ONCE)

    def handle_one_request(self) -> None:
        # Only a client that has shown the token may keep a connection open for the next request.
        seconds = _SECONDS_IDLE if self._is_known else SECONDS_FOR_HEADERS
        self._listener.wait_for(self.connection, is_known=self._is_known)
        self._timed.until = monotonic() + seconds
        self._expects = False
        super().handle_one_request()

    def handle_expect_100(self) -> bool:
        self._expects = True  # the client may go on once its headers are known to be good
        return True

    def __getattr__(self, name: str) -> Callable[[], None]:
        """Handle every method of HTTP alike: the guard decides which is allowed."""
        if name.startswith("do_"):
            return self._handle
        raise AttributeError(name)

    def _handle(self) -> None:
        application = self._listener.application
        handler = self._listener.guard.check(self.headers) or application.find(
            self.command, self.path, self.headers
        )
        if isinstance(handler, Refusal):
            self._refuse(handler)
            return
        self._is_known = True
        self._listener.wait_for(self.connection, is_known=True)
        if self._expects:
            self.send_response_only(100)
            self.end_headers()
        length = int(self.headers.get("Content-Length", 0))
        self._timed.until = monotonic() + SECONDS_FOR_BODY
        try:
            body = self.rfile.read(length)
        except TimeoutError:
            self._refuse(Refusal(408, "the request took too long to arrive"))
            return
        if len(body) < length:
            self.close_connection = True
            return
        self._listener.stop_waiting_for(self.connection)
        reply = handler(body)
        self._listener.wait_for(self.connection, is_known=True)  # to receive the answer, and to ask again
        self._send(reply)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Refuse what is not even a request of HTTP; the base class calls this."""
        self._refuse(Refusal(int(code), "this is not a valid HTTP request"))

    def _refuse(self, refusal: Refusal) -> None:
        """Say why not, and leave: what else the client sends is not read."""
        self.close_connection = True
        self._send(self._listener.application.refuse(refusal), {**refusal.headers, "Connection": "close"})
        self._unread = True

    def _send(self, reply: Reply, headers: Mapping[str, str] | None = None) -> None:
        self.connection.settimeout(_SECONDS_FOR_ANSWER)
        self.request_version = self.protocol_version  # even a client of HTTP/0.9 gets headers
        self.send_response(reply.status)
        if reply.body or reply.stream:
            self.send_header("Content-Type", reply.kind)
        if reply.stream is None:
            self.send_header("Content-Length", str(len(reply.body)))
        else:
            self.close_connection = True  # which is how the client sees that it has all of it
        self.send_header("X-Content-Type-Options", "nosniff")
        for name, value in {"Cache-Control": "no-store", **reply.headers, **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "HEAD":
            return
        self.wfile.write(reply.body)
        for part in reply.stream or ():
            self._listener.stop_waiting_for(self.connection)  # it receives for as long as it likes
            self.wfile.write(part)

    def finish(self) -> None:
        super().finish()
        if not self._unread:
            return
        # Let the client read why it was refused: closing while it still sends would destroy the answer.
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_WR)
            until = monotonic() + _SECONDS_TO_LEAVE
            while (left := until - monotonic()) > 0:
                self.connection.settimeout(left)
                if not self.connection.recv(_AT_ONCE):
                    return

    def version_string(self) -> str:
        return "memlines"

    def log_message(self, *args: object) -> None:
        """Write nothing: requests hold what the user said."""


def check_address(host: str, *, is_behind: bool = False) -> str:
    """Return an address that only this machine can reach, or any one behind a proxy; refuse another."""
    if host == "localhost":
        return "127.0.0.1"
    with suppress(ValueError):
        if (ip_address(host).is_loopback or is_behind) and "%" not in host:
            return host
    if is_behind:
        raise UsageError(f"{host[:60]!r} is not an address", todo="Give one such as 127.0.0.1 or 0.0.0.0")
    raise UsageError(
        f"{host[:60]!r} is not an address of this machine alone, and tokens would cross the network in plain"
        " text",
        todo="Use a loopback address, 127.0.0.1 or ::1; in front of 'memlines serve --http' a reverse proxy"
        " can add TLS: name it with --behind-proxy",
    )


_POLL_SECONDS = 0.2
"""How long it takes at most until an idle server notices that it is to end."""


def serve_http(listener: Listener, events: Events) -> None:
    """Answer requests until `Event.END` is put into `events`; return soon after that."""
    accepting = threading.Thread(
        target=listener.serve_forever,
        kwargs={"poll_interval": _POLL_SECONDS},
        name="memlines-http",
        daemon=True,
    )
    accepting.start()
    while events.get() is not Event.END:
        continue
    listener.shutdown()
    listener.server_close()
    closing = threading.Thread(target=listener.application.close, name="memlines-end", daemon=True)
    closing.start()
    closing.join(SECONDS_FOR_CALLS + SECONDS_TO_END)
