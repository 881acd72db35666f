"""The commands that keep the index current, `sync` and `watch`, and the one that moves it, `migrate`."""

from __future__ import annotations

import json
import signal
import threading
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

import click

from memlines.cli.common import choose_workspace, common_options, open_memory
from memlines.cli.output import (
    answer_json,
    counted,
    print_line,
    print_problems,
    progress_bar,
    wants_json,
    warn,
)
from memlines.errors import ClusterUnreachable, UsageError
from memlines.paths import Workspace
from memlines.settings import load
from memlines.types import Report

if TYPE_CHECKING:
    from memlines.index.sync.plan import SyncPlan

# sync


@click.command("sync")
@click.option("--force", is_flag=True, help="Rebuild the index from every file.")
@click.option("--dry-run", is_flag=True, help="Show what a sync would do and cost, and change nothing.")
@click.option("--verbose", is_flag=True, hidden=True, help="Name every file that is indexed or removed.")
@common_options
def sync_command(force: bool, dry_run: bool, verbose: bool, workspace: Path | None) -> int:
    """Bring the index up to date with your files.

    Only changed files are read. Exits with 1 if a file failed, if vectors are missing, or if so many files
    are gone at once that the index keeps them; --force removes them.
    """
    if dry_run:
        _show_plan(workspace)
        return 0
    with open_memory(workspace) as memory, progress_bar() as progress:
        report = memory.sync(force=force, progress=progress)
    code = 1 if report.failed or report.pending or report.held_back else 0
    answer_json(asdict(report), code)
    _print_report(report, verbose=verbose)
    return code


def _show_plan(workspace: Path | None) -> None:
    with open_memory(workspace) as memory, progress_bar() as progress:
        plan = memory.plan(progress=progress)
        reason = memory.provider_trouble
    if reason:
        warn(reason)
    answer_json(asdict(plan))
    if plan.rebuild:
        click.echo(f"The index would be rebuilt: {plan.rebuild}")
    counts = f"{len(plan.new)} new, {len(plan.changed)} changed, {len(plan.removed)} removed"
    click.echo(f"Files: {counts}, {plan.unchanged} unchanged")
    if plan.model:
        known = f", {plan.known_chunks} of them known already" if plan.known_chunks else ""
        click.echo(f"Chunks without a vector: {plan.chunks}{known}")
        print_line(describe_cost(plan))
    if plan.stopped_by:
        warn(f"it would stop before the end: {plan.stopped_by}")
    print_problems(skipped=plan.skipped, failed=plan.failed)


def describe_cost(plan: SyncPlan) -> str:
    """Say what has to be embedded, what that costs, and where text goes."""
    from memlines.embed.spending.budget import in_dollars

    goes = f"sent to {plan.sends_text_to}" if plan.sends_text_to else "nothing leaves this machine"
    price = "of unknown price" if plan.dollars is None else in_dollars(plan.dollars)
    return (
        f"Texts to embed with {plan.provider} ({plan.model}): {plan.texts},"
        f" about {plan.tokens:,} tokens, {price}; {goes}"
    )


def _print_report(report: Report, *, verbose: bool) -> None:
    warn(*report.warnings)
    if report.switched:
        click.echo(f"The model changed {report.switched}")
    if report.rebuilt:
        click.echo(f"Index rebuilt: {report.rebuilt}")
    counts = f"{len(report.indexed)} indexed, {report.unchanged} unchanged, {len(report.removed)} removed"
    others = (
        (len(report.skipped), f"{len(report.skipped)} skipped"),
        (len(report.failed), f"{len(report.failed)} failed"),
        (report.held_back, f"{report.held_back} gone but kept"),
        (report.vectors_made, f"{counted(report.vectors_made, 'vector')} made"),
        (report.vectors_cached, f"{counted(report.vectors_cached, 'vector')} from the cache"),
        (report.pending, f"{counted(report.pending, 'chunk')} without vectors"),
    )
    click.echo(", ".join([counts, *(words for number, words in others if number)]))
    for what, paths in (("indexed", report.indexed), ("removed", report.removed)):
        for path in paths if verbose else ():
            print_line(f"  {what} {path}")
    print_problems(skipped=report.skipped, failed=report.failed)


# migrate

_GONE = ". If it is gone for good, 'memlines config set --project store.driver sqlite' is enough"


@click.command("migrate")
@click.option("--to", "driver", type=click.Choice(["qdrant", "sqlite"]), required=True, help="Where to.")
@click.option("--uri", help="The addresses of the cluster's nodes. [default: the setting store.uri]")
@click.option("--keep", is_flag=True, help="With --to sqlite, leave on the cluster what this machine copied.")
@common_options
def migrate_command(driver: str, uri: str | None, keep: bool, workspace: Path | None) -> None:
    """Move the index to a Qdrant cluster, or back to this machine.

    Everything is copied, read again and compared, before the project's settings name the new place. Back on
    this machine, what it copied is removed from the cluster. Run it again to continue after an error. Notes
    stay files, wherever the index is.
    """
    from memlines.memory.memory import Memory
    from memlines.memory.notes.settings_file import write_settings
    from memlines.settings.loading import refuse_project_content
    from memlines.settings.trusted_files import read_project_file

    folder = choose_workspace(workspace).folder
    stored = load(Workspace.at(folder)).settings.store
    if driver == "sqlite" and stored.driver == "sqlite" and not uri:
        raise UsageError(
            "the index is on this machine already",
            todo="To remove what was left on a cluster, name its nodes with --uri",
        )
    if not uri and not stored.uri:
        raise UsageError("no cluster is known", todo="Give the addresses of its nodes with --uri")
    file = Workspace.at(folder).config_file
    refuse_project_content(file, read_project_file(file) or b"")  # or it could not be written in the end
    values = {"store.driver": "qdrant", **({"store.uri": uri} if uri else {})}
    removed = 0
    with Memory(folder, values) as memory, progress_bar() as progress:
        report = memory.sync(progress=progress)
        try:
            files, chunks = memory.verify_cluster(progress)
        except ClusterUnreachable as error:
            todo = error.todo + (_GONE if driver == "sqlite" else "")
            raise ClusterUnreachable(error.what, todo=todo) from error
        to = values if driver == "qdrant" else {"store.driver": "sqlite"}
        changed = write_settings(to, memory.workspace, trust_new=True)
        if driver == "sqlite" and not keep:
            removed = memory.leave_cluster()
    result = {"to": driver, "files": files, "chunks": chunks, "removed": removed, "changed": changed}
    answer_json(result | {"pending": report.pending})
    where = "on the cluster as here" if driver == "qdrant" else "here as on the cluster"
    click.echo(f"{counted(files, 'file')} with {counted(chunks, 'chunk')} are {where}; checked text by text.")
    if removed:
        click.echo(f"{counted(removed, 'file')} removed from the cluster.")
    click.echo(f"store.driver is {driver} in {memory.workspace.config_file}.")


# watch


@click.command("watch")
@common_options
def watch_command(workspace: Path | None) -> None:
    """Keep the index up to date while files change, until you press Ctrl-C.

    Prints a line for every sync that changed the index; with --json, one object per line.
    """
    stop, as_json = threading.Event(), wants_json()

    def end(number: int, frame: FrameType | None) -> None:
        stop.set()

    def show_sync(report: Report) -> None:
        if as_json:
            click.echo(json.dumps({"event": "sync", **asdict(report)}))
            return
        others = (
            (len(report.failed), f"{len(report.failed)} failed"),
            (report.pending, f"{counted(report.pending, 'chunk')} to embed"),
            (report.rebuilt, f"index rebuilt: {report.rebuilt}"),
        )
        counts = [f"{len(report.indexed)} indexed", f"{len(report.removed)} removed"]
        counts += [words for is_worth_saying, words in others if is_worth_saying]
        click.echo(f"{datetime.now():%H:%M:%S}  {', '.join(counts)}")

    def show_notice(sentence: str) -> None:
        if as_json:
            click.echo(json.dumps({"event": "notice", "notice": sentence}))
        else:
            warn(sentence)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    with open_memory(workspace) as memory:
        root = str(memory.workspace.root)
        if as_json:
            click.echo(json.dumps({"event": "watching", "workspace": root}))
        else:
            print_line(f"Watching {root} (Ctrl-C ends)")
        memory.watch(stop, on_sync=show_sync, on_notice=show_notice)
