"""The log of who wrote what through a team's server: `<private>/audit.jsonl`, a line for each call.

A line says when, by which token and with which tool, and what was written or forgotten by its citation or
id; never a text. The note is written first. If the line cannot be written then, the write stays, and the
next ones are refused until the line is there: no more than one call in each thread goes unlogged.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from datetime import UTC, datetime

from memlines.errors import MemlinesError, WriteError, reason_of
from memlines.files import atomic
from memlines.files.place import writing
from memlines.folders import open_folder
from memlines.memory.scopes import PERSONAL
from memlines.paths import Workspace
from memlines.serve.rpc.messages import log

FILE_NAME = "audit.jsonl"
FORMER_NAME = "audit.1.jsonl"

MAX_BYTES = 5_000_000
"""How large the file becomes before it is renamed; the former one is then dropped."""


class Audit:
    """The log of one workspace; safe in several threads, and with other servers of the workspace."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self.file = workspace.private / FILE_NAME
        self._lock = threading.Lock()
        self._unwritten: list[str] = []
        self._is_begun = False

    def check(self) -> None:
        """Write the lines that could not be written before; refuse if that is still impossible."""
        with self._lock:
            try:
                self._write()
            except (OSError, MemlinesError) as error:
                raise WriteError(
                    f"the audit log {str(self.file)!r} cannot be written, so nothing else is: "
                    f"{reason_of(error)}",
                    todo="Ask the person who runs the server to check its disk",
                ) from error

    def record(self, token: str, session: str | None, tool: str, changed: Sequence[str], code: str) -> None:
        """Log a call that wrote, or that was refused with the code of an error."""
        line = {
            "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "token": token,
            "session": session,
            "tool": tool,
            "ok": not code,
            "code": code or None,
            # Where something is in the personal memory is not written into the project.
            "changed": ["personal" if place.startswith(PERSONAL) else place for place in changed],
        }
        with self._lock:
            self._unwritten.append(json.dumps(line))
            try:
                self._write()
            except (OSError, MemlinesError) as error:
                log(
                    f"the audit log {str(self.file)!r} cannot be written: {reason_of(error)}; "
                    "the memory is not written to until it can"
                )

    def _write(self) -> None:
        data = "".join(f"{line}\n" for line in self._unwritten).encode()
        with writing(self._workspace):
            if not self._is_begun:
                content = atomic.read(self.file, root=self._workspace.root)
                # A line that a power cut tore must not take the next one with it.
                data = b"\n" + data if content and not content.endswith(b"\n") else data
            size = atomic.append(self.file, data, root=self._workspace.root, durable=bool(data))
            self._unwritten.clear()
            self._is_begun = True
            if size > MAX_BYTES:
                with open_folder(self.file.parent, self._workspace.root) as folder:
                    folder.replace(FILE_NAME, FORMER_NAME)
                    folder.sync()
