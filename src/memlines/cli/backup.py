"""The commands that copy the notes: `export` to one archive, `backup` to a place, and `restore` from it."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from memlines.admin.backup.archive import export_archive
from memlines.admin.backup.snapshots import backup, empty_folder, list_backups, restore
from memlines.cli.common import FILE, FOLDER, common_options, dry_run_option, nearest_workspace
from memlines.cli.output import (
    answer_json,
    counted,
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


with_forgotten_option = click.option(
    "--with-forgotten", is_flag=True, help="Also bring back what you have forgotten since the copy was made."
)
_all_option = click.option("--all", "everything", is_flag=True, help="Include history and trash.")


# export


@click.command("export")
@click.argument("file", type=FILE)
@_all_option
@click.option("--html", is_flag=True, help="Write one searchable page instead, without secrets.")
@click.option("--force", is_flag=True, help="Replace FILE if it exists.")
@common_options
def export_command(file: Path, workspace: Path | None, html: bool, everything: bool, force: bool) -> int:
    """Write all notes into the archive FILE, an ordinary ZIP; with --html, into one page for a browser.

    The index is left out, because it can be rebuilt, and so are secrets in the settings. The page needs no
    server and loads nothing. Exits with 1 if a note could not be read.
    """
    opened = nearest_workspace(workspace)
    settings = load(opened).settings
    with progress_bar() as progress:
        if html:
            if everything:
                raise UsageError("--all cannot be used with --html", todo="Leave one of them out")
            from memlines.serve.web.export import export_page

            done = export_page(opened, settings, file, force=force, progress=progress)
        else:
            done = export_archive(
                opened, settings, file, everything=everything, force=force, progress=progress
            )
    code = 1 if done.failed else 0
    answer_json(asdict(done), code)
    size = f"{size_in_words(done.bytes)}, packed {size_in_words(done.archive_bytes)}"
    print_line(f"{counted(done.files, 'file')} ({size}) exported to {done.file}")
    print_problems(left_out=done.left_out, failed=done.failed)
    return code


# backup


@click.command("backup")
@click.argument("uri")
@_all_option
@common_options
def backup_command(uri: str, everything: bool, workspace: Path | None) -> int:
    """Copy all notes to URI: a folder, s3://bucket/folder, or anything else that fsspec can reach.

    Only what changed since the last backup is sent. Exits with 1 if a note could not be read.
    """
    opened = nearest_workspace(workspace)
    settings = load(opened).settings
    with progress_bar() as progress:
        done = backup(opened, settings, uri, everything=everything, progress=progress)
    code = 1 if done.failed else 0
    answer_json(asdict(done), code)
    files = counted(done.files, "file")
    if done.changed:
        sent = f"{counted(done.uploaded, 'new content')} sent, {size_in_words(done.uploaded_bytes)}"
        place = f"{done.place}, a new place," if done.new_place else done.place
        print_line(f"{files} backed up to {place} as {done.id} ({sent})")
    else:
        print_line(f"Nothing changed: {files} are in {done.id} at {done.place}")
    print_problems(left_out=done.left_out, failed=done.failed)
    return code


# restore


@click.command("restore")
@click.argument("uri")
@click.option(
    "--at", default="", metavar="ID", help="Use the backup whose id begins like this. [default: the newest]"
)
@click.option("--list", "only_list", is_flag=True, help="List the backups at URI.")
@click.option("--to", type=FOLDER, help="Restore into this empty or new folder.")
@dry_run_option
@with_forgotten_option
@common_options
def restore_command(
    uri: str, only_list: bool, to: Path | None, dry_run: bool, workspace: Path | None, **options: Any
) -> int:
    """Merge a backup at URI into your workspace; nothing is overwritten.

    If a note differs, you keep both: the restored one as NAME-imported-DATE.md. What you have forgotten
    since the backup was made is left out and listed. Exits with 1 if a file is damaged or missing at URI;
    all others are restored.
    """
    if only_list:
        return _show_backups(uri)
    if to is not None and workspace is not None:
        raise UsageError("--to and --workspace name two folders", todo="Give one of them")
    target = nearest_workspace(workspace) if to is None else empty_folder(to, dry_run=dry_run)
    settings = load(target).settings
    with progress_bar() as progress:
        done = restore(target, settings, uri, dry_run=dry_run, progress=progress, **options)
    code = 1 if done.failed else 0
    answer_json(asdict(done), code)
    print_line(f"Backup {done.id} of {done.workspace}:")
    print_merged(done)
    if done.settings_object:
        place = f"{done.place}/{done.settings_object}"
        print_line(f"The backup holds settings, which were not applied; to look at them: {place}")
    return code


def _show_backups(uri: str) -> int:
    found = list_backups(uri)
    code = 1 if found.failed else 0
    answer_json(asdict(found), code)
    if not found.snapshots:
        print_line(f"There are no backups at {found.place}")
    for one in found.snapshots:
        size = f"{counted(one.files, 'file'):>12} {size_in_words(one.bytes):>10}"
        print_line(f"{one.id}  {one.created} {size}  {one.workspace}")
    print_problems(failed=found.failed)
    return code


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
    print_problems(brought_in_unchecked=done.unchecked, failed=done.failed)
