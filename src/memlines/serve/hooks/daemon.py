"""The engine behind the hooks of one workspace: `python -P -m memlines.serve.hooks.daemon FOLDER PROCESS`.

It listens on a socket that only its user can reach. A lock of the operating system, which ends with the
process, ensures that there is only one. It ends a minute after its clients are gone, ten minutes after the
last request, when its workspace is gone, and when a newer Memlines asks.

It takes the lock and opens the socket before everything that takes time: another engine that is started
meanwhile finds it, and a hook waits for it. Then it prepares answers by words; the model is loaded in a
thread after the first answers.
"""

from __future__ import annotations

import fcntl
import os
import signal
import socket
import struct
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

from memlines.folders import make_private_folders
from memlines.serve.hooks import thin

if TYPE_CHECKING:
    from memlines.serve.hooks.events import Events

_GONE = b"ZX"
"""States of a process that has ended but still has an entry in the list of processes."""

IDLE_SECONDS = 600.0
LINGER_SECONDS = 60.0
"""How long it stays after the last client left: to finish indexing, and for the next client. One that answers
a single question (`claude -p`, `codex exec`) is often started again for the next."""

_LOOK_SECONDS = 0.5
_LOCK_SECONDS = 4.0
_TRANSFER_SECONDS = 60.0
_READY_SECONDS = 4.0
_FIRST_SECONDS = 0.2
"""How long the start of a session, which needs no search, has the engine to itself."""
_SECONDS_TO_END = 1.0
_MOST_AT_ONCE = 32
_MOST_LOG = 256 * 1024
_MAC_PEER = (0, 1, 4 + 4 + 2 + 2 + 16 * 4)
"""SOL_LOCAL, LOCAL_PEERCRED and the size of its answer."""


class Clients:
    """The processes that an engine runs for."""

    def __init__(self) -> None:
        self._started: dict[int, bytes] = {}

    def add(self, process: int) -> None:
        """Note a client, unless it has already ended."""
        started = _start_time(process) if process > 1 else None
        if started is not None:
            self._started[process] = started

    def any_left(self) -> bool:
        """Return whether one of the clients still runs, and forget the others."""
        for process, started in list(self._started.items()):
            if _start_time(process) != started:
                self._started.pop(process, None)
        return bool(self._started)


def _start_time(process: int) -> bytes | None:
    """Return when a process began, or nothing if it has ended; empty if the system does not say when.

    The system reuses the number of a process; the time when it began distinguishes the two.
    """
    try:
        if not Path("/proc/self/stat").exists():
            with suppress(PermissionError):  # it runs, though it is not ours
                os.kill(process, 0)
            return b""
        line = Path(f"/proc/{process}/stat").read_bytes()
    except OSError:
        return None
    fields = line[line.rfind(b")") + 1 :].split()
    return None if fields[0] in _GONE else fields[19]


def main(arguments: list[str]) -> int:
    """Serve a workspace until no client needs it any more."""
    root, process = Path(arguments[0]), int(arguments[1])
    place = Path(thin.socket_file(str(root)))
    engines = Path(thin.state_folder()) / "engines"
    for folder in {engines, place.parent}:
        make_private_folders(folder)
        if not thin.is_private(str(folder)):
            folder.chmod(0o700)  # raises if it is not ours
    lock = _take_lock(engines / f"{place.stem}.lock", place)
    if lock is None:
        return 0
    log = os.open(engines / f"{place.stem}.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
    os.dup2(log, 2)
    os.close(log)
    engine = _Engine(root, process, _listen(place))
    signal.signal(signal.SIGTERM, lambda *_: engine.ask_to_end())
    try:
        engine.run()
    finally:
        place.unlink(missing_ok=True)
        engine.end()
        os.close(lock)
    return 0


def _take_lock(file: Path, place: Path) -> int | None:
    """Take the lock, waiting for an engine that is about to end; return None if another one listens."""
    lock = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    until = monotonic() + _LOCK_SECONDS
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.ftruncate(lock, 0)
            os.write(lock, str(os.getpid()).encode())  # for people and for tests
            return lock
        except BlockingIOError:
            if monotonic() >= until or _is_listening(place):
                os.close(lock)
                return None
        sleep(_LOOK_SECONDS / 10)


def _is_listening(place: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        try:
            connection.settimeout(_LOOK_SECONDS)
            connection.connect(str(place))
        except OSError:
            return False
        return True


def _listen(place: Path) -> socket.socket:
    """Listen; an existing socket is from an engine that died, since the lock is ours."""
    place.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    former = os.umask(0o177)
    try:
        listener.bind(str(place))
    finally:
        os.umask(former)
    listener.listen(_MOST_AT_ONCE)
    return listener


class _Engine:
    """The connections of one engine, and the time until it ends."""

    def __init__(self, root: Path, process: int, listener: socket.socket) -> None:
        self._root = root
        self._listener = listener
        self._clients = Clients()
        self._clients.add(process)
        self._ending = threading.Event()
        self._lock = threading.Lock()
        self._opening = threading.Lock()
        self._open = 0
        self._last_use = self._last_client = monotonic()
        self._events: Events | None = None
        self._wanted = threading.Event()
        self._ready = threading.Event()

    def ask_to_end(self) -> None:
        """Have it end soon."""
        self._ending.set()

    def run(self) -> None:
        """Answer until it is time to end."""
        threading.Thread(target=self._accept, name="memlines-hooks", daemon=True).start()
        threading.Thread(target=self._prepare, name="memlines-prepare", daemon=True).start()
        while not self._ending.wait(_LOOK_SECONDS):
            if self._is_unneeded():
                return

    def end(self) -> None:
        """Wait a while for answers that are nearly done, and close the memory."""
        until = monotonic() + _SECONDS_TO_END
        self._ending.set()
        with suppress(OSError):  # not every system can wake a thread that waits for a connection
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        while self._open and monotonic() < until:
            sleep(_LOOK_SECONDS / 20)
        if self._events is not None:
            closing = threading.Thread(target=self._events.close, name="memlines-end", daemon=True)
            closing.start()
            closing.join(_SECONDS_TO_END)

    def _is_unneeded(self) -> bool:
        now = monotonic()
        if self._open:
            self._last_use = now
        if self._clients.any_left():
            self._last_client = now
        if os.fstat(2).st_size > _MOST_LOG:
            os.ftruncate(2, 0)
        is_idle = now - self._last_use > IDLE_SECONDS
        is_alone = now - self._last_client > LINGER_SECONDS
        return is_idle or is_alone or not self._root.is_dir()

    def _accept(self) -> None:
        while not self._ending.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:  # it was closed, which is the end
                return
            if self._ending.is_set() or self._open >= _MOST_AT_ONCE or not _is_own_user(connection):
                connection.close()
                continue
            with self._lock:
                self._open += 1
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        """Answer the one request that a hook sends over a connection."""
        from memlines.serve.rpc.messages import read_lines

        try:
            connection.settimeout(_TRANSFER_SECONDS)
            with connection, connection.makefile("rb") as reader, suppress(OSError):
                for line in read_lines(reader):
                    connection.sendall(self._answer(line))
                    return
        finally:
            with self._lock:
                self._open -= 1

    def _answer(self, line: bytes | None) -> bytes:
        from memlines.serve.rpc.messages import NOT_A_REQUEST, Refused, error_line, parse_request
        from memlines.serve.rpc.server import Method, outcome

        try:
            request = parse_request(line)
            if request.method != "hook" or not isinstance(request.params, dict):
                raise Refused(NOT_A_REQUEST, "only hooks are answered here", request=request.id)
        except Refused as refused:
            return error_line(refused.request, refused.number, str(refused))
        return outcome(request, Method(self._hook, 0.0))[0]

    def _hook(self, params: Mapping[str, Any]) -> Any:
        from memlines.memory.arguments import Argument, parse

        if _is_newer(str(params.get("version"))):  # its parameters may be unknown here
            self.ask_to_end()
            return thin.OUTDATED
        text = Argument("text", required=True)
        fields = {
            "version": text,
            "process": Argument("int", required=True),
            "client": text,
            "event": text,
            "input": Argument("object", required=True),
            "deadline_ms": Argument("int"),
        }
        given = parse("hook", fields, params)
        self._clients.add(given["process"])
        self._last_use = self._last_client = monotonic()
        client, event, events = given["client"], given["event"], self._open_events()
        if event != "SessionStart":
            self._wanted.set()
            self._ready.wait(_READY_SECONDS)  # without that, it would be done twice at once
        answer = events.run(client, event, given["input"])
        deadline = given.get("deadline_ms")
        if answer and deadline is not None and 1000 * monotonic() > deadline:
            events.keep_late(client, event, given["input"], answer)
        return answer

    def _prepare(self) -> None:
        try:
            events = self._open_events()
            self._wanted.wait(_FIRST_SECONDS)
            events.prepare()
        finally:
            self._ready.set()

    def _open_events(self) -> Events:
        from memlines.serve.hooks.events import Events

        with self._opening:
            if self._events is None:
                self._events = Events(self._root)
            return self._events


def _is_own_user(connection: socket.socket) -> bool:
    """Return whether the other side is our own user; if the system cannot say, the folder protects us."""
    system: str = sys.platform
    if system == "linux":
        peer = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        return bool(struct.unpack("3i", peer)[1] == os.getuid())
    if system == "darwin":
        peer = connection.getsockopt(*_MAC_PEER)
        return bool(struct.unpack_from("=II", peer)[1] == os.getuid())
    return True


def _is_newer(version: str) -> bool:
    from memlines.version import __version__

    asked, own = (
        [int(part) for part in text.split(".") if part.isdigit()] for text in (version, __version__)
    )
    return asked > own


if __name__ == "__main__":
    os._exit(main(sys.argv[1:]))  # calls that hang are not waited for
