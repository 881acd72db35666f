"""JSON-RPC 2.0 on lines: read and parse requests, check their parameters, write answers.

Lines are bounded while they are read, and nothing waits for a client that is late to read its answers.
"""

from __future__ import annotations

import codecs
import json
import math
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from queue import SimpleQueue
from typing import Any, BinaryIO, NoReturn

from memlines.errors import MemlinesError, UsageError, reason_of
from memlines.records import dataclass
from memlines.settings.values import shown_value
from memlines.text.neutral import neutralise, visible_values

NOT_JSON = -32700
NOT_A_REQUEST = -32600
NO_SUCH_METHOD = -32601
INVALID_PARAMS = -32602
OUR_MISTAKE = -32603
MEMLINES_ERROR = -32000
TOO_LATE = -32001
NOT_INITIALIZED = -32002
UNKNOWN_PROTOCOL = -32003
TOO_MANY = -32004
MEMORY_OFF = -32005
UNAVAILABLE = -32006
CANCELLED = -32800

Id = str | int
"""The id of a request, which its answer repeats; a request without one is not answered."""

MOST_BYTES = 16 * 1024 * 1024
"""The longest line that is accepted."""

_MOST_UNREAD = 64 * 1024 * 1024
_SKIPPED_AT_ONCE = 64 * 1024


class Refused(UsageError):
    """A request that is refused, with the number of its error."""

    def __init__(self, number: int, what: str, *, request: Id | None = None, data: Any = None) -> None:
        """Name the number and the reason, the request's id if it could be read, and data for the client."""
        self.number = number
        self.request = request
        self.data = data
        super().__init__(what)


@dataclass(frozen=True, slots=True)
class Request:
    """A request; without an id it is a notification. Whether `params` is an object is not yet checked."""

    id: Id | None
    method: str
    params: Any


def parse_request(line: bytes | None) -> Request:
    """Return the request on a line, or raise `Refused`; a line that is too long comes as None."""
    if line is None:
        raise Refused(NOT_A_REQUEST, "the line is too long")
    twice: set[str] = set()
    value = _decode(line, twice)
    if not isinstance(value, dict):
        what = "batches are not accepted" if isinstance(value, list) else "a request is a JSON object"
        raise Refused(NOT_A_REQUEST, what)
    request = value.get("id")
    readable = request if is_id(request) and "id" not in twice else None
    if twice:
        raise Refused(NOT_A_REQUEST, f"the key {shown_value(min(twice))} appears twice", request=readable)
    if "id" in value and readable is None:
        raise Refused(NOT_A_REQUEST, "an id is text or a whole number")
    if value.get("jsonrpc") != "2.0":
        raise Refused(NOT_A_REQUEST, 'a request says "jsonrpc": "2.0"', request=readable)
    method = value.get("method")
    if not isinstance(method, str):
        raise Refused(NOT_A_REQUEST, "a request names its method", request=readable)
    return Request(readable, method, value.get("params", {}))


def is_id(value: object) -> bool:
    """Return whether a value can be the id of a request."""
    return isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool))


def result_line(request: Id, result: Any) -> bytes:
    """Return the line that answers a request with its result."""
    return _line({"jsonrpc": "2.0", "id": request, "result": result})


def error_line(request: Id | None, number: int, message: str, data: Any = None) -> bytes:
    """Return the line that answers a request, or one that could not be read, with an error."""
    error: dict[str, Any] = {"code": number, "message": neutralise(message)}
    if data is not None:
        error["data"] = visible_values(data)
    return _line({"jsonrpc": "2.0", "id": request, "error": error})


def raised_line(request: Id | None, error: MemlinesError) -> bytes:
    """Return the line that answers a request with an error that its method raised."""
    if isinstance(error, Refused):
        return error_line(request, error.number, str(error), error.data)
    number = {"disabled": MEMORY_OFF, "unavailable": UNAVAILABLE}.get(error.state, MEMLINES_ERROR)
    if isinstance(error, UsageError):
        number = INVALID_PARAMS
    return error_line(request, number, str(error), error.to_json())


def _decode(line: bytes, twice: set[str]) -> Any:
    def as_dict(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            names = [name for name, _ in pairs]
            twice.update(name for name in found if names.count(name) > 1)
        return found

    try:
        return json.loads(
            line.decode("utf-8"),
            object_pairs_hook=as_dict,
            parse_float=_finite,
            parse_constant=_refuse_number,
        )
    except UnicodeDecodeError as error:
        raise Refused(NOT_JSON, f"the line is not UTF-8 from its byte {error.start + 1} on") from None
    except json.JSONDecodeError as error:
        raise Refused(NOT_JSON, f"the line is not JSON: {error.msg}, at character {error.pos + 1}") from None
    except RecursionError:
        raise Refused(NOT_JSON, "the line is nested too deeply") from None
    except ValueError:
        raise Refused(NOT_JSON, "the line has a number that is too large or not a number") from None


def _finite(digits: str) -> float:
    number = float(digits)
    return number if math.isfinite(number) else _refuse_number(digits)


def _refuse_number(name: str) -> NoReturn:
    raise ValueError(name)


def _line(message: dict[str, Any]) -> bytes:
    text = json.dumps(message, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    # Both end a line for some readers, Node's among them.
    text = text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    try:
        return text.encode("utf-8") + b"\n"
    except UnicodeEncodeError:
        # Half a surrogate pair has no UTF-8; written as an escape it reaches the client as it came.
        return json.dumps(message, allow_nan=False, separators=(",", ":")).encode("ascii") + b"\n"


def read_lines(reader: BinaryIO, most: int = MOST_BYTES) -> Iterator[bytes | None]:
    """Yield the lines that are not empty, and None for one that is too long, whose rest is skipped.

    The last line needs no line break, and the first may begin with a byte order mark.
    """
    first = True
    while line := reader.readline(most + 1):
        if len(line) > most and not line.endswith(b"\n"):
            yield None
            while line and not line.endswith(b"\n"):
                line = reader.readline(_SKIPPED_AT_ONCE)
        else:
            line = line.removeprefix(codecs.BOM_UTF8) if first else line
            if line.strip():
                yield line
        first = False


class LineWriter:
    """Writes whole lines, one after another, in a thread of its own.

    So no worker waits until the client reads its answer. A client that leaves very much unread, or is gone,
    is lost.
    """

    def __init__(
        self, sink: BinaryIO, *, on_lost: Callable[[], None], most_unread: int = _MOST_UNREAD
    ) -> None:
        self._sink = sink
        self._on_lost = on_lost
        self._most = most_unread
        self._queue: SimpleQueue[bytes | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._unread = 0
        self._lost = False
        self._thread = threading.Thread(target=self._write_all, name="memlines-answers", daemon=True)
        self._thread.start()

    def put(self, line: bytes) -> None:
        """Queue a line to be written; this does not wait."""
        with self._lock:
            if self._lost:
                return
            self._unread += len(line)
            too_much = self._unread > self._most
        if too_much:
            self._lose()
        else:
            self._queue.put(line)

    def close(self, seconds: float) -> None:
        """Accept no more lines, and wait a while until the others are written."""
        self._queue.put(None)
        self._thread.join(max(0.0, seconds))

    def _write_all(self) -> None:
        while (line := self._queue.get()) is not None:
            try:
                rest = memoryview(line)
                while rest:
                    rest = rest[self._sink.write(rest) :]
                self._sink.flush()
            except ConnectionError:
                self._lose()
                return
            except OSError as error:
                self._lose()
                log(f"the answers cannot be written: {reason_of(error)}")
                return
            with self._lock:
                self._unread -= len(line)

    def _lose(self) -> None:
        with self._lock:
            self._lost = True
        self._on_lost()


def log(sentence: str) -> None:
    """Write a sentence to standard error: standard output belongs to the protocol."""
    if sys.stderr is not None:
        with suppress(OSError):  # it was closed
            sys.stderr.write(f"memlines: {sentence}\n")


def log_traceback() -> None:
    """Write the traceback of the exception that is being handled to standard error."""
    import traceback

    log(traceback.format_exc().rstrip())
