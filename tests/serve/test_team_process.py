"""`memlines serve --http` as a program: its tokens, where it listens, and the official SDK as its client."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import anyio
import pytest

from memlines.serve.mcp import tokens
from tests.programs import Cli, program
from tests.serve.mcp import Http, team_process, write_notes
from tests.serve.test_audit import logged

posix_only = pytest.mark.skipif(os.name == "nt", reason="needs a POSIX system")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Where the tokens are."""
    return tmp_path / "tokens.toml"


# Tokens from the command line


def test_a_token_is_printed_once_and_lets_in(cli: Cli, file: Path) -> None:
    made = cli("serve", "--http", "--token-file", file, "--new-token", "anna")
    (token,) = made.out.split()
    found = tokens.TokenFile(file).find(token.encode())
    assert found is not None
    assert (found.name, found.access, found.scopes) == ("anna", "write", ("project",))
    assert "not shown again" in made.err
    assert token not in made.err + file.read_text(encoding="utf-8")


def test_a_token_can_be_limited(cli: Cli, file: Path) -> None:
    cli("serve", "--http", "--token-file", file, "--new-token", "ci", "--read-only", "--scope", "personal")
    (token,) = tokens.load(file)
    assert (token.access, token.scopes) == ("read", ("project", "personal"))


def test_the_tokens_are_kept_with_the_state_of_the_user(cli: Cli) -> None:
    cli("serve", "--http", "--new-token", "anna")
    (file,) = Path(os.environ["MEMLINES_HOME"]).rglob("server-tokens.toml")
    assert len(tokens.load(file)) == 1


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        ([], "--stdio or --http"),
        (["--stdio", "--http"], "--stdio or --http"),
        (["--stdio", "--port", "1"], "--port can only be used with --http"),
        (["--stdio", "--new-token", "x"], "--new-token can only be used with --http"),
        (["--http", "--read-only"], "--read-only can only be used with --new-token"),
        (["--http", "--new-token", "x", "--port", "0"], "--port cannot be used with --new-token"),
        (["--http", "--new-token", "a b"], "not a name for a token"),
    ],
)
def test_arguments_that_make_no_sense_are_refused(cli: Cli, arguments: list[str], what: str) -> None:
    done = cli("serve", *arguments)
    assert (done.code, what in done.err) == (2, True)


# Where it listens, and with which file


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_an_address_that_others_can_reach_needs_a_proxy(workspace: Path, file: Path, host: str) -> None:
    tokens.add(file, "anna", "write", ())
    done = program("serve", "--http", "--host", host, "--token-file", file, "-w", workspace)
    assert (done.returncode, b"--behind-proxy" in done.stderr) == (2, True)


def test_behind_a_proxy_it_listens_on_every_address(workspace: Path, file: Path) -> None:
    token = tokens.add(file, "anna", "write", ())
    behind = ("--host", "0.0.0.0", "--behind-proxy", "memory.example.org")
    with team_process("-w", workspace, *behind, token_file=file, token=token) as server:
        asked = [server.http.ask("ping", Host=host).status for host in ("memory.example.org", "evil.test")]
        assert asked == [200, 421]


@posix_only
@pytest.mark.parametrize(("content", "mode"), [("", 0o600), ("[anna", 0o600), (None, 0o644), (None, 0o600)])
def test_a_wrong_token_file_is_refused(workspace: Path, file: Path, content: str | None, mode: int) -> None:
    tokens.add(file, "anna", "write", ())
    if content is not None:
        file.write_text(content, encoding="utf-8")
    file.chmod(mode)
    if (content, mode) == (None, 0o600):
        file.unlink()
    done = program("serve", "--http", "--port", "0", "--token-file", file, "-w", workspace)
    assert (done.returncode, str(file).encode() in done.stderr) == (3, True)


def test_it_says_where_it_listens_where_tokens_are_and_what_it_logs(workspace: Path, file: Path) -> None:
    token = tokens.add(file, "anna", "write", ())
    with team_process("-w", workspace, token_file=file, token=token) as server:
        printed = b"".join(server.printed).decode()
        named = (server.http.url, str(file), str(workspace / ".memory/audit.jsonl"))
        assert [name for name in named if name not in printed] == []
        assert token not in printed


@posix_only
def test_a_signal_ends_it(workspace: Path, file: Path) -> None:
    token = tokens.add(file, "anna", "write", ())
    with team_process("-w", workspace, token_file=file, token=token) as server:
        arguments = {"name": "memory_search", "arguments": {"query": "x"}}
        assert server.http.ask("tools/call", arguments).status == 200
        server.process.send_signal(signal.SIGTERM)
        assert (server.wait(), server.errors) == (143, "")


# The official SDK


def test_two_clients_of_the_sdk_work_at_once(workspace: Path, file: Path) -> None:
    """One writes and one reads what was written; the reader can do no more."""
    pytest.importorskip("mcp", reason="the SDK is not installed")
    from tests.serve.test_mcp_sdk import over_http

    write_notes(workspace, {"MEMORY.md": "We chose Postgres 17 for billing.\n"})
    writing, reading = tokens.add(file, "anna", "write", ()), tokens.add(file, "ci", "read", ())

    async def work(url: str) -> tuple[list[str], Any, Any]:
        async with over_http(url, writing, "auto") as writer, over_http(url, reading, "legacy") as reader:
            listed = [tool.name for tool in (await reader.list_tools()).tools]
            await writer.call_tool("memory_remember", {"text": "The okapi lives in the Congo."})
            refused = await reader.call_tool("memory_remember", {"text": "No."})
            return listed, refused, await reader.call_tool("memory_search", {"query": "okapi"})

    with team_process("-w", workspace, token_file=file, token=writing) as server:
        listed, refused, found = anyio.run(work, server.http.url)
    assert listed == ["memory_search", "memory_get", "memory_recall"]
    assert (refused.is_error, "may only read" in refused.content[0].text) == (True, True)
    assert "The okapi lives in the Congo." in found.content[0].text
    assert [(line["token"], line["ok"]) for line in logged(workspace)] == [("anna", True), ("ci", False)]


def test_a_token_that_is_removed_is_refused_while_the_server_runs(workspace: Path, file: Path) -> None:
    token = tokens.add(file, "anna", "write", ())
    other = tokens.add(file, "ci", "read", ())
    with team_process("-w", workspace, token_file=file, token=token) as server:
        text = file.read_text(encoding="utf-8")
        file.write_text(text[text.index("[ci]") :], encoding="utf-8")
        removed, kept = server.http, Http(server.http.port, other)
        assert [removed.ask("ping").status, kept.ask("ping").status] == [401, 200]
