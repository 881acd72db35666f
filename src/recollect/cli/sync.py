"""`recollect sync`: make the index equal the files."""

from __future__ import annotations

from pathlib import Path

import click

from recollect.cli.common import (
    counted,
    json_option,
    nearest_workspace,
    print_json,
    print_problems,
    progress_bar,
    warn,
    workspace_option,
)
from recollect.memory import Memory
from recollect.types import Report
from recollect.wire import report_json


@click.command("sync")
@click.option("--force", is_flag=True, help="Build the index anew, from every file.")
@workspace_option
@json_option
def command(force: bool, workspace: Path | None, as_json: bool) -> int:
    """Make the index equal the files.

    Only files that changed are read. Exits with 1 if a file failed, vectors are missing, or so many
    files are gone at once that they were kept in the index; --force removes them.
    """
    with Memory(nearest_workspace(workspace)) as memory, progress_bar() as progress:
        report = memory.sync(force=force, progress=progress)
    if as_json:
        print_json(report_json(report))
    else:
        _print(report)
    return 1 if report.failed or report.pending or report.held_back else 0


def _print(report: Report) -> None:
    for warning in report.warnings:
        warn(warning)
    if report.rebuilt:
        click.echo(f"Index built anew: {report.rebuilt}")
    counts = [
        f"{len(report.indexed)} indexed",
        f"{report.unchanged} unchanged",
        f"{len(report.removed)} removed",
    ]
    if report.skipped:
        counts.append(f"{len(report.skipped)} skipped")
    if report.failed:
        counts.append(f"{len(report.failed)} failed")
    if report.held_back:
        counts.append(f"{report.held_back} gone but kept")
    if report.pending:
        counts.append(f"{counted(report.pending, 'chunk')} without vectors")
    click.echo(", ".join(counts))
    print_problems("Skipped", report.skipped, "yellow")
    print_problems("Failed", report.failed, "red")
