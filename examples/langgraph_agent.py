"""A LangGraph agent: a node looks into the memory first, and LangChain tools let the model look for more.

    OPENAI_API_KEY=... python langgraph_agent.py "Who is on call at night?"

Run it in a folder with MEMORY.md and memory/. OPENAI_BASE_URL and OPENAI_MODEL choose another server and
model; any other chat model of LangChain can stand in for `ChatOpenAI`.
"""

from __future__ import annotations

import os
import sys
from typing import Annotated, Any, TypedDict

from langchain_core.messages import AnyMessage, HumanMessage, SystemMessage
from langchain_core.tools import StructuredTool, ToolException
from langchain_openai import ChatOpenAI
from langgraph.graph import START, StateGraph, add_messages
from langgraph.prebuilt import ToolNode, tools_condition

from memlines import MemlinesError, Memory
from memlines.serve.tools import TOOLS, Tool, call_tool

MODEL = os.environ.get("OPENAI_MODEL", "gpt-5.4-mini")
OFFERED = ("memory_search", "memory_get", "memory_remember")
INSTRUCTIONS = "Answer in a sentence or two. Cite what you take from memory, such as memory/2026-05-01.md#L3."


class State(TypedDict):
    """The conversation, and beside it what the memory holds about the last question."""

    messages: Annotated[list[AnyMessage], add_messages]
    context: str


def main() -> None:
    """Answer the question on the command line from the memory in this folder."""
    question = " ".join(sys.argv[1:]) or sys.exit(__doc__)
    with Memory(".") as memory:
        tools = [langchain_tool(memory, TOOLS[name]) for name in OFFERED]
        model = ChatOpenAI(model=MODEL).bind_tools(tools)

        def recall(state: State) -> dict[str, Any]:
            return {"context": memory.context(state["messages"][-1].text, max_tokens=800)}

        def answer(state: State) -> dict[str, Any]:
            # Outside of `messages` the context is never saved with the conversation.
            system = SystemMessage(f"{INSTRUCTIONS}\n\n{state['context']}".strip())
            return {"messages": [model.invoke([system, *state["messages"]])]}

        graph = StateGraph(State).add_sequence([recall, answer])
        graph.add_node("tools", ToolNode(tools))
        graph.add_edge(START, "recall")
        graph.add_conditional_edges("answer", tools_condition)
        graph.add_edge("tools", "answer")
        asked = State(messages=[HumanMessage(question)], context="")
        print(graph.compile().invoke(asked)["messages"][-1].text)


def langchain_tool(memory: Memory, tool: Tool) -> StructuredTool:
    """Return a tool of Memlines as one of LangChain, with the same words and schema."""

    def run(**arguments: Any) -> str:
        try:
            return call_tool(memory, tool.name, arguments).text
        except MemlinesError as error:
            raise ToolException(str(error)) from error  # goes back to the model, which then does better

    return StructuredTool(
        name=tool.name,
        description=tool.description,
        args_schema=tool.parameters,
        func=run,
        handle_tool_error=True,
    )


if __name__ == "__main__":
    main()
