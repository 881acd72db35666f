"""server.json keeps the rules of the MCP registry, and what it describes can be started.

The rules are those of its schema of 2025-12-11 and of the public registry, as far as this file uses them.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from release.__main__ import MARK

from memlines import __version__
from tests.channels.programs import MEMLINES, ROOT, load, needs_shell, put_program, server

SERVER = load("server.json")
(PACKAGE,) = SERVER["packages"]

REQUIRED = {"name", "description", "version"}
OPTIONAL = {"$schema", "title", "repository", "websiteUrl", "icons", "packages", "remotes", "_meta"}
PACKAGE_REQUIRED = {"registryType", "identifier", "transport"}
PACKAGE_OPTIONAL = {
    "registryBaseUrl", "version", "fileSha256", "runtimeHint", "runtimeArguments", "packageArguments",
    "environmentVariables",
}  # fmt: skip


def test_every_field_is_one_of_the_schema() -> None:
    assert REQUIRED <= SERVER.keys() <= REQUIRED | OPTIONAL
    assert PACKAGE_REQUIRED <= PACKAGE.keys() <= PACKAGE_REQUIRED | PACKAGE_OPTIONAL
    assert SERVER["$schema"] == "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"


def test_the_texts_have_the_form_and_the_length_that_are_allowed() -> None:
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", SERVER["name"])
    assert 1 <= len(SERVER["description"]) <= 100
    assert 1 <= len(SERVER["title"]) <= 100


def test_the_versions_are_no_ranges() -> None:
    assert all(re.fullmatch(r"\d+\.\d+\.\d+\w*", one["version"]) for one in (SERVER, PACKAGE))


def test_it_is_spoken_with_over_standard_input_and_output() -> None:
    assert PACKAGE["transport"] == {"type": "stdio"}  # others need an address
    assert PACKAGE["runtimeHint"] == "uvx"


def test_every_value_is_a_text() -> None:
    described = (SERVER, PACKAGE, *PACKAGE["packageArguments"], *PACKAGE["environmentVariables"])
    nested = {"repository", "packages", "transport", "packageArguments", "environmentVariables"}
    assert [key for one in described for key in one if key not in nested and type(one[key]) is not str] == []
    assert SERVER["websiteUrl"].startswith("https://")


def test_the_package_is_the_one_that_is_built() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert (PACKAGE["registryType"], PACKAGE["identifier"]) == ("pypi", project["name"])
    assert PACKAGE["registryBaseUrl"] == "https://pypi.org"  # the public registry accepts no other


def test_the_name_is_in_the_namespace_of_the_repository() -> None:
    owner = SERVER["repository"]["url"].removeprefix("https://github.com/").partition("/")[0]
    assert SERVER["name"].startswith(f"io.github.{owner}/")
    assert SERVER["repository"]["source"] == "github"


def test_arguments_and_variables_are_described_as_the_schema_wants() -> None:
    assert [argument.keys() for argument in PACKAGE["packageArguments"]] == [{"type", "value"}]
    assert all(argument["type"] == "positional" for argument in PACKAGE["packageArguments"])
    assert [v["format"] for v in PACKAGE["environmentVariables"]] == ["filepath"]


def test_the_readme_proves_that_the_package_is_ours() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"<!-- mcp-name: {SERVER['name']} -->" == MARK
    assert re.findall(r"mcp-name: *(\S+)", readme) == [SERVER["name"]]


@needs_shell
def test_what_the_registry_describes_starts(tmp_path: Path, workspace: Path) -> None:
    (workspace / "MEMORY.md").write_text("- We chose Postgres 17 for billing.\n", encoding="utf-8")
    put_program(tmp_path / "bin", "uvx", f'[ "$1" = memlines ] && shift && exec {MEMLINES} "$@"')
    command = [
        str(tmp_path / "bin" / PACKAGE["runtimeHint"]),
        PACKAGE["identifier"],
        *(argument["value"] for argument in PACKAGE["packageArguments"]),
    ]
    (variable,) = PACKAGE["environmentVariables"]
    with server(command, tmp_path / "bin", tmp_path, **{variable["name"]: str(workspace)}) as client:
        assert client.shake_hands()["serverInfo"]["version"] == __version__
        assert "MEMORY.md#L1" in client.said("memory_search", query="Postgres billing")
