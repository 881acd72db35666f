"""Claude Code: an MCP server, hooks, commands and a skill, for a project or for the user.

For a project, the server goes into `.mcp.json` and what is true on one machine only into
`.claude/settings.local.json`, which Claude Code keeps out of version control. For the user, the server goes
into `.claude.json` and the hooks into `settings.json` of the folder for settings.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from memlines import old_name
from memlines.clients.client import (
    EVENTS,
    GIT_IGNORED,
    SERVER_ARGUMENTS,
    Client,
    File,
    Target,
    copied_files,
    environment_in_use,
    hook_words,
    integration_folder,
    is_hook_of_ours,
    is_our_hook,
    is_server_of_ours,
    python_of_hook,
    read_json,
    this_python,
)
from memlines.clients.edits import Edit
from memlines.clients.json_text import Place, json_edit
from memlines.clients.receipt import HOME
from memlines.paths import home_folder

NAME = "claude-code"
PROJECT_FOLDER = ".claude"
SERVER = "memlines"

_HOOK_SECONDS = 30
"""When Claude Code gives up a hook; ours give up long before."""


def folder_of(project: Path | None) -> Path:
    """Return the folder of settings of a project, or of the user."""
    if project is not None:
        return project / PROJECT_FOLDER
    chosen = os.environ.get("CLAUDE_CONFIG_DIR")
    return Path(chosen or home_folder() / ".claude").absolute()


def settings_file(project: Path | None) -> Path:
    """Return the file that holds the hooks."""
    return folder_of(project) / ("settings.json" if project is None else "settings.local.json")


def server_file(project: Path | None) -> Path:
    """Return the file that names the MCP servers."""
    if project is not None:
        return project / ".mcp.json"
    folder = folder_of(None)
    return (folder if os.environ.get("CLAUDE_CONFIG_DIR") else folder.parent) / ".claude.json"


def targets(project: Path | None, source: Path | None = None) -> tuple[Target, ...]:
    """Return what belongs where, for a project or for all of them."""
    folder, servers, settings = folder_of(project), server_file(project), settings_file(project)
    origin, top = source or integration_folder(NAME), servers.parent
    below = "" if top == folder else f"{folder.relative_to(top).as_posix()}/"
    files = (
        File(f"{below}{HOME}/.gitignore", GIT_IGNORED),
        *copied_files(origin, "commands", below),
        *copied_files(origin, "skills", below),
    )
    edits = (_servers(servers), _settings(f"{below}{settings.name}", settings, project))
    return (Target(NAME, top, files, inside=project, home=f"{below}{HOME}", edits=edits),)


def python_of(project: Path | None) -> Path | None:
    """Return the interpreter that an installation named, if it is known."""
    try:
        events = read_json(settings_file(project))["hooks"]
        hooks = [hook for event in EVENTS for group in events.get(event, ()) for hook in group["hooks"]]
        return python_of_hook(next(words for words in map(_words_of, hooks) if is_hook_of_ours(words)))
    except (StopIteration, LookupError, TypeError, AttributeError):
        return None


def plugins(project: Path | None) -> Iterator[tuple[Path, Any]]:
    """Yield the files that enable plugins, the one that decides first, and what they say."""
    files = [folder_of(None) / "settings.json"]
    if project is not None:
        files = [settings_file(project), folder_of(project) / "settings.json", *files]
    for file in files:
        settings = read_json(file)
        yield file, settings.get("enabledPlugins") if isinstance(settings, dict) else None


def _servers(file: Path) -> Edit:
    def is_ours(place: Place, value: Any) -> bool:
        is_named = place in (("mcpServers", SERVER), ("mcpServers", old_name.NAME))
        return is_named and isinstance(value, dict) and is_server_of_ours(value.get("args"))

    server = {"command": this_python(), "args": SERVER_ARGUMENTS, **environment_in_use()}
    return json_edit(file.name, file, {"mcpServers": {SERVER: server}}, is_ours)


def _settings(path: str, file: Path, project: Path | None) -> Edit:
    def is_ours(place: Place, value: Any) -> bool:
        if len(place) == 2 and place[0] == "enabledMcpjsonServers":
            return value in (SERVER, old_name.NAME)
        return is_our_hook(place, value, _words_of)

    added: dict[str, Any] = {"hooks": {event: [_hook(event)] for event in EVENTS}}
    if project is not None:  # Claude Code asks about servers of a project; installing this is the answer
        added["enabledMcpjsonServers"] = [SERVER]
    return json_edit(path, file, added, is_ours)


def _hook(event: str) -> dict[str, Any]:
    """Return a hook by its words: a line would need quotes, whose rules differ between systems."""
    program, *words = hook_words(NAME, event)
    return {"hooks": [{"type": "command", "command": program, "args": words, "timeout": _HOOK_SECONDS}]}


def _words_of(hook: Any) -> Any:
    if not isinstance(hook, dict) or not isinstance(hook.get("args"), list):
        return None
    return [hook.get("command"), *hook["args"]]


CLIENT = Client(
    name=NAME,
    title="Claude Code",
    program="claude",
    first_try="/memlines status",
    command="/memlines",
    folder_of=folder_of,
    targets=targets,
    python_of=python_of,
    plugins=plugins,
    remove_plugin="claude plugin uninstall memlines@memlines",
)
