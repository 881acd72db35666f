"""The plugins of Claude Code and Codex: what the marketplaces list, and what a plugin starts."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from memlines import __version__
from memlines.clients import codex
from memlines.clients.client import EVENTS
from memlines.paths import HOME_VARIABLE
from tests.channels.programs import MEMLINES, ROOT, SHELL, load, needs_shell, put_program, server

CLIENTS = ("claude-code", "codex")
FOLDERS = {"claude-code": ".claude-plugin", "codex": ".codex-plugin"}
VARIABLES = {"claude-code": "CLAUDE_PLUGIN_ROOT", "codex": "PLUGIN_ROOT"}
LONGEST_PROMPT = 128


def plugin(client: str) -> Any:
    return load(f"integrations/{client}/{FOLDERS[client]}/plugin.json")


def mcp_server(client: str) -> Any:
    return load(f"integrations/{client}/.mcp.json")["mcpServers"]["memlines"]


def by_event(settings: Any) -> dict[str, Any]:
    """Return the hook of each event without its command, which is another in an installation."""
    return {
        event: {**hook, "command": None}
        for event, (group,) in settings["hooks"].items()
        for (hook,) in [group["hooks"]]
    }


def hooks(client: str) -> Any:
    return load(f"integrations/{client}/hooks/hooks.json")


# What is listed


def test_the_marketplace_of_claude_code_lists_the_plugin() -> None:
    listed = load(".claude-plugin/marketplace.json")
    (entry,) = listed["plugins"]
    assert listed["owner"].keys() == {"name", "url"}
    assert (listed["name"], entry["name"]) == ("memlines", plugin("claude-code")["name"])
    assert (ROOT / entry["source"] / ".claude-plugin/plugin.json").is_file()


def test_the_version_of_the_plugin_is_written_once() -> None:
    """Claude Code updates a plugin if the version in its own file changes."""
    (entry,) = load(".claude-plugin/marketplace.json")["plugins"]
    assert "version" not in entry


def test_the_marketplace_of_codex_lists_the_plugin() -> None:
    listed = load(".agents/plugins/marketplace.json")
    (entry,) = listed["plugins"]
    assert listed.keys() == {"name", "interface", "plugins"}
    assert (listed["name"], entry["name"]) == ("memlines", plugin("codex")["name"])
    assert entry["policy"] == {"installation": "AVAILABLE", "authentication": "ON_INSTALL"}
    assert entry["source"]["source"] == "local"
    assert (ROOT / entry["source"]["path"] / ".codex-plugin/plugin.json").is_file()


def test_codex_finds_what_the_plugin_names() -> None:
    told = plugin("codex")
    folder = ROOT / "integrations/codex"
    assert [(folder / told[part]).exists() for part in ("skills", "mcpServers", "hooks")] == [True] * 3


def test_codex_shows_every_prompt_of_the_plugin() -> None:
    prompts = plugin("codex")["interface"]["defaultPrompt"]
    assert 1 <= len(prompts) <= 3
    assert all(len(prompt) <= LONGEST_PROMPT for prompt in prompts)


def test_both_plugins_say_who_made_them() -> None:
    shared = ("name", "version", "author", "homepage", "repository", "license", "keywords")
    first, second = ({name: plugin(client)[name] for name in shared} for client in CLIENTS)
    assert first == second


# What is started


@pytest.mark.parametrize("client", CLIENTS)
def test_every_hook_runs_the_script_of_the_plugin(client: str) -> None:
    script = f'sh "${{{VARIABLES[client]}}}/hooks/hook.sh"'
    commands = [group["hooks"][0]["command"] for (group,) in hooks(client)["hooks"].values()]
    assert commands == [f"{script} {client} {event}" for event in EVENTS]


def test_the_hooks_of_codex_have_the_limits_of_an_installation() -> None:
    assert by_event(hooks("codex")) == by_event(codex.hooks())


def test_the_server_in_codex_has_the_settings_of_an_installation() -> None:
    installed, plugged = codex.server({}), mcp_server("codex")
    env_vars = [HOME_VARIABLE, *installed.pop("env_vars")]  # an installation knows the folder itself
    for key in ("command", "args", "env"):
        installed.pop(key, None)
        plugged.pop(key, None)
    assert plugged == {**installed, "env_vars": env_vars}


def test_both_clients_start_the_same() -> None:
    scripts = [(ROOT / "integrations" / client / "hooks/hook.sh").read_bytes() for client in CLIENTS]
    assert scripts[0] == scripts[1]
    assert len({(mcp_server(client)["command"], *mcp_server(client)["args"]) for client in CLIENTS}) == 1


# Where Memlines is, or is not


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A folder for the programs that are found."""
    (tmp_path / "bin").mkdir()
    return tmp_path / "bin"


def answer(path: Path, event: str) -> tuple[int, str, str]:
    """Return how the script of the hooks ends, and what it prints."""
    done = subprocess.run(
        [SHELL, str(ROOT / "integrations/claude-code/hooks/hook.sh"), "claude-code", event],
        env={"PATH": str(path)},
        input="{}",
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


FETCHED = 'echo "uvx $*"'
UNFETCHED = "echo 'error: no network' >&2; exit 1"
ASKED = f"uvx --offline --quiet memlines@{__version__} hook claude-code Stop\n"


@needs_shell
def test_a_hook_runs_the_program_on_the_path_first(path: Path) -> None:
    put_program(path, "memlines", 'echo "memlines $*"')
    put_program(path, "uvx", FETCHED)
    assert answer(path, "Stop") == (0, "memlines hook claude-code Stop\n", "")


@needs_shell
def test_a_hook_runs_what_uvx_has_without_the_network(path: Path) -> None:
    put_program(path, "uvx", FETCHED)
    assert answer(path, "Stop") == (0, ASKED, "")


@needs_shell
@pytest.mark.parametrize("has_uvx", [False, True])
@pytest.mark.parametrize("event", EVENTS[1:])
def test_without_a_program_hooks_are_quiet(path: Path, event: str, has_uvx: bool) -> None:
    if has_uvx:
        put_program(path, "uvx", UNFETCHED)
    assert answer(path, event) == (0, "", "")


@needs_shell
@pytest.mark.parametrize(
    ("has_uvx", "said"), [(False, "uv tool install memlines"), (True, "being fetched by uvx")]
)
def test_without_a_program_a_session_starts_with_one_message(path: Path, has_uvx: bool, said: str) -> None:
    if has_uvx:
        put_program(path, "uvx", UNFETCHED)
    code, printed, errors = answer(path, "SessionStart")
    message = json.loads(printed)
    assert (code, errors, list(message)) == (0, "", ["systemMessage"])
    assert said in message["systemMessage"]


def started(path: Path) -> tuple[int, str]:
    """Return how the line that starts the server ends, and what it prints."""
    told = mcp_server("claude-code")
    done = subprocess.run(
        [SHELL, *told["args"]],
        env={"PATH": str(path)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout


@needs_shell
def test_the_server_is_the_program_on_the_path_first(path: Path) -> None:
    put_program(path, "memlines", 'echo "memlines $*"')
    put_program(path, "uvx", FETCHED)
    assert started(path) == (0, "memlines mcp\n")


@needs_shell
def test_the_server_that_uvx_has_starts_without_the_network(path: Path) -> None:
    put_program(path, "uvx", FETCHED)
    assert started(path) == (0, f"uvx --offline --quiet memlines@{__version__} mcp\n")


@needs_shell
def test_uvx_fetches_the_server_that_it_does_not_have(path: Path) -> None:
    put_program(path, "uvx", f'case "$*" in --offline*) exit 1;; esac; {FETCHED}')
    assert started(path) == (0, f"uvx --quiet memlines@{__version__} mcp\n")


@needs_shell
def test_without_a_program_the_server_fails(path: Path) -> None:
    assert started(path) == (127, "")


@needs_shell
def test_the_server_of_a_plugin_answers(path: Path, workspace: Path) -> None:
    (workspace / "MEMORY.md").write_text("- We chose Postgres 17 for billing.\n", encoding="utf-8")
    put_program(path, "uvx", f'for last in "$@"; do :; done\nexec {MEMLINES} "$last"')
    with server([SHELL, *mcp_server("codex")["args"]], path, workspace) as client:
        assert client.shake_hands()["serverInfo"]["version"] == __version__
        assert "MEMORY.md#L1" in client.said("memory_search", query="Postgres billing")
