"""Measures how long a client of the Model Context Protocol waits: for the start, and for the first tool.

Run `python -m bench.mcp`. A fresh server is started each time, as clients do. It and a Python that does
nothing take turns, so read the difference: the machine's other work hits both of them.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from bench.common import WORDS_ONLY, RandomVectors, circumstances, environment, finish, parser, verdict
from bench.corpus import write_workspace

NOTES = 285
"""Makes about 1,000 chunks."""

ROUNDS = 25
START_MS = 300
PYTHON = "python -c pass"
KINDS = ("words only", "with vectors")

_INITIALIZE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "bench", "version": "1"},
}
_SEARCH = {"name": "memory_search", "arguments": {"query": "which decision about the budget?"}}


class Started(NamedTuple):
    """Seconds from the start of a server until each of its answers."""

    handshake: float
    listed: float
    first: float
    second: float


def bare(variables: Mapping[str, str]) -> float:
    """Return how many seconds a Python takes that does nothing."""
    begin = time.perf_counter()
    subprocess.run([sys.executable, "-P", "-c", "pass"], env=dict(variables), check=True)
    return time.perf_counter() - begin


def start(folder: Path, variables: Mapping[str, str]) -> Started:
    """Start a server, list its tools, search twice, and return when each was done."""
    begin = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, "-P", "-m", "memlines", "mcp", "-w", str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=dict(variables),
        bufsize=0,
    ) as server:
        done = []
        for method, params in (
            ("initialize", _INITIALIZE),
            ("tools/list", {}),
            ("tools/call", _SEARCH),
            ("tools/call", _SEARCH),
        ):
            _ask(server, method, params)
            done.append(time.perf_counter() - begin)
        assert server.stdin is not None
        server.stdin.close()
        server.wait()
    return Started(*done)


def _ask(server: subprocess.Popen[bytes], method: str, params: Mapping[str, Any]) -> None:
    assert server.stdin is not None
    assert server.stdout is not None
    request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    server.stdin.write(json.dumps(request).encode() + b"\n")
    answer = json.loads(server.stdout.readline())
    if "result" not in answer or answer["result"].get("isError"):
        raise SystemExit(f"{method} failed: {answer}")


def _places(folder: Path, home: Path) -> dict[str, tuple[Path, dict[str, str]]]:
    """Make the same notes twice: by words only, and with random vectors under the builtin model's name."""
    from memlines import Memory
    from memlines.embed.builtin.files import BuiltinProvider
    from memlines.embed.select import Choice

    words, vectors = (folder / name for name in ("words", "vectors"))
    for root in (words, vectors):
        write_workspace(root, NOTES)
    with Memory(words, {"embeddings.provider": "none"}) as memory:
        memory.sync()
    real = BuiltinProvider
    with Memory(vectors) as memory:
        memory._manager.choice = Choice("auto", RandomVectors(real.id, real.model, real.key))
        memory.sync()
    return {
        KINDS[0]: (words, environment(home, **WORDS_ONLY)),
        KINDS[1]: (vectors, environment(home)),
    }


def measure(rounds: int) -> dict[str, Any]:
    """Start servers in turn with a bare Python, and return what each took above it."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        os.environ["MEMLINES_HOME"] = str(
            folder / "home"
        )  # an index of another home is not trusted, and rebuilt
        places = _places(folder, folder / "home")
        for root, variables in places.values():  # the disk's cache, the compiled modules, the model
            start(root, variables)
        empty: list[float] = []
        taken: dict[str, list[Started]] = {kind: [] for kind in places}
        for _ in range(rounds):
            for kind, (root, variables) in places.items():
                empty.append(bare(variables))
                taken[kind].append(start(root, variables))
    base = statistics.median(empty)
    return {
        "circumstances": circumstances(),
        "rounds": rounds,
        "notes": NOTES,
        "python_ms": 1000 * base,
        "start_above_python_ms": {
            kind: 1000 * (statistics.median(one.listed for one in starts) - base)
            for kind, starts in taken.items()
        },
        "first_tool_ms": _spans(taken, "listed", "first"),
        "second_tool_ms": _spans(taken, "first", "second"),
    }


def _spans(taken: Mapping[str, list[Started]], begin: str, end: str) -> dict[str, float]:
    return {
        kind: 1000 * statistics.median(getattr(one, end) - getattr(one, begin) for one in starts)
        for kind, starts in taken.items()
    }


def table(results: Mapping[str, Any]) -> str:
    """Return the figures for people."""
    start_ms = results["start_above_python_ms"]
    lines = [
        f"Fresh servers, medians of {results['rounds']} a kind; `{PYTHON}`: {results['python_ms']:.0f} ms.",
        "",
        "| memory | initialize and tools/list, above Python | first search | second search |",
        "|---|---|---|---|",
    ]
    for kind, value in start_ms.items():
        met = verdict(value, START_MS)
        first, second = results["first_tool_ms"][kind], results["second_tool_ms"][kind]
        lines.append(f"| {kind} | {value:.0f} ms (≤ {START_MS}: {met}) | {first:.0f} ms | {second:.0f} ms |")
    return "\n".join(lines)


def main() -> None:
    """Measure and print."""
    options = parser(__doc__)
    options.add_argument("--rounds", type=int, default=ROUNDS)
    given = options.parse_args()
    results = measure(given.rounds)
    finish(results, table(results), given.json)


if __name__ == "__main__":
    main()
