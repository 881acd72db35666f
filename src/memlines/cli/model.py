"""`memlines model`: show whose vectors answer, and stop, take back or resume a change of model."""

from __future__ import annotations

from pathlib import Path

import click

from memlines.cli.common import (
    counted,
    harmless_name,
    json_option,
    nearest_workspace,
    print_json,
    workspace_option,
)
from memlines.memory.memory import Memory
from memlines.types import Space, Status

_STATES = {
    "serving": "answers",
    "filling": "is being made; 'memlines sync' goes on with it",
    "kept": "is kept to go back to with 'memlines model rollback'",
}


@click.group("model", invoke_without_command=True)
@workspace_option
@json_option
@click.pass_context
def command(context: click.Context, workspace: Path | None, as_json: bool) -> None:
    """Show whose vectors answer, and how far a change to another model is.

    The settings embeddings.provider and embeddings.model say which model is wanted. 'memlines sync'
    makes its vectors while those of the old one go on answering; then both change places at once.
    """
    if context.invoked_subcommand is not None:
        return
    with Memory(nearest_workspace(workspace)) as memory:
        status = memory.status()
    if as_json:
        print_json({"wanted": _wanted(status), "spaces": list(status.spaces)})
    else:
        _print(status)


@command.command("cancel")
@workspace_option
@json_option
def cancel(workspace: Path | None, as_json: bool) -> None:
    """Stop a change that is under way. What answers now goes on answering."""
    with Memory(nearest_workspace(workspace)) as memory:
        space = memory.cancel_model()
    _tell(f"the change to {space} is stopped; 'memlines model resume' takes it up again", space, as_json)


@command.command("rollback")
@workspace_option
@json_option
def rollback(workspace: Path | None, as_json: bool) -> None:
    """Answer with the vectors of the model before again. Costs no call."""
    with Memory(nearest_workspace(workspace)) as memory:
        space = memory.roll_back_model()
    _tell(f"{space} answers again; set embeddings.provider and embeddings.model to keep it", space, as_json)


@command.command("resume")
@workspace_option
@json_option
def resume(workspace: Path | None, as_json: bool) -> None:
    """Want the model of the settings again after a cancel or a rollback."""
    with Memory(nearest_workspace(workspace)) as memory:
        space = memory.resume_model()
    _tell(f"{space} is wanted again; 'memlines sync' makes its vectors", space, as_json)


@command.command("renew")
@workspace_option
@json_option
def renew(workspace: Path | None, as_json: bool) -> None:
    """Make all vectors of the model anew, because the service changed it under the same name."""
    with Memory(nearest_workspace(workspace)) as memory:
        space = memory.renew_model()
    _tell(f"the vectors of {space} are given up; 'memlines sync' makes them anew", space, as_json)


def _tell(sentence: str, space: Space, as_json: bool) -> None:
    if as_json:
        print_json({"provider": space.provider, "model": space.model})
    else:
        click.echo(harmless_name(sentence[0].upper() + sentence[1:]))


def _wanted(status: Status) -> dict[str, str]:
    return {"provider": status.provider, "model": status.model}


def _print(status: Status) -> None:
    if not status.spaces:
        click.echo("There are no vectors yet; 'memlines sync' makes them.")
    for space in status.spaces:
        name = f"{space['provider']} ({space['model']})"
        share = f"{space['vectors']} of {counted(space['chunks'], 'chunk')}"
        doing = "was declined" if space["declined"] else _STATES[space["state"]]
        reason = f" (because {space['note']})" if space["note"] else ""
        click.echo(harmless_name(f"{name}: {doing}, {share}{reason}"))
    if status.declined:
        click.echo(harmless_name(f"{status.declined} is declined; 'memlines model resume' wants it again"))
