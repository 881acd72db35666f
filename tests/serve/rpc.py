"""A small client of the engine: talks to a real process, or to a server in this one."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import SimpleQueue
from typing import IO, Any

from memlines.serve.rpc.server import Events, Method, serve
from tests.programs import MAIN, environment

Answer = dict[str, Any]

DEADLINE = 30.0
"""How long an answer is waited for; no busy machine takes so long."""

METHODS = Path(__file__).with_name("rpc_methods.py")
"""A program that serves a few methods that have nothing to do with memory."""


class ErrorAnswer(Exception):
    """A request was answered with an error."""

    def __init__(self, error: Mapping[str, Any]) -> None:
        self.code: int = error["code"]
        self.message: str = error["message"]
        self.data: Any = error.get("data")
        super().__init__(f"{self.code} {self.message}")


class Client:
    """Sends requests and finds their answers by their ids."""

    def __init__(self, requests: IO[bytes], answers: IO[bytes]) -> None:
        self._requests = requests
        self._answers = answers
        self._changed = threading.Condition()
        self._received: list[Answer] = []
        self._complete = False
        self._number = 0
        self._reading = threading.Thread(target=self._read, daemon=True)
        self._reading.start()

    def initialize(self, **params: Any) -> Any:
        """Shake hands."""
        return self.ask("initialize", **{"protocol": 1, **params})

    def ask(self, method: str, **params: Any) -> Any:
        """Send a request and return its result, or raise `ErrorAnswer`."""
        return self.result(self.send(method, **params))

    def refused(self, method: str, **params: Any) -> int:
        """Send a request and return the number of the error it is answered with."""
        number: int = self.answer(self.send(method, **params))["error"]["code"]
        return number

    def send(self, method: str, **params: Any) -> int:
        """Send a request and return its id; do not wait."""
        self._number += 1
        self.put({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        return self._number

    def notify(self, method: str, **params: Any) -> None:
        """Send a request that is not answered."""
        self.put({"jsonrpc": "2.0", "method": method, "params": params})

    def put(self, message: Any) -> None:
        """Send any JSON."""
        self.write(json.dumps(message, ensure_ascii=False).encode() + b"\n")

    def write(self, data: bytes) -> None:
        """Send any bytes."""
        self._requests.write(data)
        self._requests.flush()

    def result(self, request: int | str) -> Any:
        """Wait for the answer to a request, and return its result or raise its error."""
        answer = self.answer(request)
        if "error" in answer:
            raise ErrorAnswer(answer["error"])
        return answer["result"]

    def answer(self, request: int | str | None) -> Answer:
        """Wait for an answer and take it; None stands for requests whose id could not be read."""

        def position() -> int | None:
            ids = [answer["id"] for answer in self._received]
            return ids.index(request) if request in ids else None

        with self._changed:
            self._changed.wait_for(lambda: position() is not None or self._complete, DEADLINE)
            found = position()
            assert found is not None, f"no answer to {request!r}"
            return self._received.pop(found)

    def end_input(self) -> None:
        """Send nothing more."""
        with suppress(BrokenPipeError):
            self._requests.close()

    def rest(self) -> list[Answer]:
        """End the input, and return every answer that nobody has taken."""
        self.end_input()
        self._reading.join(DEADLINE)
        assert self._complete, "the output did not end"
        return self._received

    def _read(self) -> None:
        with self._answers as answers:
            for line in answers:
                answer = json.loads(line)
                with self._changed:
                    self._received.append(answer)
                    self._changed.notify_all()
        with self._changed:
            self._complete = True
            self._changed.notify_all()


class Served(Client):
    """A client of a server in this process."""

    def __init__(self, methods: Mapping[str, Method], events: Events | None = None) -> None:
        (from_client, requests), (answers, to_client) = os.pipe(), os.pipe()
        self.ended: list[str] = []

        def run() -> None:
            with os.fdopen(from_client, "rb") as reader, os.fdopen(to_client, "wb", buffering=0) as writer:
                serve(methods, reader, writer, on_end=lambda: self.ended.append("closed"), events=events)
                self.ended.append("returned")

        self.thread = threading.Thread(target=run)
        self.thread.start()
        super().__init__(os.fdopen(requests, "wb", buffering=0), os.fdopen(answers, "rb"))

    def join(self) -> None:
        """Wait until the server has ended."""
        self.thread.join(DEADLINE)
        assert not self.thread.is_alive()


@contextmanager
def served(methods: Mapping[str, Callable[..., Any] | Method], *, ready: bool = True) -> Iterator[Served]:
    """Serve functions (or methods with a time limit) in this process, with a handshake first."""
    table = {
        name: each if isinstance(each, Method) else Method(each, DEADLINE) for name, each in methods.items()
    }
    client = Served({"initialize": Method(lambda params: "hello", DEADLINE), **table})
    try:
        if ready:
            client.initialize()
        yield client
    finally:
        client.end_input()
        client.join()


class Engine(Client):
    """A client of a process of its own, which it ends with."""

    def __init__(self, command: Sequence[str], env: Mapping[str, str | None], cwd: Path | None) -> None:
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(env),
            cwd=cwd,
            bufsize=0,
            start_new_session=True,
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        self._errors = self.process.stderr
        self._told: list[bytes] = []
        self._listening = threading.Thread(target=self._listen, daemon=True)
        self._listening.start()
        super().__init__(self.process.stdin, self.process.stdout)

    def wait(self, seconds: float = 10.0) -> int:
        """Wait until the process has ended, and return its exit code."""
        return self.process.wait(seconds)

    def ends(self) -> int:
        """End the input, wait until the process has ended, and return its exit code."""
        self.end_input()
        return self.wait()

    @property
    def told(self) -> str:
        """What the process has written to its standard error so far."""
        return b"".join(self._told).decode()

    @property
    def errors(self) -> str:
        """What the process wrote to its standard error, once that has ended."""
        self._listening.join(DEADLINE)
        return self.told

    def kill(self) -> None:
        """End the process at once, as a loss of power would."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def _listen(self) -> None:
        with self._errors as errors:
            for line in errors:
                self._told.append(line)


@contextmanager
def engine(
    *arguments: str | Path, env: Mapping[str, str | None] | None = None, cwd: Path | None = None
) -> Iterator[Engine]:
    """Start `memlines serve --stdio`, by words only unless `env` says otherwise; no handshake yet."""
    command = [sys.executable, "-c", MAIN, "serve", "--stdio", *map(str, arguments)]
    with _started(command, env or {}, cwd) as client:
        yield client


@contextmanager
def few_methods(*arguments: str) -> Iterator[Engine]:
    """Start a process that serves a few methods that have nothing to do with memory."""
    with _started([sys.executable, str(METHODS), *arguments], {}, None) as client:
        yield client


@contextmanager
def _started(command: Sequence[str], env: Mapping[str, str | None], cwd: Path | None) -> Iterator[Engine]:
    client = Engine(command, env, cwd)
    try:
        yield client
    finally:
        client.kill()
        client.rest()


def echo(params: Mapping[str, Any]) -> Mapping[str, Any]:
    """A method that returns its parameters."""
    return params


class Gate:
    """A method that waits until the test opens it; afterwards nothing of it is left running."""

    def __init__(self) -> None:
        self.opened = threading.Event()
        self.begun: SimpleQueue[Any] = SimpleQueue()
        self.left: SimpleQueue[Any] = SimpleQueue()

    def __call__(self, params: Mapping[str, Any]) -> str:
        self.begun.put(params)
        assert self.opened.wait(DEADLINE)
        self.left.put(params)
        return "through the gate"

    def wait_for(self, count: int) -> None:
        """Wait until so many calls are in it."""
        for _ in range(count):
            self.begun.get(timeout=DEADLINE)
