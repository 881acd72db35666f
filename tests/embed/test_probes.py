"""Whether what the settings ask for is what serves: probes, and what status says of it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Any

import pytest

from memlines import AsyncMemory, Memory
from memlines.serve.tools import call_tool
from tests.admin.doctor import execute
from tests.embed.fake_batches import KEY, BatchServer, serving
from tests.embed.fake_service import ProviderServer, Status, impatient, provider_server
from tests.memories import write
from tests.programs import Cli

NOTES = {"memory/a.md": "Tea is in the blue tin.\n", "memory/b.md": "The boiler was serviced in May.\n"}
OPENAI = {"embeddings.provider": "openai"}


@pytest.fixture
def workspace(workspace: Path) -> Path:
    write(workspace, NOTES)
    return workspace


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ProviderServer]:
    impatient(monkeypatch)
    with provider_server("openai-compatible") as running:
        yield running


def at(server: ProviderServer, **more: Any) -> dict[str, Any]:
    return {
        "embeddings.provider": "openai-compatible",
        "embeddings.base_url": server.url,
        "embeddings.api_key": server.key,
        "embeddings.model": "some-model",
        **more,
    }


def test_what_works_as_asked_is_ok(workspace: Path, server: ProviderServer) -> None:
    with Memory(workspace, at(server)) as memory:
        probe = memory.probe_embedding()
        assert (probe.ok, probe.requested, probe.serving, probe.todo) == (
            True,
            "openai-compatible",
            "openai-compatible",
            "",
        )
        assert "8 numbers" in probe.reason
        with pytest.raises(FrozenInstanceError):
            probe.ok = False  # type: ignore[misc]


@pytest.mark.parametrize(("asked", "served"), [("auto", "builtin"), ("builtin", "builtin"), ("none", "none")])
def test_without_a_service_all_is_as_asked(workspace: Path, asked: str, served: str) -> None:
    with Memory(workspace, {"embeddings.provider": asked}) as memory:
        probe = memory.probe_embedding()
    assert (probe.ok, probe.requested, probe.serving) == (True, asked, served)


@pytest.mark.parametrize(("fallback", "served"), [("none", "none"), ("builtin", "builtin")])
@pytest.mark.parametrize(
    ("settings", "code", "words"),
    [
        (OPENAI, "provider-unusable", "OPENAI_API_KEY"),
        (
            {"embeddings.provider": "local", "embeddings.local.model_path": "gone.gguf"},
            "model-files",
            "embeddings.local.model_path",
        ),
    ],
)
def test_a_provider_that_cannot_be_made_is_not_ok(
    workspace: Path, settings: dict[str, Any], code: str, words: str, fallback: str, served: str
) -> None:
    with Memory(workspace, {**settings, "embeddings.fallback": fallback}) as memory:
        probe = memory.probe_embedding()
        status = memory.status(deep=True)
    assert (probe.ok, probe.requested, probe.serving, probe.code) == (
        False,
        settings["embeddings.provider"],
        served,
        code,
    )
    assert words in probe.todo
    assert status.probe is not None
    assert (status.probe["ok"], status.probe["serving"]) == (False, served)
    assert (status.provider, status.requested_provider) == (served, settings["embeddings.provider"])
    assert status.fallback is not None
    assert (status.fallback["from"], status.fallback["to"]) == (settings["embeddings.provider"], served)
    assert words in status.fallback["reason"]


def test_a_wrong_key_is_not_ok_and_words_serve(workspace: Path, server: ProviderServer) -> None:
    server.always = Status(401, "Incorrect API key")
    with Memory(workspace, at(server)) as memory:
        probe = memory.probe_embedding()
    assert (probe.ok, probe.serving, probe.code) == (False, "none", "provider-unusable")
    assert "key" in probe.reason
    assert str(server.key) not in f"{probe}"


def test_status_and_probe_name_the_fallback_that_took_over(workspace: Path, server: ProviderServer) -> None:
    settings = at(server, **{"embeddings.fallback": "builtin"})
    server.always = Status(401, "Incorrect API key")
    with Memory(workspace, settings) as memory:
        memory.sync()
    with Memory(workspace, settings) as memory:  # another program learns it from the index
        status = memory.status()
        assert (status.provider, status.requested_provider) == ("builtin", "openai-compatible")
        assert (status.pending, status.vector["dimensions"]) == (0, 512)
        assert status.fallback is not None
        assert (status.fallback["from"], status.fallback["to"]) == ("openai-compatible", "builtin")
        assert "key" in status.fallback["reason"]
        assert status.sends_text_to == f"{server.url.split('/')[2]}, on this machine"
        assert memory.probe_embedding().serving == "builtin"
        server.always = None
        probe = memory.probe_embedding()
        assert (probe.ok, probe.serving, probe.todo) == (False, "builtin", "Run 'memlines sync'")
        memory.sync()
        probe = memory.probe_embedding()
        assert (probe.ok, probe.serving) == (True, "openai-compatible")
        assert memory.status().fallback is None


def test_status_deep_ends_with_an_error_where_another_provider_serves(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MEMLINES_EMBEDDINGS__PROVIDER", "openai")
    monkeypatch.setenv("MEMLINES_EMBEDDINGS__FALLBACK", "builtin")
    cli = Cli(capsys)
    told = cli("status", "--deep", "-w", workspace)
    assert told.code == 6
    assert "fallback   builtin instead of openai: openai has no key" in told.out
    assert "provider   openai has no key" in told.out
    probe = cli("status", "--deep", "--json", "-w", workspace).json["probe"]
    assert (probe["ok"], probe["requested"], probe["serving"]) == (False, "openai", "builtin")
    monkeypatch.delenv("MEMLINES_EMBEDDINGS__FALLBACK")
    told = cli("status", "-w", workspace)
    assert (told.code, "fallback   words instead of openai" in told.out) == (0, True)


# Vectors


def test_vectors_can_be_searched(workspace: Path) -> None:
    with Memory(workspace) as memory:
        memory.sync()
        probe = memory.probe_vectors()
    assert (probe.ok, probe.requested, probe.serving) == (True, "auto", "matrix")
    assert "2 vectors" in probe.reason


def test_vectors_that_are_off_are_as_asked(workspace: Path) -> None:
    with Memory(workspace, {"store.vector.enabled": False}) as memory:
        probe = memory.probe_vectors()
    assert (probe.ok, probe.requested, probe.serving) == (True, "none", "none")


def test_vectors_without_a_provider_are_not_ok(workspace: Path) -> None:
    with Memory(workspace, OPENAI) as memory:
        probe = memory.probe_vectors()
    assert (probe.ok, probe.serving, "OPENAI_API_KEY" in probe.todo) == (False, "none", True)


def test_an_engine_that_cannot_be_loaded_is_not_ok(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sqlite_vec", None)
    with Memory(workspace, {"store.vector.engine": "sqlite-vec"}) as memory:
        memory.sync()
        probe, vector = memory.probe_vectors(), memory.status().vector
    assert (probe.ok, probe.requested, probe.serving) == (False, "sqlite-vec", "matrix")
    assert "not installed" in probe.reason
    assert (vector["engine"], vector["extension_path"]) == ("matrix", None)
    assert "not installed" in vector["load_error"]


def test_status_names_the_file_of_the_extension(workspace: Path) -> None:
    path = pytest.importorskip("sqlite_vec").loadable_path()
    with Memory(workspace, {"store.vector.engine": "sqlite-vec"}) as memory:
        memory.sync()
        vector = memory.status().vector
        assert memory.probe_vectors().ok
    assert (vector["engine"], vector["extension_path"], vector["load_error"]) == ("sqlite-vec", path, None)


def test_a_damaged_index_is_said_of_words_and_vectors(workspace: Path) -> None:
    with Memory(workspace) as memory:
        memory.sync()
        assert memory.status().fts == {"enabled": True, "available": True, "error": None}
    execute(workspace, "DELETE FROM chunks_fts_data")
    with Memory(workspace) as memory:
        fts, probe = memory.status().fts, memory.probe_vectors()
    assert (fts["available"], "damaged" in fts["error"]) == (False, True)
    assert (probe.ok, probe.serving) == (False, "none")


def test_probes_can_be_awaited(workspace: Path) -> None:
    async def both() -> tuple[bool, bool]:
        async with AsyncMemory(workspace) as memory:
            return (await memory.probe_embedding()).ok, (await memory.probe_vectors()).ok

    assert asyncio.run(both()) == (True, True)


def test_the_tool_tells_of_vectors(workspace: Path) -> None:
    with Memory(workspace) as memory:
        memory.sync()
        told = call_tool(memory, "memory_status", {}).text
    assert "Vectors: 2 of 2 chunks; cache: 0 vectors; 512 numbers each, searched by matrix" in told


# Batches


def batches(server: BatchServer, **more: Any) -> dict[str, Any]:
    return {
        **OPENAI,
        "embeddings.base_url": server.url + "/v1",
        "embeddings.api_key": KEY,
        "embeddings.dimensions": 4,
        "embeddings.batch.enabled": True,
        "embeddings.batch.min_texts": 2,
        "embeddings.batch.poll_seconds": 0.01,
        **more,
    }


def test_status_tells_of_texts_that_wait_for_a_batch(workspace: Path) -> None:
    later = {"embeddings.batch.wait": False}
    with (
        serving(BatchServer("openai", polls=9)) as server,
        Memory(workspace, batches(server, **later)) as memory,
    ):
        memory.sync()
        batch = memory.status().batch
    assert (batch["enabled"], batch["wait"], batch["waiting"], batch["failures"]) == (True, False, 2, 0)
    assert (batch["limit"], batch["concurrency"], batch["poll_seconds"]) == (2, 2, 0.01)
    assert (batch["timeout_minutes"], batch["last_error"], batch["paused_until"]) == (60.0, None, None)


def test_status_tells_of_batches_that_failed_and_until_when_they_rest(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(BatchServer("openai", ends="failed")) as server:
        with Memory(workspace, batches(server)) as memory:
            memory.sync()
            first = memory.status().batch
            write(workspace, {"memory/c.md": "Okapi.\n", "memory/d.md": "Tapir.\n"})
            memory.sync()
            batch = memory.status().batch
        for key, value in batches(server).items():
            monkeypatch.setenv("MEMLINES_" + key.upper().replace(".", "__"), str(value))
        shown = Cli(capsys)("status", "-w", workspace).out
    assert (first["failures"], first["paused_until"]) == (1, None)
    assert (batch["failures"], batch["waiting"]) == (2, 0)
    assert "the file is no good" in batch["last_error"]
    assert batch["last_provider"] == "openai"
    assert batch["paused_until"] is not None
    assert "failed 2 times in a row" in shown
    assert "none is handed in until" in shown
