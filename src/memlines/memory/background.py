"""One thread for work that no caller waits for."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable

from memlines.errors import MemlinesError
from memlines.types import Progress

Work = Callable[[Progress], Iterable[str]]
"""Something to do that calls its argument now and then, and returns messages to report."""

A_MOMENT = 0.2
"""Seconds before a new thread begins, so that a program that is about to end need not wait for it."""


def silent(completed: int, total: int, label: str) -> None:
    """Report progress to no one."""


class _Stopped(Exception):
    """Raised inside the work, from its own progress."""


class Background:
    """At most one thread, started when there is work and gone when there is none left.

    It is not a daemon: those are cut off at any instruction when the program ends. It notices that end
    itself, at the next progress of its work.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._work: dict[str, Work] = {}
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()
        self._messages: dict[str, None] = {}

    def ask(self, name: str, work: Work, after: float = A_MOMENT) -> None:
        """Have something done soon, once, however often it is asked for until it begins.

        `after` is how many seconds a thread waits that has to be started for it.
        """
        with self._lock:
            self._work[name] = work
            if self._thread is None:
                self._stop = threading.Event()
                self._thread = threading.Thread(target=self._run, args=(self._stop, after), name="memlines")
                self._thread.start()

    def stop(self) -> None:
        """Drop what is asked for, end what is being done, and return when the thread is gone."""
        with self._lock:
            thread = self._thread
            self._work.clear()
            self._stop.set()
        if thread is not None:
            thread.join()

    @property
    def is_busy(self) -> bool:
        """Whether there is something left to do."""
        return self._thread is not None

    def take_messages(self) -> list[str]:
        """Return what the work had to report since this was last called."""
        with self._lock:
            messages, self._messages = list(self._messages), {}
        return messages

    def _run(self, stop: threading.Event, after: float) -> None:
        def go_on(completed: int, total: int, label: str) -> None:
            if stop.is_set() or not threading.main_thread().is_alive():
                raise _Stopped

        begin = time.monotonic() + after
        while time.monotonic() < begin and threading.main_thread().is_alive():
            if stop.wait(min(after, A_MOMENT)):
                break
        while (work := self._next()) is not None:
            try:
                messages = [*work(go_on)]
            except _Stopped:
                continue
            except MemlinesError as error:
                messages = [str(error)]
            except Exception as error:  # noqa: BLE001 (no caller could catch it; the next result reports it)
                messages = [f"work in the background failed: {type(error).__name__}: {error}"]
            with self._lock:
                self._messages.update(dict.fromkeys(messages))

    def _next(self) -> Work | None:
        """Take the next work; without any, the thread ends."""
        with self._lock:
            if not self._work or self._stop.is_set() or not threading.main_thread().is_alive():
                self._work.clear()
                self._thread = None
                return None
            return self._work.pop(next(iter(self._work)))
