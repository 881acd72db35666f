"""`memlines facts export`: write all facts out as JSON, CSV or Markdown."""

from __future__ import annotations

import csv
import io
import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from memlines.cli.common import (
    counted,
    harmless,
    harmless_name,
    is_terminal,
    json_option,
    nearest_workspace,
    print_json,
    workspace_option,
)
from memlines.errors import UsageError, WriteError, reason_of
from memlines.files import atomic
from memlines.files.scan import SUFFIX
from memlines.folders import PRIVATE_FILE
from memlines.memory.memory import Memory
from memlines.text.facts import Fact, FactLine, line_of

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""What a cell begins with that a spreadsheet would calculate."""


def _as_json(lines: Sequence[FactLine]) -> str:
    return json.dumps([line.fact.to_json() for line in lines], ensure_ascii=False, indent=2) + "\n"


def _as_json_lines(lines: Sequence[FactLine]) -> str:
    return "".join(json.dumps(line.fact.to_json(), ensure_ascii=False) + "\n" for line in lines)


def _as_csv(lines: Sequence[FactLine]) -> str:
    """Return a table; what a spreadsheet would take for a formula begins with an apostrophe instead."""
    table = io.StringIO(newline="")
    writer = csv.writer(table)
    writer.writerow(Fact(id="", text="").to_json())
    for line in lines:
        writer.writerow(_cell(value) for value in line.fact.to_json().values())
    return table.getvalue()


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str) and value.lstrip(" ").startswith(_FORMULA):
        return f"'{value}"
    return value


def _as_markdown(lines: Sequence[FactLine]) -> str:
    """Return a note of facts, which can be put in the place of another one."""
    return "# Facts\n\n" + "".join(f"{line_of(line.fact)}\n" for line in lines)


FORMATS: dict[str, Callable[[Sequence[FactLine]], str]] = {
    "json": _as_json,
    "jsonl": _as_json_lines,
    "csv": _as_csv,
    "md": _as_markdown,
}
"""How facts can be written, by the ending of a file's name."""


@click.command("export")
@click.option(
    "-f",
    "--format",
    "chosen",
    type=click.Choice(list(FORMATS)),
    help="How to write them. [default: what FILE ends with, else json]",
)
@click.option("-o", "--output", "file", type=click.Path(path_type=Path), help="Write them into this file.")
@click.option("--force", is_flag=True, help="Replace the file if it exists.")
@workspace_option
@json_option
def export_command(
    chosen: str | None, file: Path | None, force: bool, workspace: Path | None, as_json: bool
) -> None:
    """Write all facts out, those that are no longer true as well.

    They are printed, or written into a file, which is never replaced unless --force says so.
    """
    ending = file.suffix.removeprefix(".").lower() if file else ""
    written_as = chosen or (ending if ending in FORMATS else "json")
    with Memory(nearest_workspace(workspace)) as memory:
        lines = memory.facts.list(current=False)
        root = memory.workspace.root
    text = FORMATS[written_as](lines)
    if file is not None:
        _write(file, text, root, force=force)
        if as_json:
            print_json({"file": str(file), "format": written_as, "facts": len(lines)})
        else:
            click.echo(f"{counted(len(lines), 'fact')} exported to {harmless_name(str(file))}")
    elif as_json and chosen not in (None, "json"):
        raise UsageError(f"--json prints no {chosen}", todo="Leave out --json, or name a file with -o")
    else:
        click.echo(harmless(text) if is_terminal(sys.stdout) else text, nl=False)


def _write(file: Path, text: str, root: Path, *, force: bool) -> None:
    """Write a file whole or not at all, and never a note."""
    if not file.name:
        raise UsageError("the name of the file is empty", todo="Name a file such as facts.csv")
    if file.suffix == SUFFIX and Path(os.path.realpath(file)).is_relative_to(os.path.realpath(root)):
        raise UsageError(f"{str(file)!r} would be taken for a note", todo="Name a file outside the workspace")
    try:
        there = atomic.read(file) if force else None
        if there is not None:
            atomic.replace(file, text.encode(), there)
        elif not atomic.create(file, text, PRIVATE_FILE):
            raise atomic.Changed
    except atomic.Changed:
        raise UsageError(
            f"{str(file)!r} exists already", todo="Name another file, or replace it with --force"
        ) from None
    except OSError as error:
        raise WriteError(
            f"{str(file)!r} cannot be written: {reason_of(error)}",
            todo="Check its folder, its permissions and the space on the disk",
        ) from error
