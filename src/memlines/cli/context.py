"""`memlines context`: what the memory holds about a message, quoted for a model."""

from __future__ import annotations

from pathlib import Path

import click

from memlines.cli.common import (
    harmless,
    json_option,
    nearest_workspace,
    print_json,
    standard_input,
    warn,
    workspace_option,
)
from memlines.memory.context import find_relevant
from memlines.memory.memory import Memory
from memlines.types import CONTEXT_TOKENS

_EXAMPLE = 'memlines context "which port did we choose?"'


@click.command("context")
@click.argument("message", nargs=-1)
@click.option(
    "--max-tokens",
    type=click.IntRange(min=1),
    default=CONTEXT_TOKENS,
    show_default=True,
    help="How long it may be at most, in tokens of about four characters.",
)
@workspace_option
@json_option
def command(message: tuple[str, ...], max_tokens: int, workspace: Path | None, as_json: bool) -> None:
    """Print what the memory holds about MESSAGE, quoted for the model that answers it.

    Without MESSAGE, or with a single dash, the message comes from standard input; put a message that starts
    with a dash after --. Nothing is printed if nothing fits.
    """
    words = standard_input("look for", _EXAMPLE) if message in ((), ("-",)) else " ".join(message)
    with Memory(nearest_workspace(workspace)) as memory:
        found = find_relevant(memory, words, max_tokens=max_tokens)
    if as_json:
        print_json(found.to_json())
        return
    for warning in found.warnings:
        warn(warning)
    if found.text:
        click.echo(harmless(found.text))
