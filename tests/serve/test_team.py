"""A team's server: what each token may do, what is logged, and who is let in behind a proxy."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from memlines.errors import UsageError
from memlines.serve.http.guard import check_public_name
from memlines.serve.http.listener import check_address
from memlines.serve.mcp import tokens
from memlines.serve.mcp.audit import FILE_NAME
from memlines.serve.mcp.team import Team
from memlines.serve.tools import TOOLS, Call, Output, shown_tools
from memlines.types import Scope
from tests.serve.mcp import Answered, Http, Listening, add_tool, listening, write_notes
from tests.serve.rpc import DEADLINE
from tests.serve.test_audit import logged

PUBLIC = "memory.example.org"
SECRET_WORDS = "The cafeteria closes at noon."


class Clients(NamedTuple):
    """A server, a client of it that may write and one that may only read."""

    server: Listening
    writer: Http
    reader: Http


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Where the tokens are."""
    return tmp_path / "tokens.toml"


@pytest.fixture
def clients(workspace: Path, file: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Clients]:
    monkeypatch.setenv("MEMLINES_EMBEDDINGS__PROVIDER", "none")
    write_notes(workspace, {"MEMORY.md": "We chose Postgres 17 for billing.\n"})
    writer, reader = tokens.add(file, "anna", "write", ()), tokens.add(file, "ci", "read", ())
    with listening(workspace, Team(workspace, file), writer, (PUBLIC, "other.example.org:8443")) as server:
        yield Clients(server, server, Http(server.port, reader))


def call(client: Http, tool: str, **arguments: Any) -> Any:
    """Call a tool and return its result."""
    return client.ask("tools/call", {"name": tool, "arguments": arguments}).json["result"]


def fact_id(answer: Any) -> str:
    """Return the id of a fact that was stored."""
    found = re.search(r"fact (\w+)", answer["content"][0]["text"])
    assert found is not None
    return found[1]


# What a token allows

READING = [tool.name for tool in TOOLS.values() if tool.effect == "reads"]
WRITING = {
    "memory_remember": {"text": SECRET_WORDS},
    "memory_store": {"text": SECRET_WORDS},
    "memory_forget": {"query": "billing"},
    "memory_sync": {},
}


def test_every_tool_is_known_to_read_or_to_write() -> None:
    assert {*READING, *WRITING} == set(TOOLS)


def test_a_token_that_may_write_sees_every_tool(clients: Clients) -> None:
    listed = clients.writer.ask("tools/list").json["result"]["tools"]
    assert [tool["name"] for tool in listed] == [tool.name for tool in shown_tools()]


def test_a_token_that_may_read_sees_the_tools_that_read(clients: Clients) -> None:
    listed = clients.reader.ask("tools/list").json["result"]["tools"]
    assert [tool["name"] for tool in listed] == ["memory_search", "memory_get", "memory_recall"]


@pytest.mark.parametrize("tool", WRITING)
def test_a_token_that_may_read_cannot_write(clients: Clients, workspace: Path, tool: str) -> None:
    before = {file: file.read_bytes() for file in workspace.rglob("*.md")}
    answer = call(clients.reader, tool, **WRITING[tool])
    assert (answer["isError"], answer["_meta"]["memlines/data"]["code"]) == (True, "access")
    assert {file: file.read_bytes() for file in workspace.rglob("*.md")} == before


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("memory_search", {"query": "billing"}),
        ("memory_get", {"path": "MEMORY.md"}),
        ("memory_recall", {"recent": True}),
        ("memory_status", {}),
    ],
)
def test_a_token_that_may_read_can_read(clients: Clients, tool: str, arguments: dict[str, Any]) -> None:
    assert call(clients.reader, tool, **arguments)["isError"] is False


def test_a_token_that_may_write_can_write(clients: Clients, workspace: Path) -> None:
    assert call(clients.writer, "memory_remember", text=SECRET_WORDS, topic="canteen")["isError"] is False
    assert SECRET_WORDS in (workspace / "memory/canteen.md").read_text(encoding="utf-8")


def test_a_token_that_may_write_can_store_and_forget(clients: Clients, workspace: Path) -> None:
    stored = fact_id(call(clients.writer, "memory_store", text=SECRET_WORDS))
    assert call(clients.writer, "memory_forget", id=stored)["isError"] is False
    assert SECRET_WORDS not in (workspace / "memory/facts.md").read_text(encoding="utf-8")


def test_an_entry_names_the_token_that_marked_it(clients: Clients, workspace: Path) -> None:
    call(clients.writer, "memory_remember", text=SECRET_WORDS, topic="canteen", session=True)
    assert "[session anna-" in (workspace / "memory/canteen.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(("who", "names"), [("reader", ["recall"]), ("writer", ["remember", "recall"])])
def test_a_prompt_that_writes_is_shown_to_those_who_may(clients: Clients, who: str, names: list[str]) -> None:
    listed = getattr(clients, who).ask("prompts/list").json["result"]["prompts"]
    assert [prompt["name"] for prompt in listed] == names


def test_a_prompt_that_writes_is_refused_to_others(clients: Clients) -> None:
    answer = clients.reader.ask("prompts/get", {"name": "remember", "arguments": {"text": "x"}})
    assert answer.json["error"]["data"]["code"] == "access"


def test_notes_can_be_read_as_resources(clients: Clients) -> None:
    answer = clients.reader.ask("resources/read", {"uri": "memory://MEMORY.md"})
    assert answer.json["result"]["contents"][0]["text"] == "We chose Postgres 17 for billing.\n"


@pytest.mark.parametrize(("who", "is_asked_to_write"), [("reader", False), ("writer", True)])
def test_a_model_is_asked_to_write_only_where_it_may(
    clients: Clients, who: str, is_asked_to_write: bool
) -> None:
    client: Http = getattr(clients, who)
    said = [
        client.ask("initialize", {"protocolVersion": "2025-11-25"}).json["result"]["instructions"],
        client.stateless("server/discover").json["result"]["instructions"],
    ]
    assert ["memory_remember" in one for one in said] == [is_asked_to_write] * 2


def test_a_list_that_depends_on_the_token_is_not_kept_for_others(clients: Clients) -> None:
    methods = ("tools/list", "prompts/list", "server/discover")
    assert {clients.reader.stateless(one).json["result"]["cacheScope"] for one in methods} == {"private"}


# The file of tokens while the server runs


def status(client: Http) -> int:
    return client.ask("ping").status


def test_a_token_that_is_removed_is_refused_at_once(clients: Clients, file: Path) -> None:
    assert status(clients.reader) == 200
    text = file.read_text(encoding="utf-8")
    file.write_text(text[: text.index("[ci]")], encoding="utf-8")
    assert (status(clients.reader), status(clients.writer)) == (401, 200)


def test_a_token_that_may_only_read_from_now_on_cannot_write(clients: Clients, file: Path) -> None:
    assert call(clients.writer, "memory_remember", text=SECRET_WORDS)["isError"] is False
    file.write_text(file.read_text(encoding="utf-8").replace("write", "read"), encoding="utf-8")
    assert call(clients.writer, "memory_remember", text="Another.")["isError"] is True


def test_a_file_that_becomes_wrong_lets_no_one_in(clients: Clients, file: Path) -> None:
    file.write_text("[anna", encoding="utf-8")
    answered = clients.writer.ask("ping")
    assert (answered.status, str(file) in answered.body.decode()) == (503, False)


# Scopes


@pytest.mark.parametrize("scopes", [("project",), ("project", "personal")])
def test_the_memory_is_opened_with_the_scopes_of_the_token(
    workspace: Path, file: Path, monkeypatch: pytest.MonkeyPatch, scopes: tuple[Scope, ...]
) -> None:
    monkeypatch.setenv("MEMLINES_SCOPES", "project,personal")
    seen: list[Any] = []

    def look(call: Call) -> Output:
        seen.append(call.memory.settings.scopes)
        return Output("seen")

    add_tool(monkeypatch, "memory_look", look)
    token = tokens.add(file, "anna", "read", scopes)
    with listening(workspace, Team(workspace, file), token) as client:
        call(client, "memory_look")
    assert seen == [scopes]


def test_only_a_token_for_the_personal_memory_sees_it(clients: Clients, file: Path, workspace: Path) -> None:
    personal = tokens.add(file, "me", "write", ("project", "personal"))
    mine = Http(clients.server.port, personal)
    stored = call(mine, "memory_remember", text="I prefer oolong tea", personal=True)
    assert "personal:memory/" in stored["content"][0]["text"]
    assert logged(workspace)[-1]["changed"] == ["personal"]
    assert "oolong" in call(mine, "memory_search", query="which tea?")["content"][0]["text"]
    assert "oolong" not in call(clients.writer, "memory_search", query="which tea?")["content"][0]["text"]
    refused = call(clients.writer, "memory_remember", text="I prefer sencha", personal=True)
    assert (refused["isError"], "switched off by scopes" in refused["content"][0]["text"]) == (True, True)


def test_tokens_with_the_same_scopes_share_a_memory(
    clients: Clients, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[object] = []

    def look(call: Call) -> Output:
        seen.append(call.memory)
        return Output("seen")

    add_tool(monkeypatch, "memory_look", look)
    other = Http(clients.server.port, tokens.add(file, "bob", "write", ["personal"]))
    for client in (clients.writer, clients.reader, other):
        call(client, "memory_look")
    assert [one is seen[0] for one in seen] == [True, True, False]


# The log


def test_a_write_is_logged_by_its_citation(clients: Clients, workspace: Path) -> None:
    call(clients.writer, "memory_remember", text=SECRET_WORDS, topic="canteen")
    (line,) = logged(workspace)
    assert (line["token"], line["tool"], line["ok"], line["changed"]) == (
        "anna",
        "memory_remember",
        True,
        ["memory/canteen.md#L3"],
    )


def test_a_fact_is_logged_by_its_id(clients: Clients, workspace: Path) -> None:
    stored = fact_id(call(clients.writer, "memory_store", text=SECRET_WORDS))
    call(clients.writer, "memory_forget", id=stored)
    assert [line["changed"] for line in logged(workspace)] == [["memory/facts.md#L3", stored], [stored]]


def test_an_entry_that_is_forgotten_is_logged_by_its_citation(clients: Clients, workspace: Path) -> None:
    found = call(clients.writer, "memory_forget", query="billing")["_meta"]["memlines/data"]["candidates"]
    call(clients.writer, "memory_forget", id=found[0]["id"])
    assert [line["changed"] for line in logged(workspace)] == [[], ["MEMORY.md#L1"]]


def test_a_write_that_is_refused_is_logged(clients: Clients, workspace: Path) -> None:
    call(clients.reader, "memory_remember", text=SECRET_WORDS)
    call(clients.writer, "memory_remember", text="")
    assert [(line["token"], line["ok"], line["code"]) for line in logged(workspace)] == [
        ("ci", False, "access"),
        ("anna", False, "usage"),
    ]


def test_reading_is_not_logged(clients: Clients, workspace: Path) -> None:
    call(clients.writer, "memory_search", query="billing")
    assert not (workspace / ".memory" / FILE_NAME).exists()


def test_the_log_has_nothing_of_what_was_said(clients: Clients, workspace: Path) -> None:
    for tool in ("memory_remember", "memory_store"):
        call(clients.writer, tool, text=SECRET_WORDS)
        call(clients.reader, tool, text=SECRET_WORDS)
    call(clients.writer, "memory_forget", query=SECRET_WORDS)
    text = (workspace / ".memory" / FILE_NAME).read_text(encoding="utf-8").lower()
    assert [
        word for word in ("cafeteria", "closes", "noon", clients.writer.token.lower()) if word in text
    ] == []


def test_nothing_is_written_while_the_log_cannot_be(clients: Clients, workspace: Path) -> None:
    (workspace / ".memory" / FILE_NAME).mkdir(parents=True)
    answer = call(clients.writer, "memory_remember", text=SECRET_WORDS, topic="canteen")
    assert (answer["isError"], answer["_meta"]["memlines/data"]["code"]) == (True, "write")
    assert not (workspace / "memory/canteen.md").exists()


def test_a_mistake_of_a_tool_is_logged(
    clients: Clients, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(call: Call) -> Output:
        raise ZeroDivisionError

    add_tool(monkeypatch, "memory_fail", fail, effect="writes")
    clients.writer.ask("tools/call", {"name": "memory_fail"})
    assert [(line["ok"], line["code"]) for line in logged(workspace)] == [(False, "error")]


# Several clients


def test_clients_that_write_at_once_lose_nothing(clients: Clients, file: Path, workspace: Path) -> None:
    other = Http(clients.server.port, tokens.add(file, "bob", "write", ["personal"]))
    begin = threading.Barrier(2, timeout=DEADLINE)

    def remember(client: Http, name: str) -> None:
        begin.wait()
        for number in range(10):
            call(client, "memory_remember", text=f"{name} has the number {number}.", topic="numbers")

    threads = [
        threading.Thread(target=remember, args=one) for one in ((clients.writer, "Anna"), (other, "Bob"))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    text = (workspace / "memory/numbers.md").read_text(encoding="utf-8")
    assert [text.count(f"{name} has the number") for name in ("Anna", "Bob")] == [10, 10]
    assert sorted(line["token"] for line in logged(workspace)) == ["anna"] * 10 + ["bob"] * 10


# Behind a proxy

HOSTS = {
    PUBLIC: 200,
    PUBLIC.upper(): 200,
    "other.example.org:8443": 200,
    "localhost:{port}": 200,
    "127.0.0.1:{port}": 200,
    "other.example.org": 421,
    f"{PUBLIC}:8737": 421,
    f"{PUBLIC}.evil.test": 421,
    f"evil.{PUBLIC}": 421,
    f"{PUBLIC}.": 421,
    f"evil@{PUBLIC}": 421,
    "example.org": 421,
    "evil.test": 421,
    "0.0.0.0:{port}": 421,
    "": 421,
}
ORIGINS = {
    f"https://{PUBLIC}": 200,
    "https://other.example.org:8443": 200,
    "http://127.0.0.1:{port}": 200,
    f"http://{PUBLIC}": 403,
    f"https://{PUBLIC}:444": 403,
    f"https://{PUBLIC}.evil.test": 403,
    "https://other.example.org": 403,
    "https://evil.test": 403,
    "null": 403,
}


def ping(client: Http, **headers: str) -> Answered:
    return client.ask("ping", None, **{name: one.format(port=client.port) for name, one in headers.items()})


def test_only_the_names_of_the_proxy_and_of_this_machine_are_hosts(clients: Clients) -> None:
    assert {host: ping(clients.writer, Host=host).status for host in HOSTS} == HOSTS


def test_only_pages_of_the_proxy_and_of_this_machine_may_ask(clients: Clients) -> None:
    answered = {one: ping(clients.writer, Host=PUBLIC, Origin=one).status for one in ORIGINS}
    assert answered == ORIGINS


def test_a_proxy_does_not_replace_the_token(clients: Clients) -> None:
    assert ping(clients.writer, Host=PUBLIC, Authorization="Bearer x").status == 401


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "127.0.0.1"])
def test_behind_a_proxy_it_may_listen_anywhere(host: str) -> None:
    assert check_address(host, is_behind=True) == host


@pytest.mark.parametrize("host", ["", "*", "example.org", "fe80::1%eth0"])
def test_what_is_no_address_is_refused_even_behind_a_proxy(host: str) -> None:
    with pytest.raises(UsageError, match="is not an address"):
        check_address(host, is_behind=True)


@pytest.mark.parametrize(
    "name", ["", "*", "*.example.org", "https://example.org", "example.org/", "a b", ".x"]
)
def test_what_is_no_name_of_a_host_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="is not the name of a host"):
        check_public_name(name)
