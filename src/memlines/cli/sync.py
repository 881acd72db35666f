"""`memlines sync`: make the index equal the files."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from memlines.cli.common import (
    counted,
    harmless_name,
    json_option,
    nearest_workspace,
    print_json,
    print_problems,
    progress_bar,
    warn,
    workspace_option,
)
from memlines.embed.spending.prices import in_dollars
from memlines.index.sync.plan import Plan
from memlines.memory.memory import Memory
from memlines.serve.wire import report_json
from memlines.types import Report


@click.command("sync")
@click.option("--force", is_flag=True, help="Build the index anew, from every file.")
@click.option("--dry-run", is_flag=True, help="Show what it would do and cost, and do nothing.")
@click.option("--verbose", is_flag=True, hidden=True, help="Name every file that is indexed or removed.")
@workspace_option
@json_option
def command(force: bool, dry_run: bool, verbose: bool, workspace: Path | None, as_json: bool) -> int:
    """Make the index equal the files.

    Only files that changed are read. Exits with 1 if a file failed, vectors are missing, or so many
    files are gone at once that they were kept in the index; --force removes them.
    """
    if dry_run:
        return _show_plan(workspace, as_json)
    with Memory(nearest_workspace(workspace)) as memory, progress_bar() as progress:
        report = memory.sync(force=force, progress=progress)
    if as_json:
        print_json(report_json(report))
    else:
        _print(report, verbose=verbose)
    return 1 if report.failed or report.pending or report.held_back else 0


def _show_plan(workspace: Path | None, as_json: bool) -> int:
    with Memory(nearest_workspace(workspace)) as memory, progress_bar() as progress:
        plan = memory.plan(progress=progress)
        reason = memory.provider_trouble
    if reason:
        warn(reason)
    if as_json:
        print_json(asdict(plan))
    else:
        _print_plan(plan)
    return 0


def _print_plan(plan: Plan) -> None:
    """Show what a sync would do."""
    if plan.rebuild:
        click.echo(f"The index would be built anew: {plan.rebuild}")
    counts = f"{len(plan.new)} new, {len(plan.changed)} changed, {len(plan.removed)} removed"
    click.echo(f"Files: {counts}, {plan.unchanged} unchanged")
    if plan.model:
        goes = f"sent to {plan.sends_text_to}" if plan.sends_text_to else "nothing leaves this machine"
        known = f", {plan.known_chunks} of them known already" if plan.known_chunks else ""
        click.echo(f"Chunks without a vector: {plan.chunks}{known}")
        price = "of unknown price" if plan.dollars is None else in_dollars(plan.dollars)
        click.echo(
            f"Texts to embed with {plan.provider} ({plan.model}): {plan.texts},"
            f" about {plan.tokens:,} tokens, {price}; {goes}"
        )
    if plan.stopped_by:
        warn(f"it would stop before the end: {plan.stopped_by}")
    print_problems("Skipped", plan.skipped, "yellow")
    print_problems("Failed", plan.failed, "red")


def _print(report: Report, *, verbose: bool) -> None:
    for warning in report.warnings:
        warn(warning)
    if report.switched:
        click.echo(f"The model changed {report.switched}")
    if report.rebuilt:
        click.echo(f"Index built anew: {report.rebuilt}")
    click.echo(", ".join(_counts(report)))
    for what, paths in (("indexed", report.indexed), ("removed", report.removed)):
        for path in paths if verbose else ():
            click.echo(f"  {what} {harmless_name(path)}")
    print_problems("Skipped", report.skipped, "yellow")
    print_problems("Failed", report.failed, "red")


def _counts(report: Report) -> list[str]:
    """Say how many files and vectors came to what; what is none is left out but for the first three."""
    counts = [
        f"{len(report.indexed)} indexed",
        f"{report.unchanged} unchanged",
        f"{len(report.removed)} removed",
    ]
    others = (
        (len(report.skipped), f"{len(report.skipped)} skipped"),
        (len(report.failed), f"{len(report.failed)} failed"),
        (report.held_back, f"{report.held_back} gone but kept"),
        (report.vectors_made, f"{counted(report.vectors_made, 'vector')} made"),
        (report.vectors_cached, f"{counted(report.vectors_cached, 'vector')} from the cache"),
        (report.pending, f"{counted(report.pending, 'chunk')} without vectors"),
    )
    return counts + [words for number, words in others if number]
