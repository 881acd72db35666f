"""`memlines tidy`: make a proposal, show it, apply and decline items, walk through them, undo."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from memlines.cli.common import common_options, dry_run_option, open_memory
from memlines.cli.history import print_changes, show_undone
from memlines.cli.output import answer_json, counted, harmless, is_terminal, print_error, print_line, warn
from memlines.cli.remember import yes_option
from memlines.errors import MemlinesError, UsageError
from memlines.files.place import holds_memory

if TYPE_CHECKING:
    from memlines.memory.memory import Memory
    from memlines.memory.tidy.apply import TidyResult
    from memlines.memory.tidy.proposal import Proposal, TidyItem

_NAMES = {
    "duplicate": "duplicate",
    "contradiction": "contradiction",
    "stale": "stale entry|stale entries",
    "promote": "entry to promote|entries to promote",
    "long": "move out of MEMORY.md|moves out of MEMORY.md",
}
_COLOURS = {"+": "green", "-": "red", "@": "cyan"}
_WORDED = ", [w] with the model's words"

worded_option = click.option(
    "--worded", is_flag=True, help="Add what a chat model made of the lines instead of the lines."
)


@click.group("tidy", invoke_without_command=True)
@common_options
@click.pass_context
def tidy_command(context: click.Context, workspace: Path | None) -> None:
    """Propose how to tidy your notes, and change nothing.

    The proposal lists duplicates, contradictions, entries that name what no longer exists, entries of logs
    that belong into a curated note, and what makes MEMORY.md too long. Each item has an id.
    """
    if context.invoked_subcommand is not None:
        if workspace is not None:
            raise UsageError(
                "--workspace is before the command that it is for",
                todo=f"Write: memlines tidy {context.invoked_subcommand} --workspace FOLDER",
            )
        return
    from memlines.agent.tidy import word

    with open_memory(workspace) as memory:
        if not holds_memory(memory.workspace):
            what = f"there is no memory in {str(memory.workspace.root)!r} to tidy"
            raise UsageError(what, todo="Name another folder")
        proposed, warnings = word(memory, memory.tidy.propose())
    answer_json({**proposed.to_json(), "warnings": list(warnings)})
    warn(*warnings)
    _print_summary(proposed)


def _print_summary(proposed: Proposal) -> None:
    if not proposed.items:
        click.echo("There is nothing to tidy.")
        return
    counts: Counter[str] = Counter(item.kind for item in proposed.items)
    for kind, names in _NAMES.items():
        if count := counts[kind]:
            one, _, several = names.partition("|")
            click.echo(f"{count:>4} {one if count == 1 else several or f'{one}s'}")
    if proposed.left_out:
        click.echo(f"{proposed.left_out} more did not fit; apply or decline some of these first.")
    review = sum(item.needs_review for item in proposed.items)
    if review:
        click.echo(f"{counted(review, 'item')} of them can only be applied by id or in a review.")
    click.echo("Nothing was changed. The proposal is .memory/tidy/proposal.md")
    click.echo("Go through it with 'memlines tidy review', or apply items: memlines tidy apply ID...")


# show


@tidy_command.command("show")
@click.argument("ids", nargs=-1, metavar="ID...")
@common_options
def show_command(ids: tuple[str, ...], workspace: Path | None) -> None:
    """Show the items of the last proposal: all of them, or those with an ID."""
    with open_memory(workspace) as memory:
        proposed = memory.tidy.load()
    items = proposed.choose(ids) if ids else proposed.items
    answer_json({**proposed.to_json(), "items": [item.to_json() for item in items]})
    for item in items:
        _print_item(item)
    if not items:
        click.echo("There is nothing to tidy.")


def _print_item(item: TidyItem) -> None:
    note = ", needs review" if item.needs_review else "" if item.edits else ", only to look at"
    print_line(f"{item.id}  {item.kind}{note}: {item.why}")
    for one in item.cited:
        click.echo(f"  {harmless(one.citation)}")
        for line in one.text.split("\n"):
            click.echo(f"    {harmless(line)}")
    for edit in item.edits:
        for line in edit.diff.split("\n"):
            click.secho(f"  {harmless(line)}", fg=_COLOURS.get(line[:1]))
    if item.worded:
        print_line(f"  The model's words: {item.worded}")
    click.echo()


# apply


@tidy_command.command("apply")
@click.argument("ids", nargs=-1, metavar="ID...")
@worded_option
@yes_option
@dry_run_option
@common_options
def apply_command(
    ids: tuple[str, ...], worded: bool, yes: bool, dry_run: bool, workspace: Path | None
) -> int:
    """Apply the items with an ID to your notes; without one, all that need no review, after asking.

    An item whose lines have changed since the proposal is refused, and nothing of it is done; the exit code
    is then 1. 'memlines tidy undo' undoes all of it. Daily logs are never changed.
    """
    with open_memory(workspace) as memory:
        if not ids and not (yes or dry_run):
            _confirm(memory)
        applied = memory.tidy.apply(ids or None, worded=worded, dry_run=dry_run)
    code = 1 if applied.refused else 0
    answer_json({**applied.to_json(), "dry_run": dry_run}, code)
    print_changes(applied.changes)
    _print_outcome(applied, dry_run=dry_run)
    return code


def _confirm(memory: Memory) -> None:
    """Ask whether to apply everything; without a terminal, refuse."""
    if not is_terminal(sys.stdin):
        raise UsageError(
            "there is no terminal to confirm on, and nothing was changed",
            todo="Name ids, or look at it with --dry-run and then give --yes",
        )
    plan = memory.tidy.apply(dry_run=True)
    print_changes(plan.changes)
    if not plan.applied or not click.confirm(f"Apply {counted(len(plan.applied), 'item')}?", err=True):
        raise click.Abort


def _print_outcome(applied: TidyResult, *, dry_run: bool) -> None:
    verb = "Would apply" if dry_run else "Applied"
    click.echo(f"{verb} {counted(len(applied.applied), 'item')}.")
    if applied.known:
        click.echo(f"Applied before: {', '.join(applied.known)}")
    for one in applied.refused:
        print_error(f"{one.id} was refused: {one.why}")
    if applied.left:
        click.echo(f"Left for a review: {', '.join(applied.left)}")
    if applied.applied and not dry_run:
        click.echo("'memlines tidy undo' brings everything back.")


# decline


@tidy_command.command("decline")
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@common_options
def decline_command(ids: tuple[str, ...], workspace: Path | None) -> None:
    """Do not propose the items with an ID again."""
    with open_memory(workspace) as memory:
        declined = memory.tidy.decline(ids)
    answer_json({"declined": list(declined)})
    click.echo(f"Declined {counted(len(declined), 'item')}.")


# review


@tidy_command.command("review")
@common_options
def review_command(workspace: Path | None) -> int:
    """Go through the proposal on a terminal: y applies an item, n declines it, s skips it, q ends.

    Each answer counts at once. What you applied is undone item by item with 'memlines tidy undo'.
    """
    with open_memory(workspace) as memory:
        items = memory.tidy.open_items()
        answer_json({"items": [item.to_json() for item in items]})
        if not items:
            click.echo("There is nothing to review.")
            return 0
        if not (is_terminal(sys.stdin) and is_terminal(sys.stdout)):
            raise UsageError(
                "there is no terminal to review on",
                todo="Use 'memlines tidy show', then 'apply ID' and 'decline ID'",
            )
        return _review(memory, items)


def _review(memory: Memory, items: Sequence[TidyItem]) -> int:
    done: Counter[str] = Counter()
    code = 0
    for number, item in enumerate(items, 1):
        click.echo(f"{number} of {len(items)}")
        _print_item(item)
        answer = _ask(item)
        if answer == "q":
            break
        try:
            if answer in ("y", "w"):
                refused = memory.tidy.apply([item.id], worded=answer == "w").refused
                for one in refused:
                    print_error(f"{one.id} was refused: {one.why}")
                    code = 1
                done["applied"] += not refused
            elif answer == "n":
                memory.tidy.decline([item.id])
                done["declined"] += 1
        except MemlinesError as error:  # a note that cannot be written is no reason to stop
            print_error(str(error))
            code = 1
    click.echo(f"{done['applied']} applied, {done['declined']} declined.")
    return code


def _ask(item: TidyItem) -> str:
    """Return the key of the answer: y, w, n, s or q; the end of the input ends the review."""
    keys = ("y" if item.edits else "") + ("w" if item.worded else "") + "nsq"
    apply_it = f"[y] apply{_WORDED if item.worded else ''}, " if item.edits else ""
    while True:
        click.echo(f"{apply_it}[n] decline, [s] skip, [q] quit? ", nl=False, err=True)
        try:
            pressed = click.getchar().lower()
        except EOFError:
            pressed = "q"
        pressed = "q" if pressed in ("", "\x04", "\x1a") else pressed
        click.echo(pressed if pressed in keys else "", err=True)
        if pressed in keys:
            return pressed


# undo


@tidy_command.command("undo")
@dry_run_option
@common_options
def undo_command(dry_run: bool, workspace: Path | None) -> None:
    """Undo what 'memlines tidy apply' changed last, and show it; what you wrote since stays."""
    with open_memory(workspace) as memory:
        show_undone(memory.tidy.undo(dry_run=dry_run), redo=False, dry_run=dry_run)
