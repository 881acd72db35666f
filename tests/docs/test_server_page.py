"""The Compose file for a team's server: it can be read, and what it runs is what there is."""

from __future__ import annotations

import ast
import json
import re
import tomllib
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from memlines.cli.main import cli
from memlines.cli.serve import serve_command
from memlines.serve.http.listener import check_address
from memlines.serve.mcp.tokens import parse
from tests.docs.pages import ROOT, blocks

SERVER = ROOT / "examples/server"
PAGE = ROOT / "docs/server.md"


@pytest.fixture
def compose() -> dict[str, Any]:
    """What the Compose file says."""
    found: dict[str, Any] = yaml.safe_load((SERVER / "compose.yaml").read_text(encoding="utf-8"))
    return found


@pytest.fixture
def options(compose: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The options of the command that the container runs, as the program reads them."""
    monkeypatch.setattr(click.Path, "convert", lambda self, value, param, ctx: value)
    command, *words = compose["services"]["memory"]["command"]
    assert cli.get_command(click.Context(cli), command) is serve_command
    with serve_command.make_context(command, words) as context:
        return dict(context.params)


def test_the_container_serves_a_team(options: dict[str, Any]) -> None:
    assert (options["over_http"], options["stdio"], options["new_token"]) == (True, False, None)


def test_the_container_may_listen_where_the_proxy_can_reach_it(options: dict[str, Any]) -> None:
    assert check_address(options["host"], is_behind=bool(options["behind_proxy"])) == "0.0.0.0"


def test_notes_and_tokens_are_in_volumes(compose: dict[str, Any], options: dict[str, Any]) -> None:
    mounted = dict(volume.split(":") for volume in compose["services"]["memory"]["volumes"])
    kept = [options["workspace"], str(Path(options["token_file"]).parent)]
    assert [mounted["notes"], mounted["state"]] == kept
    assert {*mounted} <= {*compose["volumes"]}


def test_the_proxy_passes_the_name_that_the_server_accepts(options: dict[str, Any]) -> None:
    caddy = (SERVER / "Caddyfile").read_text(encoding="utf-8")
    assert re.findall(r"^(\S+) \{", caddy, re.MULTILINE) == list(options["behind_proxy"])
    assert re.findall(r"reverse_proxy (\S+)", caddy) == ["memory:8737"]


def test_only_the_proxy_has_ports(compose: dict[str, Any]) -> None:
    assert [name for name, one in compose["services"].items() if "ports" in one] == ["proxy"]


def test_the_container_runs_as_the_user_of_the_image(compose: dict[str, Any]) -> None:
    image = (SERVER / "Dockerfile").read_text(encoding="utf-8")
    (user,) = re.findall(r"--uid (\d+)", image)
    assert compose["services"]["memory"]["user"] == f"{user}:{user}"
    assert 'ENTRYPOINT ["memlines"]' in image


def test_the_check_of_health_is_a_program_for_the_usual_port(compose: dict[str, Any]) -> None:
    kind, python, flag, code = compose["services"]["memory"]["healthcheck"]["test"]
    assert (kind, python, flag) == ("CMD", "python", "-c")
    ports = [node.value for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Constant)]
    assert 8737 in ports


def test_the_blocks_of_the_page_can_be_read() -> None:
    readers = {"json": json.loads, "toml": tomllib.loads}
    read = [readers[block.language](block.text) for block in blocks(PAGE) if block.language in readers]
    assert len(read) == 5


def test_the_token_on_the_page_is_one_that_the_server_reads() -> None:
    (text,) = [block.text for block in blocks(PAGE) if block.text.startswith("[anna]")]
    (token,) = parse(PAGE, text.replace("6f2c…", "6f2c" * 16).encode())
    assert (token.name, token.access, token.scopes) == ("anna", "write", ("project",))
