"""`memlines init`: begin a workspace."""

from __future__ import annotations

from pathlib import Path

import click

from memlines.cli.common import FOLDER, harmless_name, json_option, print_json
from memlines.errors import UsageError
from memlines.files.place import begin_workspace
from memlines.paths import expand_home


@click.command("init")
@click.argument("folder", type=FOLDER, required=False)
@click.option("-w", "--workspace", type=FOLDER, help="The same as FOLDER.")
@json_option
def command(folder: Path | None, workspace: Path | None, as_json: bool) -> None:
    """Begin a workspace in FOLDER (default: here). Nothing that exists is changed."""
    if folder and workspace and folder != workspace:
        raise UsageError("FOLDER and --workspace name two different folders", todo="Give one of them")
    begun, made = begin_workspace(expand_home(folder or workspace or Path()))
    if as_json:
        print_json({"workspace": str(begun.root), "made": made})
        return
    click.echo(f"Workspace {harmless_name(str(begun.root))}")
    click.echo(
        f"  made: {harmless_name(', '.join(made))}" if made else "  nothing to do: everything was there"
    )
    click.echo('Write notes in MEMORY.md and memory/, then ask: memlines search "what did we decide?"')
