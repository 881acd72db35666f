"""`memlines mcp` as a program: its streams, its workspace, its end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.programs import MAIN, environment, program
from tests.serve.mcp import NEWEST, WORDS_ONLY, Process, process, write_notes
from tests.waiting import eventually

posix_only = pytest.mark.skipif(os.name == "nt", reason="needs a POSIX system")

HANDSHAKE = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": NEWEST}}


# Its input and output


@pytest.mark.promise("P12")
def test_it_answers_and_ends_with_its_input(workspace: Path) -> None:
    with process("-w", workspace) as client:
        client.shake_hands()
        assert client.said("memory_remember", text="We deploy on Tuesdays.").startswith("Remembered")
        assert client.ends() == 0
        assert client.rest() == []


def test_it_ends_when_nothing_was_ever_said(workspace: Path) -> None:
    with process("-w", workspace) as client:
        assert client.ends() == 0


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"{broken\n", -32700),
        (b"\xff\xfe\n", -32700),
        (b"[]\n", -32600),
        (b'"x"\n', -32600),
        (b'{"jsonrpc":"1.0","method":"ping"}\n', -32600),
        (b"[" * 100_000 + b"\n", -32700),
        (b"x" * 17 * 1024 * 1024 + b"\n", -32600),
    ],
)
def test_a_broken_line_is_refused_and_the_next_one_answered(workspace: Path, line: bytes, code: int) -> None:
    with process("-w", workspace) as client:
        client.shake_hands()
        client.write(line)
        assert client.answer(None)["error"]["code"] == code
        assert client.ask("ping") == {}


def test_a_line_of_ten_megabytes_is_answered(workspace: Path) -> None:
    with process("-w", workspace) as client:
        client.shake_hands()
        answer = client.call("memory_search", query="x" * 10_000_000)
        assert answer["isError"] is True
        assert "10,000,000 characters" in answer["content"][0]["text"]


# Its workspace


def found_by(client: Process) -> str:
    """Return where a client's memory is."""
    client.shake_hands()
    told: str = client.call("memory_status")["_meta"]["memlines/data"]["workspace"]
    return told


def test_it_finds_the_workspace_from_where_it_was_started(workspace: Path) -> None:
    write_notes(workspace, {"MEMORY.md": "x"})
    (workspace / "src/deep").mkdir(parents=True)
    with process(cwd=workspace / "src/deep") as client:
        assert found_by(client) == str(workspace)


def test_a_project_without_notes_is_its_own_workspace(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    with process(cwd=tmp_path / "project") as client:
        assert found_by(client) == str(tmp_path / "project")


def test_a_client_may_name_its_project_in_a_variable(workspace: Path, tmp_path: Path) -> None:
    write_notes(workspace, {"MEMORY.md": "x"})
    (workspace / "src").mkdir()
    variables = {"CLAUDE_PROJECT_DIR": str(workspace / "src")}
    with process(cwd=tmp_path, env=variables) as client:
        assert found_by(client) == str(workspace)


def test_a_named_workspace_counts_more(workspace: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    variables = {"CLAUDE_PROJECT_DIR": str(workspace)}
    with process("--workspace", tmp_path / "other", cwd=workspace, env=variables) as client:
        assert found_by(client) == str(tmp_path / "other")


def test_a_workspace_that_does_not_exist_is_refused_at_once(tmp_path: Path) -> None:
    done = program("mcp", "-w", tmp_path / "none")
    assert (done.returncode, b"does not exist" in done.stderr, done.stdout) == (4, True, b"")


@posix_only
def test_the_root_of_the_disk_is_not_taken_for_a_project() -> None:
    done = program("mcp", cwd=Path("/"))
    assert (done.returncode, b"--workspace" in done.stderr, done.stdout) == (4, True, b"")


@pytest.mark.parametrize(
    "arguments",
    [["--port", "0"], ["--host", "127.0.0.1"], ["--token-file", "token"]],
    ids=lambda given: given[0],
)
def test_what_goes_with_http_is_refused_without_it(workspace: Path, arguments: list[str]) -> None:
    done = program("mcp", "-w", workspace, *arguments)
    assert (done.returncode, b"--http" in done.stderr) == (2, True)


# Its end


@posix_only
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_ends_it(workspace: Path, number: signal.Signals, code: int) -> None:
    with process("-w", workspace) as client:
        client.shake_hands()
        client.process.send_signal(number)
        assert client.wait() == code
        assert "Traceback" not in client.errors


PARENT = """\
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", {main!r}, "mcp", "-w", {folder!r}], stdin=subprocess.PIPE)
child.stdin.write(b'{line}\\n')
child.stdin.flush()
print(child.pid, flush=True)
time.sleep(600)
"""


@posix_only
@pytest.mark.promise("P12")
def test_it_ends_when_its_parent_is_killed(workspace: Path) -> None:
    code = PARENT.format(main=MAIN, folder=str(workspace), line=json.dumps(HANDSHAKE))
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, env=environment({}))
    try:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        assert json.loads(parent.stdout.readline())["id"] == 1
    finally:
        parent.kill()
        parent.wait()
    eventually(lambda: not _is_running(child))
    parent.stdout.close()


def _is_running(number: int) -> bool:
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{number}/stat")  # nobody may be there to collect a process whose parent is dead
    try:
        return state.read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return not Path("/proc/self").exists()


# Several at once


def test_two_clients_share_a_memory(workspace: Path) -> None:
    with process("-w", workspace) as one, process("-w", workspace) as other:
        one.shake_hands()
        other.shake_hands()
        one.call("memory_remember", text="The cafeteria closes at noon.")
        assert "closes at noon" in other.said("memory_search", query="cafeteria")


def test_two_clients_lose_nothing_when_they_write_at_once(workspace: Path) -> None:
    with process("-w", workspace) as one, process("-w", workspace) as other:

        def write(client: Process, who: str) -> None:
            client.shake_hands()
            for number in range(5):
                client.call("memory_remember", text=f"Fact {number} that {who} came to know.")

        threads = [
            threading.Thread(target=write, args=given)
            for given in ((one, "the first"), (other, "the second"))
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        (note,) = (workspace / "memory").glob("*.md")
        assert note.read_text(encoding="utf-8").count("came to know") == 10


# What it does not load


def test_the_first_answers_need_nothing_heavy(workspace: Path) -> None:
    code = (
        "import atexit, sys\n"
        "heavy = {'numpy', 'sentencepiece', 'yaml', 'httpx2', 'http.server', 'asyncio', 'mcp'}\n"
        "import os; leave = os._exit\n"
        "def tell(code=0): sys.stderr.write(f'heavy: {sorted(heavy & set(sys.modules))}\\n'); leave(code)\n"
        "os._exit = tell; atexit.register(tell)\n"
        f"{MAIN}"
    )
    lines = [HANDSHAKE, {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}]
    done = subprocess.run(
        [sys.executable, "-c", code, "mcp", "-w", str(workspace)],
        input="".join(json.dumps(line) + "\n" for line in lines).encode(),
        capture_output=True,
        env=environment(WORDS_ONLY),
        timeout=60,
        check=True,
    )
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == [1, 2]
    assert done.stderr.endswith(b"heavy: []\n")
