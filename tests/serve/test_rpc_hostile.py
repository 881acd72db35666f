"""Whatever a client sends, it is answered as it should be, and the server goes on."""

from __future__ import annotations

import json
import os
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlines.errors import StoreBusy
from memlines.serve.rpc.messages import MOST_BYTES
from memlines.serve.rpc.server import Method, serve
from tests.serve.rpc import DEADLINE, echo, served

REQUEST = b'{"jsonrpc":"2.0","id":"a","method":"echo","params":%s}'
LONG = b'{"x":"%s"}' % (b"x" * MOST_BYTES)

BAD = {
    "nesting": (b"[" * 500_000, None, -32700),
    "nested parameters": (REQUEST % (b'{"a":' * 100_000 + b"1" + b"}" * 100_000), None, -32700),
    "not a number": (REQUEST % b'{"a":NaN}', None, -32700),
    "infinity": (REQUEST % b'{"a":Infinity}', None, -32700),
    "a float without end": (REQUEST % b'{"a":1e400}', None, -32700),
    "a number of a million digits": (REQUEST % (b'{"a":' + b"7" * 1_000_000 + b"}"), None, -32700),
    "invalid UTF-8": (REQUEST % b'{"a":"\xff"}', None, -32700),
    "a NUL byte": (REQUEST % b'{"a":"\x00"}', None, -32700),
    "only NUL bytes": (b"\x00" * 100, None, -32700),
    "a byte order mark in the middle": (b"\xef\xbb\xbf" + REQUEST % b"{}", None, -32700),
    "two requests on a line": (REQUEST % b"{}" + REQUEST % b"{}", None, -32700),
    "a request that was cut off": ((REQUEST % b"{}")[:-1], None, -32700),
    "a line that is too long": (LONG, None, -32600),
    "a batch": (b"[" + REQUEST % b"{}" + b"]", None, -32600),
    "an id that is null": (b'{"jsonrpc":"2.0","id":null,"method":"echo"}', None, -32600),
    "a key that stands there twice": (REQUEST % b'{"a":1,"a":2}', "a", -32600),
    "no version": (b'{"id":"a","method":"echo"}', "a", -32600),
    "an answer": (b'{"jsonrpc":"2.0","id":"a","result":1}', "a", -32600),
    "parameters in a list": (REQUEST % b"[1]", "a", -32602),
    "an unknown method": (b'{"jsonrpc":"2.0","id":"a","method":"rpc.discover"}', "a", -32601),
    "a method of a million letters": (
        b'{"jsonrpc":"2.0","id":"a","method":"%s"}' % (b"m" * 1_000_000),
        "a",
        -32601,
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_line_is_answered_and_the_next_one_is_done(name: str) -> None:
    line, request, number = BAD[name]
    with served({"echo": echo}) as client:
        client.write(line + b"\n")
        assert client.answer(request)["error"]["code"] == number
        assert client.ask("echo", a="é") == {"a": "é"}
        assert client.rest() == []


@pytest.mark.parametrize(
    ("line", "params"),
    [
        (REQUEST % b"{}" + b"\r\n", {}),
        (b"  " + REQUEST % b"{}" + b"\t\n", {}),
        (b"\n\r\n   \n" + REQUEST % b"{}" + b"\n", {}),
        (REQUEST % rb'{"a":"\ud800"}' + b"\n", {"a": "\ud800"}),
        (REQUEST % rb'{"a":"\u0000"}' + b"\n", {"a": "\x00"}),
        (REQUEST % '{"a":"\u2028"}'.encode() + b"\n", {"a": "\u2028"}),
        (REQUEST % b'{"a":"%s"}' % (b"x" * (MOST_BYTES - 1_000)) + b"\n", {"a": "x" * (MOST_BYTES - 1_000)}),
    ],
)
def test_a_line_that_is_only_odd_is_done(line: bytes, params: dict[str, Any]) -> None:
    with served({"echo": echo}) as client:
        client.write(line)
        assert client.answer("a")["result"] == params
        assert client.rest() == []


def test_a_byte_order_mark_at_the_beginning_is_no_error() -> None:
    with served({}, ready=False) as client:
        client.write(b'\xef\xbb\xbf{"jsonrpc":"2.0","id":"a","method":"initialize"}\n')
        assert client.answer("a")["result"] == "hello"


def test_half_a_surrogate_pair_in_an_id_and_a_method_is_no_error() -> None:
    with served({}) as client:
        client.write(b'{"jsonrpc":"2.0","id":"\\ud800","method":"\\udfff"}\n')
        assert client.answer("\ud800")["error"]["code"] == -32601


# Any input


def fail(params: Mapping[str, Any]) -> None:
    raise StoreBusy("busy")


TABLE = {
    name: Method(call, DEADLINE) for name, call in {"initialize": echo, "echo": echo, "fail": fail}.items()
}


def answers_to(data: bytes) -> list[Any]:
    """Serve what a client sends at once, and return what it is answered."""
    (from_client, requests), (answers, to_client) = os.pipe(), os.pipe()

    def send() -> None:
        with os.fdopen(requests, "wb") as client:
            client.write(data)

    def run() -> None:
        with os.fdopen(from_client, "rb") as reader, os.fdopen(to_client, "wb", buffering=0) as writer:
            serve(TABLE, reader, writer, on_end=lambda: None)

    threads = [threading.Thread(target=work) for work in (send, run)]
    for thread in threads:
        thread.start()
    with os.fdopen(answers, "rb") as lines:
        found = [json.loads(line) for line in lines]
    for thread in threads:
        thread.join()
    return found


def line(value: object) -> bytes:
    return json.dumps(value).encode() + b"\n"


FIRST = line({"jsonrpc": "2.0", "id": "first", "method": "initialize"})
LAST = line({"jsonrpc": "2.0", "id": "last", "method": "echo", "params": {"here": True}})


@given(st.lists(st.binary(max_size=60).filter(lambda each: b"\n" not in each), max_size=8))
def test_no_bytes_stop_it(parts: list[bytes]) -> None:
    found = answers_to(FIRST + b"".join(part + b"\n" for part in parts) + LAST)
    assert {"jsonrpc": "2.0", "id": "last", "result": {"here": True}} in found
    assert len(found) <= len(parts) + 2


ids = st.integers(0, 5) | st.sampled_from(["a", "\ud800", "é"]) | st.integers()
odd_ids = st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | st.just([1])
scalars = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
params = st.dictionaries(st.text(max_size=3) | st.just("id"), scalars, max_size=3) | st.lists(
    scalars, max_size=2
)
methods = st.sampled_from(["echo", "fail", "initialize", "$/cancel", "unknown", ""]) | scalars


def objects(kinds: Mapping[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=dict(kinds))


requests = objects(
    {"jsonrpc": st.just("2.0") | scalars, "id": ids | odd_ids, "method": methods, "params": params | scalars}
)


def is_plain_id(value: object) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


def expected_id(request: dict[str, Any]) -> Callable[[], Any] | None:
    """Return what gives the id that a line is answered with, or None if it is not answered."""
    if is_plain_id(request.get("id")):
        return lambda: request["id"]
    is_notification = (
        "id" not in request and request.get("jsonrpc") == "2.0" and isinstance(request.get("method"), str)
    )
    return None if is_notification else lambda: None


@given(st.lists(requests, max_size=30))
def test_each_request_with_an_id_gets_exactly_one_answer(sent: list[dict[str, Any]]) -> None:
    found = answers_to(FIRST + b"".join(map(line, sent)))
    wanted = [expected() for request in sent if (expected := expected_id(request)) is not None]
    assert Counter(answer["id"] for answer in found) == Counter(["first", *wanted])


@given(st.lists(requests, max_size=10))
def test_each_answer_is_a_result_or_an_error(sent: list[dict[str, Any]]) -> None:
    for answer in answers_to(FIRST + b"".join(map(line, sent))):
        assert answer["jsonrpc"] == "2.0"
        assert ("result" in answer) != ("error" in answer)
