"""An agent loop with OpenAI's SDK: the model gets what fits the question, and can look for more.

    OPENAI_API_KEY=... python openai_agent.py "Who is on call at night?"

Run it in a folder with MEMORY.md and memory/. OPENAI_BASE_URL and OPENAI_MODEL choose another server and
model: most servers speak these chat completions, also local ones.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from openai import OpenAI

from memlines import MemlinesError, Memory
from memlines.serve.tools import TOOLS, call_tool

MODEL = os.environ.get("OPENAI_MODEL", "gpt-5.4-mini")
OFFERED = ("memory_search", "memory_get", "memory_remember")
MOST_STEPS = 8
INSTRUCTIONS = "Answer in a sentence or two. Cite what you take from memory, such as memory/2026-05-01.md#L3."


def main() -> int:
    """Answer the question on the command line from the memory in this folder."""
    question = " ".join(sys.argv[1:]) or sys.exit(__doc__)
    client = OpenAI()
    # A tool of Memlines is described in the very words of this protocol: name, description, parameters.
    tools: list[Any] = [{"type": "function", "function": TOOLS[name].to_json()} for name in OFFERED]
    with Memory(".") as memory:
        # Quoted, cited, at most 800 tokens; empty if the memory holds nothing about the question.
        context = memory.context(question, max_tokens=800)
        messages: list[Any] = [
            {"role": "system", "content": INSTRUCTIONS},
            {"role": "user", "content": f"{context}\n\n{question}".strip()},
        ]
        for _ in range(MOST_STEPS):
            completion = client.chat.completions.create(model=MODEL, messages=messages, tools=tools)
            reply = completion.choices[0].message
            messages.append(reply)
            if not reply.tool_calls:
                print(reply.content)
                return 0
            for call in reply.tool_calls:
                if call.type == "function":
                    found = answered(memory, call.function.name, call.function.arguments)
                    messages.append({"role": "tool", "tool_call_id": call.id, "content": found})
    print(f"There was no answer after {MOST_STEPS} steps.", file=sys.stderr)
    return 1


def answered(memory: Memory, name: str, arguments: str) -> str:
    """Run a tool; what the model did wrong goes back to the model, which then does better."""
    try:
        return call_tool(memory, name, json.loads(arguments)).text
    except (MemlinesError, ValueError) as error:
        return f"Error: {error}"


if __name__ == "__main__":
    sys.exit(main())
