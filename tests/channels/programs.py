"""Programs on a path of their own: `memlines` and `uv`, as a client finds them or does not."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.serve.mcp import Process

ROOT = Path(__file__).parents[2]
SHELL = "/bin/sh"
MEMLINES = shlex.join([sys.executable, "-P", "-m", "memlines"])
"""The command line of this environment."""

needs_shell = pytest.mark.skipif(not Path(SHELL).exists(), reason="this system has no /bin/sh")


def load(name: str) -> Any:
    """Return what a JSON file of this repository says."""
    return json.loads((ROOT / name).read_text(encoding="utf-8"))


def put_program(folder: Path, name: str, text: str) -> None:
    """Put a program of the shell into a folder."""
    folder.mkdir(exist_ok=True)
    program = folder / name
    program.write_text(f"#!{SHELL}\n{text}\n", encoding="utf-8")
    program.chmod(0o755)


@contextmanager
def server(command: Sequence[str], path: Path | str, cwd: Path, **variables: str) -> Iterator[Process]:
    """Start an MCP server where a client sees only the programs in `path`; no handshake yet."""
    client = Process(list(command), {"PATH": str(path), **variables}, cwd)
    try:
        yield client
    finally:
        client.kill()
        client.rest()
