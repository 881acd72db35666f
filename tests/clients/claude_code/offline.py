"""Take a turn without a network.

`unshare --map-root-user --net python -m tests.clients.claude_code.offline PROGRAM HOME`

The model has to be inside as well: a network of its own has a loopback of its own. Prints what the tool said.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.clients.claude_code.machine import TOOL, Machine, Session
from tests.clients.claude_code.model import Model
from tests.fixtures.make_sessions import raise_loopback


def main(program: Path, folder: Path) -> None:
    """Install Memlines and say one thing."""
    raise_loopback()
    model = Model()
    try:
        machine = Machine(folder, program, model)
        project = machine.project("shop")
        machine.memlines(project, "install", "claude-code")
        session = Session(machine, project, "--allowedTools", TOOL)
        asked = session.say(f'CALL {TOOL} {{"query": "port of the staging database"}}')
        sys.stdout.write(asked[-1].results[0])
    finally:
        model.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
