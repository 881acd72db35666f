"""What a model can do with a memory: one table of tools, the same in every client."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from memlines.errors import MemoryOff, UsageError
from memlines.serve.tools.arguments import checked
from memlines.serve.tools.base import Call, Output, Tool
from memlines.serve.tools.changing import FORGET, REMEMBER
from memlines.serve.tools.facts import STORE
from memlines.serve.tools.finding import GET, RECALL, SEARCH
from memlines.serve.tools.upkeep import STATUS, SYNC

if TYPE_CHECKING:
    from memlines.memory.memory import Memory

TOOLS: Mapping[str, Tool] = {
    tool.name: tool for tool in (SEARCH, GET, RECALL, REMEMBER, STORE, FORGET, SYNC, STATUS)
}

__all__ = ["TOOLS", "Call", "Output", "Tool", "call_tool", "shown_tools", "tool_named"]


def shown_tools(*, maintenance: bool = False) -> list[Tool]:
    """Return the tools that models are shown: those that look after the index only if that is set.

    Searches keep the index up to date, so to a model those are only words to read. All can be called.
    """
    return [tool for tool in TOOLS.values() if maintenance or not tool.maintenance]


def tool_named(name: Any) -> Tool:
    """Return a tool by its name."""
    if not isinstance(name, str) or name not in TOOLS:
        raise UsageError(f"there is no tool {str(name)[:60]!r}", todo=f"There are {', '.join(TOOLS)}")
    return TOOLS[name]


def call_tool(memory: Memory, name: str, arguments: Any, session: str | None = None) -> Output:
    """Check the arguments of a tool, run it, and return what a model may read of what it found."""
    from memlines.settings import switched_off
    from memlines.text.neutral import neutralise, visible_values

    tool = tool_named(name)
    off = switched_off(memory.loaded)
    if off and tool is not STATUS:
        raise MemoryOff(
            off,
            todo="Go on without it; only the user may switch it on again, with 'memlines config on'",
        )
    output = tool.run(Call(memory, checked(tool, arguments), session))
    return Output(neutralise(output.text), visible_values(output.data))
