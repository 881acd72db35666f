"""`memlines hook`: what a client runs at an event; the hooks that `memlines install` writes are faster."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import click

from memlines.cli.common import FOLDER
from memlines.errors import MemlinesError
from memlines.serve.hooks import thin


@click.command("hook")
@click.argument("client")
@click.argument("event")
@click.argument("home", required=False, default="")
@click.option(
    "-w",
    "--workspace",
    type=FOLDER,
    default=None,
    help="A folder of the workspace. [default: the one that the client was started in]",
)
def command(client: str, event: str, home: str, workspace: Path | None) -> int:
    """Answer an event of a client, whose JSON comes on the standard input.

    Prints what the client takes for an answer, or nothing. Whatever goes wrong, the exit code is 0.
    """
    if workspace is not None:
        os.environ[thin.FOLDER_VARIABLE] = str(workspace)
        os.environ.pop(thin.WORKSPACE_VARIABLE, None)
    if hasattr(os, "fork"):
        return thin.main([client, event, home])
    if home:
        os.environ.setdefault("MEMLINES_HOME", home)
    try:
        click.echo(_answered_here(client, event), nl=False)
    except (MemlinesError, OSError, ValueError) as error:
        thin.note(event, f"{type(error).__name__}: {error}")
    return 0


def _answered_here(client: str, event: str) -> str:
    """Answer in this very process: slow, but it needs no socket, which not every system has for Python."""
    said = sys.stdin.buffer.read(thin.MOST_BYTES)
    root = thin.workspace_of(thin.working_folder(), anyway=thin.COMMAND in said)
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
