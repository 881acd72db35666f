"""Threads that do jobs; one that hangs in a job that was given up is replaced."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from time import monotonic
from typing import Generic, TypeVar

MOST_AT_ONCE = 8
"""How many jobs are worked on at once, not counting those that were given up."""

MOST_THREADS = 32
"""How many threads there are at most, with those that hang."""

Job = TypeVar("Job")


class Workers(Generic[Job]):
    """Does jobs in the order they came; `work` must not raise."""

    def __init__(self, work: Callable[[Job], None]) -> None:
        self._work = work
        self._lock = threading.Lock()
        self._wanted = threading.Condition(self._lock)
        self._ended = threading.Condition(self._lock)
        self._waiting: deque[Job] = deque()
        self._running: set[Job] = set()
        self._given_up: set[Job] = set()
        self._threads: set[threading.Thread] = set()
        self._idle = 0
        self._closed = False

    def submit(self, job: Job) -> bool:
        """Queue a job; return whether there is a thread that can do it."""
        with self._lock:
            if self._closed:
                return False
            self._waiting.append(job)
            self._grow()
            if self._able() == 0:
                self._waiting.remove(job)
                return False
            self._wanted.notify()
            return True

    def give_up(self, job: Job) -> None:
        """Do not begin a job; if it has begun, another thread may replace the one that is in it."""
        with self._lock:
            if job in self._waiting:
                self._waiting.remove(job)
            elif job in self._running:
                self._running.remove(job)
                self._given_up.add(job)
                self._grow()

    def drain(self, seconds: float) -> bool:
        """Wait a while until every job is done; return whether they are."""
        with self._lock:
            return self._ended.wait_for(
                lambda: not (self._waiting or self._running or self._given_up), max(0.0, seconds)
            )

    def close(self, seconds: float) -> None:
        """Begin no more jobs, and wait a while until the threads have left."""
        until = monotonic() + seconds
        with self._lock:
            self._closed = True
            self._waiting.clear()
            self._wanted.notify_all()
            threads = list(self._threads)
        for thread in threads:
            thread.join(max(0.0, until - monotonic()))

    def _able(self) -> int:
        return len(self._threads) - len(self._given_up)

    def _grow(self) -> None:
        """Start a thread if jobs wait for one and there may be another."""
        is_needed = len(self._waiting) > self._idle and self._able() < MOST_AT_ONCE
        if not is_needed or len(self._threads) >= MOST_THREADS:
            return
        thread = threading.Thread(target=self._do_jobs, name="memlines-worker", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # the system allows no more threads; the others go on
            return
        self._threads.add(thread)

    def _do_jobs(self) -> None:
        while (job := self._next()) is not None:
            try:
                self._work(job)
            finally:
                with self._lock:
                    self._running.discard(job)
                    self._given_up.discard(job)
                    self._ended.notify_all()
            del job  # an idle thread must not keep it in memory

    def _next(self) -> Job | None:
        with self._lock:
            self._idle += 1
            while not self._waiting and not self._closed and self._able() <= MOST_AT_ONCE:
                self._wanted.wait()
            self._idle -= 1
            if self._closed or self._able() > MOST_AT_ONCE:
                self._threads.discard(threading.current_thread())
                return None
            job = self._waiting.popleft()
            self._running.add(job)
            return job
