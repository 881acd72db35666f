"""Speak with a Qdrant cluster over HTTP: with the node that answers, in time, and with errors of ours."""

from __future__ import annotations

import json
import os
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from memlines.errors import ClusterRefused, ClusterUnreachable, SettingsError
from memlines.text.neutral import harmless_address

if TYPE_CHECKING:
    import httpx2

    from memlines.embed.remote.deadlines import BoundedBackend

KEY_VARIABLE = "QDRANT_API_KEY"
"""The variable of the environment that holds the key or token, if the cluster wants one."""

_HOW_TO_WRITE = f"Write it as https://host:6333 without a key, which belongs in {KEY_VARIABLE}"

SEARCH_SECONDS, WRITE_SECONDS = 2.0, 15.0
"""How long a node may take before another one is asked: where a person waits, and where none does."""

_CONNECT_SECONDS = 1.0
_MOST_TRIES = 1.5
"""How many times that long all nodes together may take."""

_REST_SECONDS = 10.0
"""For how long a node that did not answer is asked only if no other one answers."""

_MOST_BYTES = 64_000_000
"""No reply is longer; one that is does not come from a node that works."""


class CollectionMissing(ClusterRefused):
    """There is no such collection."""


class _Failed(Exception):
    """A node did not answer, or not with sense."""


class Cluster:
    """The nodes of one cluster. All threads share it."""

    def __init__(self, uri: str) -> None:
        """Prepare to ask the nodes at one or more addresses, with a comma between them."""
        if "@" in uri:  # before it is divided, as a comma may be a part of the password
            raise SettingsError("store.uri holds an @, as an address with a key does", todo=_HOW_TO_WRITE)
        self.nodes = [node.strip().rstrip("/") for node in uri.split(",") if node.strip()]
        self.hosts = [_host_in(node) for node in self.nodes]
        """The nodes as messages name them."""
        if not self.nodes:
            raise SettingsError(
                "store.driver is qdrant, but store.uri names no node",
                todo="Set store.uri to an address such as http://127.0.0.1:6333",
            )
        self._http: httpx2.Client | None = None
        self._making = threading.Lock()
        self._rests: dict[str, float] = {}
        """Until when nodes rest that did not answer."""
        self._network: BoundedBackend | None = None
        self._is_closed = False

    def close(self) -> None:
        """Close the connections for good: what any thread is waiting for fails at once."""
        with self._making:
            self._is_closed = True
            if self._network is not None:
                self._network.interrupt()
            if self._http is not None:
                self._http.close()

    def ask(self, method: str, path: str, body: Any = None, *, seconds: float = SEARCH_SECONDS) -> Any:
        """Return the result of a request that the first node to answer gave.

        Every request may be sent to several nodes: what it writes is the same however often it is written.
        """
        failures: dict[str, str] = {}
        begin = time.monotonic()
        for node in sorted(self.nodes, key=lambda node: self._rests.get(node, 0.0) > begin):
            left = begin + _MOST_TRIES * seconds - time.monotonic()
            if left > 0 and not self._is_closed:
                try:
                    return self._ask_node(node, method, path, body, min(seconds, left))
                except _Failed as error:
                    failures[harmless_address(node)] = str(error)
        if self._is_closed:
            raise ClusterUnreachable(
                "the connections to the Qdrant cluster were closed meanwhile", todo="Open the memory again"
            )
        why = "; ".join(f"{node}: {reason}" for node, reason in failures.items())
        raise ClusterUnreachable(
            f"no node of the Qdrant cluster answered ({why})",
            todo="Start the cluster, or correct store.uri",
        )

    def check(self) -> dict[str, str]:
        """Return for each node what is wrong with it, which is nothing if it answers."""
        found = {}
        for node in self.nodes:
            found[harmless_address(node)] = ""
            try:
                self._ask_node(node, "GET", "/collections", None, _CONNECT_SECONDS)
            except (_Failed, ClusterRefused) as error:
                found[harmless_address(node)] = str(error)
        return found

    def _ask_node(self, node: str, method: str, path: str, body: Any, seconds: float) -> Any:
        """Return the result of a request to one node, whose whole reply has to come in time."""
        try:
            import httpx2  # which an installation for words only leaves out

            from memlines.embed.remote.deadlines import until
        except ImportError:
            raise ClusterRefused(
                "a Qdrant cluster needs the package httpx2, which is not installed",
                todo="Run: pip install memlines (which adds what is missing)",
            ) from None
        text = "" if body is None else json.dumps(body, separators=(",", ":"), ensure_ascii=False)
        content = text.encode("utf-8", "replace")
        try:
            timeout = httpx2.Timeout(seconds, connect=min(seconds, _CONNECT_SECONDS))
            with (
                until(time.monotonic() + seconds),
                self._client().stream(method, node + path, content=content, timeout=timeout) as reply,
            ):
                held = bytearray()
                for part in reply.iter_raw():
                    held += part
                    if len(held) > _MOST_BYTES:
                        raise httpx2.ReadError(f"its reply has more than {_MOST_BYTES} bytes")
        except (httpx2.HTTPError, httpx2.InvalidURL, RuntimeError) as error:
            self._rests[node] = time.monotonic() + _REST_SECONDS
            raise _Failed(f"{type(error).__name__} {error}".strip()) from error
        text = held.decode("utf-8", "replace")
        if reply.status_code >= 500 or reply.status_code == 408:
            raise _Failed(f"HTTP {reply.status_code} {_reason_in(text)}".strip())
        if reply.status_code >= 400:
            raise _refusal(reply.status_code, text, path, node)
        try:
            return json.loads(text)["result"]
        except (ValueError, KeyError, TypeError):
            raise _Failed("it does not answer as a Qdrant node does") from None

    def _client(self) -> httpx2.Client:
        import httpx2

        from memlines.embed.remote.deadlines import keep_deadlines

        with self._making:
            if self._is_closed:
                raise _Failed("the connections are closed")
            if self._http is None:
                key = os.environ.get(KEY_VARIABLE, "").strip()
                if not (key.isascii() and key.isprintable()):
                    raise ClusterRefused(
                        f"{KEY_VARIABLE} holds a character that no key may have",
                        todo="Set it again to the key alone",
                    )
                # A reply that is compressed comes in several parts, of which the last is held back for 40 ms.
                headers = {"content-type": "application/json", "accept-encoding": "identity"}
                headers |= {"api-key": key} if key else {}
                transport = httpx2.HTTPTransport(trust_env=False)
                self._network = keep_deadlines(transport)
                self._http = httpx2.Client(
                    headers=headers, follow_redirects=False, trust_env=False, transport=transport
                )
            return self._http


def _host_in(node: str) -> str:
    """Return the name and the port of a node; raise if its address is none."""
    with suppress(ValueError):  # such as of a port that is none
        parts = urlsplit(node)
        port = "" if parts.port is None else f":{parts.port}"
        if parts.scheme in ("http", "https") and parts.hostname:
            return (f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname) + port
    raise SettingsError(
        f"store.uri names {harmless_address(node)!r}, which is not the address of a node",
        todo=_HOW_TO_WRITE,
    )


def _refusal(status: int, text: str, path: str, node: str) -> ClusterRefused:
    """Return the error for a request that no node would take."""
    if status in (401, 403):
        return ClusterRefused(
            f"the Qdrant cluster at {harmless_address(node)} refuses the key: {_reason_in(text)}",
            todo=f"Put a key or token that may use the collection into {KEY_VARIABLE}",
        )
    if status == 404:
        collection = path.removeprefix("/collections/").partition("/")[0]
        return CollectionMissing(
            f"{collection!r} is not on the Qdrant cluster at {harmless_address(node)}",
            todo="Run 'memlines sync', which makes it",
        )
    return ClusterRefused(
        f"the Qdrant node {harmless_address(node)} refuses {path.partition('?')[0]}: {_reason_in(text)}",
        todo="Run 'memlines doctor'; a cluster older than 1.16 lacks what is needed",
    )


def _reason_in(text: str) -> str:
    try:
        return str(json.loads(text)["status"]["error"])[:300]
    except (ValueError, KeyError, TypeError):
        return text[:200].strip()
