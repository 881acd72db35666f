"""The engine behind the hooks: one a workspace, only for its user, and gone when no one needs it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from time import monotonic

import pytest

from memlines.serve.hooks import daemon, thin
from memlines.serve.hooks.daemon import Clients
from tests.serve.hooks import Hooks
from tests.waiting import eventually

PLAYED = (
    "import subprocess, sys, time;"
    " subprocess.run(sys.argv[1:], input=b'{}', stdout=subprocess.DEVNULL); print('ready', flush=True);"
    " time.sleep(600)"
)
"""A client with one event, which then waits to be ended."""


@pytest.fixture
def hooks(tmp_path: Path) -> Iterator[Hooks]:
    made = Hooks(tmp_path / "shop", Path(os.environ["MEMLINES_HOME"]) / "hooks")
    yield made
    made.close()


def client(hooks: Hooks, event: str = "SessionStart") -> subprocess.Popen[bytes]:
    """Start a client, and wait until its first event was answered."""
    process = subprocess.Popen(
        [sys.executable, "-c", PLAYED, *hooks.words(event)],
        cwd=hooks.folder,
        env=hooks.variables(),
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    process.stdout.close()
    return process


def ask(hooks: Hooks, **params: object) -> bytes:
    """Send a request as a hook does, and return the answer."""
    given = {"version": thin.version(), "process": os.getpid(), "client": "claude-code", "event": "Stop"}
    request = {"jsonrpc": "2.0", "id": 1, "method": "hook", "params": {**given, "input": {}, **params}}
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.connect(str(hooks.socket))
        connection.sendall(json.dumps(request).encode() + b"\n")
        return connection.makefile("rb").readline()


@pytest.mark.promise("P12")
def test_many_hooks_at_once_share_one_engine(hooks: Hooks) -> None:
    with ThreadPoolExecutor(8) as threads:
        answers = list(
            threads.map(lambda number: hooks.run("SessionStart", session_id=f"s{number}"), range(8))
        )
    assert all("port 5433" in answer for answer in answers)
    assert len(_engines(hooks)) == 1


def test_a_second_engine_gives_way(hooks: Hooks) -> None:
    hooks.run("SessionStart")
    first = hooks.engine()
    words = [sys.executable, "-P", "-m", "memlines.serve.hooks.daemon", str(hooks.folder.resolve()), "1"]
    done = subprocess.run(words, env=hooks.variables(), timeout=60, check=False)
    assert (done.returncode, hooks.engine()) == (0, first)


BRIEF = (
    "import os, sys; from memlines.serve.hooks import daemon;"
    " daemon.LINGER_SECONDS = 0.5; os._exit(daemon.main(sys.argv[1:]))"
)
"""An engine that ends half a second after its last client."""


@contextmanager
def brief_engine(hooks: Hooks) -> Iterator[None]:
    """Start an engine that ends soon after its clients, none of which is there yet."""
    root, nobody = str(hooks.folder.resolve()), str(os.getpid())
    words = [sys.executable, "-P", "-c", BRIEF, root, nobody]
    with subprocess.Popen(words, env=hooks.variables(), stderr=subprocess.DEVNULL) as process:
        eventually(hooks.socket.exists)
        yield
        hooks.end_engine()
        process.wait(30)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
@pytest.mark.promise("P12")
def test_it_ends_some_time_after_its_last_client(
    hooks: Hooks, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    engine = daemon._Engine(hooks.folder, process.pid, socket.socket())
    assert not engine._is_unneeded()
    process.send_signal(number)
    process.wait(30)
    assert not engine._is_unneeded()
    monkeypatch.setattr(daemon, "LINGER_SECONDS", -1.0)
    assert engine._is_unneeded()
    engine.end()
    process.stdin.close() if process.stdin else None


def test_it_stays_while_one_of_its_clients_is_there(hooks: Hooks) -> None:
    with brief_engine(hooks):
        first, second = client(hooks), client(hooks)
        try:
            first.kill()
            first.wait(30)
            answered = hooks.engine()
            begin = monotonic()
            while monotonic() - begin < 2:
                assert hooks.engine() == answered
        finally:
            second.kill()
            second.wait(30)


def test_it_outlives_a_client_for_the_next_one(hooks: Hooks) -> None:
    first = client(hooks)
    engine = hooks.engine()
    first.kill()
    first.wait(30)
    second = client(hooks)
    second.kill()
    second.wait(30)
    assert engine == hooks.engine() is not None
    assert 10 <= daemon.LINGER_SECONDS <= 120


PAST = {"session_id": "one", "prompt": "Which port did we choose for the staging database?"}
GO_ON = {"session_id": "one", "prompt": "Go on, please."}


def prompted(hooks: Hooks, given: dict[str, str], seconds: float) -> str:
    """Send a prompt whose client waits so many seconds, and return the context that comes back."""
    deadline = int(1000 * (monotonic() + seconds))
    return _context(ask(hooks, event="UserPromptSubmit", input=given, deadline_ms=deadline))


def test_an_answer_that_the_client_did_not_wait_for_comes_with_the_next_prompt(hooks: Hooks) -> None:
    hooks.run("SessionStart", session_id="other")
    late = prompted(hooks, PAST, -1)
    assert "5433" in late
    assert [prompted(hooks, GO_ON, 60) for _ in range(2)] == [late, ""]


def test_an_answer_in_time_is_not_repeated(hooks: Hooks) -> None:
    hooks.run("SessionStart", session_id="other")
    assert "5433" in prompted(hooks, PAST, 60)
    assert prompted(hooks, GO_ON, 60) == ""


def _context(line: bytes) -> str:
    return str(json.loads(line)["result"].get("hookSpecificOutput", {}).get("additionalContext", ""))


def test_an_engine_that_was_killed_is_replaced(hooks: Hooks) -> None:
    hooks.run("SessionStart")
    former = hooks.engine()
    hooks.end_engine(signal.SIGKILL)
    assert hooks.socket.exists()
    assert "port 5433" in hooks.run("SessionStart")
    assert hooks.engine() not in (None, former)


def test_a_newer_version_has_an_older_engine_end(hooks: Hooks) -> None:
    hooks.run("SessionStart")
    assert json.loads(ask(hooks, version="99.0.1"))["result"] == thin.OUTDATED
    eventually(lambda: hooks.engine() is None)
    assert "port 5433" in hooks.run("SessionStart")


def test_an_older_version_is_answered(hooks: Hooks) -> None:
    hooks.run("SessionStart")
    assert json.loads(ask(hooks, version="0.0.1"))["result"] == {}


def test_versions_are_compared_by_their_numbers() -> None:
    assert daemon._is_newer("0.10.0")
    assert not daemon._is_newer("0.0.99")


@pytest.mark.promise("P12")
def test_it_ends_when_its_workspace_is_gone(hooks: Hooks) -> None:
    hooks.run("SessionStart")

    def is_gone() -> bool:
        shutil.rmtree(hooks.folder, ignore_errors=True)  # again: a sync that goes on may have made it anew
        return hooks.engine() is None

    eventually(is_gone)


@pytest.mark.promise("P13")
def test_only_its_user_can_reach_it(hooks: Hooks) -> None:
    hooks.run("SessionStart")
    assert hooks.socket.stat().st_mode & 0o777 == 0o600
    assert hooks.socket.parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.promise("P13")
def test_another_user_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = socket.socketpair(socket.AF_UNIX)
    with one, other:
        assert daemon._is_own_user(one)
        monkeypatch.setattr(os, "getuid", lambda: 54321)
        assert not daemon._is_own_user(one)


@pytest.mark.parametrize("line", [b"nothing\n", b"{}\n", b'{"jsonrpc":"2.0","id":1,"method":"tools/call"}\n'])
def test_what_is_no_hook_is_refused(hooks: Hooks, line: bytes) -> None:
    hooks.run("SessionStart")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.connect(str(hooks.socket))
        connection.sendall(line)
        assert b'"error"' in connection.makefile("rb").readline()


def test_a_client_that_is_not_known_is_refused(hooks: Hooks) -> None:
    hooks.run("SessionStart")
    assert "there is no client" in json.loads(ask(hooks, client="other"))["error"]["message"]


@pytest.mark.promise("P12")
def test_nobody_asking_for_long_means_the_end(hooks: Hooks, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = daemon._Engine(hooks.folder, os.getpid(), socket.socket())
    assert not engine._is_unneeded()
    monkeypatch.setattr(daemon, "IDLE_SECONDS", -1.0)
    assert engine._is_unneeded()
    engine.end()


def test_a_client_is_there_until_it_ends() -> None:
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    clients = Clients()
    clients.add(process.pid)
    assert clients.any_left()
    process.kill()
    eventually(lambda: not clients.any_left())  # though nobody has looked after it yet
    process.wait()
    process.stdin.close() if process.stdin else None


def test_a_process_that_ended_is_not_noted() -> None:
    process = subprocess.Popen([sys.executable, "-c", "pass"])
    process.wait()
    clients = Clients()
    clients.add(process.pid)
    clients.add(1)
    clients.add(-1)
    assert not clients.any_left()


def _engines(hooks: Hooks) -> list[str]:
    listed = subprocess.run(
        ["ps", "-wweo", "args="], stdout=subprocess.PIPE, encoding="utf-8", check=True
    ).stdout
    root = str(hooks.folder.resolve())
    engines = (line for line in listed.splitlines() if "memlines.serve.hooks.daemon" in line)
    return [line for line in engines if root in line.split()]
