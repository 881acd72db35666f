"""`memlines get`: show lines of a note."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from memlines.cli.common import (
    argument_option,
    counted,
    harmless,
    harmless_name,
    json_option,
    nearest_workspace,
    print_json,
    workspace_option,
)
from memlines.errors import UsageError
from memlines.memory.arguments import READ, parse_citation
from memlines.memory.memory import Memory
from memlines.serve.wire import excerpt_json
from memlines.types import Excerpt


@click.command("get")
@click.argument("path")
@argument_option(READ["start"], "start", "--from", help="The first line to show, counted from 1.")
@argument_option(READ["lines"], "--lines", help="How many lines to show, at least 1. [default: 120]")
@argument_option(
    READ["column"], "--column", help="The character of the first line to begin with, counted from 1."
)
@workspace_option
@json_option
def command(
    path: str,
    start: int | None,
    lines: int | None,
    column: int | None,
    workspace: Path | None,
    as_json: bool,
) -> int:
    """Show lines of the note PATH, which may be a citation such as memory/x.md#L3-L9.

    At most 12,000 characters are shown at a time; where to go on is told.
    """
    path, start, lines = parse_citation(path, start, lines)
    with Memory(nearest_workspace(workspace)) as memory:
        excerpt = memory.read(path, start, lines, column)
    if excerpt.found:
        _refuse_beyond_the_end(excerpt, column or 1)
    if as_json:
        print_json(excerpt_json(excerpt))
    else:
        _print(excerpt, lines, column or 1)
    return 0 if excerpt.found else 1


def _refuse_beyond_the_end(excerpt: Excerpt, column: int) -> None:
    total = excerpt.total_lines
    if excerpt.start > max(1, total):
        raise UsageError(
            f"{excerpt.path} has {counted(total, 'line')}, so there is no line {excerpt.start}",
            todo="Ask for an earlier line",
        )
    if column > 1 and not excerpt.text.split("\n")[0]:
        raise UsageError(
            f"line {excerpt.start} of {excerpt.path} has less than {column} characters",
            todo="Leave out --column",
        )


def _print(excerpt: Excerpt, lines: int | None, column: int) -> None:
    name = harmless_name(excerpt.path)
    if not excerpt.found:
        click.secho(f"Error: {name} does not exist", fg="red", err=True)
        return
    if not excerpt.total_lines:
        click.echo("(empty)", err=True)
        return
    click.echo(harmless(excerpt.text))
    more = f"more: memlines get {shlex.quote(name)} --from {excerpt.next_start}"
    if excerpt.next_column:
        shown = f"{excerpt.start} is shown from character {column:,} to {excerpt.next_column - 1:,}"
        click.echo(f"[cut: line {shown}; {more} --column {excerpt.next_column}]", err=True)
    elif excerpt.next_start and (lines is None or excerpt.lines < lines):
        click.echo(f"[{more}]", err=True)
