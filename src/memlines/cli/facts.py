"""`memlines facts`: short long-term memories, which stand in their note a line each."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from memlines.cli.common import (
    allow_secret_option,
    counted,
    harmless_name,
    json_option,
    nearest_workspace,
    print_json,
    standard_input,
    warn,
    workspace_option,
)
from memlines.cli.facts_export import export_command
from memlines.cli.facts_review import review_command
from memlines.cli.facts_shown import citation_of, line_json, newest_first, no_longer_true, shown
from memlines.cli.forget import ask_which, must_be_named, print_receipt
from memlines.errors import UsageError
from memlines.memory.memory import Memory
from memlines.memory.notes.candidates import Candidate
from memlines.text.facts import CATEGORIES, IMPORTANCE, Category, FactLine

if TYPE_CHECKING:
    from memlines.memory.facts.facts import Stats, Stored

UNSURE = "No confident match. Nearest facts:"
_EXAMPLE = 'memlines facts store "Prefers tabs over spaces"'

_category_option = click.option(
    "-c", "--category", type=click.Choice(CATEGORIES), help="Only those of this category."
)


@click.group("facts")
def command() -> None:
    """Keep short long-term memories: preferences, decisions, people.

    They stand in the note memory/facts.md, a line each, which can also be changed with an editor.
    """


command.add_command(review_command)
command.add_command(export_command)


# list


@command.command("list")
@_category_option
@click.option("--all", "everything", is_flag=True, help="Show those that are no longer true as well.")
@click.option("--captured", is_flag=True, help="Only those that were taken from conversations.")
@click.option("-n", "--limit", type=click.IntRange(min=1), help="How many at most. [default: all]")
@workspace_option
@json_option
def list_command(
    category: str | None,
    everything: bool,
    captured: bool,
    limit: int | None,
    workspace: Path | None,
    as_json: bool,
) -> None:
    """List the facts, the newest first, with the id that the other commands take."""
    with Memory(nearest_workspace(workspace)) as memory:
        lines = memory.facts.list(category=cast("Category | None", category), current=not everything)
        path = memory.facts.path
    chosen = newest_first([line for line in lines if line.fact.is_captured or not captured])[:limit]
    if as_json:
        print_json({"facts": [line_json(path, line) for line in chosen]})
        return
    for line in chosen:
        click.echo(shown(line.fact))
    if not chosen:
        click.echo("There are no such facts." if category or captured else "There are no facts.")


# search


@command.command("search")
@click.argument("query", nargs=-1, required=True)
@click.option(
    "-n", "--limit", type=click.IntRange(1, 1000), default=5, show_default=True, help="How many at most."
)
@click.option("--min-score", type=float, help="Show no fact that scores lower (0 to 1).")
@click.option("--all", "everything", is_flag=True, help="Search those that are no longer true as well.")
@workspace_option
@json_option
def search_command(
    query: tuple[str, ...],
    limit: int,
    min_score: float | None,
    everything: bool,
    workspace: Path | None,
    as_json: bool,
) -> None:
    """Find the facts that answer QUERY, the likeliest first.

    The percentage is how likely a fact answers it. Where none is a likely answer, the nearest are shown.
    Finding none is an answer, not an error.
    """
    text = " ".join(query)
    if not text.strip():
        raise UsageError("the query is empty", todo="Ask for something: memlines facts search editor")
    with Memory(nearest_workspace(workspace)) as memory:
        result = memory.facts.recall(text, limit=limit, min_score=min_score, current_only=not everything)
    if as_json:
        told = [found.to_json() for found in result.found]
        print_json({"facts": told, "confident": result.confident, "warnings": list(result.warnings)})
        return
    for warning in result.warnings:
        warn(warning)
    if result.found and not result.confident:
        click.echo(UNSURE)
    for number, found in enumerate(result.found, 1):
        remark = "" if found.fact.is_current else f"  ({no_longer_true(found.fact)})"
        sure = f"({found.band}, {found.score:.0%})"
        said = f"[{found.fact.category}] {harmless_name(found.fact.text)} {sure}{remark}"
        click.echo(f"{number}. {said}")
        place = click.style(harmless_name(found.citation), fg="cyan")
        click.echo(f"{'':{len(str(number)) + 2}}{place}  {found.fact.id}")
    if not result.found:
        click.echo("Nothing in memory answers this. Try other words.")


# store


@command.command("store")
@click.argument("text", nargs=-1)
@click.option("-c", "--category", type=click.Choice(CATEGORIES), help="[default: guessed from the text]")
@click.option(
    "--importance",
    type=click.FloatRange(0, 1),
    default=IMPORTANCE,
    show_default=True,
    help="How much it counts.",
)
@click.option("--replaces", metavar="ID", help="The fact that is no longer true because of this one.")
@click.option("--force", is_flag=True, help="Store it even if it is known, or reads like an order.")
@allow_secret_option
@workspace_option
@json_option
def store_command(
    text: tuple[str, ...],
    category: str | None,
    importance: float,
    replaces: str | None,
    force: bool,
    allow_secret: bool,
    workspace: Path | None,
    as_json: bool,
) -> None:
    """Store TEXT as a fact, unless it is known already.

    A fact that it contradicts, or that --replaces names, is kept as no longer true. Without TEXT, or with a
    single dash, the text comes from standard input; put a text that starts with a dash after --.
    """
    from memlines.agent.capture import is_injection

    words = standard_input("store", _EXAMPLE) if text in ((), ("-",)) else " ".join(text)
    if is_injection(words) and not force:
        raise UsageError(
            "the text reads like an order to a model, and was not stored",
            todo="Say what is the case, or store it as it is with --force",
        )
    with Memory(nearest_workspace(workspace)) as memory:
        stored = memory.facts.store(
            words,
            importance=importance,
            category=cast("Category | None", category),
            force=force,
            replaces=replaces,
            allow_secret=allow_secret,
        )
    if as_json:
        print_json(stored.to_json())
    else:
        _print_stored(stored)


def _print_stored(stored: Stored) -> None:
    for warning in stored.warnings:
        warn(warning)
    fact = stored.line.fact
    if stored.action == "duplicate":
        name = f"{fact.id} in " if fact.id else ""
        click.echo(harmless_name(f"Already known: {name}{stored.citation}: {fact.text}"))
        return
    click.echo(harmless_name(f"Stored as {fact.id} [{fact.category}] in {stored.citation}"))
    if stored.old is not None:
        old = stored.old.fact
        click.echo(harmless_name(f"No longer true: {old.id}: {old.text}"))
    for similar in (line.fact for line in stored.similar):
        click.echo(harmless_name(f"Similar: {similar.id}: {similar.text}"))
    if stored.similar:
        click.echo("If it replaces one of them, store it again with --replaces and the id of that one.")


# edit


@command.command("edit")
@click.argument("fact_id", metavar="ID")
@click.argument("text", nargs=-1, required=True)
@allow_secret_option
@workspace_option
@json_option
def edit_command(
    fact_id: str, text: tuple[str, ...], allow_secret: bool, workspace: Path | None, as_json: bool
) -> None:
    """Give the fact ID another TEXT; everything else of it stays."""
    with Memory(nearest_workspace(workspace)) as memory:
        line = memory.facts.edit(fact_id, " ".join(text), allow_secret=allow_secret)
        path = memory.facts.path
    if as_json:
        print_json({"fact": line_json(path, line)})
    else:
        click.echo(f"Changed in {harmless_name(citation_of(path, line))}")
        click.echo(shown(line.fact))


# forget


@command.command("forget")
@click.argument("ids", nargs=-1, metavar="ID...")
@click.option("-q", "--query", help="List the facts that this may mean, to choose from.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@click.option("--dry-run", is_flag=True, help="Show what would be forgotten, and change nothing.")
@workspace_option
@json_option
def forget_command(
    ids: tuple[str, ...], query: str | None, yes: bool, dry_run: bool, workspace: Path | None, as_json: bool
) -> int:
    """Remove facts for good: from their note, its history, the index and the table.

    They are named by ID. --query only lists the facts that 'memlines facts search' finds, then such as are
    no longer true: you choose on a terminal, or give the id of one. Exits with 1 if something is left, or
    nothing was found.
    """
    if bool(ids) == bool(query):
        raise UsageError(
            "no fact is named to be forgotten" if not ids else "both ids and a query are given",
            todo="Give ids that 'memlines facts list' shows, or describe one with --query",
        )
    with Memory(nearest_workspace(workspace)) as memory:
        path = memory.facts.path
        near = memory.facts.candidates(query) if query else ()
        names = [one.fact.id for one in near] if query else list(dict.fromkeys(ids))
        found = [memory.facts.get(name) for name in names]
        if not as_json:
            if near and all(one.band == "weak" for one in near):
                click.echo(UNSURE)
            _print_numbered(found)
        if dry_run or not found or (query and must_be_named("memlines facts forget", names, yes=yes)):
            if as_json:
                print_json({"facts": [line_json(path, line) for line in found], "receipt": None})
            return 0 if found else 1
        chosen = found if yes else _chosen(path, found, pick=query is not None)
        receipt = memory.facts.forget([line.fact.id for line in chosen]) if chosen else None
    if as_json:
        told = [line_json(path, line) for line in chosen]
        print_json({"facts": told, "receipt": receipt.to_json() if receipt else None})
    elif receipt is None:
        click.echo("Nothing was forgotten.")
    else:
        print_receipt(receipt)
    return 0 if receipt is None or receipt.complete else 1


def _print_numbered(lines: Sequence[FactLine]) -> None:
    if not lines:
        click.echo("Nothing was found to forget.")
    width = len(str(len(lines)))
    for number, line in enumerate(lines, 1):
        click.echo(f"{number:>{width}}  {shown(line.fact)}")


def _chosen(path: str, lines: Sequence[FactLine], *, pick: bool) -> list[FactLine]:
    """Let a person choose and confirm, as 'memlines forget' does."""
    entries = {Candidate(path, line.first, line.last, line.raw, "item"): line for line in lines}
    return [entries[entry] for entry in ask_which(list(entries), pick=pick)]


# stats


@command.command("stats")
@workspace_option
@json_option
def stats_command(workspace: Path | None, as_json: bool) -> None:
    """Count the facts, and say what finds them."""
    with Memory(nearest_workspace(workspace)) as memory:
        stats = memory.facts.stats()
    if as_json:
        print_json(stats.to_json())
    else:
        _print_stats(stats)


def _print_stats(stats: Stats) -> None:
    if not stats.total:
        click.echo("There are no facts.")
        return
    click.echo(f"{counted(stats.current, 'fact')} in {harmless_name(stats.file)}")
    for category, count in stats.by_category.items():
        if count:
            click.echo(f"  {category:<10}  {count}")
    if stats.superseded:
        click.echo(f"{counted(stats.superseded, 'fact')} no longer true")
    if stats.captured:
        click.echo(f"{stats.captured} captured, {stats.unreviewed} of them not reviewed yet")
    if stats.oldest and stats.newest:
        click.echo(f"Written down from {stats.oldest.isoformat()} to {stats.newest.isoformat()}")
    click.echo(_table(stats))


def _table(stats: Stats) -> str:
    if not stats.uri:
        return "No LanceDB table; the main index finds them"
    rows = "not made yet" if stats.rows is None else counted(stats.rows, "row")
    return f"LanceDB table in {harmless_name(stats.uri)}: {rows}"
