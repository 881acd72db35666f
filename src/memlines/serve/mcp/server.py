"""The methods of MCP: tools, resources, prompts, and the two ways in which clients begin.

Up to 2025-11-25 a client shakes hands with `initialize`. Since 2026-07-28 there is no handshake: every
request says in its `_meta` which version it speaks. Both are supported side by side.

Nothing here knows how requests come in or answers go out. The memory is opened by the first request that
needs it; a client that lists the tools does not wait for that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from memlines.errors import MemlinesError, UsageError
from memlines.memory.arguments import Argument, parse
from memlines.records import dataclass
from memlines.serve.mcp import offers
from memlines.serve.rpc.messages import INVALID_PARAMS, NO_SUCH_METHOD, OUR_MISTAKE, Refused, Request
from memlines.serve.rpc.server import INITIALIZE, Dialect, Method
from memlines.serve.tools import call_tool, tool_named, tool_seconds
from memlines.settings.values import shown_value
from memlines.text.neutral import neutralise, visible_values

if TYPE_CHECKING:
    from memlines.serve.mcp.audit import Audit
    from memlines.serve.mcp.tokens import Token
    from memlines.serve.rpc.workplace import Workplace
    from memlines.serve.tools import Output

HANDSHAKE = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
"""The versions that begin with `initialize`, the newest first."""

STATELESS = ("2026-07-28",)
"""The versions that every request names."""

UNSUPPORTED_VERSION = -32022

VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
SERVER_KEY = "io.modelcontextprotocol/serverInfo"
_CLIENT_KEY = "io.modelcontextprotocol/clientInfo"
_CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"

PING = "ping"
_NOTIFICATION = "notifications/"

NO_SUCH_RESOURCE = -32002
"""For clients that shake hands; the others get the number of invalid parameters."""

DATA_KEY = "memlines/data"
"""The key under which programs find the result of a tool with stable field names.

It is not `structuredContent`: clients such as Claude Code show that to the model instead of the text, and
nothing in it marks the notes as quotes.
"""

_HOUR_MS = 3_600_000
_CONSTANT = {"ttlMs": _HOUR_MS, "cacheScope": "public"}
_BY_TOKEN = {"ttlMs": _HOUR_MS, "cacheScope": "private"}
_CHANGING = {"ttlMs": 0, "cacheScope": "private"}

_SECONDS = 10.0
_SECONDS_FOR_NOTES = 20.0

_TEXT = Argument("text", required=True)

Params = Mapping[str, Any]


def is_stateless(method: str, params: Any) -> bool:
    """Return whether a request names its version; `initialize` never counts as such a request."""
    meta = params.get("_meta") if isinstance(params, Mapping) else None
    return method != INITIALIZE and isinstance(meta, Mapping) and VERSION_KEY in meta


def check_meta(params: Mapping[str, Any]) -> None:
    """Refuse a request without a handshake whose `_meta` is incomplete."""
    meta = params["_meta"]
    if not isinstance(meta.get(_CAPABILITIES_KEY), Mapping):
        raise Refused(INVALID_PARAMS, f"_meta does not say what the client can do ({_CAPABILITIES_KEY})")
    version = meta[VERSION_KEY]
    if not isinstance(version, str):
        raise Refused(INVALID_PARAMS, f"{VERSION_KEY} is {shown_value(version)}, not text")
    if version not in STATELESS:
        raise unsupported_version(version)


def unsupported_version(version: str) -> Refused:
    """Return the refusal of a request in a version that is not supported."""
    what = f"version {shown_value(version)} of the protocol is not supported"
    return Refused(
        UNSUPPORTED_VERSION, what, data={"supported": [*STATELESS, *HANDSHAKE], "requested": version}
    )


def unknown_method(method: str) -> Refused:
    """Return the refusal of a method that the protocol or this server does not have."""
    return Refused(NO_SUCH_METHOD, f"there is no method {shown_value(method)}")


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
"""How MCP clients use lines. The error numbers of the engine mean other things in MCP."""


@dataclass(frozen=True, slots=True)
class _Operation:
    """What a method does, and how long a client without a handshake may keep the answer."""

    call: Callable[[Params], dict[str, Any]]
    seconds: float | Callable[[Params], float] = _SECONDS
    kept: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Holder:
    """The one client of a team that a server is for: its token, and the log of what is written."""

    token: Token
    audit: Audit


class Server:
    """One memory for clients of the protocol."""

    def __init__(self, place: Workplace, session: str | None = None, holder: Holder | None = None) -> None:
        """Serve a memory; `session` marks the entries that belong to it.

        A holder may do what its token allows, and what it writes is logged.
        """
        self._place = place
        self._session = session
        self._clients: set[str] = set()
        """The names of the clients that shook hands; over HTTP there may be several."""
        self._holder = holder
        self._writes = holder is None or holder.token.access == "write"
        kept = _CONSTANT if holder is None else _BY_TOKEN
        shared = {
            "tools/list": _Operation(self._list_tools, kept=kept),
            "tools/call": _Operation(self._call_tool, tool_seconds),
            "resources/list": _Operation(self._list_resources, _SECONDS_FOR_NOTES, _CHANGING),
            "resources/templates/list": _Operation(
                lambda params: {"resourceTemplates": list(offers.TEMPLATES)}, kept=_CONSTANT
            ),
            "resources/read": _Operation(self._read_resource, _SECONDS_FOR_NOTES, _CHANGING),
            "prompts/list": _Operation(
                lambda params: {"prompts": offers.list_prompts(writes=self._writes)}, kept=kept
            ),
            "prompts/get": _Operation(self._get_prompt),
        }
        self._handshake = {
            INITIALIZE: _Operation(self._initialize),
            PING: _Operation(lambda params: {}),
            **shared,
        }
        about = {
            "supportedVersions": list(STATELESS),
            "capabilities": offers.CAPABILITIES,
            "instructions": self._instructions,
        }
        self._stateless = {"server/discover": _Operation(lambda params: about, kept=kept), **shared}

    def methods(self) -> Mapping[str, Method]:
        """Return every method by its name."""
        every = {**self._handshake, **self._stateless}
        return {name: Method(partial(self._answer, name), one.seconds) for name, one in every.items()}

    def close(self) -> None:
        """Stop background work."""
        self._place.close()

    def _answer(self, name: str, params: Params) -> dict[str, Any]:
        """Answer a request by the rules of the version that it speaks."""
        stateless = is_stateless(name, params)
        if stateless:
            check_meta(params)
        operation = (self._stateless if stateless else self._handshake).get(name)
        if operation is None:
            raise unknown_method(name)
        try:
            result = operation.call(params)
        except MemlinesError as error:
            raise _refuse(error, params, stateless=stateless) from error
        if not stateless:
            return result
        meta = {SERVER_KEY: offers.SERVER, **result.get("_meta", {})}
        return {"resultType": "complete", **(operation.kept or {}), **result, "_meta": meta}

    # How clients begin

    def _initialize(self, params: Params) -> dict[str, Any]:
        asked = _parse(INITIALIZE, params, protocolVersion=_TEXT)["protocolVersion"]
        self._clients |= {name} if (name := _client_name(params.get("clientInfo"))) else set()
        return {
            "protocolVersion": asked if asked in HANDSHAKE else HANDSHAKE[0],
            "capabilities": offers.CAPABILITIES,
            "serverInfo": offers.SERVER,
            "instructions": self._instructions,
        }

    @property
    def _instructions(self) -> str:
        return offers.INSTRUCTIONS if self._writes else offers.READ_INSTRUCTIONS

    # Tools

    def _list_tools(self, params: Params) -> dict[str, Any]:
        maintenance = self._place.shows_maintenance
        return {"tools": offers.list_tools(maintenance=maintenance, writes=self._writes)}

    def _call_tool(self, params: Params) -> dict[str, Any]:
        name = _parse("tools/call", params, name=_TEXT)["name"]
        # an unknown one is an error of the request
        tool = tool_named(name, maintenance=self._place.shows_maintenance, writes=self._writes)
        call = self._run if tool.effect == "reads" else self._write
        try:
            output = call(name, params.get("arguments"), self._client_of(params))
        except MemlinesError as error:
            meta = {DATA_KEY: visible_values(error.to_json())}
            return {"content": [_text(neutralise(str(error)))], "isError": True, "_meta": meta}
        return {"content": [_text(output.text)], "isError": False, "_meta": {DATA_KEY: dict(output.data)}}

    def _client_of(self, params: Params) -> str:
        """Return the name of the client that sent a request, if only that one can have sent it."""
        if self._holder is not None:
            return self._holder.token.name
        meta = params.get("_meta")
        named = _client_name(meta.get(_CLIENT_KEY)) if isinstance(meta, Mapping) else ""
        return named or (next(iter(self._clients)) if len(self._clients) == 1 else "")

    def _run(self, name: str, arguments: Any, client: str) -> Output:
        return call_tool(self._place.memory(), name, arguments, self._session, client)

    def _write(self, name: str, arguments: Any, client: str) -> Output:
        """Call a tool that writes, if the token allows that, and log it."""
        if self._holder is None:
            return self._run(name, arguments, client)
        audit = self._holder.audit
        audit.check()
        changed: tuple[str, ...] = ()
        code = MemlinesError.code
        try:
            if not self._writes:
                raise offers.refuse_to_write(name)
            output = self._run(name, arguments, client)
            changed, code = output.changed, ""
        except MemlinesError as error:
            code = error.code
            raise
        finally:
            audit.record(self._holder.token.name, self._session, name, changed, code)
        return output

    # Resources and prompts

    def _list_resources(self, params: Params) -> dict[str, Any]:
        given = _parse("resources/list", params, cursor=Argument("text"))
        return offers.list_notes(self._place.memory(), given.get("cursor"))

    def _read_resource(self, params: Params) -> dict[str, Any]:
        uri = _parse("resources/read", params, uri=_TEXT)["uri"]
        return offers.read_note(self._place.memory(), uri, self._session, self._client_of(params))

    def _get_prompt(self, params: Params) -> dict[str, Any]:
        given = _parse("prompts/get", params, name=_TEXT, arguments=Argument("object"))
        return offers.render_prompt(given["name"], given.get("arguments", {}), writes=self._writes)


def _client_name(about: Any) -> str:
    name = about.get("name") if isinstance(about, Mapping) else None
    return name if isinstance(name, str) else ""


def _parse(method: str, params: Params, **arguments: Argument) -> dict[str, Any]:
    """Return the parameters that a method accepts; those that later versions may add are ignored."""
    return parse(method, arguments, {name: params[name] for name in arguments if name in params})


def _refuse(error: MemlinesError, params: Params, *, stateless: bool) -> Refused:
    if isinstance(error, Refused):
        return error
    if isinstance(error, offers.NoSuchNote):
        number = INVALID_PARAMS if stateless else NO_SUCH_RESOURCE
        return Refused(number, str(error), data={"uri": params.get("uri")})
    number = INVALID_PARAMS if isinstance(error, UsageError) else OUR_MISTAKE
    return Refused(number, str(error), data=error.to_json())


def _text(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}
