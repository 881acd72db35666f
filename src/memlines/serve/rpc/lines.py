"""Lines in and out: bounded while they are read, and no wait for a client that is late to read ours."""

from __future__ import annotations

import codecs
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from queue import SimpleQueue
from typing import BinaryIO

from memlines.errors import reason_of

MOST_BYTES = 16 * 1024 * 1024
"""The longest line that is taken."""

_MOST_UNREAD = 64 * 1024 * 1024
_SKIPPED_AT_ONCE = 64 * 1024


def lines(reader: BinaryIO, most: int = MOST_BYTES) -> Iterator[bytes | None]:
    """Give the lines that are not empty, and None for one that is too long; its rest is skipped, not kept.

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

    Whoever has an answer must not wait until the client reads it: the thread that reads requests
    would not notice their end. A client that leaves very much unread, or is gone, is lost.
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
        """Have a line written as soon as those before it are; this does not wait."""
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
        """Take no more lines, and wait a while until those that are there are written."""
        self._queue.put(None)
        self._thread.join(max(0.0, seconds))

    def _write_all(self) -> None:
        while (line := self._queue.get()) is not None:
            try:
                _write_whole(self._sink, line)
            except ConnectionError:
                self._lose()
                return
            except OSError as error:
                self._lose()
                tell(f"the answers cannot be written: {reason_of(error)}")
                return
            with self._lock:
                self._unread -= len(line)

    def _lose(self) -> None:
        with self._lock:
            self._lost = True
        self._on_lost()


def tell(sentence: str) -> None:
    """Write a sentence to the standard error, which is the only place for it."""
    if sys.stderr is not None:
        with suppress(OSError):  # whoever closed it does not want to know
            sys.stderr.write(f"memlines: {sentence}\n")


def _write_whole(sink: BinaryIO, line: bytes) -> None:
    rest = memoryview(line)
    while rest:
        rest = rest[sink.write(rest) :]
    sink.flush()
