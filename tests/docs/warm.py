"""One warm interpreter that answers many calls of `memlines`, each in a process of its own.

    python warm.py serve SOCKET          read the modules and the model once, then fork for every call
    python warm.py SOCKET memlines …     hand over a call, its folder, variables and streams; end as it does
    python warm.py SOCKET python         the same for a program on standard input

A call behaves as the program does, but begins with everything imported: a page of twenty commands takes
seconds and not half a minute.
"""

from __future__ import annotations

import json
import os
import socket
import sys

_MOST_BYTES = 1 << 20


def call(address: str, words: list[str]) -> int:
    """Have a call answered with our streams, and return its exit code."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(address)
        folder = os.getcwd()  # noqa: PTH109 (to import pathlib takes longer than all the rest)
        request = json.dumps({"words": words, "folder": folder, "variables": dict(os.environ)}).encode()
        socket.send_fds(connection, [len(request).to_bytes(4, "big") + request], [0, 1, 2])
        answer = connection.recv(1)
    return answer[0] if answer else 1


def serve(address: str) -> None:
    """Answer calls until our standard input ends."""
    import gc
    import select

    _read_everything()
    gc.freeze()
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(address)
        listening.listen()
        print("ready", flush=True)  # noqa: T201 (the test waits for it)
        while sys.stdin not in select.select([listening, sys.stdin], [], [])[0]:
            connection, _ = listening.accept()
            if os.fork() == 0:
                listening.close()
                _keep(connection)
            connection.close()
            _reap()


def _read_everything() -> None:
    from importlib import import_module

    from memlines.cli.main import COMMANDS
    from memlines.embed.builtin.files import BuiltinProvider

    for module in {module for module, _ in COMMANDS.values()}:
        import_module(f"memlines.cli.{module}")
    import memlines.memory.memory  # noqa: F401

    BuiltinProvider().embed_query("memory")


def _reap() -> None:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return


def _keep(connection: socket.socket) -> None:
    """Fork the process that answers, wait for it, and report how it ended."""
    received, handles, _, _ = socket.recv_fds(connection, _MOST_BYTES, 3)
    length = int.from_bytes(received[:4], "big")
    while len(received) < length + 4:
        received += connection.recv(_MOST_BYTES)
    worker = os.fork()
    if worker == 0:
        connection.close()
        for number, handle in enumerate(handles):
            os.dup2(handle, number)
            os.close(handle)
        _answer(**json.loads(received[4:]))
    for handle in handles:
        os.close(handle)
    code = os.waitstatus_to_exitcode(os.waitpid(worker, 0)[1])
    connection.send(bytes([code % 256]))
    os._exit(0)


def _answer(words: list[str], folder: str, variables: dict[str, str]) -> None:
    os.environ.clear()
    os.environ.update(variables)
    os.chdir(folder)
    sys.argv = words
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", buffering=1, closefd=False)  # noqa: SIM115
    code: object = 0
    try:
        if words[0] == "memlines":
            from memlines.cli.main import main

            code = main()
        else:
            exec(compile(sys.stdin.read(), "<the page>", "exec"), {"__name__": "__main__"})
    except SystemExit as end:
        code = end.code
    except BaseException:  # noqa: BLE001 (what the interpreter itself would print)
        import traceback

        traceback.print_exc()
        code = 1
    import atexit

    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else bool(code))


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(sys.argv[2])
    else:
        sys.exit(call(sys.argv[1], sys.argv[2:]))
