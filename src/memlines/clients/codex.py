"""Codex: an MCP server, hooks, a block in AGENTS.md and skills, for a project or for the user.

Codex reads `.codex/config.toml` and `.codex/hooks.json` of a project only if the user trusts it, and runs a
hook only if the user trusts that one. Both are for the user to say, in Codex: nothing here says it for them.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from memlines import old_name
from memlines.clients import toml_text
from memlines.clients.client import (
    EVENTS,
    GIT_IGNORED,
    MOST_BYTES,
    SERVER_ARGUMENTS,
    Client,
    File,
    Target,
    copied_files,
    environment_in_use,
    hook_words,
    integration_folder,
    is_our_hook,
    is_server_of_ours,
    read_json,
    this_python,
)
from memlines.clients.edits import Edit, Insertion, gap_after, markdown_block, newline_of
from memlines.clients.json_text import Place, json_edit
from memlines.clients.receipt import HOME
from memlines.errors import PathError, WriteError
from memlines.files.atomic import read
from memlines.paths import home_folder
from memlines.settings.tree import SERVICES
from memlines.text.shell import join_words

NAME = "codex"
PROJECT_FOLDER = ".codex"
CONFIG = "config.toml"
HOOKS = "hooks.json"
INSTRUCTIONS = "AGENTS.md"
SERVER = ("mcp_servers", "memlines")

_COMMENT = "# Written by Memlines; 'memlines uninstall codex' takes it out again."
_OLD_COMMENT = "# Written by Recollect; 'recollect uninstall codex' takes it out again."
_OLD_SERVER = ("mcp_servers", old_name.NAME)
_START_SECONDS = 20.0
_HOOK_SECONDS = {"SessionEnd": 3}
"""When Codex gives up a hook; ours give up before. It allows no more at the end of a session."""

_OTHER_HOOK_SECONDS = 30
_CONTEXT_TOKENS = 20_000
"""How much a hook may add for the model. It is capped by Memlines, and would be cut at 2500 otherwise."""

_ASKS_FIRST = "memory_forget"
_SET_EACH_TIME = ("command", "args", "env", "env_vars")
"""What an installation decides by itself; whatever else a user or Codex set for the server stays."""

_PASSED_ON = (
    "XDG_CONFIG_HOME",
    "XDG_STATE_HOME",
    "XDG_CACHE_HOME",
    "XDG_DATA_HOME",
    "CODEX_HOME",
    "CLAUDE_CONFIG_DIR",
    "OPENCLAW_STATE_DIR",
    "OLLAMA_HOST",
    *(variable for _, variables in SERVICES.values() for variable in variables),
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "NO_PROXY",
    "SSL_CERT_FILE",
)
"""Variables that the server needs as the command line does. Codex passes on only those that are named."""


def global_folder() -> Path:
    """Return the folder of the user's settings of Codex."""
    chosen = os.environ.get("CODEX_HOME")
    return Path(chosen or home_folder() / ".codex").absolute()


def folder_of(project: Path | None) -> Path:
    """Return the folder of settings of a project, or of the user."""
    return global_folder() if project is None else project / PROJECT_FOLDER


def targets(project: Path | None, source: Path | None = None) -> tuple[Target, ...]:
    """Return what belongs where, for a project or for all of them."""
    origin, folder = source or integration_folder(NAME), folder_of(project)
    top, below = (folder, "") if project is None else (project, f"{PROJECT_FOLDER}/")
    instructions = (origin / "instructions.md").read_text(encoding="utf-8")
    edits = (
        markdown_block(INSTRUCTIONS, top / INSTRUCTIONS, instructions),
        server_edit(f"{below}{CONFIG}", folder / CONFIG, server(_in_use(folder / CONFIG))),
        json_edit(f"{below}{HOOKS}", folder / HOOKS, hooks(), _is_our_hook),
    )
    files = (File(f"{below}{HOME}/.gitignore", GIT_IGNORED), *copied_files(origin, "skills", below))
    return (Target(NAME, top, files, inside=project, home=f"{below}{HOME}", edits=edits),)


def python_of(project: Path | None) -> Path | None:
    """Return the interpreter that an installation named, if it is known."""
    command = _in_use(folder_of(project) / CONFIG).get("command")
    return Path(command) if isinstance(command, str) else None


def hooks() -> dict[str, Any]:
    """Return our hooks as Codex keeps them."""
    return {"hooks": {event: [{"hooks": [_hook(event)]}] for event in EVENTS}}


def server(in_use: Mapping[str, Any]) -> dict[str, Any]:
    """Return how Codex starts our server, with what was set for it since."""
    values = {
        "command": this_python(),
        "args": SERVER_ARGUMENTS,
        "env_vars": list(_PASSED_ON),
        "startup_timeout_sec": _START_SECONDS,
        "default_tools_approval_mode": "approve",
        **environment_in_use(),
        "tools": {_ASKS_FIRST: {"approval_mode": "prompt"}},
    }
    return values | {key: value for key, value in in_use.items() if key not in _SET_EACH_TIME}


def server_edit(path: str, file: Path, values: Mapping[str, Any]) -> Edit:
    """Return the edit that keeps the table of our server in Codex's settings; `file` is for messages."""

    def put(content: bytes) -> list[Insertion]:
        text, former = _parsed(content, file)
        if toml_text.value_at(former, SERVER) is not None:
            raise WriteError(
                f"{str(file)!r} has an MCP server 'memlines' already, which is not of this installation;"
                " nothing was changed",
                todo="Delete its table [mcp_servers.memlines] there, and install again",
            )
        newline = newline_of(content)
        lines = [_COMMENT, *toml_text.table(SERVER, values)]
        added = gap_after(content, newline) + newline.join(line.encode() for line in lines) + newline
        try:
            toml_text.check_added(text, text + added.decode(), SERVER, values)
        except ValueError as error:
            raise WriteError(
                f"an MCP server cannot be added to {str(file)!r}: {error}; nothing was changed",
                todo="Give every server a table of its own, such as [mcp_servers.name], and install again",
            ) from error
        return [Insertion(len(content), added)]

    def take_out(content: bytes) -> bytes:
        text, former = _parsed(content, file)
        try:
            for server, comment in ((SERVER, _COMMENT), (_OLD_SERVER, _OLD_COMMENT)):
                if is_ours(toml_text.value_at(former, server)):
                    text = toml_text.without(text, server, comment)
            return text.encode()
        except ValueError as error:
            raise WriteError(
                f"Memlines's MCP server cannot be taken out of {str(file)!r}: {error}; nothing was changed",
                todo="Delete its table [mcp_servers.memlines] there, and try again",
            ) from error

    return Edit(path, put, take_out)


def is_ours(table: Any) -> bool:
    """Return whether a table starts our server."""
    return isinstance(table, Mapping) and is_server_of_ours(table.get("args"))


def _hook(event: str) -> dict[str, Any]:
    hook: dict[str, Any] = {"type": "command", "command": join_words(hook_words(NAME, event))}
    hook["timeout"] = _HOOK_SECONDS.get(event, _OTHER_HOOK_SECONDS)
    if event in ("SessionStart", "UserPromptSubmit"):
        hook["additionalContextLimit"] = _CONTEXT_TOKENS
    return hook


def _is_our_hook(place: Place, value: Any) -> bool:
    return is_our_hook(place, value, _words_of)


def _words_of(hook: Any) -> list[str] | None:
    command = hook.get("command") if isinstance(hook, dict) else None
    try:
        return shlex.split(command) if isinstance(command, str) else None
    except ValueError:  # quotes that are not closed
        return None


def _in_use(config: Path) -> Mapping[str, Any]:
    """Return the table of our server as it is now, if there is one."""
    values = _read_toml(config)
    tables = [toml_text.value_at(values, server) for server in (SERVER, _OLD_SERVER)]
    return next((table for table in tables if is_ours(table)), {})


def _read_toml(config: Path) -> dict[str, Any]:
    """Return what a file of settings says; nothing if it cannot be read or understood."""
    try:
        return toml_text.values_of((read(config, MOST_BYTES) or b"").decode())
    except (OSError, PathError, ValueError):  # an edit of it will say so
        return {}


def _parsed(content: bytes, file: Path) -> tuple[str, dict[str, Any]]:
    try:
        text = content.decode()
        return text, toml_text.values_of(text)
    except ValueError as error:
        raise WriteError(
            f"{str(file)!r} is not valid TOML: {error}; nothing was changed", todo="Repair it, and try again"
        ) from error


_CAPITAL = re.compile(r"(?<!^)(?=[A-Z])")


def is_trusted(project: Path) -> bool:
    """Return whether Codex reads the settings of a project."""
    noted = toml_text.value_at(_read_toml(global_folder() / CONFIG), ("projects", str(project)))
    return isinstance(noted, dict) and noted.get("trust_level") == "trusted"


def untrusted_hooks(project: Path | None) -> list[str]:
    """Return the events whose hook of ours Codex does not run, because the user has not trusted it yet."""
    file = folder_of(project) / HOOKS
    settings = _read_toml(global_folder() / CONFIG)
    untrusted = []
    for event, place in _our_hooks(file):
        state = toml_text.value_at(settings, ("hooks", "state", f"{file}:{place}"))
        if not isinstance(state, dict) or "trusted_hash" not in state or state.get("enabled") is False:
            untrusted.append(event)
    return untrusted


def _our_hooks(file: Path) -> Iterator[tuple[str, str]]:
    """Yield each hook of ours: its event, and its place by which Codex knows it."""
    try:
        for event, groups in read_json(file)["hooks"].items():
            for number, group in enumerate(groups):
                for inner, hook in enumerate(group["hooks"]):
                    if _is_our_hook(("hooks", event, number, "hooks", inner), hook):
                        yield event, f"{_CAPITAL.sub('_', event).lower()}:{number}:{inner}"
    except (LookupError, TypeError, AttributeError):
        return  # the check of files reports a file that is not as it should be


def warnings(project: Path | None) -> Iterator[tuple[str, str]]:
    """Say what Codex leaves out, because the user has not trusted it yet."""
    if project is not None and not is_trusted(project):
        yield (
            f"Codex does not trust {project}, and reads no settings there",
            "Start codex there, and trust the project",
        )
    hooks = untrusted_hooks(project)
    if hooks:
        yield (
            f"Codex does not run our hooks before they are trusted: {', '.join(hooks)}",
            "Type /hooks in codex, and trust them",
        )


def plugins(project: Path | None) -> Iterator[tuple[Path, Any]]:
    """Yield the files that enable plugins, the one that decides first, and what they say."""
    for file in dict.fromkeys((folder_of(project) / CONFIG, global_folder() / CONFIG)):
        yield file, _read_toml(file).get("plugins")


CLIENT = Client(
    name=NAME,
    title="Codex",
    program="codex",
    first_try="$recall --recent; it asks first whether you trust the project and the hooks",
    command="/memlines",
    folder_of=folder_of,
    targets=targets,
    python_of=python_of,
    warnings=warnings,
    plugins=plugins,
    remove_plugin="codex plugin remove memlines@memlines",
    if_both="its hooks would run twice, so take one of the two out",
)
