"""What speaks with a cluster keeps the key to itself and its time, whatever a node answers."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, suppress
from http.server import BaseHTTPRequestHandler

import pytest

from memlines.errors import ClusterRefused, ClusterUnreachable, SettingsError
from memlines.index.store.qdrant import cluster as cluster_module
from memlines.index.store.qdrant.cluster import Cluster
from tests.programs import listening

Clusters = Callable[[str], Cluster]
REPLY = b'{"result": %s}'


class Node(BaseHTTPRequestHandler):
    """Answers with the key it was sent, or wrongly if its address says so."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        body = REPLY % json.dumps(self.headers.get("api-key")).encode()
        head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n"
        with suppress(OSError):  # who asked may have gone
            if "huge" in self.path:
                self.wfile.write(head % 100_000_000)
                for _ in range(100):
                    self.wfile.write(b"x" * 1_000_000)
            for slow in ("head", "body"):
                if f"slow-{slow}" in self.path:
                    self.wfile.write(head % 10_000 if slow == "body" else b"HTTP/1.1 200 OK\r\nX: ")
                    for _ in range(100):
                        self.wfile.write(b" ")
                        time.sleep(0.1)
            self.wfile.write(head % len(body) + body)

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.do_GET()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def address() -> Iterator[str]:
    with listening(Node) as address:
        yield address


@pytest.fixture
def clusters() -> Iterator[Clusters]:
    """Return what makes a cluster of nodes, whose connections are closed in the end."""
    with ExitStack() as stack:
        yield lambda uri: stack.enter_context(closing(Cluster(uri)))


@pytest.mark.parametrize("end", ["\r", "\n", " \r\n"])
def test_the_end_of_a_line_is_no_part_of_the_key(
    address: str, clusters: Clusters, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    monkeypatch.setenv("QDRANT_API_KEY", f"SECRET{end}")
    assert clusters(address).ask("GET", "/") == "SECRET"


@pytest.mark.parametrize("key", ["SEC\rRET", "SECRET\x7f", "SÉCRET", "SECRET\udcff"])
def test_a_key_that_cannot_be_sent_is_refused_and_not_shown(
    address: str, clusters: Clusters, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    monkeypatch.setenv("QDRANT_API_KEY", key)
    with pytest.raises(ClusterRefused, match="QDRANT_API_KEY") as caught:
        clusters(address).ask("GET", "/")
    told = f"{caught.value} {clusters(address).check()}"
    assert ("RET" in told, "QDRANT_API_KEY" in told) == (False, True)


@pytest.mark.parametrize(
    "uri",
    ["http://:PASS@host", "http://me:PA,SS@host", "http://a:1,https://me:P@SS@b", "http://a:6333/@PASS"],
)
def test_an_address_with_a_password_is_refused_and_not_shown(uri: str) -> None:
    with pytest.raises(SettingsError, match=r"store\.uri holds an @") as caught:
        Cluster(uri)
    assert ("PA" in str(caught.value), "SS" in str(caught.value)) == (False, False)


@pytest.mark.parametrize("uri", ["http://[::1", "http://a:port", "http://a:99999", "http://:6333"])
def test_an_address_that_cannot_be_read_is_refused(uri: str) -> None:
    with pytest.raises(SettingsError, match=r"store\.uri names"):
        Cluster(uri)


def test_messages_name_hosts_and_ports_only() -> None:
    nodes = "http://One:6333/path?key=SECRET, https://two, http://[::1]:80"
    assert Cluster(nodes).hosts == ["one:6333", "two", "[::1]:80"]


@pytest.mark.parametrize("slow", ["slow-head", "slow-body"])
@pytest.mark.promise("P6")
def test_a_node_that_drips_is_given_up_in_time_and_rests(address: str, clusters: Clusters, slow: str) -> None:
    cluster = clusters(f"{address}/{slow},{address}")
    begin = time.monotonic()
    assert cluster.ask("GET", "/", seconds=0.5) is None  # from the second node
    assert 0.5 <= time.monotonic() - begin < 5
    begin = time.monotonic()
    cluster.ask("GET", "/", seconds=5)
    assert time.monotonic() - begin < 4


@pytest.mark.promise("P12")
def test_a_reply_that_is_too_large_is_no_answer(address: str, clusters: Clusters) -> None:
    cluster = clusters(f"{address}/huge")
    with pytest.raises(ClusterUnreachable, match="more than 64000000 bytes"):
        cluster.ask("GET", "/", seconds=60)
    assert [*cluster._rests] == cluster.nodes


def test_answers_that_no_longer_hold_are_not_kept(
    address: str, clusters: Clusters, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = clusters(address)
    cluster.ask_about_all("/", "first")
    cluster.ask_about_all("/", "second")
    assert len(cluster.recent) == 2
    monkeypatch.setattr(cluster_module, "_RECENT_SECONDS", -1)
    cluster.recent.clear()
    for number in range(3):
        cluster.ask_about_all("/", number)
    assert len(cluster.recent) == 1
