"""Decide who may send requests over HTTP: no web page, and no program without a token.

A page in a browser can send requests to this machine. It can neither choose their Host, which names the site
of the page, nor leave out their Origin. Both are checked first on every route. A reverse proxy passes on the
Host that its clients asked for, so its public names are accepted as well, and only those. A token is random,
in a file that only its owner can read.
"""

from __future__ import annotations

import hmac
import os
import re
import secrets
import stat
from collections.abc import Collection, Mapping
from dataclasses import field
from email.message import Message
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from memlines.errors import SettingsError, UsageError, reason_of
from memlines.files.atomic import create, read
from memlines.folders import PRIVATE_FILE, make_private_folders
from memlines.paths import user_state_dir
from memlines.records import dataclass

if TYPE_CHECKING:
    from memlines.serve.mcp.server import Server

ENDPOINT = "/mcp"
_NAMES = ("localhost", "127.0.0.1", "[::1]")
_PUBLIC_NAME = re.compile(r"[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?(?::[0-9]{1,5})?")
_DIGITS = re.compile(r"[0-9]{1,19}")
_ALONE = ("Host", "Origin", "Authorization", "Content-Type", "Content-Length")
"""Headers that must not be there twice: one program would believe the first and another the last."""

_TOKEN = re.compile(r"[A-Za-z0-9._~+/=-]{32,512}")
_MOST_TOKEN_BYTES = 4096


@dataclass(frozen=True, slots=True)
class Refusal:
    """A status of HTTP, a sentence, and headers that belong to that status."""

    status: int
    sentence: str
    headers: Mapping[str, str] = field(default_factory=dict)


class Clients(Protocol):
    """Those who may ask."""

    def find(self, token: bytes) -> Server | None:
        """Return what answers the client with this token; raises `SettingsError` if no token can be read."""
        ...

    def close(self) -> None:
        """Stop background work."""
        ...


class OneClient:
    """The one client of a server with a single token."""

    def __init__(self, token: str, server: Server) -> None:
        self._token = token.encode()
        self._server = server

    def find(self, token: bytes) -> Server | None:
        """Return the server if this is its token."""
        return self._server if hmac.compare_digest(token, self._token) else None

    def close(self) -> None:
        """Stop background work."""
        self._server.close()


class Guard:
    """Lets requests pass from programs that know a token, on this machine or behind a proxy."""

    def __init__(self, port: int, clients: Clients, most_bytes: int, behind: Collection[str] = ()) -> None:
        """Name the port and the clients, and the public names of proxies that pass requests on."""
        self._clients = clients
        self._most = most_bytes
        own = {f"{name}:{port}" for name in _NAMES}
        self._hosts = {*own, *behind}
        self._origins = {*(f"http://{host}" for host in own), *(f"https://{name}" for name in behind)}

    def check(self, method: str, target: str, headers: Message) -> Refusal | Server:
        """Return why a request is refused, or what answers it; its body is not needed for that."""
        if (headers.get("Host") or "").lower() not in self._hosts or _is_twice(headers, "Host"):
            return Refusal(421, "the Host of the request is not this server")
        origin = headers.get("Origin")
        if origin is not None and (origin.lower() not in self._origins or _is_twice(headers, "Origin")):
            return Refusal(403, "web pages may not ask this server")
        for name in _ALONE:
            if _is_twice(headers, name):
                return Refusal(400, f"the header {name} appears twice")
        if target.partition("?")[0] != ENDPOINT:
            return Refusal(404, f"there is nothing here but {ENDPOINT}")
        scheme, _, given = headers.get("Authorization", "").partition(" ")
        token = given.strip().encode("utf-8", "surrogatepass")
        try:
            server = self._clients.find(token) if scheme.lower() == "bearer" else None
        except SettingsError:
            why = "the tokens of this server cannot be read; its standard error says why"
            return Refusal(503, why, {"Retry-After": "10"})
        if server is None:
            needed = {"WWW-Authenticate": 'Bearer realm="memlines"'}
            return Refusal(401, "the token is missing or wrong: send it as Authorization: Bearer", needed)
        if method != "POST":
            return Refusal(
                405, "only POST is supported here; there are no streams or sessions", {"Allow": "POST"}
            )
        return self._check_body(headers) or server

    def _check_body(self, headers: Message) -> Refusal | None:
        if headers.get_content_type() != "application/json" or "Content-Type" not in headers:
            return Refusal(415, "the Content-Type must be application/json")
        if "Transfer-Encoding" in headers or "Content-Length" not in headers:
            return Refusal(411, "the Content-Length is missing")
        length = headers["Content-Length"]
        if not _DIGITS.fullmatch(length):
            return Refusal(400, "the Content-Length is not a number")
        if int(length) > self._most:
            return Refusal(413, f"a request may have {self._most:,} bytes")
        return None


def check_public_name(name: str) -> str:
    """Return the name under which clients reach a proxy, or refuse what cannot be one."""
    if not _PUBLIC_NAME.fullmatch(name.lower()):
        raise UsageError(
            f"{name[:60]!r} is not the name of a host",
            todo="Give the name that clients use, such as memory.example.org, without https://",
        )
    return name.lower()


def _is_twice(headers: Message, name: str) -> bool:
    return len(headers.get_all(name, [])) > 1


def token_file() -> Path:
    """Return where the token is kept unless another file is named."""
    return user_state_dir() / "mcp-token"


def token_in(file: Path) -> str:
    """Return the token in a file; if there is no file, make both."""
    try:
        make_private_folders(file.parent)
        create(file, f"{secrets.token_urlsafe(32)}\n", PRIVATE_FILE)
        if os.name == "posix" and stat.S_IMODE(file.stat().st_mode) & 0o077:
            raise SettingsError(
                f"others can read the token in {str(file)!r}",
                todo=f"Run chmod 600 {file}, or delete the file",
            )
        token = (read(file, _MOST_TOKEN_BYTES) or b"").decode("ascii", "replace").strip()
    except OSError as error:
        raise SettingsError(
            f"the token in {str(file)!r} cannot be used: {reason_of(error)}",
            todo="Check its permissions, or name another file with --token-file",
        ) from error
    if not _TOKEN.fullmatch(token):
        raise SettingsError(
            f"{str(file)!r} holds no token, which has at least 32 letters and digits",
            todo="Delete the file, and a new one is made",
        )
    return token
