"""Local servers that speak the batch protocols of OpenAI, Voyage and Gemini, with faults on demand."""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal
from urllib.parse import parse_qs, urlsplit

from memlines.embed.base import validated
from memlines.embed.codec import encode
from memlines.embed.passages import PASSAGES

Service = Literal["openai", "voyage", "gemini"]
Step = Literal["upload", "create", "list", "poll", "download", "cancel", "delete", "direct"]
Fault = int | Literal["lost", "cut", "prose"]
"""A status; an answer that is lost (the step is done, 500 comes back); a connection that breaks in the
middle of the body; a page of words instead of JSON."""

DIMS = 8
KEY = "secret-key-of-the-tests"


def vector_of(text: str) -> list[float]:
    """The numbers that every server of these tests gives for a text."""
    digest = hashlib.sha256(text.encode()).digest()
    return [1.0 + byte for byte in digest[:DIMS]]


def blob_of(text: str) -> bytes:
    """The bytes that are kept for a text."""
    return encode(validated([vector_of(text)], 1, DIMS))[0]


@dataclass
class RemoteBatch:
    """What a server knows of a batch."""

    id: str
    token: str
    texts: dict[str, str]
    request: dict[str, Any]
    polls: int = 0
    cancelled: bool = False


@dataclass
class BatchServer:
    """One service: what it was asked, and how it is to behave."""

    service: Service
    polls: int = 1
    """How often a batch is still running when it is asked for."""
    ends: Literal["completed", "failed", "expired", "cancelled", "never"] = "completed"
    done_share: float = 0.0
    """How much of a batch that expired or was cancelled has results."""
    bend: Callable[[list[bytes]], list[bytes]] = field(default=lambda lines: lines)
    """Changes the lines of results before they are sent."""
    fails: dict[str, str] = field(default_factory=dict)
    """Texts that get an error instead of a vector, with the error's message."""
    faults: dict[Step, list[Fault]] = field(default_factory=dict)
    """What goes wrong at a step, one fault a request."""
    url: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    batches: dict[str, RemoteBatch] = field(default_factory=dict)
    asked: list[Step] = field(default_factory=list)
    direct: list[str] = field(default_factory=list)
    """The texts that were embedded without a batch."""
    headers: list[dict[str, str]] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def handed(self) -> list[str]:
        """Every text of every batch that was created: what would be paid for."""
        return [text for batch in self.batches.values() for text in batch.texts.values()]

    def next_fault(self, step: Step) -> Fault | None:
        self.asked.append(step)
        waiting = self.faults.get(step, [])
        return waiting.pop(0) if waiting else None

    def upload(self, content: bytes) -> str:
        name = f"file-{len(self.files) + 1}"
        self.files[name] = content
        return name

    def create(self, file: str, token: str, request: dict[str, Any]) -> RemoteBatch:
        lines = [json.loads(line) for line in self.files[file].splitlines()]
        texts = {_key(line): self._text(line) for line in lines}
        assert len(texts) == len(lines), "an id was given twice"
        batch = RemoteBatch(f"batch-{len(self.batches) + 1}", token, texts, request)
        self.batches[batch.id] = batch
        return batch

    def phase(self, batch: RemoteBatch) -> str:
        if batch.cancelled:
            return "cancelled"
        running = batch.polls <= self.polls or self.ends == "never"
        return "running" if running else self.ends

    def output(self, batch: RemoteBatch) -> bytes:
        lines = [
            self._line(key, text)
            for key, text in list(batch.texts.items())[: self.count_done(batch)]
            if text not in self.fails or self.service == "gemini"
        ]
        return b"".join(line + b"\n" for line in self.bend(lines))

    def errors(self, batch: RemoteBatch) -> bytes:
        if self.service == "gemini":
            return b""
        lines = [self._line(key, text) for key, text in batch.texts.items() if text in self.fails]
        return b"".join(line + b"\n" for line in lines)

    def count_done(self, batch: RemoteBatch) -> int:
        phase = self.phase(batch)
        if phase == "completed":
            return len(batch.texts)
        return round(len(batch.texts) * self.done_share) if phase in ("expired", "cancelled") else 0

    def _text(self, line: dict[str, Any]) -> str:
        if self.service == "gemini":
            return str(line["request"]["content"]["parts"][0]["text"])
        given = line["body"]["input"]
        return str(given if isinstance(given, str) else given[0])

    def _line(self, key: str, text: str) -> bytes:
        message = self.fails.get(text)
        if self.service == "gemini":
            if message is not None:
                return _json({"key": key, "error": {"code": 3, "message": message}})
            answer = {"embedding": {"values": vector_of(text)}, "usageMetadata": {"promptTokenCount": 3}}
            return _json({"key": key, "response": answer})
        body: dict[str, Any] = {
            "object": "list",
            "data": [{"object": "embedding", "index": 0, "embedding": vector_of(text)}],
            "usage": {"prompt_tokens": 3, "total_tokens": 3},
        }
        status = 200
        if message is not None:
            status, body = 400, {"error": {"message": message, "type": "invalid_request_error"}}
        response = {"status_code": status, "request_id": "r", "body": body}
        return _json({"id": f"line-{key[:4]}", "custom_id": key, "response": response, "error": None})


def _key(line: dict[str, Any]) -> str:
    return str(line["key"] if "key" in line else line["custom_id"])


def _json(value: object) -> bytes:
    return json.dumps(value).encode()


class _Handler(BaseHTTPRequestHandler):
    """What the services have in common: reading requests, faults, and files that are sent in a stream."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1  # one write an answer; two would wait for each other's acknowledgement
    server: _Listener

    @property
    def batches(self) -> BatchServer:
        return self.server.batches

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Write nothing."""

    def do_GET(self) -> None:
        self._serve("GET")

    def do_POST(self) -> None:
        self._serve("POST")

    def do_DELETE(self) -> None:
        self._serve("DELETE")

    def _serve(self, method: str) -> None:
        parts = urlsplit(self.path)
        body = self._body()
        with self.batches.lock:
            self.batches.headers.append({name.lower(): value for name, value in self.headers.items()})
            if KEY not in (self.headers.get("x-goog-api-key", "") + self.headers.get("authorization", "")):
                self._send(401, {"error": {"message": "no key"}})
                return
            route = _gemini if self.batches.service == "gemini" else _openai
            step, act = route(self.batches, method, parts.path, parse_qs(parts.query), self._told(body))
            fault = self.batches.next_fault(step)
            if isinstance(fault, int):
                self._send(fault, {"error": {"message": f"fault {fault}", "code": fault}})
                return
            answer = act()
        if fault == "lost":
            self._send(500, {"error": {"message": "lost"}})
        elif fault == "prose":
            self._reply(200, b"<html>busy</html>")
        elif isinstance(answer, bytes):
            self._reply(200, answer, cut=fault == "cut")
        else:
            self._send(404 if answer is None else 200, answer or {"error": {"message": "no such thing"}})

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = b""
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def _told(self, body: bytes) -> dict[str, Any]:
        """What a request says: the JSON object, or the parts of a multipart body in their order."""
        kind = self.headers.get("Content-Type", "")
        if not kind.startswith("multipart/"):
            return dict(json.loads(body)) if body else {}
        message = message_from_bytes(b"Content-Type: " + kind.encode() + b"\r\n\r\n" + body)
        parts = [part for part in message.walk() if not part.is_multipart()]
        named = {part.get_param("name", header="Content-Disposition"): part for part in parts}
        told: dict[str, Any] = {
            str(name): part.get_payload(decode=True) for name, part in named.items() if name
        }
        return told | {"kind": kind.partition(";")[0], "last": parts[-1].get_payload(decode=True)}

    def _send(self, status: int, answer: object) -> None:
        self._reply(status, _json(answer))

    def _reply(self, status: int, body: bytes, *, cut: bool = False) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: len(body) // 2] if cut else body)
        if cut:
            self.close_connection = True


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    batches: BatchServer


Act = Callable[[], Any]
Query = dict[str, list[str]]


def _openai(
    server: BatchServer, method: str, path: str, query: Query, told: dict[str, Any]
) -> tuple[Step, Act]:
    """The routes of OpenAI and Voyage."""
    if (method, path) == ("POST", "/v1/embeddings"):
        return "direct", lambda: _direct(server, told)
    if (method, path) == ("POST", "/v1/files"):
        assert told["kind"] == "multipart/form-data"
        assert told["purpose"] == b"batch"
        return "upload", lambda: {"id": server.upload(told["file"]), "object": "file", "purpose": "batch"}
    if (method, path) == ("POST", "/v1/batches"):
        return "create", lambda: _openai_batch(
            server, server.create(told["input_file_id"], told.get("metadata", {}).get("memlines", ""), told)
        )
    if (method, path) == ("GET", "/v1/batches"):
        return "list", lambda: _openai_page(server, query)
    if found := re.fullmatch(r"/v1/batches/([\w-]+)(/cancel)?", path):
        batch = server.batches.get(found[1])
        step: Step = "cancel" if found[2] else "poll"
        return step, lambda: _openai_batch(server, _touched(batch, step)) if batch else None
    if found := re.fullmatch(r"/v1/files/(output|errors)-([\w-]+)/content", path):
        batch = server.batches[found[2]]
        return "download", lambda: server.output(batch) if found[1] == "output" else server.errors(batch)
    assert method == "DELETE"
    return "delete", lambda: _deleted(server, path)


def _direct(server: BatchServer, told: dict[str, Any]) -> dict[str, Any]:
    server.direct.extend(text for text in told["input"] if text not in PASSAGES)  # those measure
    data = [{"index": place, "embedding": vector_of(text)} for place, text in enumerate(told["input"])]
    return {"object": "list", "model": told["model"], "data": data, "usage": {"total_tokens": 1}}


def _deleted(server: BatchServer, path: str) -> dict[str, Any]:
    name = path.rsplit("/", 1)[-1]
    server.files.pop(name, None)
    return {"id": name, "deleted": True}


def _touched(batch: RemoteBatch, step: Step) -> RemoteBatch:
    if step == "cancel":
        batch.cancelled = True
    else:
        batch.polls += 1
    return batch


def _openai_batch(server: BatchServer, batch: RemoteBatch) -> dict[str, Any]:
    phase = server.phase(batch)
    done = server.count_done(batch)
    failed = sum(text in server.fails for text in batch.texts.values())
    return {
        "id": batch.id,
        "object": "batch",
        "status": "in_progress" if phase == "running" else phase,
        "input_file_id": batch.request["input_file_id"],
        "output_file_id": f"output-{batch.id}" if done else None,
        "error_file_id": f"errors-{batch.id}" if failed and phase != "running" else None,
        "errors": {"data": [{"code": "bad", "message": "the file is no good"}]}
        if phase == "failed"
        else None,
        "request_counts": {"total": len(batch.texts), "completed": done, "failed": failed},
        "metadata": batch.request.get("metadata"),
    }


def _openai_page(server: BatchServer, query: Query) -> dict[str, Any]:
    newest = list(reversed(server.batches.values()))
    after = [batch.id for batch in newest].index(query["after"][0]) + 1 if "after" in query else 0
    page = newest[after : after + int(query["limit"][0])]
    return {
        "object": "list",
        "data": [_openai_batch(server, batch) for batch in page],
        "has_more": after + len(page) < len(newest),
    }


def _gemini(
    server: BatchServer, method: str, path: str, query: Query, told: dict[str, Any]
) -> tuple[Step, Act]:
    """The routes of Gemini."""
    if (method, path) == ("POST", "/upload/v1beta/files"):
        assert query["uploadType"] == ["multipart"]
        assert told["kind"] == "multipart/related"
        return "upload", lambda: {"file": {"name": f"files/{server.upload(told['last'])}", "state": "ACTIVE"}}
    if re.fullmatch(r"/v1beta/models/[\w.-]+:asyncBatchEmbedContent", path):
        batch_told = told["batch"]
        file = batch_told["inputConfig"]["fileName"].removeprefix("files/")
        return "create", lambda: _operation(server, server.create(file, batch_told["displayName"], told))
    if (method, path) == ("GET", "/v1beta/batches"):
        return "list", lambda: _gemini_page(server, query)
    if found := re.fullmatch(r"/v1beta/batches/([\w-]+)(:cancel)?", path):
        batch = server.batches.get(found[1])
        step: Step = "cancel" if found[2] else "poll"
        return step, lambda: _operation(server, _touched(batch, step)) if batch else None
    if found := re.fullmatch(r"/download/v1beta/files/output-([\w-]+):download", path):
        assert query["alt"] == ["media"]
        return "download", lambda: server.output(server.batches[found[1]])
    assert method == "DELETE"
    return "delete", lambda: _deleted(server, path)


_STATES = {"running": "RUNNING", "completed": "SUCCEEDED"}


def _operation(server: BatchServer, batch: RemoteBatch) -> dict[str, Any]:
    phase = server.phase(batch)
    done = server.count_done(batch)
    stats = {"requestCount": str(len(batch.texts)), "successfulRequestCount": str(done)}
    answer: dict[str, Any] = {
        "name": f"batches/{batch.id}",
        "metadata": {
            "displayName": batch.token,
            "state": f"BATCH_STATE_{_STATES.get(phase, phase.upper())}",
            "batchStats": stats,
            "inputConfig": batch.request["batch"]["inputConfig"],
        },
    }
    if phase != "running":
        answer["done"] = True
    if done:
        answer["metadata"]["output"] = {"responsesFile": f"files/output-{batch.id}"}
        answer["response"] = {"responsesFile": f"files/output-{batch.id}"}
    if phase == "failed":
        answer["error"] = {"code": 3, "message": "the file is no good"}
    return answer


def _gemini_page(server: BatchServer, query: Query) -> dict[str, Any]:
    batches = list(server.batches.values())
    begin = int(query.get("pageToken", ["0"])[0])
    end = begin + int(query["pageSize"][0])
    page = {"operations": [_operation(server, batch) for batch in batches[begin:end]]}
    return page | ({"nextPageToken": str(end)} if end < len(batches) else {})


@contextmanager
def serving(server: BatchServer) -> Iterator[BatchServer]:
    """Let a server listen on a port of this machine."""
    listener = _Listener(("127.0.0.1", 0), _Handler)
    listener.batches = server
    server.url = f"http://127.0.0.1:{listener.server_address[1]}"
    thread = threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        listener.shutdown()
        listener.server_close()
        thread.join()
