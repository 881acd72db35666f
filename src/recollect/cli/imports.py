"""`recollect import`: merge an archive into the workspace."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from pathlib import Path

import click

from recollect.backup.archive import MAX_UNPACKED_BYTES, Imported, import_archive
from recollect.backup.manifest import SETTINGS_NAME
from recollect.backup.merge import KeptBoth
from recollect.cli.common import (
    harmless_name,
    json_option,
    nearest_workspace,
    print_json,
    print_problems,
    progress_bar,
    workspace_option,
)
from recollect.paths import Workspace
from recollect.settings import load
from recollect.types import Problem

_MOST_NAMES = 20


@click.command("import")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--dry-run", is_flag=True, help="Check the archive and show what would happen.")
@click.option(
    "--max-bytes",
    type=click.IntRange(min=1),
    default=MAX_UNPACKED_BYTES,
    help=f"Refuse an archive that unpacks to more. [default: {MAX_UNPACKED_BYTES}]",
)
@workspace_option
@json_option
def command(file: Path, dry_run: bool, max_bytes: int, workspace: Path | None, as_json: bool) -> int:
    """Merge the archive FILE into the workspace; nothing is overwritten.

    Where a note differs, both are kept: the imported one as NAME-imported-DATE.md. Settings in the
    archive are not applied. Exits with 1 if a file could not be brought in.
    """
    opened = Workspace.at(nearest_workspace(workspace))
    settings = load(opened).settings
    with progress_bar() as progress:
        done = import_archive(opened, settings, file, dry_run=dry_run, max_bytes=max_bytes, progress=progress)
    if as_json:
        print_json(asdict(done))
    else:
        print_merged(done.created, done.kept_both, done.same, done.failed, dry_run=dry_run)
        _print_settings(done)
    return 1 if done.failed else 0


def print_merged(
    created: tuple[str, ...],
    kept_both: tuple[KeptBoth, ...],
    same: int,
    failed: tuple[Problem, ...],
    *,
    dry_run: bool,
) -> None:
    """Say what a merge did, or would do."""
    counts = [f"{len(created)} created", f"{len(kept_both)} kept beside another version", f"{same} the same"]
    if failed:
        counts.append(f"{len(failed)} failed")
    click.echo(f"{'Would be: ' if dry_run else ''}{', '.join(counts)}")
    for pair in kept_both[:_MOST_NAMES]:
        click.echo(f"  {harmless_name(pair.path)} differs; imported as {harmless_name(pair.imported_as)}")
    if len(kept_both) > _MOST_NAMES:
        click.echo(f"  and {len(kept_both) - _MOST_NAMES} more (--json lists all)")
    print_problems("Failed", failed, "red")


def _print_settings(done: Imported) -> None:
    if done.settings:
        look = f"unzip -p {shlex.quote(harmless_name(done.file))} {SETTINGS_NAME}"
        click.echo(f"The archive holds settings, which were not applied; to look at them: {look}")
