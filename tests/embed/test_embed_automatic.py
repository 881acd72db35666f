"""What `embeddings.provider: auto` makes of an address, a model and a key; never does text go elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memlines.admin.doctor.examine import examine
from memlines.embed.local.provider import model_file
from memlines.embed.select import Choice, choose, former_provider
from memlines.errors import ProviderUnusable
from memlines.memory.memory import Memory
from memlines.settings import Settings
from memlines.settings.tree import Embeddings, Local
from memlines.types import Space
from tests.embed.fake_service import ProviderServer, impatient, provider_server
from tests.memories import write
from tests.programs import Cli

KEYS = {
    "OPENAI_API_KEY": "sk-test",
    "GEMINI_API_KEY": "k",
    "VOYAGE_API_KEY": "k",
    "MISTRAL_API_KEY": "k",
}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ProviderServer]:
    impatient(monkeypatch)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    with provider_server("openai-compatible") as running:
        yield running


def chosen(environ: dict[str, str] | None = None, **embeddings: Any) -> Choice:
    return choose(Settings(embeddings=Embeddings(**embeddings)), KEYS if environ is None else environ)


def refused(**embeddings: Any) -> str:
    """Return the reason for which what is written down is not used: nothing is sent anywhere then."""
    choice = chosen(**embeddings)
    assert choice.provider is not None
    assert (choice.provider.id, choice.provider.sends_to) == ("builtin", "")
    return choice.reason


@pytest.mark.parametrize("remote_ok", [True, False])
def test_text_goes_to_the_address_that_is_set(
    workspace: Path, server: ProviderServer, remote_ok: bool
) -> None:
    write(workspace, {"memory/a.md": "The okapi sleeps."})
    settings = {
        "embeddings.base_url": server.url,
        "embeddings.api_key": server.key,
        "embeddings.model": "some-model",
        "embeddings.remote_ok": remote_ok,
        "spend.max_tokens_per_run": 1000,
    }
    with Memory(workspace, settings) as memory:
        status = memory.status(deep=True)
        assert (status.provider, status.model, status.probe["ok"] if status.probe else None) == (
            "openai-compatible",
            "some-model",
            True,
        )
        assert status.sends_text_to == f"{server.url.split('/')[2]}, on this machine"
        memory.sync()
        assert memory.search("okapi").provider == "openai-compatible"
        assert memory.status().spending["today"]["requests"] > 0
    assert "The okapi sleeps." in server.texts()
    found = [item.message for item in examine(workspace, settings).findings if item.check == "provider"]
    assert any("openai-compatible (some-model)" in message for message in found)


def test_commands_speak_of_the_address_that_is_set(
    workspace: Path,
    server: ProviderServer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    run = Cli(capsys)
    write(workspace, {"memory/a.md": "The okapi sleeps."})
    monkeypatch.setenv("MEMLINES_EMBEDDINGS__BASE_URL", server.url)
    monkeypatch.setenv("MEMLINES_EMBEDDINGS__MODEL", "some-model")
    monkeypatch.setenv("MEMLINES_EMBEDDINGS__API_KEY", server.key or "")
    monkeypatch.setenv("MEMLINES_EMBEDDINGS__REMOTE_OK", "true")
    shown = run("status", "-w", str(workspace)).out
    assert f"{server.url.split('/')[2]}, on this machine" in shown
    assert "api.openai.com" not in shown
    assert server.url in run("config", "show", "-w", str(workspace)).out
    assert run("status", "--deep", "-w", str(workspace)).code == 0
    assert server.texts() == ["memory"]


@pytest.mark.parametrize("url", ["http://10.0.0.7:1234/v1", "https://api.example.org/v1"])
def test_an_address_elsewhere_needs_leave(url: str) -> None:
    reason = refused(base_url=url, model="some-model")
    assert "remote_ok" in reason
    assert "openai-compatible" in reason
    choice = chosen(base_url=url, model="some-model", remote_ok=True)
    assert choice.provider is not None
    assert (choice.provider.id, choice.reason) == ("openai-compatible", "")
    assert choice.provider.sends_to in url


def test_the_address_of_a_known_service_means_that_service() -> None:
    choice = chosen(base_url="https://api.voyageai.com/v1", api_key="k", remote_ok=True)
    assert choice.provider is not None
    assert (choice.provider.id, choice.provider.model) == ("voyage", "voyage-4-large")


def test_an_address_without_a_model_says_what_is_missing() -> None:
    assert "embeddings.model" in refused(base_url="http://127.0.0.1:9/v1", remote_ok=True)


def test_what_is_no_address_is_refused() -> None:
    assert "embeddings.base_url" in refused(base_url="not an address", remote_ok=True)


@pytest.mark.parametrize(
    ("model", "service"),
    [
        ("text-embedding-3-large", "openai"),
        ("openai/text-embedding-3-small", "openai"),
        ("gemini-embedding-001", "gemini"),
        ("voyage-4", "voyage"),
        ("mistral-embed", "mistral"),
    ],
)
def test_a_model_means_the_service_that_has_it(model: str, service: str) -> None:
    choice = chosen(model=model, remote_ok=True)
    assert choice.provider is not None
    assert (choice.provider.id, choice.provider.model) == (service, model.rpartition("/")[2])
    assert service in refused(model=model)


def test_the_key_of_the_settings_goes_with_the_model() -> None:
    choice = chosen({}, model="voyage-4", api_key="k", remote_ok=True)
    assert choice.provider is not None
    assert choice.provider.id == "voyage"


@pytest.mark.parametrize(
    "embeddings",
    [
        {"model": "nomic-embed-text"},
        {"api_key": "sk-something"},
        {"headers": (("authorization", "Bearer k"),)},
        {"model": "own.gguf", "api_key": "k"},
        {"model": "other.gguf", "local": Local(model_path="own.gguf")},
    ],
)
def test_what_may_be_meant_for_several_is_refused_and_not_passed_over(embeddings: dict[str, Any]) -> None:
    reason = refused(remote_ok=True, **embeddings)
    assert "Set embeddings.provider to one of" in reason
    assert "sk-something" not in reason


def test_a_model_file_and_an_address_are_two_providers(tmp_path: Path) -> None:
    (tmp_path / "own.gguf").write_bytes(b"GGUF")
    local = Local(model_path=str(tmp_path / "own.gguf"))
    assert "two providers" in refused(base_url="http://127.0.0.1:9/v1", model="m", local=local)


def test_a_length_is_asked_of_the_service_that_auto_takes() -> None:
    choice = chosen(remote_ok=True, dimensions=256)
    assert choice.provider is not None
    assert (choice.provider.id, choice.provider.dims) == ("openai", 256)


def test_a_model_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    assert "gone.gguf' does not exist" in refused(local=Local(model_path=str(tmp_path / "gone.gguf")))


def test_a_sync_says_why_a_key_is_not_used(workspace: Path) -> None:
    write(workspace, {"memory/a.md": "The okapi sleeps."})
    with Memory(workspace, {"embeddings.api_key": "sk-something", "embeddings.remote_ok": True}) as memory:
        assert any("embeddings.api_key is set" in warning for warning in memory.sync().warnings)
        assert memory.status().provider == "builtin"


def test_no_question_goes_to_a_service_that_answered_before_an_address_was_set() -> None:
    embeddings = Embeddings(remote_ok=True, base_url="http://127.0.0.1:9/v1", model="some-model")
    space = Space("openai", "text-embedding-3-small", "")
    assert former_provider(space, Settings(embeddings=embeddings), KEYS) is None
    unset = Settings(embeddings=Embeddings(remote_ok=True))
    assert former_provider(space, unset, KEYS) is not None


@pytest.mark.parametrize(
    ("name", "which", "file"),
    [
        (
            "hf:ggml-org/embeddinggemma-300m-qat-q8_0-GGUF/embeddinggemma-300m-qat-Q8_0.gguf",
            "https://huggingface.co/ggml-org/embeddinggemma-300m-qat-q8_0-GGUF/resolve/main"
            "/embeddinggemma-300m-qat-Q8_0.gguf",
            "embeddinggemma-300m-qat-Q8_0.gguf",
        ),
        ("https://example.org/own.gguf?x=1", "https://example.org/own.gguf?x=1", "own.gguf"),
        ("hf:ggml-org/embeddinggemma-300m-qat-q8_0-GGUF", "one of its GGUF files", "MODEL.gguf"),
    ],
)
def test_a_model_to_download_is_refused_with_what_to_do(
    tmp_path: Path, name: str, which: str, file: str
) -> None:
    local = Local(model_path=name, model_cache_dir=str(tmp_path))
    with pytest.raises(ProviderUnusable, match="never downloaded for you") as caught:
        model_file(Embeddings(provider="local", local=local))
    assert f"Download {which} to {str(tmp_path / file)!r}" in caught.value.todo
    assert "embeddings.local.model_path" in caught.value.todo
    assert "never downloaded" in refused(local=local)
    assert "never downloaded" in chosen(provider="local", local=local).reason
