"""Where a service is and which headers go there, and which of them are secret."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import SplitResult, unquote, urlsplit

from memlines.errors import ProviderUnusable

_PORTS = {"http": 80, "https": 443}
_PRIVATE_ENDINGS = (".local", ".localhost", ".internal", ".lan", ".home.arpa")
_SECRET_NAME = re.compile(r"auth|key|token|secret|cookie|passw|credential|signature", re.IGNORECASE)
_SECRET_VALUE = re.compile(r"\s*(?:bearer|basic|token)\s|[A-Za-z0-9_+/=.-]{24,}", re.IGNORECASE)
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_HEADER_VALUE = re.compile(r"[\x20-\x7e]*")


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
        """Take an address apart, or raise `ProviderUnusable` if it is none."""
        parts = _split(base_url)
        if parts is None or parts.hostname is None:
            raise ProviderUnusable(
                f"the address of {service} is not a web address",
                todo="Set embeddings.base_url to something like https://api.example.com/v1",
            )
        bracketed = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
        usual = parts.port is None or parts.port == _PORTS[parts.scheme]
        host = bracketed if usual else f"{bracketed}:{parts.port}"
        login = unquote(parts.netloc.rpartition("@")[0])
        path = parts.path.rstrip("/")
        return cls(f"{parts.scheme}://{host}", host, parts.hostname, path, parts.query, login)

    @property
    def public(self) -> str:
        """The address without what may be secret in it."""
        return self.origin + self.path

    @property
    def headers(self) -> dict[str, str]:
        """The login of the address as a header, so that no request's address holds it."""
        if not self.login:
            return {}
        return {"authorization": "Basic " + b64encode(self.login.encode()).decode("ascii")}

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
    def may_carry_secrets(self) -> bool:
        """Whether no one between here and there can read what is sent."""
        return self.origin.startswith("https:") or self.is_near

    @property
    def is_near(self) -> bool:
        """Whether the service runs on this machine or in a private network."""
        if self.is_loopback:
            return True
        try:
            return ip_address(self.name).is_private
        except ValueError:
            return "." not in self.name or self.name.endswith(_PRIVATE_ENDINGS)

    def joined(self, path: str) -> str:
        """Return the whole address of a path, or of an address that is whole already."""
        if path.startswith(("http://", "https://")):
            return path
        path, _, query = path.partition("?")
        query = "&".join(part for part in (self.query, query) if part)
        return f"{self.public}/{path.lstrip('/')}" + (f"?{query}" if query else "")

    def owns(self, url: str) -> bool:
        """Whether a whole address is of this service, so that its headers may go there."""
        parts = _split(url)
        if parts is None or parts.hostname is None:
            return False
        port = parts.port or _PORTS[parts.scheme]
        own = urlsplit(self.origin)
        return (parts.scheme, parts.hostname, port) == (own.scheme, self.name, own.port or _PORTS[own.scheme])


def checked_headers(headers: Mapping[str, str], service: str) -> dict[str, str]:
    """Return headers by lower-case name, or raise `ProviderUnusable` for one that cannot be sent."""
    for name, value in headers.items():
        if not _HEADER_NAME.fullmatch(name) or not _HEADER_VALUE.fullmatch(value):
            shown = name if _HEADER_NAME.fullmatch(name) else "of that name"
            raise ProviderUnusable(
                f"the header {shown} for {service} holds a character that no header may hold",
                todo="Check embeddings.api_key and embeddings.headers for line ends and other odd characters",
            )
    return {name.lower(): value.strip() for name, value in headers.items()}


def is_secret(name: str, value: str) -> bool:
    """Whether a header is, or looks like, something that no one else may read."""
    return bool(_SECRET_NAME.search(name) or _SECRET_VALUE.match(value))


def _split(url: str) -> SplitResult | None:
    """Return the parts of a web address, or nothing if it is none."""
    if not url.isprintable() or " " in url.strip():
        return None
    try:
        parts = urlsplit(url.strip())
        _ = parts.port
    except ValueError:
        return None
    return parts if parts.scheme in _PORTS and parts.hostname else None
