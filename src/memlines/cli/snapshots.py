"""`memlines snapshots`: the last messages of sessions, and a block to go on from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from memlines.agent import snapshot as agent
from memlines.agent.messages import secrets_out
from memlines.cli.common import (
    counted,
    harmless,
    harmless_name,
    json_option,
    print_json,
    print_problems,
    workspace_option,
)
from memlines.cli.sessions import opened, shown_time
from memlines.errors import PathError
from memlines.files.snapshots import Snapshot
from memlines.memory.memory import Memory


@click.group("snapshots")
def command() -> None:
    """Show the last messages of sessions, and go on from there.

    A snapshot holds the last messages of a session; agents take one at the end of every turn.
    """


@command.command("list")
@workspace_option
@json_option
def list_command(workspace: Path | None, as_json: bool) -> None:
    """List the snapshots of this workspace, the newest first."""
    with opened(workspace) as memory:
        listing = agent.listed(memory)
        settings = memory.settings
    if as_json:
        problems = [{"path": problem.path, "reason": problem.reason} for problem in listing.problems]
        print_json({"snapshots": [_head(one) for one in listing.snapshots], "problems": problems})
        return
    for one in listing.snapshots:
        origin = " ".join(part for part in (one.client, one.session, one.cwd and f"in {one.cwd}") if part)
        name = click.style(harmless_name(one.id), fg="cyan")
        messages = counted(len(one.messages), "message")
        click.echo(f"{name}  {shown_time(settings, one.created)}  {messages}  {harmless_name(origin)}")
    if not listing.snapshots:
        click.echo("There are no snapshots.")
    print_problems("Not usable", listing.problems, "yellow")


@command.command("show")
@click.argument("name", metavar="[ID]", required=False)
@workspace_option
@json_option
def show_command(name: str | None, workspace: Path | None, as_json: bool) -> None:
    """Show the messages of a snapshot, by its ID or the name of its session.

    Without ID it is the newest one.
    """
    with opened(workspace) as memory:
        one = agent.read(memory, name or _newest(memory))
        clean = secrets_out(memory)
        messages = [(said, clean(said.text)) for said in one.messages]
        settings = memory.settings
    if as_json:
        told = [said.to_json() | {"text": text, "truncated": said.truncated} for said, text in messages]
        print_json(_head(one) | {"messages": told})
        return
    title = click.style(harmless_name(one.id), fg="cyan", bold=True)
    click.echo(f"{title}  {harmless_name(f'{one.client} {one.session}'.strip())}")
    for said, text in messages:
        time = f"[{shown_time(settings, said.time)}] " if said.time else ""
        cut = " […]" if said.truncated else ""
        click.echo(f"{time}{said.role.capitalize()}: {harmless(text)}{cut}")


@command.command("restore")
@click.argument("name", metavar="[ID]", required=False)
@workspace_option
@json_option
def restore_command(name: str | None, workspace: Path | None, as_json: bool) -> None:
    """Print a snapshot as a block that a new session can start from.

    Nothing else is printed, so that it can be piped to an agent. Without ID it is the newest one.
    """
    with opened(workspace) as memory:
        one = agent.read(memory, name or _newest(memory))
        block = agent.restored(memory, one.id)
    if as_json:
        print_json(_head(one) | {"text": block})
    else:
        click.echo(harmless(block))


def _newest(memory: Memory) -> str:
    kept = agent.listed(memory).snapshots
    if not kept:
        raise PathError(
            "there are no snapshots in this workspace", todo="An agent's integration takes them at every turn"
        )
    return kept[0].id


def _head(one: Snapshot) -> dict[str, Any]:
    """Return what tells a snapshot from others, with field names that stay."""
    told = one.to_json()
    return {
        "id": one.id,
        "path": one.path,
        "session": one.session,
        "client": one.client,
        "cwd": one.cwd,
        "created": told["created"],
        "count": len(one.messages),
    }
