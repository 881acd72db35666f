"""The one way requests leave this machine for an embedding service.

Whatever goes wrong ends in one of our errors that names the service and holds neither a key nor a
text, and every call ends in time, however the other side behaves.
"""

from __future__ import annotations

import json
import random
import re
import time
import zlib
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import field
from ipaddress import ip_address
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import unquote, urljoin, urlsplit
from weakref import finalize

from memlines.embed.remote.errors import Refusal, read_network_error, read_refusal
from memlines.errors import ProviderUnreachable, ProviderUnusable
from memlines.records import dataclass

if TYPE_CHECKING:
    import httpx2

_Result = TypeVar("_Result")

_FIRST_WAIT = 0.5
_LONGEST_WAIT = 8.0
_LONGEST_WISH = 60.0
"""A service that asks for more time than this is left alone at once."""
_ERROR_BYTES = 65_536
_REDIRECTS = 3
_REPLY_BYTES = 8_000_000
_LONGEST_LINE = 16_000_000
_ACCEPT = {"accept": "application/json"}

_PORTS = {"http": 80, "https": 443}
_PRIVATE_ENDINGS = (".local", ".localhost", ".internal", ".lan", ".home.arpa")
_SECRET_NAME = re.compile(r"auth|key|token|secret|cookie|passw|credential|signature", re.IGNORECASE)
_SECRET_VALUE = re.compile(r"\s*(?:bearer|basic|token)\s|[A-Za-z0-9_+/=.-]{24,}", re.IGNORECASE)
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_HEADER_VALUE = re.compile(r"[\x20-\x7e]*")

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
_UPLOAD = Patience(total=900, connect=10, retries=3)


@dataclass(frozen=True, slots=True, repr=False)
class Address:
    """The base address of a service."""

    origin: str
    """Scheme, host and port, such as `https://api.openai.com`."""
    host: str
    """Host, and the port if it is not the usual one."""
    name: str
    """The host alone, without brackets."""
    path: str
    query: str
    login: str
    """`user:password` of the address, or empty."""

    @classmethod
    def of(cls, base_url: str, service: str) -> Address:
        """Take an address apart, or raise `ProviderUnusable` if it is not a web address."""
        url = base_url.strip()
        try:
            parts = urlsplit(url)
            name, port = parts.hostname, parts.port
        except ValueError:
            name = None
        if not name or parts.scheme not in _PORTS or not base_url.isprintable() or " " in url:
            raise ProviderUnusable(
                f"the address of {service} is not a web address",
                todo="Set embeddings.base_url to something like https://api.example.com/v1",
            )
        host = f"[{name}]" if ":" in name else name
        if port is not None and port != _PORTS[parts.scheme]:
            host = f"{host}:{port}"
        login = unquote(parts.netloc.rpartition("@")[0])
        return cls(f"{parts.scheme}://{host}", host, name, parts.path.rstrip("/"), parts.query, login)

    @property
    def public(self) -> str:
        """The address without what may be secret in it."""
        return self.origin + self.path

    @property
    def is_loopback(self) -> bool:
        """Whether the service runs on this machine."""
        if self.name == "localhost" or self.name.endswith(".localhost"):
            return True
        try:
            return ip_address(self.name).is_loopback
        except ValueError:
            return False

    @property
    def is_near(self) -> bool:
        """Whether the service runs on this machine or in a private network."""
        try:
            return ip_address(self.name).is_private
        except ValueError:
            return "." not in self.name or self.name.endswith(_PRIVATE_ENDINGS)

    def join(self, path: str) -> str:
        """Return the whole address of a path, or of an address that is whole already."""
        if path.startswith(("http://", "https://")):
            return path
        path, _, query = path.partition("?")
        query = "&".join(part for part in (self.query, query) if part)
        return f"{self.public}/{path.lstrip('/')}" + (f"?{query}" if query else "")

    def owns(self, url: str) -> bool:
        """Return whether a whole address is of this service, so that its headers may go there."""
        try:
            return Address.of(url, "").origin == self.origin
        except ProviderUnusable:
            return False


def is_secret(name: str, value: str) -> bool:
    """Return whether a header is, or looks like, something that no one else may read."""
    return bool(_SECRET_NAME.search(name) or _SECRET_VALUE.match(value))


def patience_for(address: Address, *, is_query: bool) -> Patience:
    """Return how long a request may take: longer where the service may be as slow as this machine."""
    if address.is_near:
        return NEAR_QUERY if is_query else NEAR_DOCUMENTS
    return QUERY if is_query else DOCUMENTS


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


def _close_all(clients: dict[bool, httpx2.Client]) -> None:
    while clients:
        clients.popitem()[1].close()


class Http:
    """Requests to one service, over connections that stay open; safe to use from several threads.

    `name` is the service's, which errors call by `who`: its name and its host. The headers go to the
    origin of `base_url` and nowhere else.
    """

    def __init__(self, base_url: str, headers: Mapping[str, str], *, name: str) -> None:
        self.address = Address.of(base_url, name)
        self.who = f"{name} ({self.address.host})"
        if self.address.login:  # as a header, so that no request's address holds it
            login = "Basic " + b64encode(self.address.login.encode()).decode("ascii")
            headers = {"authorization": login, **headers}
        for header, value in headers.items():
            if not _HEADER_NAME.fullmatch(header) or not _HEADER_VALUE.fullmatch(value):
                shown = header if _HEADER_NAME.fullmatch(header) else "of that name"
                raise ProviderUnusable(
                    f"the header {shown} for {name} holds a character that no header may hold",
                    todo="Check embeddings.api_key and embeddings.headers for line ends and other odd"
                    " characters",
                )
        self._headers = {header.lower(): value.strip() for header, value in headers.items()}
        self._secrets = tuple(value for key, value in self._headers.items() if is_secret(key, value))
        if self._secrets and not (self.address.is_near or self.address.origin.startswith("https:")):
            raise ProviderUnusable(
                f"{self.who} would get its key over plain http, which others can read",
                todo="Use an https address in embeddings.base_url",
            )
        self._clients: dict[bool, httpx2.Client] = {}
        finalize(self, _close_all, self._clients)
        self._lock = Lock()

    def close(self) -> None:
        """Close the connections; another request would open new ones."""
        with self._lock:
            _close_all(self._clients)

    def json(
        self, method: str, path: str, *, body: Any = None, patience: Patience, max_reply: int = _REPLY_BYTES
    ) -> Any:
        """Return the JSON that the service replies to a request; `None` if it replies nothing.

        `path` is below `base_url`, or a whole address.
        """
        call = _Call(method, path, headers=_ACCEPT)
        if body is not None:
            content = json.dumps(body, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")
            call = _Call(method, path, content, {**_ACCEPT, "content-type": "application/json"}, body)
        return self._retry(patience, lambda ends: self._reply(call, patience, ends, max_reply))

    def upload(self, path: str, *, content: bytes, headers: Mapping[str, str]) -> Any:
        """Return the JSON that the service replies to a file sent to it."""
        call = _Call("POST", path, content, {**_ACCEPT, **headers}, content)
        return self._retry(_UPLOAD, lambda ends: self._reply(call, _UPLOAD, ends, _REPLY_BYTES))

    def lines(self, path: str, *, patience: Patience, max_bytes: int) -> Iterator[str]:
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

    def _retry(self, patience: Patience, attempt: Callable[[float], _Result]) -> _Result:
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
                raise self._moved()
            raw = b"".join(self._chunks(response, ends, max_reply))
        if not raw and response.status_code == 204:
            return None
        try:
            return json.loads(raw)
        except (ValueError, RecursionError):
            failure = self._unreachable("replied with something that is not JSON", again=True)
        raise failure

    def _open_file(self, path: str, patience: Patience, ends: float) -> httpx2.Response:
        for _ in range(_REDIRECTS + 1):
            response = self._response(_Call("GET", path), patience, ends)
            if not response.is_redirect:
                return response
            response.close()
            path = urljoin(str(response.url), response.headers["location"])
            if not self.address.owns(path) and not path.startswith("https://"):
                break
        raise self._moved()

    def _response(self, call: _Call, patience: Patience, ends: float) -> httpx2.Response:
        """Return an open answer of status 2xx, or a redirect."""
        import httpx2

        url = self.address.join(call.path)
        own = self._headers if self.address.owns(url) else {}
        headers = {"user-agent": "memlines", **own, **call.headers, "accept-encoding": "gzip"}
        timeout = httpx2.Timeout(None, connect=patience.connect, pool=max(0.0, ends - time.monotonic()))
        with self._network(ends):
            client = self._open_client(is_secure=url.startswith("https:"))
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
            raise self._unreachable("packed its reply in a way that was not asked for")
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
                raise self._unreachable(f"replied with more than {limit} bytes")
            yield chunk
        if unpacker is not None and not unpacker.eof:
            raise self._unreachable("broke off its reply", again=True)

    def _open_client(self, *, is_secure: bool) -> httpx2.Client:
        from memlines.embed.remote.deadlines import client

        with self._lock:
            if is_secure not in self._clients:
                # What goes to this machine must not take the way over a proxy elsewhere.
                direct = self.address.origin if self.address.is_loopback else ""
                self._clients[is_secure] = client(direct=direct, secure=is_secure)
            return self._clients[is_secure]

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

    def _unreachable(self, what: str, *, again: bool = False) -> _Failed:
        todo = "Try again, or check embeddings.base_url"
        return _Failed(Refusal(ProviderUnreachable(f"{self.who} {what}", todo=todo), again))

    def _moved(self) -> _Failed:
        what = f"{self.who} sends requests elsewhere, where the key must not follow"
        todo = "Set embeddings.base_url to the service's own address"
        return _Failed(Refusal(ProviderUnusable(what, todo=todo)))

    def _split_lines(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        pieces: list[bytes] = []
        for chunk in chunks:
            first, *others = chunk.split(b"\n")
            pieces.append(first)
            if not others and sum(map(len, pieces)) > _LONGEST_LINE:
                raise self._unreachable(f"sent a line of more than {_LONGEST_LINE} bytes")
            for other in others:
                yield b"".join(pieces)
                pieces = [other]
        if any(pieces):
            yield b"".join(pieces)
