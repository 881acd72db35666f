"""Write the page of the documentation that lists every tool for models."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from memlines.serve.mcp.texts import tools
from memlines.serve.tools import TOOLS

_PAGE = """\
# Tools for models

<!-- Written by `make docs` from src/memlines/tools/; change it there. -->

A model gets the same tools in every client: over [MCP](mcp.md), over the [engine's protocol](protocol.md),
and in [OpenCode](opencode.md). A name that is unknown, or a value of the wrong kind, is answered with what
the tool takes. A call that takes longer than its limit is answered with an error, and finished nevertheless.

| tool | what it does to the memory | seconds | shown to models |
|---|---|---|---|
{rows}{sections}"""

_KINDS = {"string": "text", "boolean": "true or false", "number": "number", "integer": "whole number"}


def render_page() -> str:
    """Return the whole page as Markdown."""
    listed = tools(maintenance=True)
    return _PAGE.format(rows="".join(map(_row, listed)), sections="".join(map(_section, listed)))


def _row(tool: Mapping[str, Any]) -> str:
    """Return the line of one tool."""
    known, hints = TOOLS[tool["name"]], tool["annotations"]
    effect = (
        "reads"
        if hints["readOnlyHint"]
        else "removes"
        if hints["destructiveHint"]
        else "writes, removes nothing"
    )
    shown = "with the setting `tools.maintenance`" if known.maintenance else "always"
    return f"| [`{known.name}`](#{known.name}) | {effect} | {known.seconds:g} | {shown} |\n"


def _section(tool: Mapping[str, Any]) -> str:
    """Return what the page says about one tool."""
    schema = tool["inputSchema"]
    required = schema["required"]
    rows = [_argument(name, one, required=name in required) for name, one in schema["properties"].items()]
    head = "| argument | takes | meaning |\n|---|---|---|\n"
    table = "".join([head, *rows]) if rows else "It takes no arguments.\n"
    return f"\n## {tool['name']}\n\n{tool['description']}\n\n{table}"


def _argument(name: str, schema: Mapping[str, Any], *, required: bool) -> str:
    """Return the line of one argument."""
    takes = _KINDS[schema["type"]]
    if "enum" in schema:
        takes = ", ".join(f"`{value}`" for value in schema["enum"])
    elif "maximum" in schema:
        takes += f", {schema['minimum']:g} to {schema['maximum']:g}"
    elif "minimum" in schema:
        takes += f", at least {schema['minimum']:g}"
    meaning = " ".join(schema["description"].split()).replace("|", "\\|")
    return f"| `{name}`{' (required)' if required else ''} | {takes} | {meaning} |\n"


def main(arguments: list[str]) -> None:
    """Write the page to the file that is named."""
    if len(arguments) != 1:
        sys.exit("usage: python -m memlines.serve.mcp.page PATH")
    Path(arguments[0]).write_text(render_page(), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
