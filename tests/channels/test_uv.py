"""What the plugins and the bundle start, fetched and run by the real uv from the wheel of this checkout."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from release.bundle import build_bundle

from memlines import __version__
from tests.channels.programs import ROOT, SHELL, load, needs_shell, server

pytestmark = [
    pytest.mark.slow,  # uv fetches all dependencies, 120 MB, from the package index
    pytest.mark.timeout(1200),
    needs_shell,
]
NOTE = "- We chose Postgres 17 for billing.\n"


@pytest.fixture(scope="module")
def variables(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """What uv needs to find the wheel of this checkout, with a cache of its own."""
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("uv")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder / "wheel")]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    python = str(Path(sys.base_prefix) / "bin/python3")
    return {
        "UV_FIND_LINKS": str(folder / "wheel"),
        "UV_CACHE_DIR": str(folder / "cache"),
        "UV_PYTHON": python,
        "UV_PYTHON_DOWNLOADS": "never",
    }


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A path with uv and the system's programs, without Memlines; skip the tests if there is no such."""
    folder = tmp_path_factory.mktemp("bin")
    for name in ("uv", "uvx"):
        found = shutil.which(name, path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
        if found is None:
            pytest.skip(f"{name} is not there")
        (folder / name).symlink_to(found)
    path = os.pathsep.join([str(folder), "/usr/bin", "/bin"])
    if shutil.which("memlines", path=path):
        pytest.skip("Memlines is installed for the whole system")
    return path


@pytest.fixture
def notes(workspace: Path) -> Path:
    (workspace / "MEMORY.md").write_text(NOTE, encoding="utf-8")
    return workspace


def fetch(command: list[str], path: str, variables: Mapping[str, str]) -> None:
    """Start a server that ends at once, because no client is there; what it needs is fetched then."""
    environment = {**os.environ, **variables, "PATH": path}
    subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, check=True)


def answer(path: str, notes: Path, variables: Mapping[str, str]) -> str:
    """Return what the hook at the start of a session gives."""
    script = ROOT / "integrations/claude-code/hooks/hook.sh"
    said = {"session_id": "a", "cwd": str(notes), "hook_event_name": "SessionStart", "source": "startup"}
    done = subprocess.run(
        [SHELL, str(script), "claude-code", "SessionStart"],
        cwd=notes,
        env={**os.environ, **variables, "PATH": path, "MEMLINES_EMBEDDINGS__PROVIDER": "none"},
        input=json.dumps(said),
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    return done.stdout


def test_the_server_fetches_what_the_hooks_then_use(
    path: str, notes: Path, variables: Mapping[str, str]
) -> None:
    assert "being fetched by uvx" in answer(path, notes, variables)
    command = [SHELL, *load("integrations/codex/.mcp.json")["mcpServers"]["memlines"]["args"]]
    fetch(command, path, variables)
    with server(command, path, notes, **variables) as client:
        assert client.shake_hands()["serverInfo"]["version"] == __version__
    assert NOTE.strip() in answer(path, notes, {**variables, "UV_OFFLINE": "1"})


def test_the_bundle_runs_with_what_uv_installs(
    path: str, notes: Path, tmp_path: Path, variables: Mapping[str, str]
) -> None:
    with zipfile.ZipFile(build_bundle(ROOT, tmp_path / "memlines.mcpb")) as archive:
        archive.extractall(tmp_path / "unpacked")
    unpacked = str(tmp_path / "unpacked")
    command = [f"{shutil.which('uv', path=path)}", "run", "--quiet", "--directory", unpacked, "src/server.py"]
    fetch(command, path, variables)
    with server(command, path, tmp_path, MEMLINES_WORKSPACE=str(notes), **variables) as client:
        assert client.shake_hands()["serverInfo"]["version"] == __version__
        assert "MEMORY.md#L1" in client.said("memory_search", query="Postgres billing")
