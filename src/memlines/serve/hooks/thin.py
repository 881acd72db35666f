"""The command that a client starts at an event: hands the event to the engine, and prints what it answers.

    python -I -S hook.py CLIENT EVENT [MEMLINES_HOME] < the client's JSON

A client waits for it, often at every prompt, so it imports almost nothing: no `json`, no `socket`, no
`pathlib`, nothing of ours. It passes the client's JSON to the engine and prints the answer, both unchanged.
It never takes longer than the limit of its event. Whatever goes wrong, it prints nothing and exits with 0,
because a broken memory must not break the client; a line in `hooks.log` says what happened.

If no engine runs, it starts one, which lives on (see `daemon`).
"""
# The modules that would say this more nicely take longer to import than everything here takes to run.
# ruff: noqa: PTH100, PTH103, PTH105, PTH109, PTH110, PTH111, PTH112, PTH113, PTH117, PTH118, PTH120, PTH123, PTH202, PTH208

from __future__ import annotations

import os
import sys
from time import monotonic, time

TYPE_CHECKING = False  # `typing` takes longer to import than everything here takes to run
if TYPE_CHECKING:
    from typing import Any

LIMITS = {"UserPromptSubmit": 0.3, "PreCompact": 20.0, "SessionStart": 5.0}
"""The most seconds that a client waits, by event."""

OTHER_LIMIT = 3.0
START_LIMIT = 1.5
"""How long an event may wait if the engine has to be started for it, or has just been started."""

_YOUNG = 3.0
"""Seconds for which an engine counts as one that was just started."""

COMMAND_LIMIT = 30.0
_COMMANDS = (b'"/memlines', b'"/recollect')
"""What the JSON of a client holds if its user typed our command, by its name or its old one."""

FOLDER_VARIABLE = "CLAUDE_PROJECT_DIR"
"""The folder in which Claude Code was started, wherever it works now."""

WORKSPACE_VARIABLES = ("MEMLINES_WORKSPACE", "RECOLLECT_WORKSPACE")
"""The variables that name the workspace; the second is the old name of the first."""

OLD_STATE_MARKS = ("index-secret", "trusted.json", "engines", "install.lock", "hooks.log")
"""What shows that the state folder of the old name is ours; the same as in `memlines.old_name`."""

MOST_BYTES = 8 * 1024 * 1024
_USUAL_STATE = {"darwin": "~/Library/Application Support", "win32": "~/AppData/Local"}
"""Where a system keeps state of programs, if no variable names another place; elsewhere `~/.local/state`."""

LONGEST_SOCKET = 100
"""Bytes of the path of a socket; systems allow 104 or 108."""

_POLL = 0.02
_START_AGAIN = 2.0
_MOST_LOG = 64 * 1024
_SHELLS = frozenset({b"sh", b"bash", b"dash", b"zsh", b"ksh", b"fish", b"busybox"})
_ANSWER = b'{"jsonrpc":"2.0","id":1,"result":'
OUTDATED = "outdated"
"""What an engine answers to a newer Memlines before it ends."""


class Trouble(Exception):
    """Why nothing is printed, in words for the log."""


def main(arguments: list[str]) -> int:
    """Answer one event; the exit code is always that of success."""
    client, event, home = (*arguments, "", "", "")[:3]
    if not os.path.isabs(os.environ.get("HOME", os.sep)):
        del os.environ["HOME"]  # empty or relative; the system knows the user's own
    if home and not _variable("HOME"):
        os.environ["MEMLINES_HOME"] = home
    try:
        answer = _answer(client, event)
        while answer:
            answer = answer[os.write(1, answer) :]
    except (Trouble, OSError, ValueError) as error:
        log(event, str(error) if isinstance(error, Trouble) else f"{type(error).__name__}: {error}")
    return 0


def _answer(client: str, event: str) -> bytes:
    if not (client + event).replace("-", "").isalnum():
        raise Trouble("no client or no event was named")
    began = monotonic()
    said = _read_all(began + OTHER_LIMIT)
    is_command = event == "UserPromptSubmit" and is_typed_command(said)
    root = workspace_of(working_folder(), anyway=is_command)
    if root is None:
        return b""
    limit = COMMAND_LIMIT if is_command else LIMITS.get(event, OTHER_LIMIT)
    return _ask_until(root, client, event, said, began, limit)


def _request(params: str, said: bytes, deadline: float) -> bytes:
    """Return the line for the engine; JSON has line breaks only between words, so they become blanks.

    The deadline is by the clock that all processes share: the engine knows whether its answer was late.
    """
    given = said.replace(b"\r", b" ").replace(b"\n", b" ").strip() or b"{}"
    params = f'{params},"deadline_ms":{int(1000 * deadline)},"input":'
    return f'{{"jsonrpc":"2.0","id":1,"method":"hook","params":{{{params}'.encode() + given + b"}}\n"


def is_typed_command(said: bytes) -> bool:
    """Return whether the user typed our command."""
    return any(command in said for command in _COMMANDS)


def _variable(name: str) -> str:
    """Return a variable of ours, by its old name if it is not set by the new one."""
    return os.environ.get(f"MEMLINES_{name}", os.environ.get(f"RECOLLECT_{name}", ""))


def working_folder() -> str:
    """Return the folder that the client was started in, if it says so; else the current one."""
    return os.environ.get(FOLDER_VARIABLE) or os.getcwd()


def workspace_of(folder: str, *, anyway: bool = False) -> str | None:
    """Return the workspace that a folder belongs to; nothing if it holds no memory, unless `anyway`.

    Where a variable names the workspace, it is that one.
    """
    named = _variable("WORKSPACE")
    here = os.path.realpath(os.path.expanduser(named) if named else folder)
    if named and not os.path.isdir(here):
        variable = next(name for name in WORKSPACE_VARIABLES if name in os.environ)
        raise Trouble(f"the workspace {here!r} from {variable} does not exist")
    worktrees = _load_worktrees()
    found = here if named else worktrees.memory_of(here, shared=_variable("WORKTREES") != "separate")
    if found and worktrees.has_memory(found):
        return str(found)
    return here if anyway or _holds_notes(here) else None


def _load_worktrees() -> Any:
    """Return the module that finds a memory, which imports nothing either; the package would import a lot."""
    if "memlines.worktrees" in sys.modules:
        return sys.modules["memlines.worktrees"]
    folder = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    sys.path.append(folder)
    try:
        return __import__("worktrees")
    finally:
        sys.path.remove(folder)


def _holds_notes(folder: str) -> bool:
    try:
        names = os.listdir(os.path.join(folder, "memory"))
    except OSError:
        names = []
    return os.path.isfile(os.path.join(folder, "memory.md")) or any(name.endswith(".md") for name in names)


# Where the engine is


def state_folder() -> str:
    """Return the folder of the sockets, locks and logs of engines."""
    home = _variable("HOME")
    if home:
        return os.path.join(os.path.abspath(os.path.expanduser(home)), "state")
    state = os.environ.get("LOCALAPPDATA" if sys.platform == "win32" else "XDG_STATE_HOME", "")
    if not os.path.isabs(state):
        state = os.path.expanduser(_USUAL_STATE.get(sys.platform, "~/.local/state"))
    if not os.path.isabs(state):
        raise Trouble("the home folder of this user is not known")
    new, old = os.path.join(state, "memlines"), os.path.join(state, "recollect")
    if os.path.exists(new) or not any(os.path.exists(os.path.join(old, mark)) for mark in OLD_STATE_MARKS):
        return new
    return old


def key_of(root: str) -> str:
    """Return the name of a workspace's engine among all engines."""
    from _blake2 import blake2b  # hashlib would load OpenSSL

    return blake2b(os.fsencode(root), digest_size=10).hexdigest()


def socket_file(root: str) -> str:
    """Return where the engine of a workspace and an agent listens: a short path in a private folder."""
    folder = os.path.join(state_folder(), "engines")
    agent = _variable("AGENT")
    name = key_of(f"{root}\0{agent}" if agent else root)
    if len(os.fsencode(folder)) + len(name) + 6 > LONGEST_SOCKET:
        folder = f"/tmp/memlines-{os.getuid()}-{key_of(folder)[:8]}"
    return os.path.join(folder, f"{name}.sock")


def is_private(folder: str) -> bool:
    """Return whether a folder is ours and no other user may enter it."""
    try:
        found = os.lstat(folder)
    except OSError:
        return False
    is_folder = found.st_mode & 0o170000 == 0o040000
    return is_folder and found.st_uid == os.getuid() and not found.st_mode & 0o077


def version() -> str:
    """Return the version of the Memlines that this file belongs to."""
    package = os.path.abspath(__file__).rsplit(os.sep, 3)[0]
    with open(os.path.join(package, "version.py"), encoding="ascii") as file:
        return file.read().split("__version__ = ")[1].split('"')[1]


def client_process() -> int:
    """Return the process of the client: our parent, or the one above it if that is a shell."""
    process = os.getppid()
    for _ in range(4):
        try:
            with open(f"/proc/{process}/stat", "rb") as file:
                line = file.read()
        except OSError:
            break
        name = line[line.find(b"(") + 1 : line.rfind(b")")]
        if name not in _SHELLS:
            break
        process = int(line[line.rfind(b")") :].split()[2])
    return process


# Asking it


def _ask_until(root: str, client: str, event: str, said: bytes, began: float, limit: float) -> bytes:
    """Ask the engine until it answers or the time is over; start one if there is none, or an older one."""
    from select import select

    params = f'"version":"{version()}","process":{client_process()},"client":"{client}","event":"{event}"'
    started = -_START_AGAIN
    deadline = began + (max(limit, START_LIMIT) if _is_young(root) else limit)
    while True:
        try:
            answer = ask(root, _request(params, said, deadline), deadline)
        except TimeoutError:
            raise Trouble("the engine did not answer in time") from None
        except (FileNotFoundError, ConnectionError):
            answer = None
        if answer is not None:
            return answer
        if monotonic() - started >= _START_AGAIN:
            start(root)
            started = monotonic()
            deadline = began + max(limit, START_LIMIT)
        if monotonic() + _POLL >= deadline:
            raise Trouble("the engine was still starting")
        select([], [], [], _POLL)


def _is_young(root: str) -> bool:
    try:
        return 0 <= time() - os.lstat(socket_file(root)).st_mtime < _YOUNG
    except OSError:
        return False


def ask(root: str, request: bytes, deadline: float) -> bytes | None:
    """Return the engine's answer, or None from one that is too old; raise `OSError` if there is none."""
    from _socket import AF_UNIX, SOCK_STREAM
    from _socket import socket as plain_socket  # the module `socket` takes longer to import than all of this

    place = socket_file(root)
    if not is_private(os.path.dirname(place)):
        raise FileNotFoundError(place)
    connection = plain_socket(AF_UNIX, SOCK_STREAM)
    try:
        connection.settimeout(max(0.001, deadline - monotonic()))
        connection.connect(place)
        connection.sendall(request)
        got = b""
        while not got.endswith(b"\n"):
            connection.settimeout(max(0.001, deadline - monotonic()))
            piece = connection.recv(1 << 16)
            if not piece:
                raise ConnectionError("the engine ended")
            got += piece
    except BlockingIOError:  # more hooks than the engine has taken so far
        raise ConnectionError(place) from None
    finally:
        connection.close()
    return _parse_answer(got)


def _parse_answer(line: bytes) -> bytes | None:
    """Return what to print, out of the line that the engine answered."""
    if not line.startswith(_ANSWER):
        raise Trouble(f"the engine refused: {line[:300].decode(errors='replace').strip()}")
    result = line[len(_ANSWER) : -2]
    if result == f'"{OUTDATED}"'.encode():
        return None
    return b"" if result in (b"{}", b"null") else result + b"\n"


def start(root: str) -> None:
    """Start an engine that outlives us and the client's group of processes, and has no parent."""
    words = [sys.executable, "-X", "utf8", "-P", "-m", "memlines.serve.hooks.daemon"]
    words += [root, str(client_process())]
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    try:
        os.setsid()
        if os.fork() == 0:
            nothing = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(nothing, stream)
            os.closerange(3, 256)
            home = _variable("HOME")
            if home:
                os.environ["MEMLINES_HOME"] = os.path.abspath(os.path.expanduser(home))
            os.chdir("/")
            os.execv(words[0], words)
    finally:
        os._exit(0)


# What the system gives us


def _read_all(deadline: float) -> bytes:
    from select import select

    pieces: list[bytes] = []
    length = 0
    while True:
        ready, _, _ = select([0], [], [], max(0.0, deadline - monotonic()))
        if not ready:
            raise Trouble("the client did not say what happened")
        piece = os.read(0, 1 << 16)
        if not piece:
            return b"".join(pieces)
        pieces.append(piece)
        length += len(piece)
        if length > MOST_BYTES:
            raise Trouble("the client said too much")


def log(event: str, why: str) -> None:
    """Write a line to the log; where that fails, there is no one to report it to."""
    try:
        file = os.path.join(state_folder(), "hooks.log")
        os.makedirs(os.path.dirname(file), 0o700, exist_ok=True)
        if os.path.exists(file) and os.path.getsize(file) > _MOST_LOG:
            os.replace(file, f"{file}.old")
        log = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            os.write(log, f"{time():.0f} {event} {why}\n".encode(errors="replace"))
        finally:
            os.close(log)
    except (OSError, Trouble):
        return


def run(arguments: list[str]) -> None:
    """Answer one event and exit, without the clean-up of a long-lived program."""
    os._exit(main(arguments))
