"""The npm package of the plugin: what is in it, and that OpenCode loads it from there."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from memlines import __version__
from tests.clients.opencode.machine import Server
from tests.clients.opencode.window import Window

ROOT = Path(__file__).parents[3]
PACKAGE = ROOT / "integrations" / "opencode"
SECONDS = 120


def npm(*words: str) -> str:
    """Run npm in the folder of the package, and return what it printed."""
    program = shutil.which("npm")
    if program is None:
        pytest.skip("npm is not there")
    done = subprocess.run(
        [program, *words, "--offline"],
        cwd=PACKAGE,
        stdout=subprocess.PIPE,
        check=True,
        encoding="utf-8",
        timeout=SECONDS,
    )
    return done.stdout


@pytest.fixture(scope="module")
def described() -> dict[str, object]:
    """What the package says about itself."""
    found: dict[str, object] = json.loads((PACKAGE / "package.json").read_text(encoding="utf-8"))
    return found


def test_the_version_is_that_of_the_project(described: dict[str, object]) -> None:
    assert described["version"] == __version__


def test_the_licence_is_that_of_the_project() -> None:
    assert (PACKAGE / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


def test_it_holds_the_whole_plugin_and_nothing_of_one_machine() -> None:
    (packed,) = json.loads(npm("pack", "--dry-run", "--json"))
    modules = {f"memlines/{file.name}" for file in (PACKAGE / "memlines").glob("*.js")}
    own = {"LICENSE", "README.md", "index.js", "package.json", "memlines/tools.json"}
    assert {file["path"] for file in packed["files"]} == modules | own


def test_the_real_program_loads_it(server: Server, tmp_path: Path) -> None:
    npm("pack", "--pack-destination", str(tmp_path))
    window = Window(server, server.machine.project("packed"))
    (packed,) = tmp_path.glob("*.tgz")
    with tarfile.open(packed) as archive:
        archive.extractall(window.folder, filter="data")
    command = [sys.executable, "-P", "-m", "memlines", "serve", "--stdio"]
    window.write("opencode.json", json.dumps({"plugin": [["./package", {"command": command}]]}))
    window.write("MEMORY.md", "- The staging database listens on port 5433.\n")
    assert "MEMORY.md#L1" in window.call("memory_search", query="port of the staging database").output
    assert "memlines" not in server.printed()  # it would disturb the screen
