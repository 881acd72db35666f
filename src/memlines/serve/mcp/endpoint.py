"""The endpoint of the Model Context Protocol over HTTP: requests of programs that know a token.

A token is random, in a file that only its owner can read.
"""

from __future__ import annotations

import hmac
import os
import re
import secrets
import stat
from email.message import Message
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from memlines.errors import SettingsError, reason_of
from memlines.files.atomic import create, read
from memlines.folders import PRIVATE_FILE, make_private_folders
from memlines.paths import user_state_dir
from memlines.serve.http.guard import Refusal, check_body
from memlines.serve.http.listener import Handler, Reply
from memlines.serve.mcp.exchange import Exchange
from memlines.serve.rpc.messages import MOST_BYTES, NOT_A_REQUEST, error_line
from memlines.serve.rpc.server import SECONDS_FOR_CALLS

if TYPE_CHECKING:
    from memlines.serve.mcp.server import Server

_TOKEN = re.compile(r"[A-Za-z0-9._~+/=-]{32,512}")
_MOST_TOKEN_BYTES = 4096


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


class Endpoint:
    """Answers clients of the protocol; there are no streams and no sessions."""

    path = "/mcp"

    def __init__(self, clients: Clients) -> None:
        self._clients = clients
        self._exchange = Exchange()

    def find(self, method: str, target: str, headers: Message) -> Refusal | Handler:
        """Return what answers a request, or why it is refused."""
        if target.partition("?")[0] != self.path:
            return Refusal(404, f"there is nothing here but {self.path}")
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
        refusal = check_body(headers, "application/json", MOST_BYTES)
        return refusal or (lambda body: self._exchange.answer(body, headers, server.methods()))

    def refuse(self, refusal: Refusal) -> Reply:
        """Return a refusal as the protocol writes errors."""
        return Reply(refusal.status, error_line(None, NOT_A_REQUEST, refusal.sentence))

    def close(self) -> None:
        """Begin no more calls, wait a while for those that are under way, and stop background work."""
        self._exchange.close(SECONDS_FOR_CALLS)
        self._clients.close()


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
