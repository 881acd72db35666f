"""`recollect status`: show what is indexed, and how."""

from __future__ import annotations

from pathlib import Path

import click

from recollect.cli.common import (
    harmless,
    json_option,
    nearest_workspace,
    print_json,
    print_problems,
    warn,
    workspace_option,
)
from recollect.memory import Memory
from recollect.types import Status
from recollect.wire import status_json


@click.command("status")
@workspace_option
@json_option
def command(workspace: Path | None, as_json: bool) -> None:
    """Show what is indexed, and how. Changes nothing."""
    with Memory(nearest_workspace(workspace)) as memory:
        status = memory.status()
    if as_json:
        print_json(status_json(status))
    else:
        _print(status)


def _print(status: Status) -> None:
    for warning in status.warnings:
        warn(warning)
    for name, value in _rows(status):
        click.echo(f"{click.style(f'{name:<10}', bold=True)} {harmless(value)}")
    print_problems("Skipped", status.skipped, "yellow")
    print_problems("Failed", status.failed, "red")


def _rows(status: Status) -> list[tuple[str, str]]:
    model = f"{status.provider} ({status.model})" if status.model else "none: search by words"
    state = "behind the files; the next sync or search catches up" if status.dirty else "up to date"
    vectors = f"{status.vector['vectors']} of {status.chunks} chunks" if status.model else "off"
    rows = [
        ("workspace", status.workspace),
        ("index", f"{status.index_path} ({status.index_bytes / 1e6:.1f} MB)"),
        ("state", state),
        ("last sync", status.last_sync or "never"),
        ("files", f"{status.files} files, {status.chunks} chunks"),
        ("sources", ", ".join(status.sources)),
        ("model", model),
        ("vectors", vectors),
        ("text goes", status.sends_text_to),
        ("cache", f"{status.cache['entries']} of at most {status.cache['max_entries']} vectors"),
    ]
    if status.extra_paths:
        rows.append(("extra", ", ".join(status.extra_paths)))
    if status.fallback:
        rows.append(("fallback", f"{status.fallback['from']}: {status.fallback['reason']}"))
    return rows
