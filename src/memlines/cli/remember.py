"""The commands that write and remove: `remember` and `forget`."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from memlines.cli.common import (
    allow_secret_option,
    argument_option,
    common_options,
    dry_run_option,
    open_memory,
    read_text,
)
from memlines.cli.output import (
    answer_json,
    counted,
    harmless_name,
    is_terminal,
    print_line,
    wants_json,
    warn,
)
from memlines.errors import UsageError, WorkspaceError
from memlines.memory.arguments import FORGET, REMEMBER
from memlines.text.shell import quote_word

if TYPE_CHECKING:
    from memlines.memory.notes.candidates import ForgetCandidate
    from memlines.memory.notes.proof import ForgetReceipt
    from memlines.paths import Workspace

Choice = TypeVar("Choice")

_WIDTH = 90
_NO = ("n", "no", "none")
"""Answers that choose nothing. Saying no is an answer, not an error."""

yes_option = click.option("-y", "--yes", is_flag=True, help="Do not ask.")

_PLACES = {
    "entries": "entry of a note|entries of notes",
    "notes": "whole note|whole notes",
    "turns": "turn of a conversation|turns of conversations",
    "transcripts": "conversation|conversations",
    "snapshots": "snapshot|snapshots",
    "shown": "answer that an agent got|answers that agents got",
    "history": "kept version of a note|kept versions of notes",
    "trash": "note in the trash|notes in the trash",
    "chunks": "chunk of the index|chunks of the index",
    "vectors": "vector|vectors",
    "cached": "cached vector|cached vectors",
    "copies": "copy of the index|copies of the index",
    "past": "index of an earlier day|indexes of earlier days",
    "cluster": "chunk on the cluster|chunks on the cluster",
    "qmd": "index of qmd|indexes of qmd",
    "questions": "test set made from the notes|test sets made from the notes",
    "proposals": "proposal of tidy|proposals of tidy",
}


# remember


@click.command("remember")
@click.argument("text", nargs=-1)
@argument_option(
    REMEMBER["topic"],
    "--topic",
    help="File it under this topic: in its note, or with --to below its heading.",
)
@argument_option(REMEMBER["session"], "--session")
@argument_option(REMEMBER["to"], "--to")
@click.option("--force", is_flag=True, help="Write it even if it is already known.")
@allow_secret_option
@common_options
def remember_command(text: tuple[str, ...], workspace: Path | None, **options: Any) -> None:
    """Write TEXT into today's log, or into the note of a topic, and print its citation.

    Without TEXT, or with a single dash, it is read from standard input; put a text that starts with a dash
    after --. What is already known is not written again, and a text with a password or a key is refused.
    """
    from memlines.files.scan import NOTES_DIR, ROOT_FILES
    from memlines.memory.notes.entries import one_line
    from memlines.serve.wire import remembered_json

    words = read_text(text, "remember", 'memlines remember "we chose Postgres"')
    with open_memory(workspace, begin=True) as memory:
        root = memory.workspace.root
        is_first = not any(os.path.lexists(root / name) for name in (ROOT_FILES[0], NOTES_DIR))
        remembered = memory.remember(words, **options)
    answer_json(remembered_json(remembered))
    if remembered.duplicate is None:
        print_line(f"Remembered in {remembered.citation}")
        if is_first:
            print_line(f"There was no memory in {harmless_name(str(root))} before; this began one.")
    else:
        print_line(f"Already known: {remembered.citation}: {one_line(remembered.duplicate.snippet)}")


# forget


@click.command("forget")
@click.argument("selectors", nargs=-1, metavar="SELECTOR...")
@argument_option(FORGET["session"], "--session")
@yes_option
@dry_run_option
@common_options
def forget_command(
    selectors: tuple[str, ...], session: str | None, yes: bool, dry_run: bool, workspace: Path | None
) -> int:
    """Remove entries for good: from notes, history, trash, index and caches.

    SELECTOR is a citation such as memory/x.md#L3, the path of a note, or words to search for. You see what
    was found before anything is changed. Words only list entries: choose on a terminal, or name the
    citation of one. Exits with 1 if something is left, or nothing was found, and with 0 if you say no.
    """
    from memlines.memory.notes.candidates import is_query

    if not selectors and session is None:
        raise UsageError("nothing is named to be forgotten", todo="Give a citation, a path or some words")
    with open_memory(workspace) as memory:
        places = [selector for selector in selectors if not is_query(memory.workspace, selector)]
        query = " ".join(selector for selector in selectors if selector not in places)
        every = [] if session is None else list(memory.forget_candidates(session=session))
        for selector in [*places, query] if query else places:
            every.extend(memory.forget_candidates(selector))
        found = list(dict.fromkeys(every))
        if not wants_json():
            _print_candidates(found)
            if query and not found:
                hint = "'memlines search' with these words shows the nearest lines: name the citation of one"
                click.echo(f"Only what certainly fits is listed; {hint}.", err=True)
        citations = [candidate.citation for candidate in found]
        if dry_run or not found or (query and is_choice_impossible("memlines forget", citations, yes=yes)):
            code = 0 if found else 1
            answer_json({"candidates": [candidate.to_json() for candidate in found], "receipt": None}, code)
            return code
        chosen = found if yes else ask_which(found, pick=bool(query))
        receipt = memory.forget(chosen) if chosen else None
    answer: dict[str, object] = {"candidates": [candidate.to_json() for candidate in chosen]}
    return show_receipt(answer, receipt, memory.workspace, {candidate.path for candidate in chosen})


def _print_candidates(found: Sequence[ForgetCandidate]) -> None:
    if not found:
        click.echo("Nothing was found to forget.")
    width = len(str(len(found)))
    for number, candidate in enumerate(found, 1):
        kind = "" if "#" in candidate.citation else f" (the whole {candidate.kind})"
        kind = " (what an agent was shown in a session)" if candidate.kind == "record" else kind
        click.echo(f"{number:>{width}}  {harmless_name(candidate.citation)}{kind}")
        lines = [line.strip() for line in candidate.text.split("\n") if line.strip()]
        first = harmless_name(lines[0]) if lines else "(empty)"
        first = first if len(first) <= _WIDTH else f"{first[: _WIDTH - 1]}…"
        more = f" (+{counted(len(lines) - 1, 'line')})" if len(lines) > 1 else ""
        click.echo(f"{'':{width}}  {first}{more}")


def is_choice_impossible(command: str, names: Sequence[str], *, yes: bool) -> bool:
    """Return whether there is no terminal to choose on; if so, print the command that forgets one of them.

    A query never deletes, so `--yes` with one is refused.
    """
    example = f"{command} {quote_word(harmless_name(names[0]))} --yes"
    if yes:
        raise UsageError(
            "a query only lists candidates, and nothing was changed",
            todo=f"Name the one you mean: {example}",
        )
    if is_terminal(sys.stdin):
        return False
    click.echo(f"Nothing was changed. To forget one of them: {example}", err=True)
    return True


def ask_which(found: list[Choice], *, pick: bool) -> list[Choice]:
    """Let a person choose and confirm; without a terminal, refuse."""
    if not is_terminal(sys.stdin):
        raise UsageError(
            "there is no terminal to confirm on, and nothing was changed",
            todo="Look at it with --dry-run, then give --yes",
        )
    if pick and len(found) > 1:
        answer = click.prompt("Which of them? (all, or numbers such as 1,3)", default="none", err=True)
        found = _pick(found, str(answer))
    if not found:
        return []
    click.echo("What was written before can then no longer be undone.", err=True)
    these = "this entry" if len(found) == 1 else f"these {len(found)} entries"
    return found if click.confirm(f"Forget {these} for good?", default=False, err=True) else []


def _pick(found: list[Choice], answer: str) -> list[Choice]:
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


def show_receipt(
    chosen: dict[str, object], receipt: ForgetReceipt | None, workspace: Workspace, notes: Iterable[str]
) -> int:
    """Print what a command forgot of some notes, and return its exit code."""
    code = 0 if receipt is None or receipt.complete else 1
    answer_json(chosen | {"receipt": receipt.to_json() if receipt else None}, code)
    if receipt is None:
        click.echo("Nothing was forgotten.")
    else:
        print_receipt(receipt)
        _warn_of_git(workspace, notes)
    return code


def _warn_of_git(workspace: Workspace, notes: Iterable[str]) -> None:
    """Say that git keeps what notes said before, if it knows any of them."""
    from memlines.files.git import is_tracked
    from memlines.worktrees import repository_above

    with suppress(WorkspaceError):  # without git, what it holds is not ours to say
        if repository_above(str(workspace.root)) and is_tracked(workspace.root, *notes):
            warn("git's history of this repository may still hold it")


def print_receipt(receipt: ForgetReceipt) -> None:
    """Print what is gone, and what is left of it."""
    counts = []
    for place, words in _PLACES.items():
        if count := receipt.removed.get(place):
            counts.append(f"{count} {words.split('|')[count > 1]}")
    if counts:
        click.echo(f"Forgotten: {', '.join(counts)}.")
    if receipt.left:
        click.secho("It is still here:", fg="red")
        for place in receipt.left:
            print_line(f"  {place}")
        click.echo(
            "Forget a citation like this one. A file of the index loses it when the programs that have it"
            " open end; you can delete any other file."
        )
    else:
        click.secho("Nothing of it is left in this memory.", fg="green")
    if receipt.transcripts:
        click.echo("Transcripts that hold it are not changed, and it does not come back from them:")
        for path in receipt.transcripts:
            print_line(f"  {path}")
