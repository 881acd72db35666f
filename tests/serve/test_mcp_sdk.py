"""The official Python SDK as a client, over lines and HTTP, with a handshake and without."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest

from memlines.serve.mcp.server import HANDSHAKE, STATELESS
from memlines.serve.tools import shown_tools
from tests.programs import MAIN
from tests.serve.mcp import WORDS_ONLY, listening, write_notes

mcp = pytest.importorskip("mcp", reason="the SDK is not installed")

from mcp import MCPError, StdioServerParameters  # noqa: E402
from mcp.client import Client  # noqa: E402
from mcp.client.stdio import stdio_client  # noqa: E402
from mcp.client.streamable_http import streamable_http_client  # noqa: E402

MODES = {"legacy": HANDSHAKE[0], "auto": STATELESS[0], STATELESS[0]: STATELESS[0]}
"""How the SDK begins, and the version that this leads to."""

Work = Callable[[Client], Awaitable[Any]]
Run = Callable[[Work], Any]


@pytest.fixture
def notes(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace with two notes."""
    monkeypatch.setenv("MEMLINES_EMBEDDINGS__PROVIDER", "none")
    write_notes(workspace, {"MEMORY.md": "We chose Postgres 17 for billing.\n", "memory/ü b.md": "Here.\n"})
    return workspace


@asynccontextmanager
async def over_lines(folder: Path, mode: str) -> AsyncIterator[Client]:
    arguments = ["-c", MAIN, "mcp", "-w", str(folder)]
    started = StdioServerParameters(
        command=sys.executable, args=arguments, env={**os.environ, **WORDS_ONLY}, cwd=folder
    )
    async with Client(stdio_client(started), mode=mode) as client:
        yield client


@asynccontextmanager
async def over_http(url: str, token: str, mode: str) -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers) as sender,
        Client(streamable_http_client(url, http_client=sender), mode=mode) as client,
    ):
        yield client


@pytest.fixture(params=["lines", "http"])
def transport(request: pytest.FixtureRequest) -> str:
    """How the SDK talks."""
    kind: str = request.param
    return kind


@pytest.fixture(params=MODES)
def mode(request: pytest.FixtureRequest) -> str:
    """How the SDK begins."""
    name: str = request.param
    return name


@pytest.fixture
def run(notes: Path, transport: str, mode: str) -> Run:
    """Run something with a client that is connected."""

    async def with_client(connected: Any, work: Work) -> Any:
        async with connected as client:
            return await work(client)

    def run(work: Work) -> Any:
        if transport == "lines":
            return anyio.run(with_client, over_lines(notes, mode), work)
        with listening(notes) as server:
            return anyio.run(with_client, over_http(server.url, server.token, mode), work)

    return run


def test_the_version_is_agreed_on(run: Run, mode: str) -> None:
    async def work(client: Client) -> Any:
        return client.protocol_version

    assert run(work) == MODES[mode]


def test_the_tools_are_listed(run: Run) -> None:
    async def work(client: Client) -> Any:
        return [tool.name for tool in (await client.list_tools()).tools]

    assert run(work) == [tool.name for tool in shown_tools()]


def test_a_tool_answers(run: Run) -> None:
    async def work(client: Client) -> Any:
        return await client.call_tool("memory_search", {"query": "billing"})

    result = run(work)
    assert result.is_error is False
    assert "> We chose Postgres 17 for billing." in result.content[0].text


def test_a_tool_that_fails_is_a_result(run: Run) -> None:
    async def work(client: Client) -> Any:
        return await client.call_tool("memory_get", {"path": "../x.md"})

    assert run(work).is_error is True


def test_an_unknown_tool_is_an_error(run: Run) -> None:
    async def work(client: Client) -> Any:
        with pytest.raises(MCPError, match="there is no tool"):
            await client.call_tool("memory_destroy", {})

    run(work)


def test_every_listed_resource_can_be_read(run: Run) -> None:
    async def work(client: Client) -> Any:
        listed = (await client.list_resources()).resources
        read = [await client.read_resource(str(one.uri)) for one in listed]
        return [one.contents[0].model_dump()["text"] for one in read]

    assert run(work) == ["We chose Postgres 17 for billing.\n", "Here.\n"]


def test_an_unknown_resource_is_an_error(run: Run) -> None:
    async def work(client: Client) -> Any:
        with pytest.raises(MCPError, match="there is no note"):
            await client.read_resource("memory://memory/none.md")

    run(work)


def test_the_template_and_the_prompts_are_listed(run: Run) -> None:
    async def work(client: Client) -> Any:
        templates = (await client.list_resource_templates()).resource_templates
        prompts = (await client.list_prompts()).prompts
        return [one.uri_template for one in templates], [one.name for one in prompts]

    assert run(work) == (["memory://{+path}"], ["remember", "recall"])


def test_a_prompt_is_filled_in(run: Run) -> None:
    async def work(client: Client) -> Any:
        return await client.get_prompt("remember", {"text": "We deploy on Tuesdays.", "topic": "decisions"})

    assert run(work).messages[0].content.text.endswith("We deploy on Tuesdays.")
