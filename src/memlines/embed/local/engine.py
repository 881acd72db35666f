"""Takes texts from several threads and turns them into vectors, one after the other."""

from __future__ import annotations

import atexit
import ctypes
import json
import os
import sys
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from memlines.embed.local.header import PACKAGE
from memlines.embed.local.server import SILENT, Plan, start
from memlines.embed.local.trial import ensure_harmless
from memlines.errors import EmbeddingError, TextsRefused

_CLOSING_SECONDS = 30.0
"""How long a process that ends waits for a text that is being embedded."""

_TOO_LONG = ("too large to process", "context size")


class Engine:
    """A model that loads at its first text; texts from several threads take turns."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._server: Any = None
        self._next = threading.Lock()
        self._busy = threading.Lock()

    def vector(self, text: str, ends: float) -> list[float]:
        """Return the vector of a text; a turn that does not come before `ends` is a `TimeoutError`."""
        if _FORKED:
            raise EmbeddingError(
                "a process that was forked cannot go on with a local model",
                todo="Start processes with the method 'spawn', or fork before the first text",
            )
        with self._turn(ends):
            if self._server is None:
                ensure_harmless(self._plan)
                self._server = start(self._plan, SILENT)
            # Half a surrogate pair (from a broken file) is no text that can be handed over.
            whole = text.encode("utf-8", "replace").decode("utf-8")
            reply = json.loads(self._server.handle_embeddings(json.dumps({"input": [whole]})))
        if "error" in reply:
            raise _refusal(self._plan, str(reply["error"].get("message", "")))
        vector: list[float] = reply["data"][0]["embedding"]
        return vector

    def close_for_good(self) -> None:
        """Unload the model once it is idle; whoever comes later waits until the process has ended.

        A model that hangs is left as it is: to destroy it would be to wait for it.
        """
        if self._next.acquire(timeout=_CLOSING_SECONDS) and self._busy.acquire(timeout=_CLOSING_SECONDS):
            self._server = None
        else:
            _keep_for_ever(self._server)

    def leave_behind(self) -> None:
        """Give up the copy of the model that a forked process has: its threads are not there."""
        self._next = threading.Lock()
        self._busy = threading.Lock()
        _keep_for_ever(self._server)  # to destroy the copy would be to wait for those threads
        self._server = None

    @contextmanager
    def _turn(self, ends: float) -> Iterator[None]:
        # With one lock alone, a thread that embeds a batch would take its next turn before any
        # other wakes up, and a question would wait for the whole batch.
        if not self._next.acquire(timeout=max(0.0, ends - time.monotonic())):
            raise TimeoutError
        try:
            if not self._busy.acquire(timeout=max(0.0, ends - time.monotonic())):
                raise TimeoutError
        finally:
            self._next.release()
        try:
            yield
        finally:
            self._busy.release()


def shared(plan: Plan) -> Engine:
    """Return the engine of a plan; all who hold it share one model in memory."""
    with _LOCK:
        engine = _ENGINES.get(plan)
        if engine is None:
            engine = _ENGINES[plan] = Engine(plan)
        return engine


def _keep_for_ever(server: Any) -> None:
    """Let nothing destroy a server."""
    if server is not None:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(server))


def _refusal(plan: Plan, message: str) -> EmbeddingError:
    if any(words in message for words in _TOO_LONG):
        return TextsRefused(
            f"the local model {plan.path!r} takes texts of up to {plan.tokens} tokens, and this one has more",
            todo="Shorten it, or set a smaller chunking.tokens",
        )
    return EmbeddingError(
        f"the local model {plan.path!r} failed: {message}", todo="Use another model for embeddings"
    )


def _close_all() -> None:
    """Make all engines idle: a process that ends while llama.cpp computes crashes."""
    for engine in list(_ENGINES.values()):
        engine.close_for_good()


def _leave_all_behind() -> None:
    """Keep a forked process from llama.cpp, which would wait for threads that are not there."""
    global _FORKED, _LOCK
    _FORKED = PACKAGE in sys.modules
    _LOCK = threading.Lock()
    for engine in list(_ENGINES.values()):
        engine.leave_behind()


_FORKED = False
_LOCK = threading.Lock()
_ENGINES: weakref.WeakValueDictionary[Plan, Engine] = weakref.WeakValueDictionary()

atexit.register(_close_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_all_behind)
