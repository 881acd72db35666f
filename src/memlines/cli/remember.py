"""`memlines remember`: write something into the notes."""

from __future__ import annotations

from pathlib import Path

import click

from memlines.cli.common import (
    allow_secret_option,
    argument_option,
    harmless_name,
    json_option,
    nearest_workspace,
    print_json,
    standard_input,
    workspace_option,
)
from memlines.memory.arguments import REMEMBER
from memlines.memory.memory import Memory
from memlines.memory.notes.entries import one_line
from memlines.serve.wire import remembered_json

_EXAMPLE = 'memlines remember "we chose Postgres"'


@click.command("remember")
@click.argument("text", nargs=-1)
@argument_option(
    REMEMBER["topic"],
    "--topic",
    help="File it under this topic: its note, or its heading where --to says so.",
)
@argument_option(REMEMBER["session"], "--session")
@argument_option(REMEMBER["to"], "--to")
@click.option("--force", is_flag=True, help="Write it even if it is known already.")
@allow_secret_option
@workspace_option
@json_option
def command(
    text: tuple[str, ...],
    topic: str | None,
    session: str | None,
    to: str | None,
    force: bool,
    allow_secret: bool,
    workspace: Path | None,
    as_json: bool,
) -> None:
    """Write TEXT into the daily log, or the note of a topic, and say where it stands.

    Without TEXT, or with a single dash, the text comes from standard input; put a text that starts
    with a dash after --. What is known already is not written again, and a text with a password or a key
    is refused.
    """
    words = standard_input("remember", _EXAMPLE) if text in ((), ("-",)) else " ".join(text)
    with Memory(nearest_workspace(workspace)) as memory:
        remembered = memory.remember(
            words, topic=topic, session=session, to=to, force=force, allow_secret=allow_secret
        )
    if as_json:
        print_json(remembered_json(remembered))
    elif remembered.duplicate is None:
        click.echo(f"Remembered in {harmless_name(remembered.citation)}")
    else:
        said = one_line(remembered.duplicate.snippet)
        click.echo(harmless_name(f"Already known: {remembered.citation}: {said}"))
