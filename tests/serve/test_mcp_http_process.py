"""`memlines mcp --http` as a program: its token, its port, its end."""

from __future__ import annotations

import os
import signal
import stat
from pathlib import Path

import pytest

from memlines.errors import PathError, SettingsError
from memlines.serve.mcp.endpoint import token_file, token_in
from tests.programs import program
from tests.serve.mcp import http_process, write_notes

posix_only = pytest.mark.skipif(os.name == "nt", reason="needs a POSIX system")

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


# The program


def test_it_says_where_it_listens_and_where_the_token_is(workspace: Path, tmp_path: Path) -> None:
    with http_process("-w", workspace, token_file=tmp_path / "token") as client:
        printed = b"".join(client.printed).decode()
        assert client.http.url in printed
        assert str(tmp_path / "token") in printed
        assert client.http.token not in printed


def test_it_answers_tools(workspace: Path, tmp_path: Path) -> None:
    write_notes(workspace, {"MEMORY.md": "We chose Postgres 17 for billing.\n"})
    with http_process("-w", workspace, token_file=tmp_path / "token") as client:
        called = {"name": "memory_search", "arguments": {"query": "billing"}}
        (content,) = client.http.ask("tools/call", called).json["result"]["content"]
        assert "> We chose Postgres 17 for billing." in content["text"]


@posix_only
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_ends_it(workspace: Path, tmp_path: Path, number: signal.Signals, code: int) -> None:
    with http_process("-w", workspace, token_file=tmp_path / "token") as client:
        assert client.http.post(PING).status == 200
        with client.http.connect():  # a client that is connected and silent does not hold it up
            client.process.send_signal(number)
            assert client.wait() == code
        assert client.errors == ""


def test_the_same_token_is_used_again(workspace: Path, tmp_path: Path) -> None:
    tokens = []
    for _ in range(2):
        with http_process("-w", workspace, token_file=tmp_path / "token") as client:
            tokens.append(client.http.token)
    assert tokens[0] == tokens[1]


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5"])
@pytest.mark.promise("P10")
def test_an_address_that_others_can_reach_is_refused(workspace: Path, host: str) -> None:
    done = program("mcp", "--http", "--host", host, "-w", workspace)
    assert (done.returncode, b"loopback" in done.stderr) == (2, True)


# The token


def test_a_token_is_made_and_kept(tmp_path: Path) -> None:
    file = tmp_path / "deep/token"
    token = token_in(file)
    assert len(token) >= 43
    assert token_in(file) == token


@pytest.mark.promise("P10")
def test_no_two_tokens_are_the_same(tmp_path: Path) -> None:
    assert len({token_in(tmp_path / str(number)) for number in range(20)}) == 20


def test_the_token_is_kept_with_the_state_of_the_user() -> None:
    assert token_file().is_relative_to(os.environ["MEMLINES_HOME"])


@posix_only
@pytest.mark.promise("P13")
def test_only_its_owner_can_read_the_token(tmp_path: Path) -> None:
    token_in(tmp_path / "token")
    assert stat.S_IMODE((tmp_path / "token").stat().st_mode) == 0o600


@posix_only
@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o660])
@pytest.mark.promise("P13")
def test_a_token_that_others_can_read_is_refused(tmp_path: Path, mode: int) -> None:
    token_in(tmp_path / "token")
    (tmp_path / "token").chmod(mode)
    with pytest.raises(SettingsError, match="others can read the token"):
        token_in(tmp_path / "token")


@pytest.mark.parametrize("content", [b"", b"\n", b"short\n", b"x" * 5000, b"x" * 40 + b"\nx", b"\xff" * 40])
def test_a_file_without_a_token_is_refused(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "token"
    file.touch(mode=0o600)
    file.write_bytes(content)
    with pytest.raises(SettingsError, match="holds no token"):
        token_in(file)


def test_an_own_token_is_taken(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.touch(mode=0o600)
    file.write_bytes(b"0123456789-0123456789-0123456789\n")
    assert token_in(file) == "0123456789-0123456789-0123456789"


def test_a_folder_is_no_token(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="token"):
        token_in(tmp_path)


@posix_only
def test_a_link_is_not_followed(tmp_path: Path) -> None:
    token_in(tmp_path / "token")
    (tmp_path / "link").symlink_to(tmp_path / "token")
    with pytest.raises(PathError, match="symbolic link"):
        token_in(tmp_path / "link")
