"""An embedding service for measuring: it speaks OpenAI's protocol, takes its time, and counts.

Run `python -m bench.embedding_server --delay 0.05`; it prints its port. Every request is answered that
long after it was received, however many come at once. `POST /v1/embeddings` returns vectors made from the
texts by hashing, `GET /counts` how many requests and texts came, and `POST /reset` begins to count anew.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MODEL = "fake-embed-64"
DIMS = 64

_NUMBERS = [f"{(byte - 127.5) / 128:.6f}" for byte in range(256)]


class Server(ThreadingHTTPServer):
    """The service, with its counts."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, delay: float) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.delay = delay
        self.requests = self.texts = 0
        self.lock = threading.Lock()


class Handler(BaseHTTPRequestHandler):
    """One connection, which stays open."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1  # a reply leaves in one piece
    server: Server

    def do_GET(self) -> None:
        """Tell how many requests and texts came."""
        self._reply(json.dumps({"requests": self.server.requests, "texts": self.server.texts}))

    def do_POST(self) -> None:
        """Make vectors, or begin to count anew."""
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        received = time.monotonic()
        if self.path == "/reset":
            with self.server.lock:
                self.server.requests = self.server.texts = 0
            self._reply("{}")
            return
        asked = json.loads(body)
        texts = [asked["input"]] if isinstance(asked["input"], str) else asked["input"]
        with self.server.lock:
            self.server.requests += 1
            self.server.texts += len(texts)
        reply = _reply_to(asked["model"], texts)
        time.sleep(max(0.0, received + self.server.delay - time.monotonic()))
        self._reply(reply)

    def _reply(self, text: str) -> None:
        content = text.encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Say nothing about a request that went well."""


def _reply_to(model: str, texts: list[str]) -> str:
    items = ",".join(
        f'{{"object":"embedding","index":{place},"embedding":[{_vector(text)}]}}'
        for place, text in enumerate(texts)
    )
    tokens = sum(map(len, texts)) // 4
    usage = f'{{"prompt_tokens":{tokens},"total_tokens":{tokens}}}'
    return f'{{"object":"list","model":{json.dumps(model)},"data":[{items}],"usage":{usage}}}'


def _vector(text: str) -> str:
    return ",".join([_NUMBERS[byte] for byte in hashlib.shake_256(text.encode()).digest(DIMS)])


class Client:
    """What a runner asks the service."""

    def __init__(self, port: int) -> None:
        self._address = f"http://127.0.0.1:{port}"
        self.base_url = f"{self._address}/v1"
        # No proxy is asked for what is on this machine.
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def reset(self) -> None:
        """Begin to count anew."""
        self._opener.open(f"{self._address}/reset", data=b"").close()

    def counts(self) -> dict[str, int]:
        """Return how many requests and texts came since then."""
        with self._opener.open(f"{self._address}/counts") as reply:
            counted: dict[str, int] = json.load(reply)
        return counted


@contextmanager
def running(delay: float) -> Iterator[Client]:
    """Run the service in a process of its own."""
    command = [sys.executable, "-m", "bench.embedding_server", "--delay", str(delay)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8") as process:
        try:
            assert process.stdout is not None
            yield Client(int(process.stdout.readline()))
        finally:
            process.terminate()


def main() -> None:
    """Serve until the process ends."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--delay", type=float, default=0.05, help="seconds until a request is answered")
    server = Server(options.parse_args().delay)
    print(server.server_port, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
