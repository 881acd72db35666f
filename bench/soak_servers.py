"""The servers of Memlines as `bench.soak` starts them: how each is asked for a word, and how it is ended."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from queue import Queue
from typing import Any

from bench.observed import processes_of
from memlines.clients.client import hook_words

MEMLINES = [sys.executable, "-P", "-u", "-m", "memlines"]
DEADLINE = 120.0
"""Seconds for an answer; far more than it takes, because other programs may be at work."""

_JSON = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


class Server:
    """A program that is started, asked for a word, and ended; this one is `memlines watch`."""

    name = "memlines watch"
    ending: signal.Signals | None = signal.SIGINT
    """The clean end; without a signal, the end of its input."""

    def __init__(self, root: Path, variables: Mapping[str, str]) -> None:
        """Start it on a workspace."""
        self.root, self.variables = root, dict(variables)
        self.process = subprocess.Popen(
            [*MEMLINES, *self.arguments()],
            env=self.variables,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
        )
        self.lines: Queue[str] = Queue()
        self._reading = threading.Thread(target=self._read)
        self._reading.start()

    def arguments(self) -> list[str]:
        """Return what follows the name of the program."""
        return ["watch", "--json", "-w", str(self.root)]

    @property
    def pid(self) -> int:
        """The process that serves."""
        return self.process.pid

    def ask(self, word: str) -> str:
        """Return an answer that has the word if the server knows it; here, if it notices a note named so."""
        while '"sync"' not in self.line():  # the first brings what changed before the start
            pass
        (self.root / f"memory/{word}.md").write_text(f"# {word}\n", encoding="utf-8")
        return self.line()

    def line(self) -> str:
        """Return the next line that it prints, or raise `queue.Empty` if none comes."""
        return self.lines.get(timeout=DEADLINE)

    def end(self, number: signal.Signals | None) -> int | None:
        """End it, by a signal or by the end of its input; return its exit code, or None if it goes on."""
        assert self.process.stdin is not None
        if number is None:
            self.process.stdin.close()
        else:
            self.process.send_signal(number)
        code: int | None = None
        try:
            code = self.process.wait(DEADLINE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._reading.join()
        self.process.stdin.close()
        return code

    def _read(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as printed:
            for line in printed:
                self.lines.put(line)


class Mcp(Server):
    """`memlines mcp`, over its standard streams."""

    name = "memlines mcp"
    ending = None
    handshake: Mapping[str, Any] = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "bench", "version": "1"},
    }
    shaken = False

    def arguments(self) -> list[str]:
        """Return what follows the name of the program."""
        return ["mcp", "-w", str(self.root)]

    def ask(self, word: str) -> str:
        """Search with the tool."""
        if not self.shaken:
            self.request("initialize", self.handshake)
            self.shaken = True
        return self.request("tools/call", {"name": "memory_search", "arguments": {"query": word}})

    def request(self, method: str, params: Mapping[str, Any]) -> str:
        """Send a request, and return the line of its answer."""
        assert self.process.stdin is not None
        self.process.stdin.write(request_line(method, params))
        self.process.stdin.flush()
        return self.line()


class Stdio(Mcp):
    """`memlines serve --stdio`, the engine of a client program."""

    name = "memlines serve --stdio"
    handshake: Mapping[str, Any] = {"protocol": 1, "client": {"name": "bench"}}

    def arguments(self) -> list[str]:
        """Return what follows the name of the program."""
        return ["serve", "--stdio", "-w", str(self.root)]


class Http(Server):
    """`memlines serve --http`, for a team."""

    name = "memlines serve --http"
    ending = signal.SIGTERM
    address = ""

    def __init__(self, root: Path, variables: Mapping[str, str]) -> None:
        """Make a token for it once, and start it."""
        self.token_file = root.parent / "token"
        self.tokens_file = root.parent / "tokens.toml"
        if not self.token_file.exists():
            command = [*MEMLINES, "serve", "--http", "--token-file", str(self.tokens_file)]
            made = subprocess.check_output(
                [*command, "--new-token", "soak"], env=dict(variables), stderr=subprocess.DEVNULL
            )
            self.token_file.write_bytes(made)
        super().__init__(root, variables)

    def arguments(self) -> list[str]:
        """Return what follows the name of the program."""
        return ["serve", "--http", "--port", "0", "--token-file", str(self.tokens_file), "-w", str(self.root)]

    def ask(self, word: str) -> str:
        """Search with the tool."""
        token = self.token_file.read_text(encoding="ascii").strip()
        asked = request_line("tools/call", {"name": "memory_search", "arguments": {"query": word}})
        return self.answer_of("POST", "/mcp", asked, {**_JSON, "Authorization": f"Bearer {token}"})[1]

    def answer_of(
        self, method: str, path: str, body: str, headers: Mapping[str, str]
    ) -> tuple[http.client.HTTPMessage, str]:
        """Send a request to the address that it printed; return headers and body of the answer."""
        while not self.address:
            found = re.search(r"http://([\d.]+:\d+)(/[^\s\"]*)?", self.line())
            self.address, self.path = (found[1], found[2]) if found else ("", "")
        connection = http.client.HTTPConnection(self.address, timeout=DEADLINE)
        try:
            connection.request(method, path, body.encode(), dict(headers))
            reply = connection.getresponse()
            return reply.headers, reply.read().decode()
        finally:
            connection.close()


class Web(Http):
    """`memlines web`, the page for a browser."""

    name = "memlines web"
    ending = signal.SIGINT
    cookie = ""

    def arguments(self) -> list[str]:
        """Return what follows the name of the program."""
        return ["web", "--no-browser", "-w", str(self.root)]

    def ask(self, word: str) -> str:
        """Open the address that was printed, and the page of a search."""
        if not self.cookie:
            self.answer_of("GET", "/favicon.ico", "", {})  # until the address is known
            headers, _ = self.answer_of("GET", self.path, "", {"Sec-Fetch-Site": "none"})
            self.cookie = (headers["Set-Cookie"] or "").partition(";")[0]
        known = {"Cookie": self.cookie, "Sec-Fetch-Site": "same-origin"}
        page = self.answer_of("GET", f"/?q={word}", "", known)[1]
        return re.sub(r"</?(?:mark|b)>", "", page.replace(f'value="{word}"', ""))


class Engine(Server):
    """The engine behind the hooks, which the first hook starts."""

    name = "hook engine"
    ending = signal.SIGTERM
    number = 0

    def __init__(self, root: Path, variables: Mapping[str, str]) -> None:
        """Run a hook, which starts the engine."""
        self.root, self.variables = root, dict(variables)
        self.home = Path(variables["MEMLINES_HOME"])
        self.hook("SessionStart", "")

    @property
    def pid(self) -> int:
        """The engine, which is no child of this program."""
        return next(iter(processes_of(self.home)), 0)

    def ask(self, word: str) -> str:
        """Send a prompt about a note."""
        return self.hook("UserPromptSubmit", f"What did we decide about the lighthouse {word}?")

    def hook(self, event: str, prompt: str) -> str:
        """Run a hook as the client does, in a session of its own; return what it printed."""
        Engine.number += 1
        given = {"session_id": f"session-{self.number}", "cwd": str(self.root), "prompt": prompt}
        command = hook_words("claude-code", event)[:9]
        return subprocess.check_output(
            command, cwd=self.root, env=self.variables, input=json.dumps(given), encoding="utf-8"
        )

    def end(self, number: signal.Signals | None) -> int | None:
        """Signal the engine; what becomes of it shows in what is left."""
        process = self.pid
        if process and number is not None:
            os.kill(process, number)
        return -number if number else None


SERVERS: list[type[Server]] = [Server, Mcp, Stdio, Http, Web, Engine]


def request_line(method: str, params: Mapping[str, Any]) -> str:
    """Return a request of JSON-RPC as a line."""
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}) + "\n"
