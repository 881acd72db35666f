"""pip, uv tool, uvx and pipx install the wheel, and words need few packages."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from bench.install import words_packages

from tests.release.installing import MCP_START, ROOT, Installation, Machine, answers_of, lines_of

PAGE = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
LEFT_OUT = re.search(r"printf '%s\\n' (.*) > without.txt", PAGE)
WORDS_ONLY = {"MEMLINES_EMBEDDINGS__PROVIDER": "none"}


def pip_install(environment: Installation) -> list[str]:
    """Return the command with which pip installs into an environment that has no pip of its own."""
    return [sys.executable, "-m", "pip", "--python", str(environment.python), "install", "--quiet"]


def test_pip_installs_it(machine: Machine) -> None:
    machine.uv("venv", "--quiet", machine.home / "by-pip")
    environment = Installation(machine, machine.home / "by-pip")
    here = ["--no-index", "--find-links", str(machine.wheels), "--no-compile"]
    done = machine.run([*pip_install(environment), *here, "memlines"])

    assert done.returncode == 0, done.stderr
    assert environment.ok("--version").startswith("memlines, version")


def test_uv_installs_upgrades_and_removes_the_tool(machine: Machine, tmp_path: Path) -> None:
    machine.uv("tool", "install", "memlines")
    command = machine.home / "bin" / ("memlines.exe" if os.name == "nt" else "memlines")
    notes = tmp_path / "notes"

    assert machine.run([command, "init", "-w", notes]).returncode == 0
    machine.uv("tool", "upgrade", "memlines")
    assert machine.run([command, "remember", "Tea", "-w", notes]).returncode == 0
    machine.uv("tool", "uninstall", "memlines")
    assert (command.exists(), (notes / "MEMORY.md").exists()) == (False, True)


@pytest.mark.parametrize("form", ["its name", "the wheel"])
def test_uvx_runs_the_mcp_server(machine: Machine, tmp_path: Path, form: str) -> None:
    chosen = ("--from", machine.wheel) if form == "the wheel" else ()
    requests = lines_of(MCP_START, ("tools/list", {}))
    done = machine.uv("tool", "run", *chosen, "memlines", "mcp", cwd=tmp_path, input=requests)

    start, tools = answers_of(done.stdout)
    assert (start["serverInfo"]["name"], bool(tools["tools"])) == ("memlines", True)


# By words only, as docs/install.md says


@pytest.fixture(scope="module")
def few(machine: Machine) -> Installation:
    """The packages that the page names for a search by words."""
    environment = machine.install("words", *words_packages())
    machine.uv("pip", "install", "--quiet", "--python", environment.python, "--no-deps", "memlines")
    return environment


def test_a_search_by_words_needs_few_packages(few: Installation, tmp_path: Path) -> None:
    few.ok("init", "-w", tmp_path, env=WORDS_ONLY)
    few.ok("remember", "We chose Postgres 17 for billing", "-w", tmp_path, env=WORDS_ONLY)

    assert "Postgres 17" in few.ok("search", "postgres", "-w", tmp_path, env=WORDS_ONLY)
    assert "Nothing is wrong" in few.ok("doctor", "-w", tmp_path, env=WORDS_ONLY)


def test_without_its_packages_the_model_is_missed_and_words_answer(few: Installation, tmp_path: Path) -> None:
    (tmp_path / "MEMORY.md").write_text("Tea is in the blue tin.\n", encoding="utf-8")
    done = few("search", "tea", "-w", tmp_path)

    assert (done.returncode, "MEMORY.md#L1" in done.stdout) == (0, True)
    assert done.stderr.count("is not installed") == 1


NEEDS_MORE = [
    {"MEMLINES_EMBEDDINGS__PROVIDER": "openai", "OPENAI_API_KEY": "sk-none"},
    {"MEMLINES_EMBEDDINGS__PROVIDER": "ollama"},
    {**WORDS_ONLY, "MEMLINES_STORE__DRIVER": "qdrant", "MEMLINES_STORE__URI": "http://127.0.0.1:1"},
]


@pytest.mark.parametrize("settings", NEEDS_MORE, ids=["openai", "ollama", "qdrant"])
def test_what_needs_more_packages_names_one_and_words_answer(
    few: Installation, tmp_path: Path, settings: dict[str, str]
) -> None:
    (tmp_path / "MEMORY.md").write_text("Tea is in the blue tin.\n", encoding="utf-8")
    for command in (["search", "tea"], ["sync"], ["doctor", "--deep"]):
        done = few(*command, "-w", tmp_path, env=settings)
        assert "is not installed" in done.stderr + done.stdout
        assert "Traceback" not in done.stderr
    assert "MEMORY.md#L1" in few.ok("search", "tea", "-w", tmp_path, env=settings)


def test_a_server_by_words_answers(few: Installation, tmp_path: Path) -> None:
    printed = few.ok("mcp", "-w", tmp_path, env=WORDS_ONLY, input=lines_of(MCP_START, ("tools/list", {})))

    assert answers_of(printed)[1]["tools"]


def test_notes_are_watched_by_words(few: Installation, tmp_path: Path) -> None:
    (tmp_path / "MEMORY.md").write_text("Tea.\n", encoding="utf-8")
    command = [str(few.script("memlines")), "watch", "-w", str(tmp_path)]
    variables = {**few.machine.variables(), **WORDS_ONLY}
    with subprocess.Popen(command, env=variables, stdout=subprocess.PIPE, encoding="utf-8") as process:
        assert process.stdout is not None
        first = process.stdout.readline()
        process.terminate()
    assert first.startswith("Watching")


def test_uv_leaves_the_same_packages_out(machine: Machine, few: Installation, tmp_path: Path) -> None:
    assert LEFT_OUT is not None
    without = tmp_path / "without.txt"
    without.write_text("\n".join(LEFT_OUT[1].split()), encoding="utf-8")
    machine.uv("tool", "install", "--force", "--excludes", without, "memlines")

    tool = Installation(machine, machine.home / "tools" / "memlines")
    assert {path.name for path in tool.packages.iterdir() if path.suffix == ".dist-info"} == {
        path.name for path in few.packages.iterdir() if path.suffix == ".dist-info"
    }


# pipx, which comes from its registry, as do the requirements of Memlines


@pytest.mark.slow
def test_pipx_installs_and_runs_it(machine: Machine, tmp_path: Path) -> None:
    places = {"PIPX_HOME": str(tmp_path / "pipx"), "PIPX_BIN_DIR": str(tmp_path / "bin")}
    machine.uv("venv", "--quiet", machine.home / "pipx")
    environment = Installation(machine, machine.home / "pipx")
    done = machine.run([*pip_install(environment), "pipx"])
    if done.returncode:
        pytest.skip(f"pipx cannot be installed: {done.stderr[-200:]}")

    environment.ok("install", machine.wheel, name="pipx", env=places)
    environment.ok("runpip", "memlines", "check", name="pipx", env=places)
    assert machine.run([tmp_path / "bin" / "memlines", "--version"]).returncode == 0

    requests = lines_of(MCP_START, ("tools/list", {}))
    run = ("run", "--spec", machine.wheel, "memlines", "mcp")
    assert answers_of(environment.ok(*run, name="pipx", env=places, cwd=tmp_path, input=requests))[1]["tools"]
