"""The handshake, and what requests are answered with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from queue import SimpleQueue
from typing import Any

import pytest

from memlines.errors import StoreBusy, UsageError
from memlines.serve.rpc.server import Method
from tests.serve.rpc import DEADLINE, ErrorAnswer, Gate, echo, served

Params = Mapping[str, Any]

SOON = 0.05
"""A time limit that is reached at once."""


@pytest.fixture
def gate() -> Iterator[Gate]:
    """A closed gate that is open in the end."""
    gate = Gate()
    yield gate
    gate.opened.set()


# The handshake


@pytest.mark.parametrize("method", ["echo", "shutdown", "$/cancel", "unknown"])
def test_before_initialize_every_request_is_refused(method: str) -> None:
    with served({"echo": echo}, ready=False) as client:
        assert client.refused(method) == -32002


def test_after_initialize_requests_are_answered() -> None:
    with served({"echo": echo}) as client:
        assert client.ask("echo", a=1) == {"a": 1}


def test_requests_wait_for_initialize(gate: Gate) -> None:
    with served({"initialize": gate, "echo": echo}, ready=False) as client:
        client.send("initialize")
        gate.wait_for(1)
        waiting = client.send("echo", a=1)
        gate.opened.set()
        assert client.result(waiting) == {"a": 1}


def test_a_request_that_waits_for_initialize_is_not_begun(gate: Gate) -> None:
    order: list[str] = []

    def initialize(params: Params) -> None:
        gate(params)
        order.append("initialize")

    with served(
        {"initialize": initialize, "note": lambda params: order.append("note")}, ready=False
    ) as client:
        client.send("initialize")
        gate.wait_for(1)
        waiting = client.send("note")
        gate.opened.set()
        client.result(waiting)
    assert order == ["initialize", "note"]


def test_initialize_is_answered_before_what_waited_for_it() -> None:
    with served({"echo": echo}, ready=False) as client:
        ids = [client.send("initialize"), client.send("echo"), client.send("echo")]
        assert client.rest()[0]["id"] == ids[0]


def refusing(params: Params) -> None:
    raise UsageError("no")


def test_what_waited_for_an_initialize_that_failed_is_refused(gate: Gate) -> None:
    def initialize(params: Params) -> None:
        gate(params)
        refusing(params)

    with served({"initialize": initialize, "echo": echo}, ready=False) as client:
        client.send("initialize")
        waiting = client.send("echo")
        gate.opened.set()
        assert client.answer(waiting)["error"]["code"] == -32002


def test_after_an_initialize_that_failed_another_may_follow() -> None:
    def initialize(params: Params) -> str:
        if params["protocol"] != 1:
            raise UsageError("no")
        return "hello"

    with served({"initialize": initialize}, ready=False) as client:
        assert client.refused("initialize", protocol=2) == -32602
        assert client.ask("initialize", protocol=1) == "hello"


def test_a_second_initialize_is_refused() -> None:
    with served({}) as client:
        assert client.refused("initialize") == -32600


def test_a_second_initialize_is_refused_while_the_first_is_worked_on(gate: Gate) -> None:
    with served({"initialize": gate}, ready=False) as client:
        client.send("initialize")
        assert client.refused("initialize") == -32600
        gate.opened.set()


def test_what_waited_for_an_initialize_that_took_too_long_is_refused(gate: Gate) -> None:
    with served({"initialize": Method(gate, SOON), "echo": echo}, ready=False) as client:
        first, waiting = client.send("initialize"), client.send("echo")
        assert client.answer(first)["error"]["code"] == -32001
        assert client.answer(waiting)["error"]["code"] == -32002
        gate.opened.set()


def test_what_waits_for_initialize_can_be_cancelled(gate: Gate) -> None:
    ran: list[Params] = []
    with served({"initialize": gate, "note": ran.append}, ready=False) as client:
        client.send("initialize")
        waiting = client.send("note")
        client.notify("$/cancel", id=waiting)
        assert client.answer(waiting)["error"]["code"] == -32800
        gate.opened.set()
    assert ran == []


# Requests and what they are answered with


def test_an_unknown_method_is_refused() -> None:
    with served({}) as client:
        assert client.refused("unknown") == -32601


@pytest.mark.parametrize("params", [[], [1], None, 1, "text", True])
def test_parameters_that_are_no_object_are_refused(params: object) -> None:
    with served({"echo": echo}) as client:
        client.put({"jsonrpc": "2.0", "id": "a", "method": "echo", "params": params})
        assert client.answer("a")["error"]["code"] == -32602


def failing_as(error: BaseException) -> Any:
    def fail(params: Params) -> None:
        raise error

    return fail


def test_an_error_of_memlines_is_answered_with_its_fields() -> None:
    busy = failing_as(StoreBusy("busy", todo="Wait"))
    with served({"fail": busy}) as client, pytest.raises(ErrorAnswer) as caught:
        client.ask("fail")
    assert caught.value.code == -32006
    fields = {"code": "store-busy", "error": "busy", "todo": "Wait", "unavailable": True, "action": "Wait"}
    assert caught.value.data == fields


@pytest.mark.parametrize(
    "error", [KeyError("secret"), SystemExit(3), RecursionError(), MemoryError(), OSError(5, "secret")]
)
def test_a_mistake_of_ours_is_answered_without_its_details(error: BaseException) -> None:
    with served({"fail": failing_as(error)}) as client, pytest.raises(ErrorAnswer) as caught:
        client.ask("fail")
    assert caught.value.code == -32603
    assert "secret" not in caught.value.message
    assert caught.value.data is None


def test_a_mistake_of_ours_is_told_on_the_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    with served({"fail": failing_as(KeyError("details"))}) as client:
        client.send("fail")
    assert "KeyError: 'details'" in capsys.readouterr().err


@pytest.mark.parametrize("result", [object(), float("nan"), {1: object()}])
def test_a_result_that_is_no_json_is_a_mistake_of_ours(result: object) -> None:
    with served({"odd": lambda params: result}) as client:
        assert client.refused("odd") == -32603


def test_a_notification_is_done_and_not_answered() -> None:
    done: SimpleQueue[Params] = SimpleQueue()
    with served({"note": done.put, "echo": echo}) as client:
        client.notify("note", a=1)
        assert done.get(timeout=DEADLINE) == {"a": 1}
        client.notify("unknown")
        client.notify("shutdown", unknown=1)
        client.put({"jsonrpc": "2.0", "method": "note", "params": []})
        client.ask("echo")
        assert client.rest() == []


def test_what_a_notification_fails_with_is_told_on_the_standard_error(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with served({"fail": failing_as(StoreBusy("it is busy"))}) as client:
        client.notify("fail")
        assert client.rest() == []
    assert capsys.readouterr().err == "memlines: fail: it is busy\n"


def test_an_id_that_is_open_cannot_be_used_again(gate: Gate) -> None:
    with served({"gate": gate, "echo": echo}) as client:
        client.put({"jsonrpc": "2.0", "id": "a", "method": "gate"})
        client.put({"jsonrpc": "2.0", "id": "a", "method": "echo"})
        assert client.answer("a")["error"]["code"] == -32600
        gate.opened.set()
        assert client.answer("a")["result"] == "through the gate"


def test_an_id_that_was_answered_can_be_used_again() -> None:
    with served({"echo": echo}) as client:
        for _ in range(2):
            client.put({"jsonrpc": "2.0", "id": "a", "method": "echo"})
            assert client.answer("a")["result"] == {}


def test_the_number_1_and_the_text_1_are_two_ids(gate: Gate) -> None:
    with served({"gate": gate, "echo": echo}) as client:
        client.put({"jsonrpc": "2.0", "id": 100, "method": "gate"})
        client.put({"jsonrpc": "2.0", "id": "100", "method": "echo"})
        assert client.answer("100")["result"] == {}
        gate.opened.set()
