"""The commands that read: `search`, `context`, `recall` and `get`."""

from __future__ import annotations

import sys
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from memlines.cli.common import argument_option, common_options, open_memory, read_text, search_options
from memlines.cli.hits import print_answer
from memlines.cli.output import (
    answer_json,
    counted,
    harmless,
    harmless_name,
    is_terminal,
    print_error,
    print_line,
    progress_bar,
    wants_json,
    warn,
)
from memlines.errors import UsageError, extra_missing
from memlines.files.place import holds_memory
from memlines.memory.arguments import CONTEXT, READ, RECALL, SEARCH, parse_citation
from memlines.serve import wire
from memlines.text.shell import quote_word
from memlines.types import CONTEXT_TOKENS, Hit, Source

if TYPE_CHECKING:
    from memlines.memory.memory import Memory
    from memlines.memory.notes.recall import Recalled

_MOST_NAMES = 5
"""How many notes or topics are named where there is not what was asked for."""


# search


@click.command("search")
@click.argument("words", nargs=-1, metavar="QUERY...")
@click.option("--query", hidden=True, help="What to find, instead of QUERY.")
@search_options
@argument_option(
    SEARCH["sources"],
    "sources",
    "--source",
    help="Search only this source; you can repeat it. [default: the setting sources]",
)
@argument_option(
    SEARCH["without"],
    "--without",
    metavar="CITATION",
    help="Answer as if the entries on these lines were not in the memory; you can repeat it.",
)
@argument_option(
    SEARCH["as_of"],
    "--as-of",
    metavar="DAY",
    help="Answer from the notes as they were at the end of this day or month, such as 2026-03-01.",
)
@argument_option(
    SEARCH["workspaces"],
    "--in",
    "workspaces",
    metavar="NAME",
    help="Search this workspace on the cluster, . for this one, * for all; you can repeat it.",
)
@click.option("--why", is_flag=True, help="Explain the score of each hit.")
@click.option("-i", "--interactive", is_flag=True, help="Search as you type; Enter prints the chosen hit.")
@common_options
def search_command(
    words: tuple[str, ...],
    query: str | None,
    sources: tuple[Source, ...],
    why: bool,
    interactive: bool,
    workspace: Path | None,
    **options: Any,
) -> None:
    """Find the lines that answer QUERY.

    You can narrow it with "a phrase", -word, path:people, tag:release, source:sessions, after:2026-05 and
    before:2026-06-01; put a query that starts with a dash after --.

    Changed files are indexed first. If no match is certain, up to three of the nearest lines are shown and
    marked weak. Finding nothing is not an error.
    """
    text = " ".join(words) if query is None else query
    if interactive:
        if why or wants_json() or not is_terminal(sys.stdin):
            raise UsageError("-i needs a terminal, and neither --json nor --why", todo="Leave out -i")
        try:
            from memlines.cli.picker import pick
        except ImportError:
            raise extra_missing(UsageError, "-i", "interactive", "prompt-toolkit") from None
        with open_memory(workspace) as memory:
            raise click.exceptions.Exit(pick(memory, text, {"sources": sources or None, **options}))
    if not text.strip():
        raise UsageError(
            "the query is empty", todo='Ask for something: memlines search "what did we decide?"'
        )
    with open_memory(workspace) as memory, progress_bar() as progress:
        result = memory.search(text, sources=sources or None, progress=progress, **options)
    citations = memory.settings.citations
    answer_json(wire.search_json(result, citations=citations))
    reasons = _reasons if why else None
    print_answer(result, lambda hit: hit.heading, citations=citations != "off", reasons=reasons)


def _reasons(hit: Hit) -> str:
    parts = [f"words: {', '.join(hit.why.words)}" if hit.why.words else "no word in common"]
    if hit.why.lexical is not None:
        parts.append(f"lexical {hit.why.lexical:.3f}")
    if hit.why.vector is not None:
        parts.append(f"vector {hit.why.vector:.3f}")
    if hit.why.reranked is not None:
        parts.append(f"reranked {hit.why.reranked:.3f}")
    return "; ".join([*parts, hit.why.fusion])


# context


@click.command("context")
@click.argument("message", nargs=-1)
@argument_option(
    CONTEXT["max_tokens"],
    "--max-tokens",
    default=CONTEXT_TOKENS,
    show_default=True,
    help="Print at most this many tokens, of about four characters each.",
)
@common_options
def context_command(message: tuple[str, ...], max_tokens: int, workspace: Path | None) -> None:
    """Print what the memory holds about MESSAGE, quoted for the model that will answer it.

    Without MESSAGE, or with a single dash, it is read from standard input; put a message that starts with a
    dash after --. If nothing in memory is certainly about it, nothing is printed; 'memlines search' shows
    what is likely, too.
    """
    from memlines.memory.context import find_relevant

    words = read_text(message, "look for", 'memlines context "which port did we choose?"')
    with open_memory(workspace) as memory:
        found = find_relevant(memory, words, max_tokens=max_tokens)
    answer_json(found.to_json())
    warn(*found.warnings)
    if found.text:
        click.echo(harmless(found.text))
    elif found.nearest is not None:
        hint = "'memlines search' with these words shows the nearest lines"
        click.echo(f"Nothing is sure enough to be quoted; {hint}.", err=True)


# recall


@click.command("recall")
@click.argument("query", nargs=-1)
@argument_option(RECALL["recent"], "--recent", help="Show the latest entries; the default without arguments.")
@argument_option(RECALL["decisions"], "--decisions")
@argument_option(
    RECALL["topic"],
    "--topic",
    help="Show only entries of this topic: in its note, or under a heading of that name.",
)
@argument_option(
    RECALL["limit"], "-n", "--limit", default=10, show_default=True, help="Show at most this many entries."
)
@common_options
def recall_command(query: tuple[str, ...], workspace: Path | None, **options: Any) -> None:
    """Show single entries of your notes with their days, newest first.

    With QUERY you get only the entries that answer it, the best first unless you give --recent; if none
    certainly does, up to three of the nearest. Options combine: --recent --decisions shows the latest
    decisions.
    """
    from memlines.memory.notes.entries import list_topics, one_line

    with open_memory(workspace) as memory:
        entries = memory.recall(" ".join(query) or None, **options)
    answer_json(wire.recalled_json(entries))
    by_day: dict[date | None, list[Recalled]] = {}
    for entry in entries:
        by_day.setdefault(entry.day, []).append(entry)
    if not by_day:
        click.echo("Nothing found.")
        if not holds_memory(memory.workspace):
            warn(f"there is no memory in {memory.workspace.root}; 'memlines init' begins one")
        topics = list_topics(memory.workspace, memory.settings) if options["topic"] else ()
        if topics:
            more = f" and {len(topics) - _MOST_NAMES} more" if len(topics) > _MOST_NAMES else ""
            print_line(f"There are notes of these topics: {', '.join(topics[:_MOST_NAMES])}{more}", err=True)
    elif all(entry.weak for entry in entries):
        click.echo("No confident match. Nearest entries:\n")
    for day, of_that_day in by_day.items():
        click.secho("without a date" if day is None else day.isoformat(), bold=True)
        for entry in of_that_day:
            citation = click.style(harmless_name(entry.citation), fg="cyan")
            click.echo(f"  {citation}  {harmless_name(one_line(entry.text))}")


# get


@click.command("get")
@click.argument("path")
@argument_option(READ["start"], "start", "--from", help="Begin with this line, counted from 1.")
@argument_option(READ["lines"], "--lines", help="Show this many lines, at least 1. [default: 120]")
@argument_option(READ["column"], "--column", help="Begin with this character of the first line, from 1.")
@common_options
def get_command(
    path: str, start: int | None, lines: int | None, column: int | None, workspace: Path | None
) -> int:
    """Show lines of the note PATH, which may be a citation such as memory/x.md#L3-L9.

    You get at most 12,000 characters at a time, and the command that shows more.
    """
    path, start, lines = parse_citation(path, start, lines)
    with open_memory(workspace) as memory:
        excerpt = memory.read(path, start, lines, column)
    if excerpt.found and excerpt.start > max(1, excerpt.total_lines):
        raise UsageError(
            f"{excerpt.path} has {counted(excerpt.total_lines, 'line')}, so there is no line {excerpt.start}",
            todo="Ask for an earlier line",
        )
    if excerpt.found and (column or 1) > 1 and not excerpt.text.split("\n")[0]:
        raise UsageError(
            f"line {excerpt.start} of {excerpt.path} has less than {column} characters",
            todo="Leave out --column",
        )
    answer_json(wire.excerpt_json(excerpt), 0 if excerpt.found else 1)
    if not excerpt.found:
        print_error(f"{excerpt.path} does not exist{_name_nearest(memory, excerpt.path)}")
        return 1
    if not excerpt.total_lines:
        click.echo("(empty)", err=True)
        return 0
    click.echo(harmless(excerpt.text))
    more = f"more: memlines get {quote_word(harmless_name(excerpt.path))} --from {excerpt.next_start}"
    if excerpt.next_column:
        shown = f"{excerpt.start} is shown from character {column or 1:,} to {excerpt.next_column - 1:,}"
        click.echo(f"[cut: line {shown}; {more} --column {excerpt.next_column}]", err=True)
    elif excerpt.next_start and (lines is None or excerpt.lines < lines):
        click.echo(f"[{more}]", err=True)
    return 0


def _name_nearest(memory: Memory, path: str) -> str:
    """Return a question that names the notes with nearly the name of one that is not there, if there are."""
    from difflib import get_close_matches

    from memlines.memory.notes.entries import notes_in

    notes = {Path(file.path).stem: file.path for file in notes_in(memory.workspace, memory.settings)}
    near = get_close_matches(Path(path).stem, notes)
    return f". Did you mean {' or '.join(notes[stem] for stem in near)}?" if near else ""
