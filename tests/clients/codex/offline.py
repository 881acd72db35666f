"""Take a turn without a network.

`unshare --map-root-user --net python -m tests.clients.codex.offline PROGRAM FOLDER`

The model has to be inside as well: a network of its own has a loopback of its own. Prints what the tool said.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.clients.codex.machine import Machine
from tests.clients.codex.model import Model
from tests.fixtures.make_sessions import raise_loopback


def main(program: Path, folder: Path) -> None:
    """Install Memlines and say one thing."""
    raise_loopback()
    model = Model()
    try:
        machine = Machine(folder, program, model)
        project = machine.project("shop")
        machine.install(project, "--project")
        machine.say(project, 'CALL memory_search {"query": "port of the staging database"}')
        sys.stdout.write(model.requests[-1].results[0])
    finally:
        model.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
