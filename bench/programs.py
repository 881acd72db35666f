"""The programs that `bench.peers` compares: how each is installed, run as a command, and kept running.

Every program has a home, a cache and a temporary folder of its own below the folder it is given, and asks the
same embedding service. It runs with its default settings, but for five hits and no lowest score.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import venv
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from importlib import metadata
from pathlib import Path
from typing import Any, Literal

from bench.common import MEMLINES, environment
from bench.embedding_server import MODEL
from bench.processes import (
    Ask,
    CannotRunError,
    bytes_of,
    distribution_bytes,
    free_port,
    http_asker,
    library,
    requirements,
    run_command,
    server,
)

HITS = 5
NODE = "24.21.0"
_CITED = re.compile(r"^(\S.*\.md)#L\d", re.MULTILINE)
SOURCE = Path(__file__).resolve().parents[1] / "src" / "memlines"


@contextmanager
def installing(folder: Path) -> Iterator[None]:
    """Say what is installed, and leave nothing half done."""
    print(f"installing {folder.name} into the cache", file=sys.stderr)
    try:
        yield
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


class Program(ABC):
    """A program that indexes a folder of notes and searches it."""

    name: str
    version: str
    mode: Literal["hybrid", "words"] = "hybrid"

    def __init__(self, cache: Path) -> None:
        """Name the folder that holds what was installed."""
        self.cache = cache
        self.notes = self.home = Path()
        self.base_url = ""

    def settle(self, folder: Path, base_url: str) -> None:
        """Work in a folder from now on, and ask a service for vectors."""
        self.notes, self.home, self.base_url = folder / "notes", folder / "home", base_url
        for place in (self.notes / "memory", self.home / "tmp"):
            place.mkdir(parents=True)

    def variables(self) -> dict[str, str]:
        """Return the environment: a home of its own, and no proxy for what is on this machine."""
        home = str(self.home)
        own = {"HOME": home, "XDG_CACHE_HOME": f"{home}/cache", "XDG_CONFIG_HOME": f"{home}/config"}
        local = dict.fromkeys(("NO_PROXY", "no_proxy"), "127.0.0.1,localhost")
        return {**environment(self.home), **own, **local, "TMPDIR": f"{home}/tmp"}

    def run(self, command: Sequence[str]) -> tuple[float, float]:
        """Run a command to its end; return its seconds and those of the processor."""
        seconds, work, _ = run_command(command, self.variables())
        return seconds, work

    @abstractmethod
    def is_installed(self) -> bool:
        """Return whether the program can be run."""

    @abstractmethod
    def install(self) -> None:
        """Put the program into the cache if it is not there."""

    @abstractmethod
    def installed_bytes(self) -> int:
        """Return how large the program is with all it depends on, without Python or Node."""

    @abstractmethod
    def sync_command(self) -> list[str]:
        """Return the command that makes the index equal to the notes."""

    @abstractmethod
    def search_command(self, query: str) -> list[str]:
        """Return the command that prints five hits."""

    @abstractmethod
    def index(self) -> list[Path]:
        """Return the files and folders that are the index."""

    @abstractmethod
    def warm(self) -> Mapping[str, Callable[[], AbstractContextManager[tuple[int, Ask]]]]:
        """Return the ways to keep the program running; each yields a process and a way to ask it."""

    def forget(self) -> None:
        """Remove the index."""
        for place in self.index():
            shutil.rmtree(place) if place.is_dir() else place.unlink(missing_ok=True)


class Memlines(Program):
    """The package of this checkout, with the service in its settings."""

    name = "Memlines"
    version = metadata.version("memlines")

    def variables(self) -> dict[str, str]:
        """Add the settings."""
        return super().variables() | {
            "MEMLINES_EMBEDDINGS__PROVIDER": "openai-compatible",
            "MEMLINES_EMBEDDINGS__BASE_URL": self.base_url,
            "MEMLINES_EMBEDDINGS__MODEL": MODEL,
            "MEMLINES_EMBEDDINGS__API_KEY": "x",
        }

    def is_installed(self) -> bool:
        """Return true: it is what runs this."""
        return True

    def install(self) -> None:
        """Do nothing."""

    def installed_bytes(self) -> int:
        """Return the size of the package, and of what it depends on without extras."""
        code = sum(
            file.stat().st_size for file in SOURCE.rglob("*") if file.suffix != ".pyc" and file.is_file()
        )
        return code + sum(map(distribution_bytes, requirements("memlines") - {"memlines"}))

    def sync_command(self) -> list[str]:
        """Sync the workspace."""
        return [str(MEMLINES), "sync", "-w", str(self.notes)]

    def search_command(self, query: str) -> list[str]:
        """Search the workspace."""
        return [str(MEMLINES), "search", query, "-w", str(self.notes), "--json", "--max-results", str(HITS)]

    def index(self) -> list[Path]:
        """Return the private folder of the workspace."""
        return [self.notes / ".memory"]

    def warm(self) -> Mapping[str, Callable[[], AbstractContextManager[tuple[int, Ask]]]]:
        """As a library, and as a server for MCP over HTTP."""
        return {"library": self._library, "server": self._server}

    def _library(self) -> AbstractContextManager[tuple[int, Ask]]:
        return library([sys.executable, "-c", _OUR_SEARCH, str(self.notes)], self.variables())

    @contextmanager
    def _server(self) -> Iterator[tuple[int, Ask]]:
        token, port = self.home / "token", free_port()
        command = [str(MEMLINES), "mcp", "--http", "--port", str(port), "-w", str(self.notes)]
        with server([*command, "--token-file", str(token)], self.variables(), port) as process:
            headers = {"Authorization": f"Bearer {token.read_text(encoding='ascii').strip()}"}

            def body(query: str) -> dict[str, Any]:
                arguments = {"query": query, "max_results": HITS, "min_score": 0}
                called = {"name": "memory_search", "arguments": arguments}
                return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": called}

            def paths(reply: Any) -> list[str]:
                return _CITED.findall(reply["result"]["content"][0]["text"])

            yield process, http_asker(port, "/mcp", headers, body, paths)


class MemlinesWords(Memlines):
    """The package of this checkout without vectors."""

    name = "Memlines, words"
    mode = "words"

    def variables(self) -> dict[str, str]:
        """Ask no service."""
        return super().variables() | {"MEMLINES_EMBEDDINGS__PROVIDER": "none"}


class Memsearch(Program):
    """memsearch with Milvus Lite, in a virtual environment, where pip compiled its modules."""

    name, version = "memsearch", "0.4.23"

    def variables(self) -> dict[str, str]:
        """Use the modules that pip compiled."""
        return {name: value for name, value in super().variables().items() if name != "PYTHONPYCACHEPREFIX"}

    @property
    def folder(self) -> Path:
        """The virtual environment."""
        return self.cache / f"memsearch-{self.version}"

    def is_installed(self) -> bool:
        """Look for its command."""
        return (self.folder / "bin" / "memsearch").exists()

    def install(self) -> None:
        """Make a virtual environment with the package."""
        if self.is_installed():
            return
        with installing(self.folder):
            venv.create(self.folder, clear=True, with_pip=True)
            pip = [str(self.folder / "bin" / "python"), "-m", "pip", "install", "--no-cache-dir", "--quiet"]
            run_command([*pip, f"memsearch=={self.version}"], os.environ)

    def installed_bytes(self) -> int:
        """Return what is in the environment, without the installer."""
        return sum(
            bytes_of(place)
            for place in self.folder.glob("lib/python*/site-packages/*")
            if not place.name.startswith(("pip", "setuptools"))
        )

    def _service(self) -> list[str]:
        return [
            *("--milvus-uri", str(self.home / "milvus.db"), "--provider", "openai", "--model", MODEL),
            *("--base-url", self.base_url, "--api-key", "x"),
        ]

    def sync_command(self) -> list[str]:
        """Index the folder of notes, which leaves out what is unchanged."""
        return [str(self.folder / "bin" / "memsearch"), "index", *self._service(), str(self.notes)]

    def search_command(self, query: str) -> list[str]:
        """Search the index."""
        program = [str(self.folder / "bin" / "memsearch"), "search", *self._service()]
        return [*program, query, "--top-k", str(HITS), "--json-output"]

    def index(self) -> list[Path]:
        """Return the folder of Milvus Lite."""
        return [self.home / "milvus.db"]

    def warm(self) -> Mapping[str, Callable[[], AbstractContextManager[tuple[int, Ask]]]]:
        """As a library; it has no server."""
        program = [str(self.folder / "bin" / "python"), "-c", _MEMSEARCH_SEARCH]
        arguments = [str(self.notes), str(self.home / "milvus.db"), MODEL, self.base_url]
        return {"library": lambda: library([*program, *arguments], self.variables())}


class NodeProgram(Program):
    """A package from npm, with a Node of its own."""

    package: str
    program: str

    def is_installed(self) -> bool:
        """Look for its command and for Node."""
        return self._binary().exists() and self._node().exists()

    def install(self) -> None:
        """Install Node first: the scripts of some packages look at its version."""
        if not self._node().exists():
            self._npm(self.cache / f"node-{NODE}", f"node@{NODE}")
        if not self._binary().exists():
            self._npm(self._folder(), f"{self.package}@{self.version}")

    def _npm(self, folder: Path, package: str) -> None:
        npm = shutil.which("npm")
        if npm is None:
            raise CannotRunError("there is no npm to install it with")
        with installing(folder):
            folder.mkdir(parents=True, exist_ok=True)
            quiet = ["--no-audit", "--no-fund", "--loglevel=error", "--cache", str(self.cache / "npm")]
            run_command(
                [npm, "install", "--prefix", str(folder), *quiet, package], self._with_node(os.environ)
            )

    def _folder(self) -> Path:
        return self.cache / f"{self.program}-{self.version}"

    def _binary(self) -> Path:
        return self._folder() / "node_modules/.bin" / self.program

    def _node(self) -> Path:
        return self.cache / f"node-{NODE}" / "node_modules/.bin/node"

    def _with_node(self, variables: Mapping[str, str]) -> dict[str, str]:
        return {**variables, "PATH": f"{self._node().parent}{os.pathsep}{variables.get('PATH', '')}"}

    def variables(self) -> dict[str, str]:
        """Use the Node of the cache."""
        return self._with_node(super().variables())

    def installed_bytes(self) -> int:
        """Return the size of the package and its dependencies."""
        return bytes_of(self._folder() / "node_modules")


class OpenClaw(NodeProgram):
    """OpenClaw's own memory engine, with the service in its settings."""

    name, version = "OpenClaw", "2026.9.6"
    package = program = "openclaw"

    def settle(self, folder: Path, base_url: str) -> None:
        """Write the settings too."""
        super().settle(folder, base_url)
        remote = {"baseUrl": f"{base_url}/", "apiKey": "x"}
        search = {"enabled": True, "provider": "openai-compatible", "model": MODEL, "remote": remote}
        settings = {
            "agents": {"defaults": {"workspace": str(self.notes)}},
            "memory": {"search": search},
        }
        (self.home / "openclaw.json").write_text(json.dumps(settings), encoding="utf-8")

    def variables(self) -> dict[str, str]:
        """Name the settings and the folder for its state."""
        return super().variables() | {
            "OPENCLAW_STATE_DIR": str(self.home / "state"),
            "OPENCLAW_CONFIG_PATH": str(self.home / "openclaw.json"),
            "OPENCLAW_DISABLE_BONJOUR": "1",
        }

    def sync_command(self) -> list[str]:
        """Index what changed."""
        return [str(self._binary()), "memory", "index"]

    def search_command(self, query: str) -> list[str]:
        """Search the index."""
        options = ["--json", "--max-results", str(HITS), "--min-score", "0"]
        return [str(self._binary()), "memory", "search", query, *options]

    def index(self) -> list[Path]:
        """Return the database of the agent with what belongs to it."""
        return [self.home / "state/agents/main/agent"]

    def warm(self) -> Mapping[str, Callable[[], AbstractContextManager[tuple[int, Ask]]]]:
        """Through its gateway."""
        return {"server": self._gateway}

    @contextmanager
    def _gateway(self) -> Iterator[tuple[int, Ask]]:
        port = free_port()
        command = [str(self._binary()), "gateway", "run", "--allow-unconfigured", "--bind", "loopback"]
        guard = ["--port", str(port), "--auth", "token", "--token", "bench", "--tailscale", "off"]
        with server([*command, *guard], self.variables(), port) as process:

            def body(query: str) -> dict[str, Any]:
                return {"tool": "memory_search", "args": {"query": query, "maxResults": HITS, "minScore": 0}}

            def paths(reply: Any) -> list[str]:
                return [hit["path"] for hit in reply["result"]["details"]["results"]]

            headers = {"Authorization": "Bearer bench"}
            yield process, http_asker(port, "/tools/invoke", headers, body, paths)


class Qmd(NodeProgram):
    """qmd by words: its vectors need models that are downloaded, and no service can give them."""

    name, version = "qmd", "2.8.3"
    package, program = "@tobilu/qmd", "qmd"
    mode = "words"

    def settle(self, folder: Path, base_url: str) -> None:
        """Name the collection too."""
        super().settle(folder, base_url)
        place = self.home / "config/qmd/index.yml"
        place.parent.mkdir(parents=True)
        collection = {"path": str(self.notes), "pattern": "**/*.md"}
        place.write_text(json.dumps({"collections": {"notes": collection}}), encoding="utf-8")

    def sync_command(self) -> list[str]:
        """Index what changed."""
        return [str(self._binary()), "update"]

    def search_command(self, query: str) -> list[str]:
        """Search by words."""
        return [str(self._binary()), "search", query, "-n", str(HITS), "--format", "json"]

    def index(self) -> list[Path]:
        """Return the folder with the database."""
        return [self.home / "cache/qmd"]

    def warm(self) -> Mapping[str, Callable[[], AbstractContextManager[tuple[int, Ask]]]]:
        """Through its server for MCP, without the reranker, which needs a model."""
        return {"server": self._server}

    @contextmanager
    def _server(self) -> Iterator[tuple[int, Ask]]:
        port = free_port()
        command = [str(self._binary()), "mcp", "--http", "--port", str(port)]
        with server(command, self.variables(), port, host="localhost") as process:

            def body(query: str) -> dict[str, Any]:
                return {"searches": [{"type": "lex", "query": query}], "limit": HITS, "rerank": False}

            def paths(reply: Any) -> list[str]:
                return [hit["file"] for hit in reply["results"]]

            yield process, http_asker(port, "/query", {}, body, paths, host="localhost")


PROGRAMS: dict[str, type[Program]] = {
    "memlines": Memlines,
    "openclaw": OpenClaw,
    "memsearch": Memsearch,
    "memlines-words": MemlinesWords,
    "qmd": Qmd,
}

_OUR_SEARCH = f"""
import json, sys, time
from memlines import Memory
with Memory(sys.argv[1]) as memory:
    for line in sys.stdin:
        begin = time.perf_counter()
        hits = memory.search(json.loads(line), max_results={HITS}, min_score=0.0)
        print(json.dumps([time.perf_counter() - begin, [hit.path for hit in hits]]), flush=True)
"""
_MEMSEARCH_SEARCH = f"""
import asyncio, json, sys, time
from memsearch import MemSearch
folder, uri, model, base_url = sys.argv[1:]
with MemSearch([folder], embedding_provider="openai", embedding_model=model, embedding_base_url=base_url,
               embedding_api_key="x", milvus_uri=uri) as memory, asyncio.Runner() as loop:
    for line in sys.stdin:
        begin = time.perf_counter()
        hits = loop.run(memory.search(json.loads(line), top_k={HITS}))
        print(json.dumps([time.perf_counter() - begin, [hit["source"] for hit in hits]]), flush=True)
"""
