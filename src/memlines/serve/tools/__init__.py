"""What a model can do with a memory: one table of tools, the same in every client.

A tool parses what a model gave, calls `Memory`, and quotes what came back. How tools are offered to clients
is in `rpc` and `mcp`. To add a tool, write it in `finding` or `changing`, name it in `TOOLS` below and its
arguments in `memlines.memory.arguments`; `make docs` writes docs/tools.md and the list that OpenCode reads.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from memlines.errors import MemoryOff, UsageError
from memlines.memory.arguments import parse
from memlines.serve.shown import lines_in, record_shown
from memlines.serve.tools.base import Call, Output, Tool
from memlines.serve.tools.changing import FORGET, REMEMBER, STATUS, STORE, SYNC
from memlines.serve.tools.finding import GET, RECALL, SEARCH

if TYPE_CHECKING:
    from memlines.memory.memory import Memory

TOOLS: Mapping[str, Tool] = {
    tool.name: tool for tool in (SEARCH, GET, RECALL, REMEMBER, STORE, FORGET, SYNC, STATUS)
}

__all__ = ["TOOLS", "Call", "Output", "Tool", "call_tool", "shown_tools", "tool_named", "tool_seconds"]


def shown_tools(*, maintenance: bool = False, writes: bool = True) -> list[Tool]:
    """Return the tools that models are shown, those that maintain the index only if that is set.

    Searches keep the index up to date, so a model rarely needs those. All can be called.
    """
    return [
        tool
        for tool in TOOLS.values()
        if (maintenance or not tool.maintenance) and (writes or tool.effect == "reads")
    ]


def tool_named(name: str, *, maintenance: bool, writes: bool = True) -> Tool:
    """Return a tool by its name; refuse one that does not exist, with the names of those that are shown."""
    if name not in TOOLS:
        shown = ", ".join(tool.name for tool in shown_tools(maintenance=maintenance, writes=writes))
        raise UsageError(f"there is no tool {name[:60]!r}", todo=f"There are {shown}")
    return TOOLS[name]


def tool_seconds(params: Mapping[str, Any]) -> float:
    """Return how long a request to call a tool may take; raises `KeyError` for one that does not exist."""
    return TOOLS[str(params["name"])].seconds


def call_tool(
    memory: Memory, name: str, arguments: Any, session: str | None = None, client: str = ""
) -> Output:
    """Check the arguments of a tool, run it, and return what a model may read of what it found.

    The lines that it quotes are recorded for `memlines blame`.
    """
    from memlines.settings import switched_off
    from memlines.text.neutral import neutralise, visible_values

    tool = tool_named(name, maintenance=memory.settings.tools.maintenance)
    off = switched_off(memory.loaded)
    if off and tool is not STATUS:
        raise MemoryOff(
            off,
            todo="Go on without it; only the user may switch it on again, with 'memlines config on'",
        )
    given = parse(tool.name, tool.arguments, arguments, by_model=True)
    output = tool.run(Call(memory, given, session))
    if tool in (SEARCH, GET, RECALL, FORGET):
        kind, query = tool.name.removeprefix("memory_"), given.get("query", "")
        record_shown(memory, kind, lines_in(output.data), session=session, client=client, query=query)
    return Output(neutralise(output.text), visible_values(output.data), output.changed)
