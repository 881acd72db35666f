"""Answer the requests of one client: several at once, each within its time, and end quickly.

A thread reads the lines, another writes the answers, workers do the calls; the thread that called
`serve` watches the time limits. It knows nothing of what the methods do.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from enum import Enum
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Any, BinaryIO

from memlines.errors import MemlinesError
from memlines.records import dataclass
from memlines.serve.rpc.messages import (
    CANCELLED,
    INVALID_PARAMS,
    NO_SUCH_METHOD,
    NOT_A_REQUEST,
    NOT_INITIALIZED,
    OUR_MISTAKE,
    TOO_LATE,
    TOO_MANY,
    LineWriter,
    Refused,
    Request,
    error_line,
    is_id,
    log,
    log_traceback,
    parse_request,
    raised_line,
    read_lines,
    result_line,
)
from memlines.serve.rpc.workers import Workers
from memlines.settings.values import shown_value

INITIALIZE = "initialize"

MOST_OPEN = 64
"""How many requests may wait for their answer."""

SECONDS_TO_END = 1.5
"""How long everything after the end of the input may take."""

ALL_HANG = "every worker hangs in a request that took too long"
SECONDS_FOR_CALLS = 1.2
"""How long calls that are under way may still take at the end."""

_SECONDS_OTHERWISE = 10.0
_LONGEST_WAIT = 3600.0


class Event(Enum):
    """What wakes the thread that watches the time."""

    LOOK = "look"
    END = "end"


Events = SimpleQueue[Event]
"""A queue of events; a handler of signals may put some into it, too."""


@dataclass(frozen=True, slots=True)
class Method:
    """What a method does with its parameters, and how many seconds it may take.

    `call` returns what can be written as JSON, or raises a `MemlinesError`.
    """

    call: Callable[[Mapping[str, Any]], Any]
    seconds: float | Callable[[Mapping[str, Any]], float]

    def limit(self, params: Mapping[str, Any]) -> float:
        """Return how many seconds it may take with these parameters."""
        if not callable(self.seconds):
            return self.seconds
        try:
            return self.seconds(params)
        except Exception:  # noqa: BLE001 (the method itself refuses parameters that make no sense)
            return _SECONDS_OTHERWISE


@dataclass(frozen=True, slots=True)
class Dialect:
    """What differs between the protocols on lines; the defaults are those of the engine."""

    shutdown: str | None = "shutdown"
    """The request that asks for the end, if there is one."""

    cancel: str = "$/cancel"
    cancelled: str = "id"
    """The parameter of `cancel` that holds the id of a request."""

    answers_cancelled: bool = True
    """Whether a request that was cancelled is answered; if not, `cancel` can only be a notification."""

    needs_initialize: Callable[[Request], bool] = lambda request: True
    """Whether a request is refused as long as there was no `initialize`."""

    not_initialized: int = NOT_INITIALIZED
    too_late: int = TOO_LATE
    too_many: int = TOO_MANY


ENGINE = Dialect()
"""The protocol of `docs/protocol.md`."""


def serve(
    methods: Mapping[str, Method],
    reader: BinaryIO,
    writer: BinaryIO,
    *,
    on_end: Callable[[], None],
    events: Events | None = None,
    dialect: Dialect = ENGINE,
) -> None:
    """Answer requests until the input ends, a client asks for the end, or `Event.END` is put into `events`.

    Returns within `SECONDS_TO_END` of that. Calls that hang are left behind in daemon threads.
    """
    server = _Server(methods, dialect, writer, SimpleQueue() if events is None else events)
    threading.Thread(target=server.read, args=(reader,), name="memlines-requests", daemon=True).start()
    server.watch()
    server.end(on_end)


@dataclass(slots=True, eq=False)
class _Call:
    request: Request
    method: Method
    seconds: float
    deadline: float

    @property
    def key(self) -> object:
        """What the call is found by while it is open; a notification has no id."""
        return self if self.request.id is None else self.request.id


class _Server:
    """The requests of one client that are open. `_lock` guards them; no method is called under it."""

    def __init__(
        self, methods: Mapping[str, Method], dialect: Dialect, writer: BinaryIO, events: Events
    ) -> None:
        self._methods = methods
        self._dialect = dialect
        self._events = events
        self._answers = LineWriter(writer, on_lost=lambda: events.put(Event.END))
        self._workers: Workers[_Call] = Workers(self._work)
        self._lock = threading.Lock()
        self._open: dict[object, _Call] = {}
        self._initializing: _Call | None = None
        self._is_initialized = False
        self._held: list[_Call] = []
        """Calls that wait until `initialize` is answered."""
        self._next_look = 0.0
        self._ending = False

    # Reading

    def read(self, reader: BinaryIO) -> None:
        """Receive the lines of the client until there are no more."""
        try:
            for line in read_lines(reader):
                if not self._ending:
                    self._receive(line)
                if self._ending:
                    return
        except OSError:
            return  # a client that died may leave an error behind instead of an end; it means the same
        finally:
            self._events.put(Event.END)

    def _receive(self, line: bytes | None) -> None:
        request = None
        try:
            request = parse_request(line)
            with self._lock:
                self._accept(request)
        except Refused as refused:
            if request is None or request.id is not None:
                self._answers.put(raised_line(request.id if request else refused.request, refused))

    def _accept(self, request: Request) -> None:
        if not isinstance(request.params, dict):
            raise Refused(INVALID_PARAMS, "the parameters are not an object")
        if request.id is not None and request.id in self._open:
            raise Refused(NOT_A_REQUEST, f"a request with the id {shown_value(request.id)} is still open")
        is_new = not self._is_initialized and self._initializing is None
        if request.method == INITIALIZE:
            if not is_new:
                raise Refused(NOT_A_REQUEST, "initialize was asked for already")
        elif is_new and self._dialect.needs_initialize(request):
            raise Refused(self._dialect.not_initialized, "the first request has to be initialize")
        if request.method == self._dialect.shutdown:
            if request.params:
                raise Refused(INVALID_PARAMS, f"{request.method} takes no parameters")
            self._answer_null(request)
            self._ending = True
            self._events.put(Event.END)
        elif request.method == self._dialect.cancel:
            self._cancel(request)
        else:
            self._begin(request)

    def _cancel(self, request: Request) -> None:
        name, answered = self._dialect.cancelled, self._dialect.answers_cancelled
        if request.id is not None and not answered:
            raise Refused(NO_SUCH_METHOD, f"{request.method} is not a request")
        wanted = request.params.get(name)
        if not is_id(wanted) or (answered and len(request.params) > 1):
            raise Refused(INVALID_PARAMS, f"{request.method} takes the {name} of a request, and nothing else")
        call = self._open.get(wanted)
        if call is not None:
            self._give_up(call, CANCELLED, f"{call.request.method} was cancelled", silently=not answered)
        self._answer_null(request)

    def _answer_null(self, request: Request) -> None:
        if request.id is not None:
            self._answers.put(result_line(request.id, None))

    def _begin(self, request: Request) -> None:
        method = self._methods.get(request.method)
        if method is None:
            raise Refused(NO_SUCH_METHOD, f"there is no method {shown_value(request.method)}")
        if len(self._open) >= MOST_OPEN:
            raise Refused(self._dialect.too_many, f"{MOST_OPEN} requests are open; wait for an answer")
        seconds = method.limit(request.params)
        call = _Call(request, method, seconds, monotonic() + seconds)
        if self._initializing is not None:
            self._held.append(call)
        elif not self._workers.submit(call):
            raise Refused(self._dialect.too_many, ALL_HANG)
        self._open[call.key] = call
        if request.method == INITIALIZE:
            self._initializing = call
        if call.deadline < self._next_look:
            self._events.put(Event.LOOK)

    # Working

    def _work(self, call: _Call) -> None:
        with self._lock:
            if not self._is_open(call):
                return
        answer, succeeded = outcome(call.request, call.method)
        with self._lock:
            if self._is_open(call):  # else it was given up, and this comes too late
                self._settle(call, answer, succeeded=succeeded)

    def _is_open(self, call: _Call) -> bool:
        return self._open.get(call.key) is call

    def _settle(self, call: _Call, answer: bytes, *, succeeded: bool) -> None:
        """Answer an open request; what waited for `initialize` goes on or is refused."""
        del self._open[call.key]
        if call.request.id is not None and answer:
            self._answers.put(answer)
        if call is self._initializing:
            self._initializing = None
            self._is_initialized = succeeded
            held, self._held = self._held, []
            for waiting in held:
                if not succeeded:
                    what = "initialize failed, and nothing can be done before it"
                    self._give_up(waiting, self._dialect.not_initialized, what)
                elif not self._workers.submit(waiting):
                    self._give_up(waiting, self._dialect.too_many, ALL_HANG)

    def _give_up(self, call: _Call, number: int, what: str, *, silently: bool = False) -> None:
        """Answer an open request with an error, or not at all, and do not wait for what it does."""
        if call in self._held:
            self._held.remove(call)
        self._settle(call, b"" if silently else error_line(call.request.id, number, what), succeeded=False)
        self._workers.give_up(call)

    # The time

    def watch(self) -> None:
        """Answer those requests that take too long, until it is time to end."""
        while True:
            try:
                event = self._events.get(timeout=self._give_up_late())
            except Empty:
                continue
            if event is Event.END:
                return

    def _give_up_late(self) -> float:
        """Give up what is late, and return how long to wait until the next look."""
        with self._lock:
            now = monotonic()
            for call in [call for call in self._open.values() if call.deadline <= now]:
                if self._is_open(call):  # those that waited for a late `initialize` went with it
                    what = f"{call.request.method} took longer than {call.seconds:g} seconds"
                    self._give_up(call, self._dialect.too_late, what)
            soonest = min((call.deadline for call in self._open.values()), default=now + _LONGEST_WAIT)
            self._next_look = min(soonest, now + _LONGEST_WAIT)
            return max(0.0, self._next_look - now)

    # The end

    def end(self, on_end: Callable[[], None]) -> None:
        """Let calls finish that are nearly done, then close what they worked with, all within the time."""
        until = monotonic() + SECONDS_TO_END
        self._ending = True
        calm = self._workers.drain(SECONDS_FOR_CALLS)
        with self._lock:
            for call in list(self._open.values()):
                if self._is_open(call):
                    self._give_up(call, CANCELLED, f"the engine ended before {call.request.method} was done")
        closing = threading.Thread(target=_close, args=(on_end,), name="memlines-end", daemon=True)
        closing.start()
        self._workers.close(until - monotonic() if calm else 0.0)
        closing.join(max(0.0, until - monotonic()))
        self._answers.close(until - monotonic())


def outcome(request: Request, method: Method) -> tuple[bytes, bool]:
    """Do what a request asks for, and return the line that answers it and whether that is a result."""
    try:
        result = method.call(request.params)
        return (b"" if request.id is None else result_line(request.id, result)), True
    except MemlinesError as error:
        if request.id is None:
            log(f"{request.method}: {error}")
        return raised_line(request.id, error), False
    except (Exception, SystemExit):  # noqa: BLE001 (whatever it is, the client gets an answer)
        log_traceback()
        what = "this is a bug in Memlines; its standard error has the details"
        return error_line(request.id, OUR_MISTAKE, what), False


def _close(on_end: Callable[[], None]) -> None:
    try:
        on_end()
    except Exception:  # noqa: BLE001 (there is no caller left to raise it to)
        log_traceback()
