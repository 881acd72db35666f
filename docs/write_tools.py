"""Write the tools down: as JSON for clients that need them before the engine runs, and as a page of the docs.

python docs/write_tools.py docs/tools.md
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from memlines.serve.tools import TOOLS, Tool

_PAGE = """\
# Tools for models

<!-- Written by `make docs` from src/memlines/serve/tools/; change it there. -->

A model gets the same tools in every client: over [MCP](mcp.md), over the [engine's protocol](protocol.md),
and in [OpenCode](opencode.md). The answer to an unknown name or a value of the wrong kind lists what the tool
accepts. A call that exceeds its limit is answered with an error, but still finishes.

| tool | what it does to the memory | seconds | shown to models |
|---|---|---|---|
{rows}{sections}"""

_EFFECTS = {"reads": "reads", "writes": "writes, removes nothing", "removes": "removes"}


def list_tools() -> str:
    """Return the tools as JSON, each with how long it may take."""
    tools = [
        {**tool.to_json(), "seconds": tool.seconds} | ({"maintenance": True} if tool.maintenance else {})
        for tool in TOOLS.values()
    ]
    return json.dumps(tools, indent=2, ensure_ascii=False) + "\n"


def render_page() -> str:
    """Return the page about the tools as Markdown."""
    return _PAGE.format(
        rows="".join(map(_row, TOOLS.values())), sections="".join(map(_section, TOOLS.values()))
    )


def _row(tool: Tool) -> str:
    shown = "with the setting `tools.maintenance`" if tool.maintenance else "always"
    return f"| [`{tool.name}`](#{tool.name}) | {_EFFECTS[tool.effect]} | {tool.seconds:g} | {shown} |\n"


def _section(tool: Tool) -> str:
    table = "| argument | accepts | meaning |\n|---|---|---|\n"
    for name, argument in tool.arguments.items():
        required = " (required)" if argument.required else ""
        accepts = ", ".join(f"`{choice}`" for choice in argument.choices) or argument.allowed
        meaning = " ".join(argument.help.split()).replace("|", "\\|")
        table += f"| `{name}`{required} | {accepts} | {meaning} |\n"
    if not tool.arguments:
        table = "It has no arguments.\n"
    return f"\n## {tool.name}\n\n{tool.description}\n\n{table}"


def main(arguments: list[str]) -> None:
    """Write the file that is named: the JSON if its name says so, else the page."""
    if len(arguments) != 1:
        sys.exit("usage: python docs/write_tools.py PATH")
    file = Path(arguments[0])
    text = list_tools() if file.suffix == ".json" else render_page()
    file.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
