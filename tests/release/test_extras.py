"""Where an extra is missing, what needs it says how to install it; nothing is changed."""

from __future__ import annotations

import json
import os
import re
import shlex
import tomllib
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.release.installing import (
    MCP_START,
    ROOT,
    Installation,
    Machine,
    answers_of,
    closure,
    lines_of,
    pack,
    requirements_of,
)

EACH = {"backup", "facts", "interactive", "local", "qdrant", "rerank", "sqlite-vec", "web"}
USER_EXTRAS = {*EACH, "all"}
WORDS_ONLY = {"MEMLINES_EMBEDDINGS__PROVIDER": "none"}


class Use(NamedTuple):
    """A command that needs an extra, its exit code where the extra is missing, and a setting."""

    extra: str
    command: str
    code: int
    setting: str = ""

    @property
    def todo(self) -> str:
        return f"Run: pip install 'memlines[{self.extra}]'"

    @property
    def settings(self) -> dict[str, str]:
        """The settings, by words where the setting is not about the provider."""
        name, _, value = self.setting.partition("=")
        return WORDS_ONLY | ({f"MEMLINES_{name}": value} if name else {})


LOCAL = "EMBEDDINGS__PROVIDER=local"
USES = [
    Use("backup", "backup s3://bucket/notes", 8),
    Use("backup", "restore s3://bucket/notes", 8),
    Use("facts", "doctor", 1, "FACTS__STORE=lancedb"),
    Use("local", "status --deep", 6, LOCAL),
    Use("local", "doctor", 1, LOCAL),
    Use("local", "status --deep", 6, "RERANK__PROVIDER=local"),
    Use("rerank", "status --deep", 6, "RERANK__PROVIDER=onnx"),
    Use("web", "web --no-browser", 2),
    Use("web", "export --html page.html", 2),
]
FALLS_BACK = [
    Use("facts", "sync", 0, "FACTS__STORE=lancedb"),
    Use("local", "search tea", 0, LOCAL),
    Use("rerank", "search tea", 0, "RERANK__PROVIDER=onnx"),
    Use("sqlite-vec", "search tea", 0, "STORE__VECTOR__ENGINE=sqlite-vec"),
]
"""What another part does instead: it is done, with a warning."""


def id_of(use: Use) -> str:
    return f"{use.extra}: {use.command}"


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    (folder / "memory").mkdir(parents=True)
    (folder / "MEMORY.md").write_text("Tea is in the blue tin.\n", encoding="utf-8")
    (folder / "memory" / "tea.md").write_text("Anna likes green tea best.\n", encoding="utf-8")
    (folder / "memory" / "facts.md").write_text("- Likes tea\n", encoding="utf-8")
    return folder


def contents(folder: Path) -> dict[str, str]:
    """Return the user's files with what they hold; `.memory` is derived."""
    files = (path for path in folder.rglob("*") if path.is_file() and ".memory" not in path.parts)
    return {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in files}


@pytest.mark.parametrize("use", USES, ids=id_of)
def test_a_command_without_its_extra_names_it_and_changes_nothing(
    memlines: Installation, notes: Path, use: Use
) -> None:
    before = contents(notes)
    done = memlines(*shlex.split(use.command), "-w", notes, cwd=notes, env=use.settings)

    assert (done.returncode, contents(notes)) == (use.code, before)
    assert use.todo in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("use", FALLS_BACK, ids=id_of)
def test_what_another_part_can_do_is_done_with_a_warning(
    memlines: Installation, notes: Path, use: Use
) -> None:
    done = memlines(*shlex.split(use.command), "-w", notes, cwd=notes, env=use.settings)

    assert (done.returncode, done.stderr.count(use.todo)) == (0, 1)


@pytest.mark.skipif(os.name == "nt", reason="needs a terminal that a program can open")
def test_choosing_a_hit_without_its_extra_names_it(memlines: Installation, notes: Path) -> None:
    import pty

    ours, theirs = pty.openpty()
    done = memlines("search", "-i", "tea", "-w", notes, env=WORDS_ONLY, stdin=theirs)
    os.close(ours)
    os.close(theirs)

    assert done.returncode == 2
    assert Use("interactive", "search -i", 2).todo in done.stderr


def test_the_words_and_the_code_are_the_same_everywhere(memlines: Installation, notes: Path) -> None:
    settings = Use("local", "search", 0, LOCAL).settings
    found = json.loads(memlines("status", "--deep", "--json", "-w", notes, env=settings).stdout)["probe"]
    message = f"{found['reason']}. {found['todo']}"
    call = ("tools/call", {"name": "memory_search", "arguments": {"query": "tea"}})
    by_mcp = memlines.ok("mcp", "-w", notes, env=settings, input=lines_of(MCP_START, call))
    start = ("initialize", {"protocol": 1, "client": {"name": "test"}, "directory": str(notes)})
    by_rpc = memlines.ok("serve", "--stdio", "-w", notes, env=settings, input=lines_of(start, call))

    assert (found["code"], found["todo"]) == ("provider-unusable", Use("local", "", 6).todo)
    assert message in memlines("search", "tea", "-w", notes, env=settings).stderr
    assert message in answers_of(by_mcp)[1]["content"][0]["text"]
    assert message in answers_of(by_rpc)[1]["data"]["warnings"]


# Installed


def extras_of(wheel: Path) -> set[str]:
    (about,) = metadata.Distribution.discover(name="memlines", path=[str(wheel)])
    return set(about.metadata.get_all("Provides-Extra") or ())


def test_all_is_every_extra_for_users(machine: Machine) -> None:
    wanted = requirements_of(machine.wheel)

    assert closure(wanted, ["all"]) == closure(wanted, sorted(EACH))


def test_each_extra_is_tested(machine: Machine) -> None:
    tested = {use.extra for use in (*USES, *FALLS_BACK)} | {"interactive", "qdrant"}

    assert extras_of(machine.wheel) == {*tested, "all", "dev", "docs", "examples"}
    assert tested == EACH


def test_the_page_says_what_each_extra_takes() -> None:
    results = (ROOT / "bench" / "results" / "install.json").read_text(encoding="utf-8")
    megabytes = {name: row["megabytes"] for name, row in json.loads(results)["figures"].items()}
    page = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    table = page.partition("## Extras")[2].partition("##")[0]
    shown = {extra: megabytes[f"memlines[{extra}]"] - megabytes["memlines"] for extra in USER_EXTRAS}

    assert dict(re.findall(r"^\| `([\w-]+)` \| .* \| ([^|]+) \|$", table, re.MULTILINE)) == {
        extra: "under 1" if 0 < more < 0.5 else f"{more:.0f}" for extra, more in shown.items()
    }


def test_the_page_names_the_packages_of_each_extra() -> None:
    page = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    table = page.partition("## Extras")[2].partition("##")[0]
    shown = dict(re.findall(r"^\| `([\w-]+)` \|.*\|([^|]*)\|[^|]+\|$", table, re.MULTILINE))
    required = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for extra in EACH:
        wanted = {Requirement(line).name for line in required["optional-dependencies"][extra]}
        assert {name.strip() for name in shown[extra].split(",")} - {""} == wanted, extra


def test_qdrant_needs_no_package_of_its_own(machine: Machine) -> None:
    done = machine.uv("pip", "install", "--dry-run", "--target", machine.home / "none", "memlines[qdrant]")

    assert "qdrant" not in done.stderr  # neither a package nor a warning that there is no such extra


@pytest.fixture(scope="module")
def full_registry(machine: Machine) -> Machine:
    """A machine whose registry has all that any extra requires."""
    there = {canonicalize_name(path.name.split("-")[0]) for path in machine.wheels.glob("*.whl")}
    for name in sorted(closure(requirements_of(machine.wheel), ["all"]) - there):
        pack(name, machine.wheels)
    return machine


@pytest.mark.slow
@pytest.mark.parametrize("use", {use.extra: use for use in (*USES, *FALLS_BACK)}.values(), ids=id_of)
def test_each_extra_alone_is_enough(full_registry: Machine, notes: Path, use: Use) -> None:
    environment = full_registry.install(f"with-{use.extra}", f"memlines[{use.extra}]")
    nowhere = {"AWS_ENDPOINT_URL": "http://127.0.0.1:9", "AWS_EC2_METADATA_DISABLED": "true"}
    done = environment(*shlex.split(use.command), "-w", notes, cwd=notes, env=nowhere | use.settings)

    assert full_registry.uv("pip", "check", "--python", environment.python)
    assert "not installed" not in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
