"""OpenCode: a plugin, commands and a skill, in `.opencode` of a project or in the user's settings.

OpenCode runs `npm install` in every folder of settings at each start until that worked once, and its
plugins wait for it: without a network, for more than a minute. An `.npmrc` that lets npm give up at the
first refusal ends this, and still lets it install what other plugins need when there is a network.
A project needs it in the user's folder as well, because OpenCode waits for both.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from memlines.clients.client import (
    MOST_BYTES,
    Client,
    File,
    Target,
    copied_files,
    environment_in_use,
    integration_folder,
    read_json,
    this_python,
)
from memlines.clients.receipt import HOME, MANIFEST, manifest_of, old_home, read_receipt
from memlines.errors import PathError
from memlines.files.atomic import read
from memlines.paths import home_folder

NAME = "opencode"
PROJECT_FOLDER = ".opencode"
COMMAND_FILE = f"{HOME}/command.json"
PLUGIN_FILE = f"{HOME}/plugin.js"
NPM_FILE = ".npmrc"

_ORDER = ("commands", "skills", HOME, "plugins")
"""What is copied; the plugin comes last, so that OpenCode finds all of it or none."""

_NPM_PACKAGE = "@opencode-ai/plugin"
_NPM_SETTINGS = b"""\
; Written by Memlines. Without a network, OpenCode would wait for npm for more than a minute at each start.
fetch-retries=0
fetch-timeout=10000
"""
_GIVES_UP = re.compile(r"^\s*(?:fetch-retries\s*=\s*0|offline\s*(?:=\s*true)?)\s*$", re.MULTILINE)
_GIT_IGNORED = b"# What is true on one machine only.\ncommand.json\nreceipt.json\n"
_DEPENDENCIES = ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies")


def global_folder() -> Path:
    """Return the folder of the user's settings of OpenCode, the same on every system."""
    config = os.environ.get("XDG_CONFIG_HOME") or home_folder() / ".config"
    return Path(config).absolute() / NAME


def folder_of(project: Path | None) -> Path:
    """Return the folder of settings of a project, or of the user."""
    return global_folder() if project is None else project / PROJECT_FOLDER


def targets(project: Path | None, source: Path | None = None) -> tuple[Target, ...]:
    """Return what belongs where, for a project or for all of them."""
    folder = folder_of(project)
    *others, plugin = _files(source or integration_folder(NAME))
    shared = [(file.path, file.content) for file in (*others, plugin) if file.path != COMMAND_FILE]
    manifest = File(MANIFEST, manifest_of(shared))  # of what is the same on every machine
    main = Target(NAME, folder, (*_npm(folder), *others, manifest, plugin), inside=project)
    if project is None:
        return (main,)
    everywhere = global_folder()
    return (main, Target(NAME, everywhere, tuple(_npm(everywhere)), owner=str(main.real())))


def python_of(project: Path | None) -> Path | None:
    """Return the interpreter that an installation named, if it is known."""
    folder = folder_of(project)
    started = read_json(folder / COMMAND_FILE) or read_json(folder / old_home() / "command.json")
    try:
        return Path(started["command"][0])
    except (LookupError, TypeError):
        return None


def waits_for_npm(folder: Path) -> bool:
    """Return whether OpenCode runs `npm install` in a folder at each start; it compares names only."""
    above = next(parent for parent in (folder, *folder.parents) if parent.exists())
    if not os.access(above, os.W_OK):
        return False
    if not (folder / "node_modules").exists():
        return True
    wanted = _names(read_json(folder / "package.json")) | {_NPM_PACKAGE}
    locked = read_json(folder / "package-lock.json")
    for key in ("packages", ""):
        locked = locked.get(key) if isinstance(locked, dict) else None
    return not wanted <= _names(locked)


def gives_up_soon(folder: Path) -> bool:
    """Return whether npm is set in a folder not to try again and again."""
    try:
        text = (read(folder / NPM_FILE, MOST_BYTES) or b"").decode(errors="replace")
    except (OSError, PathError):
        return False
    return bool(_GIVES_UP.search(text))


def lacks_setup(plugin: Path) -> bool:
    """Return whether a plugin is there that has nothing for OpenCode 2 to call."""
    try:
        text = read(plugin, MOST_BYTES)
    except (OSError, PathError):
        return False
    return text is not None and b"setup" not in text


def _npm(folder: Path) -> Iterator[File]:
    receipt = read_receipt(folder)
    was_written = receipt is not None and NPM_FILE in receipt.files
    if was_written or (waits_for_npm(folder) and not gives_up_soon(folder)):
        yield File(
            NPM_FILE,
            _NPM_SETTINGS,
            without="without a network OpenCode waits for more than a minute at each start,"
            " unless you add the line fetch-retries=0 to it",
            is_shared=True,
        )


def _files(source: Path) -> Iterator[File]:
    for part in _ORDER:
        if part == HOME:
            yield File(f"{HOME}/.gitignore", _GIT_IGNORED)
            yield File(COMMAND_FILE, _command())
        yield from copied_files(source, part)


def _command() -> bytes:
    """Return how the plugin starts the engine: by the interpreter that runs now, which may be a link.

    With -P, a file of the project that has the name of a Python module is not imported instead of it.
    """
    command = [this_python(), "-P", "-m", "memlines", "serve", "--stdio"]
    return (json.dumps({"command": command, **environment_in_use()}, indent=2) + "\n").encode()


def _names(package: Any) -> set[str]:
    """Return the names of what a package needs; what cannot be read needs nothing, for OpenCode as well."""
    if not isinstance(package, dict):
        return set()
    kinds = (package.get(kind) for kind in _DEPENDENCIES)
    return {str(name) for kind in kinds if isinstance(kind, dict) for name in kind}


def warnings(project: Path | None) -> Iterator[tuple[str, str]]:
    """Say where the plugin is of before OpenCode 2, and where OpenCode waits for npm."""
    option = "--global" if project is None else "--project"
    plugin = folder_of(project) / PLUGIN_FILE
    if lacks_setup(plugin):
        yield (f"OpenCode 2 cannot load {plugin}", f"Run 'memlines install {NAME} {option}'")
    for place in dict.fromkeys((folder_of(project), global_folder())):
        if waits_for_npm(place) and not gives_up_soon(place):
            yield (
                f"without a network, OpenCode waits for npm at each start because of {place}",
                f"Run 'memlines install {NAME} {option}', or add fetch-retries=0 to its .npmrc",
            )


CLIENT = Client(
    name=NAME,
    title="OpenCode",
    program="opencode",
    first_try="/memory status",
    command="/memory",
    folder_of=folder_of,
    targets=targets,
    python_of=python_of,
    warnings=warnings,
    ask_version=("--version",),
)
