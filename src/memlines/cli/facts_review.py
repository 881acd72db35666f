"""`memlines facts review`: look at what was taken from conversations, and keep, change or forget it."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from memlines.cli.common import (
    harmless_name,
    is_terminal,
    json_option,
    nearest_workspace,
    print_json,
    workspace_option,
)
from memlines.cli.facts_shown import line_json, newest_first, shown
from memlines.cli.forget import print_receipt
from memlines.errors import UsageError
from memlines.memory.memory import Memory
from memlines.memory.notes.entries import local_now
from memlines.text.facts import Fact, FactLine, plain

if TYPE_CHECKING:
    from memlines.memory.facts.facts import Facts

_AGO = re.compile(r"(\d{1,4}) ?([dw])")
_DAYS = {"d": 1, "w": 7}
_QUESTION = "[k]eep, [e]dit, [f]orget, [s]kip, [q]uit? "
_ANSWERS = {"k": "keep", "e": "edit", "f": "forget", "s": "skip", "q": "quit"}
_END_OF_INPUT = ("\x04", "\x1a")


@click.command("review")
@click.option("--since", metavar="DAY", help="Only what was captured since: 7d, 2w or 2026-11-01.")
@click.option("--all", "everything", is_flag=True, help="Also what was reviewed or is no longer true.")
@click.option("--keep", multiple=True, metavar="ID", help="Keep this one. May be given several times.")
@click.option(
    "--edit",
    nargs=2,
    multiple=True,
    metavar="ID TEXT",
    help="Give this one another text, and keep it. May be given several times.",
)
@click.option(
    "--forget",
    multiple=True,
    metavar="ID",
    help="Forget this one for good, without asking. May be given several times.",
)
@workspace_option
@json_option
def review_command(
    since: str | None,
    everything: bool,
    keep: tuple[str, ...],
    edit: tuple[tuple[str, str], ...],
    forget: tuple[str, ...],
    workspace: Path | None,
    as_json: bool,
) -> int:
    """Walk through what was captured and not reviewed yet, the oldest first.

    On a terminal a key decides on each, and counts at once: k keeps it, e changes its text, f forgets it
    for good, s leaves it for later, q ends. Elsewhere they are listed, and the options decide.
    """
    with Memory(nearest_workspace(workspace)) as memory:
        if keep or edit or forget:
            return _act(memory, keep, edit, forget, as_json=as_json)
        day = _day_of(since, local_now(memory.settings).date()) if since is not None else None
        lines = _to_review(memory.facts.list(current=False), day, everything=everything)
        if as_json:
            print_json({"facts": [line_json(memory.facts.path, line) for line in lines]})
        elif lines and is_terminal(sys.stdin) and is_terminal(sys.stdout):
            return _Walk(memory.facts, _key).through(lines)
        else:
            _print_list(lines)
    return 0


def _day_of(since: str, today: date) -> date:
    if ago := _AGO.fullmatch(since.strip().lower()):
        return today - timedelta(days=int(ago[1]) * _DAYS[ago[2]])
    try:
        return date.fromisoformat(since.strip())
    except ValueError:
        raise UsageError(
            f"{since!r} is no day", todo="Write 7d for seven days ago, 2w, or a date such as 2026-11-01"
        ) from None


def _to_review(lines: Iterable[FactLine], since: date | None, *, everything: bool) -> list[FactLine]:
    """Return captured facts, the oldest first; one whose day somebody took out is never too old."""
    chosen = [
        line
        for line in lines
        if line.fact.is_captured
        and (everything or (line.fact.is_current and not line.fact.reviewed))
        and (since is None or line.fact.created is None or line.fact.created >= since)
    ]
    return newest_first(chosen)[::-1]


def _print_list(lines: Sequence[FactLine]) -> None:
    for line in lines:
        click.echo(shown(line.fact))
    if lines:
        click.echo("Decide with --keep ID, --edit ID TEXT and --forget ID, or on a terminal.", err=True)
    else:
        click.echo("There is nothing to review.")


# By options


def _act(
    memory: Memory,
    keep: Sequence[str],
    edit: Sequence[tuple[str, str]],
    forget: Sequence[str],
    *,
    as_json: bool,
) -> int:
    facts = memory.facts
    named = [*dict.fromkeys(keep), *(name for name, _ in edit), *dict.fromkeys(forget)]
    twice = [name for name, count in Counter(named).items() if count > 1]
    if twice:
        raise UsageError(f"the fact {twice[0]!r} is named twice", todo="Decide on one thing for each")
    for name in named:  # all of them are checked before the first is changed
        facts.get(name)
    for _, text in edit:
        plain(text)
    edited = [_edited(facts, name, text) for name, text in edit]
    kept = [facts.review(name) for name in dict.fromkeys(keep)]
    receipt = facts.forget(list(dict.fromkeys(forget))) if forget else None
    if as_json:
        print_json(
            {
                "kept": [line.fact.to_json() for line in kept],
                "edited": [line.fact.to_json() for line in edited],
                "forgotten": list(dict.fromkeys(forget)),
                "receipt": receipt.to_json() if receipt else None,
            }
        )
    else:
        for word, lines in (("Kept", kept), ("Changed", edited)):
            for line in lines:
                click.echo(f"{word}: {shown(line.fact)}")
        if receipt is not None:
            print_receipt(receipt)
    return 0 if receipt is None or receipt.complete else 1


def _edited(facts: Facts, name: str, text: str) -> FactLine:
    facts.edit(name, text)
    return facts.review(name)


# On a terminal


def _key() -> str:
    """Return the key that is pressed next; the end of the input is that of the review."""
    try:
        pressed = click.getchar()
    except EOFError:
        return "q"
    return "q" if pressed in ("", *_END_OF_INPUT) else pressed.lower()


class _Walk:
    """A walk through facts; each answer is written down before the next question."""

    def __init__(self, facts: Facts, key: Callable[[], str]) -> None:
        self._facts = facts
        self._key = key
        self._done: Counter[str] = Counter()
        self._complete = True

    def through(self, lines: Sequence[FactLine]) -> int:
        for number, line in enumerate(lines, 1):
            click.echo(f"{number} of {len(lines)}  {shown(line.fact)}")
            self._show_more(line.fact)
            if not self._decide(line.fact):
                break
        self._print_end(len(lines))
        return 0 if self._complete else 1

    def _show_more(self, fact: Fact) -> None:
        for line in self._facts.list(current=False):
            if line.fact.superseded_by == fact.id:
                click.echo(f"  It took the place of: {harmless_name(line.fact.text)}")

    def _decide(self, fact: Fact) -> bool:
        """Ask until there is an answer, and act on it; tell whether to go on."""
        while True:
            click.echo(_QUESTION, nl=False, err=True)
            answer = _ANSWERS.get(self._key(), "")
            click.echo(answer, err=True)
            if answer == "quit":
                return False
            try:
                if answer == "skip" or (answer and self._does(answer, fact)):
                    self._done[answer] += 1
                    return True
            except UsageError as error:  # a text that is too long, a fact that is gone: no reason to stop
                click.secho(f"Error: {harmless_name(str(error))}", fg="red", err=True)

    def _does(self, answer: str, fact: Fact) -> bool:
        """Do what was answered; tell whether it was meant."""
        if answer == "keep":
            self._facts.review(fact.id)
            return True
        if answer == "edit":
            text = click.prompt("Text", default=fact.text, show_default=False, err=True)
            if text == fact.text:
                return False  # nothing was typed, so the question is still open
            _edited(self._facts, fact.id, text)
            return True
        click.echo("Forget it for good? [y/N] ", nl=False, err=True)
        sure = self._key() == "y"
        click.echo("yes" if sure else "no", err=True)
        if sure:
            receipt = self._facts.forget([fact.id])
            self._complete = self._complete and receipt.complete
            print_receipt(receipt)
        return sure

    def _print_end(self, total: int) -> None:
        words = {"keep": "kept", "edit": "changed", "forget": "forgotten"}
        told = [f"{self._done[answer]} {word}" for answer, word in words.items() if self._done[answer]]
        left = total - sum(self._done[answer] for answer in words)
        click.echo(f"{', '.join(told) or 'Nothing was changed'}; {left} left.")
