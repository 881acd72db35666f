"""`memlines recall`: a quick look at what was noted lately, decided, or said about a topic."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path

import click

from memlines.cli.common import (
    argument_option,
    harmless_name,
    json_option,
    nearest_workspace,
    print_json,
    workspace_option,
)
from memlines.memory.arguments import RECALL
from memlines.memory.memory import Memory
from memlines.memory.notes.entries import one_line
from memlines.memory.notes.recall import Recalled
from memlines.serve.wire import recalled_json

UNSURE = "No confident match. Nearest entries:"


@click.command("recall")
@click.argument("query", nargs=-1)
@argument_option(
    RECALL["recent"], "--recent", help="The latest entries; this is also what no argument means."
)
@argument_option(RECALL["decisions"], "--decisions")
@argument_option(
    RECALL["topic"],
    "--topic",
    help="Only entries of this topic: in its note, or under a heading of that name.",
)
@argument_option(
    RECALL["limit"], "-n", "--limit", default=10, show_default=True, help="How many entries at most."
)
@workspace_option
@json_option
def command(
    query: tuple[str, ...],
    recent: bool,
    decisions: bool,
    topic: str | None,
    limit: int,
    workspace: Path | None,
    as_json: bool,
) -> None:
    """Show single entries of the notes with their days, newest first.

    With QUERY, only those that answer it, the best first unless --recent is given; where none is sure to,
    up to three of the nearest. The options narrow each other: --recent --decisions shows the latest
    decisions.
    """
    with Memory(nearest_workspace(workspace)) as memory:
        entries = memory.recall(
            " ".join(query) or None, recent=recent, decisions=decisions, topic=topic, limit=limit
        )
    if as_json:
        print_json(recalled_json(entries))
    else:
        _print(entries)


def _print(entries: Sequence[Recalled]) -> None:
    by_day: dict[date | None, list[Recalled]] = {}
    for entry in entries:
        by_day.setdefault(entry.day, []).append(entry)
    if not by_day:
        click.echo("Nothing found.")
    elif all(entry.weak for entry in entries):
        click.echo(f"{UNSURE}\n")
    for day, of_that_day in by_day.items():
        click.secho("without a date" if day is None else day.isoformat(), bold=True)
        for entry in of_that_day:
            citation = click.style(harmless_name(entry.citation), fg="cyan")
            click.echo(f"  {citation}  {harmless_name(one_line(entry.text))}")
