"""The commands that copy the notes: `export` to one archive, `backup` to a place, and `restore` from it."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from memlines.admin.backup.archive import export_archive
from memlines.admin.backup.snapshots import Snapshots, backup, empty_folder, list_backups, restore
from memlines.cli.common import FILE, FOLDER, Function, common_options, nearest_workspace
from memlines.cli.output import (
    counted,
    print_json,
    print_line,
    print_problems,
    print_some,
    progress_bar,
    size_in_words,
)
from memlines.errors import UsageError
from memlines.settings import load

if TYPE_CHECKING:
    from memlines.admin.backup.merge import Merged


def with_forgotten_option(function: Function) -> Function:
    """Add `--with-forgotten`."""
    return click.option(
        "--with-forgotten", is_flag=True, help="Bring back what was forgotten since the copy was made."
    )(function)


# export


@click.command("export")
@click.argument("file", type=FILE)
@click.option("--all", "everything", is_flag=True, help="Take history and trash as well.")
@click.option("--force", is_flag=True, help="Replace FILE if it exists.")
@common_options
def export_command(file: Path, workspace: Path | None, as_json: bool, **options: Any) -> int:
    """Write all notes into the archive FILE, an ordinary ZIP.

    The index is left out, because it can be built again, and so are secrets in the settings.
    Exits with 1 if a note could not be read.
    """
    opened = nearest_workspace(workspace)
    settings = load(opened).settings
    with progress_bar() as progress:
        done = export_archive(opened, settings, file, progress=progress, **options)
    if as_json:
        print_json(asdict(done))
    else:
        size = f"{size_in_words(done.bytes)}, packed {size_in_words(done.archive_bytes)}"
        print_line(f"{counted(done.files, 'file')} ({size}) exported to {done.file}")
        print_problems("Left out", done.left_out, "yellow")
        print_problems("Failed", done.failed, "red")
    return 1 if done.failed else 0


# backup


@click.command("backup")
@click.argument("uri")
@click.option("--all", "everything", is_flag=True, help="Take history and trash as well.")
@common_options
def backup_command(uri: str, everything: bool, workspace: Path | None, as_json: bool) -> int:
    """Copy all notes to URI: a folder, s3://bucket/folder, or what else fsspec reaches.

    Only what changed since the last backup is sent. Exits with 1 if a note could not be read.
    """
    opened = nearest_workspace(workspace)
    settings = load(opened).settings
    with progress_bar() as progress:
        done = backup(opened, settings, uri, everything=everything, progress=progress)
    if as_json:
        print_json(asdict(done))
        return 1 if done.failed else 0
    files = counted(done.files, "file")
    if done.changed:
        sent = f"{counted(done.uploaded, 'new content')} sent, {size_in_words(done.uploaded_bytes)}"
        print_line(f"{files} backed up to {done.place} as {done.id} ({sent})")
    else:
        print_line(f"Nothing changed: {files} are in {done.id} at {done.place}")
    print_problems("Left out", done.left_out, "yellow")
    print_problems("Failed", done.failed, "red")
    return 1 if done.failed else 0


# restore


@click.command("restore")
@click.argument("uri")
@click.option(
    "--at", default="", metavar="ID", help="The backup to take, or how its id begins. [default: the newest]"
)
@click.option("--list", "only_list", is_flag=True, help="List the backups at URI.")
@click.option("--to", type=FOLDER, default=None, help="Restore into this empty or new folder.")
@click.option("--dry-run", is_flag=True, help="Check the backup and show what would happen.")
@with_forgotten_option
@common_options
def restore_command(
    uri: str,
    only_list: bool,
    to: Path | None,
    dry_run: bool,
    workspace: Path | None,
    as_json: bool,
    **options: Any,
) -> int:
    """Merge a backup at URI into the workspace; nothing is overwritten.

    Where a note differs, both are kept: the restored one as NAME-imported-DATE.md. What was forgotten
    since the backup was made is left out and listed. Exits with 1 if a file is damaged or missing at URI;
    all others are restored.
    """
    if only_list:
        found = list_backups(uri)
        if as_json:
            print_json(asdict(found))
        else:
            _print_backups(found)
        return 1 if found.failed else 0
    if to is not None and workspace is not None:
        raise UsageError("--to and --workspace name two folders", todo="Give one of them")
    target = nearest_workspace(workspace) if to is None else empty_folder(to, dry_run=dry_run)
    settings = load(target).settings
    with progress_bar() as progress:
        done = restore(target, settings, uri, dry_run=dry_run, progress=progress, **options)
    if as_json:
        print_json(asdict(done))
        return 1 if done.failed else 0
    print_line(f"Backup {done.id} of {done.workspace}:")
    print_merged(done)
    if done.settings_object:
        place = f"{done.place}/{done.settings_object}"
        print_line(f"The backup holds settings, which were not applied; to look at them: {place}")
    return 1 if done.failed else 0


def _print_backups(found: Snapshots) -> None:
    if not found.snapshots:
        print_line(f"There are no backups at {found.place}")
    for one in found.snapshots:
        size = f"{counted(one.files, 'file'):>12} {size_in_words(one.bytes):>10}"
        print_line(f"{one.id}  {one.created} {size}  {one.workspace}")
    print_problems("Failed", found.failed, "red")


def print_merged(done: Merged) -> None:
    """Print what a merge did, or would do."""
    counts = [
        f"{len(done.created)} created",
        f"{len(done.kept_both)} kept beside another version",
        f"{done.same} the same",
    ]
    if done.failed:
        counts.append(f"{len(done.failed)} failed")
    click.echo(f"{'Would be: ' if done.dry_run else ''}{', '.join(counts)}")
    print_some([f"{both.path} differs; imported as {both.imported_as}" for both in done.kept_both])
    if done.forgotten:
        places = counted(len(done.forgotten), "passage")
        click.echo(f"Left out because forgotten since: {places} (--with-forgotten brings them back)")
        print_some(done.forgotten)
    print_problems("Brought in unchecked", done.unchecked, "yellow")
    print_problems("Failed", done.failed, "red")
