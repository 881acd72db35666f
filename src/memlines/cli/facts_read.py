"""The commands that read facts: `facts list`, `search`, `stats` and `export`, and how a fact is shown."""

from __future__ import annotations

import csv
import io
import json
import os
import sys
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

import click

from memlines.cli.common import FILE, argument_option, common_options, open_memory
from memlines.cli.hits import print_changes
from memlines.cli.output import (
    answer_json,
    counted,
    harmless,
    harmless_name,
    is_terminal,
    print_line,
    wants_json,
    warn,
)
from memlines.errors import UsageError, WriteError, reason_of
from memlines.files import atomic
from memlines.files.scan import SUFFIX
from memlines.folders import PRIVATE_FILE
from memlines.memory.arguments import FACT, RECALL, SEARCH
from memlines.text.facts import CAPTURE, Category, Fact, FactLine, line_of
from memlines.types import cite

UNSURE = "No confident match. Nearest facts:"
_CATEGORY_WIDTH = 10
_NO_DAY = " " * len("2026-11-16")
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""What a cell begins with that a spreadsheet would calculate."""

_all_option = click.option("--all", "everything", is_flag=True, help="Include those that are no longer true.")


# A fact


def format_fact(fact: Fact) -> str:
    """Format a fact on one line: its id, day, category and text, and remarks on its state and origin."""
    remarks = []
    if fact.scope:
        remarks.append(f"scope {fact.scope}")
    if not fact.is_current:
        remarks.append(_no_longer_true(fact))
    elif fact.until:
        remarks.append(f"until {fact.until.isoformat()}")
    if fact.is_captured:
        origin = fact.source.removeprefix(CAPTURE).strip()
        remarks.append(f"captured from {origin}" if origin else "captured")
    day = fact.created.isoformat() if fact.created else _NO_DAY
    name = click.style(fact.id, fg="cyan")
    text = click.style(harmless_name(fact.text), dim=not fact.is_current)
    more = "".join(click.style(f"  ({harmless_name(part)})", dim=True) for part in remarks)
    return f"{name}  {day}  {fact.category:<{_CATEGORY_WIDTH}}  {text}{more}"


def _no_longer_true(fact: Fact) -> str:
    since = f" since {fact.until.isoformat()}" if fact.until else ""
    instead = f", now {fact.superseded_by}" if fact.superseded_by else ""
    return f"no longer true{since}{instead}"


def fact_json(path: str, line: FactLine) -> dict[str, Any]:
    """Return a fact as JSON with its citation."""
    return {**line.fact.to_json(), "citation": cite(path, line.first, line.last)}


def newest_first(lines: Sequence[FactLine]) -> list[FactLine]:
    """Sort facts by the day they were written down; of one day, what is further down is newer.

    One without a day was written by hand, and is as new as the one above it.
    """
    days: dict[int, date] = {}
    latest = date.min
    for line in sorted(lines, key=lambda line: line.first):
        latest = days[line.first] = line.fact.created or latest
    return sorted(lines, key=lambda line: (days[line.first], line.first), reverse=True)


# list


@click.command("list")
@argument_option(FACT["category"], "-c", "--category", help="List only facts of this category.")
@argument_option(FACT["scope"], "--scope", metavar="WORD", help="List only facts of this scope.")
@_all_option
@argument_option(
    SEARCH["as_of"], "--as-of", metavar="DAY", help="List the facts that held at the end of this day."
)
@click.option("--captured", is_flag=True, help="List only facts that were captured from conversations.")
@click.option("-n", "--limit", type=click.IntRange(min=1), help="List at most this many. [default: all]")
@common_options
def list_command(
    category: Category | None,
    scope: str | None,
    everything: bool,
    as_of: str | None,
    captured: bool,
    limit: int | None,
    workspace: Path | None,
) -> None:
    """List the facts, the newest first, with the id that you give to other commands."""
    with open_memory(workspace) as memory:
        lines = memory.facts.list(category=category, current=not everything, scope=scope, as_of=as_of)
        path, conflicts = memory.facts.path, memory.facts.conflicts()
    chosen = newest_first([line for line in lines if line.fact.is_captured or not captured])[:limit]
    answer_json({"facts": [fact_json(path, line) for line in chosen]})
    warn(*conflicts)
    for line in chosen:
        click.echo(format_fact(line.fact))
    if not chosen:
        is_narrowed = category or scope or captured or as_of
        click.echo("There are no such facts." if is_narrowed else "There are no facts.")


# search


@click.command("search")
@click.argument("query", nargs=-1, required=True)
@argument_option(
    RECALL["limit"], "-n", "--limit", default=5, show_default=True, help="Show at most this many (1 to 1000)."
)
@argument_option(SEARCH["min_score"], "--min-score", help="Leave out lower scores (0 to 1).")
@_all_option
@common_options
def search_command(query: tuple[str, ...], everything: bool, workspace: Path | None, **options: Any) -> None:
    """Find the facts that answer QUERY, the likeliest first.

    The percentage is how likely a fact answers it. If none is likely, the nearest are shown. Finding none
    is not an error. With scope:writing in QUERY only facts of that scope answer.
    """
    text = " ".join(query)
    if not text.strip():
        raise UsageError("the query is empty", todo="Ask for something: memlines facts search editor")
    from memlines.memory.facts.recall import recall_facts

    with open_memory(workspace) as memory:
        result = recall_facts(memory, text, current_only=not everything, **options)
    facts = [found.to_json() for found in result.found]
    changes = {"corrections": dict(result.corrections), "aliases": dict(result.aliases)}
    answer_json({"facts": facts, "confident": result.confident, **changes, "warnings": list(result.warnings)})
    warn(*result.warnings)
    print_changes(result.corrections, result.aliases)
    if result.found and not result.confident:
        click.echo(UNSURE)
    for number, found in enumerate(result.found, 1):
        fact = found.fact
        remarks = [f"scope {fact.scope}"] if fact.scope else []
        remarks += [] if fact.is_current else [_no_longer_true(fact)]
        remark = "".join(f"  ({one})" for one in remarks)
        print_line(f"{number}. [{fact.category}] {fact.text} ({found.band}, {found.score:.0%}){remark}")
        place = click.style(harmless_name(found.citation), fg="cyan")
        click.echo(f"{'':{len(str(number)) + 2}}{place}  {fact.id}")
    if not result.found:
        click.echo("Nothing in memory answers this. Try other words.")


# stats


@click.command("stats")
@common_options
def stats_command(workspace: Path | None) -> None:
    """Count the facts, and show where they are indexed."""
    with open_memory(workspace) as memory:
        stats = memory.facts.stats()
    answer_json(stats.to_json())
    if not stats.total:
        click.echo("There are no facts.")
        return
    print_line(f"{counted(stats.current, 'fact')} in {stats.file}")
    for category, count in stats.by_category.items():
        if count:
            click.echo(f"  {category:<{_CATEGORY_WIDTH}}  {count}")
    if stats.superseded:
        click.echo(f"{counted(stats.superseded, 'fact')} no longer true")
    if stats.captured:
        click.echo(f"{stats.captured} captured, {stats.unreviewed} of them not reviewed yet")
    if stats.oldest and stats.newest:
        click.echo(f"Written down from {stats.oldest.isoformat()} to {stats.newest.isoformat()}")
    if stats.uri:
        rows = "not made yet" if stats.rows is None else counted(stats.rows, "row")
        print_line(f"LanceDB table in {stats.uri}: {rows}")
    else:
        click.echo("No LanceDB table; the main index finds them")


# export


_FORMATS = ("json", "jsonl", "csv", "md")
"""How facts can be written, by the ending of a file's name."""


def _format_facts(facts: Sequence[Fact], form: str) -> str:
    if form == "json":
        return json.dumps([fact.to_json() for fact in facts], ensure_ascii=False, indent=2) + "\n"
    if form == "jsonl":
        return "".join(json.dumps(fact.to_json(), ensure_ascii=False) + "\n" for fact in facts)
    if form == "md":  # a note of facts, which can replace another one
        return "# Facts\n\n" + "".join(f"{line_of(fact)}\n" for fact in facts)
    return _format_csv(facts)


def _format_csv(facts: Sequence[Fact]) -> str:
    """Return a table; an apostrophe precedes what a spreadsheet would read as a formula."""

    def cell(value: Any) -> Any:
        if isinstance(value, bool):
            return "true" if value else "false"
        is_formula = isinstance(value, str) and value.lstrip(" ").startswith(_FORMULA)
        return f"'{value}" if is_formula else value

    table = io.StringIO(newline="")
    writer = csv.writer(table)
    writer.writerow(Fact(id="", text="").to_json())
    for fact in facts:
        writer.writerow(cell(value) for value in fact.to_json().values())
    return table.getvalue()


@click.command("export")
@click.option(
    "-f",
    "--format",
    "chosen",
    type=click.Choice(_FORMATS),
    help="Use this format. [default: by the ending of the file, else json]",
)
@click.option("-o", "--output", "file", type=FILE, help="Write them into this file.")
@click.option("--force", is_flag=True, help="Replace the file if it exists.")
@common_options
def export_command(chosen: str | None, file: Path | None, force: bool, workspace: Path | None) -> None:
    """Print all facts, or write them into a file, including those that are no longer true.

    An existing file is replaced only with --force.
    """
    ending = file.suffix.removeprefix(".").lower() if file else ""
    form = chosen or (ending if ending in _FORMATS else "json")
    with open_memory(workspace) as memory:
        facts = [line.fact for line in memory.facts.list(current=False)]
        root = memory.workspace.root
    text = _format_facts(facts, form)
    if file is not None:
        _write(file, text, root, force=force)
        answer_json({"file": str(file), "format": form, "facts": len(facts)})
        print_line(f"{counted(len(facts), 'fact')} exported to {file}")
    elif wants_json() and chosen not in (None, "json"):
        raise UsageError(f"--json prints no {chosen}", todo="Leave out --json, or name a file with -o")
    else:
        click.echo(harmless(text) if is_terminal(sys.stdout) else text, nl=False)


def _write(file: Path, text: str, root: Path, *, force: bool) -> None:
    """Write a file whole or not at all, and never a note."""
    if not file.name:
        raise UsageError("the name of the file is empty", todo="Name a file such as facts.csv")
    if file.suffix == SUFFIX and Path(os.path.realpath(file)).is_relative_to(os.path.realpath(root)):
        raise UsageError(f"{str(file)!r} would be read as a note", todo="Name a file outside the workspace")
    try:
        there = atomic.read(file) if force else None
        if there is not None:
            atomic.replace(file, text.encode(), there)
        elif not atomic.create(file, text, PRIVATE_FILE):
            raise atomic.Changed
    except atomic.Changed:
        raise UsageError(
            f"{str(file)!r} exists already", todo="Name another file, or replace it with --force"
        ) from None
    except OSError as error:
        raise WriteError(
            f"{str(file)!r} cannot be written: {reason_of(error)}",
            todo="Check its folder, its permissions and the space on the disk",
        ) from error
