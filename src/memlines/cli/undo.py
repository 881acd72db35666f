"""`memlines undo`: take back what was written last."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from memlines.cli.common import (
    counted,
    harmless,
    harmless_name,
    json_option,
    local_time,
    nearest_workspace,
    print_json,
    workspace_option,
)
from memlines.memory.memory import Memory
from memlines.memory.notes.undo import NoteChange, Undone

_VERBS = {
    (False, False): "Took back",
    (True, False): "Brought back",
    (False, True): "Would take back",
    (True, True): "Would bring back",
}
_MOST_LINES = 60
_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


@click.command("undo")
@click.option("--redo", is_flag=True, help="Bring back what the last undo took back.")
@click.option("--dry-run", is_flag=True, help="Show what would be taken back, and change nothing.")
@workspace_option
@json_option
def command(redo: bool, dry_run: bool, workspace: Path | None, as_json: bool) -> None:
    """Take back what this program wrote last into the notes, and show it.

    Called again, it takes back what was written before that. What one command wrote goes as one, also from
    several notes; a note that it made goes to the trash. What you changed in a note since then stays. What
    was forgotten does not come back.
    """
    with Memory(nearest_workspace(workspace)) as memory:
        undone = memory.undo(redo=redo, dry_run=dry_run)
    if as_json:
        print_json(_as_json(undone, redo=redo, dry_run=dry_run))
        return
    verb = _VERBS[redo, dry_run]
    click.echo(f"{verb}: {undone.command}, {local_time(undone.time)}")
    print_changes(undone.changes)
    if not undone.changes:
        click.echo("Nothing of it was left in the notes.")
    print_left_out(undone.forgotten)
    if not (redo or dry_run):
        click.echo("'memlines undo --redo' brings it back.")


def print_changes(changes: Iterable[NoteChange]) -> None:
    """Show how notes changed, as a diff of each."""
    for change in changes:
        name = harmless_name(change.path)
        if change.after is None:
            name += " goes to the trash"
        elif change.before is None:
            name += " is there again"
        click.secho(name, bold=True)
        print_diff(change.diff)


def print_diff(diff: str) -> None:
    """Print a unified diff without its header."""
    lines = diff.split("\n")[2:]
    for line in lines[:_MOST_LINES]:
        click.secho(f"  {harmless(line)}", fg=_COLOURS.get(line[:1]))
    if len(lines) > _MOST_LINES:
        click.echo(f"  and {counted(len(lines) - _MOST_LINES, 'line')} more (--json has all)")


def print_left_out(places: tuple[str, ...]) -> None:
    """Say what did not come back because it was forgotten."""
    if places:
        click.echo(f"Left out because forgotten: {', '.join(map(harmless_name, places))}")


def change_json(change: NoteChange) -> dict[str, Any]:
    """Return how a note changed as JSON."""
    return {
        "path": change.path,
        "created": change.before is None,
        "removed": change.after is None,
        "diff": change.diff,
    }


def _as_json(undone: Undone, *, redo: bool, dry_run: bool) -> dict[str, Any]:
    return {
        "command": undone.command,
        "time": undone.time.isoformat(),
        "redo": redo,
        "dry_run": dry_run,
        "changes": [change_json(change) for change in undone.changes],
        "forgotten": list(undone.forgotten),
    }
