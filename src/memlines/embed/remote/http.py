"""The one way requests leave this machine for an embedding service.

Whatever goes wrong ends in one of our errors that names the service and holds neither a key nor a
text, and every call ends in time, however the other side behaves.
"""

from __future__ import annotations

import json
import random
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urljoin
from weakref import finalize

from memlines.embed.remote.addresses import Address, checked_headers, is_secret
from memlines.embed.remote.errors import Refusal, read_network_error, read_refusal
from memlines.errors import ProviderUnreachable, ProviderUnusable

if TYPE_CHECKING:
    import httpx2

Result = TypeVar("Result")

_FIRST_WAIT = 0.5
_LONGEST_WAIT = 8.0
_LONGEST_WISH = 60.0
"""A service that asks for more time than this is left alone at once."""
_ERROR_BYTES = 65_536
_REDIRECTS = 3
_REPLY_BYTES = 8_000_000
_LONGEST_LINE = 16_000_000
_ACCEPT = {"accept": "application/json"}

pause: Callable[[float], None] = time.sleep
"""How a call waits between two attempts."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a call may take altogether, in seconds, and how often it is tried again."""

    total: float
    connect: float
    retries: int


QUERY = Patience(total=10, connect=5, retries=1)
"""A person waits for the answer."""
DOCUMENTS = Patience(total=120, connect=10, retries=3)
"""Some passages at a time."""
NEAR_QUERY = Patience(total=60, connect=5, retries=1)
"""A person waits, but a private service may have to load its model first."""
NEAR_DOCUMENTS = Patience(total=600, connect=5, retries=2)
"""A private service may have no better machine than this one."""
FILES = Patience(total=900, connect=10, retries=3)
"""A whole file goes up or down."""


@dataclass(frozen=True, slots=True)
class _Call:
    """One request, as often as it is sent."""

    method: str
    path: str
    content: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    sent: Any = None
    """What its content says, to keep it out of errors."""


class _Failed(Exception):
    """An attempt that brought no reply."""

    def __init__(self, refusal: Refusal) -> None:
        self.refusal = refusal
        super().__init__()


class Http:
    """Requests to one service, over connections that stay open; safe to use from several threads.

    `name` is the service's, which errors call by `who`: its name and its host. The headers go to the
    origin of `base_url` and nowhere else.
    """

    def __init__(self, base_url: str, headers: Mapping[str, str], *, name: str) -> None:
        self.address = Address.of(base_url, name)
        self.who = f"{name} ({self.host})"
        self._headers = checked_headers({**self.address.headers, **headers}, name)
        self._secrets = tuple(value for key, value in self._headers.items() if is_secret(key, value))
        if self._secrets and not self.address.may_carry_secrets:
            raise ProviderUnusable(
                f"{self.who} would get its key over plain http, which others can read",
                todo="Use an https address in embeddings.base_url",
            )
        self._client: httpx2.Client | None = None
        self._closing: Callable[[], object] = lambda: None
        self._lock = Lock()

    @property
    def host(self) -> str:
        """Where the requests go, as `host` or `host:port`."""
        return self.address.host

    @property
    def origin(self) -> str:
        """Where the requests go, as `https://host:port`."""
        return self.address.origin

    def close(self) -> None:
        """Close the connections; another request would open new ones."""
        with self._lock:
            self._client = None
            self._closing()

    def json(
        self, method: str, path: str, *, body: Any = None, patience: Patience, max_reply: int = _REPLY_BYTES
    ) -> Any:
        """Return the JSON that the service replies to a request; `None` if it replies nothing.

        `path` is added to `base_url`, or is a whole address.
        """
        call = _Call(method, path, headers=_ACCEPT)
        if body is not None:
            content = json.dumps(body, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")
            call = _Call(method, path, content, {**_ACCEPT, "content-type": "application/json"}, body)
        return self._retry(patience, lambda ends: self._reply(call, patience, ends, max_reply))

    def upload(
        self, path: str, *, content: bytes, headers: Mapping[str, str], patience: Patience = FILES
    ) -> Any:
        """Return the JSON that the service replies to bytes sent to it."""
        call = _Call("POST", path, content, {**_ACCEPT, **headers}, content)
        return self._retry(patience, lambda ends: self._reply(call, patience, ends, _REPLY_BYTES))

    def lines(self, path: str, *, patience: Patience = FILES, max_bytes: int) -> Iterator[str]:
        """Yield the lines of a file of the service while they arrive.

        Attempts are repeated until the file begins to come. A redirect is followed, to another
        place without our headers.
        """
        deadline = time.monotonic() + patience.total
        response = self._retry(patience, lambda ends: self._open_file(path, patience, ends))
        try:
            with closing(response):
                for line in self._split_lines(self._chunks(response, deadline, max_bytes)):
                    yield line.decode("utf-8", "replace")  # a bad byte spoils its own line only
            return
        except _Failed as failed:
            error = failed.refusal.error
        raise error

    def _retry(self, patience: Patience, attempt: Callable[[float], Result]) -> Result:
        """Return what an attempt returns, which is given the moment when it has to end.

        Every attempt but the last may take half of the time that is left, so that a connection that
        died in silence leaves time for another. Errors are raised outside of `except`, for what they
        would carry along holds the request with its headers.
        """
        deadline = time.monotonic() + patience.total
        for number in range(patience.retries + 1):
            left = deadline - time.monotonic()
            last = number == patience.retries
            try:
                return attempt(deadline if last else deadline - left / 2)
            except _Failed as failed:
                refused = failed.refusal
            wait = min(_FIRST_WAIT * 2**number * random.uniform(1, 1.2), _LONGEST_WAIT)
            if refused.wait is not None:
                wait = refused.wait
            if last or not refused.again or wait > min(_LONGEST_WISH, deadline - time.monotonic()):
                break
            pause(wait)
        raise refused.error

    def _reply(self, call: _Call, patience: Patience, ends: float, max_reply: int) -> Any:
        with closing(self._response(call, patience, ends)) as response:
            if response.is_redirect:
                raise _Failed(Refusal(self._moved()))
            raw = b"".join(self._chunks(response, ends, max_reply))
        if not raw and response.status_code == 204:
            return None
        try:
            return json.loads(raw)
        except (ValueError, RecursionError):
            failure = self._unreachable("replied with something that is not JSON")
        raise _Failed(Refusal(failure, again=True))

    def _open_file(self, path: str, patience: Patience, ends: float) -> httpx2.Response:
        for _ in range(_REDIRECTS + 1):
            response = self._response(_Call("GET", path), patience, ends)
            if not response.is_redirect:
                return response
            response.close()
            path = urljoin(str(response.url), response.headers["location"])
            if not self.address.owns(path) and not path.startswith("https://"):
                break
        raise _Failed(Refusal(self._moved()))

    def _response(self, call: _Call, patience: Patience, ends: float) -> httpx2.Response:
        """Return an open answer of status 2xx, or a redirect."""
        import httpx2

        url = self.address.joined(call.path)
        own = self._headers if self.address.owns(url) else {}
        headers = {"user-agent": "memlines", **own, **call.headers, "accept-encoding": "gzip"}
        timeout = httpx2.Timeout(None, connect=patience.connect, pool=max(0.0, ends - time.monotonic()))
        with self._network(ends):
            client = self._open_client()
            request = client.build_request(
                call.method, url, content=call.content, headers=headers, timeout=timeout
            )
            response = client.send(request, stream=True)
        if response.is_success or response.is_redirect:
            return response
        with closing(response):
            try:
                said = b"".join(self._chunks(response, ends, _ERROR_BYTES))
            except _Failed:
                said = b""
        found = read_refusal(
            self.who, response.status_code, response.headers, said, secrets=self._secrets, sent=call.sent
        )
        raise _Failed(found)

    def _chunks(self, response: httpx2.Response, ends: float, limit: int) -> Iterator[bytes]:
        """Yield the body unpacked, and never more than the limit of it."""
        packing = response.headers.get("content-encoding", "identity").strip().lower()
        if packing not in ("identity", "gzip", "deflate"):
            raise _Failed(Refusal(self._unreachable("packed its reply in a way that was not asked for")))
        unpacker = None if packing == "identity" else zlib.decompressobj(wbits=zlib.MAX_WBITS | 32)
        raw = response.iter_raw()
        size = 0
        while True:
            with self._network(ends):
                chunk = next(raw, None)
                if chunk is None:
                    break
                if unpacker is not None:
                    chunk = unpacker.decompress(chunk, limit + 1 - size)
            size += len(chunk)
            if size > limit:
                raise _Failed(Refusal(self._unreachable(f"replied with more than {limit} bytes")))
            yield chunk
        if unpacker is not None and not unpacker.eof:
            raise _Failed(Refusal(self._unreachable("broke off its reply"), again=True))

    def _open_client(self) -> httpx2.Client:
        from memlines.embed.remote.deadlines import client

        with self._lock:
            if self._client is None:
                # What goes to this machine must not take the way over a proxy elsewhere.
                self._client = client(direct=self.address.origin if self.address.is_loopback else "")
                self._closing = finalize(self, self._client.close)
            return self._client

    @contextmanager
    def _network(self, ends: float) -> Iterator[None]:
        """Do something on the network that ends in time; whatever it raises becomes `_Failed`."""
        import httpx2

        from memlines.embed.remote.deadlines import until

        try:
            with until(ends):
                yield
        except (httpx2.HTTPError, httpx2.InvalidURL, zlib.error) as error:
            raise _Failed(read_network_error(self.who, error)) from None

    def _unreachable(self, what: str) -> ProviderUnreachable:
        return ProviderUnreachable(f"{self.who} {what}", todo="Try again, or check embeddings.base_url")

    def _moved(self) -> ProviderUnusable:
        return ProviderUnusable(
            f"{self.who} sends requests elsewhere, where the key must not follow",
            todo="Set embeddings.base_url to the service's own address",
        )

    def _split_lines(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        pieces: list[bytes] = []
        for chunk in chunks:
            first, *others = chunk.split(b"\n")
            pieces.append(first)
            if not others and sum(map(len, pieces)) > _LONGEST_LINE:
                raise _Failed(Refusal(self._unreachable(f"sent a line of more than {_LONGEST_LINE} bytes")))
            for other in others:
                yield b"".join(pieces)
                pieces = [other]
        if any(pieces):
            yield b"".join(pieces)
