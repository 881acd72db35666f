"""Starts llama.cpp inside this process and out of everybody's sight.

The package xllamacpp offers llama.cpp only as the server that it is, which insists on a socket
to listen on. It gets one in a folder that only this user can enter and that is removed as soon
as the server stands, so nobody can reach it; texts are handed over by a plain call.
"""

from __future__ import annotations

import importlib
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memlines.embed.local.header import PACKAGE
from memlines.errors import ModelFilesError, ProviderUnusable

SILENT, ERRORS = -1, 1
"""How much llama.cpp writes to the standard error stream."""

_SOCKET_PATH_BYTES = 100
"""A socket's path may have 104 bytes on macOS, and a few more elsewhere."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is run, and with what."""

    path: str
    fingerprint: str
    """Tells the file from another at the same place."""
    tokens: int
    """The longest text."""
    threads: int


def start(plan: Plan, verbosity: int) -> Any:
    """Load a model and return the server that runs it."""
    try:
        xllamacpp: Any = importlib.import_module(PACKAGE)
    except ImportError as error:
        raise ProviderUnusable(
            f"the package {PACKAGE} cannot be loaded: {error}", todo="Run 'pip install memlines[local]'"
        ) from error
    params = xllamacpp.CommonParams()
    params.verbosity = verbosity
    params.model.path = plan.path
    params.embedding = True
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
