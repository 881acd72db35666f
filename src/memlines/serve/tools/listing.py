"""Write the table of tools for the clients that need it before the engine runs."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from memlines.serve.tools import TOOLS


def listing() -> str:
    """Return the tools as JSON, each with how long it may take."""
    tools = [
        {**tool.to_json(), "seconds": tool.seconds} | ({"maintenance": True} if tool.maintenance else {})
        for tool in TOOLS.values()
    ]
    return json.dumps(tools, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(listing(), encoding="utf-8")
