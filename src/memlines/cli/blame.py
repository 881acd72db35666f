"""The command `blame`: which remembered lines agents saw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from memlines.cli.common import common_options, open_memory
from memlines.cli.output import answer_json, counted, harmless_name, local_time, print_line
from memlines.errors import UsageError

if TYPE_CHECKING:
    from memlines.files.shown import Answer
    from memlines.memory.blame import SeenLine, SessionUse
    from memlines.memory.memory import Memory

_NO_SCORE = " " * len("0.00")


@click.command("blame")
@click.argument("session", required=False)
@click.option("--last", is_flag=True, help="Show the newest session.")
@click.option("--line", metavar="CITATION", help="Show where these lines were used, instead of a session.")
@common_options
def blame_command(session: str | None, last: bool, line: str | None, workspace: Path | None) -> None:
    """Show which remembered lines the agent of SESSION saw, and when; without SESSION, list the sessions.

    The beginning of a session's name is enough. Each line is shown where it is now, and what it says now.
    What a client was given is recorded on this machine only, without the text of your notes.
    """
    from memlines.memory import blame

    if sum([session is not None, last, line is not None]) > 1:
        raise UsageError("SESSION, --last and --line are given together", todo="Give one of them")
    with open_memory(workspace) as memory:
        if line is not None:
            _show_uses(line, blame.blame_line(memory, line))
            return
        sessions = blame.list_sessions(memory)
        if session is None and not (last and sessions):
            _show_sessions(memory, sessions)
            return
        name = sessions[0].session if session is None else blame.find_session(memory, session)
        _show_session(name, blame.blame_session(memory, name))


def _show_sessions(memory: Memory, sessions: Sequence[SessionUse]) -> None:
    answer_json({"sessions": [asdict(one) for one in sessions], "enabled": memory.settings.blame.enabled})
    width = max((len(harmless_name(one.session)) for one in sessions), default=0)
    for one in sessions:
        name = click.style(f"{harmless_name(one.session):{width}}", fg="cyan")
        counts = f"{counted(one.lines, 'line')} in {counted(one.answers, 'answer')}, {one.opened} opened"
        click.echo(f"{_clock(one.last)}  {harmless_name(one.client) or '-':11}  {name}  {counts}")
    if not sessions:
        click.echo("Nothing is recorded yet: no client was given a line of this memory.")
    if not memory.settings.blame.enabled:
        click.echo("The record is switched off (blame.enabled).", err=True)


def _show_session(name: str, answers: Sequence[tuple[Answer, Sequence[SeenLine]]]) -> None:
    listed = [_answer_json(answer) | {"lines": [asdict(one) for one in lines]} for answer, lines in answers]
    answer_json({"session": name, "answers": listed})
    from memlines.memory.notes.entries import one_line

    for answer, lines in answers:
        _print_head(answer)
        for one in lines:
            score = _NO_SCORE if one.score is None else f"{one.score:.2f}"
            place = click.style(harmless_name(one.now or one.citation), fg="cyan")
            moved = "" if one.now == one.citation else f" (was {one.citation})"
            said = f"{harmless_name(moved)}  {harmless_name(one_line(one.text))}" if one.now else " (gone)"
            click.echo(f"  {score}  {place}{said}".rstrip())


def _show_uses(citation: str, answers: Sequence[Answer]) -> None:
    uses = [
        _answer_json(answer)
        | {"session": answer.session}
        | {"lines": [{"citation": line.citation, "score": line.score} for line in answer.lines]}
        for answer in answers
    ]
    answer_json({"line": citation, "uses": uses})
    if not answers:
        print_line(f"No agent was shown {citation}.")
    for answer in answers:
        _print_head(answer, answer.session)


def _print_head(answer: Answer, session: str = "") -> None:
    parts = [_clock(answer.time), answer.client or "-", session, answer.kind]
    query = f": {answer.query}" if answer.query else ""
    print_line("  ".join(filter(None, parts)) + query)


def _answer_json(answer: Answer) -> dict[str, object]:
    return {name: getattr(answer, name) for name in ("time", "kind", "client", "query")}


def _clock(time: str) -> str:
    """Return a time of the record as the clock on the wall shows it; what is no time stays as it is."""
    try:
        return local_time(datetime.fromisoformat(time))
    except ValueError:
        return harmless_name(time)
