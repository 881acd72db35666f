"""Which versions of the protocol are spoken, and which of them a request means.

Up to 2025-11-25 a client shakes hands with `initialize`. Since 2026-07-28 there is no handshake: every
request says in its `_meta` which version it speaks. Both are spoken here, side by side.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memlines.serve.rpc.messages import (
    INVALID_PARAMS,
    NO_SUCH_METHOD,
    OUR_MISTAKE,
    Refused,
    Request,
    shortened,
)
from memlines.serve.rpc.server import Dialect

HANDSHAKE = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
"""The versions that begin with `initialize`, the newest first."""

STATELESS = ("2026-07-28",)
"""The versions that every request names."""

UNSUPPORTED_VERSION = -32022

VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
SERVER_KEY = "io.modelcontextprotocol/serverInfo"
_CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"

INITIALIZE = "initialize"
PING = "ping"
_NOTIFICATION = "notifications/"


def is_stateless(method: str, params: Any) -> bool:
    """Tell whether a request names its version; `initialize` never counts as such a request."""
    meta = params.get("_meta") if isinstance(params, Mapping) else None
    return method != INITIALIZE and isinstance(meta, Mapping) and VERSION_KEY in meta


def check_envelope(params: Mapping[str, Any]) -> None:
    """Refuse a request whose `_meta` lacks what every request without a handshake has to say."""
    meta = params["_meta"]
    if not isinstance(meta.get(_CAPABILITIES_KEY), Mapping):
        raise Refused(INVALID_PARAMS, f"_meta does not say what the client can do ({_CAPABILITIES_KEY})")
    version = meta[VERSION_KEY]
    if not isinstance(version, str):
        raise Refused(INVALID_PARAMS, f"{VERSION_KEY} is {shortened(version)}, not text")
    if version not in STATELESS:
        raise unsupported(version)


def unsupported(version: str) -> Refused:
    """Return the refusal of a request in a version that is not spoken here."""
    what = f"version {shortened(version)} of the protocol is not spoken here"
    return Refused(
        UNSUPPORTED_VERSION, what, data={"supported": [*STATELESS, *HANDSHAKE], "requested": version}
    )


def no_such_method(method: str) -> Refused:
    """Return the refusal of a method that the protocol or this server does not have."""
    return Refused(NO_SUCH_METHOD, f"there is no method {shortened(method)}")


def _needs_initialize(request: Request) -> bool:
    if request.id is None:
        return not request.method.startswith(_NOTIFICATION)
    return request.method != PING and not is_stateless(request.method, request.params)


DIALECT = Dialect(
    shutdown=None,
    cancel="notifications/cancelled",
    cancelled="requestId",
    answers_cancelled=False,
    needs_initialize=_needs_initialize,
    not_initialized=INVALID_PARAMS,
    too_late=OUR_MISTAKE,
    too_many=OUR_MISTAKE,
)
"""How clients of this protocol talk over lines. The error numbers of the engine mean other things here."""
