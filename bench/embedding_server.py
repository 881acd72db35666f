"""An embedding service for measuring: it speaks OpenAI's protocol, takes its time, and counts.

Run `python -m bench.embedding_server --delay 0.05`; it prints its port. Every request is answered that
long after it was received, however many come at once. `POST /v1/embeddings` returns vectors, `GET /counts`
how many requests and texts came, and `POST /reset` sets both to zero.

Vectors count the words of a text by hashing them into 384 places, which costs next to nothing and makes
texts with the same words near each other. With `--model builtin` they are those of the builtin model.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import threading
import time
import urllib.request
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MODEL = "bench-embedding"
"""A name that no program knows, so that each asks how long the vectors are."""
DIMS = 384

_WORD = re.compile(r"\w+")


class Server(ThreadingHTTPServer):
    """The service, with its counts."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, delay: float, embed: Callable[[list[str]], list[str]]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.delay, self.embed = delay, embed
        self.requests = self.texts = 0
        self.lock = threading.Lock()


class Handler(BaseHTTPRequestHandler):
    """One connection, which stays open."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1  # a reply leaves in one piece
    server: Server

    def do_GET(self) -> None:
        """Return how many requests and texts came."""
        self._reply(json.dumps({"requests": self.server.requests, "texts": self.server.texts}))

    def do_POST(self) -> None:
        """Return vectors, or begin to count from zero."""
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
        reply = _reply_to(asked["model"], texts, self.server.embed(texts))
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


def _reply_to(model: str, texts: list[str], vectors: list[str]) -> str:
    items = ",".join(
        f'{{"object":"embedding","index":{place},"embedding":[{vector}]}}'
        for place, vector in enumerate(vectors)
    )
    tokens = sum(map(len, texts)) // 4
    usage = f'{{"prompt_tokens":{tokens},"total_tokens":{tokens}}}'
    return f'{{"object":"list","model":{json.dumps(model)},"data":[{items}],"usage":{usage}}}'


def count_words(texts: list[str]) -> list[str]:
    """Return a vector for each text that counts its words, each in a place and with a sign by its hash."""
    vectors = []
    for text in texts:
        counts = [0] * DIMS
        for word in _WORD.findall(text.lower()):
            mark = zlib.crc32(word.encode())
            counts[mark % DIMS] += 1 if mark & 0x10000 else -1
        counts[0] += not any(counts)
        vectors.append(",".join(map(str, counts)))
    return vectors


def builtin_model() -> Callable[[list[str]], list[str]]:
    """Return a function that asks the builtin model, one request at a time."""
    from memlines.embed.base import embed_documents
    from memlines.embed.select import make_provider
    from memlines.settings import Settings

    provider, lock = make_provider("builtin", Settings()), threading.Lock()
    assert provider is not None

    def embed(texts: list[str]) -> list[str]:
        with lock:
            return [",".join(map(repr, map(float, vector))) for vector in embed_documents(provider, texts)]

    return embed


class Client:
    """What a runner asks the service."""

    def __init__(self, port: int) -> None:
        self._address = f"http://127.0.0.1:{port}"
        self.base_url = f"{self._address}/v1"
        # No proxy is asked for what is on this machine.
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def reset(self) -> None:
        """Begin to count from zero."""
        self._opener.open(f"{self._address}/reset", data=b"").close()

    def counts(self) -> dict[str, int]:
        """Return how many requests and texts came since then."""
        with self._opener.open(f"{self._address}/counts") as reply:
            counted: dict[str, int] = json.load(reply)
        return counted


@contextmanager
def running(delay: float, model: str = "words") -> Iterator[Client]:
    """Run the service in a process of its own, which Ctrl-C does not reach before its programs ended."""
    command = [sys.executable, "-m", "bench.embedding_server", "--delay", str(delay), "--model", model]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, encoding="utf-8", start_new_session=True
    ) as process:
        try:
            assert process.stdout is not None
            yield Client(int(process.stdout.readline()))
        finally:
            process.terminate()


def main() -> None:
    """Serve until the process ends."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--delay", type=float, default=0.05, help="seconds until a request is answered")
    options.add_argument("--model", choices=["words", "builtin"], default="words", help="what makes vectors")
    arguments = options.parse_args()
    server = Server(arguments.delay, count_words if arguments.model == "words" else builtin_model())
    print(server.server_port, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
