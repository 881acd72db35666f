"""`recollect get`: show lines of a note."""

from __future__ import annotations

import re
from pathlib import Path

import click

from recollect.cli.common import harmless, json_option, nearest_workspace, print_json, workspace_option
from recollect.memory import Memory
from recollect.wire import excerpt_json

_CITATION = re.compile(r"^(?P<path>.+)#L(?P<start>\d{1,9})(?:-L?(?P<end>\d{1,9}))?$")


@click.command("get")
@click.argument("path")
@click.option("--from", "start", type=int, help="The first line to show.")
@click.option("--lines", type=int, help="How many lines to show.")
@workspace_option
@json_option
def command(path: str, start: int | None, lines: int | None, workspace: Path | None, as_json: bool) -> int:
    """Show lines of the note PATH, which may be a citation such as memory/x.md#L3-L9."""
    cited = _CITATION.match(path)
    if cited:
        path = cited["path"]
        if start is None:
            start = int(cited["start"])
            if lines is None:
                lines = int(cited["end"] or start) - start + 1
    with Memory(nearest_workspace(workspace)) as memory:
        excerpt = memory.read(path, start, lines)
    if as_json:
        print_json(excerpt_json(excerpt))
    elif not excerpt.found:
        click.secho(f"Error: {harmless(excerpt.path)} does not exist", fg="red", err=True)
    else:
        click.echo(harmless(excerpt.text))
        if excerpt.truncated and excerpt.next_start and lines is None:
            click.echo(
                f"[more: recollect get {harmless(excerpt.path)} --from {excerpt.next_start}]", err=True
            )
    return 0 if excerpt.found else 1
