"""An agent loop with Anthropic's SDK: the model gets what fits the question, and can look for more.

    ANTHROPIC_API_KEY=... python anthropic_agent.py "Who is on call at night?"

Run it in a folder with MEMORY.md and memory/. ANTHROPIC_BASE_URL and ANTHROPIC_MODEL choose another server
and model.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from anthropic import Anthropic

from memlines import MemlinesError, Memory
from memlines.serve.tools import TOOLS, call_tool

MODEL = os.environ.get("ANTHROPIC_MODEL", "claude-haiku-5-5")
OFFERED = [TOOLS[name] for name in ("memory_search", "memory_get", "memory_remember")]
MOST_STEPS = 8
INSTRUCTIONS = "Answer in a sentence or two. Cite what you take from memory, such as memory/2026-05-01.md#L3."


def main() -> int:
    """Answer the question on the command line from the memory in this folder."""
    question = " ".join(sys.argv[1:]) or sys.exit(__doc__)
    client = Anthropic()
    tools: list[Any] = [
        {"name": tool.name, "description": tool.description, "input_schema": tool.parameters}
        for tool in OFFERED
    ]
    with Memory(".") as memory:
        # Quoted, cited, at most 800 tokens; empty if the memory holds nothing about the question.
        context = memory.context(question, max_tokens=800)
        messages: list[Any] = [{"role": "user", "content": f"{context}\n\n{question}".strip()}]
        for _ in range(MOST_STEPS):
            reply = client.messages.create(
                model=MODEL, max_tokens=1024, system=INSTRUCTIONS, messages=messages, tools=tools
            )
            messages.append({"role": "assistant", "content": reply.content})
            results = [
                answered(memory, block.id, block.name, block.input)
                for block in reply.content
                if block.type == "tool_use"
            ]
            if not results:
                print("".join(block.text for block in reply.content if block.type == "text"))
                return 0
            messages.append({"role": "user", "content": results})
    print(f"There was no answer after {MOST_STEPS} steps.", file=sys.stderr)
    return 1


def answered(memory: Memory, call: str, name: str, arguments: object) -> dict[str, Any]:
    """Run a tool; what the model did wrong goes back to the model, which then does better."""
    try:
        found, failed = call_tool(memory, name, arguments).text, False
    except MemlinesError as error:
        found, failed = str(error), True
    return {"type": "tool_result", "tool_use_id": call, "content": found, "is_error": failed}


if __name__ == "__main__":
    sys.exit(main())
