"""How clients start Memlines: the commands of its hooks, and the files that are copied into a client."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from memlines import old_name
from memlines.clients import json_text
from memlines.clients.edits import Edit, Insertion
from memlines.errors import WorkspaceError, WriteError
from memlines.paths import HOME_VARIABLE

EVENTS = ("SessionStart", "UserPromptSubmit", "PreCompact", "Stop", "SessionEnd")
SERVER_ARGUMENTS = ["-P", "-m", "memlines", "mcp"]
SCRIPT = Path(__file__).resolve().parents[1] / "serve" / "hooks" / "hook.py"
_SCRIPT_ENDS = ("/memlines/serve/hooks/hook.py", "/memlines/hooks/hook.py", "/recollect/hooks/hook.py")
"""Where the script is in an installation of this version, and where earlier ones had it."""


def this_python() -> str:
    """Return the interpreter that runs now, which a link may stand for."""
    if not sys.executable:
        raise WorkspaceError("the running Python does not know where it is", todo="Call it by its full path")
    return sys.executable


def home_in_use() -> str | None:
    """Return the folder that holds everything of the user, if another one than usual is set."""
    home = old_name.get_variable(HOME_VARIABLE)
    return str(Path(home).expanduser().absolute()) if home else None


def hook_words(client: str, event: str) -> list[str]:
    """Return the command of a hook. Without sockets of the kind we need, it is the slow and simple one."""
    home = home_in_use()
    rest = [client, event, *([home] if home else [])]
    if sys.platform == "win32":
        return [this_python(), "-P", "-m", "memlines", "hook", *rest]
    return [this_python(), "-I", "-S", str(SCRIPT), *rest]


def is_server_of_ours(arguments: Any) -> bool:
    """Tell whether a Python with these arguments is our MCP server, by the project's name or its old one."""
    return arguments in (SERVER_ARGUMENTS, ["-P", "-m", old_name.NAME, "mcp"])


def is_hook_of_ours(words: Any) -> bool:
    """Tell whether a command is one of our hooks, of whichever installation."""
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        return False
    if words[1:3] == ["-P", "-m"] and words[3:5] in (["memlines", "hook"], [old_name.NAME, "hook"]):
        return True
    return any(Path(word).as_posix().endswith(_SCRIPT_ENDS) for word in words[:5])


def json_edit(
    path: str, file: Path, added: Mapping[str, Any], is_ours: Callable[[json_text.Place, Any], bool]
) -> Edit:
    """Return the edit that keeps something in a JSON file of the user's; `file` is for messages."""

    def put(content: bytes) -> list[Insertion]:
        try:
            return json_text.additions(content, added)
        except json_text.NotJson as error:
            raise _refused(file, error) from error

    def take_out(content: bytes) -> bytes:
        try:
            return json_text.without(content, is_ours)
        except json_text.NotJson as error:
            raise _refused(file, error) from error

    return Edit(path, put, take_out, json_text.is_empty)


def _refused(file: Path, error: json_text.NotJson) -> WriteError:
    return WriteError(
        f"{str(file)!r} is not JSON that can be added to: {error}; nothing was changed",
        todo="Correct it, and try again",
    )


_PACKAGE = Path(__file__).resolve().parents[1]


def integration(name: str) -> Path:
    """Return the folder of a client's files: in an installed package, or else in the checkout."""
    for folder in (_PACKAGE, _PACKAGE.parents[1]):
        found = folder / "integrations" / name
        if found.is_dir():
            return found
    raise WorkspaceError(
        f"this installation of Memlines lacks its files for {name}",
        todo="Install Memlines again: 'pip install --force-reinstall memlines'",
    )
