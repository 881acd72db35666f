"""A network that keeps a deadline however slowly the other side answers.

The timeouts of an HTTP library count from one read to the next, so a server that sends a byte now
and then can hold a caller for ever. Here every wait takes at most what is left of the whole call.
"""

from __future__ import annotations

import logging
import socket
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache
from queue import Empty, SimpleQueue
from ssl import PROTOCOL_TLS_CLIENT, SSLContext
from threading import Lock, Thread
from typing import Any
from weakref import WeakSet

import httpcore2
import httpx2

_WRITE_BYTES = 16_384
_MOST_IDLE = 8
_IDLE_SECONDS = 60.0
"""Connections that stay open without a request, and how long: a person's next question often comes within a
minute, and need not wait for another handshake."""

_deadline: ContextVar[float | None] = ContextVar("deadline", default=None)


@contextmanager
def until(deadline: float) -> Iterator[None]:
    """Let everything this thread does on the network end by then, on the monotonic clock."""
    before = _deadline.set(deadline)
    try:
        yield
    finally:
        _deadline.reset(before)


def client(*, direct: str = "", secure: bool = True) -> httpx2.Client:
    """Return a client that keeps deadlines, writes no log and follows no redirect.

    One that is not `secure` is for plain http: it trusts no certificate. The origin `direct`, such as
    `http://localhost:8080`, is reached without any proxy of the environment.
    """
    made = httpx2.Client(
        verify=_certificates() if secure else SSLContext(PROTOCOL_TLS_CLIENT),
        follow_redirects=False,
        timeout=None,
        limits=httpx2.Limits(max_keepalive_connections=_MOST_IDLE, keepalive_expiry=_IDLE_SECONDS),
        mounts={direct: None} if direct else None,
    )
    for transport in (made._transport, *made._mounts.values()):
        if isinstance(transport, httpx2.HTTPTransport):
            keep_deadlines(transport)
    logging.getLogger("httpx2").addFilter(_not_ours)
    return made


def keep_deadlines(transport: httpx2.HTTPTransport) -> BoundedBackend:
    """Let what goes through a transport end by the deadline of `until`; return what can end it before.

    The library accepts another backend only together with a hand-made pool, which would lose the proxies of
    the environment; so the backend is wrapped in the pool that it made.
    """
    backend = BoundedBackend(transport._pool._network_backend)
    transport._pool._network_backend = backend
    return backend


_certificates = cache(httpx2.create_ssl_context)
"""The certificates to trust; to read them takes longer than most requests."""


def _not_ours(record: logging.LogRecord) -> bool:
    """Keep addresses of our requests, which may hold secrets, out of the library's log."""
    return _deadline.get() is None


def _left(timeout: float | None, error: type[Exception]) -> float | None:
    """Return how long a step may take, or raise the error if the time is over."""
    deadline = _deadline.get()
    if deadline is None:
        return timeout
    left = deadline - time.monotonic()
    if left <= 0:
        raise error("out of time")
    return left if timeout is None else min(timeout, left)


class _BoundedStream(httpcore2.NetworkStream):
    """A connection whose every step ends by the deadline."""

    def __init__(self, inner: httpcore2.NetworkStream, backend: BoundedBackend) -> None:
        self._inner = inner
        self._backend = backend
        backend.watch(inner)

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._inner.read(max_bytes, _left(timeout, httpcore2.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        for start in range(0, len(buffer), _WRITE_BYTES):
            piece = buffer[start : start + _WRITE_BYTES]
            self._inner.write(piece, _left(timeout, httpcore2.WriteTimeout))

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self, ssl_context: SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        left = _left(timeout, httpcore2.ConnectTimeout)
        return _BoundedStream(self._inner.start_tls(ssl_context, server_hostname, left), self._backend)

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)


class BoundedBackend(httpcore2.NetworkBackend):
    """Opens connections whose every step ends by the deadline, or when another thread interrupts them all."""

    def __init__(self, inner: httpcore2.NetworkBackend) -> None:
        self._inner = inner
        self._open: WeakSet[httpcore2.NetworkStream] = WeakSet()
        self._watching = Lock()
        self._is_interrupted = False

    def watch(self, stream: httpcore2.NetworkStream) -> None:
        """Let `interrupt` end what a connection waits for."""
        with self._watching:
            self._open.add(stream)
            if self._is_interrupted:
                _shut_down(stream)

    def interrupt(self) -> None:
        """Let every step on a connection fail from now on, also one that a thread waits for."""
        with self._watching:
            self._is_interrupted = True
            for stream in self._open:
                _shut_down(stream)

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.NetworkStream:
        """Connect to the first address of a name that answers."""
        failure: Exception = httpcore2.ConnectError("the name has no address")
        for address in _addresses(host, port, _left(timeout, httpcore2.ConnectTimeout)):
            left = _left(timeout, httpcore2.ConnectTimeout)
            try:
                stream = self._inner.connect_tcp(address, port, left, local_address, socket_options)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failure = error
            else:
                return _BoundedStream(stream, self)
        raise failure


def _shut_down(stream: httpcore2.NetworkStream) -> None:
    """End a connection in a way that wakes the thread that waits for it, which closing it does not."""
    with suppress(OSError):  # one that was closed already
        stream.get_extra_info("socket").shutdown(socket.SHUT_RDWR)


def _addresses(host: str, port: int, timeout: float | None) -> list[str]:
    """Return the addresses of a name. The system's look-up knows no timeout, so a thread waits for it."""
    found: SimpleQueue[list[str] | OSError] = SimpleQueue()

    def look_up() -> None:
        try:
            rows = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except OSError as error:
            found.put(error)
        else:
            found.put([str(row[4][0]) for row in rows])

    Thread(target=look_up, name="memlines-lookup", daemon=True).start()
    try:
        answer = found.get(timeout=timeout)
    except Empty:
        raise httpcore2.ConnectTimeout("the name was not resolved in time") from None
    if isinstance(answer, list):
        return answer
    try:
        raise answer
    except OSError as error:  # The library keeps the context of an error and drops its cause.
        raise httpcore2.ConnectError(str(error)) from error
