"""The .mcpb bundle: the same every time, accepted by the program of its makers, and it starts."""

from __future__ import annotations

import json
import shutil
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from release.bundle import build_bundle

from memlines import __version__
from tests.channels.programs import ROOT, load, needs_shell, put_program, server
from tests.clients.harness import Home
from tests.clients.npm import client

TOOL = ("@anthropic-ai/mcpb", "2.1.2")
MANIFEST = load("integrations/mcpb/manifest.json")


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundle of this checkout."""
    return build_bundle(ROOT, tmp_path_factory.mktemp("bundle") / "memlines.mcpb")


@pytest.fixture
def unpacked(bundle: Path, tmp_path: Path) -> Path:
    """The folder that a host unpacks the bundle into."""
    with zipfile.ZipFile(bundle) as archive:
        archive.extractall(tmp_path / "unpacked")
    return tmp_path / "unpacked"


def test_the_same_sources_give_the_same_bytes(bundle: Path, tmp_path: Path) -> None:
    for name in ("integrations/mcpb", "LICENSE"):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copyfile
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        copy(ROOT / name, tmp_path / name)  # new files, so with other times
    again = build_bundle(tmp_path, tmp_path / "again.mcpb")
    assert again.read_bytes() == bundle.read_bytes()


def test_it_holds_what_the_host_needs_and_no_more(unpacked: Path) -> None:
    files = {file.relative_to(unpacked).as_posix() for file in unpacked.rglob("*") if file.is_file()}
    assert files == {"LICENSE", "manifest.json", "pyproject.toml", "src/server.py"}
    assert (unpacked / MANIFEST["server"]["entry_point"]).is_file()


def test_the_host_installs_the_memlines_of_this_version(unpacked: Path) -> None:
    project = tomllib.loads((unpacked / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    ours = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["dependencies"] == [f"memlines=={__version__}"]
    assert project["requires-python"] == ours["requires-python"]
    assert MANIFEST["compatibility"]["runtimes"]["python"] == ours["requires-python"]


@needs_shell
def test_the_server_starts_with_the_folder_that_the_user_chose(
    unpacked: Path, tmp_path: Path, workspace: Path
) -> None:
    (workspace / "MEMORY.md").write_text("- We chose Postgres 17 for billing.\n", encoding="utf-8")
    # This environment takes the place of the one that uv makes from the bundle's pyproject.toml.
    put_program(
        tmp_path / "bin", "uv", f'[ "$1 $3" = "run --directory" ] && cd "$4" && exec {sys.executable} "$5"'
    )
    told = MANIFEST["server"]["mcp_config"]
    chosen = {"${__dirname}": str(unpacked), "${user_config.workspace}": str(workspace)}
    command = [str(tmp_path / "bin" / told["command"]), *(chosen.get(word, word) for word in told["args"])]
    variables = {name: chosen[value] for name, value in told["env"].items()}
    with server(command, tmp_path / "bin", tmp_path, **variables) as started:
        assert started.shake_hands()["serverInfo"]["version"] == __version__
        assert "MEMORY.md#L1" in started.said("memory_search", query="Postgres billing")


def test_the_user_is_asked_for_every_value_that_the_server_needs() -> None:
    assert MANIFEST["user_config"].keys() == {"workspace"}
    assert json.dumps(MANIFEST).count("${user_config.") == 1


@pytest.mark.timeout(900)  # the first run installs it
def test_the_program_of_its_makers_accepts_it(bundle: Path, unpacked: Path, tmp_path: Path) -> None:
    tool = Home(tmp_path, client(*TOOL))
    tool.run_program([str(tool.program), "validate", str(unpacked / "manifest.json")], tmp_path)
    tool.run_program([str(tool.program), "pack", str(unpacked), str(tmp_path / "theirs.mcpb")], tmp_path)
    assert "WARNING: Not signed" in tool.run_program([str(tool.program), "info", str(bundle)], tmp_path)
    with zipfile.ZipFile(bundle) as ours, zipfile.ZipFile(tmp_path / "theirs.mcpb") as theirs:
        assert sorted(ours.namelist()) == sorted(theirs.namelist())
