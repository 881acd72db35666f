"""`memlines backup`: copy the notes to a folder or a bucket."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from memlines.admin.backup.snapshots import BackedUp, backup
from memlines.cli.common import (
    counted,
    harmless_name,
    json_option,
    nearest_workspace,
    print_json,
    print_problems,
    progress_bar,
    workspace_option,
)
from memlines.cli.export import size_in_words
from memlines.paths import Workspace
from memlines.settings import load


@click.command("backup")
@click.argument("uri")
@click.option("--all", "everything", is_flag=True, help="Take history and trash as well.")
@workspace_option
@json_option
def command(uri: str, everything: bool, workspace: Path | None, as_json: bool) -> int:
    """Copy all notes to URI: a folder, s3://bucket/folder, or what else fsspec reaches.

    Only what changed since the last backup is sent. Exits with 1 if a note could not be read.
    """
    opened = Workspace.at(nearest_workspace(workspace))
    settings = load(opened).settings
    with progress_bar() as progress:
        done = backup(opened, settings, uri, everything=everything, progress=progress)
    if as_json:
        print_json(asdict(done))
    else:
        _print(done)
    return 1 if done.failed else 0


def _print(done: BackedUp) -> None:
    place = harmless_name(done.place)
    if done.changed:
        sent = f"{counted(done.uploaded, 'new content')} sent, {size_in_words(done.uploaded_bytes)}"
        click.echo(f"{counted(done.files, 'file')} backed up to {place} as {done.id} ({sent})")
    else:
        click.echo(f"Nothing changed: {counted(done.files, 'file')} are in {done.id} at {place}")
    print_problems("Left out", done.left_out, "yellow")
    print_problems("Failed", done.failed, "red")
