"""`memlines forget`: remove something for good, and prove it."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from memlines.cli.common import (
    argument_option,
    counted,
    harmless_name,
    is_terminal,
    json_option,
    nearest_workspace,
    print_json,
    workspace_option,
)
from memlines.errors import UsageError
from memlines.memory.arguments import FORGET
from memlines.memory.memory import Memory
from memlines.memory.notes.candidates import Candidate, is_query
from memlines.memory.notes.proof import Receipt

_WIDTH = 90
_NO = ("n", "no", "none")
"""Answers that choose nothing. Saying no is an answer, so it is no error."""
_PLACES = {
    "entries": "entry of a note|entries of notes",
    "notes": "whole note|whole notes",
    "turns": "turn of a conversation|turns of conversations",
    "transcripts": "conversation|conversations",
    "snapshots": "snapshot|snapshots",
    "history": "kept version of a note|kept versions of notes",
    "trash": "note in the trash|notes in the trash",
    "chunks": "chunk of the index|chunks of the index",
    "vectors": "vector|vectors",
    "cached": "cached vector|cached vectors",
    "copies": "copy of the index|copies of the index",
}


@click.command("forget")
@click.argument("selectors", nargs=-1, metavar="SELECTOR...")
@argument_option(FORGET["session"], "--session")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@click.option("--dry-run", is_flag=True, help="Show what would be forgotten, and change nothing.")
@workspace_option
@json_option
def command(
    selectors: tuple[str, ...],
    session: str | None,
    yes: bool,
    dry_run: bool,
    workspace: Path | None,
    as_json: bool,
) -> int:
    """Remove entries for good: from notes, history, trash, index and caches.

    SELECTOR is a citation such as memory/x.md#L3, the path of a note, or words to search for. What was
    found is shown before anything is changed. Words only list entries: you choose on a terminal, or name
    the citation of one. Exits with 1 if something is left, or nothing was found, and with 0 if you say no.
    """
    if not selectors and session is None:
        raise UsageError("nothing is named to be forgotten", todo="Give a citation, a path or some words")
    with Memory(nearest_workspace(workspace)) as memory:
        places = [selector for selector in selectors if not is_query(memory.workspace, selector)]
        query = " ".join(selector for selector in selectors if selector not in places)
        found = _found(memory, [*places, query] if query else places, session)
        if not as_json:
            _print_candidates(found)
        citations = [candidate.citation for candidate in found]
        if dry_run or not found or (query and must_be_named("memlines forget", citations, yes=yes)):
            if as_json:
                print_json({"candidates": [candidate.to_json() for candidate in found], "receipt": None})
            return 0 if found else 1
        chosen = found if yes else ask_which(found, pick=bool(query))
        receipt = memory.forget(chosen) if chosen else None
    if as_json:
        shown = [candidate.to_json() for candidate in chosen]
        print_json({"candidates": shown, "receipt": receipt.to_json() if receipt else None})
    elif receipt is None:
        click.echo("Nothing was forgotten.")
    else:
        print_receipt(receipt)
    return 0 if receipt is None or receipt.complete else 1


def _found(memory: Memory, selectors: Sequence[str], session: str | None) -> list[Candidate]:
    found: list[Candidate] = []
    if session is not None:
        found.extend(memory.forget_candidates(session=session))
    for selector in selectors:
        found.extend(memory.forget_candidates(selector))
    return list(dict.fromkeys(found))


def _print_candidates(found: Sequence[Candidate]) -> None:
    if not found:
        click.echo("Nothing was found to forget.")
    width = len(str(len(found)))
    for number, candidate in enumerate(found, 1):
        kind = "" if "#" in candidate.citation else f" (the whole {candidate.kind})"
        click.echo(f"{number:>{width}}  {harmless_name(candidate.citation)}{kind}")
        click.echo(f"{'':{width}}  {_first_line(candidate.text)}")


def _first_line(text: str) -> str:
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    first = harmless_name(lines[0]) if lines else "(empty)"
    more = f" (+{counted(len(lines) - 1, 'line')})" if len(lines) > 1 else ""
    return (first if len(first) <= _WIDTH else f"{first[: _WIDTH - 1]}…") + more


def must_be_named(command: str, names: Sequence[str], *, yes: bool) -> bool:
    """Tell whether nobody can choose among what a query found, and say which command forgets one of them.

    A query never deletes, so `--yes` with one is refused.
    """
    example = f"{command} {shlex.quote(harmless_name(names[0]))} --yes"
    if yes:
        raise UsageError(
            "a query only lists what could be meant, and nothing was changed",
            todo=f"Name what is meant: {example}",
        )
    if is_terminal(sys.stdin):
        return False
    click.echo(f"Nothing was changed. To forget one of them: {example}", err=True)
    return True


def ask_which(found: list[Candidate], *, pick: bool) -> list[Candidate]:
    """Let a person choose and confirm; where nobody can answer, refuse."""
    if not is_terminal(sys.stdin):
        raise UsageError(
            "nobody can be asked whether to forget this, and nothing was changed",
            todo="Look at it with --dry-run, then give --yes",
        )
    if pick and len(found) > 1:
        answer = click.prompt("Which of them? (all, or numbers such as 1,3)", default="none", err=True)
        found = _picked(found, str(answer))
    if not found:
        return []
    these = "this entry" if len(found) == 1 else f"these {len(found)} entries"
    return found if click.confirm(f"Forget {these} for good?", default=False, err=True) else []


def _picked(found: list[Candidate], answer: str) -> list[Candidate]:
    words = [word for word in re.split(r"[,\s]+", answer.strip().lower()) if word]
    if words == ["all"]:
        return found
    if not words or words[0] in _NO:
        return []
    if not all(re.fullmatch(r"\d{1,6}", word) and 1 <= int(word) <= len(found) for word in words):
        raise UsageError(
            f"{answer!r} names none of them", todo=f"Answer all, or numbers from 1 to {len(found)}"
        )
    numbers = {int(word) for word in words}
    return [candidate for number, candidate in enumerate(found, 1) if number in numbers]


def print_receipt(receipt: Receipt) -> None:
    """Print what is gone, and what is left of it."""
    counts = [(place, receipt.removed[place]) for place in _PLACES if receipt.removed.get(place)]
    if counts:
        click.echo("Forgotten: " + ", ".join(_counted(place, count) for place, count in counts) + ".")
    if receipt.left:
        click.secho("It is still here:", fg="red")
        for place in receipt.left:
            click.echo(f"  {harmless_name(place)}")
        click.echo(
            "A citation can be forgotten like this one. A file of the index loses it once the programs have"
            " ended that have it open; another file can be deleted."
        )
    else:
        click.secho("Nothing of it is left in this memory.", fg="green")
    if receipt.transcripts:
        click.echo("Transcripts that hold it are not changed, and it does not come back from them:")
        for path in receipt.transcripts:
            click.echo(f"  {harmless_name(path)}")


def _counted(place: str, count: int) -> str:
    one, more = _PLACES[place].split("|")
    return f"{count} {one if count == 1 else more}"
