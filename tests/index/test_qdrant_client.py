"""What speaks with a cluster keeps the key to itself and its time, whatever a node answers."""

from __future__ import annotations

import json
import queue
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, suppress
from http.server import BaseHTTPRequestHandler
from typing import ClassVar

import pytest

from memlines.errors import ClusterRefused, ClusterUnreachable, SettingsError
from memlines.index.store.qdrant import collection as collection_module
from memlines.index.store.qdrant.cluster import Cluster
from memlines.index.store.qdrant.collection import Collection
from tests.programs import listening

Clusters = Callable[[str], Cluster]
REPLY = b'{"result": %s}'


class Node(BaseHTTPRequestHandler):
    """Answers with the key it was sent, or wrongly if its address says so."""

    protocol_version = "HTTP/1.1"
    waiting = threading.Semaphore(0)
    """Free when a request came that gets no answer."""
    paths: ClassVar[list[str]] = []
    """What was asked for since the server began."""

    def do_GET(self) -> None:
        self.paths.append(self.path)
        counts = {"hits": [{"value": "en", "count": 1}]}
        answer = counts if "facet" in self.path else self.headers.get("api-key")
        body = REPLY % json.dumps(answer).encode()
        head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n"
        with suppress(OSError):  # who asked may have gone
            if "huge" in self.path:
                self.wfile.write(head % 100_000_000)
                for _ in range(100):
                    self.wfile.write(b"x" * 1_000_000)
            if "silent" in self.path:
                self.waiting.release()
                self.rfile.read(1)  # which comes when the other side ends the connection
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
    Node.paths.clear()
    with listening(Node) as address:
        yield address


@pytest.fixture
def clusters() -> Iterator[Clusters]:
    """Return what makes a cluster of nodes, whose connections are closed in the end."""
    with ExitStack() as stack:
        yield lambda uri: stack.enter_context(closing(Cluster(uri)))


def test_an_installation_for_words_only_is_told_which_package_is_missing(
    clusters: Clusters, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "httpx2", None)
    with pytest.raises(ClusterRefused, match="needs the package httpx2") as raised:
        clusters("http://127.0.0.1:6333").ask("GET", "/collections")
    assert "pip install memlines" in raised.value.todo


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
    cluster = clusters(f"{address}/{slow},{address}/well")
    for _ in range(2):
        assert cluster.ask("GET", "/", seconds=4) is None
    assert Node.paths == [f"/{slow}/", "/well/", "/well/"]


@pytest.mark.promise("P12")
def test_a_reply_that_is_too_large_is_no_answer(address: str, clusters: Clusters) -> None:
    cluster = clusters(f"{address}/huge")
    with pytest.raises(ClusterUnreachable, match="more than 64000000 bytes"):
        cluster.ask("GET", "/", seconds=60)
    assert [*cluster._rests] == cluster.nodes


@pytest.mark.promise("P12")
def test_counts_that_are_kept_for_a_moment_have_a_bound(
    address: str, clusters: Clusters, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collection_module, "_MOST_RECENT", 3)
    collection = Collection(clusters(address), "any")
    for number in range(10):
        assert collection.count_chunks([{"key": number}]) == {"en": 1}
    assert 1 <= len(collection._recent) <= 3


@pytest.mark.promise("P6")
def test_closing_ends_what_another_thread_waits_for(address: str, clusters: Clusters) -> None:
    cluster, raised = clusters(f"{address}/silent"), queue.SimpleQueue[Exception]()
    asking = threading.Thread(target=lambda: raised.put(error_of(cluster)))
    asking.start()
    assert Node.waiting.acquire(timeout=60)
    cluster.close()
    assert "closed meanwhile" in str(raised.get(timeout=60))
    asking.join()
    assert "closed meanwhile" in str(error_of(cluster))


def error_of(cluster: Cluster) -> Exception:
    """Return why a node that keeps silent was no longer waited for, which is for long."""
    with pytest.raises(ClusterUnreachable) as caught:
        cluster.ask("GET", "/", seconds=600)
    return caught.value
