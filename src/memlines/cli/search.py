"""`memlines search`: find the lines that answer a question."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import click

from memlines.cli.common import (
    argument_option,
    json_option,
    nearest_workspace,
    print_json,
    progress_bar,
    search_options,
    workspace_option,
)
from memlines.cli.hits import print_answer
from memlines.errors import UsageError
from memlines.memory.arguments import SEARCH
from memlines.memory.memory import Memory
from memlines.serve.wire import search_json
from memlines.types import Hit, Mode, Source


@click.command("search")
@click.argument("words", nargs=-1, metavar="QUERY...")
@click.option("--query", hidden=True, help="What to find, instead of QUERY.")
@search_options
@argument_option(
    SEARCH["sources"],
    "sources",
    "--source",
    help="Search only there; may be given twice. [default: the setting sources]",
)
@click.option("--why", is_flag=True, help="Say for each hit how its score came about.")
@workspace_option
@json_option
def command(
    words: tuple[str, ...],
    query: str | None,
    max_results: int | None,
    min_score: float | None,
    mode: str,
    full: bool,
    sources: tuple[str, ...],
    why: bool,
    workspace: Path | None,
    as_json: bool,
) -> None:
    """Find the lines that answer QUERY.

    In it, "a phrase", -word, path:people, tag:release, source:sessions, after:2026-05 and
    before:2026-06-01 narrow the search; put a query that starts with a dash after --.

    Changed files are indexed first. Where nothing is sure, up to three of the nearest lines are shown and
    called weak. Finding nothing is an answer, not an error.
    """
    text = " ".join(words) if query is None else query
    if not text.strip():
        raise UsageError(
            "the query is empty", todo='Ask for something: memlines search "what did we decide?"'
        )
    with Memory(nearest_workspace(workspace)) as memory, progress_bar() as progress:
        result = memory.search(
            text,
            max_results=max_results,
            min_score=min_score,
            mode=cast("Mode", mode),
            sources=cast("tuple[Source, ...]", sources) or None,
            full=full,
            progress=progress,
        )
    citations = memory.settings.citations
    if as_json:
        print_json(search_json(result, citations=citations))
    else:
        reasons = _reasons if why else None
        print_answer(result, lambda hit: hit.heading, citations=citations != "off", reasons=reasons)


def _reasons(hit: Hit) -> str:
    parts = [f"words: {', '.join(hit.why.words)}" if hit.why.words else "no word in common"]
    if hit.why.lexical is not None:
        parts.append(f"lexical {hit.why.lexical:.3f}")
    if hit.why.vector is not None:
        parts.append(f"vector {hit.why.vector:.3f}")
    return "; ".join([*parts, hit.why.fusion])
