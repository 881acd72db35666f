"""`memlines restore`: bring notes back from a backup."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from memlines.admin.backup.snapshots import Restored, Snapshots, empty_folder, list_backups, restore
from memlines.cli.common import (
    FOLDER,
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
from memlines.cli.imports import print_merged, with_forgotten_option
from memlines.errors import UsageError
from memlines.paths import Workspace
from memlines.settings import load


@click.command("restore")
@click.argument("uri")
@click.option(
    "--at", default="", metavar="ID", help="The backup to take, or how its id begins. [default: the newest]"
)
@click.option("--list", "only_list", is_flag=True, help="List the backups at URI.")
@click.option("--to", type=FOLDER, default=None, help="Restore into this empty or new folder.")
@click.option("--dry-run", is_flag=True, help="Check the backup and show what would happen.")
@with_forgotten_option
@workspace_option
@json_option
def command(
    uri: str,
    at: str,
    only_list: bool,
    to: Path | None,
    dry_run: bool,
    with_forgotten: bool,
    workspace: Path | None,
    as_json: bool,
) -> int:
    """Merge a backup at URI into the workspace; nothing is overwritten.

    Where a note differs, both are kept: the restored one as NAME-imported-DATE.md. What was forgotten
    since the backup was made is left out and listed. Exits with 1 if a file is damaged or missing at URI;
    all others are restored.
    """
    if only_list:
        return _list(list_backups(uri), as_json=as_json)
    if to is not None and workspace is not None:
        raise UsageError("--to and --workspace name two folders", todo="Give one of them")
    if to is not None:
        target = empty_folder(to, dry_run=dry_run)
    else:
        target = Workspace.at(nearest_workspace(workspace))
    settings = load(target).settings
    with progress_bar() as progress:
        done = restore(
            target,
            settings,
            uri,
            at=at,
            dry_run=dry_run,
            with_forgotten=with_forgotten,
            progress=progress,
        )
    if as_json:
        print_json(asdict(done))
    else:
        _print(done)
    return 1 if done.failed else 0


def _list(found: Snapshots, *, as_json: bool) -> int:
    if as_json:
        print_json(asdict(found))
        return 1 if found.failed else 0
    if not found.snapshots:
        click.echo(f"There are no backups at {harmless_name(found.place)}")
    for snapshot in found.snapshots:
        size = f"{counted(snapshot.files, 'file'):>12} {size_in_words(snapshot.bytes):>10}"
        name = harmless_name(snapshot.workspace)
        click.echo(f"{snapshot.id}  {harmless_name(snapshot.created)} {size}  {name}")
    print_problems("Failed", found.failed, "red")
    return 1 if found.failed else 0


def _print(done: Restored) -> None:
    click.echo(f"Backup {done.id} of {harmless_name(done.workspace)}:")
    print_merged(done)
    if done.settings_object:
        place = f"{harmless_name(done.place)}/{done.settings_object}"
        click.echo(f"The backup holds settings, which were not applied; to look at them: {place}")
