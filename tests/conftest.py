"""What every test may rely on: a home of its own and no settings from outside."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("untimed", deadline=None)  # machines are noisy, and speed is a benchmark
settings.load_profile("untimed")


@pytest.fixture(autouse=True)
def _own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith(("MEMLINES_", "RECOLLECT_")) or name.endswith("_API_KEY") or name == "OLLAMA_HOST":
            monkeypatch.delenv(name)
    monkeypatch.setenv("MEMLINES_HOME", str(tmp_path_factory.mktemp("home")))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """An empty workspace folder."""
    folder = tmp_path / "workspace"
    (folder / "memory").mkdir(parents=True)
    return folder
