"""`memlines sessions`: list, read, search and import conversations."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import cast, get_args

import click

from memlines.cli.common import (
    counted,
    harmless,
    harmless_name,
    json_option,
    nearest_workspace,
    print_json,
    progress_bar,
    search_options,
    warn,
    workspace_option,
)
from memlines.cli.hits import print_answer
from memlines.errors import UsageError
from memlines.files import snapshots
from memlines.index.sync.discovery import SNAPSHOTS
from memlines.memory.conversations.conversation import SWITCH_ON, client_of, refuse_unless_on
from memlines.memory.conversations.importing import Imported, import_transcripts
from memlines.memory.conversations.listing import SessionInfo, listed
from memlines.memory.conversations.reading import Session, read_session, spoken
from memlines.memory.memory import Memory
from memlines.memory.notes.entries import local_now
from memlines.serve.wire import search_json
from memlines.settings import Settings, refuse_if_off
from memlines.settings.tree import Client
from memlines.types import Mode, Turn, cited

_STATES = {"grew": "grew since", "changed": "changed since"}


@click.group("sessions")
def command() -> None:
    """List, read, search and import conversations with agents.

    They are read only if the setting sources holds sessions; sessions.clients says whose.
    """


@contextmanager
def opened(workspace: Path | None) -> Iterator[Memory]:
    """Open a memory, unless it is switched off."""
    with Memory(nearest_workspace(workspace)) as memory:
        refuse_if_off(memory.loaded)
        yield memory


def shown_time(settings: Settings, time: datetime | None) -> str:
    """Write a point in time for people, in their zone."""
    return f"{local_now(settings, time):%Y-%m-%d %H:%M}" if time else ""


# list


@command.command("list")
@click.option("--client", type=click.Choice(get_args(Client)), help="Only the conversations of one client.")
@click.option("-n", "--limit", type=click.IntRange(min=1), help="How many at most. [default: all]")
@workspace_option
@json_option
def list_command(client: str | None, limit: int | None, workspace: Path | None, as_json: bool) -> None:
    """List the transcripts that are there or indexed, and how fresh the index is.

    The one that changed last comes first, with the time of that change.
    """
    with opened(workspace) as memory:
        infos = [info for info in listed(memory.workspace, memory.settings) if client in (None, info.client)][
            :limit
        ]
        settings = memory.settings
    if as_json:
        print_json({"sessions": [info.to_json() for info in infos]})
        return
    for info in infos:
        click.echo(_line(info, settings))
    if not infos:
        click.echo("There are no transcripts.")
    if "sessions" not in settings.sources or not (infos or settings.sessions.clients):
        click.echo(f"{SWITCH_ON}.", err=True)


def _line(info: SessionInfo, settings: Settings) -> str:
    state = f"{_STATES.get(info.state, info.state)}{f' ({info.reason})' if info.reason else ''}"
    chunks = f"  {counted(info.chunks, 'chunk')}" if info.chunks else ""
    time = shown_time(settings, info.changed)
    name = click.style(harmless_name(info.path), fg="cyan")
    return f"{time:16}  {info.client:11}  {name}  {harmless_name(state)}{chunks}"


# show


@command.command("show")
@click.argument("path")
@click.option(
    "--around", type=click.IntRange(0, 1000), default=5, show_default=True, help="Turns around the lines."
)
@click.option("--from", "start", type=click.IntRange(min=1), default=1, help="The line to begin with.")
@workspace_option
@json_option
def show_command(path: str, around: int, start: int, workspace: Path | None, as_json: bool) -> None:
    """Show a conversation, or the turns around the lines of a citation.

    PATH is a transcript as 'memlines sessions list' names it, or a citation such as
    sessions/codex/x.jsonl#L12-L20, whose turns are marked. Secrets are not shown.
    """
    first, last = None, None
    if place := cited(path):
        path, first, last = place
        if not 1 <= first <= last:
            raise UsageError(f"the citation #L{first}-L{last} names no lines", todo="Lines count from 1")
    with opened(workspace) as memory:
        session = read_session(
            memory.workspace, memory.settings, path, first, around, last_line=last, start=start
        )
        settings = memory.settings
    if as_json:
        print_json(session.to_json())
    else:
        _print_session(session, settings)


def _print_session(session: Session, settings: Settings) -> None:
    began = f", began {shown_time(settings, session.started)}" if session.started else ""
    title = click.style(harmless_name(session.path), fg="cyan", bold=True)
    click.echo(f"{title}  {harmless_name(session.client)}{began}")
    for warning in session.warnings:
        warn(warning)
    if session.earlier:
        click.echo(f"[{counted(session.earlier, 'turn')} before]", err=True)
    width = max((len(str(turn.line)) for turn in session.turns), default=1)
    for turn in session.turns:
        _print_turn(turn, width, is_marked=session.is_marked(turn))
    if not session.turns:
        click.echo("(nothing is said)", err=True)
    if session.next_line:
        more = f"memlines sessions show {shlex.quote(harmless_name(session.path))} --from {session.next_line}"
        click.echo(f"[{counted(session.later, 'turn')} after: {more}]", err=True)


def _print_turn(turn: Turn, width: int, *, is_marked: bool) -> None:
    first, *rest = harmless(spoken(turn)).split("\n")
    head = f"{'>' if is_marked else ' '} {turn.line:>{width}}"
    click.echo(f"{click.style(head, bold=is_marked)}  {first}")
    for line in rest:
        click.echo(f"{'':{width + 4}}{line}".rstrip())


# search


@command.command("search")
@click.argument("query", nargs=-1, required=True)
@search_options
@workspace_option
@json_option
def search_command(
    query: tuple[str, ...],
    max_results: int | None,
    min_score: float | None,
    mode: str,
    full: bool,
    workspace: Path | None,
    as_json: bool,
) -> None:
    """Find what was said about something in conversations.

    Each hit tells its client, when the conversation began, and a citation that 'memlines sessions show'
    takes. QUERY may be narrowed as with 'memlines search'.
    """
    text = " ".join(query)
    if not text.strip():
        raise UsageError("the query is empty", todo="Ask for something that was said")
    with opened(workspace) as memory, progress_bar() as progress:
        refuse_unless_on(memory.settings)
        result = memory.search(
            text,
            max_results=max_results,
            min_score=min_score,
            mode=cast("Mode", mode),
            sources=["sessions"],
            full=full,
            progress=progress,
        )
        clients = _clients(memory, {hit.path for hit in result})
    citations = memory.settings.citations
    if as_json:
        told = search_json(result, citations=citations)
        for hit in told["results"]:
            hit |= {"client": clients[hit["path"]], "date": hit["heading"] or None}
        print_json(told)
    else:
        print_answer(
            result,
            lambda hit: f"{clients[hit.path]}, {hit.heading}".strip(", "),
            citations=citations != "off",
        )


def _clients(memory: Memory, paths: Iterable[str]) -> Mapping[str, str]:
    """Return whose conversations some paths are; of snapshots, they say so themselves."""
    kept = snapshots.listed(memory.workspace).snapshots
    of_snapshots = {f"{SNAPSHOTS}{snapshot.id}.json": snapshot.client for snapshot in kept}
    return {path: client_of(path) or of_snapshots.get(path, "") for path in paths}


# import


@command.command("import")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@workspace_option
@json_option
def import_command(files: tuple[Path, ...], workspace: Path | None, as_json: bool) -> int:
    """Copy transcripts of any client into the folder sessions/, without their secrets.

    FILES are transcripts of OpenClaw, Claude Code or Codex, or what 'opencode export' printed. What is there
    already is told, a conversation that grew is replaced, any other is kept beside it. Exits with 1 if a file
    could not be brought in.
    """
    with opened(workspace) as memory:
        done = import_transcripts(memory.workspace, memory.settings, files)
        is_searched = "sessions" in memory.settings.sources
    if as_json:
        print_json({"imported": [one.to_json() for one in done]})
    else:
        for one in done:
            _print_imported(one)
        if not is_searched and any(one.path for one in done):
            click.echo(f"It is not searched yet. {SWITCH_ON}.", err=True)
    return 1 if any(one.outcome == "failed" for one in done) else 0


def _print_imported(one: Imported) -> None:
    if one.outcome == "failed":
        click.secho(f"Error: {harmless_name(one.problem)}", fg="red", err=True)
        return
    details = [one.client, counted(one.messages, "message")]
    if one.redacted:
        details.append(f"{counted(sum(one.redacted.values()), 'secret')} taken out")
    if one.damaged:
        details.append(f"{counted(one.damaged, 'damaged line')} skipped")
    click.echo(f"{one.outcome}: {harmless_name(one.path)} ({', '.join(details)})")
