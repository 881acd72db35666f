"""`memlines serve`: the engine that a client program keeps open."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from types import FrameType
from typing import BinaryIO, Protocol

import click

from memlines.cli.common import FOLDER, agent_option
from memlines.errors import UsageError
from memlines.serve.rpc.server import ENGINE, Dialect, Event, Events, Method, serve

_BY_SIGNAL = 128
_BUFFER = 64 * 1024


class Served(Protocol):
    """What is served: methods, and how to end them."""

    def methods(self) -> Mapping[str, Method]:
        """Return every method by its name."""

    def close(self) -> None:
        """End what goes on in the background."""


@click.command("serve")
@click.option("--stdio", is_flag=True, help="Talk over the standard input and output.")
@click.option(
    "-w",
    "--workspace",
    type=FOLDER,
    default=None,
    help="The folder with the notes. [default: found from the folder that the client names]",
)
@agent_option
def command(stdio: bool, workspace: Path | None) -> int:
    """Answer a client program, one JSON-RPC request a line, until its input ends.

    The protocol is described in docs/protocol.md.
    """
    if not stdio:
        raise UsageError(
            "memlines serve has to be told how to talk",
            todo="Say memlines serve --stdio; a client program starts it so, people have no need to",
        )

    def engine() -> Served:
        from memlines.serve.rpc.engine import Engine

        return Engine(workspace)

    return serve_stdio(engine)


def serve_stdio(engine: Callable[[], Served], dialect: Dialect = ENGINE) -> int:
    """Serve an engine over the standard streams, and return the exit code.

    Does not return if calls still hang: the process ends here then.
    """
    if os.isatty(0):
        click.echo(
            "This is for client programs: it waits for JSON-RPC requests, one a line. Ctrl-D ends it.",
            err=True,
        )
    reader, writer = _take_streams()
    events: Events = SimpleQueue()
    with ending_on_signals(events) as signals:
        served = engine()
        serve(served.methods(), reader, writer, on_end=served.close, events=events, dialect=dialect)
    return exit_code(signals)


def exit_code(signals: Sequence[int]) -> int:
    """Return the exit code after signals that asked for the end, or after none.

    Does not return if threads are left: the process ends here then.
    """
    code = _BY_SIGNAL + signals[0] if signals else 0
    if any(thread is not threading.main_thread() for thread in threading.enumerate()):
        # Python would wait for some of them, and they may hang. Nothing is flushed: that may hang as well.
        os._exit(code)
    return code


@contextmanager
def ending_on_signals(events: Events) -> Iterator[list[int]]:
    """Have signals that ask for the end bring it about; give where those that came are listed."""
    received: list[int] = []

    def end(number: int, frame: FrameType | None) -> None:
        received.append(number)
        events.put(Event.END)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    if sys.platform == "win32":
        yield received
        return
    source, sink = os.pipe()
    os.set_blocking(sink, False)
    signal.set_wakeup_fd(sink)
    waking = threading.Thread(target=_wake, args=(source, events), name="memlines-signals", daemon=True)
    waking.start()
    try:
        yield received
    finally:
        signal.set_wakeup_fd(-1)
        os.close(sink)
        waking.join()


def _wake(source: int, events: Events) -> None:
    """Wake the main thread at every signal.

    Python calls a handler when the main thread next does something. A signal that comes just before
    that thread begins to wait does not end the wait by itself, and might be noticed an hour later.
    """
    while os.read(source, 1):
        events.put(Event.LOOK)
    os.close(source)


def _take_streams() -> tuple[BinaryIO, BinaryIO]:
    """Take the standard input and output for the protocol alone.

    What a library prints goes to the standard error from here on, and a program that is started
    from here finds no input to eat.
    """
    nothing = os.open(os.devnull, os.O_RDWR)
    while nothing <= 2:  # a stream that was closed before we began; what is opened next must not become it
        nothing = os.dup(nothing)
    source, sink = os.dup(0), os.dup(1)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    sys.stdout = sys.stderr  # what was printed is seen at once, and nothing is left to flush at the end
    for descriptor in (source, sink):
        if sys.platform != "win32":
            os.set_blocking(descriptor, True)
    return os.fdopen(source, "rb", buffering=_BUFFER), os.fdopen(sink, "wb", buffering=0)
