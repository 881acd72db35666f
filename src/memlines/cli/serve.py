"""The commands that programs call: `serve` and `mcp` keep a memory open for a client, `hook` answers once."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from types import FrameType
from typing import TYPE_CHECKING, Any, BinaryIO, get_args

import click

from memlines.cli.common import FOLDER, Function, agent_option, workspace_option
from memlines.cli.output import print_line
from memlines.errors import MemlinesError, UsageError, WorkspaceError
from memlines.old_name import get_variable
from memlines.paths import HOME_VARIABLE, Workspace
from memlines.settings.workspace import find_workspace
from memlines.types import Scope

if TYPE_CHECKING:
    from memlines.serve.http.listener import Application
    from memlines.serve.mcp.endpoint import Clients
    from memlines.serve.mcp.server import Server
    from memlines.serve.rpc.engine import Engine
    from memlines.serve.rpc.server import Dialect, Events

_BY_SIGNAL = 128
_BUFFER = 64 * 1024
_LOOK_SECONDS = 0.5
_PORT = 8737
_HOST = "127.0.0.1"
_PROJECT_VARIABLE = "CLAUDE_PROJECT_DIR"
"""Where Claude Code says which project it is in."""


# hook


@click.command("hook")
@click.argument("client")
@click.argument("event")
@click.argument("home", required=False, default="")
@click.option(
    "-w",
    "--workspace",
    type=FOLDER,
    help="A folder of the workspace. [default: the one that the client was started in]",
)
def hook_command(client: str, event: str, home: str, workspace: Path | None) -> int:
    """Answer an event of a client, which sends it as JSON on standard input.

    Prints an answer for the client, or nothing. The exit code is always 0.
    """
    from memlines.serve.hooks import thin

    if workspace is not None:
        os.environ[thin.FOLDER_VARIABLE] = str(workspace)
        for variable in thin.WORKSPACE_VARIABLES:
            os.environ.pop(variable, None)
    if hasattr(os, "fork"):
        return thin.main([client, event, home])
    if home and not get_variable(HOME_VARIABLE):
        os.environ[HOME_VARIABLE] = home
    try:
        click.echo(_answer_here(client, event), nl=False)
    except (MemlinesError, OSError, ValueError) as error:
        thin.log(event, f"{type(error).__name__}: {error}")
    return 0


def _answer_here(client: str, event: str) -> str:
    """Answer in this process: slow, but it needs no socket, which not every system has for Python."""
    from memlines.serve.hooks import thin

    said = sys.stdin.buffer.read(thin.MOST_BYTES)
    root = thin.workspace_of(thin.working_folder(), anyway=thin.is_typed_command(said))
    if root is None:
        return ""
    from memlines.serve.hooks.events import Events

    events = Events(Path(root))
    try:
        given = json.loads(said or b"{}")
        answer = events.run(client, event, given if isinstance(given, dict) else {})
    finally:
        events.close()
    return f"{json.dumps(answer)}\n" if answer else ""


# serve


_port_option = click.option(
    "--port", type=click.IntRange(0, 65535), help=f"With --http: the port. [default: {_PORT}]"
)


def _host_option(what: str) -> Callable[[Function], Function]:
    return click.option("--host", help=f"With --http: {what}. [default: {_HOST}]")


def _token_file_option(what: str) -> Callable[[Function], Function]:
    return click.option(
        "--token-file",
        type=click.Path(path_type=Path, dir_okay=False),
        help=f"With --http: the file with {what}. [default: one in your state folder]",
    )


@click.command("serve")
@click.option("--stdio", is_flag=True, help="Answer the program that starts this (JSON-RPC).")
@click.option("--http", "over_http", is_flag=True, help="Serve a team, each with a token of its own (MCP).")
@_token_file_option("the names and hashes of the tokens")
@_port_option
@_host_option("the address; one that others can reach only with --behind-proxy")
@click.option(
    "--behind-proxy",
    metavar="NAME",
    multiple=True,
    help="With --http: the public name of a reverse proxy that adds TLS. May be given again.",
)
@click.option("--new-token", metavar="NAME", help="With --http: make a token, print it once, and end.")
@click.option("--read-only", is_flag=True, help="With --new-token: it may not write.")
@click.option(
    "--scope",
    type=click.Choice(get_args(Scope)),
    multiple=True,
    help="With --new-token: whose memory it may ask, beside the project's.",
)
@click.option(
    "-w",
    "--workspace",
    type=FOLDER,
    help="The folder with your notes. [default: found from the folder that the client names]",
)
@agent_option
def serve_command(stdio: bool, over_http: bool, workspace: Path | None, **options: Any) -> int:
    """Serve your memory to a client program over standard streams, or to a team over HTTP.

    With --stdio it answers one JSON-RPC request per line until its input ends (docs/protocol.md). With --http
    it answers clients of the Model Context Protocol (docs/server.md).
    """
    if stdio == over_http:
        raise UsageError(
            "memlines serve needs either --stdio or --http",
            todo="Run memlines serve --http for a team; client programs start memlines serve --stdio",
        )
    if over_http:
        return _serve_team(workspace, **options)
    _refuse_options("can only be used with --http", **options)
    from memlines.serve.rpc.server import ENGINE

    def engine() -> Engine:
        from memlines.serve.rpc.engine import Engine

        return Engine(workspace)

    return serve_stdio(engine, ENGINE)


def _serve_team(
    workspace: Path | None,
    token_file: Path | None,
    new_token: str | None,
    read_only: bool,
    scope: Sequence[Scope],
    **where: Any,
) -> int:
    from memlines.serve.mcp import tokens

    file = token_file or tokens.usual_file()
    if new_token is not None:
        _refuse_options("cannot be used with --new-token", **where)
        access: tokens.Access = "read" if read_only else "write"
        click.echo(tokens.add(file, new_token, access, scope))
        print_line(f"This token may {access}. It is not shown again; its hash is in {file}.", err=True)
        return 0
    _refuse_options("can only be used with --new-token", read_only=read_only, scope=scope)
    from memlines.serve.mcp.team import Team

    folder = _folder(workspace)
    team = Team(folder, file)
    about = (
        f"Clients send a token of {file} as Authorization: Bearer. {team.audit.file} logs what they write."
    )
    return _serve_mcp(folder, team, about, **where)


def _refuse_options(why: str, **options: Any) -> None:
    """Refuse options that were given."""
    names = [name for name, value in options.items() if value not in (None, ()) and value is not False]
    if names:
        given = " and ".join(f"--{name.replace('_', '-')}" for name in names)
        raise UsageError(f"{given} {why}", todo="Leave it out")


# mcp


@click.command("mcp")
@workspace_option
@click.option("--http", "over_http", is_flag=True, help="Listen on a port of this machine instead.")
@_port_option
@_host_option("a loopback address")
@_token_file_option("the token that clients send")
def mcp_command(
    workspace: Path | None, over_http: bool, port: int | None, host: str | None, token_file: Path | None
) -> int:
    """Serve your memory to a client of the Model Context Protocol, over standard streams or HTTP.

    docs/mcp.md describes how to set clients up.
    """
    folder = _folder(workspace)
    if over_http:
        return _serve_one(folder, host, port, token_file)
    _refuse_options("can only be used with --http", port=port, host=host, token_file=token_file)
    from memlines.serve.mcp.server import DIALECT

    def server() -> Server:
        from memlines.files.shown import CONNECTION
        from memlines.serve.mcp.server import Server
        from memlines.serve.rpc.workplace import Workplace

        return Server(Workplace(folder), f"{CONNECTION}{os.urandom(8).hex()}")

    return serve_stdio(server, DIALECT)


def _folder(named: Path | None) -> Path:
    """Return the folder with the notes; a client that starts us in the root folder names none."""
    project = os.environ.get(_PROJECT_VARIABLE)
    folder = named or find_workspace(Path(project) if project else None).folder
    root = Workspace.at(folder).root
    if named is None and root == Path(root.anchor):
        raise WorkspaceError(
            f"this was started in {root}, which is not a project",
            todo="Name the folder with the notes: --workspace FOLDER",
        )
    return root


def _serve_one(folder: Path, host: str | None, port: int | None, named: Path | None) -> int:
    from memlines.serve.mcp.endpoint import OneClient, token_file, token_in
    from memlines.serve.mcp.server import Server
    from memlines.serve.rpc.workplace import Workplace

    file = named or token_file()
    client = OneClient(token_in(file), Server(Workplace(folder)))
    about = f"Clients send the token in {file} as Authorization: Bearer."
    return _serve_mcp(folder, client, about, host=host, port=port)


# Serving


def _serve_mcp(folder: Path, clients: Clients, about: str, **where: Any) -> int:
    from memlines.serve.mcp.endpoint import Endpoint

    def announce(url: str) -> None:
        print_line(f"Serving the memory of {folder} at {url}")
        print_line(f"{about} Ctrl-C ends this.")

    return serve_application(Endpoint(clients), announce, **where)


def serve_application(
    application: Application,
    announce: Callable[[str], None],
    host: str | None = None,
    port: int | None = None,
    behind_proxy: Sequence[str] = (),
) -> int:
    """Serve an application over HTTP until a signal ends it, and return the exit code.

    Its address is announced as soon as it can be asked.
    """
    from memlines.serve.http.listener import Listener, serve_http

    listener = Listener(host or _HOST, _PORT if port is None else port, application, behind_proxy)
    events: Events = SimpleQueue()
    with _end_on_signals(events) as signals:
        announce(listener.url)
        serve_http(listener, events)
    return _exit_code(signals)


def serve_stdio(engine: Callable[[], Engine | Server], dialect: Dialect) -> int:
    """Serve an engine over the standard streams, and return the exit code.

    Does not return if calls still hang: the process ends here then.
    """
    from memlines.serve.rpc.server import serve

    if os.isatty(0):
        click.echo(
            "This is for client programs: it waits for JSON-RPC requests, one per line. Ctrl-D ends it.",
            err=True,
        )
    reader, writer = _take_streams()
    events: Events = SimpleQueue()
    with _end_on_signals(events) as signals:
        served = engine()
        serve(served.methods(), reader, writer, on_end=served.close, events=events, dialect=dialect)
    return _exit_code(signals)


def _exit_code(signals: Sequence[int]) -> int:
    """Return the exit code after signals that asked for the end, or after none.

    Does not return if threads are left: the process ends here then.
    """
    code = _BY_SIGNAL + signals[0] if signals else 0
    if any(thread is not threading.main_thread() for thread in threading.enumerate()):
        # Python would wait for some of them, and they may hang. Nothing is flushed: that may hang as well.
        os._exit(code)
    return code


@contextmanager
def _end_on_signals(events: Events) -> Iterator[list[int]]:
    """End the serving on a signal that asks for it; yield the list of those that came."""
    from memlines.serve.rpc.server import Event

    received: list[int] = []

    def end(number: int, frame: FrameType | None) -> None:
        received.append(number)
        events.put(Event.END)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    if os.name == "nt":  # nothing wakes a thread that waits there, so it looks every now and then
        done = threading.Event()
        threading.Thread(
            target=_wake_often, args=(done, events), name="memlines-signals", daemon=True
        ).start()
        try:
            yield received
        finally:
            done.set()
        return
    source, sink = os.pipe()
    os.set_blocking(sink, False)
    signal.set_wakeup_fd(sink)
    waking = threading.Thread(target=_wake, args=(source, events), name="memlines-signals", daemon=True)
    waking.start()
    try:
        yield received
    finally:
        signal.set_wakeup_fd(-1)
        os.close(sink)
        waking.join()


def _wake(source: int, events: Events) -> None:
    """Wake the main thread at every signal.

    Python calls a handler when the main thread next does something. A signal that comes just before
    that thread begins to wait does not end the wait by itself, and might be noticed an hour later.
    """
    from memlines.serve.rpc.server import Event

    while os.read(source, 1):
        events.put(Event.LOOK)
    os.close(source)


def _wake_often(done: threading.Event, events: Events) -> None:
    """Wake the main thread again and again, for a signal that came meanwhile."""
    from memlines.serve.rpc.server import Event

    while not done.wait(_LOOK_SECONDS):
        events.put(Event.LOOK)


def _take_streams() -> tuple[BinaryIO, BinaryIO]:
    """Reserve standard input and output for the protocol.

    From now on what a library prints goes to standard error, and a program that is started finds no input.
    """
    nothing = os.open(os.devnull, os.O_RDWR)
    while nothing <= 2:  # a stream that was closed before we began; what is opened next must not become it
        nothing = os.dup(nothing)
    source, sink = os.dup(0), os.dup(1)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    sys.stdout = sys.stderr  # what was printed is seen at once, and nothing is left to flush at the end
    for descriptor in (source, sink):
        if sys.platform != "win32":
            os.set_blocking(descriptor, True)
    return os.fdopen(source, "rb", buffering=_BUFFER), os.fdopen(sink, "wb", buffering=0)
