"""`memlines watch`: keep the index equal to the files while they change."""

from __future__ import annotations

import json
import signal
import threading
from datetime import datetime
from pathlib import Path
from types import FrameType
from typing import Any

import click

from memlines.cli.common import counted, json_option, nearest_workspace, warn, workspace_option
from memlines.memory.memory import Memory
from memlines.serve.wire import report_json
from memlines.types import Report


@click.command("watch")
@workspace_option
@json_option
def command(workspace: Path | None, as_json: bool) -> None:
    """Keep the index equal to the files until Ctrl-C.

    Prints a line for every sync that changed the index; with --json, an object a line.
    """
    stop = threading.Event()

    def end(number: int, frame: FrameType | None) -> None:
        stop.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    output = _Lines() if as_json else _Text()
    with Memory(nearest_workspace(workspace)) as memory:
        output.watching(memory.workspace.root)
        memory.watch(stop, on_sync=output.synced, on_notice=output.noticed)


class _Text:
    """Lines for people."""

    def watching(self, root: Path) -> None:
        click.echo(f"Watching {root} (Ctrl-C ends)")

    def synced(self, report: Report) -> None:
        counts = [f"{len(report.indexed)} indexed", f"{len(report.removed)} removed"]
        if report.failed:
            counts.append(f"{len(report.failed)} failed")
        if report.pending:
            counts.append(f"{counted(report.pending, 'chunk')} to embed")
        if report.rebuilt:
            counts.append(f"index built anew: {report.rebuilt}")
        click.echo(f"{datetime.now():%H:%M:%S}  {', '.join(counts)}")

    def noticed(self, sentence: str) -> None:
        warn(sentence)


class _Lines:
    """Lines for programs."""

    def watching(self, root: Path) -> None:
        self._print({"event": "watching", "workspace": str(root)})

    def synced(self, report: Report) -> None:
        self._print({"event": "sync", **report_json(report)})

    def noticed(self, sentence: str) -> None:
        self._print({"event": "notice", "notice": sentence})

    def _print(self, value: dict[str, Any]) -> None:
        click.echo(json.dumps(value))
