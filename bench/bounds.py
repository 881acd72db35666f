"""Measures what hostile input may cost: messages that slow patterns down, a huge line, slow clients.

    python -m bench.bounds [--source FOLDER]

`--source` names the `src` folder of another version to measure, such as of a worktree.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter, process_time

NEWLINES = 20_000
LINE_MB = 91
SLOW = 40


def patterns() -> dict[str, float]:
    """Return the processor time that `is_injection` takes for line breaks, once its patterns are made."""
    from memlines.text.injection import is_injection

    is_injection("ready")
    found = {}
    for count in (NEWLINES // 4, NEWLINES):
        began = process_time()
        is_injection("I like " + "\n" * count + "tea")
        found[f"{count} line breaks, seconds"] = process_time() - began
    return found


def huge_line() -> dict[str, float]:
    """Return how long a sync takes with a transcript of one huge line and a short one."""
    from memlines import Memory

    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "sessions").mkdir()
        said = json.dumps({"type": "message", "message": {"role": "user", "content": "tea and biscuits"}})
        with (Path(folder) / "sessions" / "one.jsonl").open("w", encoding="utf-8") as file:
            file.write(f"{said}\n{said[:-3]}")
            for _ in range(LINE_MB):
                file.write("tea and biscuits " * 58_823)
            file.write(f"{said[-3:]}\n{said}\n")
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        began = perf_counter()
        with Memory(folder) as memory:
            report = memory.sync()
        seconds = perf_counter() - began
    print(*report.warnings, sep="\n", file=sys.stderr)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    return {"sync, seconds": seconds, "more memory at most, MB": grown / 1024}


def slow_clients() -> dict[str, float]:
    """Return how many of ten good requests are answered while slow clients hang, and how long one takes."""
    from queue import SimpleQueue
    from threading import Thread

    from memlines.serve.http.listener import Listener, serve_http
    from memlines.serve.mcp.endpoint import Endpoint, OneClient
    from memlines.serve.mcp.server import Server
    from memlines.serve.rpc.server import Event, Events
    from memlines.serve.rpc.workplace import Workplace

    with tempfile.TemporaryDirectory() as folder:
        client = OneClient("token", Server(Workplace(Path(folder))))
        events: Events = SimpleQueue()
        listener = Listener("127.0.0.1", 0, Endpoint(client))
        thread = Thread(target=serve_http, args=(listener, events))
        thread.start()
        held = [socket.create_connection(("127.0.0.1", listener.port)) for _ in range(SLOW)]
        for one in held:
            one.sendall(b"POST /mcp HTTP/1.1\r\nHost: ")
        began = perf_counter()
        statuses = [_asked(listener.port) for _ in range(10)]
        seconds = (perf_counter() - began) / 10
        events.put(Event.END)
        thread.join()
        for one in held:
            one.close()
    return {"answered of 10": statuses.count(b"200"), "a request, milliseconds": 1000 * seconds}


def _asked(port: int) -> bytes:
    body = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
    head = (
        f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer token\r\n"
        f"Connection: close\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall(head.encode() + body)
        return (connection.makefile("rb").readline().split() or [b"", b""])[1]


PARTS = {"patterns": patterns, "huge_line": huge_line, "slow_clients": slow_clients}


def main() -> None:
    """Measure each part in a process of its own, and print the figures."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--source", type=Path, help="the folder src of another version")
    options.add_argument("--part", choices=PARTS)
    options.add_argument("--seconds", type=float, default=120, help="what a part may take")
    arguments = options.parse_args()
    if arguments.part:
        print(json.dumps(PARTS[arguments.part]()))
        return
    variables = {
        **os.environ,
        "MEMLINES_EMBEDDINGS__PROVIDER": "none",
        "MEMLINES_SOURCES": "memory,sessions",
        **({"PYTHONPATH": str(arguments.source)} if arguments.source else {}),
    }
    for part in PARTS:
        command = [sys.executable, __file__, "--part", part]
        try:
            done = subprocess.run(
                command, env=variables, capture_output=True, text=True, timeout=arguments.seconds, check=True
            )
            told = ", ".join(f"{name}: {value:.3g}" for name, value in json.loads(done.stdout).items())
        except subprocess.TimeoutExpired:
            told = f"not done after {arguments.seconds:g} seconds"
        print(f"{part}: {told}")


if __name__ == "__main__":
    main()
