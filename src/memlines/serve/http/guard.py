"""Decide which requests over HTTP are heard at all: none that a foreign web page sends.

A page in a browser can send requests to this machine. It can neither choose their Host, which names the site
of the page, nor leave out their Origin. Both are checked first, for every application. A reverse proxy passes
on the Host that its clients asked for, so its public names are accepted as well, and only those. Who may ask
is decided by the application, by a token or a cookie.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import field
from email.message import Message

from memlines.errors import UsageError
from memlines.records import dataclass

_NAMES = ("localhost", "127.0.0.1", "[::1]")
_PUBLIC_NAME = re.compile(r"[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?(?::[0-9]{1,5})?")
_DIGITS = re.compile(r"[0-9]{1,19}")
_ALONE = ("Host", "Origin", "Authorization", "Content-Type", "Content-Length", "Cookie")
"""Headers that must not be there twice: one program would believe the first and another the last."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A status of HTTP, a sentence, and headers that belong to that status."""

    status: int
    sentence: str
    headers: Mapping[str, str] = field(default_factory=dict)


class Guard:
    """Lets requests pass that come from this machine or through a known proxy, and from no foreign page."""

    def __init__(self, port: int, behind: Collection[str] = ()) -> None:
        """Name the port, and the public names of proxies that pass requests on."""
        own = {f"{name}:{port}" for name in _NAMES}
        self._hosts = {*own, *behind}
        self._origins = {*(f"http://{host}" for host in own), *(f"https://{name}" for name in behind)}

    def check(self, headers: Message) -> Refusal | None:
        """Return why a request is refused, whatever it asks for."""
        if (headers.get("Host") or "").lower() not in self._hosts or _is_twice(headers, "Host"):
            return Refusal(421, "the Host of the request is not this server")
        origin = headers.get("Origin")
        if origin is not None and (origin.lower() not in self._origins or _is_twice(headers, "Origin")):
            return Refusal(403, "web pages may not ask this server")
        for name in _ALONE:
            if _is_twice(headers, name):
                return Refusal(400, f"the header {name} appears twice")
        return None


def check_body(headers: Message, kind: str, most_bytes: int) -> Refusal | None:
    """Return why the body of a request is refused: its type, a length that is missing, or too many bytes."""
    if headers.get_content_type() != kind or "Content-Type" not in headers:
        return Refusal(415, f"the Content-Type must be {kind}")
    if "Transfer-Encoding" in headers or "Content-Length" not in headers:
        return Refusal(411, "the Content-Length is missing")
    length = headers["Content-Length"]
    if not _DIGITS.fullmatch(length):
        return Refusal(400, "the Content-Length is not a number")
    if int(length) > most_bytes:
        return Refusal(413, f"a request may have {most_bytes:,} bytes")
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
