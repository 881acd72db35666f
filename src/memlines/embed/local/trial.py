"""Lets another process try a model once, because llama.cpp may end the process that loads it.

A file can be complete and still hold what llama.cpp takes for a mistake of its own: it then
stops the whole process on the spot. So a file that was never loaded before is first loaded by
a process of its own. That also tells why a model is refused, which llama.cpp only writes to
the standard error stream.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
from dataclasses import astuple
from importlib import metadata
from pathlib import Path

from memlines import paths
from memlines.embed.local.header import PACKAGE
from memlines.embed.local.server import ERRORS, Plan, start
from memlines.errors import ModelFilesError
from memlines.folders import make_private_folders

_SECONDS = 600
_CODE = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from memlines.embed.local.trial import load_and_embed; load_and_embed(*json.loads(sys.argv[2]))"
)
_REASON = re.compile(r"error loading model: (.+)|(GGML_ASSERT\(.+)")


def ensure_harmless(plan: Plan) -> None:
    """Raise `ModelFilesError` if a model cannot be run; remembers the models that can."""
    mark = _mark(plan)
    if mark.exists() or not sys.executable or getattr(sys, "frozen", False):
        return
    problem = _problem(plan)
    if problem:
        raise ModelFilesError(
            f"llama.cpp cannot run the local model {plan.path!r}: {problem}",
            todo="Use a GGUF model made for embeddings, or set embeddings.provider to builtin",
        )
    # Where it cannot be noted, the next process tries once more; nothing else is lost.
    with contextlib.suppress(OSError):
        make_private_folders(mark.parent)
        mark.touch()


def load_and_embed(path: str, fingerprint: str, tokens: int, threads: int) -> None:
    """Load a model and embed one word: what the other process does."""
    reply = start(Plan(path, fingerprint, tokens, threads), ERRORS).handle_embeddings('{"input": ["a"]}')
    if "error" in json.loads(reply):
        sys.exit(f"error loading model: {json.loads(reply)['error'].get('message')}")


def _mark(plan: Plan) -> Path:
    version = metadata.version(PACKAGE)
    return paths.user_cache_dir() / "models" / "tried" / f"{plan.fingerprint}-{version}"


def _problem(plan: Plan) -> str:
    """Return why a model cannot be run, or nothing."""
    command = [sys.executable, "-c", _CODE, json.dumps(sys.path), json.dumps(astuple(plan))]
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            # Without this, a failing llama.cpp starts a debugger on itself where there is one.
            env={**os.environ, "GGML_NO_BACKTRACE": "1"},
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
    except subprocess.TimeoutExpired:
        return f"it does not load in {_SECONDS} seconds"
    if done.returncode == 0:
        return ""
    written = done.stderr.decode("utf-8", "replace").strip()
    if found := _REASON.search(written):
        return (found[1] or found[2]).strip()
    if written:
        return written.splitlines()[-1]
    return f"a process that tried ended with code {done.returncode}"
