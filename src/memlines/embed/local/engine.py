"""Run llama.cpp inside this process: texts of several threads become vectors or scores, one after the other.

The package xllamacpp offers llama.cpp only as the server that it is, which insists on a socket to listen on.
It gets one in a folder that only this user can enter and that is removed as soon as the server runs, so no
one can reach it; texts are passed by a plain call.

A file can be complete and still hold what llama.cpp takes for a mistake of its own: it then stops the whole
process on the spot. So a file that was never loaded before is first loaded by a process of its own. That
also says why a model is refused, which llama.cpp only writes to the standard error stream.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import importlib
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import astuple
from importlib import metadata
from pathlib import Path
from typing import Any

from memlines import paths
from memlines.embed.local.header import PACKAGE
from memlines.errors import EmbeddingError, ModelFilesError, ProviderUnusable, TextsRefused, install_extra
from memlines.folders import make_private_folders
from memlines.records import dataclass

_SILENT, _ERRORS = -1, 1
"""How much llama.cpp writes to the standard error stream."""

_SOCKET_PATH_BYTES = 100
"""A socket's path may have 104 bytes on macOS, and a few more elsewhere."""
_CLOSING_SECONDS = 30.0
"""How long a process that ends waits for a text that is being embedded."""
_TOO_LONG = ("too large to process", "context size")

_TRIAL_SECONDS = 600
_TRIAL_CODE = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from memlines.embed.local.engine import load_and_ask; load_and_ask(*json.loads(sys.argv[2]))"
)
_TRIAL_REASON = re.compile(r"error loading model: (.+)|(GGML_ASSERT\(.+)")


@dataclass(frozen=True, slots=True)
class Plan:
    """What is run, and with what."""

    path: str
    fingerprint: str
    """Differs for another file at the same place."""
    tokens: int
    """The longest text."""
    threads: int
    ranks: bool = False
    """Whether it scores texts by a query instead of making vectors."""


def _start_server(plan: Plan, verbosity: int) -> Any:
    """Load a model and return the server that runs it."""
    try:
        xllamacpp: Any = importlib.import_module(PACKAGE)
    except ImportError as error:
        raise ProviderUnusable(
            f"the package {PACKAGE} cannot be loaded: {error}", todo=install_extra("local")
        ) from error
    params = xllamacpp.CommonParams()
    params.verbosity = verbosity
    params.model.path = plan.path
    params.embedding = True
    if plan.ranks:
        params.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_RANK
    # A text is seen whole or not at all, so a batch must hold the longest one.
    params.n_ctx = params.n_batch = params.n_ubatch = plan.tokens
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = plan.threads
    # Several texts in one batch are no faster on a processor, and would take their memory each.
    params.n_parallel = params.n_threads_http = 1
    # What was embedded before has no influence and leaves nothing behind.
    params.cache_prompt = False
    params.cache_ram_mib = 0
    params.warmup = params.fit_params = False
    with tempfile.TemporaryDirectory(prefix="memlines-", ignore_cleanup_errors=True) as folder:
        socket = str(Path(folder) / "unused.sock")
        if len(os.fsencode(socket)) > _SOCKET_PATH_BYTES:
            raise ProviderUnusable(
                f"the folder for temporary files, {tempfile.gettempdir()!r}, has too long a name",
                todo="Set TMPDIR to a folder with a shorter one",
            )
        params.hostnames = [socket]
        try:
            return xllamacpp.Server(params)
        except RuntimeError as error:
            raise ModelFilesError(
                f"llama.cpp cannot run the local model {plan.path!r}",
                todo="Check that there is enough memory, or use another model",
            ) from error


def _try_once(plan: Plan) -> None:
    """Raise `ModelFilesError` if another process cannot run a model; remember the models that it can."""
    version = metadata.version(PACKAGE)
    mark = paths.user_cache_dir() / "models" / "tried" / f"{plan.fingerprint}-{version}"
    if mark.exists() or not sys.executable or getattr(sys, "frozen", False):
        return
    if problem := _run_trial(plan):
        todo = "Use a GGUF model made for embeddings, or set embeddings.provider to builtin"
        if plan.ranks:
            todo = "Use a GGUF reranker, or set rerank.provider to none"
        raise ModelFilesError(f"llama.cpp cannot run the local model {plan.path!r}: {problem}", todo=todo)
    # Where it cannot be noted, the next process tries once more; nothing else is lost.
    with contextlib.suppress(OSError):
        make_private_folders(mark.parent)
        mark.touch()


def load_and_ask(path: str, fingerprint: str, tokens: int, threads: int, ranks: bool) -> None:
    """Load a model and ask it about one word: what the other process does."""
    server = _start_server(Plan(path, fingerprint, tokens, threads, ranks), _ERRORS)
    body = {"query": "a", "documents": ["a"]} if ranks else {"input": ["a"]}
    reply = json.loads((server.handle_rerank if ranks else server.handle_embeddings)(json.dumps(body)))
    if "error" in reply:
        sys.exit(f"error loading model: {reply['error'].get('message')}")


def _run_trial(plan: Plan) -> str:
    """Load a model in another process, and return why that failed; empty if it did not."""
    command = [sys.executable, "-c", _TRIAL_CODE, json.dumps(sys.path), json.dumps(astuple(plan))]
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TRIAL_SECONDS,
            # Without this, a failing llama.cpp starts a debugger on itself where there is one.
            env={**os.environ, "GGML_NO_BACKTRACE": "1"},
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
    except subprocess.TimeoutExpired:
        return f"it does not load in {_TRIAL_SECONDS} seconds"
    if done.returncode == 0:
        return ""
    written = done.stderr.decode("utf-8", "replace").strip()
    if found := _TRIAL_REASON.search(written):
        return (found[1] or found[2]).strip()
    if written:
        return written.splitlines()[-1]
    return f"a process that tried ended with code {done.returncode}"


class Engine:
    """A model that loads at its first text; texts from several threads take turns."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._server: Any = None
        self._next = threading.Lock()
        self._busy = threading.Lock()

    def vector(self, text: str, ends: float) -> list[float]:
        """Return the vector of a text; a turn that does not come before `ends` is a `TimeoutError`."""
        reply = self._ask({"input": [text]}, ends)
        vector: list[float] = reply["data"][0]["embedding"]
        return vector

    def score(self, query: str, text: str, ends: float) -> float:
        """Return how well a text answers a query, on the model's own scale; in time, as `vector` does."""
        score: float = self._ask({"query": query, "documents": [text]}, ends)["results"][0]["relevance_score"]
        return score

    def load(self, ends: float) -> None:
        """Load the model, unless it is loaded."""
        with self._turn(ends):
            self._running()

    def _ask(self, body: dict[str, Any], ends: float) -> Any:
        """Return what the model replies, or raise what it says is wrong."""
        with self._turn(ends):
            server = self._running()
            # Half a surrogate pair (from a broken file) is no text that can be passed.
            asked = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace").decode("utf-8")
            reply = json.loads(
                server.handle_rerank(asked) if self._plan.ranks else server.handle_embeddings(asked)
            )
        if "error" not in reply:
            return reply
        path, message = self._plan.path, str(reply["error"].get("message", ""))
        if any(words in message for words in _TOO_LONG):
            raise TextsRefused(
                f"the local model {path!r} reads texts of up to {self._plan.tokens} tokens, and this one"
                " has more",
                todo="Shorten it, or set a smaller chunking.tokens",
            )
        raise EmbeddingError(f"the local model {path!r} failed: {message}", todo="Use another model")

    def _running(self) -> Any:
        """Return the server with the model, started if it is not; the caller has its turn."""
        if _FORKED:
            raise EmbeddingError(
                "a process that was forked cannot use a local model",
                todo="Start processes with the method 'spawn', or fork before the first text",
            )
        if self._server is None:
            _try_once(self._plan)
            self._server = _start_server(self._plan, _SILENT)
        return self._server

    def close_for_good(self) -> None:
        """Unload the model once it is idle; a later caller waits until the process has ended.

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
    """Return the engine of a plan; all its users share one model in memory."""
    with _LOCK:
        return _ENGINES.setdefault(plan, Engine(plan))


def _keep_for_ever(server: Any) -> None:
    """Let nothing destroy a server."""
    if server is not None:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(server))


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
