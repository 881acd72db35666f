"""Several calls at once, time limits, cancelling, and the end."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from queue import SimpleQueue
from typing import Any

import pytest

from memlines.errors import UsageError
from memlines.serve.rpc.server import Event, Method
from memlines.serve.rpc.workers import MOST_AT_ONCE, MOST_THREADS
from tests.serve.rpc import DEADLINE, Gate, Served, echo, served
from tests.waiting import eventually

Params = Mapping[str, Any]

SOON = 0.05
"""A time limit that is reached at once."""


@pytest.fixture
def gate() -> Iterator[Gate]:
    """A closed gate that is open in the end."""
    gate = Gate()
    yield gate
    gate.opened.set()


# Several at once


def test_calls_overlap() -> None:
    together = threading.Barrier(MOST_AT_ONCE)
    with served({"meet": lambda params: together.wait(DEADLINE)}) as client:
        ids = [client.send("meet") for _ in range(MOST_AT_ONCE)]
        assert sorted(client.result(each) for each in ids) == list(range(MOST_AT_ONCE))


def test_an_answer_does_not_wait_for_an_earlier_request(gate: Gate) -> None:
    with served({"gate": gate, "echo": echo}) as client:
        slow = client.send("gate")
        assert client.ask("echo") == {}
        gate.opened.set()
        assert client.result(slow) == "through the gate"


def test_no_more_than_eight_are_worked_on_at_once() -> None:
    lock = threading.Lock()
    now: list[int] = [0]
    most: list[int] = [0]

    def count(params: Params) -> None:
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        threading.Event().wait(0.002)
        with lock:
            now[0] -= 1

    with served({"count": count}) as client:
        for each in [client.send("count") for _ in range(60)]:
            client.result(each)
    assert most[0] <= MOST_AT_ONCE


def test_more_than_64_open_requests_are_refused(gate: Gate) -> None:
    with served({"gate": gate}) as client:
        ids = [client.send("gate") for _ in range(64)]
        assert client.refused("gate") == -32004
        gate.opened.set()
        assert {client.result(each) for each in ids} == {"through the gate"}
        assert client.ask("gate") == "through the gate"


def test_an_unknown_method_is_refused_however_many_are_open(gate: Gate) -> None:
    with served({"gate": gate}) as client:
        for _ in range(64):
            client.send("gate")
        assert client.refused("unknown") == -32601
        gate.opened.set()


# Time limits


def test_a_call_that_takes_too_long_is_answered(gate: Gate) -> None:
    with served({"gate": Method(gate, SOON)}) as client:
        assert client.refused("gate") == -32001
        gate.opened.set()


def test_the_time_limit_may_depend_on_the_parameters(gate: Gate) -> None:
    with served({"gate": Method(gate, lambda params: params["seconds"])}) as client:
        patient, hasty = client.send("gate", seconds=60), client.send("gate", seconds=SOON)
        assert client.answer(hasty)["error"]["code"] == -32001
        gate.opened.set()
        assert client.result(patient) == "through the gate"


def test_parameters_that_give_no_time_limit_are_left_to_the_method() -> None:
    def refusing(params: Params) -> None:
        raise UsageError("no")

    with served({"fail": Method(refusing, lambda params: params["missing"])}) as client:
        assert client.refused("fail") == -32602


def test_a_result_that_comes_too_late_is_dropped(gate: Gate) -> None:
    with served({"gate": Method(gate, 1.0), "echo": echo}) as client:
        client.refused("gate")
        gate.opened.set()
        gate.left.get(timeout=DEADLINE)
        client.ask("echo")
        assert client.rest() == []


def test_a_call_that_was_not_begun_in_time_is_not_begun_later(gate: Gate) -> None:
    ran: list[Params] = []
    with served({"gate": gate, "note": Method(ran.append, SOON), "echo": echo}) as client:
        for _ in range(MOST_AT_ONCE):
            client.send("gate")
        gate.wait_for(MOST_AT_ONCE)
        assert client.refused("note") == -32001
        gate.opened.set()
        client.ask("echo")
    assert ran == []


def test_workers_that_hang_are_replaced(gate: Gate) -> None:
    with served({"hang": Method(gate, SOON), "echo": echo}) as client:
        for _ in range(2):
            for each in [client.send("hang") for _ in range(MOST_AT_ONCE)]:
                assert client.answer(each)["error"]["code"] == -32001
        assert client.ask("echo") == {}
        gate.opened.set()


def test_requests_that_waited_for_workers_that_hang_are_done(gate: Gate) -> None:
    with served({"hang": Method(gate, 2.0), "echo": echo}) as client:
        for _ in range(MOST_AT_ONCE):
            client.send("hang")
        gate.wait_for(MOST_AT_ONCE)
        assert client.ask("echo") == {}
        gate.opened.set()


def test_when_every_worker_hangs_requests_are_refused_until_one_is_back(gate: Gate) -> None:
    with served({"hang": Method(gate, SOON), "echo": echo}) as client:
        while gate.begun.qsize() < MOST_THREADS:  # on a busy machine some are late before they begin
            client.answer(client.send("hang"))
        assert client.refused("echo") == -32004
        gate.opened.set()
        eventually(lambda: "result" in client.answer(client.send("echo")))


def test_workers_that_were_replaced_leave_when_they_are_back(gate: Gate) -> None:
    def workers() -> int:
        return sum(thread.name == "memlines-worker" for thread in threading.enumerate())

    with served({"hang": Method(gate, SOON), "echo": echo}) as client:
        while gate.begun.qsize() < 2 * MOST_AT_ONCE:
            client.answer(client.send("hang"))
        client.ask("echo")
        assert workers() > MOST_AT_ONCE
        gate.opened.set()
        eventually(lambda: workers() <= MOST_AT_ONCE)


# Cancelling


def test_a_call_that_runs_is_answered_as_cancelled(gate: Gate) -> None:
    with served({"gate": gate, "echo": echo}) as client:
        slow = client.send("gate")
        gate.wait_for(1)
        client.notify("$/cancel", id=slow)
        assert client.answer(slow)["error"]["code"] == -32800
        gate.opened.set()
        gate.left.get(timeout=DEADLINE)
        client.ask("echo")
        assert client.rest() == []


def test_a_call_that_waits_is_cancelled_and_never_begun(gate: Gate) -> None:
    ran: list[Params] = []
    with served({"gate": gate, "note": ran.append, "echo": echo}) as client:
        for _ in range(MOST_AT_ONCE):
            client.send("gate")
        gate.wait_for(MOST_AT_ONCE)
        waiting = client.send("note")
        client.notify("$/cancel", id=waiting)
        assert client.answer(waiting)["error"]["code"] == -32800
        gate.opened.set()
        client.ask("echo")
    assert ran == []


def test_calls_that_were_cancelled_do_not_keep_others_waiting(gate: Gate) -> None:
    with served({"gate": gate, "echo": echo}) as client:
        ids = [client.send("gate") for _ in range(MOST_AT_ONCE)]
        gate.wait_for(MOST_AT_ONCE)
        for each in ids:
            client.notify("$/cancel", id=each)
        assert client.ask("echo") == {}
        gate.opened.set()


@pytest.mark.parametrize(
    "params", [{"id": 999}, {"id": "x"}, {}, {"id": None}, {"id": []}, {"id": 1, "a": 1}]
)
def test_cancelling_what_is_not_there_does_nothing(params: dict[str, Any]) -> None:
    with served({"echo": echo}) as client:
        client.notify("$/cancel", **params)
        client.ask("echo")
        assert client.rest() == []


def test_cancelling_may_ask_for_an_answer(gate: Gate) -> None:
    with served({"gate": gate}) as client:
        slow = client.send("gate")
        assert client.ask("$/cancel", id=slow) is None
        assert client.answer(slow)["error"]["code"] == -32800
        assert client.refused("$/cancel", id=None) == -32602
        gate.opened.set()


# The end


def test_the_end_of_the_input_ends_it() -> None:
    with served({}) as client:
        client.end_input()
        client.join()
        assert client.ended == ["closed", "returned"]


def test_shutdown_is_answered_and_ends_it() -> None:
    with served({}) as client:
        assert client.ask("shutdown") is None
        client.join()
        assert client.ended == ["closed", "returned"]


def test_shutdown_takes_no_parameters() -> None:
    with served({"echo": echo}) as client:
        assert client.refused("shutdown", now=True) == -32602
        assert client.ask("echo") == {}


def test_nothing_is_taken_after_shutdown() -> None:
    ran: list[Params] = []
    with served({"note": ran.append}) as client:
        message = b'{"jsonrpc":"2.0","id":"%s","method":"%s"}\n'
        client.write(message % (b"a", b"shutdown") + message % (b"b", b"note"))
        client.join()
        assert [answer["id"] for answer in client.rest()] == ["a"]
    assert ran == []


def test_an_event_ends_it() -> None:
    events: SimpleQueue[Event] = SimpleQueue()
    client = Served({}, events)
    events.put(Event.END)
    eventually(lambda: client.ended == ["closed", "returned"])
    client.end_input()
    client.join()


def test_what_came_before_the_end_is_answered() -> None:
    with served({"echo": echo}, ready=False) as client:
        client.send("initialize")
        ids = [client.send("echo", number=number) for number in range(50)]
        answered = {answer["id"]: answer for answer in client.rest()}
        assert [answered[each]["result"]["number"] for each in ids] == list(range(50))


def test_a_last_line_without_a_line_break_is_answered() -> None:
    with served({"echo": echo}) as client:
        client.write(b'{"jsonrpc":"2.0","id":"a","method":"echo"}')
        assert [answer["id"] for answer in client.rest()] == ["a"]


def test_what_hangs_at_the_end_is_answered_as_cancelled(gate: Gate) -> None:
    with served({"gate": gate}) as client:
        ids = [client.send("gate") for _ in range(20)]
        answers = client.rest()
        assert {answer["id"] for answer in answers} == set(ids)
        assert {answer["error"]["code"] for answer in answers} == {-32800}


def test_what_waits_behind_calls_that_hang_is_not_begun_after_the_end(gate: Gate) -> None:
    ran: list[Params] = []
    with served({"gate": gate, "note": ran.append}) as client:
        for _ in range(MOST_AT_ONCE):
            client.send("gate")
        gate.wait_for(MOST_AT_ONCE)
        client.send("note")
        client.rest()
        gate.opened.set()
    assert ran == []


def test_threads_end_with_it() -> None:
    before = set(threading.enumerate())
    with served({"echo": echo}) as client:
        for each in [client.send("echo") for _ in range(20)]:
            client.result(each)
        client.rest()
        client.join()
    assert set(threading.enumerate()) <= before
