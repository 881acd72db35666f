"""One request over HTTP and its answer: what the headers must say, and which status an answer has."""

from __future__ import annotations

import base64
import binascii
import json
import re
import threading
from collections.abc import Mapping
from dataclasses import field
from email.message import Message
from typing import Any

from memlines.records import dataclass
from memlines.serve.http.listener import Reply
from memlines.serve.mcp.server import (
    HANDSHAKE,
    STATELESS,
    UNSUPPORTED_VERSION,
    VERSION_KEY,
    is_stateless,
    unknown_method,
    unsupported_version,
)
from memlines.serve.rpc.messages import (
    INVALID_PARAMS,
    NO_SUCH_METHOD,
    NOT_A_REQUEST,
    NOT_JSON,
    OUR_MISTAKE,
    Refused,
    Request,
    error_line,
    parse_request,
    raised_line,
)
from memlines.serve.rpc.server import ALL_HANG, INITIALIZE, Method, outcome
from memlines.serve.rpc.workers import Workers

HEADER_MISMATCH = -32020

_VERSION_HEADER = "MCP-Protocol-Version"
_NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
"""The methods whose parameter of this name is also in a header."""

_ENCODED = re.compile(r"=\?base64\?(?P<text>.*)\?=")
_STATUS = {
    NOT_JSON: 400,
    NOT_A_REQUEST: 400,
    INVALID_PARAMS: 400,
    HEADER_MISMATCH: 400,
    UNSUPPORTED_VERSION: 400,
    NO_SUCH_METHOD: 404,
}


@dataclass(slots=True, eq=False)
class _Call:
    request: Request
    method: Method
    answer: bytes = b""
    succeeded: bool = False
    done: threading.Event = field(default_factory=threading.Event)


class Exchange:
    """Answers requests from any thread, each within its time."""

    def __init__(self) -> None:
        self._workers: Workers[_Call] = Workers(self._work)

    def close(self, seconds: float) -> None:
        """Begin no more calls, and wait a while for those that are under way."""
        self._workers.drain(seconds)
        self._workers.close(0.0)

    def answer(self, body: bytes, headers: Message, methods: Mapping[str, Method]) -> Reply:
        """Answer what came in one request of HTTP, with the methods that its client may call."""
        request = None
        try:
            request = parse_request(body)
            stateless = _check_version(request, headers)
        except Refused as refused:
            return Reply(400, raised_line(request.id if request else refused.request, refused))
        if request.id is None:
            return Reply(202)  # it cancels nothing: the ids of requests belong to their senders alone
        answer, succeeded = self._answer(request, methods.get(request.method))
        if succeeded or not stateless:
            return Reply(200, answer)
        return Reply(_STATUS.get(json.loads(answer)["error"]["code"], 200), answer)

    def _answer(self, request: Request, method: Method | None) -> tuple[bytes, bool]:
        if method is None:
            return raised_line(request.id, unknown_method(request.method)), False
        call = _Call(request, method)
        seconds = method.limit(request.params)
        if not self._workers.submit(call):
            return error_line(request.id, OUR_MISTAKE, ALL_HANG), False
        if not call.done.wait(seconds):
            self._workers.give_up(call)
            what = f"{request.method} took longer than {seconds:g} seconds"
            return error_line(request.id, OUR_MISTAKE, what), False
        return call.answer, call.succeeded

    def _work(self, call: _Call) -> None:
        call.answer, call.succeeded = outcome(call.request, call.method)
        call.done.set()


def _check_version(request: Request, headers: Message) -> bool:
    """Return whether a request names its version, and refuse one that contradicts its headers."""
    if not isinstance(request.params, dict):
        raise Refused(INVALID_PARAMS, "the parameters are not an object")
    version = headers.get(_VERSION_HEADER)
    if is_stateless(request.method, request.params):
        _check_header(headers, _VERSION_HEADER, request.params["_meta"][VERSION_KEY])
        _check_header(headers, "Mcp-Method", request.method)
        parameter = _NAMED.get(request.method)
        if parameter is not None and isinstance(request.params.get(parameter), str):
            _check_header(headers, "Mcp-Name", request.params[parameter])
        return True
    if request.method != INITIALIZE and version is not None and version not in HANDSHAKE:
        if version not in STATELESS:
            raise unsupported_version(version)
        if request.id is not None:
            raise Refused(INVALID_PARAMS, f"_meta does not name the version of the protocol ({VERSION_KEY})")
    return False


def _check_header(headers: Message, name: str, value: Any) -> None:
    given = headers.get_all(name, [])
    if len(given) != 1 or _decode(given[0]) != value:
        raise Refused(HEADER_MISMATCH, f"the header {name} does not match the request")


def _decode(value: str) -> str | None:
    """Return the text of a header, which is written in Base64 where it is not plain ASCII."""
    encoded = _ENCODED.fullmatch(value)
    if encoded is None:
        return value
    try:
        return base64.b64decode(encoded["text"], validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None
