"""A client: what belongs into its folders, and the commands by which it starts Memlines."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import Any, get_args

from memlines import old_name
from memlines.clients.edits import Edit
from memlines.clients.json_text import Place
from memlines.clients.receipt import (
    HOME,
    MANIFEST,
    OWN,
    Entry,
    Receipt,
    old_home,
    read_manifest,
    read_receipt,
)
from memlines.errors import PathError, WorkspaceError, reason_of
from memlines.files.atomic import read
from memlines.paths import HOME_VARIABLE, contains, home_folder
from memlines.records import dataclass
from memlines.types import ClientName

EVENTS = ("SessionStart", "UserPromptSubmit", "PreCompact", "Stop", "SessionEnd")
SERVER_ARGUMENTS = ["-P", "-m", "memlines", "mcp"]
GIT_IGNORED = b"# What is true on one machine only.\nreceipt.json\n"
MOST_BYTES = 50_000_000
"""How much of a client's file is read."""

_PACKAGE = Path(__file__).resolve().parents[1]
SCRIPT = _PACKAGE / "serve" / "hooks" / "hook.py"
_SCRIPT_ENDS = ("/memlines/serve/hooks/hook.py", "/memlines/hooks/hook.py", "/recollect/hooks/hook.py")
"""Where the script is in an installation of this version, and where earlier ones had it."""

_PLUGIN = "memlines@"
SHELL = "/bin/sh"
_RUN_IF_THERE = 'test -x "$0" && test -r "$3" && exec "$0" "$@"; exit 0'
"""Starts the interpreter if it and its third argument, the script, are there. Without its script, Python
would end with 2, and clients take that as the order to block the prompt."""


@dataclass(frozen=True, slots=True)
class Client:
    """A client that Memlines can be set up in.

    The functions accept the folder of a project, or None for the settings of the user.
    """

    name: str
    """Its name on the command line."""

    title: str
    program: str
    first_try: str
    """What to try first in it."""

    command: str
    """What its users type to switch memory on or off and to ask for its state."""

    folder_of: Callable[[Path | None], Path]
    """Where its settings are."""

    targets: Callable[[Path | None], tuple[Target, ...]]
    """What belongs where."""

    python_of: Callable[[Path | None], Path | None]
    """The interpreter that an installation named, if that is known."""

    warnings: Callable[[Path | None], Iterable[tuple[str, str]]] = lambda _: ()
    """What keeps an installation from working, and what to do about each."""

    ask_version: tuple[str, ...] = ()
    """The words after its program that have it print its version, if that costs little."""

    if_both: str = "where both are found, it runs once"
    """What happens where it is installed for a project and for all of them."""

    plugins: Callable[[Path | None], Iterable[tuple[Path, Any]]] = lambda _: ()
    """Its files of settings and the plugins that each names; the first that names ours decides."""

    remove_plugin: str = ""
    """The command that removes our plugin."""

    def is_global(self, project: Path | None) -> bool:
        """Return whether a project is the user's home, where its settings are those for all projects."""
        at_home = project is not None and project.resolve() == home_folder().resolve()
        return at_home and self.folder_of(project).resolve() == self.folder_of(None).resolve()

    def plugin_file(self, project: Path | None) -> Path | None:
        """Return the file that enables our plugin, from whichever marketplace it came."""
        for file, plugins in self.plugins(project):
            for name, value in plugins.items() if isinstance(plugins, Mapping) else ():
                if name.startswith(_PLUGIN):
                    is_on = value.get("enabled", True) if isinstance(value, Mapping) else value
                    return file if is_on else None
        return None


def load_clients() -> dict[str, Client]:
    """Return by name the clients that have a file here, so that Memlines can be set up in them."""
    return {
        name: import_module(file).CLIENT
        for name in get_args(ClientName)
        if find_spec(file := f"memlines.clients.{name.replace('-', '_')}")
    }


@dataclass(frozen=True, slots=True)
class File:
    """A file that a client needs; `without` says what it means to do without it, if that can be done.

    One that is shared gets settings of the user's as well: once it was changed, it is theirs.
    """

    path: str
    content: bytes
    without: str = ""
    is_shared: bool = False


@dataclass(frozen=True, slots=True)
class Target:
    """The folder of a client's settings, what belongs into it, and the folder it may not lead out of.

    `home` is the folder in it for what is Memlines's alone, and `edits` are our parts of the user's files.
    """

    host: str
    folder: Path
    files: tuple[File, ...]
    inside: Path | None = None
    owner: str = OWN
    home: str = HOME
    edits: tuple[Edit, ...] = ()

    def real(self) -> Path:
        """Return the folder with links followed; refuse one that leads out of the project."""
        return _inside(self.folder, self.inside)

    def place(self, path: str) -> Path:
        """Return where a file is; refuse a folder above it that leads out of the project."""
        file = self.real() / path
        return _inside(file.parent, self.inside) / file.name

    def receipt(self) -> Receipt | None:
        """Return what was written into the folder before."""
        return read_receipt(self.real(), self.home)

    def names(self) -> set[str]:
        """Return the paths of all files that are made or edited."""
        return {file.path for file in self.files} | {edit.path for edit in self.edits}

    def brought(self) -> dict[str, Entry]:
        """Return what is ours by the manifest, such as in a clone; what is not needed now was never found."""
        needed = {file.path for file in self.files}
        if MANIFEST not in needed:
            return {}
        homes = (old_home(self.home), self.home)
        tops = {PurePosixPath(path).parts[0] for path in (*needed, *homes)}
        return {
            path: Entry(sha256, found=path in needed)
            for home in homes
            if (manifest := read_manifest(self.real(), home))
            for path, sha256 in manifest.files.items()
            if PurePosixPath(path).parts[0] in tops
        }

    def is_shared(self, path: str) -> bool:
        """Return whether a file is one that the user may have put settings of their own into."""
        return any(file.path == path and file.is_shared for file in self.files)

    def edit_of(self, path: str) -> Edit | None:
        """Return our part of a file, if it is the user's."""
        return next((edit for edit in self.edits if edit.path == path), None)


def _inside(folder: Path, boundary: Path | None) -> Path:
    """Follow the links of a folder's path; refuse to leave the boundary, and anything but a folder."""
    try:
        real = folder.resolve()
        is_other = real.exists() and not real.is_dir()
    except (OSError, RuntimeError) as error:
        raise PathError(
            f"{str(folder)!r} cannot be opened: {reason_of(error)}", todo="Check its links and permissions"
        ) from error
    if boundary is not None and not contains(boundary, real):
        raise PathError(
            f"{str(folder)!r} leads out of the project, to {str(real)!r}",
            todo="Replace the link by a folder, or install with --global",
        )
    if is_other:
        raise PathError(f"{str(folder)!r} is not a folder", todo="Move it away")
    return real


def integration_folder(name: str) -> Path:
    """Return the folder of a client's files: in an installed package, or else in the checkout."""
    for folder in (_PACKAGE, _PACKAGE.parents[1]):
        found = folder / "integrations" / name
        if found.is_dir():
            return found
    raise WorkspaceError(
        f"this installation of Memlines lacks its files for {name}",
        todo="Install Memlines again: 'pip install --force-reinstall memlines'",
    )


def copied_files(source: Path, part: str, below: str = "") -> Iterator[File]:
    """Yield the files of a part of an integration, in the order of their names."""
    for file in sorted((source / part).rglob("*")):
        if file.is_file() and not file.name.startswith("."):
            yield File(f"{below}{file.relative_to(source).as_posix()}", file.read_bytes())


def read_json(file: Path) -> Any:
    """Return what a file of a client says; an empty object if it cannot be read or is not JSON."""
    try:
        return json.loads(read(file, MOST_BYTES) or b"{}")
    except (PathError, OSError, ValueError, RecursionError):
        return {}


def this_python() -> str:
    """Return the interpreter that runs now, which may be a link."""
    if not sys.executable:
        raise WorkspaceError("the running Python does not know where it is", todo="Call it by its full path")
    return sys.executable


def home_in_use() -> str | None:
    """Return the folder that holds everything of the user, if another one than usual is set."""
    home = old_name.get_variable(HOME_VARIABLE)
    return str(Path(home).expanduser().absolute()) if home else None


def environment_in_use() -> dict[str, Any]:
    """Return what a command needs in its description so that it uses the same folder of the user."""
    home = home_in_use()
    return {"env": {HOME_VARIABLE: home}} if home else {}


def hook_words(client: str, event: str) -> list[str]:
    """Return the command of a hook. Without sockets of the kind we need, it is the slow and simple one."""
    home = home_in_use()
    rest = [client, event, *([home] if home else [])]
    if sys.platform == "win32":
        return [this_python(), "-P", "-m", "memlines", "hook", *rest]
    return [SHELL, "-c", _RUN_IF_THERE, this_python(), "-I", "-S", str(SCRIPT), *rest]


def python_of_hook(words: list[str]) -> Path:
    """Return the interpreter in the command of a hook; earlier versions started it without a shell."""
    return Path(words[3] if words[0] == SHELL else words[0])


def is_server_of_ours(arguments: Any) -> bool:
    """Return whether a Python with these arguments is our MCP server, by our name or the old one."""
    return arguments in (SERVER_ARGUMENTS, ["-P", "-m", old_name.NAME, "mcp"])


def is_hook_of_ours(words: Any) -> bool:
    """Return whether a command is one of our hooks, of whichever installation."""
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        return False
    if words[1:3] == ["-P", "-m"] and words[3:5] in (["memlines", "hook"], [old_name.NAME, "hook"]):
        return True
    return any(Path(word).as_posix().endswith(_SCRIPT_ENDS) for word in words[:7])


def is_our_hook(place: Place, value: Any, words_of: Callable[[Any], Any]) -> bool:
    """Return whether something in a file of hooks is a hook of ours, or a group of nothing else.

    Clients keep hooks as {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": …}]}]}}; `words_of`
    returns the words of such a command.
    """
    match place:
        case ("hooks", str(), int(), "hooks", int()):
            return is_hook_of_ours(words_of(value))
        case ("hooks", str(), int()):  # a group goes as a whole if nothing but its matcher is left of it
            hooks = value.get("hooks") if isinstance(value, dict) else None
            return (
                bool(hooks)
                and isinstance(hooks, list)
                and all(is_hook_of_ours(words_of(hook)) for hook in hooks)
            )
    return False
