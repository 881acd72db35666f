"""Requests are parsed and checked; answers are lines that every client can read."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlines.errors import MemlinesError, MemoryOff, PathError, SettingsError, StoreBusy, UsageError
from memlines.serve.rpc.messages import (
    Refused,
    Request,
    error_line,
    parse_request,
    raised_line,
    result_line,
)

GOOD = {"jsonrpc": "2.0", "id": 1, "method": "echo", "params": {"a": 1}}


def refusal(line: bytes) -> tuple[int, object]:
    with pytest.raises(Refused) as caught:
        parse_request(line)
    return caught.value.number, caught.value.request


def with_changes(**changes: Any) -> bytes:
    return json.dumps({**GOOD, **changes}).encode()


def without(name: str) -> bytes:
    return json.dumps({key: value for key, value in GOOD.items() if key != name}).encode()


def test_a_request_is_parsed() -> None:
    assert parse_request(with_changes()) == Request(1, "echo", {"a": 1})


@pytest.mark.parametrize("number", [0, -1, 2**80, "", "a", "1", "\ud800"])
def test_an_id_is_text_or_a_whole_number(number: int | str) -> None:
    assert parse_request(with_changes(id=number)).id == number


def test_a_request_without_an_id_is_a_notification() -> None:
    assert parse_request(without("id")).id is None


def test_parameters_may_be_left_out() -> None:
    assert parse_request(without("params")).params == {}


def test_what_the_specification_does_not_name_is_ignored() -> None:
    assert parse_request(with_changes(trace="x")).method == "echo"


@pytest.mark.parametrize(
    "line",
    [
        b"{",
        b"nonsense",
        b"\x00",
        b'{"jsonrpc":"2.0","id":1,"method":"echo"}\x00',
        b'{"jsonrpc":"2.0","id":1,"method":"\x00"}',
        b'{"jsonrpc":"2.0","id":1,"method":"echo","params":{"a":NaN}}',
        b'{"jsonrpc":"2.0","id":1,"method":"echo","params":{"a":-Infinity}}',
        b'{"jsonrpc":"2.0","id":1,"method":"echo","params":{"a":1e999}}',
        b'{"jsonrpc":"2.0","id":' + b"9" * 1_000_000 + b',"method":"echo"}',
        b'{"jsonrpc":"2.0","id":1,"method":"\xff"}',
        b'{"jsonrpc":"2.0","id":1,"method":"\xed\xa0\x80"}',
        "{}".encode("utf-16"),
        b"\xef\xbb\xbf{}",
        b"[" * 200_000,
        b'{"a":' * 200_000,
        b"[" * 100_000 + b"]" * 100_000,
        b'{"jsonrpc":"2.0"} {"jsonrpc":"2.0"}',
    ],
)
def test_what_is_not_json_is_refused(line: bytes) -> None:
    assert refusal(line) == (-32700, None)


@pytest.mark.parametrize("line", [b"[]", b"[1]", b"1", b"null", b'"echo"', b"{}", b'{"result":1}'])
def test_what_is_not_a_request_is_refused(line: bytes) -> None:
    assert refusal(line) == (-32600, None)


@pytest.mark.parametrize("number", [None, 1.5, 1.0, True, [], {}])
def test_an_id_of_another_type_is_refused(number: object) -> None:
    assert refusal(with_changes(id=number)) == (-32600, None)


@pytest.mark.parametrize(
    "line",
    [
        without("jsonrpc"),
        with_changes(jsonrpc="1.0"),
        with_changes(jsonrpc=2.0),
        without("method"),
        with_changes(method=1),
        with_changes(method=None),
        b'{"jsonrpc":"2.0","id":1,"method":"echo","method":"other"}',
        b'{"jsonrpc":"2.0","id":1,"method":"echo","params":{"a":{"b":1,"b":2}}}',
    ],
)
def test_a_refusal_names_the_request_if_it_can(line: bytes) -> None:
    assert refusal(line) == (-32600, 1)


def test_an_id_that_stands_there_twice_is_none() -> None:
    assert refusal(b'{"jsonrpc":"2.0","id":1,"id":2,"method":"echo"}') == (-32600, None)


def test_a_refusal_shows_little_of_what_came() -> None:
    with pytest.raises(Refused) as caught:
        parse_request(b'{"' + b"k" * 1_000 + b'":1,"' + b"k" * 1_000 + b'":1}')
    assert len(str(caught.value)) < 200


@given(st.binary(max_size=200))
def test_any_line_is_a_request_or_refused(line: bytes) -> None:
    with suppress(Refused):
        assert isinstance(parse_request(line), Request)


# Answers


def test_an_answer_is_one_compact_line() -> None:
    assert result_line(1, {"a": "é\n"}) == '{"jsonrpc":"2.0","id":1,"result":{"a":"é\\n"}}\n'.encode()


def test_an_error_without_an_id_says_null() -> None:
    assert error_line(None, -32700, "no") == (
        b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}\n'
    )


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)


@given(values)
def test_every_result_arrives_as_it_is(value: object) -> None:
    line = result_line(1, value)
    assert json.loads(line)["result"] == value


@pytest.mark.parametrize("text", ["\ud800", "\udc00\ud800", "é\ud83d", "\U0001f600"])
def test_half_a_surrogate_pair_arrives_as_it_is(text: str) -> None:
    assert json.loads(result_line(text, text).decode("utf-8")) == {
        "jsonrpc": "2.0",
        "id": text,
        "result": text,
    }


@pytest.mark.parametrize("text", ["\u2028", "\u2029", "\n", "\r", "a\u2028\ud800"])
def test_nothing_in_an_answer_ends_the_line_for_anybody(text: str) -> None:
    line = result_line(1, text).decode("utf-8")
    assert not {"\u2028", "\u2029", "\r"} & set(line)
    assert line.index("\n") == len(line) - 1


@pytest.mark.parametrize("value", [float("nan"), float("inf"), object(), b"bytes", {1, 2}])
def test_what_is_not_json_cannot_be_a_result(value: object) -> None:
    with pytest.raises((TypeError, ValueError)):
        result_line(1, value)


def error(raised: MemlinesError) -> Any:
    return json.loads(raised_line(7, raised))["error"]


@pytest.mark.parametrize(
    ("raised", "number"),
    [
        (UsageError("text is missing"), -32602),
        (UsageError("it cannot be meant"), -32602),
        (PathError("it is outside"), -32602),
        (StoreBusy("another process writes", todo="Wait"), -32006),
        (MemoryOff("it is off"), -32005),
        (SettingsError("it is no number"), -32000),
        (MemlinesError("it broke"), -32000),
    ],
)
def test_every_error_has_its_number(raised: MemlinesError, number: int) -> None:
    assert error(raised)["code"] == number


def test_an_error_of_memlines_carries_what_the_command_line_shows() -> None:
    assert error(StoreBusy("another process writes", todo="Wait"))["data"] == {
        "code": "store-busy",
        "error": "another process writes",
        "todo": "Wait",
        "unavailable": True,
        "action": "Wait",
    }


def test_a_message_is_what_happened_and_what_to_do() -> None:
    assert (
        error(StoreBusy("another process writes", todo="Wait"))["message"] == "another process writes. Wait"
    )
