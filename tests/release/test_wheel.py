"""The wheel holds what it should, and works where nothing but it and what it requires is installed."""

from __future__ import annotations

import json
import re
import sys
import tarfile
from pathlib import Path
from zipfile import ZipFile

import pytest
from packaging.metadata import Metadata

from memlines import __version__
from tests.release.installing import (
    MCP_START,
    ROOT,
    Installation,
    Machine,
    answers_of,
    hatch,
    lines_of,
)

IMPORT_ALL = """
import importlib, pkgutil, memlines
for module in pkgutil.walk_packages(memlines.__path__, "memlines."):
    if not module.name.endswith("__main__"):
        try: importlib.import_module(module.name)
        except ImportError as error: print(module.name, error.name, flush=True)
"""
NOTE = "The production database runs on Postgres 17."
QUESTION = "Which SQL server is live?"
OTHER_NOTES = ("Anna prefers tea.", "The team meets in Lisbon in March.", "Deploys happen on Tuesdays.")


def names_in(wheel: Path) -> set[str]:
    return set(ZipFile(wheel).namelist())


def files_in(folder: Path) -> set[str]:
    """Return the files of a source folder, as paths in it."""
    inner = [path.relative_to(folder) for path in folder.rglob("*") if path.is_file()]
    return {path.as_posix() for path in inner if not {"__pycache__", "node_modules"} & set(path.parts)}


@pytest.fixture(scope="module")
def workspace(memlines: Installation) -> Path:
    """A workspace with a few notes, one of them written by the installed command."""
    folder = memlines.machine.home / "notes"
    memlines.ok("init", "-w", folder)
    (folder / "memory" / "other.md").write_text("\n\n".join(OTHER_NOTES), encoding="utf-8")
    memlines.ok("remember", NOTE, "-w", folder)
    return folder


# What it holds


def test_its_metadata_is_what_an_index_accepts(machine: Machine) -> None:
    (path,) = [name for name in names_in(machine.wheel) if name.endswith(".dist-info/METADATA")]
    about = Metadata.from_email(ZipFile(machine.wheel).read(path), validate=True)

    assert (about.name, about.license_expression, str(about.requires_python)) == ("memlines", "MIT", ">=3.11")
    assert (about.description_content_type, about.license_files) == ("text/markdown", ["LICENSE"])


def test_its_description_leads_to_no_file_that_the_index_does_not_have(machine: Machine) -> None:
    (path,) = [name for name in names_in(machine.wheel) if name.endswith(".dist-info/METADATA")]
    description = Metadata.from_email(ZipFile(machine.wheel).read(path), validate=True).description

    targets = re.findall(r"\]\(([^)]+)\)", description or "")
    assert len(targets) > 20
    assert [target for target in targets if not target.startswith("https://")] == []
    version = f"/v{__version__}/"
    assert all(version in target for target in targets if "github" in target and "/docs/" in target)


def test_it_holds_the_packages_the_files_for_the_clients_and_nothing_else(machine: Machine) -> None:
    expected = {f"memlines/{name}" for name in files_in(ROOT / "src" / "memlines")}
    expected |= {f"recollect/{name}" for name in files_in(ROOT / "src" / "recollect")}
    expected |= {f"memlines/integrations/{name}" for name in files_in(ROOT / "integrations")}

    assert {name for name in names_in(machine.wheel) if ".dist-info/" not in name} == expected
    assert "memlines/py.typed" in expected


def test_the_source_archive_makes_the_same_wheel(machine: Machine, tmp_path: Path) -> None:
    (archive,) = machine.wheels.glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        opened.extractall(tmp_path, filter="data")
    hatch(tmp_path / archive.name.removesuffix(".tar.gz"), tmp_path / "made", "-t", "wheel")

    assert names_in(tmp_path / "made" / machine.wheel.name) == names_in(machine.wheel)


# What it does where only it is installed


def test_what_it_requires_fits_together(memlines: Installation) -> None:
    assert memlines.machine.uv("pip", "check", "--python", memlines.python)


def test_it_imports_nothing_that_it_does_not_require(memlines: Installation) -> None:
    done = memlines.machine.run([memlines.python, "-W", "error", "-c", IMPORT_ALL])

    assert (done.stderr, done.stdout.split()) == ("", ["memlines.cli.picker", "prompt_toolkit"])


def test_the_source_plays_no_part(memlines: Installation) -> None:
    done = memlines.machine.run([memlines.python, "-c", "import memlines; print(memlines.__file__)"])

    assert Path(done.stdout.strip()).parent == memlines.packages / "memlines"


def test_it_says_its_version(memlines: Installation) -> None:
    version = memlines.machine.wheel.name.split("-")[1]

    assert memlines.ok("--version").strip() == f"memlines, version {version}"


def test_a_question_in_other_words_is_answered(memlines: Installation, workspace: Path) -> None:
    first = json.loads(memlines.ok("search", QUESTION, "-w", workspace, "--json"))["results"][0]

    assert (NOTE in first["snippet"], first["why"]["words"]) == (True, [])


def test_nothing_is_wrong(memlines: Installation, workspace: Path) -> None:
    assert "Nothing is wrong" in memlines.ok("doctor", "-w", workspace)


def test_an_mcp_client_gets_its_tools(memlines: Installation, workspace: Path) -> None:
    requests = lines_of(MCP_START, ("tools/list", {}))
    start, tools = answers_of(memlines.ok("mcp", "-w", workspace, input=requests))

    assert start["serverInfo"]["name"] == "memlines"
    assert {"memory_search", "memory_get"} <= {tool["name"] for tool in tools["tools"]}


def test_it_finds_its_files_for_a_client(memlines: Installation, workspace: Path) -> None:
    assert "plugins/memlines.js" in memlines.ok("install", "opencode", "--dry-run", "-w", workspace)


def test_the_old_name_still_works(memlines: Installation) -> None:
    module = memlines.machine.run([memlines.python, "-m", "recollect", "--version"])

    assert memlines.ok("--version", name="recollect") == module.stdout == memlines.ok("--version")


@pytest.mark.slow
def test_a_type_checker_sees_its_types(memlines: Installation, tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    program = tmp_path / "program.py"
    program.write_text(
        "from typing import assert_type\nfrom memlines import Hit, Memory\n\n"
        'with Memory("notes") as memory:\n    assert_type(memory.search("tea").hits[0], Hit)\n',
        encoding="utf-8",
    )
    mypy = [sys.executable, "-m", "mypy", "--strict", "--config-file=", f"--cache-dir={tmp_path / 'cache'}"]
    done = memlines.machine.run([*mypy, f"--python-executable={memlines.python}", program])

    assert done.returncode == 0, done.stdout
