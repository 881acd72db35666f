"""The commands about conversations: `sessions` for transcripts, `snapshots` for their last messages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, get_args

import click

from memlines.agent import snapshot
from memlines.agent.messages import redactor
from memlines.cli.common import FILE, common_options, open_memory, search_options
from memlines.cli.hits import print_answer
from memlines.cli.output import (
    answer_json,
    counted,
    harmless,
    harmless_name,
    print_error,
    print_line,
    print_problems,
    progress_bar,
    warn,
)
from memlines.errors import PathError, UsageError
from memlines.files import snapshots
from memlines.files.snapshots import Snapshot
from memlines.index.sync.discovery import SNAPSHOTS
from memlines.memory.arguments import parse_citation
from memlines.memory.conversations.conversation import (
    SWITCH_ON,
    client_of,
    import_transcripts,
    refuse_unless_on,
)
from memlines.memory.conversations.listing import list_sessions
from memlines.memory.conversations.reading import quote_turn, read_session
from memlines.memory.memory import Memory
from memlines.memory.notes.entries import local_now
from memlines.serve.wire import search_json
from memlines.settings import Settings, refuse_if_off
from memlines.text.shell import quote_word
from memlines.types import ClientName

_STATES = {"grew": "grew since", "changed": "changed since"}


@click.group("sessions")
def sessions_command() -> None:
    """List, read, search and import conversations with agents.

    They are indexed only if the setting sources includes sessions; sessions.clients says of which clients.
    """


@contextmanager
def _open(workspace: Path | None) -> Iterator[Memory]:
    """Open a memory, unless it is switched off."""
    with open_memory(workspace) as memory:
        refuse_if_off(memory.loaded)
        yield memory


def _format_time(settings: Settings, time: datetime | None) -> str:
    """Write a point in time for people, in their zone."""
    return f"{local_now(settings, time):%Y-%m-%d %H:%M}" if time else ""


# list


@sessions_command.command("list")
@click.option(
    "--client", type=click.Choice(get_args(ClientName)), help="List only the conversations of this client."
)
@click.option("-n", "--limit", type=click.IntRange(min=1), help="List at most this many. [default: all]")
@common_options
def list_command(client: str | None, limit: int | None, workspace: Path | None) -> None:
    """List the transcripts that exist or are indexed, and whether the index is up to date.

    The one that changed last comes first, with the time of that change.
    """
    with _open(workspace) as memory:
        every = list_sessions(memory.workspace, memory.settings)
        settings = memory.settings
    infos = [info for info in every if client in (None, info.client)][:limit]
    answer_json({"sessions": [info.to_json() for info in infos]})
    for info in infos:
        state = f"{_STATES.get(info.state, info.state)}{f' ({info.reason})' if info.reason else ''}"
        chunks = f"  {counted(info.chunks, 'chunk')}" if info.chunks else ""
        time = _format_time(settings, info.changed)
        name = click.style(harmless_name(info.path), fg="cyan")
        click.echo(f"{time:16}  {info.client:11}  {name}  {harmless_name(state)}{chunks}")
    if not infos:
        click.echo("There are no transcripts.")
    if "sessions" not in settings.sources or not (infos or settings.sessions.clients):
        click.echo(f"{SWITCH_ON}.", err=True)


# show


@sessions_command.command("show")
@click.argument("path")
@click.option(
    "--around",
    type=click.IntRange(0, 1000),
    default=5,
    show_default=True,
    help="Show this many turns around the lines.",
)
@click.option("--from", "start", type=click.IntRange(min=1), default=1, help="Begin with this line.")
@common_options
def show_command(path: str, around: int, start: int, workspace: Path | None) -> None:
    """Show a conversation, or the turns around the lines of a citation.

    PATH is a transcript as 'memlines sessions list' names it, or a citation such as
    sessions/codex/x.jsonl#L12-L20, whose turns are marked. Secrets are not shown.
    """
    path, first, count = parse_citation(path, None, None)
    last = first + count - 1 if first and count else None
    with _open(workspace) as memory:
        session = read_session(
            memory.workspace, memory.settings, path, first, around, last_line=last, start=start
        )
        settings = memory.settings
    answer_json(session.to_json())
    began = f", began {_format_time(settings, session.started)}" if session.started else ""
    title = click.style(harmless_name(session.path), fg="cyan", bold=True)
    click.echo(f"{title}  {harmless_name(session.client)}{began}")
    warn(*session.warnings)
    if session.earlier:
        click.echo(f"[{counted(session.earlier, 'turn')} before]", err=True)
    width = max((len(str(turn.line)) for turn in session.turns), default=1)
    for turn in session.turns:
        is_marked = session.is_marked(turn)
        said, *rest = harmless(quote_turn(turn)).split("\n")
        head = click.style(f"{'>' if is_marked else ' '} {turn.line:>{width}}", bold=is_marked)
        for line in (f"{head}  {said}", *(f"{'':{width + 4}}{line}".rstrip() for line in rest)):
            click.echo(line)
    if not session.turns:
        click.echo("(nothing was said)", err=True)
    if session.next_line:
        more = f"memlines sessions show {quote_word(harmless_name(session.path))} --from {session.next_line}"
        click.echo(f"[{counted(session.later, 'turn')} after: {more}]", err=True)


# search


@sessions_command.command("search")
@click.argument("query", nargs=-1, required=True)
@search_options
@common_options
def search_command(query: tuple[str, ...], workspace: Path | None, **options: Any) -> None:
    """Find what was said in conversations.

    Each hit shows its client, when the conversation began, and a citation for 'memlines sessions show'.
    You can narrow QUERY as with 'memlines search'.
    """
    text = " ".join(query)
    if not text.strip():
        raise UsageError("the query is empty", todo="Ask for something that was said")
    with _open(workspace) as memory, progress_bar() as progress:
        refuse_unless_on(memory.settings)
        result = memory.search(text, sources=["sessions"], progress=progress, **options)
        clients = _clients(memory, {hit.path for hit in result})
    citations = memory.settings.citations
    answer = search_json(result, citations=citations)
    for found in answer["results"]:
        found |= {"client": clients[found["path"]], "date": found["heading"] or None}
    answer_json(answer)
    print_answer(
        result, lambda hit: f"{clients[hit.path]}, {hit.heading}".strip(", "), citations=citations != "off"
    )


def _clients(memory: Memory, paths: Iterable[str]) -> Mapping[str, str]:
    """Return the client of each path; a snapshot names its own."""
    kept = snapshots.list_all(memory.workspace).snapshots
    of_snapshots = {f"{SNAPSHOTS}{snapshot.id}.json": snapshot.client for snapshot in kept}
    return {path: client_of(path) or of_snapshots.get(path, "") for path in paths}


# import


@sessions_command.command("import")
@click.argument("files", nargs=-1, required=True, type=FILE)
@common_options
def import_command(files: tuple[Path, ...], workspace: Path | None) -> int:
    """Copy transcripts of any client into the folder sessions/, without their secrets.

    FILES are transcripts of OpenClaw, Claude Code or Codex, or the output of 'opencode export'. A
    conversation that you already have is only named, one that grew is replaced, and one that differs is
    kept beside the old one. Exits with 1 if a file could not be imported.
    """
    with _open(workspace) as memory:
        done = import_transcripts(memory.workspace, memory.settings, files)
        is_searched = "sessions" in memory.settings.sources
    code = 1 if any(one.outcome == "failed" for one in done) else 0
    answer_json({"imported": [one.to_json() for one in done]}, code)
    for one in done:
        if one.outcome == "failed":
            print_error(one.problem)
            continue
        details = [one.client, counted(one.messages, "message")]
        if one.redacted:
            details.append(f"{counted(sum(one.redacted.values()), 'secret')} removed")
        if one.damaged:
            details.append(f"{counted(one.damaged, 'damaged line')} skipped")
        print_line(f"{one.outcome}: {one.path} ({', '.join(details)})")
    if not is_searched and any(one.path for one in done):
        click.echo(f"It is not searched yet. {SWITCH_ON}.", err=True)
    return code


# Snapshots


@click.group("snapshots")
def snapshots_command() -> None:
    """Show the last messages of sessions, and continue from there.

    A snapshot holds the last messages of a session; agents take one at the end of every turn.
    """


@snapshots_command.command("list")
@common_options
def list_snapshots_command(workspace: Path | None) -> None:
    """List the snapshots of this workspace, the newest first."""
    with _open(workspace) as memory:
        listing = snapshot.listed(memory)
        settings = memory.settings
    problems = [{"path": problem.path, "reason": problem.reason} for problem in listing.problems]
    answer_json({"snapshots": [_head(one) for one in listing.snapshots], "problems": problems})
    for one in listing.snapshots:
        origin = " ".join(part for part in (one.client, one.session, one.cwd and f"in {one.cwd}") if part)
        name = click.style(harmless_name(one.id), fg="cyan")
        messages = counted(len(one.messages), "message")
        click.echo(f"{name}  {_format_time(settings, one.created)}  {messages}  {harmless_name(origin)}")
    if not listing.snapshots:
        click.echo("There are no snapshots.")
    print_problems(not_usable=listing.problems)


@snapshots_command.command("show")
@click.argument("name", metavar="[ID]", required=False)
@common_options
def show_snapshot_command(name: str | None, workspace: Path | None) -> None:
    """Show the messages of a snapshot, by its ID or the name of its session.

    Without ID you get the newest one.
    """
    with _open(workspace) as memory:
        one = snapshot.read(memory, name or _newest(memory))
        clean = redactor(memory)
        messages = [(said, clean(said.text)) for said in one.messages]
        settings = memory.settings
    said_json = [said.to_json() | {"text": text, "truncated": said.truncated} for said, text in messages]
    answer_json(_head(one) | {"messages": said_json})
    title = click.style(harmless_name(one.id), fg="cyan", bold=True)
    click.echo(f"{title}  {harmless_name(f'{one.client} {one.session}'.strip())}")
    for said, text in messages:
        time = f"[{_format_time(settings, said.time)}] " if said.time else ""
        cut = " […]" if said.truncated else ""
        click.echo(f"{time}{said.role.capitalize()}: {harmless(text)}{cut}")


@snapshots_command.command("restore")
@click.argument("name", metavar="[ID]", required=False)
@common_options
def restore_snapshot_command(name: str | None, workspace: Path | None) -> None:
    """Print a snapshot as a block that a new session can start from.

    Nothing else is printed, so you can pipe it to an agent. Without ID you get the newest one.
    """
    with _open(workspace) as memory:
        one = snapshot.read(memory, name or _newest(memory))
        block = snapshot.restored(memory, one.id)
    answer_json(_head(one) | {"text": block})
    click.echo(harmless(block))


def _newest(memory: Memory) -> str:
    kept = snapshot.listed(memory).snapshots
    if not kept:
        raise PathError(
            "there are no snapshots in this workspace", todo="An agent's integration takes them at every turn"
        )
    return kept[0].id


def _head(one: Snapshot) -> dict[str, Any]:
    """Return what identifies a snapshot, with stable field names."""
    return {
        "id": one.id,
        "path": one.path,
        "session": one.session,
        "client": one.client,
        "cwd": one.cwd,
        "created": one.to_json()["created"],
        "count": len(one.messages),
    }
