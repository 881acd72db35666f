"""A Pydantic AI agent: its instructions hold what fits the question, its tools let it look for more.

    OPENAI_API_KEY=... python pydantic_ai_agent.py "Who is on call at night?"

Run it in a folder with MEMORY.md and memory/. OPENAI_BASE_URL chooses another server, PYDANTIC_AI_MODEL
another model, such as `anthropic:claude-haiku-5-5`.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from pydantic_ai import Agent, ModelRetry, RunContext, Tool

from memlines import MemlinesError, Memory
from memlines.serve.tools import TOOLS, call_tool

MODEL = os.environ.get("PYDANTIC_AI_MODEL", "openai-chat:gpt-5.4-mini")
OFFERED = ("memory_search", "memory_get", "memory_remember")
INSTRUCTIONS = "Answer in a sentence or two. Cite what you take from memory, such as memory/2026-05-01.md#L3."


def pydantic_tool(name: str) -> Tool[Memory]:
    """Return a tool of Memlines as one of Pydantic AI, with the same words and schema."""

    def run(run_context: RunContext[Memory], **arguments: Any) -> str:
        try:
            return call_tool(run_context.deps, name, arguments).text
        except MemlinesError as error:
            raise ModelRetry(str(error)) from error  # goes back to the model, which then does better

    tool = TOOLS[name]
    return Tool.from_schema(run, tool.name, tool.description, tool.parameters, takes_ctx=True)


def what_fits(run_context: RunContext[Memory]) -> str:
    """Quote what the memory holds about the question; instructions are not kept with the messages."""
    memory: Memory = run_context.deps
    return memory.context(str(run_context.prompt), max_tokens=800)


agent = Agent(
    MODEL,
    deps_type=Memory,
    instructions=[INSTRUCTIONS, what_fits],
    tools=[pydantic_tool(name) for name in OFFERED],
    retries=3,
)


def main() -> None:
    """Answer the question on the command line from the memory in this folder."""
    question = " ".join(sys.argv[1:]) or sys.exit(__doc__)
    with Memory(".") as memory:
        print(agent.run_sync(question, deps=memory).output)


if __name__ == "__main__":
    main()
