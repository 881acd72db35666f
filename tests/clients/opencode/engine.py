"""The engine behind a project's plugin: which processes it was, and what goes wrong with it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tests.clients.opencode import faulty_engine


class EngineOf:
    """Stands between the plugin of a project and the engine; to be made before the project is opened."""

    def __init__(self, project: Path, fault: str = "") -> None:
        self._folder = project.parent / f"{project.name}-engine"
        self._folder.mkdir()
        self.command_file = command_file(project)
        told = json.loads(self.command_file.read_text(encoding="utf-8"))
        told["command"] = [sys.executable, faulty_engine.__file__, str(self._folder), *told["command"]]
        self.command_file.write_text(json.dumps(told), encoding="utf-8")
        self.fault(fault)

    def fault(self, name: str) -> None:
        """Let something go wrong from the next request on; see `faulty_engine`."""
        beside = self._folder / "fault.new"
        beside.write_text(name, encoding="utf-8")
        beside.replace(self._folder / "fault")

    def pids(self) -> list[int]:
        """Return every process that the engine was so far."""
        file = self._folder / "pids"
        return [int(line) for line in file.read_text(encoding="utf-8").split()] if file.exists() else []


def command_file(project: Path) -> Path:
    """Return where the plugin of a project reads how to start the engine."""
    return project / ".opencode/memlines/command.json"
