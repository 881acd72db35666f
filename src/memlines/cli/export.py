"""`memlines export`: write all notes into one archive."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from memlines.admin.backup.archive import Exported, export_archive
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
from memlines.paths import Workspace
from memlines.settings import load


@click.command("export")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--all", "everything", is_flag=True, help="Take history and trash as well.")
@click.option("--force", is_flag=True, help="Replace FILE if it exists.")
@workspace_option
@json_option
def command(file: Path, everything: bool, force: bool, workspace: Path | None, as_json: bool) -> int:
    """Write all notes into the archive FILE, an ordinary ZIP.

    The index is left out, because it can be built again, and so are secrets in the settings.
    Exits with 1 if a note could not be read.
    """
    opened = Workspace.at(nearest_workspace(workspace))
    settings = load(opened).settings
    with progress_bar() as progress:
        done = export_archive(opened, settings, file, everything=everything, force=force, progress=progress)
    if as_json:
        print_json(asdict(done))
    else:
        _print(done)
    return 1 if done.failed else 0


def _print(done: Exported) -> None:
    size = f"{size_in_words(done.bytes)}, packed {size_in_words(done.archive_bytes)}"
    click.echo(f"{counted(done.files, 'file')} ({size}) exported to {harmless_name(done.file)}")
    print_problems("Left out", done.left_out, "yellow")
    print_problems("Failed", done.failed, "red")


def size_in_words(size: float) -> str:
    """Write a number of bytes in the unit that suits it."""
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} GB"
