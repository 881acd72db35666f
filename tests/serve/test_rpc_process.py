"""The engine as a program: its streams, its signals, and its end."""

from __future__ import annotations

import os
import shlex
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.programs import environment, program
from tests.serve.rpc import METHODS, Engine, engine, few_methods
from tests.waiting import eventually

posix_only = pytest.mark.skipif(os.name == "nt", reason="needs a POSIX system")


def hang(client: Engine, times: int) -> None:
    """Have calls hang in the process."""
    client.initialize()
    for _ in range(times):
        client.send("hang")
    eventually(lambda: client.told.count("hanging") >= min(times, 8))


# The end


@pytest.mark.promise("P12")
def test_it_ends_with_its_input() -> None:
    with few_methods() as client:
        client.initialize()
        assert client.ends() == 0
        assert client.errors == "closed\n"


def test_it_ends_when_nothing_was_ever_sent() -> None:
    with few_methods() as client:
        assert client.ends() == 0


@pytest.mark.parametrize("times", [1, 8, 40])
@pytest.mark.promise("P12")
def test_it_ends_with_its_input_whatever_hangs(times: int) -> None:
    with few_methods() as client:
        hang(client, times)
        assert client.ends() == 0
        assert client.errors.endswith("closed\n")


def test_it_ends_when_closing_hangs() -> None:
    with few_methods("hang-at-the-end") as client:
        client.initialize()
        assert client.ends() == 0


def test_it_ends_when_calls_and_closing_hang() -> None:
    with few_methods("hang-at-the-end") as client:
        hang(client, 8)
        assert client.ends() == 0


def test_it_ends_after_shutdown_with_its_input_open() -> None:
    with few_methods() as client:
        client.initialize()
        assert client.ask("shutdown") is None
        assert client.wait() == 0


@posix_only
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
@pytest.mark.parametrize("times", [0, 8])
def test_a_signal_ends_it_in_the_same_way(number: signal.Signals, code: int, times: int) -> None:
    with few_methods() as client:
        hang(client, times)
        client.process.send_signal(number)
        assert client.wait() == code
        assert client.errors.endswith("closed\n")
        assert "Traceback" not in client.errors


@posix_only
def test_more_signals_change_nothing() -> None:
    with few_methods() as client:
        hang(client, 1)
        for _ in range(3):
            client.process.send_signal(signal.SIGTERM)
        assert client.wait() == 143
        assert "Traceback" not in client.errors


# A client that does not read


def started() -> subprocess.Popen[bytes]:
    """Start the few methods with an output that nobody reads, and shake hands."""
    process = subprocess.Popen(
        [sys.executable, str(METHODS)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment({}),
        bufsize=0,
    )
    assert process.stdin is not None
    process.stdin.write(b'{"jsonrpc":"2.0","id":0,"method":"initialize"}\n')
    return process


LARGE = b'{"jsonrpc":"2.0","id":%d,"method":"large","params":{"bytes":200000}}\n'


def ended(process: subprocess.Popen[bytes]) -> tuple[int, bytes]:
    """End the input, wait for the process, and return its exit code and what it complained about."""
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdin.close()
    try:
        code = process.wait(10)
        return code, process.stderr.read()
    finally:
        process.kill()
        process.stdout.close()
        process.stderr.close()


def test_a_client_that_stops_reading_does_not_keep_it_from_ending() -> None:
    process = started()
    assert process.stdin is not None
    for number in range(1, 60):
        process.stdin.write(LARGE % number)
    assert ended(process) == (0, b"closed\n")


def test_a_client_that_stops_reading_does_not_keep_it_from_working() -> None:
    process = started()
    assert process.stdin is not None
    assert process.stderr is not None
    for number in range(1, 60):
        process.stdin.write(LARGE % number)
    process.stdin.write(b'{"jsonrpc":"2.0","id":60,"method":"hang"}\n')
    assert process.stderr.readline() == b"hanging\n"
    assert ended(process) == (0, b"closed\n")


def test_a_client_that_closed_its_end_is_no_complaint() -> None:
    process = started()
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdout.close()
    process.stdin.write(LARGE % 1)
    assert ended(process) == (0, b"closed\n")


@pytest.mark.promise("P12")
def test_without_anybody_to_answer_it_ends_by_itself() -> None:
    process = started()
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdout.close()
    process.stdin.write(LARGE % 1)
    assert process.wait(10) == 0
    ended(process)


def test_a_client_that_does_not_read_the_errors_does_not_keep_it_from_ending() -> None:
    process = started()
    assert process.stdin is not None
    process.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"shout"}\n')
    process.stdin.write(b'{"jsonrpc":"2.0","id":2,"method":"mistake"}\n')
    assert ended(process)[0] == 0


@posix_only
def test_a_client_behind_a_socket_that_leaves_answers_unread_is_no_complaint() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        end = theirs.fileno()
        process = subprocess.Popen(
            [sys.executable, str(METHODS)],
            stdin=end,
            stdout=end,
            stderr=subprocess.PIPE,
            env=environment({}),
        )
        theirs.close()
        ours.sendall(b'{"jsonrpc":"2.0","id":0,"method":"initialize"}\n' + LARGE % 1)
        assert ours.recv(1) == b"{"
    _, errors = process.communicate(timeout=10)
    assert (process.returncode, errors) == (0, b"closed\n")


@posix_only
@pytest.mark.parametrize("redirection", ["<&-", ">&-", "2>&-", "<&- >&-", "<&- >&- 2>&-"])
def test_a_closed_stream_is_no_error(redirection: str) -> None:
    command = shlex.join([sys.executable, str(METHODS)])
    script = f'echo \'{{"jsonrpc":"2.0","id":0,"method":"initialize"}}\' | ({command} {redirection})'
    done = subprocess.run(
        ["sh", "-c", script], env=environment({}), capture_output=True, check=False, timeout=60
    )
    assert done.returncode == 0
    assert b"Traceback" not in done.stderr
    assert (b"hello" in done.stdout) is (redirection == "2>&-")


# Its streams


def test_what_a_method_prints_does_not_reach_the_client() -> None:
    with few_methods() as client:
        client.initialize()
        assert client.ask("noise") is None
        assert client.rest() == []
        assert client.wait() == 0
        assert set(client.errors.splitlines()) == {"a print", "a write", "a child", "closed"}


def test_a_program_that_is_started_from_it_does_not_eat_its_input() -> None:
    with few_methods() as client:
        client.initialize()
        child, after = client.send("child"), client.send("echo", a=1)
        assert client.result(child).strip() == "''"
        assert client.result(after) == {"a": 1}


def test_a_mistake_is_told_on_the_standard_error_and_not_to_the_client() -> None:
    with few_methods() as client:
        client.initialize()
        assert client.refused("mistake") == -32603
        assert client.ends() == 0
        assert "KeyError: 'is missing'" in client.errors


@posix_only
def test_a_client_that_does_not_block_on_its_streams_is_no_error() -> None:
    with few_methods() as client:
        assert client.process.stdin is not None
        client.initialize()
        os.set_blocking(client.process.stdin.fileno(), False)
        assert client.ask("echo", a="x" * 10_000) == {"a": "x" * 10_000}


# The command


def test_without_stdio_it_says_what_to_do() -> None:
    done = program("serve")
    assert done.returncode == 2
    assert b"memlines serve --stdio" in done.stderr
    assert done.stdout == b""


@posix_only
def test_on_a_terminal_it_says_what_it_is_for() -> None:
    pty = pytest.importorskip("pty")
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, str(METHODS)], stdin=slave, stdout=slave, stderr=subprocess.PIPE, env=environment({})
    )
    os.close(slave)
    assert process.stderr is not None
    with process.stderr as errors:
        assert b"client programs" in errors.readline()
        os.write(master, b"\x04")
        assert process.wait(10) == 0
    os.close(master)


def test_the_real_engine_shakes_hands(workspace: Path) -> None:
    with engine("--workspace", workspace) as client:
        assert client.initialize(directory=str(workspace))["protocol"] == 1
        assert client.ends() == 0
        assert client.errors == ""


def test_the_server_imports_nothing_heavy() -> None:
    code = (
        "import sys, memlines.serve.rpc.server\n"
        "sys.exit(any(name in sys.modules for name in ('asyncio', 'concurrent.futures', 'click', 'numpy')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
