"""`memlines facts` and the commands that change facts: `store`, `edit`, `forget` and `review`."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from memlines.cli import facts_read
from memlines.cli.common import (
    allow_secret_option,
    argument_option,
    common_options,
    dry_run_option,
    open_memory,
    read_text,
)
from memlines.cli.facts_read import UNSURE, fact_json, format_fact, newest_first
from memlines.cli.output import answer_json, is_terminal, print_error, print_line, wants_json, warn
from memlines.cli.remember import ask_which, is_choice_impossible, print_receipt, show_receipt, yes_option
from memlines.errors import UsageError
from memlines.memory.arguments import FACT
from memlines.text.facts import IMPORTANCE, Fact, FactLine, plain

if TYPE_CHECKING:
    from memlines.memory.facts.facts import Facts

_AGO = re.compile(r"(\d{1,4}) ?([dw])")
_DAYS = {"d": 1, "w": 7}
_QUESTION = "[k]eep, [e]dit, [f]orget, [s]kip, [q]uit? "
_ANSWERS = {"k": "keep", "e": "edit", "f": "forget", "s": "skip", "q": "quit"}
_END_OF_INPUT = ("", "\x04", "\x1a")


@click.group("facts")
def facts_command() -> None:
    """Keep short long-term memories: preferences, decisions, people.

    They are lines of the note memory/facts.md, which you can also change with an editor.
    """


facts_command.add_command(facts_read.list_command)
facts_command.add_command(facts_read.search_command)


# store


@facts_command.command("store")
@click.argument("text", nargs=-1)
@argument_option(FACT["category"], "-c", "--category", help="[default: guessed from the text]")
@argument_option(
    FACT["importance"],
    "--importance",
    default=IMPORTANCE,
    show_default=True,
    help="How much it counts, from 0 to 1.",
)
@argument_option(FACT["scope"], "--scope", metavar="WORD", help="Limit it to this, such as writing.")
@argument_option(
    FACT["replaces"],
    "--replaces",
    metavar="ID",
    help="The fact that this one makes no longer true.",
)
@click.option(
    "--force", is_flag=True, help="Store it even if it is known, or reads like an order to a model."
)
@allow_secret_option
@common_options
def store_command(text: tuple[str, ...], force: bool, workspace: Path | None, **options: Any) -> None:
    """Store TEXT as a fact, unless it is already known.

    A fact that it contradicts, or that you name with --replaces, is kept as no longer true. Without TEXT, or
    with a single dash, it is read from standard input; put a text that starts with a dash after --.
    """
    words = read_text(text, "store", 'memlines facts store "Prefers tabs over spaces"')
    with open_memory(workspace, begin=True) as memory:
        stored = memory.facts.store(words, force=force, **options)
    answer_json(stored.to_json())
    warn(*stored.warnings)
    fact = stored.line.fact
    if stored.action == "duplicate":
        name = f"{fact.id} in " if fact.id else ""
        print_line(f"Already known: {name}{stored.citation}: {fact.text}")
        return
    print_line(f"Stored as {fact.id} [{fact.category}] in {stored.citation}")
    if stored.old is not None:
        print_line(f"No longer true: {stored.old.fact.id}: {stored.old.fact.text}")
    for line in stored.similar:
        print_line(f"Similar: {line.fact.id}: {line.fact.text}")
    if stored.similar:
        click.echo("If it replaces one of them, store it again with --replaces and the id of that one.")


# edit


@facts_command.command("edit")
@click.argument("fact_id", metavar="ID")
@click.argument("text", nargs=-1, required=True)
@allow_secret_option
@common_options
def edit_command(fact_id: str, text: tuple[str, ...], allow_secret: bool, workspace: Path | None) -> None:
    """Give the fact ID another TEXT, and note the day; nothing else of it changes."""
    with open_memory(workspace) as memory:
        line = memory.facts.edit(fact_id, " ".join(text), allow_secret=allow_secret)
        changed = fact_json(memory.facts.path, line)
    answer_json({"fact": changed})
    print_line(f"Changed in {changed['citation']}")
    click.echo(format_fact(line.fact))


# forget


@facts_command.command("forget")
@click.argument("ids", nargs=-1, metavar="ID...")
@click.option("-q", "--query", help="List the facts that match, to choose from.")
@yes_option
@dry_run_option
@common_options
def forget_command(
    ids: tuple[str, ...], query: str | None, yes: bool, dry_run: bool, workspace: Path | None
) -> int:
    """Remove facts for good: from their note, its history, the index and the table.

    Name them by ID. --query only lists the facts that 'memlines facts search' finds, then those that are no
    longer true: choose on a terminal, or give the id of one. Exits with 1 if something is left, or nothing
    was found.
    """
    if bool(ids) == bool(query):
        raise UsageError(
            "no fact is named to be forgotten" if not ids else "both ids and a query are given",
            todo="Give ids that 'memlines facts list' shows, or describe one with --query",
        )
    with open_memory(workspace) as memory:
        path = memory.facts.path
        near = memory.facts.candidates(query) if query else ()
        names = [one.fact.id for one in near] if query else list(dict.fromkeys(ids))
        found = [memory.facts.get(name) for name in names]
        if not wants_json():
            if near and all(one.band == "weak" for one in near):
                click.echo(UNSURE)
            if not found:
                click.echo("Nothing was found to forget.")
            width = len(str(len(found)))
            for number, line in enumerate(found, 1):
                click.echo(f"{number:>{width}}  {format_fact(line.fact)}")
        if dry_run or not found or (query and is_choice_impossible("memlines facts forget", names, yes=yes)):
            code = 0 if found else 1
            answer_json({"facts": [fact_json(path, line) for line in found], "receipt": None}, code)
            return code
        chosen = found if yes else ask_which(found, pick=query is not None)
        receipt = memory.facts.forget([line.fact.id for line in chosen]) if chosen else None
    answer: dict[str, object] = {"facts": [fact_json(path, line) for line in chosen]}
    return show_receipt(answer, receipt, memory.workspace, [path])


facts_command.add_command(facts_read.stats_command)


# review


@facts_command.command("review")
@click.option("--since", metavar="DAY", help="Show only what was captured since: 7d, 2w or 2026-11-01.")
@click.option("--all", "everything", is_flag=True, help="Include what was reviewed or is no longer true.")
@click.option("--keep", multiple=True, metavar="ID", help="Keep this one; repeatable.")
@click.option(
    "--edit",
    nargs=2,
    multiple=True,
    metavar="ID TEXT",
    help="Give this one another text, and keep it; repeatable.",
)
@click.option(
    "--forget", multiple=True, metavar="ID", help="Forget this one for good, without asking; repeatable."
)
@common_options
def review_command(
    since: str | None,
    everything: bool,
    keep: tuple[str, ...],
    edit: tuple[tuple[str, str], ...],
    forget: tuple[str, ...],
    workspace: Path | None,
) -> int:
    """Review the facts that were captured from conversations, the oldest first.

    On a terminal you press a key for each, which counts at once: k keeps it, e changes its text, f forgets
    it for good, s leaves it for later, q ends. Elsewhere they are listed, and you decide with the options.
    """
    from memlines.memory.notes.entries import local_now

    with open_memory(workspace) as memory:
        if keep or edit or forget:
            return _review_by_options(memory.facts, keep, edit, forget)
        day = _parse_day(since, local_now(memory.settings).date()) if since is not None else None
        wanted = [
            line
            for line in memory.facts.list(current=False)
            if line.fact.is_captured
            and (everything or (line.fact.is_current and not line.fact.reviewed))
            and (day is None or line.fact.created is None or line.fact.created >= day)
        ]
        lines = newest_first(wanted)[::-1]
        answer_json({"facts": [fact_json(memory.facts.path, line) for line in lines]})
        if lines and is_terminal(sys.stdin) and is_terminal(sys.stdout):
            return _Review(memory.facts).run(lines)
    for line in lines:
        click.echo(format_fact(line.fact))
    if lines:
        click.echo("Decide with --keep ID, --edit ID TEXT and --forget ID, or on a terminal.", err=True)
    else:
        click.echo("There is nothing to review.")
    return 0


def _parse_day(since: str, today: date) -> date:
    if ago := _AGO.fullmatch(since.strip().lower()):
        return today - timedelta(days=int(ago[1]) * _DAYS[ago[2]])
    try:
        return date.fromisoformat(since.strip())
    except ValueError:
        raise UsageError(
            f"{since!r} is not a day", todo="Write 7d for seven days ago, 2w, or a date such as 2026-11-01"
        ) from None


def _review_by_options(
    facts: Facts, keep: Sequence[str], edit: Sequence[tuple[str, str]], forget: Sequence[str]
) -> int:
    keep, forget = list(dict.fromkeys(keep)), list(dict.fromkeys(forget))
    named = [*keep, *(name for name, _ in edit), *forget]
    twice = [name for name, count in Counter(named).items() if count > 1]
    if twice:
        raise UsageError(f"the fact {twice[0]!r} is named twice", todo="Decide on one thing for each")
    for name in named:  # all of them are checked before the first is changed
        facts.get(name)
    for _, text in edit:
        plain(text)
    edited = [_edit(facts, name, text) for name, text in edit]
    kept = [facts.review(name) for name in keep]
    receipt = facts.forget(forget) if forget else None
    code = 0 if receipt is None or receipt.complete else 1
    answer = {
        "kept": [line.fact.to_json() for line in kept],
        "edited": [line.fact.to_json() for line in edited],
        "forgotten": forget,
        "receipt": receipt.to_json() if receipt else None,
    }
    answer_json(answer, code)
    for word, lines in (("Kept", kept), ("Changed", edited)):
        for line in lines:
            click.echo(f"{word}: {format_fact(line.fact)}")
    if receipt is not None:
        print_receipt(receipt)
    return code


def _edit(facts: Facts, name: str, text: str) -> FactLine:
    facts.edit(name, text)
    return facts.review(name)


class _Review:
    """A review on a terminal; each answer is written down before the next question."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._done: Counter[str] = Counter()
        self._complete = True

    def run(self, lines: Sequence[FactLine]) -> int:
        for number, line in enumerate(lines, 1):
            click.echo(f"{number} of {len(lines)}  {format_fact(line.fact)}")
            for other in self._facts.list(current=False):
                if other.fact.superseded_by == line.fact.id:
                    print_line(f"  It took the place of: {other.fact.text}")
            if not self._decide(line.fact):
                break
        words = {"keep": "kept", "edit": "changed", "forget": "forgotten"}
        counts = [f"{self._done[answer]} {word}" for answer, word in words.items() if self._done[answer]]
        left = len(lines) - sum(self._done[answer] for answer in words)
        click.echo(f"{', '.join(counts) or 'Nothing was changed'}; {left} left.")
        return 0 if self._complete else 1

    def _decide(self, fact: Fact) -> bool:
        """Ask until there is an answer, and act on it; return whether to continue."""
        while True:
            click.echo(_QUESTION, nl=False, err=True)
            answer = _ANSWERS.get(_read_key(), "")
            click.echo(answer, err=True)
            if answer == "quit":
                return False
            try:
                if answer == "skip" or (answer and self._act(answer, fact)):
                    self._done[answer] += 1
                    return True
            except UsageError as error:  # a text that is too long, a fact that is gone: no reason to stop
                print_error(str(error))

    def _act(self, answer: str, fact: Fact) -> bool:
        """Act on an answer; return whether it settles the question."""
        if answer == "keep":
            self._facts.review(fact.id)
            return True
        if answer == "edit":
            text = click.prompt("Text", default=fact.text, show_default=False, err=True)
            if text == fact.text:
                return False  # nothing was typed, so the question is still open
            _edit(self._facts, fact.id, text)
            return True
        click.echo("Forget it for good? [y/N] ", nl=False, err=True)
        is_sure = _read_key() == "y"
        click.echo("yes" if is_sure else "no", err=True)
        if is_sure:
            receipt = self._facts.forget([fact.id])
            self._complete = self._complete and receipt.complete
            print_receipt(receipt)
        return is_sure


def _read_key() -> str:
    """Return the key that is pressed next; the end of the input ends the review."""
    try:
        pressed = click.getchar()
    except EOFError:
        return "q"
    return "q" if pressed in _END_OF_INPUT else pressed.lower()


facts_command.add_command(facts_read.export_command)
