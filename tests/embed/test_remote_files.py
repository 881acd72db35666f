from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from memlines.embed.remote.http import Http, Patience
from memlines.errors import ProviderUnreachable, ProviderUnusable
from tests.embed.fake_service import KEY

SHORT = Patience(total=5, connect=1, retries=0)
Answer = Callable[[BaseHTTPRequestHandler], None]


@pytest.fixture
def file_server() -> Iterator[Callable[[Answer], str]]:
    """Make servers that answer with a function of one's choice."""
    running: list[ThreadingHTTPServer] = []

    def run(answer: Answer) -> str:
        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_arguments: object) -> None:
                pass

            do_GET = do_POST = answer  # noqa: N815

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}).start()
        running.append(server)
        return f"http://127.0.0.1:{server.server_port}"

    yield run
    for server in running:
        server.shutdown()
        server.server_close()


def send(handler: BaseHTTPRequestHandler, content: bytes, status: int = 200, **headers: str) -> None:
    handler.send_response(status)
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.send_header("content-length", str(len(content)))
    handler.end_headers()
    handler.wfile.write(content)


def lines(address: str, max_bytes: int = 1_000_000) -> list[str]:
    with closing(Http(address, {"x-api-key": KEY}, name="openai")) as client:
        return list(client.lines("files/1/content", patience=SHORT, max_bytes=max_bytes))


def test_a_file_comes_line_by_line(file_server: Callable[[Answer], str]) -> None:
    address = file_server(lambda handler: send(handler, "eins\nzwei ü\n\ndrei".encode()))
    assert lines(address) == ["eins", "zwei ü", "", "drei"]


def test_a_packed_file_comes_line_by_line(file_server: Callable[[Answer], str]) -> None:
    content = gzip.compress(b"row\n" * 50_000)
    address = file_server(lambda handler: send(handler, content, content_encoding="gzip"))
    assert lines(address) == ["row"] * 50_000


def test_a_file_that_is_too_large_is_given_up(file_server: Callable[[Answer], str]) -> None:
    address = file_server(lambda handler: send(handler, b"row\n" * 50_000))
    with pytest.raises(ProviderUnreachable, match="more than 1000 bytes"):
        lines(address, max_bytes=1000)


def test_a_bad_byte_spoils_its_own_line_only(file_server: Callable[[Answer], str]) -> None:
    address = file_server(lambda handler: send(handler, b"one\n\xff\nthree\n"))
    assert lines(address) == ["one", "\ufffd", "three"]


def test_a_line_without_an_end_is_given_up(
    file_server: Callable[[Answer], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memlines.embed.remote.http._LONGEST_LINE", 1000)
    address = file_server(lambda handler: send(handler, b"x" * 500_000))
    with pytest.raises(ProviderUnreachable, match="line of more than 1000 bytes"):
        lines(address, max_bytes=1_000_000)


def test_a_file_that_breaks_off_is_an_error(file_server: Callable[[Answer], str]) -> None:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nrow\nro")

    with pytest.raises(ProviderUnreachable, match="broke off"):
        lines(file_server(answer))


def test_a_file_that_stops_coming_is_an_error(file_server: Callable[[Answer], str]) -> None:
    stop = threading.Event()

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nrow\nro")
        stop.wait(30)

    address = file_server(answer)
    with closing(Http(address, {}, name="openai")) as client:
        coming = client.lines("x", patience=Patience(total=0.5, connect=1, retries=0), max_bytes=1000)
        assert next(coming) == "row"
        with pytest.raises(ProviderUnreachable, match="in time"):
            next(coming)
    stop.set()


def test_a_file_elsewhere_is_not_fetched_over_plain_http(file_server: Callable[[Answer], str]) -> None:
    other = file_server(lambda handler: send(handler, b"row"))
    address = file_server(lambda handler: send(handler, b"", 302, location=other))
    with pytest.raises(ProviderUnusable, match="elsewhere"):
        lines(address)


def test_a_file_may_be_at_another_address_of_the_same_service(
    file_server: Callable[[Answer], str],
) -> None:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        if handler.path == "/real":
            send(handler, b"row")
        else:
            send(handler, b"", 302, location="/real")

    assert lines(file_server(answer)) == ["row"]


def test_headers_do_not_go_to_another_service(file_server: Callable[[Answer], str]) -> None:
    seen: list[str | None] = []

    def answer(handler: BaseHTTPRequestHandler) -> None:
        seen.append(handler.headers.get("x-api-key"))
        send(handler, b"{}")

    other, own = file_server(answer), file_server(answer)
    with closing(Http(own, {"x-api-key": KEY}, name="openai")) as client:
        client.json("GET", f"{other}/x", patience=SHORT)
        client.json("GET", f"{own}/x", patience=SHORT)
    assert seen == [None, KEY]


def test_an_upload_sends_its_bytes(file_server: Callable[[Answer], str]) -> None:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        content = handler.rfile.read(int(handler.headers["content-length"]))
        send(handler, json.dumps([content.decode(), handler.headers["content-type"]]).encode())

    with closing(Http(file_server(answer), {}, name="openai")) as client:
        reply = client.upload("files", content=b"a,b", headers={"content-type": "text/csv"})
    assert reply == ["a,b", "text/csv"]


def test_no_content_is_none(file_server: Callable[[Answer], str]) -> None:
    with closing(Http(file_server(lambda handler: send(handler, b"", 204)), {}, name="openai")) as client:
        assert client.json("GET", "x", patience=SHORT) is None


def test_the_query_of_the_address_stays(file_server: Callable[[Answer], str]) -> None:
    address = file_server(lambda handler: send(handler, json.dumps(handler.path).encode()))
    with closing(Http(f"{address}/v1?api-version=7", {}, name="openai")) as client:
        assert client.json("GET", "x?y=1", patience=SHORT) == "/v1/x?api-version=7&y=1"


def test_a_login_in_the_address_becomes_a_header(file_server: Callable[[Answer], str]) -> None:
    address = file_server(
        lambda handler: send(handler, json.dumps(handler.headers["authorization"]).encode())
    )
    with closing(Http(address.replace("//", "//me:p%40ss@"), {}, name="openai")) as client:
        assert client.json("GET", "x", patience=SHORT) == "Basic bWU6cEBzcw=="
