"""`memlines mcp`: the memory for any client of the Model Context Protocol."""

from __future__ import annotations

import os
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING

import click

from memlines.cli.common import harmless_name, workspace_option
from memlines.cli.serve import Served, ending_on_signals, exit_code, serve_stdio
from memlines.errors import UsageError, WorkspaceError
from memlines.paths import Workspace
from memlines.serve.rpc.server import Events
from memlines.settings.workspace import find_workspace

if TYPE_CHECKING:
    from memlines.serve.mcp.server import Server

_PORT = 8737
_HOST = "127.0.0.1"
_PROJECT_VARIABLE = "CLAUDE_PROJECT_DIR"
"""Where Claude Code says which project it is in."""


@click.command("mcp")
@workspace_option
@click.option("--http", "over_http", is_flag=True, help="Listen on a port of this machine instead.")
@click.option("--port", type=click.IntRange(0, 65535), help=f"With --http: the port. [default: {_PORT}]")
@click.option("--host", help=f"With --http: a loopback address. [default: {_HOST}]")
@click.option(
    "--token-file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="With --http: the file with the token that clients send. [default: one in the user's state folder]",
)
def command(
    workspace: Path | None, over_http: bool, port: int | None, host: str | None, token_file: Path | None
) -> int:
    """Answer a client of the Model Context Protocol, over the standard streams or HTTP.

    How clients are told to start this is described in docs/mcp.md.
    """
    folder = _folder(workspace)
    if over_http:
        return _serve_http(folder, host or _HOST, _PORT if port is None else port, token_file)
    if (port, host, token_file) != (None, None, None):
        raise UsageError(
            "--port, --host and --token-file go with --http", todo="Add --http, or leave them out"
        )
    from memlines.serve.mcp.server import DIALECT

    def server() -> Served:
        return _server(folder, f"mcp-{os.urandom(8).hex()}")

    return serve_stdio(server, DIALECT)


def _folder(named: Path | None) -> Path:
    """Return the folder with the notes; a client that does not say where it works is in none."""
    project = os.environ.get(_PROJECT_VARIABLE)
    folder = named or find_workspace(Path(project) if project else None).folder
    root = Workspace.at(folder).root
    if named is None and root == Path(root.anchor):
        raise WorkspaceError(
            f"this was started in {root}, which is no project",
            todo="Name the folder with the notes: memlines mcp --workspace FOLDER",
        )
    return root


def _server(folder: Path, session: str | None) -> Server:
    from memlines.serve.mcp.server import Server

    return Server(folder, session)


def _serve_http(folder: Path, host: str, port: int, named: Path | None) -> int:
    from memlines.serve.mcp.exchange import Exchange
    from memlines.serve.mcp.guard import token_file, token_in
    from memlines.serve.mcp.http import Listener, serve_http

    file = named or token_file()
    server = _server(folder, None)
    listener = Listener(host, port, token_in(file), Exchange(server.methods()))
    events: Events = SimpleQueue()
    with ending_on_signals(events) as signals:
        click.echo(f"Serving the memory of {harmless_name(str(folder))} at {listener.url}")
        place = harmless_name(str(file))
        click.echo(f"Clients send the token in {place} as Authorization: Bearer. Ctrl-C ends this.")
        serve_http(listener, server, events)
    return exit_code(signals)
