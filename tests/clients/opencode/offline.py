"""Take a turn without a network.

`unshare --map-root-user --net python -m tests.clients.opencode.offline PROGRAM FOLDER`

The model has to be inside as well: a network of its own has a loopback of its own. Prints what the tool said.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.clients.opencode.conftest import NOTES
from tests.clients.opencode.machine import Machine
from tests.clients.opencode.model import Model
from tests.fixtures.make_sessions import raise_loopback


def main(program: Path, folder: Path) -> None:
    """Install the plugin and say one thing, with nothing that keeps npm from trying."""
    raise_loopback()
    model = Model()
    try:
        machine = Machine(folder, program, model)
        project = machine.project("shop")
        for name, text in NOTES.items():
            (project / name).parent.mkdir(exist_ok=True)
            (project / name).write_text(text, encoding="utf-8")
        machine.memlines(project, "install", "opencode", "--project")
        prompt = 'CALL memory_search {"query": "port of the staging database"}'
        events = machine.run(project, prompt, npm_config_offline=None)
        (call,) = [event["part"] for event in events if event["type"] == "tool_use"]
        sys.stdout.write(call["state"]["output"])
    finally:
        model.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
