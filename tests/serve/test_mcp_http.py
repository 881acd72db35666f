"""The protocol over HTTP: who is let in, what is taken, and how answers look."""

from __future__ import annotations

import base64
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from memlines.errors import UsageError
from memlines.serve.http import listener as http_server
from memlines.serve.http.listener import Listener, Reply, check_address
from memlines.serve.mcp.exchange import Exchange
from memlines.serve.mcp.server import HANDSHAKE, STATELESS
from memlines.serve.rpc.messages import MOST_BYTES
from memlines.serve.tools import Call, Output, shown_tools
from tests.serve.mcp import ENVELOPE, NEWEST, TOKEN, Http, Listening, add_tool, listening, write_notes
from tests.serve.rpc import DEADLINE
from tests.waiting import eventually


@pytest.fixture
def client(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Listening]:
    monkeypatch.setenv("MEMLINES_EMBEDDINGS__PROVIDER", "none")
    with listening(workspace) as client:
        yield client


PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'


# Who is let in: every route, by every Host and every Origin

HOSTS = {
    "localhost:{port}": True,
    "127.0.0.1:{port}": True,
    "[::1]:{port}": True,
    "evil.test:{port}": False,
    "127.0.0.1.evil.test:{port}": False,
    "0.0.0.0:{port}": False,
    "": False,
}
ORIGINS = {
    None: True,
    "http://127.0.0.1:{port}": True,
    "null": False,
    "http://evil.test": False,
    "file://": False,
}
ROUTES = {
    ("POST", "/mcp"): 200,
    ("GET", "/mcp"): 405,
    ("DELETE", "/mcp"): 405,
    ("HEAD", "/mcp"): 405,
    ("PUT", "/mcp"): 405,
    ("PATCH", "/mcp"): 405,
    ("OPTIONS", "/mcp"): 405,
    ("TRACE", "/mcp"): 405,
    ("BREW", "/mcp"): 405,
    ("POST", "/mcp?x=1"): 200,
    ("POST", "/mcp/"): 404,
    ("GET", "/"): 404,
    ("POST", "/"): 404,
    ("OPTIONS", "/"): 404,
    ("GET", "/.well-known/oauth-protected-resource"): 404,
    ("GET", "/favicon.ico"): 404,
}


@pytest.mark.parametrize(("method", "path"), ROUTES)
@pytest.mark.promise("P10")
def test_only_programs_of_this_machine_are_let_in(client: Listening, method: str, path: str) -> None:
    wrong = []
    for host, host_is_ours in HOSTS.items():
        for origin, origin_is_ours in ORIGINS.items():
            expected = ROUTES[method, path] if origin_is_ours else 403
            expected = expected if host_is_ours else 421
            named = {"Host": host.format(port=client.port)}
            named |= {"Origin": origin.format(port=client.port)} if origin is not None else {}
            answered = client.request(method, path, PING, **named)
            if answered.status != expected:
                wrong.append((host, origin, answered.status, expected))
            allowing = [name for name in answered.headers if name.lower().startswith("access-control")]
            assert allowing == []
    assert wrong == []


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "127.0.0.1",
        "localhost:1",
        "localhost:{port}x",
        "localhost.:{port}",
        "evil@localhost:{port}",
        "localhost:{port}, evil.test",
        "127.1:{port}",
        "2130706433:{port}",
        "[::ffff:127.0.0.1]:{port}",
        "[::1]",
        " localhost:{port}.evil.test",
    ],
)
@pytest.mark.promise("P10")
def test_a_host_that_only_looks_like_ours_is_sent_away(client: Listening, host: str) -> None:
    assert client.post(PING, Host=host.format(port=client.port)).status == 421


@pytest.mark.parametrize("name", ["LOCALHOST", "LocalHost", "[::1]"])
def test_the_name_of_this_machine_may_be_written_in_any_way(client: Listening, name: str) -> None:
    assert client.post(PING, Host=f"{name}:{client.port}").status == 200


@pytest.mark.parametrize(
    "origin",
    [
        "https://127.0.0.1:{port}",
        "http://127.0.0.1",
        "http://127.0.0.1:{port}/",
        "http://127.0.0.1:{port}.evil.test",
        "http://evil.test:{port}",
        "http://localhost:{port}@evil.test",
        "vscode-webview://x",
        "",
    ],
)
@pytest.mark.promise("P10")
def test_an_origin_that_only_looks_like_ours_is_forbidden(client: Listening, origin: str) -> None:
    assert client.post(PING, Origin=origin.format(port=client.port)).status == 403


def raw(client: Http, head: str, body: bytes = b"") -> int:
    """Send a request as it stands, and return the status of its answer, or 0 if there is none."""
    with client.connect() as connection:
        connection.sendall(head.replace("\n", "\r\n").encode("latin-1") + b"\r\n\r\n" + body)
        line = connection.makefile("rb").readline()
    return int(line.split()[1]) if line else 0


HEAD = "POST {target} HTTP/1.1\nHost: 127.0.0.1:{port}\nAuthorization: Bearer {token}\nConnection: close\n"
BODY = "Content-Type: application/json\nContent-Length: {length}"


def head(client: Http, more: str = BODY, target: str = "/mcp") -> str:
    """Return the lines of a good request, and more."""
    form = HEAD + more
    return form.format(target=target, port=client.port, token=client.token, length=len(PING))


@pytest.mark.parametrize(
    ("more", "status"),
    [
        (BODY, 200),
        (f"{BODY}\nHost: evil.test", 421),
        (f"{BODY}\nOrigin: http://127.0.0.1:{{port}}\nOrigin: http://evil.test", 403),
        (f"{BODY}\nAuthorization: Bearer x", 400),
        (f"{BODY}\nContent-Length: 3", 400),
        (f"{BODY}\nContent-Type: text/plain", 400),
        (f"{BODY}\nTransfer-Encoding: chunked", 411),
    ],
)
@pytest.mark.promise("P10")
def test_a_header_that_is_there_twice_is_not_believed(client: Listening, more: str, status: int) -> None:
    assert raw(client, head(client, more), PING) == status


@pytest.mark.parametrize(
    "target", ["http://evil.test/mcp", "evil.test:80", "*", "mcp", "/mcp/../mcp", "/MCP"]
)
def test_a_target_that_is_not_the_endpoint_is_not_found(client: Listening, target: str) -> None:
    assert raw(client, head(client, target=target), PING) == 404


@pytest.mark.parametrize(
    "head",
    [
        "GET /mcp",
        "POST /mcp HTTP/1.0",
        "POST /mcp HTTP/1.1",
        "garbage",
        "POST /mcp HTTP/9.9\nHost: x",
        "\x16\x03\x01\x02",
        "POST /mcp HTTP/1.1\n" + "\n".join(f"X-{number}: x" for number in range(300)),
        "POST /mcp HTTP/1.1\nX: " + "x" * 100_000,
        "POST /" + "x" * 100_000 + " HTTP/1.1",
    ],
    ids=lambda head: head[:24],
)
def test_what_is_hardly_a_request_is_sent_away(client: Listening, head: str) -> None:
    assert raw(client, head) in (0, 400, 414, 421, 431, 505)
    assert client.post(PING).status == 200


# The token


@pytest.mark.parametrize(
    "given",
    [
        None,
        "",
        "Bearer",
        "Bearer ",
        "Bearer x",
        f"Bearer {TOKEN}x",
        f"Bearer {TOKEN[:-1]}",
        f"Bearer {TOKEN.upper()}",
        f"Basic {TOKEN}",
        TOKEN,
        f"Bearer {TOKEN} x",
        "Bearer \xe9",
    ],
)
@pytest.mark.parametrize("method", ["POST", "GET", "DELETE", "OPTIONS"])
@pytest.mark.promise("P10")
def test_nobody_gets_in_without_the_token(client: Listening, method: str, given: str | None) -> None:
    answered = client.request(method, "/mcp", PING, Authorization=given)
    assert answered.status == 401
    assert answered.headers["WWW-Authenticate"].startswith("Bearer")


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_the_token_lets_in(client: Listening, scheme: str) -> None:
    assert client.post(PING, Authorization=f"{scheme} {TOKEN}").status == 200


@pytest.mark.promise("P10")
def test_a_token_in_the_address_does_not_let_in(client: Listening) -> None:
    assert client.request("POST", f"/mcp?token={TOKEN}", PING, Authorization=None).status == 401


@pytest.mark.promise("P10")
def test_a_page_that_asks_whether_it_may_ask_learns_nothing(client: Listening) -> None:
    asked = {
        "Origin": "http://evil.test",
        "Access_Control_Request_Method": "POST",
        "Access_Control_Request_Headers": "authorization",
    }
    answered = client.request("OPTIONS", "/mcp", b"", Authorization=None, Content_Type=None, **asked)
    assert answered.status == 403
    assert not [name for name in answered.headers if name.lower().startswith("access-control")]


# What is taken


@pytest.mark.parametrize("kind", ["application/json", "application/json; charset=utf-8", "Application/JSON"])
def test_json_is_taken(client: Listening, kind: str) -> None:
    assert client.post(PING, Content_Type=kind).status == 200


@pytest.mark.parametrize(
    "kind",
    [None, "", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/jsonx"],
)
@pytest.mark.promise("P10")
def test_what_a_form_of_a_page_can_send_is_not_taken(client: Listening, kind: str | None) -> None:
    assert client.post(PING, Content_Type=kind).status == 415


def test_a_request_that_is_too_large_is_refused_before_it_is_read(client: Listening) -> None:
    assert raw(client, head(client, BODY.replace("{length}", str(MOST_BYTES + 1)))) == 413


def test_a_client_that_sends_too_much_learns_why_it_is_refused(client: Listening) -> None:
    assert client.post(b"x" * (MOST_BYTES + 1)).status == 413


def test_a_request_of_ten_megabytes_is_taken(client: Listening) -> None:
    answered = client.ask("tools/call", {"name": "memory_search", "arguments": {"query": "x" * 10_000_000}})
    assert answered.json["result"]["isError"] is True


@pytest.mark.parametrize(
    ("length", "status"), [(None, 411), ("-1", 400), ("x", 400), ("1e3", 400), ("9" * 30, 400), ("+5", 400)]
)
def test_the_length_has_to_be_told(client: Listening, length: str | None, status: int) -> None:
    assert client.post(PING, Content_Length=length).status == status


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", -32700),
        (b"{broken", -32700),
        (b"\xff", -32700),
        (b"[]", -32600),
        (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600),
        (b'{"jsonrpc":"2.0","id":1}', -32600),
        (b'{"jsonrpc":"2.0","id":1,"result":{}}', -32600),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', -32602),
        (b"[" * 100_000, -32700),
    ],
)
def test_a_body_that_is_no_request_is_refused(client: Listening, body: bytes, code: int) -> None:
    answered = client.post(body)
    assert (answered.status, answered.json["error"]["code"]) == (400, code)


# Slow clients


def test_headers_that_come_too_slowly_are_not_waited_for(
    client: Listening, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_server, "SECONDS_FOR_HEADERS", 0.3)
    with client.connect() as connection:
        connection.sendall(b"POST /mcp HTTP/1.1\r\n")
        with pytest.raises(OSError, match=r"closed"):
            _drip(connection, b"X-Slow: x\r\n")


def _drip(connection: socket.socket, line: bytes) -> None:
    """Send a line again and again until the other side is gone."""
    waiting = threading.Event()
    for _ in range(1000):
        connection.sendall(line)
        connection.settimeout(0.05)
        try:
            if not connection.recv(1000):
                raise OSError("closed")
        except TimeoutError:
            waiting.wait(0.01)
        except ConnectionError:
            raise OSError("closed") from None


def test_a_body_that_comes_too_slowly_is_not_waited_for(
    client: Listening, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_server, "SECONDS_FOR_BODY", 0.2)
    assert raw(client, head(client), PING[:-1]) == 408


def test_a_client_that_leaves_before_its_request_is_whole_does_no_harm(client: Listening) -> None:
    with client.connect() as connection:
        connection.sendall(head(client).replace("\n", "\r\n").encode() + b"\r\n\r\n" + PING[:5])
    assert client.post(PING).status == 200


SLOW = 40
"""More clients than are served at once."""


def _slow_headers(client: Listening) -> bytes:
    return b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "


def _slow_body(client: Listening) -> bytes:
    return head(client).replace("\n", "\r\n").encode() + b"\r\n\r\n" + PING[:5]


def _idle(client: Listening) -> bytes:
    return b""


@pytest.mark.parametrize("begun", [_slow_headers, _slow_body, _idle])
def test_slow_clients_keep_no_other_from_being_answered(
    client: Listening, begun: Callable[[Listening], bytes]
) -> None:
    held = [client.connect() for _ in range(SLOW)]
    try:
        for connection in held:
            connection.sendall(begun(client))
        assert [raw(client, head(client), PING) for _ in range(5)] == [200] * 5
        for connection in held[-5:]:
            with suppress(ConnectionError):  # it may have been sent away to make room
                connection.sendall(b"x")  # and they go on, byte by byte
        assert [raw(client, head(client), PING) for _ in range(SLOW)] == [200] * SLOW
    finally:
        for connection in held:
            connection.close()


def test_who_is_being_answered_keeps_its_place_and_more_are_sent_away(
    client: Listening, monkeypatch: pytest.MonkeyPatch
) -> None:
    end = threading.Event()
    asked: list[bytes] = []

    def reply(_: Exchange, body: bytes, headers: Any, methods: Any) -> Reply:
        asked.append(body)
        end.wait(DEADLINE)
        return Reply(200)

    with monkeypatch.context() as patched:
        patched.setattr(Exchange, "answer", reply)
        held = [client.connect() for _ in range(http_server.MOST_CONNECTIONS)]
        try:
            for connection in held:
                connection.sendall(head(client).replace("\n", "\r\n").encode() + b"\r\n\r\n" + PING)
            eventually(lambda: len(asked) == len(held))
            assert raw(client, head(client), PING) == 503
            end.set()
            assert {connection.recv(12) for connection in held} == {b"HTTP/1.1 200"}
        finally:
            end.set()
            for connection in held:
                connection.close()
    eventually(lambda: raw(client, head(client), PING) == 200)


def test_a_connection_serves_one_request_after_another(client: Listening) -> None:
    request = head(client).replace("Connection: close\n", "").replace("\n", "\r\n").encode()
    with client.connect() as connection:
        answers = connection.makefile("rb")
        for _ in range(3):
            connection.sendall(request + b"\r\n\r\n" + PING)
            assert answers.readline().split()[1] == b"200"
            length = 0
            while (line := answers.readline()) != b"\r\n":
                name, _, value = line.partition(b":")
                length = int(value) if name.lower() == b"content-length" else length
            assert b'"result":{}' in answers.read(length)


def test_a_client_that_asks_whether_to_go_on_is_told(client: Listening) -> None:
    with client.connect() as connection:
        asking = head(client, f"{BODY}\nExpect: 100-continue").replace("\n", "\r\n").encode()
        connection.sendall(asking + b"\r\n\r\n")
        answers = connection.makefile("rb")
        assert answers.readline().split()[1] == b"100"
        connection.sendall(PING)
        assert answers.readline() == b"\r\n"
        assert answers.readline().split()[1] == b"200"


def test_a_client_without_the_token_is_not_told_to_go_on(client: Listening) -> None:
    asking = head(client, f"{BODY}\nExpect: 100-continue").replace(client.token, "x" * 40)
    assert raw(client, asking) == 401


# The protocol


@pytest.mark.parametrize("version", HANDSHAKE)
def test_a_client_shakes_hands_without_a_session(client: Listening, version: str) -> None:
    answered = client.ask("initialize", {"protocolVersion": version, "capabilities": {}})
    assert answered.json["result"]["protocolVersion"] == version
    assert "Mcp-Session-Id" not in answered.headers
    assert answered.headers["Content-Type"] == "application/json"


def test_a_notification_is_accepted_without_an_answer(client: Listening) -> None:
    answered = client.post({"jsonrpc": "2.0", "method": "notifications/initialized"})
    assert (answered.status, answered.body) == (202, b"")


@pytest.mark.parametrize("version", [None, *HANDSHAKE])
def test_a_request_after_the_handshake_is_answered(client: Listening, version: str | None) -> None:
    answered = client.ask("tools/list", MCP_Protocol_Version=version)
    assert len(answered.json["result"]["tools"]) == len(shown_tools())


@pytest.mark.parametrize("version", ["", "1.0", "2099-12-31"])
@pytest.mark.parametrize("message", [PING, b'{"jsonrpc":"2.0","method":"notifications/initialized"}'])
def test_an_unknown_version_is_refused(client: Listening, version: str, message: bytes) -> None:
    answered = client.post(message, MCP_Protocol_Version=version)
    assert (answered.status, answered.json["error"]["code"]) == (400, -32022)


def test_an_unknown_session_does_not_matter(client: Listening) -> None:
    assert client.post(PING, Mcp_Session_Id="x", MCP_Protocol_Version=NEWEST).status == 200


def test_a_client_without_a_handshake_is_answered(client: Listening) -> None:
    assert client.stateless("tools/list").json["result"]["resultType"] == "complete"


@pytest.mark.parametrize(
    "uri", ["memory://MEMORY.md", "memory://memory/ü.md", "=?base64?bWVtb3J5Oi8vTUVNT1JZLm1k?="]
)
def test_a_name_in_a_header_may_be_encoded(client: Listening, workspace: Path, uri: str) -> None:
    write_notes(workspace, {"MEMORY.md": "Here.\n", "memory/ü.md": "Here.\n"})
    encoded = f"=?base64?{base64.b64encode(uri.encode()).decode()}?="
    answered = client.stateless("resources/read", {"uri": uri}, Mcp_Name=encoded)
    assert answered.status == (200 if uri.startswith("memory:") else 400)
    assert answered.json.get("error", {}).get("code", -32602) == -32602


@pytest.mark.parametrize(
    "headers",
    [
        {"MCP_Protocol_Version": None},
        {"MCP_Protocol_Version": NEWEST},
        {"Mcp_Method": None},
        {"Mcp_Method": "tools/list"},
        {"Mcp_Method": "Tools/Call"},
        {"Mcp_Name": None},
        {"Mcp_Name": "memory_forget"},
        {"Mcp_Name": "=?base64?%%%?="},
        {"Mcp_Name": "=?base64?/w==?="},
    ],
)
def test_headers_that_contradict_the_request_are_refused(
    client: Listening, headers: dict[str, str | None]
) -> None:
    answered = client.stateless("tools/call", {"name": "memory_status"}, **headers)
    assert (answered.status, answered.json["error"]["code"]) == (400, -32020)


STATELESS_FAULTS: list[tuple[str, dict[str, Any], int, int]] = [
    ("tools/unknown", {}, 404, -32601),
    ("ping", {}, 404, -32601),
    ("subscriptions/listen", {}, 404, -32601),
    ("tools/call", {"name": "unknown"}, 400, -32602),
    ("resources/read", {"uri": "memory://memory/none.md"}, 400, -32602),
]


@pytest.mark.parametrize(("method", "params", "status", "code"), STATELESS_FAULTS)
def test_such_a_client_learns_of_errors_from_the_status(
    client: Listening, method: str, params: dict[str, Any], status: int, code: int
) -> None:
    answered = client.stateless(method, params)
    assert (answered.status, answered.json["error"]["code"]) == (status, code)


def test_a_client_with_a_handshake_learns_of_errors_from_the_answer(client: Listening) -> None:
    answered = client.ask("tools/unknown", MCP_Protocol_Version=NEWEST)
    assert (answered.status, answered.json["error"]["code"]) == (200, -32601)


def test_a_request_that_does_not_repeat_its_version_is_refused(client: Listening) -> None:
    answered = client.ask("tools/list", MCP_Protocol_Version=STATELESS[0], Mcp_Method="tools/list")
    assert (answered.status, answered.json["error"]["code"]) == (400, -32602)


def test_an_unknown_version_without_a_handshake_is_refused(client: Listening) -> None:
    meta = {**ENVELOPE, "io.modelcontextprotocol/protocolVersion": "2099-12-31"}
    headers = {"MCP_Protocol_Version": "2099-12-31", "Mcp_Method": "tools/list"}
    answered = client.ask("tools/list", {"_meta": meta}, **headers)
    assert (answered.status, answered.json["error"]["code"]) == (400, -32022)


def test_answers_are_not_kept_by_anybody(client: Listening) -> None:
    answered = client.post(PING)
    assert (answered.headers["Cache-Control"], answered.headers["X-Content-Type-Options"]) == (
        "no-store",
        "nosniff",
    )


def test_a_tool_that_takes_too_long_is_given_up(client: Listening, monkeypatch: pytest.MonkeyPatch) -> None:
    go_on = threading.Event()

    def wait(call: Call) -> Output:
        assert go_on.wait(DEADLINE)
        return Output("done")

    add_tool(monkeypatch, "memory_slow", wait, seconds=0.1)
    answered = client.ask("tools/call", {"name": "memory_slow"})
    go_on.set()
    assert "took longer than 0.1 seconds" in answered.json["error"]["message"]


def test_an_entry_cannot_be_marked_with_a_session(client: Listening) -> None:
    arguments = {"text": "The cafeteria closes at noon.", "session": True}
    answered = client.ask("tools/call", {"name": "memory_remember", "arguments": arguments})
    assert answered.json["result"]["isError"] is True


def test_several_clients_are_served_at_once(client: Listening, monkeypatch: pytest.MonkeyPatch) -> None:
    together = threading.Barrier(4, timeout=DEADLINE)

    def meet(call: Call) -> Output:
        together.wait()
        return Output("met")

    add_tool(monkeypatch, "memory_meet", meet)
    answers: list[str] = []

    def ask() -> None:
        answered = client.ask("tools/call", {"name": "memory_meet"})
        answers.append(answered.json["result"]["content"][0]["text"])

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == ["met"] * 4


# Where it listens


@pytest.mark.parametrize(
    "host", ["0.0.0.0", "::", "192.168.1.5", "evil.test", "", "127.0.0.1.evil.test", "::ffff:8.8.8.8", "*"]
)
@pytest.mark.promise("P10")
def test_it_does_not_listen_where_others_could_reach_it(host: str) -> None:
    with pytest.raises(UsageError, match="not an address of this machine"):
        check_address(host)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.0.0.2", "::1"])
def test_it_listens_on_this_machine(host: str) -> None:
    assert check_address(host) in ("127.0.0.1", "127.0.0.2", "::1")


def test_a_port_that_is_taken_is_told(client: Listening) -> None:
    with pytest.raises(UsageError, match=f"port {client.port} of 127.0.0.1 cannot be used"):
        Listener("127.0.0.1", client.port, client.listener.application)
